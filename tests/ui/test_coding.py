"""Coding: from a key to a mark that is saved and drawn, taken back, moved on from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest

from labapp.base.errors import AnnotationError
from labapp.coding.annotations.codebook import read
from labapp.coding.annotations.store import annotations_of, open_texts, open_units
from labapp.record.journal.opening import open_record
from labapp.ui.replay.units_list import VEILED
from tests.helpers.coded_session import CODEBOOK, SECOND, SENTENCES, add_codebook
from tests.ui.coding_desk import Desk, clock, codes, do, notices, press, stored
from tests.ui.coding_desk import open_desk as open_desk
from tests.ui.coding_desk import session as session


def test_a_key_gives_the_code_of_the_active_tier(open_desk: Desk, session: Path) -> None:
    desk = open_desk()
    first = desk.coding.units[0].id
    press(desk, "e")
    assert codes(desk.coding)[0] == ["Exploring"]
    assert desk.units.rows[0].chips[0].text == "Exploring"  # drawn
    assert stored(session) == [("explore", first)]  # and in the file, before anything was closed
    press(desk, "g")  # an exclusive tier: the other gives way
    assert codes(desk.coding)[0] == ["Has a goal"]
    press(desk, "g")  # the same again takes it back
    assert codes(desk.coding)[0] == [] == stored(session)


def test_a_code_goes_on_once_the_unit_was_heard(open_desk: Desk) -> None:
    desk = open_desk()
    press(desk, "e")
    assert desk.coding.current == desk.coding.units[0]  # nothing was heard yet
    desk.coding.heard(desk.coding.units[0].t1_ns)
    press(desk, "g")
    assert desk.coding.current == desk.coding.units[1]
    assert clock(desk).playing  # going to a unit plays it
    assert clock(desk).t_ns == desk.coding.units[1].t0_ns
    do(desk, "advance")
    desk.coding.heard(desk.coding.units[1].t1_ns)
    press(desk, "r")
    assert desk.coding.current == desk.coding.units[1]


def test_a_unit_that_is_played_alone_stops_at_its_end(open_desk: Desk) -> None:
    desk = open_desk()
    do(desk, "repeat_unit")
    unit = desk.coding.current
    assert unit is not None
    assert clock(desk).playing
    desk.coding.heard(unit.t1_ns - 1)
    assert clock(desk).playing
    desk.coding.heard(unit.t1_ns)
    assert not clock(desk).playing
    assert desk.coding.current == unit
    do(desk, "play")  # on from here: the current unit follows the sound
    desk.coding.heard(desk.coding.units[1].t0_ns + SECOND)
    assert clock(desk).playing
    assert desk.coding.current == desk.coding.units[1]


def test_spans_begin_and_end_by_the_same_key(open_desk: Desk, session: Path) -> None:
    desk = open_desk()
    clock(desk).t_ns = 3 * SECOND
    do(desk, "tier_down")
    press(desk, "u")
    assert set(desk.coding.open_spans()) == {"uncertain"}
    assert stored(session) == [("uncertain", None)]  # a crash does not take its beginning
    clock(desk).t_ns = 5 * SECOND
    press(desk, "u")
    (mark,) = desk.coding.marks.all
    assert (mark.t0_ns, mark.t1_ns) == (3 * SECOND, 5 * SECOND)
    assert not desk.coding.open_spans()
    press(desk, "i")
    assert sum(mark.t0_ns == mark.t1_ns for mark in desk.coding.marks.all) == 1  # a point
    do(desk, "undo", "undo")
    assert set(desk.coding.open_spans()) == {"uncertain"}
    do(desk, "redo")
    assert not desk.coding.open_spans()


def test_holding_a_key_is_a_setting(open_desk: Desk) -> None:
    desk = open_desk()
    desk.coding.settings.hold = True
    do(desk, "tier_down")
    none = Qt.KeyboardModifier.NoModifier
    clock(desk).t_ns = SECOND
    desk.unclaimed(QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_U, none, "u"))
    clock(desk).t_ns = 2 * SECOND
    desk.unclaimed(QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_U, none, "u", True))
    desk.unclaimed(QKeyEvent(QEvent.Type.KeyRelease, Qt.Key.Key_U, none, "u"))
    (mark,) = desk.coding.marks.all
    assert (mark.t0_ns, mark.t1_ns) == (SECOND, 2 * SECOND)


def test_the_reaction_time_is_taken_off_while_it_plays(open_desk: Desk) -> None:
    desk = open_desk()
    do(desk, "tier_down")
    clock(desk).t_ns, clock(desk).playing = 3 * SECOND, True
    press(desk, "i")
    (mark,) = desk.coding.marks.all
    assert mark.t0_ns == 3 * SECOND - 200_000_000
    for _ in range(20):
        do(desk, "more_reaction")
    assert desk.coding.settings.reaction_ms == 500
    for _ in range(20):
        do(desk, "less_reaction")
    assert desk.coding.settings.reaction_ms == 0


def test_digits_are_values_on_a_tier_with_values(open_desk: Desk) -> None:
    desk = open_desk()
    told = notices(desk)
    do(desk, "tier_up")
    assert desk.coding.tier == "surety"
    press(desk, "4")  # the only code of the tier
    press(desk, "2")
    assert codes(desk.coding)[0] == ["Sure 2"]
    press(desk, "9")
    assert codes(desk.coding)[0] == ["Sure 2"]
    assert told == ["surety takes 1, 2, 3, 4, 5."]


def test_a_key_of_no_code_says_so(open_desk: Desk) -> None:
    desk = open_desk()
    told = notices(desk)
    press(desk, "z")
    assert told == ["No code of strategy has the key z."]
    assert not len(desk.coding.marks)
    press(desk, "u")  # of one other tier alone: there is no doubt
    assert set(desk.coding.open_spans()) == {"uncertain"}


def test_undo_goes_back_through_marks_units_and_words(open_desk: Desk, session: Path) -> None:
    desk = open_desk()
    first = desk.coding.units[0].id
    press(desk, "e")
    desk.coding.set_text(first, "okay so this one makes it tall")
    do(desk, "split")  # frozen: a proposal
    assert len(desk.coding.files.segmentation.proposals) == 0  # the playhead is not inside it
    clock(desk).t_ns = desk.coding.units[0].t0_ns + SECOND
    do(desk, "split")
    assert len(desk.coding.files.segmentation.proposals) == 1
    assert len(desk.coding.units) == 7
    do(desk, "undo")
    assert len(desk.coding.files.segmentation.proposals) == 0
    do(desk, "undo")
    text = desk.coding.text(first)
    assert text is not None
    assert text.text == "okay so this one makes it taller"
    do(desk, "undo")
    assert codes(desk.coding)[0] == []
    do(desk, "redo", "redo", "redo")
    assert codes(desk.coding)[0] == ["Exploring"]
    assert len(desk.coding.files.segmentation.proposals) == 1
    told = notices(desk)
    do(desk, "redo")
    assert told == ["Nothing to redo."]


def test_backspace_takes_the_last_code_away(open_desk: Desk) -> None:
    desk = open_desk()
    press(desk, "e")
    do(desk, "next_unit")
    press(desk, "g")
    do(desk, "take_last")
    assert codes(desk.coding)[:2] == [["Exploring"], []]
    do(desk, "take_last")
    assert codes(desk.coding)[:2] == [[], []]
    told = notices(desk)
    do(desk, "take_last")
    assert told == ["There is no code to take away here."]


def test_what_is_to_come_is_veiled_until_it_was_reached(open_desk: Desk) -> None:
    desk = open_desk()
    assert [row.shown == VEILED for row in desk.units.rows] == [False] + [True] * 6
    desk.coding.heard(desk.coding.units[2].t0_ns)
    assert [row.shown == VEILED for row in desk.units.rows] == [False] * 3 + [True] * 4
    assert desk.bar.hidden.full() == "names veiled"


@pytest.mark.parametrize(
    ("blind", "said"),
    [((), "nothing hidden"), (("names", "screen"), "blind, screen hidden"),
     (("names",), "names veiled"), (("outcomes",), "partly veiled")],
)  # fmt: skip
def test_the_head_says_what_is_hidden(open_desk: Desk, blind: tuple[str, ...], said: str) -> None:
    desk = open_desk(blind=blind)
    assert desk.bar.hidden.full() == said
    assert not any(row.veiled for row in desk.units.rows)


def test_words_are_typed_in_place(open_desk: Desk, session: Path) -> None:
    desk = open_desk()
    first = desk.coding.units[0].id
    do(desk, "edit_text")
    editor = desk.units.editor
    assert desk.units.editing == first
    assert editor.hasFocus()
    QTest.keyClicks(editor, " e1")  # letters and digits are words here, no codes
    QTest.keyClick(editor, Qt.Key.Key_Tab)
    assert clock(desk).playing
    QTest.keyClick(editor, Qt.Key.Key_Tab)
    assert not clock(desk).playing
    do(desk, "undo")  # the window hands Ctrl+Z over: it is the text's
    assert editor.toPlainText() == "okay so this one makes it taller"
    QTest.keyClicks(editor, " now")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert desk.units.editing == desk.coding.units[1].id == desk.coding.current.id
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    assert desk.units.editing is None
    assert desk.units.hasFocus()
    texts = annotations_of(open_record(session)).texts
    assert texts[first].text == "okay so this one makes it taller now"
    assert texts[first].by == "anna"
    assert texts[first].reviewed
    assert [word.text for word in texts[first].words] == SENTENCES[0].split()
    assert not len(desk.coding.marks)


def test_what_a_model_may_have_invented_is_told_until_somebody_read_it(
    open_desk: Desk, session: Path
) -> None:
    known = annotations_of(open_record(session)).texts
    first = known[annotations_of(open_record(session)).segmentation.units[0].id]
    with open_texts(session, "recogniser") as texts:
        texts.put(replace(first, doubts=("repeated", "quiet")))
    desk = open_desk()
    assert "perhaps invented: the same again and again, words where nobody" in desk.coding.facts()
    assert desk.units.rows[0].doubtful == frozenset(range(len(first.text.split())))
    do(desk, "edit_text")
    QTest.keyClick(desk.units.editor, Qt.Key.Key_Return)
    desk.coding.step(-1)
    assert "invented" not in desk.coding.facts()
    assert len(desk.units.rows[0].doubtful) < len(first.text.split())
    stored_text = annotations_of(open_record(session)).texts[first.unit]
    assert (stored_text.text, stored_text.words) == (first.text, first.words)
    assert (stored_text.origin, stored_text.by, stored_text.reviewed) == (
        "recogniser",
        "anna",
        True,
    )


def test_codes_are_found_by_name(open_desk: Desk) -> None:
    desk = open_desk()
    do(desk, "find_code")
    line = desk.field.line
    assert line.hasFocus()
    QTest.keyClicks(line, "names")
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert codes(desk.coding)[0] == ["Names a dial"]
    assert desk.field.isHidden()
    assert desk.units.hasFocus()
    do(desk, "find_code")
    QTest.keyClick(line, Qt.Key.Key_Escape)
    assert desk.field.isHidden()
    assert codes(desk.coding)[0] == ["Names a dial"]


def test_words_and_memos_are_searched_and_the_future_is_not(open_desk: Desk) -> None:
    desk = open_desk()
    press(desk, "e")
    do(desk, "memo")
    QTest.keyClicks(desk.field.line, "quite sideways")
    QTest.keyClick(desk.field.line, Qt.Key.Key_Return)
    assert desk.units.rows[0].chips[0].memo
    do(desk, "find")
    QTest.keyClicks(desk.field.line, "sideways")
    shown = [desk.field.answers.item(i).text() for i in range(desk.field.answers.count())]
    assert shown == ["0:02   quite sideways"]  # the unit with the word is still to come
    do(desk, "leave")
    desk.coding.heard(desk.coding.units[-1].t1_ns)
    do(desk, "find")
    QTest.keyClicks(desk.field.line, "sideways")
    assert desk.field.answers.count() == 2
    QTest.keyClick(desk.field.line, Qt.Key.Key_Down)
    QTest.keyClick(desk.field.line, Qt.Key.Key_Return)
    assert desk.coding.current == desk.coding.units[2]


def test_memos_stand_on_session_and_codes_too(open_desk: Desk, session: Path) -> None:
    desk = open_desk()
    do(desk, "memo_session")
    QTest.keyClicks(desk.field.line, "a quiet one")
    QTest.keyClick(desk.field.line, Qt.Key.Key_Return)
    press(desk, "g")
    do(desk, "memo_code")
    QTest.keyClicks(desk.field.line, "too wide?")
    QTest.keyClick(desk.field.line, Qt.Key.Key_Return)
    desk.coding.close()
    again = open_desk()
    assert again.coding.memo_of("session") == "a quiet one"
    assert again.coding.memo_of("code:goal") == "too wide?"


def test_a_new_code_comes_to_the_next_version(open_desk: Desk, session: Path) -> None:
    desk = open_desk()
    press(desk, "e")
    before = desk.coding.codebook
    do(desk, "new_code")
    QTest.keyClicks(desk.field.line, "Compares dials")
    QTest.keyClick(desk.field.line, Qt.Key.Key_Return)
    codebook = read(session.parent / "codebook.yaml")
    assert codebook.version == before.version + 1
    assert codebook.sha256 != before.sha256
    assert codebook.code("compares_dials") is not None
    assert "  # Feelings" in (session.parent / "codebook.yaml").read_text()  # nothing else changed
    press(desk, "c")
    assert codes(desk.coding)[0] == ["Compares dials"]
    assert len(list((session.parent / "annotations/codebooks").glob("*.yaml"))) == 2
    do(desk, "new_code")
    QTest.keyClicks(desk.field.line, "Compares dials")
    failed: list[AnnotationError] = []
    desk.failed.connect(failed.append)
    QTest.keyClick(desk.field.line, Qt.Key.Key_Return)
    assert "already" in failed[0].what
    assert not desk.field.isHidden()


def test_units_in_the_place_of_a_coded_one_wait_in_the_queue(
    open_desk: Desk, session: Path
) -> None:
    desk = open_desk()
    press(desk, "e")
    unit = desk.coding.units[0]
    desk.coding.close()
    with open_units(session, "owner") as units:
        units.split(unit.id, (unit.t0_ns + unit.t1_ns) // 2)
        for proposal in units.segmentation.proposals:
            units.settle(proposal.id, True)
    again = open_desk()
    do(again, "recode")
    halves = [row.unit for row in again.units.rows]
    assert [half.t0_ns for half in halves] == [unit.t0_ns, (unit.t0_ns + unit.t1_ns) // 2]
    assert [row.chips[0].text for row in again.units.rows] == ["Exploring"] * 2
    press(again, "g")
    again.coding.go_to(halves[1].id)
    press(again, "e")
    assert not again.coding.outdated()
    assert [mark.unit for mark in again.coding.files.own] == [half.id for half in halves]


def test_units_of_an_older_definition_wait_in_a_queue(open_desk: Desk, session: Path) -> None:
    desk = open_desk()
    press(desk, "e")
    do(desk, "next_unit")
    press(desk, "g")
    desk.coding.close()
    new = CODEBOOK.replace("version: 3", "version: 4").replace("then moves.", "then moves there.")
    add_codebook(session.parent, new)
    again = open_desk()
    do(again, "recode")
    assert [row.unit.id for row in again.units.rows] == [again.coding.units[1].id]
    assert again.units.rows[0].chips[0].old  # shown as it was given
    do(again, "show_old")
    assert not again.units.rows[0].chips
    do(again, "show_old")
    press(again, "g")  # the same code by the definition of today: it stays
    assert codes(again.coding)[0] == ["Has a goal"]
    assert not again.coding.outdated()
    do(again, "leave")
    assert len(again.units.rows) == 7
    told = notices(again)
    do(again, "recode")
    assert told == ["No unit was coded under an older definition."]


def test_undo_goes_on_where_another_window_left_it(open_desk: Desk, session: Path) -> None:
    first = open_desk()
    words = first.coding.text(first.coding.units[0].id)
    press(first, "e")
    first.coding.set_text(first.coding.units[0].id, "other words")
    first.coding.go_to(first.coding.units[1].id, play=False)
    press(first, "g")
    press(first, "r")  # in the place of the one before
    first.coding.close()

    again = open_desk()
    assert codes(again.coding)[:2] == [["Exploring"], ["Tries at random"]]
    do(again, "undo")
    assert codes(again.coding)[:2] == [["Exploring"], ["Has a goal"]]
    do(again, "undo")
    assert codes(again.coding)[:2] == [["Exploring"], []]
    do(again, "redo")
    assert codes(again.coding)[:2] == [["Exploring"], ["Has a goal"]]
    do(again, "undo")
    again.coding.close()

    third = open_desk()  # what was taken back in a window can be done again in the next one
    do(third, "redo")
    assert codes(third.coding)[:2] == [["Exploring"], ["Has a goal"]]
    do(third, "undo", "undo")
    assert third.coding.text(third.coding.units[0].id) == words
    do(third, "undo")
    assert not stored(session)
    told = notices(third)
    do(third, "undo")
    assert told == ["Nothing to undo."]


def test_undo_takes_back_nothing_of_others_and_nothing_that_is_settled(
    open_desk: Desk, session: Path
) -> None:
    anna = open_desk()
    press(anna, "e")
    anna.coding.set_done(True)
    anna.coding.set_done(False)
    anna.coding.go_to(anna.coding.units[1].id, play=False)
    press(anna, "g")
    anna.coding.close()
    ben = open_desk("ben")
    told = notices(ben)
    do(ben, "undo")
    assert told == ["Nothing to undo."]
    ben.coding.close()
    again = open_desk()
    do(again, "undo", "undo")
    assert codes(again.coding)[0] == ["Exploring"]  # the status stands between
    assert [code for code, _ in stored(session)] == ["explore"]
