"""What a moderator ended or noted by mistake is taken back or corrected."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from labapp.base.clock import NS
from labapp.record.events import Source
from labapp.record.events.commands import (
    AddDeviation,
    AddFlag,
    AddNote,
    AskToLeave,
    EndSession,
    GivePrompt,
    Pause,
    Resume,
    StayHere,
)
from labapp.record.journal.layout import LEAVING
from labapp.record.journal.sessions import list_sessions
from labapp.session.resuming import read_verified_events
from labapp.ui.controller import ENDED_EARLY, SessionController
from labapp.ui.moderator.notes_panel import DEVIATIONS, LINE_ROLE, TimedList
from labapp.ui.starting import RunOptions, open_new, what_became
from tests.helpers.rooms import skip_to
from tests.helpers.skips import skip_stage
from tests.ui.desk import Desk, desk
from tests.ui.test_keyboard import Table
from tests.ui.test_keyboard import lay as lay
from tests.ui.test_keyboard import table as table

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
    assert (last.kind, last.text) == ("deviation", "A skip was undone")


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
    assert header.recording.text().startswith("‖ the end was undone, 0:01")
    assert header.elapsed.text() == before
    assert stage.console.state.withdrawal == ""
    qtbot.mouseClick(header.pause, LEFT)
    stage.wait(2)
    assert not stage.runner.state.pauses.held
    assert "The end was undone" in [m.text for m in stage.console.state.timeline.marks]


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
        assert stage.console.header.recording.text() == "‖ asking whether to stop"
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
    assert notes.legend.text() == "Ctrl + number: flag · F1: keys", "nothing is begun yet"
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
    assert notes.correction.take_back.text() == "Set it again"
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
    assert notes.legend.text() == "Not saved. Press Ctrl+N to continue"


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


def test_data_are_called_deleted_only_when_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "sub-P01_ses-1_20260102T030405Z"
    folder.mkdir()
    assert what_became(folder) == f"What was recorded is kept in {folder}."
    leaving = folder.rename(tmp_path / f"{LEAVING}{folder.name}")
    assert what_became(folder).startswith("Not everything has been deleted yet")
    assert f"sessions withdraw {folder} --delete" in what_became(folder)
    leaving.rmdir()
    assert what_became(folder) == "What was recorded was deleted, as the participant wished."
