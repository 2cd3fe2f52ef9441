"""Codes and factors from files: .npy as numpy saves it, or .csv with or without a line of names."""

from __future__ import annotations

import csv
import io
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labapp.errors import MetricError
from labapp.reading import arrays, files

ENDINGS = (".npy", ".csv")
LARGEST = {".npy": 384 * files.MIB, ".csv": 32 * files.MIB}
"""Bytes of a file. A CSV takes some ten times as much memory while it is read."""
MOST = 10_000_000
"""Values of a CSV."""


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
    if content.count(b",") + content.count(b"\n") > MOST:
        raise _refuse(path, f"it has more than {MOST:,} values", "Save it as .npy, by numpy.save")
    first: list[str] = []
    has_names = False
    read = array("d")
    try:
        # The signature of UTF-8, which spreadsheets write, is no part of the first name.
        text = io.StringIO(content.decode("utf-8-sig"), newline="")
        for number, line in enumerate(csv.reader(text), 1):
            if not line:
                continue
            if not first:
                first, has_names = line, not any(_is_number(cell) for cell in line)
                if has_names:
                    continue
            if len(line) != len(first):
                raise _refuse(
                    path,
                    f"line {number} has {len(line)} values and line 1 has {len(first)}",
                    "Give every line the same number of values, with commas between them",
                )
            read.extend(_number(path, number, cell) for cell in line)
    except (UnicodeDecodeError, csv.Error) as error:
        raise _refuse(path, "it is no CSV text in UTF-8", "Save it as CSV in UTF-8") from error
    if not first:
        raise _refuse(path, "it is empty", "Give a line for each instance")
    values = np.array(read, dtype=np.float64).reshape(-1, len(first))
    names = tuple(cell.strip() or f"{letter}{at}" for at, cell in enumerate(first, 1))
    return NumberTable(values, names if has_names else default_names(letter, len(first)))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _number(path: Path, line: int, cell: str) -> float:
    try:
        return float(cell)
    except ValueError as error:
        raise _refuse(
            path,
            f"line {line} holds {cell[:60]!r}, which is no number",
            "Give numbers, with points for decimals and commas between them",
        ) from error


def _refuse(path: Path, what: str, todo: str) -> MetricError:
    return MetricError(
        f"{path} cannot be read: {what}.", safe="Nothing was written.", todo=f"{todo}."
    )
