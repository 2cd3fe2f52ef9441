"""The dial, merged movements, and times and the path of the pointer."""

from __future__ import annotations

import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QCursor, QInputDevice, QMouseEvent, QPointingDevice
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from labapp.analysis.tables import load
from labapp.models.representations.space import Continuous
from labapp.record.events import Source
from labapp.record.events.commands import Pause
from labapp.ui import controller, presentation, theme
from labapp.ui.controller import PointerPath, SessionController
from labapp.ui.participant.window import MoveGate
from labapp.ui.presentation import LONGEST_NS, MS, RECENT, WRAP_NS, InputClock
from labapp.ui.starting import RunOptions, open_new
from labapp.ui.widgets.choice import Look, Scale
from labapp.ui.widgets.dial import HANDLE_R, DialSlider
from tests.helpers.hands import turn_wheel
from tests.helpers.rooms import skip_to
from tests.helpers.studies import write_study

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
    turn_wheel(dial, dial.rect().center(), notches)


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


@pytest.fixture
def gate(qapp):
    sent: list[tuple[int, float, str]] = []
    frames: list[int] = []
    made = MoveGate(lambda *move: sent.append(move), lambda: frames.append(len(sent)))
    made.sent, made.frames = sent, frames
    yield made
    made.clear()


def test_the_first_goes_at_once_and_the_rest_are_merged_per_dial(gate, qapp):
    gate.ask(0, 0.1, "mouse")
    for i in range(2, 9):
        gate.ask(0, i / 10, "mouse")
    gate.ask(3, -1.0, "keyboard")
    assert gate.sent == [(0, 0.1, "mouse")]
    assert gate.frames == [1]
    assert gate.waits(0)
    assert gate.waits(3)
    gate.frame_painted()
    assert len(gate.sent) == 1  # not from inside the paint event
    qapp.processEvents()
    assert gate.sent[1:] == [(0, 0.8, "mouse"), (3, -1.0, "keyboard")]
    assert not gate.waits(0)


def test_it_opens_again_after_a_frame(gate, qapp):
    gate.ask(0, 0.1, "mouse")
    gate.frame_painted()
    gate.ask(0, 0.2, "mouse")
    assert gate.sent == [(0, 0.1, "mouse"), (0, 0.2, "mouse")]
    gate.ask(0, 0.3, "mouse")
    gate.frame_painted()
    qapp.processEvents()
    gate.ask(0, 0.4, "mouse")  # the frame of 0.3 is still to come
    assert gate.sent[-1] == (0, 0.3, "mouse")


def test_the_last_value_arrives_though_no_frame_comes(gate, qtbot):
    gate.ask(0, 0.1, "mouse")
    gate.ask(0, 0.2, "mouse")
    qtbot.waitUntil(lambda: len(gate.sent) == 2)
    assert gate.sent[-1] == (0, 0.2, "mouse")


def test_clear_forgets(gate, qapp):
    gate.ask(0, 0.1, "mouse")
    gate.ask(0, 0.2, "mouse")
    gate.clear()
    gate.frame_painted()
    qapp.processEvents()
    assert gate.sent == [(0, 0.1, "mouse")]
    gate.ask(1, 0.5, "mouse")
    assert gate.sent[-1] == (1, 0.5, "mouse")


WRAP_MS = WRAP_NS // MS

NOW = 1_234_567_890_123_456

STARTS = st.integers(LONGEST_NS + MS, 2**62)

LATES = st.integers(0, LONGEST_NS - MS)

OFFSETS = st.integers(0, 2**50)


@given(STARTS, LATES)
def test_a_stamp_of_the_same_clock_is_the_time_to_the_millisecond(happened: int, late: int) -> None:
    stamp = happened // MS
    found = InputClock(same=True).of(stamp, happened + late)
    assert found == (stamp * MS, "event")


