"""What the console says of time and keys, and how large its parts are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from labapp.base.clock import FakeClock
from labapp.record.events import Source
from labapp.record.events.commands import AddNote, GiveConsent
from labapp.ui import fitting
from labapp.ui.moderator.console import LEAST_LINES, ROW_PX, SECOND_TICKS, TIMELINE_HEIGHT
from labapp.ui.moderator.keys_sheet import name_key
from tests.helpers.rooms import Room, skip_to
from tests.helpers.studies import write_study
from tests.ui.desk import Desk

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def timed(open_room: Callable[..., Room], tmp_path: Path) -> Desk:
    """A study of 40 minutes, whose stage ends after eight."""
    study = write_study(tmp_path, "sinelines/gt", time_limit_min=8)
    text = study.read_text().replace("version:", "minutes: 40\nversion:", 1)
    study.write_text(text.replace("flow:\n", "flow:\n  - practice: circles\n"))
    clock = FakeClock()
    desk = Desk(open_room(study, clock=clock), clock)
    desk.room.session.begin()
    return desk


def times(desk: Desk) -> list[str]:
    """What the rows of the plan say about time, once a second has been drawn."""
    for _ in range(SECOND_TICKS):
        desk.console.refresh()
    return [desk.console.plan.list.time_of(view) for view in desk.console.plan.list.views]


def test_a_stage_with_a_time_limit_says_what_is_left_of_it(timed: Desk) -> None:
    timed.wait(20)
    assert times(timed) == ["0:20", "≤ 8:00"]
    skip_to(timed.room, "stage-1")
    timed.wait(72)
    left = times(timed)[1]
    assert left == "6:48 left"
    assert left in timed.console.plan.list.accessibleName()


def test_a_pause_takes_nothing_from_what_is_left(timed: Desk) -> None:
    skip_to(timed.room, "stage-1")
    timed.wait(60)
    timed.console.header.press_pause()
    timed.wait(300)
    assert times(timed)[1] == "7:00 left"
    assert timed.console.plan.length.text() == "about 39 of 40 min left"


def test_the_plan_says_what_is_left_of_the_planned_length(timed: Desk) -> None:
    timed.wait(60 * 25 + 1)
    times(timed)
    assert timed.console.plan.length.text() == "about 15 of 40 min left"
    timed.wait(60 * 18)
    times(timed)
    assert timed.console.plan.length.text() == "3 min over the planned 40 min"


def test_a_study_without_a_planned_length_says_nothing_of_it(desk: Desk) -> None:
    desk.console._study = desk.console._study.model_copy(update={"minutes": None})
    desk.wait(60)
    assert desk.console.plan.length.text() == ""


def test_f1_lists_exactly_the_keys_that_are_connected(desk: Desk, qtbot: QtBot) -> None:
    keys = desk.console.keys
    assert keys.isHidden()
    qtbot.keyClick(desk.console, Qt.Key.Key_F1)
    assert keys.isVisible()
    lines = keys.lines()
    assert lines == [
        (name_key(each.key()), each.whatsThis()) for each in desk.console.findChildren(QShortcut)
    ]
    assert all(text for _, text in lines), "no key is without words"
    assert ("F9", "pause, or continue") in lines
    assert ("Ctrl+4", "set the flag “technical”") in lines
    shown = {label.text() for label in keys.findChildren(type(keys._title))}
    assert {text for line in lines for text in line} <= shown
    added = QShortcut(QKeySequence("Ctrl+F12"), desk.console)
    added.setWhatsThis("something new")
    qtbot.keyClick(desk.console, Qt.Key.Key_F1)
    assert keys.isHidden()
    keys.toggle()
    assert keys.lines()[-1] == ("Ctrl+F12", "something new")


def test_the_list_of_keys_takes_clicks_only(desk: Desk, qtbot: QtBot) -> None:
    console = desk.console
    qtbot.keyClick(console, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(console.notes.input, "wav")
    qtbot.keyClick(console.notes.input, Qt.Key.Key_F1)
    assert QApplication.focusWidget() is console.notes.input
    assert console.asking is None, "it is no question, and has no keyboard"
    qtbot.keyClicks(console.notes.input, "es")
    qtbot.mouseClick(console.keys, LEFT)
    assert console.keys.isHidden()
    assert console.notes.input.text() == "waves"


def test_the_list_of_keys_answers_no_question(desk: Desk, qtbot: QtBot) -> None:
    desk.runner.send(GiveConsent())
    console = desk.console
    console.refresh()
    console.header.press_pause()
    asking = console.asking
    assert asking is not None
    qtbot.keyClick(console, Qt.Key.Key_F1)
    assert console.keys.isVisible()
    assert console.asking is asking
    qtbot.keyClick(console, Qt.Key.Key_Escape)
    assert console.asking is None, "the key is the question's"
    assert console.keys.isVisible()


@pytest.mark.parametrize("size", [fitting.CONSOLE, (1280, 684), (1366, 768), (1920, 1080)])
def test_notes_and_mirror_have_room_in_every_window(
    timed: Desk, size: tuple[int, int], qtbot: QtBot
) -> None:
    skip_to(timed.room, "stage-1")
    for number in range(7):
        timed.runner.send(AddNote(f"note {number}", timed.clock.now_ns()), Source.MODERATOR)
    timed.console.resize(*size)
    timed.wait(1)
    QApplication.processEvents()
    notes = timed.console.notes.list
    seen = sum(
        notes.visualItemRect(notes.item(row)).bottom() <= notes.viewport().height()
        for row in range(notes.count())
    )
    assert seen >= LEAST_LINES
    timeline, mirror = timed.console.timeline, timed.console.mirror
    assert timeline.height() <= TIMELINE_HEIGHT
    shown = mirror.shown
    drawn = shown._pixmap.deviceIndependentSize()
    assert drawn.width() >= 0.97 * shown.width() or drawn.height() >= 0.97 * shown.height()
    least = {900: 300, 1280: 400, 1366: 500, 1920: 1000}
    assert drawn.width() >= least[size[0]]


@pytest.mark.parametrize("size", [(1280, 684), (1280, 720), (1366, 768), fitting.CONSOLE])
def test_the_part_that_runs_is_seen_in_the_plan(desk: Desk, size: tuple[int, int]) -> None:
    console = desk.console
    console.resize(1920, 1080)
    desk.wait(1)
    skip_to(desk.room, "stage-2")
    desk.wait(1)
    QApplication.processEvents()
    console.resize(*size)
    desk.wait(1)
    QApplication.processEvents()
    plan = console.plan
    (row,) = (n for n, view in enumerate(plan.list.views) if view.state == "current")
    top = plan.list.mapTo(plan._area.viewport(), QPoint(0, row * ROW_PX)).y()
    assert top >= 0
    assert top + ROW_PX <= plan._area.viewport().height()
