"""The page of all sessions, and the lists that are read beside the windows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from labapp.base.naming import natural
from labapp.record.journal.decisions import comments
from labapp.record.journal.sessions import SessionSummary
from labapp.ui import language, session_lists, theme
from labapp.ui.home import HomeController
from labapp.ui.language import tr
from labapp.ui.moderator.home import PALETTE
from labapp.ui.moderator.sessions_page import STATE, TAGS, SessionsPage
from labapp.ui.moderator.wording import local_time
from labapp.ui.researcher.page import SessionList
from labapp.ui.session_lists import Reader
from labapp.ui.widgets.painting import metrics
from tests.helpers.journals import golden_session

LEFT = Qt.MouseButton.LeftButton


def line(participant: str, day: int, **changes: object) -> SessionSummary:
    plain = SessionSummary(
        f"sub-{participant}_ses-1_202601{day:02d}T080000Z",
        Path("/data/mnist") / participant,
        "mnist",
        participant,
        "1",
        f"2026-01-{day:02d}T08:00:00Z",
        "complete",
        60.0 * day,
        sound=True,
    )
    return replace(plain, **changes)


LINES = [
    line("P10", 9, study="faces"),
    line("P2", 8, comments=("Tired.", "Left early.")),
    line("P1", 7, state="interrupted"),
    line("P3", 6, withdrawn="keep"),
    line("P4", 5, state="running"),
]


def test_a_session_that_does_not_count_is_not_ticked_off() -> None:
    counted, other = line("P1", 1), line("P2", 2, not_counted=("min_solved",))
    assert STATE.text(counted) == "✓  complete"
    assert STATE.tone(counted) == "good"
    assert STATE.text(other) == "■  complete, does not count"
    assert STATE.tone(other) == "warn"


@pytest.fixture
def page(qtbot: QtBot) -> SessionsPage:
    shown = SessionsPage(PALETTE)
    qtbot.addWidget(shown)
    shown.resize(1200, 600)
    shown.set_lines(list(reversed(LINES)))
    shown.show()
    return shown


def ids(page: SessionsPage) -> list[str]:
    return [one.participant for one in page.table.sessions.rows]


def choose(page: SessionsPage, participant: str) -> None:
    page.table.selectRow(ids(page).index(participant))


def test_numbers_sort_as_people_count() -> None:
    assert sorted(["P10", "p2", "P1b", "P1"], key=natural) == ["P1", "P1b", "p2", "P10"]


def test_the_newest_is_first_and_every_column_sorts(page: SessionsPage, qtbot: QtBot) -> None:
    assert ids(page) == ["P10", "P2", "P1", "P3", "P4"]
    header = page.table.horizontalHeader()
    names = [tr(column.name) for column in page.table.sessions.columns]

    def click(name: str) -> None:
        at = names.index(name)
        place = header.viewport().rect().center()
        place.setX(header.sectionViewportPosition(at) + 12)
        qtbot.mouseClick(header.viewport(), LEFT, pos=place)

    click("Id")
    assert ids(page) == ["P1", "P2", "P3", "P4", "P10"]
    click("Id")
    assert ids(page) == ["P10", "P4", "P3", "P2", "P1"]
    click("Length")
    assert ids(page) == ["P4", "P3", "P1", "P2", "P10"]
    click("Study")
    assert ids(page)[0] == "P10"


def test_what_is_selected_stays_so_while_rows_come_and_go(page: SessionsPage) -> None:
    choose(page, "P2")
    page.set_lines([line("P11", 10), *LINES])
    chosen = page.table.selected()
    assert chosen is not None
    assert chosen.participant == "P2"
    page.set_lines([one for one in LINES if one.participant != "P2"])
    assert page.table.selected() is None


def test_the_arrow_keys_go_on_from_where_they_were(page: SessionsPage, qtbot: QtBot) -> None:
    page.table.setFocus()
    choose(page, "P2")
    page.set_lines([line("P11", 10), *LINES])
    qtbot.keyClick(page.table, Qt.Key.Key_Down)
    chosen = page.table.selected()
    assert chosen is not None
    assert chosen.participant == "P1"


def test_a_search_looks_at_every_cell(page: SessionsPage) -> None:
    for text, expected in (
        ("tired", ["P2"]),
        ("mnist inter", ["P1"]),
        ("FACES", ["P10"]),
        ("withdrawn", ["P3"]),
        ("nobody", []),
        ("", ["P10", "P2", "P1", "P3", "P4"]),
    ):
        page.search.setText(text)
        assert ids(page) == expected, text
        assert page.count.text() == ("5" if not text else f"{len(expected)} of 5")


def test_a_double_click_and_enter_replay_the_session(page: SessionsPage, qtbot: QtBot) -> None:
    index = page.table.sessions.index(1, 1)
    place = page.table.visualRect(index).center()
    qtbot.mouseClick(page.table.viewport(), LEFT, pos=place)
    with qtbot.waitSignal(page.replay_requested) as asked:
        qtbot.mouseDClick(page.table.viewport(), LEFT, pos=place)
        qtbot.mouseRelease(page.table.viewport(), LEFT, pos=place)
    assert asked.args == [LINES[1].path]
    choose(page, "P1")
    with qtbot.waitSignal(page.replay_requested) as asked:
        qtbot.keyClick(page.table, Qt.Key.Key_Return)
    assert asked.args == [LINES[2].path]
    choose(page, "P10")
    with qtbot.waitSignal(page.replay_requested) as asked:
        qtbot.mouseClick(page.replay, LEFT)
    assert asked.args == [LINES[0].path]


def test_who_withdrew_is_not_replayed(page: SessionsPage, qtbot: QtBot) -> None:
    choose(page, "P3")
    assert not page.replay.isEnabled()
    with qtbot.assertNotEmitted(page.replay_requested):
        qtbot.keyClick(page.table, Qt.Key.Key_Return)
    assert page.about.text() == "P3 withdrew, so the session cannot be replayed."


def test_a_row_has_a_menu_of_what_its_buttons_do(page: SessionsPage, qtbot: QtBot) -> None:
    choose(page, "P1")
    page.table.customContextMenuRequested.emit(page.table.rect().center())
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert [action.text() for action in menu.actions()] == [b.text() for b in page.buttons]
    assert [action.isEnabled() for action in menu.actions()] == [
        button.isEnabled() for button in page.buttons
    ]
    with qtbot.waitSignal(page.replay_requested) as asked:
        menu.actions()[0].trigger()
    assert asked.args == [LINES[2].path]
    menu.hide()


@pytest.mark.parametrize("delete", [True, False])
def test_withdrawing_is_asked_in_place(page: SessionsPage, qtbot: QtBot, delete: bool) -> None:
    choose(page, "P2")
    qtbot.mouseClick(page.withdraw, LEFT)
    assert page.asking.isVisible()
    assert "P2 (mnist) withdraws" in page.asking.text.text()
    assert not page.withdraw.isVisible()
    button = page.asking.delete if delete else page.asking.keep
    with qtbot.waitSignal(page.withdraw_requested) as asked:
        qtbot.mouseClick(button, LEFT)
    assert asked.args == [LINES[1].path, delete]
    assert page.asking.isHidden()


def test_an_exclusion_is_asked_in_place_and_needs_a_reason(
    page: SessionsPage, qtbot: QtBot
) -> None:
    choose(page, "P10")
    assert page.exclude.text() == "Exclude…"
    qtbot.mouseClick(page.exclude, LEFT)
    asking = page.deciding
    assert asking.reason.hasFocus()
    assert not page.exclude.isVisible()
    assert not asking.decide.isEnabled()
    told: list[object] = []
    page.decided.connect(lambda *what: told.append(what))
    qtbot.keyClick(asking.reason, Qt.Key.Key_Return)
    assert not told
    assert asking.isVisible()
    qtbot.keyClick(asking.reason, Qt.Key.Key_Escape)
    assert asking.isHidden()
    qtbot.mouseClick(page.exclude, LEFT)
    qtbot.keyClicks(asking.reason, "fire alarm")
    qtbot.keyClick(asking.reason, Qt.Key.Key_Return)
    assert told == [(LINES[0].path, False, "fire alarm")]
    assert asking.isHidden()


def test_who_does_not_count_can_be_included_with_or_without_a_reason(
    page: SessionsPage, qtbot: QtBot
) -> None:
    excluded = replace(LINES[0], decision="excluded", decision_reason="fire alarm")
    failing = replace(LINES[1], not_counted=("min_solved", "attention"))
    page.set_lines([excluded, failing, line("P9", 4, decision="included")])
    choose(page, "P10")
    assert STATE.text(excluded) == "■  complete, excluded"
    assert "Excluded by hand: fire alarm" in page.about.text()
    assert page.exclude.text() == "Include…"
    with qtbot.waitSignal(page.decided) as decided:
        qtbot.mouseClick(page.exclude, LEFT)
        qtbot.mouseClick(page.deciding.decide, LEFT)
    assert decided.args == [excluded.path, True, ""]
    choose(page, "P2")
    assert "Does not count: too few questions were solved, rule attention" in page.about.text()
    assert page.exclude.text() == "Include…"
    choose(page, "P9")
    assert page.exclude.text() == "Exclude…"


def test_the_column_of_tags_is_there_once_a_session_has_some(page: SessionsPage) -> None:
    place = [column.name for column in page.table.sessions.columns].index(TAGS.name)
    page.set_lines(LINES)
    assert page.table.isColumnHidden(place)
    page.set_lines([replace(LINES[0], tags=("glasses",)), *LINES[1:]])
    assert not page.table.isColumnHidden(place)


@pytest.mark.parametrize("spoken", ["en", "de"])
def test_no_column_is_cut_on_a_small_screen(spoken: str, qtbot: QtBot) -> None:
    """On a laptop at 150 %, where long tags end with three dots."""
    language.speak(spoken)
    tags = ("left-handed", "excluded late")
    lines = [replace(each, tags=tags, phase="main") for each in LINES[:2]]
    try:
        page, results = SessionsPage(PALETTE), SessionList(PALETTE)
        for table, shown, width in ((page.table, page, 870), (results, results, 378)):
            qtbot.addWidget(shown)
            shown.resize(width, 400)
            table.set_lines(lines)
            shown.show()
            QApplication.processEvents()
            header = table.horizontalHeader()
            assert header.length() <= table.viewport().width(), shown
            assert header.textElideMode() == Qt.TextElideMode.ElideRight
            for place, column in enumerate(table.sessions.columns):
                room = 14 + metrics(theme.SECONDARY_PX).horizontalAdvance(tr(column.name))
                assert column.filled or room <= header.sectionSize(place), column.name
    finally:
        language.speak("en")


def test_tags_are_changed_in_place_and_searched_for(page: SessionsPage, qtbot: QtBot) -> None:
    tagged = replace(LINES[0], tags=("left-handed", "glasses"), phase="main")
    page.set_lines([tagged, LINES[1]])
    choose(page, "P10")
    told: list[object] = []
    page.tagged.connect(lambda *what: told.append(what))
    qtbot.mouseClick(page.tag, LEFT)
    asking = page.deciding
    assert asking.reason.text() == "left-handed, glasses"
    assert asking.reason.accessibleName().startswith("Tags, such as")
    qtbot.keyClick(asking.reason, Qt.Key.Key_Return)
    assert told == [], "nothing is written where nothing changed"
    qtbot.mouseClick(page.tag, LEFT)
    asking.reason.setText(" glasses , tired,")
    qtbot.keyClick(asking.reason, Qt.Key.Key_Return)
    assert told == [(tagged.path, ["tired"], ["left-handed"])]
    for word, shown in (("left-hand", ["P10"]), ("main", ["P10"]), ("blue", [])):
        page.search.setText(word)
        assert [row.participant for row in page.table.sessions.rows] == shown
    page.search.clear()
    page.set_lines([replace(LINES[1], withdrawn="keep")])
    choose(page, "P2")
    assert not page.tag.isEnabled()


def test_one_enter_withdraws_nobody_and_another_row_ends_the_question(
    page: SessionsPage, qtbot: QtBot
) -> None:
    told: list[object] = []
    page.withdraw_requested.connect(lambda *what: told.append(what))
    choose(page, "P2")
    page.withdraw.setFocus()
    qtbot.keyClick(page.withdraw, Qt.Key.Key_Space)
    assert page.asking.cancel.hasFocus()
    qtbot.keyClick(page.asking.cancel, Qt.Key.Key_Space)
    assert page.asking.isHidden()
    qtbot.mouseClick(page.withdraw, LEFT)
    choose(page, "P1")
    assert page.asking.isHidden()
    qtbot.mouseClick(page.withdraw, LEFT)
    qtbot.keyClick(page.asking, Qt.Key.Key_Escape)
    assert page.asking.isHidden()
    assert told == []


def test_what_cannot_be_done_is_not_offered(page: SessionsPage) -> None:
    for participant, withdraw, resume in (
        ("P10", True, False),
        ("P1", True, True),
        ("P3", False, False),
        ("P4", False, False),
    ):
        choose(page, participant)
        assert (page.withdraw.isEnabled(), page.resume.isEnabled()) == (withdraw, resume)
    page.table.clearSelection()
    assert not page.folder.isEnabled()


@pytest.fixture
def home(open_home: Callable[..., HomeController], qtbot: QtBot, tmp_path: Path) -> HomeController:
    golden_session(tmp_path / "data")
    opened = open_home()
    qtbot.waitUntil(lambda: bool(opened.view.sessions_page.table.lines))
    return opened


def test_a_remark_and_a_withdrawal_reach_the_data(home: HomeController, qtbot: QtBot) -> None:
    page = home.view.sessions_page
    qtbot.mouseClick(home.view.tabs[1], LEFT)
    choose(page, "P01")
    folder = page.table.lines[0].path
    before = (folder / "journal.sqlite").read_bytes()
    qtbot.keyClicks(page.remark, "Came late.")
    qtbot.keyClick(page.remark, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.table.lines[0].comments == ("Came late.",))
    assert page.remark.text() == ""
    assert comments(folder.parent) == {folder.name: ("Came late.",)}
    assert (folder / "journal.sqlite").read_bytes() == before
    qtbot.mouseClick(page.withdraw, LEFT)
    qtbot.mouseClick(page.asking.delete, LEFT)
    qtbot.waitUntil(lambda: page.table.lines == ())
    assert not folder.exists()
    assert comments(folder.parent) == {}
    assert "P01" in page.about.text(), "what became of it is said, though the row is gone"
    home._slow_checks()
    assert "P01" in page.about.text()


def test_what_is_told_stands_until_another_session_is_selected(page: SessionsPage) -> None:
    choose(page, "P2")
    page.say("P2 withdrew.")
    page.set_lines([line("P11", 10), *LINES])
    assert page.about.text() == "P2 withdrew."
    page.set_lines([one for one in LINES if one.participant != "P2"])
    assert page.about.text() == "P2 withdrew."
    choose(page, "P1")
    assert page.about.text() == str(LINES[2].path)
    choose(page, "P10")
    assert page.about.text() == str(LINES[0].path)


def test_a_remark_that_cannot_be_kept_stays_in_its_field(
    home: HomeController, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(session_lists, "add_comment", full)
    page = home.view.sessions_page
    choose(page, "P01")
    qtbot.keyClicks(page.remark, "Came late.")
    qtbot.keyClick(page.remark, Qt.Key.Key_Return)
    assert page.remark.text() == "Came late."
    assert "The remark could not be saved" in home.view.error.title.text()


def test_a_withdrawal_is_done_and_told_though_the_home_is_closed_at_once(
    home: HomeController, qtbot: QtBot, capsys: pytest.CaptureFixture[str]
) -> None:
    page = home.view.sessions_page
    choose(page, "P01")
    folder = page.table.lines[0].path
    home.lists.refresh()  # it waits behind this in the thread
    page.withdraw_requested.emit(folder, True)
    home.window.close()
    assert not folder.exists()
    assert "P01" in capsys.readouterr().out


def test_the_windows_thread_reads_no_journal(
    home: HomeController, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    readers: list[str] = []
    real = Reader.read

    def read(self: Reader, *arguments: object) -> object:
        readers.append(threading.current_thread().name)
        return real(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Reader, "read", read)
    with qtbot.waitSignal(home.lists.changed):
        home._slow_checks()
    assert readers
    assert all(name.startswith("sessions") for name in readers)


def test_results_open_on_the_study_of_the_most_recent_session(home: HomeController) -> None:
    home.researcher._study = ""
    newest = line("P1", 9, study="apples")
    home.researcher.set_sessions([newest, line("P1", 8, study="zebras")])
    assert home.researcher._study == "apples"


@pytest.mark.parametrize("started", ["", "yesterday", "2026-99-99T00:00:00Z"])
def test_a_damaged_session_that_has_no_time_is_a_row_too(qtbot: QtBot, started: str) -> None:
    shown = SessionsPage(PALETTE)
    qtbot.addWidget(shown)
    shown.set_lines([line("P01", 1), line("P02", 2, started=started, state="damaged")])
    shown.resize(1200, 600)
    shown.show()
    shown.grab()  # every cell is painted
    assert "–" in [local_time(one.started) for one in shown.table.sessions.rows]
