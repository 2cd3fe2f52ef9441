"""Rating sheets as raters leave them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

from labapp.tasks.reconstruction.report.labels.sheet import Sheet, names_in


def rows_of(sheet: Sheet) -> list[list[str]]:
    return list(csv.reader(io.StringIO(sheet.text().removeprefix("\ufeff"), newline="")))


def filled(sheet: Sheet, say: Callable[[str], str] = lambda name: "yes") -> list[list[str]]:
    """The sheet as a rater leaves it who says something of every name beside which others stand."""
    header, *rows = rows_of(sheet)
    return [header, *([*row[:-1], row[-1] or say(names_in(row[6])[0])] for row in rows)]


def save(
    path: Path, rows: list[list[str]], delimiter: str = ",", encoding: str = "utf-8-sig"
) -> Path:
    with path.open("w", newline="", encoding=encoding) as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    return path
