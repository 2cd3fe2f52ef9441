"""Reading a session's journal without leaving a trace in its folder.

SQLite in WAL mode makes files beside a database even when it only reads, so the way in depends on
the folder's state:

* a running session (its lock is held) is read through SQLite's own locks, read-only;
* a session that was killed has a `-wal` file that SQLite would have to recover: a copy of both
  files in a temporary folder is read instead;
* everything else is one finished file, opened as immutable.

Whether a session is open somewhere, without touching it. Rows of a journal as stored, wherever they
are stored. Turn any error from a damaged session into one that names the session.

Whether a journal is what was written: its order, segments and hash chain; and whether its file
holds nothing besides.

The hash chain covers the rows of `events`. Around them are looked at: tables, triggers, views,
indices and column types as `layout.SCHEMA` makes them, the rows of `meta`, the types of all values,
the settings in the file's header, and bytes behind the last page.

Also whether the events of a session fit its plan and each other. A value can have the right type
and still be impossible in a session: a dial that the model lacks, a question answered before it was
drawn, a part that the plan does not have. Readers look such things up, so they are checked once,
before anything is computed.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from labapp.base import discovery, leftovers
from labapp.base.errors import RecordError
from labapp.base.reading import files
from labapp.base.reading.values import json_value
from labapp.record.events import GENESIS, Event, Payload, payload_of, row_hash
from labapp.record.events.lifecycle import (
    PartEnded,
    PartLeftOut,
    PartRestarted,
    PartSkipped,
    PartStarted,
    SessionEnded,
    SessionPlanned,
    SessionReopened,
    SkipRequested,
)
from labapp.record.events.registry import find_kind, loose
from labapp.record.journal.layout import (
    COLUMNS,
    INTEGERS,
    JOURNAL,
    LOCK,
    OPTIONAL,
    SCHEMA,
    SCHEMA_VERSION,
    FolderName,
)

MOST_ROWS = 1_000_000
"""Events of a session. That of an hour has some 30,000."""
LONGEST = 8 * files.MIB
"""Bytes of a row. The longest, the plan of a session, has a tenth of one MiB."""
_TYPES = {
    name: {int if name in INTEGERS else str} | ({type(None)} if name in OPTIONAL else set())
    for name in COLUMNS
}
_TABLES = {
    "meta": {"key": "TEXT", "value": "TEXT"},
    "events": {name: "INTEGER" if name in INTEGERS else "TEXT" for name in COLUMNS},
}


@contextmanager
def open_journal(folder: Path, *, lenient: bool = False) -> Iterator[sqlite3.Connection]:
    """A read-only connection to the journal of the session folder `folder`.

    lenient: text that is not UTF-8 is shown with escapes instead of being refused (for checks
    that want to name the row). Raises RecordError, also for SQLite errors inside the `with`.
    """
    path = folder / JOURNAL
    if not files.is_file(path):
        if FolderName.parse(folder.name) is not None and folder.is_dir():
            todo = (
                "Look for a copy or an earlier bundle, and do not change what is there. If the "
                "participant withdraws, `labapp sessions withdraw` deletes it."
            )
        else:
            todo = "Give a session folder (its name begins with sub-) or a bundle."
        raise RecordError(f"There is no journal in {folder}.", todo=todo)
    try:
        with _connection(folder, path) as connection:
            if lenient:
                connection.text_factory = lambda text: text.decode("utf-8", "backslashreplace")
            _refuse_foreign(connection)
            _check_version(connection, path)
            yield connection
    except (sqlite3.Error, OSError, UnicodeDecodeError, MemoryError) as error:
        raise RecordError(
            f"The journal {path} is damaged or cannot be read ({error}).",
            safe="It was only read; nothing in the session folder was changed.",
            todo="Do not change the folder, and look for a copy of it or an earlier bundle.",
        ) from error


@contextmanager
def _connection(folder: Path, path: Path) -> Iterator[sqlite3.Connection]:
    wal = path.with_name(path.name + "-wal")
    if not files.is_file(wal) or not (wal.stat().st_size or is_locked(folder)):
        with closing(_connect(path, "mode=ro&immutable=1")) as connection:
            yield connection
    elif is_locked(folder):
        # Not by copying: closing a plain file handle would drop the locks that SQLite holds on
        # the journal when the writer is in this very process.
        with closing(_connect(path, "mode=ro")) as connection:
            yield connection
    else:
        with tempfile.TemporaryDirectory(prefix=leftovers.prefix("read")) as temporary:
            for source in (path, wal):
                shutil.copyfile(source, Path(temporary) / source.name)
            with closing(_connect(Path(temporary) / path.name, "mode=rw")) as connection:
                yield connection


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"{path.resolve().as_uri()}?{mode}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=5.0)
    # A value that is longer is refused by SQLite before any of it is read.
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cell_size_check=ON")
    return connection


def _refuse_foreign(connection: sqlite3.Connection) -> None:
    """A view or a reckoned column in place of a table could give rows without end.

    Raises sqlite3.DatabaseError if the columns are not those of `layout.SCHEMA`.
    """
    for table, columns in _TABLES.items():
        kinds = connection.execute(
            "SELECT type FROM sqlite_schema WHERE name = ? AND sql NOT LIKE 'CREATE VIRTUAL%'",
            (table,),
        ).fetchall()
        strict = connection.execute(f"PRAGMA table_list({table})").fetchone()
        fetchall = connection.execute(f"PRAGMA table_xinfo({table})").fetchall()
        types = {name: kind for _, name, kind, _, _, _, hidden in fetchall if not hidden}
        if kinds != [("table",)] or not strict or not strict[5] or types != columns:
            raise sqlite3.DatabaseError(f"the table {table} does not belong to a journal")


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    fetchone = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    if fetchone is None or fetchone[0] != str(SCHEMA_VERSION):
        raise RecordError(
            f"The journal {path} has schema version {fetchone and fetchone[0]}, but this "
            f"version of labapp reads {SCHEMA_VERSION}.",
            safe="It was only read; nothing was changed.",
            todo="Update labapp.",
        )


def read_rows(
    folder: Path, kinds: Sequence[str] | None = None, *, lenient: bool = False
) -> list[Row]:
    """The rows of a session folder's journal in their order; only some kinds if asked.

    Raises RecordError when there is no journal or it is damaged.
    """
    where = "" if kinds is None else f" WHERE kind IN ({', '.join('?' * len(kinds))})"
    with open_journal(folder, lenient=lenient) as connection:
        ordered = f"FROM events{where} ORDER BY seq LIMIT {MOST_ROWS + 1}"
        stored = connection.execute(f"SELECT {', '.join(COLUMNS)} {ordered}", kinds or ())
        rows = _rows(stored)
        if len(rows) > MOST_ROWS:
            raise sqlite3.DatabaseError(
                f"it contains more events than the {MOST_ROWS} that labapp reads"
            )
        return rows


def _rows(stored: Iterable[Sequence[Any]]) -> list[Row]:
    """The rows; of sources, kinds and parts, a few words in thousands of rows, each held once.

    By columns, whose loops are not in Python: an hour and a half has 30,000 rows.
    """
    columns = dict(zip(COLUMNS, zip(*stored, strict=True), strict=False))
    if not columns:
        return []
    for name, column in columns.items():
        # A flipped bit in the head of a stored row makes nothing of a number, or a number of a
        # text, which SQLite gives out although the column is declared otherwise.
        if not _TYPES[name].issuperset(map(type, column)):
            raise sqlite3.DatabaseError(f"the column {name} contains a value of the wrong kind")
    once: Callable[[Any, Any], Any] = {}.setdefault
    for name in ("source", "kind", "stage"):
        columns[name] = tuple(map(once, columns[name], columns[name]))
    return list(map(make_row, zip(*columns.values(), repeat(False))))


def extent(folder: Path) -> tuple[int, int]:
    """Number of events and session time of the last one in ns."""
    with open_journal(folder) as connection:
        count, last = connection.execute("SELECT count(*), max(t_ns) FROM events").fetchone()
        return int(count), int(last or 0)


def last_utc(folder: Path) -> str:
    """Wall clock of the last event, ISO 8601; empty for a journal without events."""
    with open_journal(folder) as connection:
        fetchone = connection.execute("SELECT utc FROM events ORDER BY seq DESC LIMIT 1").fetchone()
        return str(fetchone[0]) if fetchone else ""


if sys.platform == "win32":
    import msvcrt

    def _try(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try(descriptor: int) -> None:
        # flock belongs to the open file, so closing it here frees no lock of this process; the
        # writer's lock (filelock) is a flock too.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)


def is_locked(folder: Path) -> bool:
    """True while a process, this one included, holds the session's lock."""
    try:
        with files.open_file(folder / LOCK) as file:
            _try(file.fileno())
    except FileNotFoundError:
        return False
    except OSError:
        # Refused: somebody holds it. A lock file that cannot be read counts as held, which costs
        # no more than the slower way of reading.
        return True
    return False


