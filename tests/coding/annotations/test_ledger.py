"""The open file of lines: durable soon, held by one window, whole whatever happens."""

from __future__ import annotations

import errno
import os
import threading
import time
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import count
from pathlib import Path

import pytest

from labapp.base import durable
from labapp.base.errors import AnnotationError, AnnotationsBusy
from labapp.coding.annotations import ledger
from labapp.coding.annotations.ledger import TOGETHER, Ledger, held, read, rewrite


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of a file that is not there yet, in a folder that is not there either."""
    return tmp_path / "raters" / "anna.jsonl"


def test_a_line_is_in_the_file_at_once(path: Path) -> None:
    with Ledger(path) as file:
        line = file.append("mark.put", {"id": "1"})
        assert read(path).lines == (line,)
        assert not file.saved
        deadline = time.monotonic() + 5
        while not file.saved and time.monotonic() < deadline:
            time.sleep(0.01)
        assert file.saved, "nobody had to ask for it"
    assert not [t for t in threading.enumerate() if t.name.startswith("annotations")]


def test_new_folders_outlast_a_power_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(durable, "sync_folder", synced.append)
    Ledger(tmp_path / "a" / "b" / "anna.jsonl").close()
    assert {tmp_path, tmp_path / "a", tmp_path / "a" / "b"} == set(synced)
    synced.clear()
    Ledger(tmp_path / "a" / "b" / "anna.jsonl").close()
    assert synced == []


def test_two_windows_and_the_second_one_waits(path: Path) -> None:
    with Ledger(path), pytest.raises(AnnotationsBusy, match="another window"):
        Ledger(path)
    Ledger(path).close()


def test_closing_twice_harms_nothing_and_closed_is_closed(path: Path) -> None:
    file = Ledger(path)
    file.close()
    file.close()
    with pytest.raises(AnnotationError, match="is closed"):
        file.append("a", {})


def test_a_torn_line_is_taken_away_and_told(path: Path) -> None:
    with Ledger(path) as file:
        first = file.append("a", {})
        file.append("b", {"text": "long enough"})
    path.write_bytes(path.read_bytes()[:-5])
    with Ledger(path) as file:
        assert "cut off" in file.torn
        assert file.lines == [first]
        second = file.append("c", {})
    assert read(path).lines == (first, second)
    assert not read(path).torn


def test_a_missing_last_line_end_costs_nothing(path: Path) -> None:
    with Ledger(path) as file:
        first = file.append("a", {})
    path.write_bytes(path.read_bytes()[:-1])
    with Ledger(path) as file:
        assert not file.torn
        second = file.append("b", {})
    assert read(path).lines == (first, second)


def test_a_damaged_file_is_not_written_to(path: Path) -> None:
    with Ledger(path) as file:
        file.append("a", {})
        file.append("b", {})
    content = path.read_bytes().replace(b'"kind":"a"', b'"kind":"x"')
    path.write_bytes(content)
    with pytest.raises(AnnotationError, match="line 1: it was changed"):
        Ledger(path)
    assert path.read_bytes() == content


def test_what_cannot_be_written_leaves_no_half(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger(path) as file:
        first = file.append("a", {})
        raw = file._file

        class Full:
            """A disk with room for five bytes more."""

            def write(self, content: memoryview) -> int:
                if raw.tell() > file._length:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                return raw.write(content[:5]) or 0

            def __getattr__(self, name: str) -> object:
                return getattr(raw, name)

        monkeypatch.setattr(file, "_file", Full())
        with pytest.raises(AnnotationError, match="disk is full"):
            file.append("b", {})
        assert read(path).lines == (first,)
        assert not read(path).torn
        monkeypatch.undo()
        second = file.append("c", {})
    assert read(path).lines == (first, second)


def test_a_disk_that_does_not_sync_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    file = Ledger(path)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", refused)
        file.append("a", {})
        with pytest.raises(AnnotationError):
            file.flush()
        assert file.problem
        with pytest.raises(AnnotationError):
            file.append("b", {})
    with pytest.raises(AnnotationError):
        file.close()
    Ledger(path).close()


def test_a_file_that_grew_too_large_is_not_added_to(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "LARGEST", 300)
    with Ledger(path) as file:
        file.append("a", {"text": "x" * 100})
        with pytest.raises(AnnotationError, match="larger than the 300 bytes"):
            file.append("a", {"text": "x" * 100})


def test_rewriting_leaves_a_tombstone(path: Path) -> None:
    with Ledger(path) as file:
        file.append_all([("a", {"text": "secret"}), ("b", {})])
        with pytest.raises(AnnotationsBusy):
            rewrite(path, lambda lines: (lines[1:], ("rewritten", {})))
    rewrite(path, lambda lines: (lines[1:], ("rewritten", {"reason": "redaction"})))
    left = read(path).lines
    assert [(line.seq, line.kind) for line in left] == [(1, "b"), (2, "rewritten")]
    assert b"secret" not in path.read_bytes()


def test_writing_a_whole_file(path: Path) -> None:
    with Ledger(path) as file:
        lines = file.append_all([("a", {}), ("b", {})])
    other = path.with_name("ben.jsonl")
    with held(other) as file_:
        file_.replace(lines)
    assert other.read_bytes() == path.read_bytes()


def test_lines_of_one_change_are_close_however_slow_the_computer_is(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the file is opened again, they are taken back together, by their times."""
    seconds = count()

    class Slow(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=next(seconds))

    monkeypatch.setattr("labapp.coding.annotations.ledger.datetime", Slow)
    with Ledger(path) as file:
        lines = [*file.append_all([("a", {}), ("b", {})]), file.append("c", {})]
    first, second, third = (datetime.fromisoformat(line.utc) for line in lines)
    assert second - first <= TOGETHER < third - second
