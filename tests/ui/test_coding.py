"""Coding: from a key to a mark that is saved and drawn, and beside other raters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from labapp.base.errors import AnnotationError
from labapp.coding.annotations.codebook import read
from labapp.coding.annotations.model import Assignment, Redaction, rater_file
from labapp.coding.annotations.rounds import Draw, save_draw
from labapp.coding.annotations.store import annotations_of, open_marks, open_texts, open_units
from labapp.record.journal.opening import open_record
from labapp.ui import theme
from labapp.ui.replay.coding import open_coding
from labapp.ui.replay.coding_desk import CodingDesk
from labapp.ui.replay.coding_state import CodingRequest
from labapp.ui.replay.coding_window import CodingWindow
from labapp.ui.replay.transport import ACTIONS, parse_stroke
from labapp.ui.replay.units_list import VEILED
from tests.helpers.coded_session import CODEBOOK, SECOND, SENTENCES, add_codebook, add_units
from tests.helpers.journals import golden_session
from tests.ui.coding_desk import Clock, Desk, clock, codes, do, notices, press, stored
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
    assert told == ["surety allows these values: 1, 2, 3, 4, 5."]


def test_a_key_of_no_code_says_so(open_desk: Desk) -> None:
    desk = open_desk()
    told = notices(desk)
    press(desk, "z")
    assert told == ["No code in strategy has the key z."]
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
    assert told == ["There is nothing to redo."]


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
    assert told == ["There is no code here to remove."]


def test_what_is_to_come_is_veiled_until_it_was_reached(open_desk: Desk) -> None:
    desk = open_desk()
    assert [row.shown == VEILED for row in desk.units.rows] == [False] + [True] * 6
    desk.coding.heard(desk.coding.units[2].t0_ns)
    assert [row.shown == VEILED for row in desk.units.rows] == [False] * 3 + [True] * 4
    assert desk.bar.hidden.full() == "names hidden"


@pytest.mark.parametrize(
    ("blind", "said"),
    [((), "nothing hidden"), (("names", "screen"), "blind, screen hidden"),
     (("names",), "names hidden"), (("outcomes",), "partly hidden")],
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
    assert "may be invented: the same words repeated, words where no voice" in desk.coding.facts()
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
    assert not again.coding.find_outdated()
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
    assert not again.coding.find_outdated()
    do(again, "leave")
    assert len(again.units.rows) == 7
    told = notices(again)
    do(again, "recode")
    assert told == ["No units were coded with an older definition."]


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
    assert told == ["There is nothing to undo."]


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
    assert told == ["There is nothing to undo."]
    ben.coding.close()
    again = open_desk()
    do(again, "undo", "undo")
    assert codes(again.coding)[0] == ["Exploring"]  # the status stands between
    assert [code for code, _ in stored(session)] == ["explore"]


def test_other_raters_are_seen_once_the_own_coding_is_done(open_desk: Desk, session: Path) -> None:
    codebook = read(session.parent / "codebook.yaml")
    units = annotations_of(open_record(session)).segmentation.units
    with open_marks(session, "ben", codebook) as ben:
        ben.give("explore", unit=units[0].id)
        ben.give("random", unit=units[3].id)
        ben.set_status("done")
    with open_marks(session, "carl", codebook) as carl:
        carl.give("names", unit=units[1].id)  # not done: nobody sees it
    desk = open_desk()
    told = notices(desk)
    press(desk, "e")
    do(desk, "next_disagreement")
    assert told == ["You can see other raters’ codes once your own coding is done."]
    assert not desk.coding.others
    assert codes(desk.coding)[3] == []
    do(desk, "done")
    assert desk.field.isVisible()
    assert "no code in strategy" in desk.field.hint.text()
    do(desk, "leave")
    assert desk.coding.status == "draft"
    do(desk, "done")
    QTest.keyClick(desk.field.yes, Qt.Key.Key_Return)
    assert desk.coding.status == "done"
    assert set(desk.coding.others) == {"ben"}
    assert [chip.foreign for chip in desk.units.rows[3].chips] == [True]
    do(desk, "next_disagreement")
    assert desk.coding.current == units[3]
    press(desk, "g")
    assert codes(desk.coding)[3] == ["Tries at random"]
    assert "done" in told[-1]
    do(desk, "done")  # go on with it: the others are hidden again
    assert desk.coding.status == "draft"
    assert not desk.coding.others


def test_open_spans_are_not_done(open_desk: Desk) -> None:
    desk = open_desk()
    told = notices(desk)
    press(desk, "u")
    do(desk, "done")
    assert "Not ended yet: Uncertain." in told[-1]
    assert desk.coding.status == "draft"


def test_units_are_made_by_keys_and_coded_once_frozen(tmp_path: Path, qtbot: QtBot) -> None:
    path = golden_session(tmp_path / "data")
    add_codebook(path.parent)
    coding = open_coding(path, CodingRequest("anna"))
    player = Clock()
    coding.set_transport(player)
    desk = CodingDesk(coding, theme.LIGHT)
    for widget in (desk.said, desk.palette, desk.bar):
        qtbot.addWidget(widget)
    told = notices(desk)
    assert "no units yet" in desk.units.empty.text()
    press(desk, "e")
    assert "no units yet" in told[-1]
    do(desk, "segmenting")
    for begin, end in ((1, 2), (3, 5), (6, 7)):
        player.playing = True
        player.t_ns = begin * SECOND
        do(desk, "repeat_unit")
        player.t_ns = end * SECOND
        do(desk, "repeat_unit")
    player.playing = False
    units = coding.units
    times = [(u.t0_ns / SECOND, u.t1_ns / SECOND, u.reaction_ms) for u in units]
    assert times == [(0.8, 1.8, 200), (2.8, 4.8, 200), (5.8, 6.8, 200)]
    press(desk, "m")
    assert coding.units[2].speaker == "moderator"
    do(desk, "speaker", "speaker")
    assert coding.units[2].speaker == "participant"
    coding.choose(units[1].id)
    player.t_ns = 4 * SECOND
    do(desk, "split")
    assert len(coding.units) == 4
    coding.choose(coding.units[1].id)
    do(desk, "merge")
    assert [u.t1_ns / SECOND for u in coding.units] == [1.8, 4.8, 6.8]
    coding.choose(coding.units[0].id)
    do(desk, "begin_later", "end_later", "end_later", "end_earlier", "begin_later")
    assert coding.units[0].t0_ns == 900_000_000
    assert coding.units[0].t1_ns == 1_850_000_000
    player.t_ns = 1_500_000_000
    do(desk, "end_here")
    player.t_ns = 1_000_000_000
    do(desk, "begin_here")
    assert (coding.units[0].t0_ns, coding.units[0].t1_ns) == (SECOND, 1_500_000_000)
    do(desk, "take_last")  # while segmenting: the unit
    assert len(coding.units) == 2
    do(desk, "undo")
    assert len(coding.units) == 3
    do(desk, "freeze")
    assert coding.mode == "code"
    assert coding.files.frozen
    coding.choose(coding.units[0].id)
    press(desk, "e")
    assert codes(coding)[0] == ["Exploring"]
    coding.close()


def test_two_windows_cannot_code_for_one_rater(open_desk: Desk, session: Path) -> None:
    open_desk()
    with pytest.raises(AnnotationError, match="open"):
        open_coding(session, CodingRequest("anna"))
    with open_units(session, "ben"):  # but units are free as long as nobody changes them
        pass


def test_thousands_of_units_scroll(open_desk: Desk, tmp_path: Path, qtbot: QtBot) -> None:
    path = golden_session(tmp_path / "many")
    add_codebook(path.parent)
    add_units(path, 3000, every_s=0.2)
    coding = open_coding(path, CodingRequest("anna", blind=()))
    desk = CodingDesk(coding, theme.LIGHT)
    for widget in (desk.said, desk.palette, desk.bar):
        qtbot.addWidget(widget)
    desk.said.resize(420, 600)
    desk.said.show()
    coding.choose(coding.units[2999].id)
    bar = desk.units.verticalScrollBar()
    assert bar.value() == bar.maximum() > 60_000
    QApplication.processEvents()
    coding.close()


def test_rater_file_is_whole(open_desk: Desk, session: Path) -> None:
    desk = open_desk()
    press(desk, "e", "g", "u")
    desk.coding.close()
    assert rater_file(session, "anna").read_bytes().endswith(b"\n")


def test_redacted_words_stay_away_when_others_are_typed(open_desk: Desk, session: Path) -> None:
    units = annotations_of(open_record(session)).segmentation.units
    with open_texts(session, "owner") as file:
        file.redact(Redaction("r", units[2].t0_ns, units[2].t1_ns))
    desk = open_desk(blind=())
    texts = [row.text for row in desk.units.rows]
    assert "sideways" not in texts[2]
    desk.coding.set_text(units[0].id, "something else")
    assert [row.text for row in desk.coding.rows()] == ["something else", *texts[1:]]
    do(desk, "undo")
    assert [row.text for row in desk.units.rows] == texts


def test_words_go_with_the_units_they_were_said_in(tmp_path: Path, qtbot: QtBot) -> None:
    path = golden_session(tmp_path / "data")
    add_codebook(path.parent)
    add_units(path, 3, frozen=False)
    coding = open_coding(path, CodingRequest("anna"))
    desk = CodingDesk(coding, theme.LIGHT)
    for widget in (desk.said, desk.palette, desk.bar):
        qtbot.addWidget(widget)
    player = Clock()
    coding.set_transport(player)
    do(desk, "segmenting")
    coding.choose(coding.units[0].id)
    player.t_ns = coding.units[0].t0_ns + 2 * SECOND
    do(desk, "split")
    assert [row.text for row in desk.units.rows][:2] == ["okay so this one", "makes it taller"]
    coding.choose(coding.units[0].id)
    do(desk, "merge")
    assert next(row.text for row in desk.units.rows) == SENTENCES[0]
    assert len(coding.units) == 3
    do(desk, "undo", "undo", "undo", "undo")  # words and units, twice
    assert [row.text for row in desk.units.rows] == list(SENTENCES[:3])
    coding.close()


def test_a_second_rater_goes_through_the_drawn_stretches_alone(
    open_desk: Desk, session: Path
) -> None:
    units = annotations_of(open_record(session)).segmentation.units
    drawn = [
        Assignment(session.name, "anna", 0, units[-1].t1_ns),
        Assignment(session.name, "ben", units[2].t0_ns, units[4].t0_ns, role="second"),
        Assignment(session.name, "ben", 0, units[1].t0_ns, role="second", round="training"),
    ]
    save_draw(session.parent, Draw("d", ("anna", "ben"), 0.3, 1, tuple(drawn), 7, 2))
    anna = open_desk()
    assert anna.coding.queue is None
    assert len(anna.units.rows) == 7
    ben = open_desk("ben")
    assert [row.unit for row in ben.units.rows] == [units[2], units[3]]
    assert ben.coding.current == units[2]
    assert ben.coding.progress()[1] == sum(
        unit.speaker == "participant" for unit in (units[2], units[3])
    )
    assert "assigned units only" in ben.bar.mode.full()
    press(ben, "e")
    ben.coding.step(1)
    assert ben.coding.current == units[3]
    do(ben, "leave")
    assert len(ben.units.rows) == 7
    assert ben.coding.progress()[1] < 7
    ben.coding.close()
    training = open_desk("ben", round="training")
    assert [row.unit for row in training.units.rows] == [units[0]]


def test_in_training_it_is_told_how_far_raters_agree_so_far(open_desk: Desk, qtbot) -> None:
    anna = open_desk(round="training")
    for key in "eg":
        press(anna, key)
        anna.coding.step(1)
    assert not anna.coding.agreement
    assert not anna.bar.agreement.isVisibleTo(anna.bar)
    anna.coding.close()
    ben = open_desk("ben", round="training")
    press(ben, "e")
    ben.coding.step(1)
    press(ben, "e")
    qtbot.waitUntil(lambda: bool(ben.coding.agreement))
    (strategy,) = ben.coding.agreement
    assert (strategy.raters, strategy.result.n_comparable) == (("anna", "ben"), 2)
    assert strategy.result.value == 0
    assert ben.bar.agreement.full() == "0.00 agreement so far"
    assert "Cohen's kappa 0.00, 2 compared, anna, ben" in ben.bar.agreement.toolTip()
    ben.coding.close()
    independent = open_desk("cleo")
    assert not independent.coding.agreement


def test_a_seek_makes_the_unit_there_the_current_one_else_the_one_before(open_desk: Desk) -> None:
    coding = open_desk().coding
    units = coding.units
    for t_ns, place in ((0, 0), (units[2].t0_ns + 1, 2), (units[3].t1_ns, 3), (10**13, 6)):
        coding.follow(t_ns)
        assert coding.current == units[place]


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


def press_one_unit_is_lit(coding: CodingWindow, text: str) -> None:
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
    press_one_unit_is_lit(coding, "D")
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
    press_one_unit_is_lit(coding, "Ctrl+L")


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
    press_one_unit_is_lit(coding, "Ctrl+G")
    field = QApplication.focusWidget()
    field.clear()  # type: ignore[union-attr]
    QTest.keyClicks(field, f"{_middle(coding, 7) / SECOND:.1f}")
    press_one_unit_is_lit(coding, "Return")
    assert lit(coding) == coding.coding.units[7].id


@way
def find_a_word(coding: CodingWindow) -> None:
    press_one_unit_is_lit(coding, "Ctrl+F")
    QTest.keyClicks(QApplication.focusWidget(), "taller")
    press_one_unit_is_lit(coding, "Return")
    press_one_unit_is_lit(coding, "Escape")
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
        press_one_unit_is_lit(coding, ".")
    assert lit(coding) == coding.coding.units[3].id


@way
def step_back(coding: CodingWindow) -> None:
    for _ in range(4):
        press_one_unit_is_lit(coding, ",")
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
    press_one_unit_is_lit(coding, "E")
    coding.coding.go_to(coding.coding.units[8].id, play=False)
    press_one_unit_is_lit(coding, "Ctrl+Z")
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
                press_one_unit_is_lit(coding, "Escape")
            if coding.coding.status != "draft":
                coding.coding.set_done(False)
            coding.coding.settings.advance = False
            assert_a_key_codes_what_is_lit(coding)