ENVIRONMENT = "environment.recorded"

_event = partial(tuple.__new__, Event)
"""`Event._make` without a count of the items, which takes most of its time."""


_decode = msgspec.json.Decoder().decode


def _json(kind: str, text: str) -> Any:
    """The payload of a kind. Raises ValueError for what is no JSON or exceeds `json_value`.

    msgspec is six times as quick as `json_value`, which counts and measures what it reads. A kind
    whose fields all have types needs no such limits. msgspec refuses halves of characters and
    whole numbers of thousands of digits; what it refuses is read again.
    """
    payload = find_kind(kind)
    if payload is None or loose(payload):
        return json_value(text)
    try:
        return _decode(text)
    except (ValueError, RecursionError):
        return json_value(text)


class Row(NamedTuple):
    """A stored row: the columns of `layout.COLUMNS` in their order, and `redacted`.

    part_id: the column `stage`; payload: the stored text, verbatim; hash: as stored, not
    recomputed; redacted: true when the payload was reduced for a de-identified bundle.
    """

    seq: int
    segment: int
    t_ns: int
    utc: str
    source: str
    kind: str
    v: int
    part_id: str | None
    trial: int | None
    attempt: int | None
    payload: str
    hash: str
    redacted: bool = False

    def event(self) -> Event:
        """The row as an event. Raises RecordError when the payload is not a JSON object."""
        try:
            payload = _json(self.kind, self.payload)
        except ValueError as error:
            raise _unreadable(self, f"its payload is not JSON ({error})") from error
        if not isinstance(payload, dict):
            raise _unreadable(self, "its payload is not a JSON object")
        return _event((*self[:10], payload))

    def compute_hash(self, previous: str) -> str:
        """The hash this row should have after a row whose hash is `previous`."""
        return row_hash(previous, self, self.payload)


