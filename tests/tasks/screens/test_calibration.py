"""The screen of a calibration on a real session: marks by mouse and keyboard, nothing locks."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from labapp.base.clock import FakeClock
from labapp.tasks.reconstruction.screen.matching import CalibrationScreen
from tests.helpers.rooms import solve
from tests.helpers.studies import ring_decoder, write_study
from tests.tasks.screens.test_reconstruction import geometry

LEFT = Qt.MouseButton.LeftButton
MODEL = "mnist8k/ss10"


@pytest.fixture
def calibration(open_room, open_window, qapp, tmp_path):
    """A room and its window on a calibration with dials that can be renamed."""
    study = write_study(tmp_path, MODEL, labels="editable", skip="after", marks=True)
    room = open_room(study, decoders={MODEL: ring_decoder(MODEL, 10, 10)}, clock=FakeClock())
    window = open_window(room, "stage-1")
    return room, window


def screen_of(window) -> CalibrationScreen:
    screen = window.screen_shown
    assert isinstance(screen, CalibrationScreen)
    return screen


def test_there_is_no_target_mark(calibration):
    _, window = calibration
    bar = screen_of(window).bar
    assert bar.accessibleDescription() == bar.percent


def test_marks_by_mouse_lead_on_and_nothing_shifts(calibration, qapp):
    room, window = calibration
    screen = screen_of(window)
    before = geometry(window)
    assert "at least once" in screen.marks.line.text()
    QTest.mouseClick(screen.marks.buttons["far"], LEFT)
    qapp.processEvents()
    marked = room.last("alignment.marked")
    assert (marked["mark"], marked["alignment"]) == (
        "far",
        room.runner.state.part_state.trial.alignment,
    )
    assert screen.marks.line.text() == "Marked: Far away (1). Still to mark: Close enough."
    assert not window.bottom.right.isEnabled()
    solve(room)
    assert all(not row.control.locked for row in screen.dials.rows)
    QTest.mouseClick(screen.marks.buttons["close"], LEFT)
    QTest.mouseClick(screen.marks.buttons["close"], LEFT)
    qapp.processEvents()
    assert screen.marks.line.text() == "Marked: Close enough (2). You can mark again or go on."
    assert geometry(window) == before
    QTest.mouseClick(window.bottom.right, LEFT)
    qapp.processEvents()
    assert room.last("trial.ended") == {"outcome": "marked"}
    assert room.runner.state.part_state.trial.number == 2
    assert "at least once" in screen.marks.line.text()
    assert not window.bottom.right.isEnabled()


def test_marks_by_key_keep_the_hand_on_its_dial(calibration, qapp):
    room, window = calibration
    dial = screen_of(window).dials.rows[2].control
    dial.setFocus()
    QTest.keyClick(dial, Qt.Key.Key_F)
    QTest.keyClick(dial, Qt.Key.Key_Right)
    QTest.keyClick(dial, Qt.Key.Key_Right)
    QTest.keyClick(dial, Qt.Key.Key_C)  # what the hand did is sent before its mark
    assert room.count("alignment.marked") == 2
    assert room.last("alignment.marked")["mark"] == "close"
    assert room.last("alignment.marked")["z_seq"] == 2
    assert QApplication.focusWidget() is dial
    assert window.bottom.right.isEnabled()


def test_letters_of_a_name_mark_nothing(calibration, qapp):
    room, window = calibration
    screen = screen_of(window)
    screen.dials.rows[1].name.edit()
    qapp.processEvents()
    QTest.keyClicks(QApplication.focusWidget(), "fc")
    assert room.count("alignment.marked") == 0


def test_mark_keys_and_arrow_keys_work_wherever_the_focus_is(calibration, qapp):
    room, window = calibration
    dial = screen_of(window).dials.rows[2].control
    dial.setFocus()
    before = dial.shown
    for place in (window, screen_of(window).marks.buttons["far"]):
        place.setFocus()
        QTest.keyClick(window.windowHandle(), Qt.Key.Key_F)
        assert QApplication.focusWidget() is place
        QTest.keyClick(window.windowHandle(), Qt.Key.Key_Right)
        assert QApplication.focusWidget() is dial
    assert room.count("alignment.marked") == 2
    assert dial.shown == pytest.approx(before + 2 * dial.dimension.step)
