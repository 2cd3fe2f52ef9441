"""Replays that the home opens, each in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from labapp.record.journal.sessions import SessionSummary
from labapp.ui.moderator.home import PALETTE
from labapp.ui.researcher.job import ReplayProcesses
from labapp.ui.researcher.page import ResearcherPage
from tests.helpers.journals import golden_session
from tests.ui.test_sessions_page import line


@pytest.fixture
def replays(qtbot: QtBot) -> Iterator[ReplayProcesses]:
    made = ReplayProcesses()
    yield made
    made.stop()
    made.deleteLater()


def test_a_session_that_cannot_be_replayed_is_told(
    replays: ReplayProcesses, tmp_path: Path, qtbot: QtBot
) -> None:
    session = golden_session(tmp_path)
    (session / "journal.sqlite").write_bytes(b"no journal")
    with qtbot.waitSignal(replays.failed, timeout=60_000) as told:
        replays.open(session)
    (error,) = told.args
    assert session.name in error.what
    assert error.todo
    assert replays.running == ()


def test_a_session_is_opened_once_and_closed_when_a_session_begins(
    replays: ReplayProcesses, tmp_path: Path, qtbot: QtBot
) -> None:
    session = golden_session(tmp_path)
    with qtbot.assertNotEmitted(replays.failed):
        replays.open(session)
        replays.open(session)
        assert replays.running == (session,)
        qtbot.wait(50)
        replays.stop()
    assert replays.running == ()


def test_a_row_of_the_results_is_replayed(qtbot: QtBot) -> None:
    page = ResearcherPage(PALETTE)
    qtbot.addWidget(page)
    lines: list[SessionSummary] = [line("P1", 1), line("P2", 2, withdrawn="keep")]
    page.set_sessions(lines, {}, "2 sessions")
    assert not page.replay.isEnabled()
    page.sessions.selectRow(0)
    chosen = page.sessions.selected()
    assert chosen is not None
    assert page.replay.isEnabled() == (not chosen.withdrawn)
    for row in range(2):
        page.sessions.selectRow(row)
        chosen = page.sessions.selected()
        assert chosen is not None
        if chosen.withdrawn:
            with qtbot.assertNotEmitted(page.replay_requested):
                page.sessions.opened.emit(chosen)
        else:
            with qtbot.waitSignal(page.replay_requested) as asked:
                page.sessions.opened.emit(chosen)
            assert asked.args == [chosen.path]
