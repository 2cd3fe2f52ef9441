"""The break on a real session: the participant waits, the moderator need not."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from labapp.base.clock import FakeClock
from labapp.record.events import Source
from labapp.record.events.commands import EndSession, Resume
from labapp.tasks.resting.screen import BreakScreen

STUDY = """\
id: with-break
title: A study with a break
version: 1
flow:
  - text: shipped:consent
  - break: shipped:consent
    at_least_s: {seconds}
  - questionnaire: shipped:seq
"""


@pytest.fixture
def rest(open_room, open_window, qapp, tmp_path: Path):
    """Opens a break of at least so many seconds: its room and window."""

    def open_one(seconds: float):
        study = tmp_path / "with-break.yaml"
        study.write_text(STUDY.format(seconds=seconds))
        room = open_room(study, clock=FakeClock())
        window = open_window(room, "break-1")
        assert isinstance(window.screen_shown, BreakScreen)
        return room, window

    return open_one


def look(window, qapp) -> None:
    window.screen_shown._look()
    qapp.processEvents()


def test_the_participant_goes_on_after_the_least_time(rest, qapp):
    room, window = rest(90)
    assert not window.covered
    assert window.bottom.note.text() == "You can go on in 1:30."
    assert not window.bottom.right.isEnabled()
    room.clock.advance(85.5)
    look(window, qapp)
    assert window.bottom.note.text() == "You can go on in 0:05."
    window.screen_shown.right()  # too early: nothing
    assert room.runner.part.id == "break-1"
    room.clock.advance(4.5)
    look(window, qapp)
    assert window.bottom.note.text() == ""
    assert QApplication.focusWidget() is window.bottom.right
    before = room.runner.state.pauses.total_ns
    QTest.keyClick(window.bottom.right, Qt.Key.Key_Return)
    qapp.processEvents()
    assert room.runner.part.id == "questionnaire-1"
    assert room.runner.state.pauses.total_ns - before == 90 * 10**9, "no duration counts it"
    assert not room.runner.state.pauses.paused


def test_a_break_without_least_time_is_left_at_once(rest, qapp):
    room, window = rest(0)
    assert window.bottom.right.isEnabled()
    assert QApplication.focusWidget() is window.bottom.right
    QTest.mouseClick(window.bottom.right, Qt.MouseButton.LeftButton)
    assert room.runner.part.id == "questionnaire-1"


def test_the_moderator_ends_a_break_at_once(rest, qapp):
    room, _ = rest(600)
    room.runner.send(Resume("ready"), Source.MODERATOR)
    qapp.processEvents()
    assert room.runner.part.id == "questionnaire-1"


def test_a_session_can_end_in_a_break(rest, qapp):
    room, window = rest(600)
    room.runner.send(EndSession("no time left"), Source.MODERATOR)
    qapp.processEvents()
    assert window.covered
    assert not window.bottom.note.text()
