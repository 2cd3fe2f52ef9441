"""Reading journals, in whatever state they are found, without a trace."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from labapp.base.clock import FakeClock
from labapp.base.errors import JournalError, RecordError
from labapp.record.events import GENESIS, Source, UnstampedEvent
from labapp.record.events.lifecycle import NoteAdded
from labapp.record.journal.layout import JOURNAL, LOCK
from labapp.record.journal.read import held, read_rows
from labapp.record.journal.write import Journal
from labapp.session.folder import SessionFolder
from tests.helpers.golden import golden_builder
from tests.helpers.journals import golden_session, stamp
from tests.helpers.trees import snapshot


def test_rows_are_those_that_were_written_with_a_whole_chain(tmp_path: Path) -> None:
    rows = read_rows(golden_session(tmp_path))
    written = stamp(sorted(golden_builder().rows, key=lambda row: row[0]))
    assert len(rows) == len(written) == 228
    head = GENESIS
    for row, event in zip(rows, written, strict=True):
        assert row.event().key == event.key
        assert row[:7] == (
            event.seq,
            event.segment,
            event.t_ns,
            event.utc,
            event.source,
            event.kind,
            event.v,
        )
        assert row.chained(head) == row.hash
        head = row.hash


@pytest.mark.parametrize("wal", [False, True])
def test_reading_leaves_no_trace(tmp_path: Path, wal: bool) -> None:
    folder = golden_session(tmp_path, wal=wal)
    before = snapshot(folder)
    assert wal == (f"{JOURNAL}-wal" in before)
    assert len(read_rows(folder)) == 228
    assert snapshot(folder) == before


def test_some_kinds_only(tmp_path: Path) -> None:
    folder = golden_session(tmp_path)
    assert [row.seq for row in read_rows(folder, ["session.planned", "segment.started"])] == [
        1,
        2,
        165,
    ]


def test_a_running_session_is_read_while_its_writer_goes_on(tmp_path: Path) -> None:
    home = SessionFolder(tmp_path)
    with home.lock(), Journal.create(home.journal, FakeClock()) as journal:
        assert held(tmp_path)
        for number in range(5):
            receipt = journal.append(UnstampedEvent(NoteAdded(str(number), 0)), Source.MODERATOR)
            assert receipt.wait(5.0)
            found = read_rows(tmp_path)
            assert [row.event().payload["text"] for row in found] == list("01234"[: number + 1])
            assert held(tmp_path)
    assert not held(tmp_path)
    assert len(read_rows(tmp_path)) == 5


def test_a_lock_nobody_holds_is_not_held(tmp_path: Path) -> None:
    assert not held(tmp_path)
    (tmp_path / LOCK).touch()
    assert not held(tmp_path)
    lock = SessionFolder(tmp_path).lock()
    assert held(tmp_path)
    assert held(tmp_path), "looking must not free the lock"
    lock.release()
    assert not held(tmp_path)


def test_no_journal(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no journal") as told:
        read_rows(tmp_path)
    assert "Give a session folder" in told.value.todo
    lost = tmp_path / "sub-P01_ses-1_20260102T030405Z"
    lost.mkdir()
    with pytest.raises(RecordError, match="no journal") as told:
        read_rows(lost)
    assert "Look for a copy" in told.value.todo


@pytest.mark.parametrize("content", [b"", b"not a database, but long enough for one" * 50])
def test_a_file_that_is_no_database(tmp_path: Path, content: bytes) -> None:
    (tmp_path / JOURNAL).write_bytes(content)
    with pytest.raises(RecordError, match="damaged or cannot be read") as caught:
        read_rows(tmp_path)
    assert caught.value.safe
    assert caught.value.todo
    assert (tmp_path / JOURNAL).read_bytes() == content


def test_a_damaged_page(tmp_path: Path) -> None:
    folder = golden_session(tmp_path)
    content = bytearray((folder / JOURNAL).read_bytes())
    content[8192:16384] = b"\xff" * 8192
    (folder / JOURNAL).write_bytes(bytes(content))
    with pytest.raises(RecordError, match="damaged"):
        read_rows(folder)


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    folder = golden_session(tmp_path)
    _change(folder, "UPDATE meta SET value = '99'")
    with pytest.raises(RecordError, match="schema version 99"):
        read_rows(folder)


def test_text_that_is_not_utf8_is_refused_or_shown_escaped(tmp_path: Path) -> None:
    folder = golden_session(tmp_path)
    _change(folder, "UPDATE events SET payload = CAST(x'7bff7d' AS TEXT) WHERE seq = 7")
    with pytest.raises(RecordError, match="UTF-8"):
        read_rows(folder)
    assert read_rows(folder, lenient=True)[6].payload == r"{\xff}"


def _change(folder: Path, statement: str) -> None:
    connection = sqlite3.connect(folder / JOURNAL)
    with connection:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize("text", [5, None, ["a"], {"a": 1}])
def test_an_event_that_could_not_be_read_again_is_not_stored(tmp_path: Path, text: object) -> None:
    clock = FakeClock()
    folder = tmp_path / "s"
    folder.mkdir()
    journal = Journal.create(folder / JOURNAL, clock)
    whole = UnstampedEvent(NoteAdded("a note", 1))
    journal.append(whole, Source.MODERATOR)
    wrong = UnstampedEvent(NoteAdded(text, 1))  # type: ignore[arg-type]
    with pytest.raises(JournalError, match=r"note.added was not stored: its text is .*; a text"):
        journal.append_all((whole, wrong), Source.MODERATOR)
    journal.append(whole, Source.MODERATOR)
    journal.close()
    assert [row.seq for row in read_rows(folder)] == [1, 2], "half of what belongs together"
