"""Whether a journal is what was written: its order, its segments and its hash chain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from labapp.errors import RecordError
from labapp.events import GENESIS
from labapp.records.database import database_problems, value_problems
from labapp.records.journal import opened, read_rows
from labapp.records.layout import JOURNAL
from labapp.records.plausible import implausible
from labapp.records.rows import ENVIRONMENT, Row, bodies, missing_packages


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not as it was written. place: a file, and the event where there is one."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


def check_journal(folder: Path) -> list[Problem]:
    """Check the journal of a session folder; empty when it is whole.

    Raises RecordError when it cannot be read at all.
    """
    with opened(folder, lenient=True) as connection:
        said = connection.execute("PRAGMA integrity_check(20)").fetchall()
        damage = [f"SQLite finds {text}" for (text,) in said if text != "ok"]
        damage += database_problems(connection, folder)
        unreadable = value_problems(connection)
    problems = [Problem(JOURNAL, what) for what in damage]
    if unreadable:
        # Nothing is to be computed from such a row; it is named already.
        return problems
    return problems + check_rows(read_rows(folder, lenient=True), JOURNAL)


def check_rows(rows: Sequence[Row], place: str) -> list[Problem]:
    """Check rows in the order they are stored in; `place` names the file in the problems."""
    if not rows:
        return [Problem(place, "it holds no event")]
    found = [*_order(rows), *_chain(rows), *_segments(rows), *_vocabulary(rows)]
    if not found:  # else what follows from the damage would be told again and again
        found = list(implausible(bodies(rows)))
    return [Problem(f"{place}, event {seq}", what) for seq, what in sorted(found)]


def check_chain(rows: Sequence[Row]) -> str | None:
    """The first break of order or hash chain, in words; None when there is none. Quicker than
    `check_rows`, which reads every payload besides."""
    first = min([*_order(rows), *_chain(rows)], default=None)
    return None if first is None else f"event {first[0]}: {first[1]}"


def _order(rows: Sequence[Row]) -> Iterator[tuple[int, str]]:
    expected, time = 1, 0
    for row in rows:
        if row.seq > expected:
            missing = _span(expected, row.seq - 1)
            yield row.seq, f"a gap: {missing} before it"
        elif row.seq < expected:
            yield row.seq, f"out of order: event {expected} was due"
        expected = row.seq + 1
        if row.t_ns < time:
            yield row.seq, f"its time {row.t_ns} ns lies before the {time} ns of the event before"
        time = row.t_ns


def _span(first: int, last: int) -> str:
    return f"event {first} is missing" if first == last else f"events {first} to {last} are missing"


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


def _vocabulary(rows: Sequence[Row]) -> Iterator[tuple[int, str]]:
    """Rows that cannot be read although their hash may be right; the first of them tells of
    packages that are missing."""
    recorded: Row | None = None
    told = False
    for row in rows:
        if row.kind == ENVIRONMENT:
            recorded = row
        try:
            next(bodies((row,)))
        except RecordError as error:
            missing = "" if told or recorded is None else _missing(recorded)
            told = True
            yield row.seq, f"{error.what} {missing}".strip()


def _missing(recorded: Row) -> str:
    try:
        return missing_packages(recorded.event().payload)
    except RecordError:  # it is told of by itself
        return ""
