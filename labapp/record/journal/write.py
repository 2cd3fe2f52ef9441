"""The journal: the one place a session is kept.

`append` stamps an event under one lock in the caller's thread, publishes it at once and hands it
to the one writer thread. What was decided together is appended together (`append_all`) and
committed in one transaction: a crash leaves all of it or none. Durable kinds are committed at once
(WAL, synchronous=FULL) and their receipt tells when; all others are committed with the next batch,
at most 250 ms later. When the disk is full or gone, nothing is dropped: rows wait in order in
memory, `failed` says why, and the writer tries again every second.
"""

from __future__ import annotations

import errno
import shutil
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from labapp.base.clock import Clock, FakeClock, utc_text
from labapp.base.errors import JournalError, JournalFull
from labapp.base.reading.values import json_value
from labapp.record.events import (
    GENESIS,
    Event,
    Payload,
    Source,
    UnstampedEvent,
    payloads_of,
    row_hash,
)
from labapp.record.events.lifecycle import SessionPlanned
from labapp.record.events.registry import payload_text, problem
from labapp.record.journal.layout import COLUMNS, SCHEMA, SCHEMA_VERSION
from labapp.record.journal.read import LONGEST

BATCH_S = 0.2
"""Pause between two batches; with the commit itself nothing waits longer than 250 ms."""
RETRY_S = 1.0
COMMIT_TIMEOUT_S = 5.0
DISK_FULL = "the disk is full"
NO_ROOM_BYTES = 64 * 1024
TIDY_EVENTS = 5000
REST_OF_A_ROW = 64 * 1024
"""Bytes of a row besides its payload, at most."""

Subscriber = Callable[[Event], None]
Moment = tuple[int, Payload, Source]
"""Something that happened: its session time in ns, what it was, and who caused it."""
_INSERT = f"INSERT INTO events ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"


class Receipt:
    """Tells when an event is on disk."""

    __slots__ = ("_committed", "event")

    def __init__(self, event: Event, committed: threading.Event) -> None:
        self.event = event
        self._committed = committed

    def wait(self, timeout_s: float) -> bool:
        """True once committed; False when that took longer than timeout_s."""
        committed = self._committed
        return committed is _AT_ONCE or committed.is_set() or committed.wait(timeout_s)


