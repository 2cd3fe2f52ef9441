"""The mirror on the console follows the participant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from labapp.base.clock import FakeClock
from labapp.record.events import Source
from labapp.record.events.commands import EndSession, Next, Pause, Resume
from labapp.session.simulation.simulation_job import Course
from labapp.study.loading import load
from labapp.tasks.consent.screen import ConsentScreen
from labapp.tasks.questionnaire.machine import Answer
from labapp.tasks.questionnaire.screen.questionnaire import QuestionnaireScreen
from labapp.tasks.reconstruction.events import MarkAlignment, MoveDial, ToggleOverlay
from labapp.tasks.reconstruction.screen.matching import ReconstructionScreen
from labapp.ui.moderator.console import ConsoleWindow
from labapp.ui.participant.window import ParticipantWindow, WindowPicture
from labapp.ui.preview import opened_preview
from tests.helpers.questionnaires import own_study, questionnaire_study
from tests.helpers.rooms import Room, skip_to, solve
from tests.helpers.studies import ring_decoder, write_study
from tests.ui.desk import Desk, closed_forms


def test_the_mirror_is_the_participants_screen(desk: Desk) -> None:
    runner, mirror = desk.runner, desk.console.mirror
    desk.console.refresh()
    picture = mirror.shown.picture
    assert picture is not None
    assert isinstance(picture.screen, ConsentScreen)
    assert mirror.title.full() == "Consent"
    assert mirror.facts.text == "The participant reads and signs the consent form."
    skip_to(desk.room, "stage-1")
    desk.console.refresh()
    before = runner.state.part_state.trial
    runner.send(MoveDial(1, before.z[1] + 0.25, "mouse"))
    runner.send(ToggleOverlay(on=False))
    desk.console.refresh()
    trial, screen = runner.state.part_state.trial, picture.screen
    assert isinstance(screen, ReconstructionScreen)
    assert [row.control.shown for row in screen.dials.rows] == pytest.approx(trial.z)
    percent = f"{trial.alignment * 100:.1f}"
    assert f"{percent}\N{NO-BREAK SPACE}% / 90 %" in mirror.facts.text.replace(" % /", "\xa0% /")
    assert "In the hand: Dial 2, " in mirror.facts.text
    assert mirror.title.full() == "Stage 1 · Question 1 of 5"
    solve(desk.room)
    desk.console.refresh()
    assert "✓ matched" in mirror.facts.text
    runner.send(Pause("x"), Source.MODERATOR)
    desk.console.refresh()
    assert mirror.facts.text.startswith("Paused\n")
    assert picture.stack.currentWidget() is picture.cover
    runner.send(Resume("x"), Source.MODERATOR)
    desk.console.refresh()
    assert picture.stack.currentWidget() is screen


def test_the_mirror_looks_like_the_window(
    open_room: Callable[..., Room], open_window: Callable[[Room], ParticipantWindow]
) -> None:
    """Dot for dot, save for the focus ring, the caret and where the pointer is."""
    room = open_room("quickstart", clock=FakeClock(), decoders=closed_forms())
    window = open_window(room)
    picture = WindowPicture(window.session.only_read())
    for part in ("consent", "tutorial", "stage-1", "stage-1-seq", "debrief"):
        if room.runner.part is not None and room.runner.part.id != part:
            skip_to(room, part)
        for _ in range(8):
            QTest.qWait(10)
            window.looks.look()
            picture.follow()
            picture.draw(window.size(), 1.0)
        window.setFocus()
        ours = picture.draw(window.size(), 1.0).toImage().convertToFormat(RGB)
        theirs = window.grab().toImage().convertToFormat(RGB)
        assert ours.size() == theirs.size()
        assert differing(ours, theirs) < 0.002, part
    picture.close()


@pytest.mark.parametrize("size", [(1366, 768), (900, 560)])
def test_the_mirror_looks_like_the_window_on_every_screen_of_a_study(
    size: tuple[int, int], qapp: QApplication
) -> None:
    """Pages, a method with a task to try, a warm-up, photos, questionnaires: all as large as in the
    window, however often either was laid out."""
    with opened_preview(load("prototree-agreement-tree"), None, None) as preview:
        preview.course = Course(preview.runner.machine)  # nobody has to go through it first
        window = preview.window
        window.resize(*size)
        window.show()
        picture = WindowPicture(window.session.only_read())
        faults = []
        for place in preview.places:
            preview.show(place)
            for _ in range(8):
                qapp.processEvents()
                window.looks.look()
                picture.follow()
                ours = picture.draw(window.size(), 1.0).toImage().convertToFormat(RGB)
            window.setFocus()
            theirs = window.grab().toImage().convertToFormat(RGB)
            if differing(ours, theirs) > 0.0005:
                faults.append(place.file)
        picture.close()
    assert faults == []


RGB = QImage.Format.Format_RGB32


def differing(one: QImage, two: QImage) -> float:
    """The share of pixels that differ visibly."""
    pixels = [
        np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1).astype(int)
        for image in (one, two)
    ]
    return float(np.mean(np.abs(pixels[0] - pixels[1]) > 24))


def test_nothing_typed_reaches_the_mirror(
    open_room: Callable[..., Room], open_window: Callable[[Room], ParticipantWindow]
) -> None:
    room = open_room("quickstart", clock=FakeClock(), decoders=closed_forms())
    window = open_window(room)
    console = ConsoleWindow(room.bridge, room.loaded, "P01", lambda: None)
    console.show()
    screen = window.screen_shown
    assert isinstance(screen, ConsentScreen)
    assert screen.name is not None
    screen.name.setText("Ada Lovelace")
    console.refresh()
    picture = console.mirror.shown.picture
    assert picture is not None
    assert isinstance(picture.screen, ConsentScreen)
    assert picture.screen.name is not None
    assert picture.screen.name.text() == ""
    console.shut()
    assert console.mirror.shown.picture is None
    console.deleteLater()
    window.activateWindow()


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
    text = desk.console.mirror.facts.text
    assert "who somebody is are not shown" in text
    for line in ("Your address   ✓", "Your town   ✓", "Your mood   good", "It was easy   4"):
        assert line in text
    assert "ada" not in text


def test_the_mirror_never_shows_who_the_participant_is(
    open_room: Callable[..., Room], tmp_path: Path
) -> None:
    clock = FakeClock()
    study = questionnaire_study(tmp_path, ["demographics", "nasa-tlx"])
    desk = Desk(open_room(study, clock=clock), clock)
    desk.room.session.begin()
    desk.console.refresh()
    picture = desk.console.mirror.shown.picture
    assert picture is not None
    sheet = picture.screen
    assert isinstance(sheet, QuestionnaireScreen)
    empty = [view.grab().toImage() for view in sheet.items]
    own = {"chosen": ["self_described"], "described": "a secret of mine"}
    desk.runner.send(Answer("gender", own))
    desk.runner.send(Answer("age", {"chosen": ["from_18_to_34"]}))
    desk.console.refresh()
    text = desk.console.mirror.facts.text
    assert [view.grab().toImage() for view in sheet.items] == empty
    assert "Answered: 2 of 4" in text
    assert "who somebody is are not shown" in text
    assert "Age   ✓" in text
    assert "Geographic Location   –" in text
    for told in ("18", "secret", "described", "Self"):
        assert told not in text
    desk.runner.send(Next())
    desk.runner.send(Answer("effort", 12))
    desk.console.refresh()
    text = desk.console.mirror.facts.text
    assert "Answered: 1 of 6" in text
    assert "Effort   12" in text


def test_the_mirror_counts_the_marks_of_a_calibration(
    open_room: Callable[..., Room], tmp_path: Path
) -> None:
    model = "mnist8k/ss5"
    study = write_study(tmp_path, model, marks=True)
    clock = FakeClock()
    desk = Desk(open_room(study, clock=clock, decoders={model: ring_decoder(model, 3, 10)}), clock)
    desk.room.session.begin()
    skip_to(desk.room, "stage-1")
    for _ in range(2):
        desk.runner.send(MarkAlignment("far"))
    desk.console.refresh()
    mirror = desk.console.mirror.facts
    assert "/" not in mirror.text
    assert "marked: far away 2, close enough 0" in mirror.text
    assert desk.console.timeline.signs.text().startswith("⬢ answer   ● note")


def test_a_break_is_no_pause_in_the_mirror(open_room: Callable[..., Room], tmp_path: Path) -> None:
    study = tmp_path / "rest.yaml"
    study.write_text(
        "id: rest\ntitle: A rest\nversion: 1\nflow:\n"
        "  - break: shipped:consent\n    at_least_s: 90\n  - questionnaire: shipped:seq\n"
    )
    clock = FakeClock()
    desk = Desk(open_room(study, clock=clock), clock)
    desk.room.session.begin()
    desk.console.refresh()
    assert desk.console.mirror.title.full() == "Break"
    assert "may go on after 1:30" in desk.console.mirror.facts.text


def test_the_mirror_does_not_call_kept_what_is_deleted(desk: Desk) -> None:
    desk.runner.send(EndSession("withdraws", "delete"), Source.MODERATOR)
    desk.console.refresh()
    assert desk.console.mirror.facts.text.endswith(
        "Nothing that was recorded is kept once the console is closed."
    )
