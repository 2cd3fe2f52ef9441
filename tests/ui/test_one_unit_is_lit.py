"""The unit that a window lights is the unit that a key codes, however the playhead came there."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from labapp.ui.replay.coding_window import CodingWindow
from labapp.ui.replay.transport import ACTIONS, parse_stroke
from tests.helpers.coded_session import SECOND

WAYS: dict[str, Callable[[CodingWindow], None]] = {}
Way = Callable[[CodingWindow], None]


@pytest.fixture
def coding(open_coding: Callable[..., CodingWindow], qtbot: QtBot) -> CodingWindow:
    """The window of a rater, on the third of ten units, with the sound at rest."""
    opened = open_coding()
    qtbot.waitUntil(lambda: opened.window.filled)
    opened.coding.settings.advance = False
    opened.coding.go_to(opened.coding.units[2].id, play=False)
    return opened


def way(test: Way) -> Way:
    WAYS[test.__name__] = test
    return test


def press(coding: CodingWindow, text: str) -> None:
    stroke = parse_stroke(text)
    widget = QApplication.focusWidget() or coding.window
    QTest.keyClick(widget, Qt.Key(stroke.key), Qt.KeyboardModifier(stroke.modifiers))


def lit(coding: CodingWindow) -> str | None:
    """The id of the unit that list, timeline and loop agree about."""
    current = coding.coding.current
    shown = None if current is None else current.id
    assert coding.window.timeline.current_unit == shown
    assert coding.desk.units.current == shown
    assert coding.window.controller.unit == current
    return shown


def assert_a_key_codes_what_is_lit(coding: CodingWindow) -> None:
    coding.window.controller.pause()
    unit, before = lit(coding), _coded(coding)
    press(coding, "D")
    after = _coded(coding)
    if coding.coding.mode == "code":  # the key gives the code, or takes it back where it stands
        assert {each for each in before | after if (each in before) != (each in after)} == {unit}


def _coded(coding: CodingWindow) -> set[str | None]:
    return {mark.unit for mark in coding.coding.marks.all if mark.code == "names"}


@way
def click_on_the_timeline(coding: CodingWindow) -> None:
    _click(coding, 4)


@way
def drag_along_the_axis(coding: CodingWindow) -> None:
    line = coding.window.timeline
    y = int(line.axis_rect().center().y())
    begin, end = (QPoint(int(line.scale.x(_middle(coding, n))), y) for n in (3, 5))
    QTest.mousePress(line, Qt.MouseButton.LeftButton, pos=begin)
    QTest.mouseMove(line, end)
    assert lit(coding) == coding.coding.units[5].id  # while it is dragged, too
    QTest.mouseRelease(line, Qt.MouseButton.LeftButton, pos=end)


@way
def select_on_the_timeline_and_loop(coding: CodingWindow) -> None:
    line = coding.window.timeline
    line.selected.emit(coding.coding.units[6].t0_ns, coding.coding.units[6].t1_ns)
    press(coding, "Ctrl+L")


@way
def click_in_the_strip(coding: CodingWindow) -> None:
    line = coding.window.timeline
    QTest.mouseClick(line, Qt.MouseButton.LeftButton, pos=line.strip_rect().center().toPoint())


@way
def click_in_the_list(coding: CodingWindow) -> None:
    rows = coding.desk.units
    QTest.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=rows._rect(1).center())
    assert lit(coding) == coding.coding.units[1].id


@way
def type_a_time(coding: CodingWindow) -> None:
    press(coding, "Ctrl+G")
    field = QApplication.focusWidget()
    field.clear()  # type: ignore[union-attr]
    QTest.keyClicks(field, f"{_middle(coding, 7) / SECOND:.1f}")
    press(coding, "Return")
    assert lit(coding) == coding.coding.units[7].id


@way
def find_a_word(coding: CodingWindow) -> None:
    press(coding, "Ctrl+F")
    QTest.keyClicks(QApplication.focusWidget(), "taller")
    press(coding, "Return")
    press(coding, "Escape")
    assert lit(coding) == coding.coding.units[0].id


@way
def pick_what_happened(coding: CodingWindow) -> None:
    coding.window.events.picked.emit(_middle(coding, 6))
    assert lit(coding) == coding.coding.units[6].id


@way
def pick_a_difference_of_another_tool(coding: CodingWindow) -> None:
    coding.panel.picked.emit(_middle(coding, 5))
    assert lit(coding) == coding.coding.units[5].id


@way
def step_second_by_second_into_the_next_unit(coding: CodingWindow) -> None:
    for _ in range(7):
        press(coding, ".")
    assert lit(coding) == coding.coding.units[3].id


@way
def step_back(coding: CodingWindow) -> None:
    for _ in range(4):
        press(coding, ",")
    assert lit(coding) == coding.coding.units[1].id


@way
def play_past_the_end_of_a_unit(coding: CodingWindow) -> None:
    controller = coding.window.controller
    controller.seek_and_play(coding.coding.units[3].t0_ns - SECOND // 10)
    QTest.qWait(600)
    assert lit(coding) == coding.coding.units[3].id


@way
def hear_a_unit_alone_to_its_end(coding: CodingWindow) -> None:
    unit = coding.coding.units[4]
    coding.coding.go_to(unit.id)
    coding.window.controller.player.seek(unit.t1_ns - SECOND // 5)
    QTest.qWait(500)
    assert lit(coding) == unit.id


@way
def take_the_code_of_another_unit_back(coding: CodingWindow) -> None:
    press(coding, "E")
    coding.coding.go_to(coding.coding.units[8].id, play=False)
    press(coding, "Ctrl+Z")
    assert lit(coding) == coding.coding.units[8].id


@way
def leave_a_queue(coding: CodingWindow) -> None:
    units = coding.coding.units
    coding.coding.set_queue(frozenset({units[8].id, units[9].id}))
    assert lit(coding) in (units[8].id, units[9].id)  # never one that the list does not show
    coding.window.controller.seek(0)
    assert lit(coding) == units[8].id


@way
def come_back_from_the_taskbar(coding: CodingWindow) -> None:
    coding.window.controller.seek(_middle(coding, 3))
    coding.coding.choose(coding.coding.units[2].id)
    coding.window.hide()
    coding.window.show()


def _middle(coding: CodingWindow, number: int) -> int:
    unit = coding.coding.units[number]
    return (unit.t0_ns + unit.t1_ns) // 2


def _click(coding: CodingWindow, number: int) -> None:
    line = coding.window.timeline
    x, y = line.scale.x(_middle(coding, number)), line.voice_rect().center().y()
    QTest.mouseClick(line, Qt.MouseButton.LeftButton, pos=QPoint(int(x), int(y)))
    assert lit(coding) == coding.coding.units[number].id


@pytest.mark.parametrize("name", sorted(WAYS))
def test_a_key_codes_what_is_lit_after(coding: CodingWindow, name: str) -> None:
    WAYS[name](coding)
    QApplication.processEvents()
    assert_a_key_codes_what_is_lit(coding)


def test_a_key_codes_what_is_lit_after_every_other_key(coding: CodingWindow) -> None:
    """Playing or at rest; fields that a key opens are left before the code is given."""
    actions = [*ACTIONS["replay"], *ACTIONS["code"]]
    for number, action in enumerate(a for a in actions if a not in ("close", "freeze")):
        for stroke in coding.window.keys.keys(action):
            coding.window.controller.seek(_middle(coding, 1 + number % 8))
            if number % 2:
                coding.window.controller.play()
            widget = QApplication.focusWidget() or coding.window
            QTest.keyClick(widget, Qt.Key(stroke.key), Qt.KeyboardModifier(stroke.modifiers))
            QApplication.processEvents()
            for _ in range(3):
                press(coding, "Escape")
            if coding.coding.status != "draft":
                coding.coding.set_done(False)
            coding.coding.settings.advance = False
            assert_a_key_codes_what_is_lit(coding)
