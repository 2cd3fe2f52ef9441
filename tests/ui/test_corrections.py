"""What the moderator noted is corrected from its list; nothing is overwritten."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from labapp.base.clock import NS
from labapp.record.events import Source
from labapp.record.events.commands import AddDeviation, AddFlag, AddNote, GivePrompt
from labapp.ui.moderator.notes_panel import DEVIATIONS, LINE_ROLE, TimedList
from tests.helpers.rooms import skip_to
from tests.ui.desk import Desk
from tests.ui.test_keyboard import Table
from tests.ui.test_keyboard import lay as lay
from tests.ui.test_keyboard import table as table

LEFT = Qt.MouseButton.LeftButton
KEY = Qt.Key


def shown(found: TimedList) -> list[tuple[str, bool]]:
    """Words, and whether they are struck out, oldest first."""
    lines = [found.item(place).data(LINE_ROLE) for place in range(found.count())]
    return [(line.text, line.struck) for line in reversed(lines)]


def double_click(found: TimedList, place: int) -> None:
    """On a line, counted from the oldest."""
    item = found.item(found.count() - 1 - place)
    at = found.visualItemRect(item).center()
    for click in (QTest.mouseClick, QTest.mouseDClick, QTest.mouseRelease):
        click(found.viewport(), LEFT, pos=at)


@pytest.fixture
def noted(desk: Desk) -> Desk:
    """A note, a flag and a prompt, ten seconds apart."""
    for command in (AddNote("turns teh dial", 5 * NS), AddFlag(3), GivePrompt("Go on, please")):
        desk.wait(10)
        desk.runner.send(command, Source.MODERATOR)
    desk.wait(1)
    return desk


def test_a_note_is_reworded_from_the_first_key_of_the_correction(noted: Desk, qtbot: QtBot) -> None:
    notes = noted.console.notes
    seq = noted.console.state.notes[0].seq
    double_click(notes.list, 0)
    field = notes.correction.field
    assert field.isVisible()
    assert field.text() == field.selectedText() == "turns teh dial"
    assert notes.legend.text() == "Ctrl + number sets a flag", "nothing is begun yet"
    noted.clock.advance(2)
    qtbot.keyClick(field, KEY.Key_End)
    noted.clock.advance(3)
    qtbot.keyClicks(field, "s")
    noted.clock.advance(4)
    qtbot.keyClick(field, KEY.Key_Return)
    assert noted.room.last("note.corrected") == {
        "seq": seq, "text": "turns teh dials", "typing_began_ns": 36 * NS,
    }  # fmt: skip
    noted.wait(1)
    assert notes.correction.isHidden()
    assert shown(notes.list)[0] == ("turns teh dials ✎", False)
    marks = [mark.text for mark in noted.console.state.timeline.marks]
    assert "turns teh dials" in marks
    assert "turns teh dial" not in marks
    assert noted.room.count("note.added") == 1


def test_nothing_is_written_where_nothing_was_changed(noted: Desk, qtbot: QtBot) -> None:
    notes = noted.console.notes
    before = noted.room.count("note.corrected")
    for leave in (KEY.Key_Return, KEY.Key_Escape):
        double_click(notes.list, 0)
        qtbot.keyClick(notes.correction.field, leave)
        assert notes.correction.isHidden()
    double_click(notes.list, 0)
    qtbot.keyClicks(notes.correction.field, "something else")
    qtbot.mouseClick(notes.correction.leave, LEFT)
    assert noted.room.count("note.corrected") == before


def test_a_flag_or_prompt_by_mistake_is_taken_back_and_set_again(noted: Desk, qtbot: QtBot) -> None:
    notes = noted.console.notes
    for place, words in ((1, "⚑ 3 confusion"), (2, "Prompted: “Go on, please”")):
        double_click(notes.list, place)
        assert notes.correction.field.isHidden(), "the words are the study's"
        qtbot.mouseClick(notes.correction.take_back, LEFT)
        noted.wait(1)
        assert shown(notes.list)[place] == (words, True)
    assert [mark.kind for mark in noted.console.state.timeline.marks] == ["note"]
    double_click(notes.list, 1)
    assert notes.correction.take_back.text() == "Set again"
    qtbot.mouseClick(notes.correction.take_back, LEFT)
    noted.wait(1)
    assert shown(notes.list)[1] == ("⚑ 3 confusion", False)
    assert {mark.kind for mark in noted.console.state.timeline.marks} == {"note", "flag"}
    assert noted.console.voice.prompts.last.text() == "none yet"


def test_a_deviation_is_corrected_and_what_the_program_noticed_is_not(
    desk: Desk, qtbot: QtBot
) -> None:
    notes = desk.console.notes
    desk.runner.send(AddDeviation("a door", 0), Source.MODERATOR)
    desk.wait(1)
    qtbot.mouseClick(notes.tabs[DEVIATIONS], LEFT)
    double_click(notes.deviations, 0)  # that there is no sound
    assert notes.correction.isHidden()
    notes.correct_newest()
    field = notes.correction.field
    field.clear()
    qtbot.keyClicks(field, "a window")
    qtbot.keyClick(field, KEY.Key_Return)
    desk.wait(1)
    assert shown(notes.deviations)[1] == ("a window", False)
    notes.correct_newest()
    qtbot.mouseClick(notes.correction.take_back, LEFT)
    desk.wait(1)
    assert shown(notes.deviations)[1] == ("Deviation taken back: a window", True)


def test_the_keyboard_comes_for_the_correction_and_goes_back(table: Table) -> None:
    room, notes = table.room, table.console.notes
    room.runner.send(AddNote("turns teh dial", 0), Source.MODERATOR)
    table.console.refresh()
    assert table.participant.isActiveWindow()
    table.chord(KEY.Key_N, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert table.console.isActiveWindow()
    assert notes.correction.field.hasFocus()
    assert table.given == [("moderator", "correction")]
    table.type(table.console, "x")
    table.chord(KEY.Key_Return, Qt.KeyboardModifier.NoModifier)
    assert table.given == [("moderator", "correction"), ("participant", "enter")]
    assert room.last("note.corrected")["text"] == "x"
    table.chord(KEY.Key_N, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    table.click(notes.correction.leave)
    assert table.participant.isActiveWindow()
    assert table.given[-1] == ("participant", "left")


def test_a_draft_survives_a_correction(noted: Desk, qtbot: QtBot) -> None:
    notes = noted.console.notes
    qtbot.keyClicks(notes.input, "half a note")
    double_click(notes.list, 0)
    qtbot.mouseClick(notes.correction.take_back, LEFT)
    assert notes.input.text() == "half a note"
    noted.wait(1)
    assert notes.legend.text() == "Not kept yet: Ctrl+N goes on"


@pytest.mark.parametrize("place", [0, 1], ids=["own words", "a flag"])
def test_a_correction_pushes_nothing_out_of_its_panel(noted: Desk, place: int) -> None:
    skip_to(noted.room, "stage-1")
    noted.console.resize(1366, 748)
    noted.console.notes.correct(place)
    noted.wait(1)
    QApplication.processEvents()
    assert not noted.console.notes.correction.isHidden()
    assert noted.console.minimumSizeHint().height() <= noted.console.height()
    for widget in noted.console.findChildren(QWidget):
        if widget.isVisible() and isinstance(widget, QLabel | QPushButton | QLineEdit):
            room = widget.height() + 2  # the border of a field that is written into
            assert room >= widget.minimumSizeHint().height(), widget
