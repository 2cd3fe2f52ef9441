"""Whether a journal is what was written: its order, segments and hash chain; and whether its file
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
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from labapp.base.errors import RecordError
from labapp.record.events import GENESIS, Event, Payload
from labapp.record.events.lifecycle import (
    PartEnded,
    PartRestarted,
    PartSkipped,
    PartStarted,
    SessionEnded,
    SessionPlanned,
    SessionReopened,
    SkipRequested,
)
from labapp.record.journal.layout import (
    COLUMNS,
    INTEGERS,
    JOURNAL,
    OPTIONAL,
    SCHEMA,
    SCHEMA_VERSION,
)
from labapp.record.journal.read import (
    ENVIRONMENT,
    Row,
    missing_packages,
    opened,
    payloads,
    read_rows,
)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not as it was written. place: a file, and the event where there is one."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


Pairs = Iterable[tuple[Event, Payload]]


def check_journal(folder: Path) -> list[Problem]:
    """Check the journal of a session folder; empty when it is whole.

    Raises RecordError when it cannot be read at all.
    """
    with opened(folder, lenient=True) as connection:
        unreadable = _values(connection)
    problems = check_database(folder)
    if unreadable:
        # Such a row was named already; nothing may be computed from it.
        return problems
    return problems + check_rows(read_rows(folder, lenient=True), JOURNAL)


def check_database(folder: Path) -> list[Problem]:
    """Check the file around the rows of a journal; see `check_journal`."""
    with opened(folder, lenient=True) as connection:
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
            yield row.seq, f"out of order: event {expected} was due"
        expected = row.seq + 1
        if row.t_ns < time:
            yield row.seq, f"its time {row.t_ns} ns lies before the {time} ns of the event before"
        time = row.t_ns


def _chain(rows: Sequence[Row]) -> Iterator[tuple[int, str]]:
    """One problem a damaged row: after it, the chain goes on from the hash it has stored."""
    previous, expected = GENESIS, 1
    for row in rows:
        # After a gap the row before is not there to check against; the gap is named already.
        if row.seq == expected and row.chained(previous) != row.hash:
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
    return [f"row {row[0]} holds a value of another type than its column" for row in rows]


@cache
def _expected() -> _Objects:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA)
        return _stored(connection)


def _stored(connection: sqlite3.Connection) -> _Objects:
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    return {(str(kind), f"{name}"): f"{table}: {sql}" for kind, name, table, sql in rows}


def _objects(connection: sqlite3.Connection) -> Iterator[str]:
    there, expected = _stored(connection), _expected()
    for kind, name in sorted(expected.keys() - there.keys()):
        yield f"the {kind} {name} is missing"
    for kind, name in sorted(there.keys() - expected.keys()):
        yield f"{'an' if kind[0] in 'aeiou' else 'a'} {kind} {name!r} was added"
    for kind, name in sorted(there.keys() & expected.keys()):
        if there[kind, name] != expected[kind, name]:
            yield f"the {kind} {name} was changed: its columns are not a journal's"


def _settings(connection: sqlite3.Connection) -> Iterator[str]:
    for name, value in _SETTINGS.items():
        now = connection.execute(f"PRAGMA {name}").fetchone()[0]
        if now != value:
            yield f"its setting {name} is {now}, and was {value}"


def _meta(connection: sqlite3.Connection) -> Iterator[str]:
    rows = dict(connection.execute("SELECT key, value FROM meta"))
    for key in sorted(rows.keys() - _META.keys(), key=str):
        yield f"meta has a row {key!r} that no program of ours writes"
    for key, value in _META.items():
        if rows.get(key) != value:
            yield f"meta says {key} {rows.get(key)!r}, and was {value!r}"


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
        yield f"{beyond} bytes lie behind the database"


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
                f"Event {event.seq} ({event.kind}) cannot be: {why}.",
                safe="The record was only read; nothing was changed.",
                todo="The journal is damaged, or was changed or made by something else than "
                "labapp: `labapp sessions verify` tells more. Take another copy of it, and leave "
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
        """Why the event cannot be, empty where it can; it is taken in."""
        part_id = event[7]
        if payload.of_trial and event[7:10] in self.drawn:  # nearly all of them
            return "" if payload.unchecked else payload.misfit(self.parts[part_id or ""])
        if isinstance(payload, SessionPlanned):
            return self._planned(event, payload)
        if part_id is not None and part_id not in self.parts:
            return f"the plan has no part {part_id!r}"
        if payload.of_trial:
            return f"no question {event.trial} (attempt {event.attempt}) of {part_id!r} was drawn"
        match payload:
            case PartStarted() | PartEnded() | PartRestarted() | PartSkipped():
                if payload.index >= len(self.order):  # its id is what readers go by
                    return f"the plan has no part with the index {payload.index}"
            case SkipRequested(index=index):
                if index >= len(self.order) or self.order[index] != part_id:
                    return f"the part with the index {index} of the plan is not {part_id!r}"
            case SessionEnded():
                self.ends.add(event.seq)
            case SessionReopened() if payload.seq not in self.ends:
                return f"event {payload.seq} is no end that could be taken back"
        if payload.begins and (why := self._draw(event, payload)):
            return why
        return payload.misfit(self.parts.get(part_id or "", {}))

    def _planned(self, event: Event, payload: SessionPlanned) -> str:
        if event.seq != 1 or self.parts:
            return "a session is planned once, at its beginning"
        for what, pattern in NAMES.items():
            label = getattr(payload, what)
            if not pattern.fullmatch(label):  # they are part of file names
                return f"{label[:60]!r} is the name of no {what}"
        for row in payload.plan:
            name, kind = row.get("id"), row.get("part")
            if not isinstance(name, str) or not isinstance(kind, str) or name in self.parts:
                return "a part of its plan has no id of its own, or does not say what it is"
            self.parts[name] = row
            self.order.append(name)
            if not _has_dials(row):
                return f"the dials of the part {name!r} are none"
        return ""

    def _draw(self, event: Event, payload: Payload) -> str:
        part_id, trial, attempt = event.key
        if part_id is None or trial is None or attempt is None or trial < 1 or attempt < 1:
            return f"it is of no question ({part_id}, {trial}, {attempt})"
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
