"""What is there when the replay window is painted first, and what comes behind it."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from labapp.base.clock import NS
from labapp.session.replay import history
from labapp.session.replay.lanes import lanes_of
from labapp.ui.moderator.wording import every_mark
from labapp.ui.replay.controller import open_session
from labapp.ui.replay.window import ReplayWindow

MANY = 100


@pytest.fixture
def recorded(thinking_aloud: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of its own for each test, of which few events are read at once."""
    monkeypatch.setattr(history, "MANY", MANY)
    monkeypatch.setattr(history.History.read_on, "__defaults__", (MANY,))
    return Path(shutil.copytree(thinking_aloud, tmp_path / "quickstart" / thinking_aloud.name))


def test_the_screen_is_there_before_all_of_the_journal_is_read(
    recorded: Path, qtbot: QtBot
) -> None:
    session = open_session(recorded)
    window = ReplayWindow(session)
    qtbot.addWidget(window)
    read: list[int] = []
    read_on = session.history.read_on
    session.history.read_on = lambda most=MANY: read.append(most) or read_on(most)  # type: ignore
    window.open(30 * NS)
    before = sum(read)
    assert 0 < before < len(session.history.events)
    assert window.events.count() == 0
    qtbot.waitUntil(lambda: window.filled)
    assert window.events.count() > 0
    lanes, others = (
        [(lane.id, lane.items, lane.times.tolist()) for lane in each]
        for each in (
            window.lanes,
            lanes_of(session.record, sound=session.sound, answers=every_mark()),
        )
    )
    assert {lane[0] for lane in lanes} > {"screen", "dials", "alignment"}
    assert repr(lanes) == repr(others)
    assert not session.history.read_on(1), "some of it was left"


def test_a_late_screen_comes_behind_the_window(recorded: Path, qtbot: QtBot) -> None:
    session = open_session(recorded)
    window = ReplayWindow(session)
    qtbot.addWidget(window)
    late_ns = session.history.times[-50]
    assert session.history.is_far(late_ns)
    window.open(late_ns)
    window.repaint()
    assert session.history.is_far(late_ns), "it was folded before the window was there"
    qtbot.waitUntil(lambda: window.picture._pixmap is not None)
    assert not session.history.is_far(late_ns)
    assert window.picture.problem == ""


def test_what_cannot_be_read_is_told_soon_after_the_window_is_there(
    recorded: Path, qtbot: QtBot
) -> None:
    with sqlite3.connect(recorded / "journal.sqlite") as connection:
        (last,) = connection.execute("SELECT max(seq) FROM events WHERE kind = 'trial.ended'")
        connection.execute("UPDATE events SET payload = '{' WHERE seq = ?", last)
    connection.close()
    window = ReplayWindow(open_session(recorded))
    qtbot.addWidget(window)
    window.open(0)
    qtbot.waitUntil(lambda: window.filled)
    assert f"Event {last[0]} (trial.ended) cannot be read" in window.notices.text.text()