make_row = partial(tuple.__new__, Row)
"""`Row._make` without a count of the items, which takes most of its time."""


def payloads(rows: Iterable[Row]) -> Iterator[tuple[Event, Payload]]:
    """Events with their typed payloads, old versions migrated.

    Raises RecordError for a row that cannot be read: damaged, of a newer program, or of a task
    whose package is not installed.
    """
    environment: Mapping[str, Any] = {}
    for row in rows:
        event = row.event()
        if event.kind == ENVIRONMENT:
            environment = event.payload
        try:
            payload = payload_of(event)
        except (ValueError, KeyError) as error:
            raise _unreadable(row, str(error), missing_packages(environment)) from error
        yield event, payload


def missing_packages(payload: Mapping[str, Any]) -> str:
    """The packages that a session was recorded with and that are not here, as a sentence; empty
    if none is missing. payload: of its `environment.recorded`."""
    environment = payload.get("environment")
    return discovery.missing(environment.get("plugins") if isinstance(environment, dict) else None)


def _unreadable(row: Row, why: str, missing: str = "") -> RecordError:
    return RecordError(
        f"Event {row.seq} ({row.kind}) cannot be read: {why}.",
        safe="The record was only read; nothing was changed.",
        todo=f"{missing} Install it, then try again."
        if missing
        else "Run `labapp sessions verify` on it; if it is undamaged, it was written by a "
        "newer version of labapp, so update labapp.",
    )


_UNFORESEEN = (
    ValueError, TypeError, LookupError, ArithmeticError, AttributeError, AssertionError,
    RecursionError, MemoryError,
)  # fmt: skip


