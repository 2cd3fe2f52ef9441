"""Journals whose hashes are right and whose contents are not: rows of the golden journals with
something changed, numbered and chained anew."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from labapp.record.events import GENESIS, registered_kinds
from labapp.record.events.registry import payload_text
from labapp.record.journal.layout import (
    COLUMNS,
    ENVIRONMENT,
    JOURNAL,
    SCHEMA,
    SCHEMA_VERSION,
    STUDY,
)
from labapp.record.journal.read import Row
from tests.helpers.journals import GOLDEN

JOURNALS = sorted((GOLDEN / "journals").rglob("*.jsonl"))
NAME = "sub-P01_ses-1_20260102T030405Z"

Payload = dict[str, Any]
Change = Callable[[list[Row]], list[Row]]


def rows_of(path: Path) -> list[Row]:
    return [Row(*json.loads(line)) for line in path.read_text().splitlines()]


def chained(rows: Sequence[Row]) -> list[Row]:
    """Numbered from 1 and hashed anew."""
    out: list[Row] = []
    previous = GENESIS
    for seq, row in enumerate(rows, start=1):
        row = row._replace(seq=seq)
        previous = row.compute_hash(previous)
        out.append(row._replace(hash=previous))
    return out


def write(root: Path, rows: Sequence[Row]) -> Path:
    """A session folder under the data root `root` with this journal and the golden study."""
    study = root / "golden"
    folder = study / NAME
    folder.mkdir(parents=True)
    with closing(sqlite3.connect(folder / JOURNAL, isolation_level=None)) as connection:
        connection.executescript(SCHEMA)
        connection.execute("INSERT INTO meta VALUES ('schema_version', ?)", (str(SCHEMA_VERSION),))
        places = ", ".join("?" * len(COLUMNS))
        insert = f"INSERT INTO events ({', '.join(COLUMNS)}) VALUES ({places})"
        connection.execute("BEGIN")
        connection.executemany(insert, [row[:12] for row in rows])
        connection.execute("COMMIT")
    (folder / "audio").mkdir()
    shutil.copytree(GOLDEN / STUDY, folder / STUDY)
    (folder / ENVIRONMENT).write_text("[]\n")
    return folder


def set_in(kind: str, changes: Payload, **stamps: Any) -> Change:
    """Change the first row of a kind: fields of its payload, and stamps."""

    def change(rows: list[Row]) -> list[Row]:
        at = next(index for index, row in enumerate(rows) if row.kind == kind)
        payload = json.loads(rows[at].payload) | changes
        return replaced(rows, at, rows[at]._replace(payload=payload_text(payload), **stamps))

    return change


def replaced(rows: list[Row], at: int, *new: Row) -> list[Row]:
    return [*rows[:at], *new, *rows[at + 1 :]]


NUMBERS = (-1, 0, 1, 2, 7, 999, 2**31 - 1, 2**53, 2**63 - 1, -(2**62), 0.5, -1e300, 1e308)
TEXTS = ("", "x", "stage-1", "../../x", "/etc/passwd", "audio/../x", "a\0b", "\u202e", "x" * 300)
KINDS = sorted(registered_kinds())


def mutated(rows: list[Row], chance: random.Random) -> list[Row]:
    """The rows with one thing changed, hashed anew."""
    at = chance.randrange(len(rows)) if chance.random() < 0.9 else 0
    row = rows[at]
    what = chance.random()
    if what < 0.62:
        payload = json.loads(row.payload)
        _change_inside(payload, chance)
        return chained(replaced(rows, at, row._replace(payload=payload_text(payload))))
    if what < 0.82:
        return chained(replaced(rows, at, _restamped(row, chance)))
    if what < 0.90:
        return chained(replaced(rows, at))
    if what < 0.95:
        return chained(replaced(rows, at, row, row))
    other = chance.randrange(len(rows))
    moved = rows[other]._replace(t_ns=row.t_ns, segment=row.segment)
    return chained(replaced(rows, at, moved))


def _restamped(row: Row, chance: random.Random) -> Row:
    name = chance.choice(("stage", "trial", "attempt", "kind", "v", "segment", "utc", "source"))
    values: dict[str, Sequence[Any]] = {
        "stage": (None, "nope", "", "stage-1", "stage-2", "consent", "practice"),
        "trial": (None, 0, -1, 1, 2, 999, 2**31 - 1),
        "attempt": (None, 0, -1, 1, 2, 999),
        "kind": KINDS,
        "v": (0, -1, 1, 2, 99),
        "segment": (0, -1, 2, 99),
        "utc": ("", "x", "9999-99-99", "2026-01-02T03:04:05.000000+99:00"),
        "source": ("", "nobody", "simulated"),
    }
    return row._replace(**{name: chance.choice(values[name])})


def _change_inside(value: Any, chance: random.Random) -> None:
    """Change one value somewhere in lists and objects."""
    while isinstance(value, dict | list) and value:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = chance.choice(keys)
        inner = value[key]
        if isinstance(inner, dict | list) and inner and chance.random() < 0.8:
            value = inner
            continue
        doing = chance.random()
        if doing < 0.1:
            del value[key]
        elif doing < 0.2 and isinstance(value, list):
            value.append(inner)
        elif isinstance(inner, bool) or inner is None or doing > 0.9:
            value[key] = chance.choice((*NUMBERS, *TEXTS, None, True, [], {}, [1], {"a": 1}))
        elif isinstance(inner, int | float):
            pool = [n for n in NUMBERS if isinstance(inner, float) or isinstance(n, int)]
            value[key] = chance.choice(pool)
        elif isinstance(inner, str):
            value[key] = chance.choice(TEXTS)
        else:
            value[key] = chance.choice(([], {}, None, [None], "x", 5))
        return
