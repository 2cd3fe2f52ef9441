"""Codes and factors from files: .npy as numpy saves it, or .csv with or without a line of names."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labapp.errors import MetricError
from labapp.reading import arrays, files, tables
from labapp.reading.tables import TableError, TextTable

ENDINGS = (".npy", ".csv")
LARGEST = {".npy": 384 * files.MIB, ".csv": 32 * files.MIB}
"""Bytes of a file. A CSV takes some ten times as much memory while it is read."""
MOST = 10_000_000
"""Values of a CSV."""
MOST_MEMORY = 16 * LARGEST[".csv"]
"""Bytes that its cells may take, of which few are kept at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class NumberTable:
    """`values`, an array of shape (n, columns) or, of codes of d numbers each, (n, columns, d);
    `names`, of its columns."""

    values: NDArray[Any]
    names: tuple[str, ...]


def read(path: Path, letter: str) -> NumberTable:
    """A file of codes or factors.

    Columns without names are called by `letter` and their number from 1: c1, c2. Whether the values
    can be scored is for the metrics to say.

    Raises
    ------
    MetricError : there is no such file, it cannot be read, its ending is another, it holds no array
        of numbers, or lines of different lengths.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise _refuse(
            path, "its ending is neither .npy nor .csv", "Save the array with numpy.save, or as CSV"
        )
    try:
        content = files.content(path, LARGEST[ending])
    except FileNotFoundError as error:
        raise _refuse(path, "there is no such file", "Check the name") from error
    except OSError as error:
        raise _refuse(path, error.strerror or str(error), "Check that you may read it") from error
    return _npy(path, content, letter) if ending == ".npy" else _csv(path, content, letter)


def default_names(letter: str, columns: int) -> tuple[str, ...]:
    """Names of columns that have none: c1, c2."""
    return tuple(f"{letter}{index}" for index in range(1, columns + 1))


def _npy(path: Path, content: bytes, letter: str) -> NumberTable:
    if content.startswith(b"PK"):
        raise _refuse(path, "it holds several arrays", "Save each array in a file of its own")
    try:
        values = arrays.npy(content)
    except ValueError as error:
        # Also what would have to be unpickled: that could run anything.
        raise _refuse(
            path,
            f"it holds no plain array of numbers ({error})",
            "Save one array of numbers with numpy.save",
        ) from error
    return NumberTable(values, default_names(letter, values.shape[1] if values.ndim > 1 else 1))


def _csv(path: Path, content: bytes, letter: str) -> NumberTable:
    if max(map(content.count, (b",", b";", b"\t"))) + content.count(b"\n") > MOST:
        raise _refuse(path, f"it has more than {MOST:,} values", "Save it as .npy, by numpy.save")
    read = array("d")
    try:
        table = tables.read(content, entries=MOST, memory=MOST_MEMORY)
        names = tuple(cell.strip() for cell in table.first)
        has_names = not any(_is_number(cell) for cell in names if cell)
        if not has_names:
            read.extend(_number(path, table, table.line, cell) for cell in names)
        for line, cells in table.rows:
            read.extend(_number(path, table, line, cell) for cell in cells)
    except TableError as error:
        raise _refuse(path, error.what, error.todo) from error
    values = np.array(read, dtype=np.float64).reshape(-1, len(names))
    if has_names and not names[0] and _counts(values[:, 0]):
        raise _refuse(
            path,
            "its first column has no name and counts the rows, as pandas and R write it",
            "Save the table without it (pandas: index=False; R: row.names = FALSE)",
        )
    named = tuple(name or f"{letter}{at}" for at, name in enumerate(names, 1))
    return NumberTable(values, named if has_names else default_names(letter, len(names)))


def _counts(column: NDArray[np.float64]) -> bool:
    """Whether a column counts from 0 or 1."""
    if not len(column):
        return False
    return column[0] in (0, 1) and bool((np.diff(column) == 1).all())


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def _number(path: Path, table: TextTable, line: int, cell: str) -> float:
    try:
        return float(cell.replace(",", ".") if table.decimal_comma else cell)
    except ValueError as error:
        raise _refuse(
            path,
            f"line {line} holds {cell[:60]!r}, which is no number",
            "Give numbers, with commas, semicolons or tabs between them",
        ) from error


def _refuse(path: Path, what: str, todo: str) -> MetricError:
    return MetricError(
        f"{path} cannot be read: {what}.", safe="Nothing was written.", todo=f"{todo}."
    )