@contextmanager
def readable(source: str) -> Iterator[None]:
    """Raise as a RecordError, which names the session, what goes wrong in reading it; and put the
    name before a RecordError that lacks it, such as of a single row. source: the session.

    What a damaged session can hold is looked for before (`records.plausible`); this is for the
    rest, so that one session is one error and never the end of all.
    """
    try:
        yield
    except RecordError as error:
        if Path(source).name in error.what:
            raise
        raise RecordError(
            f"{source}: {error.what}", safe=error.safe, todo=error.todo, faults=error.faults
        ) from error
    except _UNFORESEEN as error:
        first = (str(error).strip().splitlines() or [""])[0]
        raise RecordError(
            f"{source} contains something that does not occur in sessions, so it cannot be read "
            f"({type(error).__name__}: {first[:200]}).",
            safe="It was only read; nothing was changed.",
            todo="Check it with `labapp sessions verify`, and leave it out for now. If it is "
            "undamaged, this is a fault in labapp: keep the session, and report it to the "
            "person who maintains labapp.",
        ) from error


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not as it was written. place: a file, and the event if there is one."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


Pairs = Iterable[tuple[Event, Payload]]


def check_journal(folder: Path) -> list[Problem]:
    """Check the journal of a session folder; empty when it is whole.

    Raises RecordError when it cannot be read at all.
    """
    with open_journal(folder, lenient=True) as connection:
        unreadable = _values(connection)
    problems = check_database(folder)
    if unreadable:
        # Such a row was named already; nothing may be computed from it.
        return problems
    return problems + check_rows(read_rows(folder, lenient=True), JOURNAL)


def check_database(folder: Path) -> list[Problem]:
    """Check the file around the rows of a journal; see `check_journal`."""
    with open_journal(folder, lenient=True) as connection:
        fetchall = connection.execute("PRAGMA integrity_check(20)").fetchall()
        damage = [f"SQLite finds {text}" for (text,) in fetchall if text != "ok"]
        damage += [*_objects(connection), *_settings(connection)]
        if not any(what.startswith("the table") for what in damage):
            damage += [*_meta(connection), *_values(connection)]
        damage += _length(connection, folder)
    return [Problem(JOURNAL, what) for what in damage]


def check_rows(
    rows: Sequence[Row], place: str, follow: Callable[[Pairs], object] | None = None
) -> list[Problem]:
    """Check rows in the order they are stored in, in one walk.

    Parameters
    ----------
    rows : all of a journal.
    place : names the file in the problems.
    follow : receives the events during the walk, up to the first that cannot be read or cannot be;
        it is not called for rows that are out of order or changed.
    """
    if not rows:
        return [Problem(place, "it holds no event")]
    problems = [*_order(rows), *_chain(rows), *_segments(rows)]
    unfit: list[tuple[int, str]] = []
    events = _read(rows, problems, unfit)
    if follow is not None and not problems:
        follow(events)
    for _ in events:
        """What nobody followed is read as well."""
    # Consequences of other damage are left out, or they would be repeated for each event.
    return [Problem(f"{place}, event {seq}", what) for seq, what in sorted(problems or unfit)]


def check_chain(rows: Sequence[Row]) -> str | None:
    """The first break of order or hash chain, in words; None when there is none. Quicker than
    `check_rows`, which reads every payload besides."""
    first = min([*_order(rows), *_chain(rows)], default=None)
    return None if first is None else f"event {first[0]}: {first[1]}"


def _order(rows: Sequence[Row]) -> Iterator[tuple[int, str]]:
    expected, time = 1, 0
    for row in rows:
        if row.seq > expected:
            several = f"events {expected} to {row.seq - 1} are missing"
            gap = f"event {expected} is missing" if row.seq == expected + 1 else several
            yield row.seq, f"a gap: {gap} before it"
        elif row.seq < expected:
            yield row.seq, f"out of order: event {expected} was expected"
        expected = row.seq + 1
        if row.t_ns < time:
            yield (
                row.seq,
                f"its time of {row.t_ns} ns is before the {time} ns of the previous event",
            )
        time = row.t_ns


def _chain(rows: Sequence[Row]) -> Iterator[tuple[int, str]]:
    """One problem a damaged row: after it, the chain goes on from the hash it has stored."""
    previous, expected = GENESIS, 1
    for row in rows:
        # After a gap the row before is not there to check against; the gap is named already.
        if row.seq == expected and row.compute_hash(previous) != row.hash:
            yield row.seq, f"the hash chain is broken: this row ({row.kind}) was changed"
        previous, expected = row.hash, row.seq + 1


def _segments(rows: Sequence[Row]) -> Iterator[tuple[int, str]]:
    if rows[0].seq == 1 and rows[0].kind != "session.planned":
        yield 1, f"the first event is {rows[0].kind}, not session.planned"
    segment = 1
    for row in rows:
        if row.segment == segment:
            continue
        if row.segment != segment + 1 or row.kind != "segment.started":
            yield row.seq, f"segment {row.segment} follows segment {segment} with {row.kind}"
        segment = row.segment


