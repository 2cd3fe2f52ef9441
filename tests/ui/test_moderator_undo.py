"""What a moderator skipped or ended by mistake is taken back from the console's top line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from labapp.record.events import Source
from labapp.record.events.commands import AddNote, AskToLeave, EndSession, Pause, Resume, StayHere
from labapp.record.journal.sessions import list_sessions
from labapp.session.resuming import read_verified_events
from labapp.ui.controller import ENDED_EARLY, SessionController
from labapp.ui.starting import RunOptions, open_new
from tests.helpers.rooms import skip_to
from tests.helpers.skips import skip_stage
from tests.ui.desk import Desk, desk

__all__ = ["desk"]
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def stage(desk: Desk) -> Desk:
    """A console beside the first question of a stage."""
    skip_to(desk.room, "stage-1")
    desk.wait(1)
    return desk


def skip(desk: Desk, qtbot: QtBot) -> None:
    header = desk.console.header
    qtbot.mouseClick(header.skip, LEFT)
    qtbot.mouseClick(header.questions.yes, LEFT)
    desk.wait(0)


def test_a_skipped_stage_counts_down_and_is_taken_back(stage: Desk, qtbot: QtBot) -> None:
    line, ended = stage.console.header.skipping, stage.room.count("part.ended")
    skip(stage, qtbot)
    assert line.isVisible()
    assert line.text.text() == "Skipping “Stage 1 (sinelines/vae)” in 3 s"
    stage.wait(1.5)
    assert line.text.text() == "Skipping “Stage 1 (sinelines/vae)” in 2 s"
    qtbot.mouseClick(line.back, LEFT)
    stage.wait(0)
    assert not line.isVisible()
    assert stage.console.header.pause.isVisible()
    stage.wait(10)
    assert stage.room.count("part.ended") == ended
    assert stage.runner.part is not None
    assert stage.runner.part.id == "stage-1"


def test_a_skip_that_was_taken_back_has_the_sign_of_a_deviation(stage: Desk, qtbot: QtBot) -> None:
    skip(stage, qtbot)
    qtbot.mouseClick(stage.console.header.skipping.back, LEFT)
    stage.wait(0)
    last = stage.console.state.timeline.marks[-1]
    assert (last.kind, last.text) == ("deviation", "A skip was taken back")


def test_escape_takes_a_skipped_stage_back(stage: Desk, qtbot: QtBot) -> None:
    skip(stage, qtbot)
    qtbot.keyClick(stage.console.header.skipping.back, Qt.Key.Key_Escape)
    assert stage.room.last("skip.taken_back") == {"what": "part"}


@pytest.mark.parametrize("opened_by", ["button", "window"])
def test_enter_ends_nothing(stage: Desk, qtbot: QtBot, opened_by: str) -> None:
    header, asked = stage.console.header, stage.console.header.questions
    if opened_by == "button":
        qtbot.mouseClick(header.end, LEFT)
    else:
        stage.console.close()
    assert asked.isVisible()
    for widget in (stage.console, header, asked, asked.no):
        qtbot.keyClick(widget, Qt.Key.Key_Return)
        assert not stage.runner.finished
    qtbot.mouseClick(header.end, LEFT)
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        qtbot.keyClicks(asked.reason, "no time")
        qtbot.keyClick(asked.reason, key)
    assert not stage.runner.finished
    assert asked.isVisible(), "what was typed is still there"
    qtbot.mouseClick(asked.yes, LEFT)
    assert stage.room.last("session.ended")["reason"] == "no timeno time"


@pytest.mark.parametrize("withdrawal", ["", "keep", "delete"])
def test_an_early_end_is_taken_back(stage: Desk, qtbot: QtBot, withdrawal: str) -> None:
    header = stage.console.header
    before = header.elapsed.text()
    stage.runner.send(EndSession("a mistake", withdrawal), Source.MODERATOR)
    stage.wait(20)
    assert header.reopen.isVisible()
    assert header.done.isVisible()
    assert not header.end.isVisible()
    qtbot.mouseClick(header.reopen, LEFT)
    stage.wait(1)
    assert not stage.runner.finished
    assert (header.reopen.isVisible(), header.done.isVisible()) == (False, False)
    assert header.end.isVisible()
    assert header.pause.text() == "Continue", "it goes on when everybody is there"
    assert header.recording.text().startswith("‖ the end was taken back, 0:01")
    assert header.elapsed.text() == before
    assert stage.console.state.withdrawal == ""
    qtbot.mouseClick(header.pause, LEFT)
    stage.wait(2)
    assert not stage.runner.state.pauses.held
    assert "The end was taken back" in [m.text for m in stage.console.state.timeline.marks]


def test_what_came_to_its_end_is_not_taken_back(desk: Desk) -> None:
    while desk.runner.part is not None:
        skip_to(desk.room, "debrief")
        skip_stage(desk.runner)
    desk.wait(1)
    assert desk.runner.state.ended == "completed"
    assert desk.console.header.done.isVisible()
    assert not desk.console.header.reopen.isVisible()


def test_wants_to_stop_is_over_when_the_participant_goes_on(stage: Desk) -> None:
    for over in (StayHere(), Pause("they talk"), EndSession("they stop")):
        before = stage.console.header.elapsed.text()
        stage.runner.send(AskToLeave("escape"))
        stage.wait(5)
        assert any("wants to stop" in text for text in stage.alarms())
        assert stage.console.header.elapsed.text() == before, "the clock stands"
        assert stage.console.header.recording.text() == "‖ asked whether to stop"
        stage.runner.send(over, Source.MODERATOR)
        assert not any("wants to stop" in text for text in stage.alarms())
        stage.runner.send(Resume("on"), Source.MODERATOR)


@pytest.fixture
def running(qtbot: QtBot, tmp_path: Path) -> Iterator[SessionController]:
    """`labapp run` of a person, with both windows."""
    options = RunOptions(
        data=tmp_path / "data", private=tmp_path / "private", audio="off", windowed=True
    )
    controller = SessionController(open_new("quickstart", "P01", "1", options), options)
    controller.start()
    yield controller
    controller._end()


def test_run_stays_until_the_console_is_closed(running: SessionController, qtbot: QtBot) -> None:
    runner, console = running.opened.runner, running.console
    data = running.options.data
    running.opened.give_consent("Somebody")
    runner.send(EndSession("a mistake"), Source.MODERATOR)
    qtbot.wait(600)
    assert console.isVisible()
    assert running.participant.isVisible()
    runner.send(AddNote("said goodbye", 0), Source.MODERATOR)
    qtbot.waitUntil(console.header.reopen.isVisible)
    qtbot.mouseClick(console.header.reopen, LEFT)
    assert not runner.finished
    qtbot.waitUntil(lambda: console.header.pause.text() == "Continue")
    qtbot.mouseClick(console.header.pause, LEFT)
    qtbot.waitUntil(lambda: not running.participant.covered)
    runner.send(EndSession("this time for good"), Source.MODERATOR)
    qtbot.waitUntil(console.header.done.isVisible)
    assert console.header.done.text() == "Close the console"
    with qtbot.waitSignal(running.closed) as closed:
        qtbot.mouseClick(console.header.done, LEFT)
    assert closed.args == [ENDED_EARLY]
    (listed,) = list_sessions(data)
    assert listed.state == "ended_early"
    kinds = [event.kind for event in read_verified_events(listed.path)]
    ends = [k for k in kinds if k in ("session.ended", "session.reopened", "note.added")]
    assert ends == ["session.ended", "note.added", "session.reopened", "session.ended"]
