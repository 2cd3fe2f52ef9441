"""Codes and factors from files: .npy as numpy saves it, or .csv with or without a line of names."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labapp.errors import MetricError

ENDINGS = (".npy", ".csv")


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """`values`, an array of shape (n, columns) or, of codes of d numbers each, (n, columns, d);
    `names`, of its columns."""

    values: NDArray[Any]
    names: tuple[str, ...]


def read(path: Path, letter: str) -> Table:
    """A file of codes or factors.

    Columns without names are called by `letter` and their number from 1: c1, c2. Whether the values
    can be scored is for the metrics to say.

    Raises
    ------
    MetricError : there is no such file, it cannot be read, its ending is another, it holds no array
        of numbers, or lines of different lengths.
    """
    if path.suffix.lower() not in ENDINGS:
        raise _refuse(
            path, "its ending is neither .npy nor .csv", "Save the array with numpy.save, or as CSV"
        )
    try:
        return _npy(path, letter) if path.suffix.lower() == ".npy" else _csv(path, letter)
    except FileNotFoundError as error:
        raise _refuse(path, "there is no such file", "Check the name") from error
    except OSError as error:
        raise _refuse(path, error.strerror or str(error), "Check that you may read it") from error


def named(letter: str, columns: int) -> tuple[str, ...]:
    """Names of columns that have none: c1, c2."""
    return tuple(f"{letter}{index}" for index in range(1, columns + 1))


def _npy(path: Path, letter: str) -> Table:
    try:
        values = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        # Also what would have to be unpickled: that could run anything.
        raise _refuse(
            path, "it holds no plain array of numbers", "Save one array of numbers with numpy.save"
        ) from error
    if not isinstance(values, np.ndarray):
        values.close()
        raise _refuse(path, "it holds several arrays", "Save each array in a file of its own")
    return Table(values, named(letter, values.shape[1] if values.ndim > 1 else 1))


def _csv(path: Path, letter: str) -> Table:
    try:
        # The signature of UTF-8, which spreadsheets write, is no part of the first name.
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [(number, line) for number, line in enumerate(csv.reader(file), 1) if line]
    except (UnicodeDecodeError, csv.Error) as error:
        raise _refuse(path, "it is no CSV text in UTF-8", "Save it as CSV in UTF-8") from error
    if not lines:
        raise _refuse(path, "it is empty", "Give a line for each instance")
    first = lines[0][1]
    has_names = not any(_is_number(cell) for cell in first)
    rows = []
    for number, line in lines[has_names:]:
        if len(line) != len(first):
            raise _refuse(
                path,
                f"line {number} has {len(line)} values and line 1 has {len(first)}",
                "Give every line the same number of values, with commas between them",
            )
        rows.append([_number(path, number, cell) for cell in line])
    values = np.array(rows, dtype=np.float64).reshape(len(rows), len(first))
    names = tuple(cell.strip() or f"{letter}{at}" for at, cell in enumerate(first, 1))
    return Table(values, names if has_names else named(letter, len(first)))


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
            f"line {line} holds {cell!r}, which is no number",
            "Give numbers, with points for decimals and commas between them",
        ) from error


def _refuse(path: Path, what: str, todo: str) -> MetricError:
    return MetricError(
        f"{path} cannot be read: {what}.", safe="Nothing was written.", todo=f"{todo}."
    )
