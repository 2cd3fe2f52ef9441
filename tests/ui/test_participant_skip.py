"""Skipped questions, restarted stages, and what the hand did just before."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from labapp.base.clock import FakeClock
from labapp.record.events import Source
from labapp.record.events.commands import Command, EndSession, Pause, Resume, SkipStage, Tick
from labapp.session import opening
from labapp.session.machine import TAKE_BACK_NS
from labapp.session.resuming import read_verified_events
from labapp.tasks.reconstruction.screen.matching import ReconstructionScreen
from labapp.ui.participant.screen import Screen
from labapp.ui.participant.view import Bridge, QtScheduler
from labapp.ui.participant.window import ParticipantWindow
from labapp.ui.strings import strings_of
from tests.helpers.questionnaires import questionnaire_study
from tests.helpers.rooms import Room, skip_to
from tests.helpers.skips import skip_question, skip_stage
from tests.helpers.studies import ring_decoder, write_study
from tests.session.sessions import surroundings, trial_of
from tests.session.test_breaks import at
from tests.session.test_resume import drop

LEFT = Qt.MouseButton.LeftButton

KEY = Qt.Key


@pytest.fixture
def opens(open_room, open_window, qapp, tmp_path):
    """A room whose time is moved by hand, and its window on the first question of a stage."""

    def made(**settings: Any):
        study = write_study(tmp_path, "dsprites/ae", labels="editable", **settings)
        decoders = {"dsprites/ae": ring_decoder("dsprites/ae", 5)}
        room = open_room(study, decoders=decoders, clock=FakeClock())
        window = open_window(room)
        skip_to(room, "stage-1")
        qapp.processEvents()
        return room, window

    return made


def focus() -> QWidget | None:
    return QApplication.focusWidget()


def press(*keys: Qt.Key) -> None:
    for key in keys:
        widget = focus()
        assert widget is not None, "the keyboard leads somewhere"
        QTest.keyClick(widget, key)
        QApplication.processEvents()


def wait(room: Any, seconds: float) -> None:
    """Time passes, as the runner's timer would tell."""
    room.clock.advance(seconds)
    room.runner.send(Tick(), Source.SYSTEM)
    QApplication.processEvents()


def trial(room: Any) -> Any:
    return room.runner.state.part_state.trial


def skip_by_keyboard(window: Any) -> None:
    window.bottom.left.setFocus()
    press(KEY.Key_Return)


def test_nothing_of_the_next_question_shows_before_the_skip_is_confirmed(opens) -> None:
    room, window = opens()
    drawn = room.count("trial.drawn")
    pictures = room.runner.pictures
    skip_by_keyboard(window)
    assert window.covered
    assert "Question skipped" in window.cover.accessibleName()
    assert window.cover.back.isVisible()
    assert not window.screen_shown.isVisible()
    assert not window.bottom.left.isVisible()
    assert not window.bottom.right.isVisible()
    wait(room, 2.9)
    assert room.count("trial.drawn") == drawn
    assert room.runner.pictures is pictures, "nothing is decoded"
    assert room.count("trial.ended") == 0
    wait(room, 0.2)
    assert room.last("trial.ended") == {"outcome": "skipped"}
    assert trial(room).number == 2
    assert not window.covered
    assert not window.cover.back.isVisible()


@pytest.mark.parametrize("how", ["mouse", KEY.Key_Return, KEY.Key_Space, KEY.Key_Escape])
def test_taken_back_the_question_is_as_it_was(opens, how: str | Qt.Key) -> None:
    room, window = opens()
    before = trial(room)
    working = room.runner.state.pauses.working_ns(room.clock.now_ns())
    confirmed = room.count("skip.confirmed")
    skip_by_keyboard(window)
    wait(room, 2)
    if isinstance(how, str):
        QTest.mouseClick(window.cover.back, LEFT)
    else:
        assert focus() is window.cover.back
        press(how)
    assert room.last("skip.taken_back") == {"what": "trial"}
    assert room.count("close.requested") == 0, "Escape takes back and asks nothing"
    assert trial(room) == before
    assert not window.covered
    assert focus() is window.screen_shown.dials.rows[0].control, "not on Skip"
    assert room.runner.state.pauses.working_ns(room.clock.now_ns()) == working
    wait(room, 2 * TAKE_BACK_NS / 1e9)
    assert room.count("skip.confirmed") == confirmed


