"""Whether the file of a journal holds what a journal has, and nothing besides.

The hash chain covers the rows of `events`. This covers what lies around them: tables, triggers,
views, indices and column types as `layout.SCHEMA` makes them, the rows of `meta`, the types of all
values, the settings in the file's header, and bytes behind the last page.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

from labapp.records.layout import COLUMNS, JOURNAL, SCHEMA, SCHEMA_VERSION

_META = {"schema_version": str(SCHEMA_VERSION)}
_INTEGERS = frozenset({"seq", "segment", "t_ns", "v", "trial", "attempt"})
_OPTIONAL = frozenset({"stage", "trial", "attempt"})
_SETTINGS = {"user_version": 0, "application_id": 0, "encoding": "UTF-8", "auto_vacuum": 0}
_SHOWN = 5
_Objects = dict[tuple[str, str], str | None]


def database_problems(connection: sqlite3.Connection, folder: Path) -> list[str]:
    """What is not as the program makes it, in words; empty for a journal of ours.

    connection: to the journal of the session folder `folder`. Raises sqlite3.Error where the file
    cannot be read.
    """
    problems = [*_objects(connection), *_settings(connection)]
    if not any(problem.startswith("the table") for problem in problems):
        problems += [*_meta(connection), *value_problems(connection)]
    return [*problems, *_length(connection, folder)]


def value_problems(connection: sqlite3.Connection) -> list[str]:
    """Values whose type is not their column's, which nothing can be computed from."""
    wrong = " OR ".join(
        f"typeof({name}) NOT IN ('{'integer' if name in _INTEGERS else 'text'}'"
        f"{', ' + repr('null') if name in _OPTIONAL else ''})"
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
        yield f"{_article(kind)} {kind} {name!r} was added"
    for kind, name in sorted(there.keys() & expected.keys()):
        if there[kind, name] != expected[kind, name]:
            yield f"the {kind} {name} was changed: its columns are not a journal's"


def _article(kind: str) -> str:
    return "an" if kind[0] in "aeiou" else "a"


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
