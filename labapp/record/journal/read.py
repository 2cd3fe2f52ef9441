"""Reading a session's journal without leaving a trace in its folder.

SQLite in WAL mode makes files beside a database even when it only reads, so the way in depends on
the folder's state:

* a running session (its lock is held) is read through SQLite's own locks, read-only;
* a session that was killed has a `-wal` file that SQLite would have to recover: a copy of both
  files in a temporary folder is read instead;
* everything else is one finished file, opened as immutable.

Whether a session is open somewhere, without touching it. Rows of a journal as stored, wherever they
are stored. Turn any error from a damaged session into one that names the session.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from labapp.base import discovery, leftovers
from labapp.base.errors import RecordError
from labapp.base.reading import files
from labapp.base.reading.values import json_value
from labapp.record.events import Event, Payload, payload_of, row_hash
from labapp.record.events.registry import known
from labapp.record.events.types import loose
from labapp.record.journal.layout import (
    COLUMNS,
    INTEGERS,
    JOURNAL,
    LOCK,
    OPTIONAL,
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
def opened(folder: Path, *, lenient: bool = False) -> Iterator[sqlite3.Connection]:
    """A read-only connection to the journal of the session folder `folder`.

    lenient: text that is not UTF-8 is shown with escapes instead of being refused (for checks
    that want to name the row). Raises RecordError, also for SQLite errors inside the `with`.
    """
    path = folder / JOURNAL
    if not files.is_file(path):
        if FolderName.parse(folder.name) is not None and folder.is_dir():
            todo = (
                "Look for a copy, or a bundle made earlier, and leave what is there as it is. "
                "Should the participant withdraw, `labapp sessions withdraw` deletes it."
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
            todo="Keep the folder as it is, and look for a copy of it or a bundle made earlier.",
        ) from error


@contextmanager
def _connection(folder: Path, path: Path) -> Iterator[sqlite3.Connection]:
    wal = path.with_name(path.name + "-wal")
    if not files.is_file(wal) or not (wal.stat().st_size or held(folder)):
        with closing(_connect(path, "mode=ro&immutable=1")) as connection:
            yield connection
    elif held(folder):
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

    Raises sqlite3.DatabaseError where the columns are not those of `layout.SCHEMA`.
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
            raise sqlite3.DatabaseError(f"the table {table} is not that of a journal")


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    fetchone = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    if fetchone is None or fetchone[0] != str(SCHEMA_VERSION):
        raise RecordError(
            f"The journal {path} has schema version {fetchone and fetchone[0]}; this program reads "
            f"{SCHEMA_VERSION}.",
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
    with opened(folder, lenient=lenient) as connection:
        ordered = f"FROM events{where} ORDER BY seq LIMIT {MOST_ROWS + 1}"
        stored = connection.execute(f"SELECT {', '.join(COLUMNS)} {ordered}", kinds or ())
        rows = _rows(stored)
        if len(rows) > MOST_ROWS:
            raise sqlite3.DatabaseError(f"it holds more events than the {MOST_ROWS} that are read")
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
            raise sqlite3.DatabaseError(f"the column {name} holds a value that is none of its kind")
    once: Callable[[Any, Any], Any] = {}.setdefault
    for name in ("source", "kind", "stage"):
        columns[name] = tuple(map(once, columns[name], columns[name]))
    return list(map(make_row, zip(*columns.values(), repeat(False))))


def extent(folder: Path) -> tuple[int, int]:
    """Number of events and session time of the last one in ns."""
    with opened(folder) as connection:
        count, last = connection.execute("SELECT count(*), max(t_ns) FROM events").fetchone()
        return int(count), int(last or 0)


def last_utc(folder: Path) -> str:
    """Wall clock of the last event, ISO 8601; empty for a journal without events."""
    with opened(folder) as connection:
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


def held(folder: Path) -> bool:
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
    payload = known(kind)
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

    def chained(self, previous: str) -> str:
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
    where none is missing. payload: of its `environment.recorded`."""
    environment = payload.get("environment")
    return discovery.missing(environment.get("plugins") if isinstance(environment, dict) else None)


def _unreadable(row: Row, why: str, missing: str = "") -> RecordError:
    return RecordError(
        f"Event {row.seq} ({row.kind}) cannot be read: {why}.",
        safe="The record was only read; nothing was changed.",
        todo=f"{missing} Install it, then try again."
        if missing
        else "Run `labapp sessions verify` on it; if it is whole, a newer labapp wrote it: update.",
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
            f"{source} holds what no session has, and cannot be read "
            f"({type(error).__name__}: {first[:200]}).",
            safe="It was only read; nothing was changed.",
            todo="Look at it with `labapp sessions verify`, and leave it out until then. If that "
            "finds it whole, this is a mistake in labapp: keep the session, and tell who looks "
            "after the program.",
        ) from error
