"""The list of sessions: kept, read again where it changed, whatever lies in the folder."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from labapp.base.console import plain
from labapp.base.errors import DataFolderError
from labapp.record.events.lifecycle import InclusionDecided, SessionCompleted, SessionReopened
from labapp.record.journal import sessions
from labapp.record.journal.decisions import add_comment, comments, forget_comments
from labapp.record.journal.layout import COMMENTS, EXPORTS, JOURNAL
from labapp.record.journal.opening import line as line_of
from labapp.record.journal.sessions import SessionIndex, list_problems, list_sessions
from labapp.session.bids.export import export
from labapp.session.folder import SessionFolder
from labapp.session.withdrawal import withdraw
from tests.helpers.golden import golden_builder
from tests.helpers.journals import SessionBuilder, golden_session
from tests.helpers.trees import snapshot


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders whose journals are read."""
    places: list[Path] = []
    real = sessions.summarise_recorded

    def recorded(folder: Path) -> object:
        places.append(folder)
        return real(folder)

    monkeypatch.setattr(sessions, "summarise_recorded", recorded)
    return places


def study_of(data: Path) -> list[Path]:
    """Three sessions of two studies: over, interrupted, and one that is none."""
    whole = golden_session(data)
    killed = golden_builder()
    killed.of("P02")
    killed.rows = [row for row in killed.rows if row[0] <= 72_250_000_000]
    (data / "other").mkdir()
    interrupted = killed.write(data, wal=True)
    moved = data / "other" / interrupted.name.replace("20260102", "20260301")
    interrupted.rename(moved)
    empty = data / "golden" / "sub-P03_ses-1_20250101T000000Z"
    empty.mkdir()
    return [moved, whole, empty]


def test_newest_first_over_all_studies_and_as_the_plain_list_says(tmp_path: Path) -> None:
    folders = study_of(tmp_path)
    found = SessionIndex(tmp_path).read()
    assert [line.path for line in found] == folders
    assert [line.state for line in found] == ["interrupted", "complete", "damaged"]
    assert sorted(found, key=str) == sorted(list_sessions(tmp_path), key=str)


def test_what_did_not_change_is_the_same_object_and_not_read_again(
    tmp_path: Path, read: list[Path]
) -> None:
    folders = study_of(tmp_path)
    index = SessionIndex(tmp_path)
    before = index.read()
    assert sorted(read) == sorted(folders)
    read.clear()
    again = index.read()
    assert read == []
    assert all(one is other for one, other in zip(before, again, strict=True))


def test_a_journal_that_was_written_to_is_read_again(tmp_path: Path, read: list[Path]) -> None:
    folders = study_of(tmp_path)
    index = SessionIndex(tmp_path)
    index.read()
    read.clear()
    os.utime(folders[1] / JOURNAL, ns=(1, 1))
    index.read()
    assert read == [folders[1]]


def test_a_session_that_somebody_opens_and_leaves_is_told(tmp_path: Path) -> None:
    folders = study_of(tmp_path)
    index = SessionIndex(tmp_path)
    index.read()
    lock = SessionFolder(folders[0]).lock()
    assert index.read()[0].state == "running"
    lock.release()
    assert index.read()[0].state == "interrupted"


def test_logs_beside_the_sessions_are_read_again_and_no_journal(
    tmp_path: Path, read: list[Path]
) -> None:
    folders = study_of(tmp_path / "data")
    index = SessionIndex(tmp_path / "data")
    index.read()
    read.clear()
    entry = {"bundle": "/out", "sessions": [folders[1].name]}
    (folders[1].parent / "exports.jsonl").write_text(json.dumps(entry) + "\n")
    assert index.read()[1].exported == ("/out",)
    add_comment(folders[1], "Tired after lunch.")
    add_comment(folders[1], "Came back for the second half.")
    assert index.read()[1].comments == ("Tired after lunch.", "Came back for the second half.")
    assert read == []
    withdraw(folders[1], tmp_path / "private", delete=False)
    line = index.read()[1]
    assert (line.withdrawn, len(line.comments)) == ("keep", 2)
    assert read == []
    assert sorted(index.read(), key=str) == sorted(list_sessions(tmp_path / "data"), key=str)


def test_who_stops_the_reading_loses_nothing_of_it(tmp_path: Path, read: list[Path]) -> None:
    study_of(tmp_path)
    index = SessionIndex(tmp_path)

    def stop(so_far: object) -> None:
        if len(read) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.read(stop)
    assert len(index.read()) == 3
    assert len(read) == 3, "each once"


