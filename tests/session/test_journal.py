"""The journal: order, durability, full disks, reopening."""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from labapp.base.clock import FakeClock, SessionClock
from labapp.base.errors import JournalError, JournalFull
from labapp.record.events import Event, Source, UnstampedEvent
from labapp.record.events.lifecycle import NoteAdded, WindowFocus
from labapp.record.events.trials import ResponseChanged
from labapp.record.journal import write as module
from labapp.record.journal.read import LONGEST, check_chain, read_rows
from labapp.record.journal.write import Journal
from labapp.tasks.reconstruction.events import DialMoved
from tests.helpers.disks import SmallDisk
from tests.helpers.nightly import EVERYTHING
from tests.helpers.waiting import wait_for


def moved(number: int) -> UnstampedEvent:
    return UnstampedEvent(DialMoved(number, 0, number / 100, "mouse"), "stage-1", 1, 1)


def answer(value: int) -> UnstampedEvent:
    return UnstampedEvent(ResponseChanged("seq", "ease", value), "stage-1-seq")


def test_order_under_many_threads(tmp_path: Path) -> None:
    seen: list[Event] = []
    with Journal.create(tmp_path / "journal.sqlite", SessionClock()) as journal:
        journal.subscribe(seen.append)

        def work(thread: int) -> None:
            for number in range(200):
                unstamped = answer(number) if number % 50 == 0 else moved(thread * 1000 + number)
                journal.append(unstamped, Source.SYSTEM)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    rows = read_rows(tmp_path)
    assert [row.seq for row in rows] == list(range(1, 1201))
    assert [event.seq for event in seen] == list(range(1, 1201))
    assert [(e.t_ns, e.kind) for e in seen] == [(r.t_ns, r.kind) for r in rows]
    for thread in range(6):
        own = [e.payload["z_seq"] for e in seen if e.payload.get("z_seq", -1) // 1000 == thread]
        assert own == sorted(own), "each thread's events stay in its order"
    assert check_chain(rows) is None


def test_a_durable_event_is_on_disk_when_its_receipt_says_so(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.create(path, SessionClock()) as journal:
        for value in range(1, 6):
            receipt = journal.append(answer(value), Source.PARTICIPANT)
            assert receipt.wait(60.0)
            # Another connection sees committed rows only.
            other = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            assert other.execute("SELECT max(seq) FROM events").fetchone() == (value,)
            assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            other.close()
            assert journal.committed_seq == value


def test_the_writer_syncs_fully() -> None:
    connection = module._connect(Path(":memory:"))
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    connection.close()


def test_a_simulation_does_not_wait_for_the_disk_and_its_journal_is_as_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[sqlite3.Connection] = []
    connect = module._connect

    def watched(*given: Any, **named: Any) -> sqlite3.Connection:
        made.append(connect(*given, **named))
        return made[-1]

    monkeypatch.setattr(module, "_connect", watched)
    with Journal.create(
        tmp_path / "journal.sqlite", SessionClock(), fsync_on_commit=False
    ) as journal:
        for value in range(1, 6):
            assert journal.append(answer(value), Source.PARTICIPANT).wait(60.0)
        assert made[-1].execute("PRAGMA synchronous").fetchone() == (1,)
        assert made[-1].execute("PRAGMA journal_mode").fetchone() == ("wal",)
    rows = read_rows(tmp_path)
    assert len(rows) == 5
    assert check_chain(rows) is None


def test_other_events_are_on_disk_with_the_next_batch(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "journal.sqlite", SessionClock()) as journal:
        assert module.BATCH_S <= 0.25
        receipt = journal.append(moved(1), Source.PARTICIPANT)
        assert receipt.wait(0.0), "nobody waits for these"
        wait_for(lambda: journal.committed_seq == 1)
        assert journal.saved_ago_s == 0.0


def test_what_belongs_together_is_committed_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No commit ever ends between two events of one decision."""
    batches: list[list[int]] = []

    class Watched(sqlite3.Connection):
        def executemany(self, sql: str, rows: list[tuple[int]], /) -> sqlite3.Cursor:  # type: ignore[override]
            batches.append([row[0] for row in rows])
            return super().executemany(sql, rows)

    connect = sqlite3.connect
    monkeypatch.setattr(
        module.sqlite3, "connect", lambda *a, **k: connect(*a, factory=Watched, **k)
    )
    with Journal.create(tmp_path / "journal.sqlite", SessionClock()) as journal:
        noise = threading.Event()

        def disturb() -> None:
            number = 0
            while not noise.is_set():
                journal.append(moved(number := number + 1), Source.SYSTEM)
                time.sleep(0.0005)

        thread = threading.Thread(target=disturb)
        thread.start()
        groups = []
        for value in range(150):
            receipts = journal.append_all([answer(value), moved(value), answer(-1)], Source.SYSTEM)
            groups.append([receipt.event.seq for receipt in receipts])
            time.sleep(0.001)
        noise.set()
        thread.join()
    for group in groups:
        assert group == list(range(group[0], group[0] + 3))
        (holding,) = (batch for batch in batches if group[0] in batch)
        assert set(group) <= set(holding)


def test_a_value_that_cannot_be_stored_fails_its_caller_and_stores_nothing(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "journal.sqlite", SessionClock()) as journal:
        wrong = UnstampedEvent(DialMoved(2, 0, float("nan"), "mouse"))
        with pytest.raises(ValueError, match="JSON"):
            journal.append_all([answer(1), wrong], Source.SYSTEM)
        journal.append(answer(2), Source.SYSTEM)
    assert [row.payload for row in read_rows(tmp_path)] == [
        '{"instrument":"seq","item":"ease","value":2}'
    ]


def test_a_full_disk_loses_nothing(disk: SmallDisk) -> None:
    path = disk.path / "session"
    path.mkdir()
    journal = Journal.create(path / "journal.sqlite", SessionClock())
    assert journal.append(answer(1), Source.PARTICIPANT).wait(60.0)
    disk.fill()
    long = UnstampedEvent(NoteAdded("x" * 100_000, 0))
    waiting = journal.append(long, Source.MODERATOR)
    for number in range(50):
        journal.append(moved(number), Source.PARTICIPANT)
    wait_for(lambda: journal.failed is not None)
    assert "full" in (journal.failed or "")
    assert not waiting.wait(0.0)
    assert journal.committed_seq == 1
    assert isinstance(journal.problem(), JournalFull)
    disk.make_room()
    assert waiting.wait(60.0)
    assert journal.failed is None
    journal.close()
    assert [row.seq for row in read_rows(path)] == list(range(1, 53))


def test_closing_on_a_full_disk_says_what_is_stored(disk: SmallDisk) -> None:
    path = disk.path / "session"
    path.mkdir()
    journal = Journal.create(path / "journal.sqlite", SessionClock())
    assert journal.append(answer(1), Source.PARTICIPANT).wait(60.0)
    disk.fill()
    journal.append(UnstampedEvent(NoteAdded("x" * 100_000, 0)), Source.MODERATOR)
    with pytest.raises(JournalFull) as caught:
        journal.close()
    assert "1 events could not be stored" in caught.value.what
    assert "up to event 1" in caught.value.safe
    disk.make_room()
    assert [row.seq for row in read_rows(path)] == [1]


def test_the_writer_tries_again_when_the_file_cannot_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = module._connect
    refusals = [sqlite3.OperationalError("unable to open database file")] * 1

    def sometimes(path: Path, **more: bool) -> sqlite3.Connection:
        if threading.current_thread().name == "journal-writer" and refusals:
            raise refusals.pop()
        return connect(path, **more)

    monkeypatch.setattr(module, "_connect", sometimes)
    monkeypatch.setattr(module, "RETRY_S", 0.05)
    with Journal.create(tmp_path / "journal.sqlite", SessionClock()) as journal:
        assert journal.append(answer(1), Source.PARTICIPANT).wait(60.0)


def test_a_long_log_is_moved_into_the_database_between_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TIDY_EVENTS", 100)
    path = tmp_path / "journal.sqlite"
    with Journal.create(path, SessionClock()) as journal:
        empty = path.stat().st_size
        for number in range(300):
            journal.append(moved(number), Source.SYSTEM)
        journal.append(answer(1), Source.SYSTEM).wait(60.0)
        wait_for(lambda: path.stat().st_size > empty + 50_000)
        assert len(read_rows(tmp_path)) == 301, "readers see all of it meanwhile"


def test_a_closed_journal_takes_nothing_more(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path / "journal.sqlite", SessionClock())
    journal.append(moved(1), Source.SYSTEM)
    journal.close()
    journal.close()
    with pytest.raises(JournalError, match=r"closed; dial\.moved was not stored"):
        journal.append(moved(2), Source.SYSTEM)
    assert len(read_rows(tmp_path)) == 1


def test_every_append_that_got_in_before_the_end_is_stored(tmp_path: Path) -> None:
    for attempt in range(20 if EVERYTHING else 6):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        journal = Journal.create(folder / "journal.sqlite", SessionClock())
        stored = []

        def work(journal: Journal = journal, stored: list[int] = stored) -> None:
            try:
                while True:
                    stored.append(journal.append(moved(1), Source.SYSTEM).event.seq)
            except JournalError:
                return

        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(0.002)
        journal.close()
        thread.join()
        assert len(read_rows(folder)) == len(stored)


def test_reopening_goes_on_with_number_time_and_chain(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    clock = FakeClock(5)
    with Journal.create(path, clock) as journal:
        journal.append(moved(1), Source.SYSTEM)
        clock.set_ns(9_000)
        journal.append(answer(1), Source.SYSTEM)
    given: list[Event] = []

    def behind(last: Event) -> FakeClock:
        given.append(last)
        return FakeClock(3)  # a clock that was set back never makes time run back

    with Journal.reopen(path, behind) as journal:
        event = journal.append(moved(2), Source.SYSTEM).event
        assert (event.seq, event.segment, event.t_ns) == (3, 2, 9_000)
    (last,) = given
    assert (last.seq, last.kind, last.payload["item"]) == (2, "response.changed", "ease")
    rows = read_rows(tmp_path)
    assert [row.segment for row in rows] == [1, 1, 2]
    assert check_chain(rows) is None


def test_a_journal_is_never_made_over_another_file(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    path.write_bytes(b"something else")
    with pytest.raises(JournalError):
        Journal.create(path, SessionClock())
    assert path.read_bytes() == b"something else"
    with pytest.raises(JournalError):
        Journal.reopen(path, lambda last: SessionClock())
    with pytest.raises(JournalError):
        Journal.create(tmp_path / "nowhere" / "journal.sqlite", SessionClock())


def test_an_empty_journal_is_not_gone_on_with(tmp_path: Path) -> None:
    Journal.create(tmp_path / "journal.sqlite", SessionClock()).close()
    with pytest.raises(JournalError, match="holds no event"):
        Journal.reopen(tmp_path / "journal.sqlite", lambda last: SessionClock())


def test_subscribers_get_events_before_append_returns(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "journal.sqlite", SessionClock()) as journal:
        seen: list[int] = []
        journal.subscribe(lambda event: seen.append(event.seq))
        journal.append_all([moved(1), UnstampedEvent(WindowFocus(True))], Source.SYSTEM)
        assert seen == [1, 2]


def test_half_a_character_does_not_stop_the_journal(tmp_path: Path) -> None:
    """Some input methods hand over a character in two halves, which no file can hold."""
    with Journal.create(tmp_path / "journal.sqlite", SessionClock()) as journal:
        receipts = [
            journal.append(UnstampedEvent(NoteAdded(text, 0)), Source.MODERATOR)
            for text in ("half \ud83d", "two halves \ud83d\ude00", "whole 😀", "after")
        ]
        assert all(receipt.wait(60.0) for receipt in receipts)
    rows = read_rows(tmp_path)
    texts = [row.event().payload["text"] for row in rows]
    assert texts == ["half \ufffd", "two halves 😀", "whole 😀", "after"]
    assert check_chain(rows) is None


def test_what_no_reader_would_take_is_refused_before_it_is_stored(tmp_path: Path) -> None:
    """The longest that is stored is read, and what is longer leaves the journal as it was."""
    longest = LONGEST - module.REST_OF_A_ROW - len('{"text":"","typing_began_ns":0}')
    with Journal.create(tmp_path / "journal.sqlite", SessionClock()) as journal:
        journal.append(UnstampedEvent(NoteAdded("x" * longest, 0)), Source.MODERATOR)
        for text in ("x" * (longest + 1), "ü" * (longest // 2 + 1)):
            with pytest.raises(JournalError, match=r"note\.added has [0-9]+ bytes"):
                journal.append(UnstampedEvent(NoteAdded(text, 0)), Source.MODERATOR)
        journal.append(UnstampedEvent(NoteAdded("on", 0)), Source.MODERATOR)
    rows = read_rows(tmp_path)
    assert [len(row.payload) > 100 for row in rows] == [True, False]
    assert check_chain(rows) is None