def _read(
    rows: Sequence[Row], problems: list[tuple[int, str]], unfit: list[tuple[int, str]]
) -> Iterator[tuple[Event, Payload]]:
    """The events of rows, as long as nothing is wrong.

    problems takes in which rows cannot be read although their hash may be right, the first of them
    with the packages that are missing; unfit which events a session cannot have.
    """
    recorded: Row | None = None
    told = False
    check = PlausibilityCheck()
    for row in rows:
        if row.kind == ENVIRONMENT:
            recorded = row
        try:
            event, payload = next(payloads((row,)))
        except RecordError as error:
            missing = "" if told or recorded is None else _missing(recorded)
            told = True
            problems.append((row.seq, f"{error.what} {missing}".strip()))
            continue
        if problems:
            continue
        if why := check.problem(event, payload):
            unfit.append((row.seq, f"{row.kind} cannot be: {why}"))
        elif not unfit:
            yield event, payload


def _missing(recorded: Row) -> str:
    try:
        return missing_packages(recorded.event().payload)
    except RecordError:  # it is told of by itself
        return ""


_META = {"schema_version": str(SCHEMA_VERSION)}
_SETTINGS = {"user_version": 0, "application_id": 0, "encoding": "UTF-8", "auto_vacuum": 0}
_SHOWN = 5
_Objects = dict[tuple[str, str], str | None]


def _values(connection: sqlite3.Connection) -> list[str]:
    """Values whose type is not their column's, which nothing can be computed from."""
    wrong = " OR ".join(
        f"typeof({name}) NOT IN ('{'integer' if name in INTEGERS else 'text'}'"
        f"{', ' + repr('null') if name in OPTIONAL else ''})"
        for name in COLUMNS
    )
    rows = connection.execute(f"SELECT seq FROM events WHERE {wrong} LIMIT {_SHOWN}")
    return [f"row {row[0]} contains a value of a different type than its column" for row in rows]


@cache
def _read_expected_objects() -> _Objects:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA)
        return _read_stored_objects(connection)


def _read_stored_objects(connection: sqlite3.Connection) -> _Objects:
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    return {(str(kind), f"{name}"): f"{table}: {sql}" for kind, name, table, sql in rows}


def _objects(connection: sqlite3.Connection) -> Iterator[str]:
    there, expected = _read_stored_objects(connection), _read_expected_objects()
    for kind, name in sorted(expected.keys() - there.keys()):
        yield f"the {kind} {name} is missing"
    for kind, name in sorted(there.keys() - expected.keys()):
        yield f"{'an' if kind[0] in 'aeiou' else 'a'} {kind} {name!r} was added"
    for kind, name in sorted(there.keys() & expected.keys()):
        if there[kind, name] != expected[kind, name]:
            yield f"the {kind} {name} was changed: its columns do not match those of a journal"


def _settings(connection: sqlite3.Connection) -> Iterator[str]:
    for name, value in _SETTINGS.items():
        now = connection.execute(f"PRAGMA {name}").fetchone()[0]
        if now != value:
            yield f"its setting {name} is now {now}, but was {value}"


def _meta(connection: sqlite3.Connection) -> Iterator[str]:
    rows = dict(connection.execute("SELECT key, value FROM meta"))
    for key in sorted(rows.keys() - _META.keys(), key=str):
        yield f"meta has a row {key!r} that labapp does not write"
    for key, value in _META.items():
        if rows.get(key) != value:
            yield f"meta has {key} {rows.get(key)!r}, but it was {value!r}"


def _length(connection: sqlite3.Connection, folder: Path) -> Iterator[str]:
    """Bytes behind the database, which SQLite passes over; while it has a write-ahead log its
    length is not final."""
    path = folder / JOURNAL
    wal = path.with_name(f"{JOURNAL}-wal")
    if wal.exists() and wal.stat().st_size:
        return
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    size = pages * connection.execute("PRAGMA page_size").fetchone()[0]
    if (beyond := path.stat().st_size - size) > 0:
        yield f"{beyond} bytes were added after the end of the database"


