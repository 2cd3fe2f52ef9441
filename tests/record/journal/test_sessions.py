"""The list of sessions copes with whatever lies in a data folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from labapp.base.console import plain
from labapp.record.events.lifecycle import InclusionDecided, SessionCompleted, SessionReopened
from labapp.record.journal.layout import EXPORTS, JOURNAL
from labapp.record.journal.opening import line as line_of
from labapp.record.journal.sessions import list_sessions
from labapp.session.bids.export import export
from labapp.session.folder import SessionFolder
from tests.helpers.journals import SessionBuilder, golden_session
from tests.helpers.trees import snapshot


def test_a_complete_session(tmp_path: Path) -> None:
    folder = golden_session(tmp_path)
    (line,) = list_sessions(tmp_path)
    assert (line.id, line.path, line.study) == (folder.name, folder, "golden")
    assert (line.participant, line.session, line.state) == ("P01", "1", "complete")
    assert line.started == "2026-01-02T03:04:05.000000Z"
    assert (line.length_s, line.events, line.lost_s, line.sound) == (81, 228, 0.5, True)
    assert line.exported == ()
    assert json.loads(json.dumps(plain(line.to_json())))["id"] == folder.name


def test_foreign_damaged_killed_and_running_ones(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("about this folder")
    (tmp_path / "golden" / "notes").mkdir(parents=True)
    (tmp_path / "golden" / "assignments.sqlite").touch()
    golden_session(tmp_path, wal=True)
    empty = tmp_path / "golden" / "sub-P07_ses-1_20260101T000000Z"
    empty.mkdir()
    broken = tmp_path / "golden" / "sub-P08_ses-1_20260101T000001Z"
    broken.mkdir()
    (broken / JOURNAL).write_text("no database")
    cut = SessionBuilder(participant="P09")
    cut.plan([])
    cut.segment(0, 1)
    running = cut.write(tmp_path)
    before = snapshot(tmp_path)
    with SessionFolder(running).lock():
        lines = {line.participant: line for line in list_sessions(tmp_path)}
    (running / "session.lock").unlink()
    assert snapshot(tmp_path) == before, "listing touches nothing"
    assert {name: line.state for name, line in lines.items()} == {
        "P01": "complete",
        "P07": "damaged",
        "P08": "damaged",
        "P09": "running",
    }
    assert list(lines) == ["P07", "P08", "P01", "P09"], "by their start"
    assert "no journal" in (lines["P07"].problem or "")
    assert list_sessions(tmp_path)[-1].state == "interrupted"


def test_a_session_that_does_not_count_says_so_until_it_is_reopened(tmp_path: Path) -> None:
    session = SessionBuilder()
    session.plan([])
    session.segment(0, 1)
    session.at(2, InclusionDecided(False, ("min_solved",), {}))
    session.at(2, SessionCompleted())
    ended = session.write(tmp_path)
    (row,) = list_sessions(tmp_path)
    assert (row.state, row.not_counted) == ("complete", ("min_solved",))
    assert row.to_json()["not_counted"] == ("min_solved",)
    assert "complete, does not count (min_solved)" in line_of(row)
    shutil.rmtree(ended)
    session.at(3, SessionReopened(1))
    session.write(tmp_path)
    (row,) = list_sessions(tmp_path)
    assert (row.state, row.not_counted) == ("interrupted", ())


def test_no_data_root(tmp_path: Path) -> None:
    assert list_sessions(tmp_path / "nowhere") == []
    (tmp_path / "file").touch()
    assert list_sessions(tmp_path / "file") == []


def test_exports_are_listed(tmp_path: Path) -> None:
    folder = golden_session(tmp_path / "data")
    first = export([folder], tmp_path / "one")
    second = export([folder], tmp_path / "two", zip=True)
    log = folder.parent / EXPORTS
    log.write_text("not ours\n[1]\n" + log.read_text())
    (line,) = list_sessions(tmp_path / "data")
    assert line.exported == (str(first), str(second))
