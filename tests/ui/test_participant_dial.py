"""The dial: every step reachable by hand, and nothing else moves it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QInputDevice, QMouseEvent, QPointingDevice, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from labapp.models.representations.space import Continuous
from labapp.ui import theme
from labapp.ui.widgets.choice import Look, Scale
from labapp.ui.widgets.dial import HANDLE_R, DialSlider

WIDE = Continuous("z", -20.0, 20.0)
LEFT = Qt.MouseButton.LeftButton
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def dial(qtbot):
    window = QWidget()
    made = DialSlider(WIDE, theme.LIGHT)
    other = DialSlider(WIDE, theme.LIGHT)
    column = QVBoxLayout(window)
    column.addWidget(made)
    column.addWidget(other)
    window.resize(300, 120)
    window.show()
    window.activateWindow()
    qtbot.waitExposed(window)
    made.show_value(0.0)
    made.asked = []
    made.moved.connect(lambda value, device: made.asked.append((value, device)))
    made.selections = []
    made.selected.connect(made.selections.append)
    yield made
    window.close()


def at(dial: DialSlider, value: float) -> QPoint:
    return QPoint(round(dial.handle_x(value)), dial.height() // 2)


def test_every_step_is_reached_by_keyboard(dial):
    dial.setFocus()
    for _ in range(150):
        QTest.keyClick(dial, Qt.Key.Key_Right)
    assert [value for value, _ in dial.asked] == [round(0.01 * (i + 1), 2) for i in range(150)]
    QTest.keyClick(dial, Qt.Key.Key_PageDown)
    assert dial.shown == 1.4
    QTest.keyClick(dial, Qt.Key.Key_Left)
    QTest.keyClick(dial, Qt.Key.Key_Up)
    QTest.keyClick(dial, Qt.Key.Key_Down)
    assert dial.shown == 1.39
    QTest.keyClick(dial, Qt.Key.Key_Home)
    assert dial.shown == -20.0
    QTest.keyClick(dial, Qt.Key.Key_End)
    assert dial.shown == 20.0
    assert {device for _, device in dial.asked} == {"keyboard"}


def test_every_step_is_reached_by_shift_drag(dial):
    QTest.mousePress(dial, LEFT, SHIFT, at(dial, 0.0))
    reached = set()
    for x in range(60):
        move = QPointF(at(dial, 0.0) + QPoint(x, 0))
        send_move(dial, move, SHIFT)
        reached.add(dial.shown)
    QTest.mouseRelease(dial, LEFT, SHIFT, at(dial, 0.0))
    steps = sorted(reached)
    assert len(steps) >= 20
    assert all(round(b - a, 9) == 0.01 for a, b in pairwise(steps))


def send_move(dial, where: QPointF, modifiers=Qt.KeyboardModifier.NoModifier):
    event = QMouseEvent(
        QEvent.Type.MouseMove,
        where,
        dial.mapToGlobal(where),
        Qt.MouseButton.NoButton,
        LEFT,
        modifiers,
    )
    QCoreApplication.sendEvent(dial, event)


def test_drag_is_coarse_and_shift_in_the_middle_does_not_jump(dial):
    start = QPointF(at(dial, 0.0))
    QTest.mousePress(dial, LEFT, pos=at(dial, 0.0))
    assert dial.asked == []  # taking hold of the handle moves nothing
    send_move(dial, start + QPointF(20, 0))
    coarse = dial.shown
    assert coarse > 2.0
    send_move(dial, start + QPointF(21, 0), SHIFT)
    assert dial.shown - coarse < 0.2
    near = dial.shown
    send_move(dial, start + QPointF(25, 0), SHIFT)
    assert round(dial.shown - near, 9) == 0.02
    QTest.mouseRelease(dial, LEFT, pos=at(dial, 0.0))
    before = dial.shown
    send_move(dial, start)
    assert dial.shown == before


def test_a_click_in_the_track_moves_the_handle_there(dial):
    where = QPoint(dial.width() // 4, dial.height() // 2)
    QTest.mouseClick(dial, LEFT, pos=where)
    assert abs(dial.handle_x(dial.shown) - where.x()) <= 1
    assert dial.asked[0][1] == "mouse"
    assert dial.selections == ["mouse"]


@pytest.mark.parametrize("value", [-20.0, 0.0, 20.0])
def test_the_handle_stays_inside(dial, value):
    assert HANDLE_R <= dial.handle_x(value) <= dial.width() - HANDLE_R


def test_dragging_beyond_the_ends_stops_at_the_limits(dial):
    QTest.mousePress(dial, LEFT, pos=at(dial, 0.0))
    send_move(dial, QPointF(5000, 5))
    assert dial.shown == 20.0
    send_move(dial, QPointF(-5000, 5))
    assert dial.shown == -20.0
    QTest.mouseRelease(dial, LEFT, pos=at(dial, 0.0))


def wheel(dial, notches: float) -> None:
    place = QPointF(dial.rect().center())
    event = QWheelEvent(
        place,
        dial.mapToGlobal(place),
        QPoint(),
        QPoint(0, round(notches * 120)),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(dial, event)


def test_the_wheel_is_ignored_without_focus(dial):
    dial.clearFocus()
    wheel(dial, 3)
    assert dial.asked == []
    dial.setFocus()
    wheel(dial, 0.5)
    assert dial.asked == []
    wheel(dial, 0.5)
    assert dial.asked == [(0.01, "wheel")]


def test_a_locked_dial_takes_no_input(dial):
    dial.setFocus()
    dial.set_locked(True)
    looks = dial.grab().toImage()
    QTest.keyClick(dial, Qt.Key.Key_Right)
    QTest.mouseClick(dial, LEFT, pos=QPoint(20, 16))
    wheel(dial, 2)
    assert dial.asked == []
    assert dial.shown == 0.0
    assert dial.focusPolicy() == Qt.FocusPolicy.NoFocus
    dial.set_locked(False)
    assert dial.grab().toImage() != looks


def test_a_drag_ends_when_the_dial_locks(dial):
    QTest.mousePress(dial, LEFT, pos=at(dial, 0.0))
    dial.set_locked(True)
    send_move(dial, QPointF(200, 5))
    dial.set_locked(False)
    send_move(dial, QPointF(200, 5))
    QTest.mouseRelease(dial, LEFT)
    assert dial.asked == []


def test_tab_selects_and_a_focus_given_by_the_program_does_not(dial):
    dial.setFocus(Qt.FocusReason.OtherFocusReason)
    assert dial.selections == []
    QTest.keyClick(dial, Qt.Key.Key_Right)
    QTest.keyClick(dial, Qt.Key.Key_Right)
    assert dial.selections == ["keyboard"]
    QTest.keyClick(dial, Qt.Key.Key_Tab)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Backtab)
    assert QApplication.focusWidget() is dial
    assert dial.selections == ["keyboard", "keyboard"]


def test_a_finger_is_told_from_a_mouse(dial):
    screen = QPointingDevice(
        "screen",
        7,
        QInputDevice.DeviceType.TouchScreen,
        QPointingDevice.PointerType.Finger,
        QInputDevice.Capability.Position,
        1,
        1,
    )
    where = QPointF(30, 16)
    press = QMouseEvent(
        QEvent.Type.MouseButtonPress,
        where,
        dial.mapToGlobal(where),
        LEFT,
        LEFT,
        Qt.KeyboardModifier.NoModifier,
        screen,
    )
    QApplication.sendEvent(dial, press)
    assert dial.selections == ["touch"]
    assert dial.asked[0][1] == "touch"


def test_the_start_tick_and_the_focus_are_visible(dial):
    dial.clearFocus()
    plain = dial.grab().toImage()
    dial.set_start(10.0)
    ticked = dial.grab().toImage()
    assert ticked != plain
    dial.setFocus()
    assert dial.grab().toImage() != ticked


@pytest.fixture
def choices(qtbot):
    row = Scale(10, theme.LIGHT, Look(pitch=24))
    row.resize(300, 32)
    row.show()
    row.asked = []
    row.chosen.connect(lambda index, device: row.asked.append((index, device)))
    yield row
    row.close()


def test_choices_by_mouse_and_keyboard(choices):
    assert choices.index is None
    QTest.mouseClick(choices.options[4], LEFT)
    QTest.keyClick(choices, Qt.Key.Key_Right)
    QTest.keyClick(choices, Qt.Key.Key_Home)
    QTest.keyClick(choices, Qt.Key.Key_Left)
    QTest.keyClick(choices, Qt.Key.Key_End)
    assert choices.asked == [(4, "mouse"), (5, "keyboard"), (0, "keyboard"), (9, "keyboard")]
    QTest.keyClick(choices, Qt.Key.Key_3)
    assert choices.index == 9  # unnumbered choices do not answer to digits
    choices.set_locked(True)
    QTest.mouseClick(choices.options[1], LEFT)
    QTest.keyClick(choices, Qt.Key.Key_Left)
    assert choices.index == 9


def test_numbered_choices_answer_to_digits(qtbot):
    row = Scale(7, theme.LIGHT, Look(numbered=True))
    qtbot.addWidget(row)
    QTest.keyClick(row, Qt.Key.Key_8)
    assert row.index is None
    QTest.keyClick(row, Qt.Key.Key_5)
    assert row.index == 4
