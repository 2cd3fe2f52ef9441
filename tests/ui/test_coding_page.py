"""The page *Coding* of the home, and all units with a code over a study."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from labapp.coding.annotations.codebook import read
from labapp.coding.annotations.store import (
    RaterProgress,
    SessionProgress,
    annotations_of,
    open_marks,
)
from labapp.record.journal.opening import open_record
from labapp.record.journal.sessions import SessionIndex
from labapp.session.replay.lanes import retrieve
from labapp.ui import theme
from labapp.ui.replay.retrieval import RetrievalView
from labapp.ui.researcher.coding_page import CodingPage, CodingWanted, Draw
from labapp.ui.researcher.controller import CodingWork
from tests.helpers.coded_session import SECOND, add_codebook, add_units
from tests.helpers.journals import golden_session

ROWS = (
    SessionProgress(
        "sub-P01_ses-1_x",
        7,
        True,
        proposals=1,
        texts=7,
        reviewed=2,
        raters=(RaterProgress("anna", 4, 4, "done"),),
    ),
    SessionProgress("sub-P02_ses-1_x", 3, False),
    SessionProgress("sub-P03_ses-1_x", problem="It is damaged."),
)


@pytest.fixture
def page(qtbot: QtBot) -> CodingPage:
    made = CodingPage(theme.LIGHT)
    qtbot.addWidget(made)
    made.set_studies(["s"], "s")
    made.set_sessions(ROWS)
    return made


@pytest.fixture
def coded(tmp_path: Path) -> Path:
    """A study with a session that two raters coded."""
    session = golden_session(tmp_path / "data")
    add_codebook(session.parent)
    add_units(session)
    codebook = read(session.parent / "codebook.yaml")
    units = annotations_of(open_record(session)).segmentation.units
    with open_marks(session, "anna", codebook) as anna:
        anna.give("explore", unit=units[0].id)
        anna.give("goal", unit=units[1].id, memo="clear")
        anna.give("uncertain", t0_ns=units[2].t0_ns, t1_ns=units[3].t1_ns)
    with open_marks(session, "ben", codebook) as ben:
        ben.give("explore", unit=units[0].id)
    return session


def test_sessions_stand_with_how_far_they_are(page: CodingPage) -> None:
    def line(row: int) -> list[str]:
        return [page.model.index(row, column).data() for column in range(6)]

    assert line(0)[1:] == ["7 frozen · 1 change proposed", "all 7", "anna 4/7 ✓", "–", "–"]
    assert line(1)[1:] == ["3 open", "0 of 3", "–", "–", "–"]
    assert line(2)[1:] == ["?"] * 5


def test_what_can_be_done_hangs_on_session_and_name(page: CodingPage, qtbot: QtBot) -> None:
    assert not page.open.isEnabled()
    page.rater.setText("anna")
    assert page.open.isEnabled()
    assert not page.freeze.isEnabled()  # they are frozen
    page.table.selectRow(1)
    assert page.segment.isEnabled()
    assert page.freeze.isEnabled()
    page.table.selectRow(2)
    assert not page.open.isEnabled()
    page.table.selectRow(0)
    with qtbot.waitSignal(page.open_requested) as asked:
        QTest.keyClick(page.table, Qt.Key.Key_Return)
    assert asked.args == [CodingWanted("sub-P01_ses-1_x", "anna", "independent", "")]


def test_who_codes_what_is_asked_in_place(page: CodingPage, qtbot: QtBot) -> None:
    page.show()
    page.assign.click()
    assert page.drawing.isVisible()
    QTest.keyClicks(page.raters, "anna, ben")
    with qtbot.waitSignal(page.assign_requested) as asked:
        QTest.keyClick(page.raters, Qt.Key.Key_Return)
    assert asked.args == [Draw("anna,ben", "0.2", "1")]
    assert page.drawing.isHidden()


def test_the_page_says_what_the_commands_say(page: CodingPage, coded: Path, qtbot: QtBot) -> None:
    work = CodingWork(page)
    work.set_shown(True)
    work.set_sessions(SessionIndex(coded.parent.parent).read(lambda so_far: None))
    qtbot.waitUntil(lambda: page.model.index(0, 3).data() == "anna 2/7, ben 1/7", timeout=30_000)
    page.table.selectRow(0)
    page.rater.setText("anna")
    page.freeze_requested.emit(coded.name, "nobody else")
    qtbot.waitUntil(lambda: "is no name for a rater" in page.about.text(), timeout=30_000)
    QTest.keyClick(page.rater, Qt.Key.Key_Return)
    work.stop()
    again = CodingPage(theme.LIGHT)
    qtbot.addWidget(again)
    CodingWork(again).stop()
    assert again.rater_name == "anna"  # who coded last on this machine


def test_every_unit_with_a_code_is_found(coded: Path) -> None:
    stretches = retrieve(coded.parent).stretches
    by_code = {stretch.code: stretch for stretch in stretches}
    assert set(by_code) == {"explore", "goal", "uncertain", ""}
    assert not {stretch.raters for stretch in stretches if not stretch.code} - {()}
    assert by_code["explore"].raters == ("anna", "ben")  # once, for they agree
    assert by_code["explore"].text == "okay so this one makes it taller"
    assert by_code["goal"].memo == "clear"
    assert by_code["uncertain"].text.startswith("no wait")
    assert by_code["uncertain"].text.endswith("there, nearly")  # of both units that it touches


@dataclass
class Silent:
    """A player that notes what it is asked for."""

    at: int = 0
    playing: bool = False
    closed: bool = False
    problem: str = ""

    def play(self) -> None:
        self.playing = True

    def pause(self) -> None:
        self.playing = False

    def seek(self, t_ns: int) -> None:
        self.at = t_ns

    def heard_ns(self) -> int:
        return self.at

    def close(self) -> None:
        self.closed = True


def choose_code(view: RetrievalView, code: str) -> None:
    view.code.setCurrentIndex(view.code.findData(code))
    view.code.activated.emit(view.code.currentIndex())


def test_a_click_plays_a_unit_in_place(coded: Path, qtbot: QtBot) -> None:
    players: list[Silent] = []

    def player(session: Path) -> Silent:
        players.append(Silent())
        return players[-1]

    view = RetrievalView(theme.LIGHT, player)
    qtbot.addWidget(view)
    view.show_study(coded.parent, read(coded.parent / "codebook.yaml"))
    qtbot.waitUntil(lambda: view.model.rowCount() == 3, timeout=20_000)
    assert view.about.text().startswith("3 coded units of 1 participant")
    view.words.setText("NOTHING does")
    assert [view.model.index(0, column).data() for column in (1, 3)] == [
        "0:08",
        "and the next one does nothing? (not checked)",
    ]
    assert view.about.text().startswith("1 unit of 1 participant")
    view.words.setText("clear")  # in a memo
    assert view.model.rowCount() == 1
    view.words.setText("e")  # what is not coded is found by its words, too
    everywhere = view.model.rowCount()
    assert "" in [view.model.index(row, 2).data() for row in range(everywhere)]
    view.words.clear()
    assert view.model.rowCount() == 3
    choose_code(view, "-")
    assert 0 < view.model.rowCount() < everywhere
    choose_code(view, "goal")
    assert [view.model.index(0, column).data() for column in (2, 3, 5)] == [
        "Has a goal",
        "and the next one does nothing? (not checked)",
        "anna",
    ]
    view.table.picked.emit(0)
    assert players[0].playing
    assert players[0].at == 8 * SECOND - 300_000_000
    players[0].at = 60 * SECOND  # its end is reached: it stops there
    qtbot.waitUntil(lambda: not players[0].playing, timeout=5000)
    assert view.playing is None
    view.table.picked.emit(0)
    view.table.picked.emit(0)  # another click stops
    assert players[0].closed
    assert view.playing is None
    view.close_all()