class Journal:
    """An open journal of one session; one instance a process, one process a session."""

    def __init__(
        self,
        path: Path,
        clock: Clock,
        segment: int,
        last: Event | None,
        head: str,
        *,
        fsync_on_commit: bool = True,
    ):
        self.path = path
        self.clock = clock
        self._fsync_on_commit = fsync_on_commit
        self.segment = segment
        self._head = head
        self._seq = last.seq if last else 0
        self._t_ns = last.t_ns if last else 0
        self._lock = threading.Lock()
        self._wake = threading.Condition(threading.Lock())
        self._pending: list[tuple[Event, str, threading.Event | None]] = []
        self._urgent = False
        self._closing = False
        self.failed: str | None = None
        """Why rows are waiting in memory, or None while all is well."""
        self.committed_seq = self._seq
        self._committed_ns = self._t_ns
        self._tidied_seq = self._seq
        self._subscribers: list[Subscriber] = []
        self._writer = threading.Thread(target=self._run, name="journal-writer", daemon=True)
        self._writer.start()

    @classmethod
    def create(cls, path: Path, clock: Clock, *, fsync_on_commit: bool = True) -> Journal:
        """A new journal; the file must not exist. Raises JournalError when it cannot be made.

        fsync_on_commit: whether a commit waits until it would outlast a power cut. A simulation on
        a virtual clock can be repeated and need not wait.
        """
        # Made under another name and put in its place whole: a program that looks at the folder
        # at this moment finds no journal rather than half of one.
        partial = path.with_suffix(".partial")
        try:
            if path.exists():
                raise FileExistsError(errno.EEXIST, "it is there already")
            partial.touch(exist_ok=False)
            with closing(_connect(partial)) as connection:
                connection.executescript(SCHEMA)
                connection.execute(
                    "INSERT INTO meta VALUES ('schema_version', ?)", (str(SCHEMA_VERSION),)
                )
            partial.rename(path)
        except (OSError, sqlite3.Error) as error:
            raise storage_error(path, error) from error
        return cls(path, clock, 1, None, GENESIS, fsync_on_commit=fsync_on_commit)

    @classmethod
    def reopen(
        cls, path: Path, clock_from: Callable[[Event], Clock], *, fsync_on_commit: bool = True
    ) -> Journal:
        """Go on with a journal in a new segment, or in its first if it holds only the plan.

        clock_from: makes the clock that continues after the last event; fsync_on_commit: see
        `create`. The caller has checked the journal (see session.recovery). Raises JournalError
        when it cannot be opened.
        """
        try:
            with closing(_connect(path)) as connection:
                row = connection.execute(
                    f"SELECT {', '.join(COLUMNS)} FROM events ORDER BY seq DESC LIMIT 1"
                ).fetchone()
        except sqlite3.Error as error:
            raise storage_error(path, error) from error
        if row is None:
            raise JournalError(f"{path} holds no event.", todo="Start the session again.")
        last = Event(*(*row[:10], json_value(row[10])))
        segment = last.segment + (last.kind != SessionPlanned.kind)
        return cls(path, clock_from(last), segment, last, row[11], fsync_on_commit=fsync_on_commit)

    def subscribe(self, subscriber: Subscriber) -> None:
        """Call with every event, in order, in the thread that appends it, before `append` returns.

        Subscribers must be quick and must not append from inside the call.
        """
        self._subscribers.append(subscriber)

    def subscribe_from(self, subscriber: Subscriber) -> int:
        """As `subscribe`. Returns the number of the last event that it is not called with."""
        with self._lock:
            self._subscribers.append(subscriber)
            return self._seq

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """Call it no more; harmless if it is not subscribed."""
        with self._lock, suppress(ValueError):
            self._subscribers.remove(subscriber)

    def append(self, unstamped: UnstampedEvent, source: Source) -> Receipt:
        """Stamp, publish and queue an event. Raises JournalError once the journal is closed, and
        for an event that could not be read again: one that is too long, or with a value of another
        type."""
        return self.append_all((unstamped,), source)[0]

    def append_run(
        self, run: Sequence[Moment], trial: tuple[str, int, int], clock: FakeClock
    ) -> None:
        """As `append`, for what happened one after the other in a trial. clock: the journal's."""
        for at_ns, payload, source in run:
            clock.set_ns(at_ns)
            self.append(UnstampedEvent(payload, *trial), source)

    def append_all(self, events: Sequence[UnstampedEvent], source: Source) -> list[Receipt]:
        """As `append`, for events that belong together: no other event comes between them, and a
        crash leaves all of them or none."""
        # Encoded before the first is stamped: a value that cannot be stored fails its caller, not
        # half of what belongs together.
        stored = [unstamped.payload.as_dict() for unstamped in events]
        texts = [payload_text(fields) for fields in stored]
        for unstamped, text in zip(events, texts, strict=True):
            _refuse_unreadable(unstamped, text)
            _refuse_long(unstamped, text)
        receipts = []
        urgent = False
        with self._lock:
            if self._closing:
                raise JournalError(
                    f"The journal is closed; {events[0].payload.kind} was not stored.",
                    safe="Everything up to the end of the session is stored.",
                )
            for unstamped, fields, text in zip(events, stored, texts, strict=True):
                event = self._stamp(unstamped, fields, source)
                committed = threading.Event() if unstamped.payload.durable else None
                urgent |= committed is not None
                self._pending.append((event, text, committed))
                receipts.append(Receipt(event, committed or _AT_ONCE))
            for receipt in receipts:
                for subscriber in self._subscribers:
                    subscriber(receipt.event)
        if urgent:
            with self._wake:
                self._urgent = True
                self._wake.notify()
        return receipts

    def _stamp(self, unstamped: UnstampedEvent, fields: dict[str, Any], source: Source) -> Event:
        self._seq += 1
        self._t_ns = max(self._t_ns, self.clock.now_ns())
        payload = unstamped.payload
        return Event(
            self._seq,
            self.segment,
            self._t_ns,
            self._utc(),
            source.value,
            payload.kind,
            payload.version,
            unstamped.part_id,
            unstamped.trial,
            unstamped.attempt,
            fields,
        )

    def _utc(self) -> str:
        return utc_text(self.clock.utc())

    def problem(self) -> JournalError:
        """The error to raise when events cannot be stored."""
        return _error(self.path, self.failed or "the disk does not respond")

    @property
    def saved_ago_s(self) -> float:
        """Session seconds since the last commit (0 when nothing waits)."""
        if not self._pending:
            return 0.0
        return max(0.0, (self.clock.now_ns() - self._committed_ns) / 1e9)

    def close(self, timeout_s: float = COMMIT_TIMEOUT_S) -> None:
        """Write what waits and join the writer. Raises JournalError (JournalFull when the disk is
        full) when that is not possible."""
        # Under the lock of `append`: what was let in before is written, and nothing comes after.
        with self._lock:
            self._closing = True
        with self._wake:
            self._urgent = True
            self._wake.notify()
        self._writer.join(timeout_s)
        if self._writer.is_alive() or self._pending:
            kind = JournalFull if self.failed == DISK_FULL else JournalError
            raise kind(
                f"{len(self._pending)} events could not be stored in {self.path}"
                + (f" ({self.failed})." if self.failed else "."),
                safe=f"Everything up to event {self.committed_seq} is stored.",
                todo="Free some space on the disk; `labapp sessions recover` shows what is stored.",
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _run(self) -> None:
        connection: sqlite3.Connection | None = None
        while True:
            with self._wake:
                if not self._urgent:
                    self._wake.wait(BATCH_S)
                self._urgent = False
                closing = self._closing
            try:
                connection = connection or _connect(
                    self.path, checkpoints=False, fsync_on_commit=self._fsync_on_commit
                )
                self._commit(connection)
                self.failed = None
                self._tidy(connection)
            except sqlite3.Error as error:
                self.failed = _reason(self.path, error)
            if closing:
                break
            if self.failed is not None:
                with self._wake:
                    self._wake.wait_for(lambda: self._closing, RETRY_S)
                    self._urgent = True
        if connection is not None:
            connection.close()

    def _commit(self, connection: sqlite3.Connection) -> None:
        """Commit all that waits. Raises sqlite3.Error when the disk refuses; all of it waits on."""
        with self._lock:
            batch = list(self._pending)
        if not batch:
            return
        rows = []
        head = self._head
        for event, text, _ in batch:
            head = row_hash(head, event, text)
            rows.append((*event[:10], text, head))
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(_INSERT, rows)
            connection.execute("COMMIT")
        except sqlite3.Error:
            if connection.in_transaction:
                connection.rollback()
            raise
        self._head = head
        self.committed_seq = batch[-1][0].seq
        self._committed_ns = self.clock.now_ns()
        with self._lock:
            del self._pending[: len(batch)]
        for _, _, committed in batch:
            if committed is not None:
                committed.set()

    def _tidy(self, connection: sqlite3.Connection) -> None:
        """Move a long write-ahead log into the database, while nobody waits for a commit."""
        if self.committed_seq - self._tidied_seq >= TIDY_EVENTS:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
            self._tidied_seq = self.committed_seq


class MemoryJournal(Journal):
    """A journal in memory, for simulations whose files are not needed.

    It has no thread. `payloads` checks that each value has the type its kind declares.
    """

    clock: FakeClock

    def __init__(self, clock: FakeClock, segment: int = 1) -> None:
        self.clock = clock
        self.segment = segment
        self.failed = None
        self.events: list[Event] = []
        self._seq = self._t_ns = 0
        self._text: tuple[int, str] = (-1, "")

    def append(self, unstamped: UnstampedEvent, source: Source) -> Receipt:
        event = self._stamp(unstamped, unstamped.payload.as_dict(), source)
        self.events.append(event)
        return Receipt(event, _AT_ONCE)

    def append_all(self, events: Sequence[UnstampedEvent], source: Source) -> list[Receipt]:
        return [self.append(each, source) for each in events]

    def append_run(
        self, run: Sequence[Moment], trial: tuple[str, int, int], clock: FakeClock
    ) -> None:
        """In half the time that it takes one by one; nearly all events of a session come so."""
        for self._t_ns, payload, source in run:
            if self._text[0] != self._t_ns:
                clock.set_ns(self._t_ns)
                self._text = self._t_ns, clock.utc_text()
            self._seq += 1
            stamp = (self._seq, self.segment, *self._text, source.value)
            kind = (payload.kind, payload.version, *trial)
            self.events.append(Event(*stamp, *kind, payload.as_dict()))

    def _utc(self) -> str:
        """The clock stands still during a command, so the text is reused."""
        if self._text[0] != self._t_ns:
            self._text = self._t_ns, self.clock.utc_text()
        return self._text[1]

    def payloads(self) -> list[tuple[Event, Payload]]:
        """The events with their payloads, as they would be read from a file. Raises ValueError."""
        events = [
            event
            if _FLAT.issuperset(map(type, event.payload.values()))
            else event._replace(payload=json_value(payload_text(event.payload)))
            for event in self.events
        ]
        return list(zip(events, payloads_of(events), strict=True))

    def close(self, timeout_s: float = COMMIT_TIMEOUT_S) -> None:
        """There is nothing to write."""


def _refuse_unreadable(unstamped: UnstampedEvent, text: str) -> None:
    """Raises JournalError for an event with a value of another type than its kind says: no reader
    would take it, and none the journal."""
    payload = type(unstamped.payload)
    try:
        msgspec.json.decode(text, type=payload)
    except msgspec.ValidationError as error:
        why = problem(payload, json_value(text)) or error
        raise JournalError(
            f"The event {payload.kind} was not stored: {why}.",
            safe="Everything before this is stored.",
            todo="This is an error in labapp or in the package of a task. Please report it.",
        ) from error


def _refuse_long(unstamped: UnstampedEvent, text: str) -> None:
    """Raises JournalError for an event that no reader would take."""
    if 4 * len(text) > LONGEST and (size := len(text.encode())) > LONGEST - REST_OF_A_ROW:
        raise JournalError(
            f"The event {unstamped.payload.kind} has {size} bytes, but events in a journal can "
            f"have at most {LONGEST - REST_OF_A_ROW}, so it was not stored.",
            safe="Everything before this is stored.",
            todo="If this event is the plan of a session, use fewer questions or smaller "
            "stimulus sets in the study.",
        )


_FLAT = frozenset({int, float, str, bool, type(None)})
_AT_ONCE = threading.Event()
_AT_ONCE.set()


def _connect(
    path: Path, *, checkpoints: bool = True, fsync_on_commit: bool = True
) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5.0)
    connection.execute("PRAGMA journal_mode=WAL")
    # NORMAL leaves out the sync after each commit; with a write-ahead log the file stays whole.
    connection.execute(f"PRAGMA synchronous={'FULL' if fsync_on_commit else 'NORMAL'}")
    if not checkpoints:
        connection.execute("PRAGMA wal_autocheckpoint=0")
    return connection


def storage_error(path: Path, error: Exception) -> JournalError:
    """The fitting error for a refused write."""
    return _error(path, _reason(path, error))


def _reason(path: Path, error: Exception) -> str:
    """Why a write was refused. SQLite calls a disk full only if it meets that while writing a
    page; elsewhere (its shared memory) it says "disk I/O error"."""
    full = "full" in str(error) or getattr(error, "errno", None) == errno.ENOSPC
    with suppress(OSError):
        full = full or shutil.disk_usage(path.parent).free < NO_ROOM_BYTES
    return DISK_FULL if full else str(error)


def _error(path: Path, reason: str) -> JournalError:
    full = reason == DISK_FULL
    kind = JournalFull if full else JournalError
    what = "The disk is full" if full else f"labapp cannot write to the journal ({reason})"
    return kind(
        f"{what}: {path}.",
        safe="Nothing that was recorded before is lost.",
        todo="Free some space on this disk, or choose another data folder (--data), then start "
        "again."
        if full
        else "Choose another data folder (--data), then start again.",
    )
