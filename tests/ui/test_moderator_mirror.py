"""The mirror on the console follows the participant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from labapp.clock import FakeClock
from labapp.events import Source
from labapp.events.commands import EndSession, GiveConsent, Next, Pause, Resume
from labapp.tasks.questionnaire.commands import Answer
from labapp.tasks.reconstruction.commands import EditLabel, MarkAlignment, MoveDial, ToggleOverlay
from labapp.ui.moderator.mirror import QUIET, TRIAL
from tests.helpers.questionnaires import own_study, questionnaire_study
from tests.helpers.rooms import Room, skip_to, solve
from tests.helpers.studies import ring_decoder, write_study
from tests.ui.desk import Desk
from tests.ui.desk import desk as desk


def test_the_mirror_follows_the_participant(desk: Desk) -> None:
    runner, mirror = desk.runner, desk.console.mirror
    desk.console.refresh()
    assert mirror.stack.currentIndex() == QUIET
    assert mirror.quiet.headline.text() == "Consent"
    skip_to(desk.room, "stage-1")
    desk.console.refresh()
    assert mirror.stack.currentIndex() == TRIAL
    before = runner.state.part_state.trial
    runner.send(MoveDial(1, before.z[1] + 0.25, "mouse"))
    runner.send(ToggleOverlay(on=False))
    desk.console.refresh()
    trial = runner.state.part_state.trial
    names, z, selected = mirror.trial.dials.shown
    assert names == tuple(f"Dial {i}" for i in range(1, 6))
    assert (z, selected) == (trial.z, 1)
    assert mirror.trial.alignment.text().startswith(f"{trial.alignment * 100:.1f}")
    assert mirror.trial.goal.text() == "/ 90 %"
    assert mirror.title.full() == "Stage 1 · question 1 of 5"
    solve(desk.room)
    desk.console.refresh()
    assert "matched" in mirror.trial.state.full()
    runner.send(Pause("x"), Source.MODERATOR)
    desk.console.refresh()
    assert mirror.quiet.headline.text() == "Paused"
    runner.send(Resume("x"), Source.MODERATOR)
    desk.console.refresh()
    assert mirror.stack.currentIndex() == TRIAL


def test_the_mirror_shows_pictures_labels_and_radio_dials(
    open_room: Callable[..., Room], tmp_path: Path
) -> None:
    model = "mnist8k/ss3"
    study = write_study(tmp_path, model, labels="editable")
    clock = FakeClock()
    desk = Desk(
        open_room(study, clock=clock, decoders={model: ring_decoder(model, 2, discrete=10)}), clock
    )
    desk.room.session.begin()
    skip_to(desk.room, "stage-1")
    desk.runner.send(EditLabel(0, "number"))
    desk.runner.send(MoveDial(0, 3.0, "keyboard"))
    desk.console.refresh()
    mirror = desk.console.mirror.trial
    assert mirror.dials.shown[0] == ("number", "Dial 2", "Dial 3")
    assert mirror.dials.shown[1][0] == 3.0
    assert mirror.own is not None
    assert not mirror.own.grab().isNull()
    assert mirror.own.width() >= 96
    desk.console.shut()
    desk.console.deleteLater()


def test_the_tutorial_and_questionnaires_are_mirrored(desk: Desk) -> None:
    quiet = desk.console.mirror.quiet
    desk.runner.send(GiveConsent())
    desk.console.refresh()
    assert quiet.text.text() == "On the screen: page 1 / 2."
    assert len(quiet._boxes) == 4
    skip_to(desk.room, "stage-1-seq")
    desk.console.refresh()
    assert quiet.text.text().startswith("Answered: 0 of 1\n")
    assert quiet.text.text().endswith("  –")
    item = desk.room.loaded.instruments["seq"].items[0].id
    desk.runner.send(Answer(item, 6))
    desk.console.refresh()
    assert quiet.text.text().startswith("Answered: 1 of 1\n")
    assert quiet.text.text().endswith("6\N{NO-BREAK SPACE}of\N{NO-BREAK SPACE}7")
    assert quiet._boxes == []


OWN = """
id: feelings
version: 1
title: Who are you, and how was it?
source: Made for the tests.
items:
  - {id: mail, kind: written, text: Your address}
  - {id: town, kind: written, identifying: yes, text: Your town}
  - {id: mood, kind: written, identifying: no, text: Your mood}
  - {id: easy, kind: statement, text: It was easy, points: 5, low: not at all, high: very}