def test_a_remark_behind_one_that_was_cut_off_is_kept(tmp_path: Path) -> None:
    folder = study_of(tmp_path)[1]
    log = folder.parent / COMMENTS
    log.write_bytes(b'{"utc": "2026", "session": "sub-P09_ses-1_2026')
    add_comment(folder, "Tired after lunch.")
    assert comments(folder.parent) == {folder.name: ("Tired after lunch.",)}
    assert list_problems(tmp_path) == [f"{log}: 1 damaged remarks of 2 are not shown"]


def test_remarks_that_cannot_be_read_are_told_and_never_left_behind(tmp_path: Path) -> None:
    folder = study_of(tmp_path / "data")[1]
    log = folder.parent / COMMENTS
    log.mkdir()
    assert comments(folder.parent) == {}
    assert list_problems(tmp_path / "data") == [
        f"{log} cannot be read (it is a folder, not a file), so no remarks are shown"
    ]
    with pytest.raises(DataFolderError, match="could not be removed"):
        withdraw(folder, tmp_path / "private", delete=True)
    log.rmdir()
    add_comment(folder, "a")
    withdraw(folder, tmp_path / "private", delete=True)
    assert log.read_bytes() == b""


def test_remarks_go_with_the_data_of_who_withdraws(tmp_path: Path) -> None:
    folder = study_of(tmp_path / "data")[1]
    other = folder.with_name(folder.name.replace("P01", "P09"))
    add_comment(folder, "a")
    add_comment(other, "b")
    killed = folder.with_name(f".{COMMENTS}-{'0' * 32}")
    killed.write_bytes((folder.parent / COMMENTS).read_bytes())
    with (folder.parent / COMMENTS).open("a") as file:
        file.write(f'not ours\n{{"session": "{folder.name}", "text": "cut of\n')
    withdraw(folder, tmp_path / "private", delete=True)
    assert comments(folder.parent) == {other.name: ("b",)}
    left = (folder.parent / COMMENTS).read_text()
    assert "not ours" in left
    assert folder.name not in left, "nor of what a crash left of a remark"
    assert not killed.exists(), "nor in what a killed withdrawal of somebody else left"
    assert forget_comments(folder) == 0


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the lines are kept; all journals were written long ago."""
    monkeypatch.setenv("LABAPP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sessions, "SETTLED_NS", -1)
    return tmp_path / "cache" / "sessions"


def test_another_program_does_not_read_what_did_not_change(
    tmp_path: Path, cache: Path, read: list[Path]
) -> None:
    _, whole, empty = study_of(tmp_path / "data")
    before = SessionIndex(tmp_path / "data").read()
    assert len(read) == 3
    read.clear()
    assert SessionIndex(tmp_path / "data").read() == before
    assert read == [empty], "what is damaged may be mended meanwhile"
    assert sorted(list_sessions(tmp_path / "data"), key=str) == sorted(before, key=str)
    read.clear()
    os.utime(whole / JOURNAL)
    SessionIndex(tmp_path / "data").read()
    assert whole in read


def test_the_cache_is_private_and_names_nobody(tmp_path: Path, cache: Path) -> None:
    study_of(tmp_path / "data")
    SessionIndex(tmp_path / "data").read()
    (kept,) = cache.iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    assert cache.stat().st_mode & 0o077 == 0
    assert "P01" not in kept.read_text()


@pytest.mark.parametrize(
    "content",
    [b"", b"[", b"{}", b'{"labapp": "another", "sessions": {}}', b'{"sessions": [1]}', b"\xff"],
)
def test_a_cache_that_is_damaged_costs_nothing(
    tmp_path: Path, cache: Path, content: bytes, read: list[Path]
) -> None:
    study_of(tmp_path / "data")
    before = SessionIndex(tmp_path / "data").read()
    (kept,) = cache.iterdir()
    kept.write_bytes(content)
    read.clear()
    assert SessionIndex(tmp_path / "data").read() == before
    assert len(read) == 3


def test_a_line_of_the_cache_that_was_changed_is_not_believed(tmp_path: Path, cache: Path) -> None:
    study_of(tmp_path / "data")
    before = SessionIndex(tmp_path / "data").read()
    (kept,) = cache.iterdir()
    for was, now in (('"complete"', '"perfect"'), ('"events": ', '"events": "x", "e": ')):
        text = kept.read_text()
        assert was in text
        kept.write_text(text.replace(was, now))
        assert SessionIndex(tmp_path / "data").read() == before


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