NAMES = {
    "study": re.compile(r"[a-z0-9]+(-[a-z0-9]+)*"),
    "participant": re.compile(r"[A-Za-z0-9]+"),
    "session": re.compile(r"[A-Za-z0-9]+"),
}

Key = tuple[str | None, int | None, int | None]


def plausible(events: Iterable[tuple[Event, Payload]]) -> Iterator[tuple[Event, Payload]]:
    """The same events. Raises RecordError at the first that a session cannot have."""
    check = PlausibilityCheck()
    drawn = check.drawn
    for pair in events:
        event, payload = pair
        # Half of all events have nothing to look up; this saves a call for each.
        if payload.unchecked and event[7:10] in drawn:
            yield pair
            continue
        if why := check.problem(event, payload):
            raise RecordError(
                f"Event {event.seq} ({event.kind}) is impossible: {why}.",
                safe="The record was only read; nothing was changed.",
                todo="The journal is damaged, or it was changed or created by another program. "
                "`labapp sessions verify` shows more. Use another copy of it, and leave "
                "the session out until then.",
            )
        yield pair


@dataclass
class PlausibilityCheck:
    """What is known at a place in the journal. parts: rows of the plan by id, in its order; drawn:
    the trials so far; ends: the ends that can be taken back, by seq."""

    parts: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    drawn: set[Key] = field(default_factory=set)
    ends: set[int] = field(default_factory=set)

    def problem(self, event: Event, payload: Payload) -> str:
        """Why the event cannot be, empty if it can; it is taken in."""
        part_id = event[7]
        if payload.of_trial and event[7:10] in self.drawn:  # nearly all of them
            return "" if payload.unchecked else payload.misfit(self.parts[part_id or ""])
        if isinstance(payload, SessionPlanned):
            return self._check_plan(event, payload)
        if part_id is not None and part_id not in self.parts:
            return f"the plan has no part {part_id!r}"
        if payload.of_trial:
            return f"no question {event.trial} (attempt {event.attempt}) of {part_id!r} was drawn"
        match payload:
            case PartStarted() | PartEnded() | PartRestarted() | PartSkipped() | PartLeftOut():
                if payload.index >= len(self.order):  # its id is what readers go by
                    return f"the plan has no part with the index {payload.index}"
            case SkipRequested(index=index):
                if index >= len(self.order) or self.order[index] != part_id:
                    return f"the part with the index {index} of the plan is not {part_id!r}"
            case SessionEnded():
                self.ends.add(event.seq)
            case SessionReopened() if payload.seq not in self.ends:
                return f"event {payload.seq} is not an end that can be undone"
        if payload.begins and (why := self._draw(event, payload)):
            return why
        return payload.misfit(self.parts.get(part_id or "", {}))

    def _check_plan(self, event: Event, payload: SessionPlanned) -> str:
        if event.seq != 1 or self.parts:
            return "a session is planned once, at its beginning"
        for what, pattern in NAMES.items():
            label = getattr(payload, what)
            if not pattern.fullmatch(label):  # they are part of file names
                return f"{label[:60]!r} is not the name of a {what}"
        for row in payload.plan:
            name, kind = row.get("id"), row.get("part")
            if not isinstance(name, str) or not isinstance(kind, str) or name in self.parts:
                return "a part of its plan has no id of its own, or does not state its kind"
            self.parts[name] = row
            self.order.append(name)
            if not _has_dials(row):
                return f"the dials of the part {name!r} are none"
        return ""

    def _draw(self, event: Event, payload: Payload) -> str:
        part_id, trial, attempt = event.key
        if part_id is None or trial is None or attempt is None or trial < 1 or attempt < 1:
            return f"it does not belong to a question ({part_id}, {trial}, {attempt})"
        kind = self.parts[part_id]["part"]
        if kind not in payload.begins:
            return f"the part {part_id!r} of the plan has no such questions: it is {kind!r}"
        self.drawn.add(event.key)
        return ""


def _has_dials(row: Mapping[str, Any]) -> bool:
    """Whether the dials of a part are objects, those of its pieces too, if it has any."""
    if not _are_objects(row.get("dimensions", ())):
        return False
    pieces = (piece for value in row.values() if _are_objects(value) for piece in value)
    return all(_are_objects(piece.get("dimensions", ())) for piece in pieces)


def _are_objects(rows: Any) -> bool:
    return isinstance(rows, list | tuple) and all(isinstance(row, dict) for row in rows)