"""


def test_what_an_item_declares_says_whether_the_mirror_shows_its_answer(
    open_room: Callable[..., Room], tmp_path: Path
) -> None:
    clock = FakeClock()
    study = own_study(tmp_path / "study", OWN)
    desk = Desk(open_room(study, clock=clock), clock)
    desk.room.session.begin()
    for item, answer in (("mail", "ada@x.org"), ("town", "Potsdam"), ("mood", "good"), ("easy", 4)):
        desk.runner.send(Answer(item, answer))
    desk.console.refresh()
    text = desk.console.mirror.quiet.text.text()
    assert "who somebody is are not shown" in text
    for line in ("Your address   ✓", "Your town   ✓", "Your mood   good", "It was easy   4"):
        assert line in text
    assert "ada" not in text
    desk.console.shut()
    desk.console.deleteLater()


def test_the_mirror_never_shows_who_the_participant_is(
    open_room: Callable[..., Room], tmp_path: Path
) -> None:
    clock = FakeClock()
    study = questionnaire_study(tmp_path, ["demographics", "nasa-tlx"])
    desk = Desk(open_room(study, clock=clock), clock)
    desk.room.session.begin()
    own = {"chosen": ["self_described"], "described": "a secret of mine"}
    desk.runner.send(Answer("gender", own))
    desk.runner.send(Answer("age", {"chosen": ["from_18_to_34"]}))
    desk.console.refresh()
    text = desk.console.mirror.quiet.text.text()
    assert "Answered: 2 of 4" in text
    assert "who somebody is are not shown" in text
    assert "Age   ✓" in text
    assert "Geographic Location   –" in text
    for told in ("18", "secret", "described", "Self"):
        assert told not in text
    desk.runner.send(Next())
    desk.runner.send(Answer("effort", 12))
    desk.console.refresh()
    text = desk.console.mirror.quiet.text.text()
    assert "Answered: 1 of 6" in text
    assert "Effort   12" in text
    desk.console.shut()
    desk.console.deleteLater()


def test_the_mirror_counts_the_marks_of_a_calibration(
    open_room: Callable[..., Room], tmp_path: Path
) -> None:
    model = "mnist8k/ss3"
    study = write_study(tmp_path, model, marks=True)
    clock = FakeClock()
    desk = Desk(open_room(study, clock=clock, decoders={model: ring_decoder(model, 3, 10)}), clock)
    desk.room.session.begin()
    skip_to(desk.room, "stage-1")
    for _ in range(2):
        desk.runner.send(MarkAlignment("far"))
    desk.console.refresh()
    mirror = desk.console.mirror.trial
    assert mirror.goal.text() == ""
    assert mirror.state.full() == "· marked: far away 2, close enough 0"
    assert desk.console.timeline.signs.text().startswith("⬢ answer   ● note")
    desk.console.shut()
    desk.console.deleteLater()


def test_a_break_is_no_pause_in_the_mirror(open_room: Callable[..., Room], tmp_path: Path) -> None:
    study = tmp_path / "rest.yaml"
    study.write_text(
        "id: rest\ntitle: A rest\nversion: 1\nflow:\n"
        "  - break: texts/{language}/consent.md\n    at_least_s: 90\n  - questionnaire: seq\n"
    )
    clock = FakeClock()
    desk = Desk(open_room(study, clock=clock), clock)
    desk.room.session.begin()
    desk.console.refresh()
    quiet = desk.console.mirror.quiet
    assert quiet.headline.text() == "Break"
    assert "may go on after 1:30" in quiet.text.text()
    desk.console.shut()
    desk.console.deleteLater()


def test_the_mirror_does_not_call_kept_what_is_deleted(desk: Desk) -> None:
    desk.runner.send(EndSession("withdraws", "delete"), Source.MODERATOR)
    desk.console.refresh()
    assert (
        desk.console.mirror.quiet.text.text()
        == "Nothing that was recorded is kept once the console is closed."
    )