@pytest.mark.parametrize("presentation", ["improved", "as_published"])
def test_the_focus_never_comes_back_to_skip(opens, presentation: str) -> None:
    room, window = opens(presentation=presentation)
    for number in (2, 3):
        skip_by_keyboard(window)
        assert focus() is not window.bottom.left
        wait(room, 3.1)
        assert trial(room).number == number
        assert focus() is window.screen_shown.dials.rows[0].control
        press(KEY.Key_Return, KEY.Key_Return)
        assert trial(room).number == number, "the second Enter skips nothing"


def test_as_published_there_is_no_cover(opens) -> None:
    room, window = opens(presentation="as_published")
    asked = room.count("skip.requested")
    QTest.mouseClick(window.bottom.left, LEFT)
    assert room.count("skip.requested") == asked
    assert trial(room).number == 2
    assert not window.covered


def test_a_pause_takes_the_skip_back(opens, qapp) -> None:
    room, window = opens()
    skip_by_keyboard(window)
    room.runner.send(Pause("knock"), Source.MODERATOR)
    qapp.processEvents()
    assert "A short pause" in window.cover.accessibleName()
    assert not window.cover.back.isVisible()
    room.runner.send(Resume("on"), Source.MODERATOR)
    qapp.processEvents()
    assert not window.covered
    assert trial(room).number == 1
    assert focus() is window.screen_shown.dials.rows[0].control


def test_a_part_that_the_moderator_skips_is_covered_without_a_button(opens, qapp) -> None:
    room, window = opens()
    room.runner.send(SkipStage(), Source.MODERATOR)
    qapp.processEvents()
    assert window.covered
    assert not window.cover.back.isVisible()
    assert "Question skipped" not in window.cover.accessibleName()
    wait(room, 3.1)
    assert room.last("part.ended")["outcome"] == "skipped"