@given(st.integers(1, 40), STARTS, LATES)
def test_a_clock_of_32_bits_that_began_again_is_the_same_clock(
    turns: int, happened: int, late: int
) -> None:
    happened += turns * WRAP_NS
    stamp = happened // MS % WRAP_MS
    found = InputClock(same=True).of(stamp, happened + late)
    assert found.perf_ns == (happened // MS * MS if stamp else happened + late)


def test_a_press_just_before_the_clock_began_again_arrives_just_after() -> None:
    arrival = 7 * WRAP_NS + 2 * MS
    assert InputClock(same=True).of(WRAP_MS - 3, arrival) == (arrival - 5 * MS, "event")


@pytest.mark.parametrize("stamp", [0, NOW // MS + 5, (NOW - LONGEST_NS) // MS - 5, 17])
def test_no_stamp_one_from_the_future_and_one_from_long_ago_are_not_trusted(stamp: int) -> None:
    assert InputClock(same=True).of(stamp, NOW) == (NOW, "arrival")


@pytest.mark.parametrize("stamp", [0, (NOW - LONGEST_NS) // MS - 5, 17])
def test_nor_are_they_of_another_clock(stamp: int) -> None:
    clock = InputClock(same=False)
    clock.of(NOW // MS - 1, NOW)
    assert clock.of(stamp, NOW) == (NOW, "arrival")


@given(OFFSETS, STARTS, st.lists(st.tuples(st.integers(1, 5 * 10**9), LATES), min_size=2))
def test_of_another_clock_the_promptest_event_says_what_to_add(
    offset: int, start: int, events: list[tuple[int, int]]
) -> None:
    """Never after the arrival, and after the event by no more than the promptest one was late."""
    clock, happened, lates = InputClock(same=False), start, []
    for gap, late in events:
        happened += gap
        lates.append(late)
        found = clock.of((happened + offset) // MS, happened + late)
        assert found.perf_ns <= happened + late
        promptest = min(lates[-RECENT - 1 :])
        assert abs(found.perf_ns - happened) <= promptest + MS
        assert found.timed_by == ("arrival" if len(lates) == 1 else "event")


@given(OFFSETS, STARTS, LATES)
def test_clocks_that_part_are_brought_together_again(offset: int, start: int, late: int) -> None:
    """A machine that slept stops one clock and not the other."""
    clock, happened = InputClock(same=False), start
    for _ in range(5):
        happened += 10**9
        clock.of((happened + offset) // MS, happened)
    slept = 3600 * 10**9
    happened += slept
    assert clock.of((happened + offset - slept) // MS, happened).timed_by == "arrival"
    happened += 10**9
    found = clock.of((happened + offset - slept) // MS, happened + late)
    assert abs(found.perf_ns - happened) <= MS
    assert found.timed_by == "event"


def test_within_a_step_of_a_coarse_clock_the_arrival_says_more() -> None:
    clock = InputClock(same=True, step_ns=16 * MS)
    assert clock.of(NOW // MS - 10, NOW) == (NOW, "arrival")
    assert clock.of(NOW // MS - 20, NOW) == ((NOW // MS - 20) * MS, "event")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="of Linux's clocks")
def test_on_linux_python_reads_the_clock_that_x11_and_wayland_stamp_with() -> None:
    stamp = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // MS
    found = presentation.of_this_machine().of(stamp, time.perf_counter_ns())
    assert found == (stamp * MS, "event")


def test_what_moves_is_recorded_with_its_question(
    open_room, open_window, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand = [QPoint(0, 0)]
    monkeypatch.setattr(QCursor, "pos", staticmethod(lambda: hand[0]))
    room = open_room(write_study(tmp_path / "study", "sinelines/gt", think_aloud=False))
    window = open_window(room)
    skip_to(room, "stage-1")
    path = PointerPath(window, room.runner)
    path._timer.stop()

    def move(x: int, y: int) -> None:
        hand[0] = window.mapToGlobal(QPoint(x, y))
        path._look()

    move(10, 10)
    for step in range(1, 6):
        move(10 + step, 20)
    assert room.count("pointer.moved") == 0
    move(15, 20)  # it rests
    moved = room.last("pointer.moved")
    assert moved["x"] == (10, 11, 12, 13, 14, 15)
    assert moved["y"] == (10, 20, 20, 20, 20, 20)
    assert list(moved["t_ms"]) == sorted(moved["t_ms"])
    assert (moved["width"], moved["height"]) == (window.width(), window.height())
    path._look()
    assert room.count("pointer.moved") == 1, "a pointer that rests says nothing"
    move(-50, 20)  # it leaves the window
    move(30, 30)
    room.runner.send(Pause("technical"), Source.MODERATOR)
    move(40, 40)
    move(50, 50)
    assert room.last("pointer.moved")["x"] == (30,), "nobody sees the question in a pause"
    path.stop()
    window.close_for_good()
    room.session.close("test over")
    tables = load([room.session.folder.path])
    assert tables.pointer["stage"].tolist() == ["stage-1", "stage-1"]
    assert tables.pointer["trial"].tolist() == [1, 1]
    assert tables.pointer["x_px"].iloc[0] == [10, 11, 12, 13, 14, 15]


def test_a_long_movement_is_handed_over_every_second(
    open_room, open_window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(controller, "LONGEST_NS", 0)
    hand = [QPoint(0, 0)]
    monkeypatch.setattr(QCursor, "pos", staticmethod(lambda: hand[0]))
    room = open_room(write_study(tmp_path / "study", "sinelines/gt"))
    window = open_window(room)
    path = PointerPath(window, room.runner)
    path._timer.stop()
    for step in range(3):
        hand[0] = window.mapToGlobal(QPoint(10 + step, 20))
        path._look()
    assert room.count("pointer.moved") == 3


@pytest.mark.parametrize("asked", [True, False])
def test_only_a_study_that_asks_for_it_records_it(
    qapp: QApplication, tmp_path: Path, asked: bool
) -> None:
    study = write_study(tmp_path / "study", "sinelines/gt")
    if asked:
        study.write_text(study.read_text() + "recording: {pointer: true}\n")
    options = RunOptions(data=tmp_path / "data", private=tmp_path / "private", audio="off")
    controller = SessionController(open_new(str(study), "P01", "1", options), options)
    try:
        assert bool(controller.participant.findChildren(PointerPath)) is asked
    finally:
        controller._end()


def test_nothing_is_recorded_of_a_hand_that_signs(
    open_room, open_window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand = [QPoint(0, 0)]
    monkeypatch.setattr(QCursor, "pos", staticmethod(lambda: hand[0]))
    room = open_room()
    window = open_window(room)
    path = PointerPath(window, room.runner)
    for step in range(5):
        hand[0] = window.mapToGlobal(QPoint(10 + step, 20))
        path._look()
    path.stop()
    assert room.runner.part is not None
    assert room.runner.part.part == "consent"
    assert room.count("pointer.moved") == 0
