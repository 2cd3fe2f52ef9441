"""Coding beside others: what raters see of each other, shared units and words, and redactions."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
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
from tests.helpers.coded_session import SECOND, SENTENCES, add_codebook, add_units
from tests.helpers.journals import golden_session
from tests.ui.coding_desk import Clock, Desk, codes, do, notices, press
from tests.ui.coding_desk import open_desk as open_desk
from tests.ui.coding_desk import session as session


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
    assert told == ["Other raters are shown once your own coding is done."]
    assert not desk.coding.others
    assert codes(desk.coding)[3] == []
    do(desk, "done")
    assert desk.field.isVisible()
    assert "no code of strategy" in desk.field.hint.text()
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
    assert "Still open: Uncertain." in told[-1]
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
    assert "assigned units alone" in ben.bar.mode.full()
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