def test_dials_stand_still_while_the_participant_is_asked_to_leave(opens, qapp) -> None:
    room, window = opens()
    dial = window.screen_shown.dials.rows[1].control
    value, moved = dial.shown, room.count("dial.moved")
    working = room.runner.state.pauses.working_ns(room.clock.now_ns())
    press(KEY.Key_Escape)
    assert focus() is window.leave.stay
    room.clock.advance(30)
    for x in (10, dial.width() - 10):
        QTest.mouseClick(dial, LEFT, pos=QPoint(x, dial.height() // 2))
    QTest.keyClick(dial, KEY.Key_PageUp)
    QTest.mouseClick(window.bottom.left, LEFT)
    qapp.processEvents()
    for _ in range(8):
        press(KEY.Key_Tab)
        assert window.leave.isAncestorOf(focus()), "the focus stays in the question"
    assert (dial.shown, room.count("dial.moved")) == (value, moved)
    assert room.count("trial.ended") == 0
    assert room.runner.state.pauses.working_ns(room.clock.now_ns()) == working
    window.leave.stay.setFocus()
    press(KEY.Key_Return)
    assert room.count("close.withdrawn") == 1
    assert not window.leave.isVisible()
    assert not room.runner.state.pauses.held
    press(KEY.Key_PageUp)
    assert room.runner.state.pauses.working_ns(room.clock.now_ns()) == working


def test_a_name_that_is_written_is_kept_when_its_writer_asks_to_leave(opens, qapp) -> None:
    room, window = opens()
    row = window.screen_shown.dials.rows[1]
    row.name.edit()
    QTest.keyClicks(row.name.editor, "width")
    window.close()
    qapp.processEvents()
    assert room.last("label.edited")["text"] == "width"
    kinds = [kind for kind in room.kinds() if kind in ("label.edited", "close.requested")]
    assert kinds == ["label.edited", "close.requested"]
    window.leave.stay.click()
    assert row.name.text == "width"


def test_a_pause_puts_an_end_to_the_question_whether_to_leave(opens, qapp) -> None:
    room, window = opens()
    press(KEY.Key_Escape)
    room.runner.send(Pause("they talk"), Source.MODERATOR)
    qapp.processEvents()
    assert not window.leave.isVisible()
    room.runner.send(Resume("on"), Source.MODERATOR)
    qapp.processEvents()
    assert not window.leave.isVisible()
    assert window.stack.isEnabled()
    assert not room.runner.state.pauses.held


STAGES = """id: renamed
title: Two stages whose dials can be renamed
version: 1
unnamed_texts: shipped
flow:
  - stages:
      task: reconstruction
      models: [sinelines/gt, sinelines/vae]
      trials: 2
      labels: editable
      time_limit_min: 0.02
"""


@pytest.fixture
def commented(open_room, open_window, tmp_path, qapp):
    """A room and its window on the first of two questionnaires with the same field to write in."""
    room = open_room(study=questionnaire_study(tmp_path / "study", ["comments", "comments"]))
    window = open_window(room)
    qapp.processEvents()
    return room, window


@pytest.fixture
def by() -> str:
    """What ends the stage, where a test says nothing else."""
    return "moderator"


@pytest.fixture
def renamed(open_room, open_window, tmp_path, qapp, by: str):
    """A room and its window on the first of two stages, while a name is being written. No limit of
    time is near where another one than the limit ends the stage."""
    study = tmp_path / "study.yaml"
    study.write_text(STAGES if by == "time limit" else STAGES.replace("0.02", "2"))
    room = open_room(study=study)
    window = open_window(room)
    skip_to(room, "stage-1")
    qapp.processEvents()
    window.screen_shown.dials.rows[1].name.edit()
    QTest.keyClicks(focus_participant_unsent(), "phase")
    return room, window


def focus_participant_unsent() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def stored(room: Room, *kinds: str) -> list[tuple[str, str | None]]:
    """Kinds and stages of these events, in order."""
    room.session.close("test over")
    rows = read_verified_events(Path(room.session.folder.path))
    return [(row.kind, row.part_id) for row in rows if row.kind in kinds]


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (Pause("a knock at the door"), "session.paused"),
        (SkipStage(), "skip.requested"),
        (EndSession("taken ill"), "session.ended"),
    ],
)
def test_what_is_being_written_is_stored_before_the_screen_goes(
    commented, qapp, command: Command, kind: str
) -> None:
    room, window = commented
    QTest.keyClicks(focus_participant_unsent(), "wait")
    assert room.count("response.changed") == 0
    room.runner.send(command, Source.MODERATOR)
    qapp.processEvents()
    QTest.qWait(50)
    assert room.last("response.changed")["value"] == "wait"
    window.close_for_good()
    rows = stored(room, "response.changed", kind)
    assert [row[0] for row in rows] == ["response.changed", kind]
    assert rows[0][1] == room.runner.machine.parts[0].id


def test_a_text_goes_on_after_a_pause(commented, qapp) -> None:
    room, window = commented
    QTest.keyClicks(focus_participant_unsent(), "wait")
    room.runner.send(Pause("a test"), Source.MODERATOR)
    qapp.processEvents()
    room.runner.send(Resume("a test"), Source.MODERATOR)
    qapp.processEvents()
    field = window.screen_shown.items[0].field
    field.edit.setFocus()
    QTest.keyClicks(field.edit, "!")
    window.screen_shown.right()
    assert room.last("questionnaire.submitted")["answers"] == {"comments": "wait!"}
    assert room.count("response.changed") == 2


def test_a_window_that_is_taken_down_gives_what_was_written(commented) -> None:
    room, window = commented
    QTest.keyClicks(focus_participant_unsent(), "so far")
    window.close_for_good()
    assert room.last("response.changed")["value"] == "so far"
    room.runner.send(Pause("nobody is asked now"), Source.MODERATOR)
    assert room.count("session.paused") == 1


def test_a_field_that_goes_writes_nothing_into_the_next_part(commented, qapp) -> None:
    room, window = commented
    old = window.screen_shown
    skip_stage(room.runner, Source.MODERATOR)
    QTest.keyClicks(old.items[0].field.edit, "too late")
    old.items[0].field.keep()
    qapp.processEvents()
    assert room.count("response.changed") == 0
    assert room.runner.state.part_state.answers == {}


def test_a_described_option_is_stored_too(open_room, open_window, tmp_path, qapp) -> None:
    room = open_room(study=questionnaire_study(tmp_path / "study", ["demographics"]))
    window = open_window(room)
    view = next(view for view in window.screen_shown.items if getattr(view, "field", None))
    own = next(i for i, option in enumerate(view.choice.options) if option.describe)
    QTest.mouseClick(view.group.options[own], Qt.MouseButton.LeftButton)
    qapp.processEvents()
    assert focus_participant_unsent() is view.field.edit
    QTest.keyClicks(focus_participant_unsent(), "mine")
    skip_stage(room.runner, Source.MODERATOR)
    chosen = view.choice.options[own].id
    assert room.last("response.changed")["value"] == {"chosen": (chosen,), "described": "mine"}


@pytest.mark.parametrize("by", ["moderator", "time limit"])
def test_a_name_that_is_being_written_stays_with_its_stage(renamed, qapp, qtbot, by: str) -> None:
    room, _ = renamed
    if by == "moderator":
        skip_stage(room.runner, Source.MODERATOR)
    else:
        qtbot.waitUntil(lambda: room.runner.part.id == "stage-2-intro")
    qapp.processEvents()
    assert room.runner.part.id == "stage-2-intro"
    assert room.last("label.edited") == {"dimension": 1, "text": "phase"}
    skip_to(room, "stage-2")
    qapp.processEvents()
    assert not any(room.runner.state.part_state.labels)
    rows = stored(room, "label.edited", "part.ended")
    at = rows.index(("label.edited", "stage-1"))
    assert rows[at + 1] == ("part.ended", "stage-1")
    assert [kind for kind, _ in rows].count("label.edited") == 1


def test_a_name_is_kept_once_over_a_pause(renamed, qapp) -> None:
    room, window = renamed
    room.runner.send(Pause("a knock at the door"), Source.MODERATOR)
    qapp.processEvents()
    room.runner.send(Resume("it was nothing"), Source.MODERATOR)
    qapp.processEvents()
    assert window.screen_shown.dials.rows[1].name.text == "phase"
    assert room.count("label.edited") == 1


def test_the_first_question_of_the_new_attempt_is_shown(qapp, tmp_path: Path) -> None:
    killed = at(tmp_path, "restart_stage", "stage-1")
    skip_question(killed.runner)
    around = surroundings(tmp_path, make_scheduler=QtScheduler)
    session = opening.resume(drop(killed), lambda loaded, models: around)
    runner = session.runner
    bridge = Bridge(runner)
    loaded = session.loaded
    window = ParticipantWindow(
        bridge, loaded, strings_of(loaded), loaded.study.presentation, session.give_consent
    )
    try:
        session.begin()
        window.open_on()
        qapp.processEvents()
        assert window.covered, "everybody waits for the person who resumes"
        runner.send(Resume("on"), Source.MODERATOR)
        qapp.processEvents()
        assert not window.covered
        screen = window.screen_shown
        assert isinstance(screen, ReconstructionScreen)
        assert screen.head().question == "Question 1 of 3"
        trial = trial_of(session)
        assert (trial.number, trial.attempt) == (1, 2)
        shown = [row.control.shown for row in screen.dials.rows]
        assert shown == list(trial.z_start)
        assert trial.started_ns is not None
    finally:
        window.close_for_good()
        window.deleteLater()
        session.close("test over")
        bridge.deleteLater()
        runner.scheduler.deleteLater()


def test_a_screen_keeps_its_state_when_the_session_goes_on(qtbot: Any) -> None:
    """It is laid out again, in the console's mirror too, before the next one takes its place."""
    session: Any = SimpleNamespace(part="first", part_state="its state")
    screen = Screen(session, session.part)
    qtbot.addWidget(screen)
    assert screen.state == "its state"
    session.part_state = "its next state"
    assert screen.state == "its next state"
    session.part, session.part_state = "second", "another's state"
    assert screen.state == "its next state"


def test_the_button_counts_the_seconds_in_which_a_skip_can_be_taken_back(opens) -> None:
    room, window = opens()
    skip_by_keyboard(window)
    shown = []
    for _ in range(3):
        window._count_down()  # as its timer does five times a second
        shown.append(window.cover.back.text())
        wait(room, 0.9)
    assert shown == ["Take back (3)", "Take back (3)", "Take back (2)"]
    assert window._counting.isActive()
    press(KEY.Key_Return)
    window._count_down()
    assert not window._counting.isActive(), "nothing is counted once it is taken back"
    assert room.last("skip.taken_back") == {"what": "trial"}
