"""A table of ratings from a file of a spreadsheet program: a row a unit, a column a rater."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NoReturn, get_args

from labapp.agreement.alpha import Level, alpha_for
from labapp.agreement.kappa import CohenKappa, FleissKappa
from labapp.agreement.measure import Coefficient, Measure, coefficient
from labapp.agreement.ratings import Ratings, ratings_of
from labapp.errors import AgreementError
from labapp.reading import files
from labapp.reading.values import LINES, Budget, TooMuch, steering_in
from labapp.text_tables import original

TableMeasure = Literal["alpha", "kappa", "fleiss"]
MEASURES: tuple[str, ...] = get_args(TableMeasure)

_DELIMITERS = ",;\t"
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", re.ASCII)
_LIKE_MISSING = frozenset({"na", "n/a", "nan", "none", "null", ".", "-", "?", "missing", "#n/a"})
_SAFE = "The file was only read."
_SHOWN = 20
MOST_RATERS = 200
MOST_PAIRS = 16_000_000
"""Of values that each unit can have, over all units: 8 bytes each, three times."""


@dataclass(frozen=True, slots=True)
class RatingTable:
    """What a file holds.

    Attributes
    ----------
    path : the file.
    raters : names of the columns.
    units : the first column.
    lines : by unit the line of the file, from 1.
    cells : by unit what each rater gave; empty where that is nothing.
    decimal_comma : bool
        Whether a comma within a number is a decimal point, since columns are not parted by commas.
    """

    path: Path
    raters: tuple[str, ...]
    units: tuple[str, ...]
    lines: tuple[int, ...]
    cells: tuple[tuple[str, ...], ...]
    decimal_comma: bool

    @property
    def doubtful(self) -> dict[str, int]:
        """Cells that look as if they stood for a missing rating, and how many there are."""
        cells = (cell for row in self.cells for cell in row)
        return dict(Counter(cell for cell in cells if cell.casefold() in _LIKE_MISSING))

    def ratings(self, level: Level) -> Ratings:
        """As codes at the nominal level, as numbers at the others. Raises AgreementError for a cell
        that is no such number."""
        if level == "nominal":
            return ratings_of([[cell or None for cell in row] for row in self.cells])
        return ratings_of(
            [
                [self._number(level, line, rater, cell) if cell else None for rater, cell in row]
                for line, row in zip(
                    self.lines,
                    (zip(self.raters, row, strict=True) for row in self.cells),
                    strict=True,
                )
            ]
        )

    def _number(self, level: Level, line: int, rater: str, cell: str) -> float:
        text = cell.replace(",", ".") if self.decimal_comma else cell
        if not _NUMBER.fullmatch(cell) or ("," in text) or not math.isfinite(float(text)):
            _refuse(
                self.path,
                f"line {line}, column {rater}: {_cut(cell)} is no number, and the level {level} "
                "needs numbers",
                "Leave the cell empty if the rating is missing; number the categories in their "
                "order; or compare them with --level nominal.",
            )
        value = float(text)
        if level == "ratio" and value < 0:
            _refuse(
                self.path,
                f"line {line}, column {rater}: {_cut(cell)} is below zero, and the level ratio has "
                "a zero below which nothing is",
                "Compare the values with --level interval.",
            )
        return value


def agree(table: RatingTable, measure: TableMeasure, level: Level) -> Coefficient:
    """How far the raters of a table agree.

    Raises
    ------
    AgreementError : a cell does not fit the level, or the measure knows no such level.
    """
    if measure != "alpha" and level != "nominal":
        _refuse(
            table.path,
            f"{measure} takes every disagreement alike, so that it knows the level nominal alone, "
            f"not {level}",
            f"Give --measure alpha --level {level}, or --level nominal.",
        )
    ratings = table.ratings(level)
    # Measures count the pairs of categories in each unit.
    if ratings.n_units * len(ratings.categories) ** 2 > MOST_PAIRS:
        _refuse(
            table.path,
            f"its {ratings.n_units:,} units have {len(ratings.categories):,} different values, "
            "which are too many to compare each with each",
            "Check that its columns hold ratings and no texts; round numbers",
        )
    chosen: Measure
    if measure == "alpha":
        chosen = alpha_for(ratings, level)
    else:
        chosen = CohenKappa() if measure == "kappa" else FleissKappa()
    return coefficient(chosen, ratings)


def read_table(path: Path) -> RatingTable:
    """Read a table of ratings.

    CSV with commas, semicolons or tabs, in UTF-8, UTF-16 or Windows' Western European. The first
    line names the columns, the first column is the unit, an empty cell a missing rating.

    Raises
    ------
    AgreementError : the file cannot be read or is no such table: it is empty, has rows of different
        lengths, fewer than two raters, a rater or a unit twice, or no unit.
    """
    text = _text(path)
    first = text.lstrip("\r\n").partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    lines = _lines(path, text, delimiter)
    if not lines:
        _refuse(path, "it is empty", "Give a line that names the columns, and a line for each unit")
    (_, header), *rows = lines
    for line, row in rows:
        if len(row) != len(header):
            _refuse(
                path,
                f"line {line} has {len(row)} cells, and line {lines[0][0]} has {len(header)}",
                "Give every unit a cell for each rater, empty where the rating is missing",
            )
    # What spreadsheet programs leave behind the last column that is used.
    used = max((at for _, row in lines for at, cell in enumerate(row, 1) if cell), default=1)
    header = header[:used]
    rows = [(line, row[:used]) for line, row in rows]
    raters = header[1:]
    _check_raters(path, raters)
    if not rows:
        _refuse(path, "it has no unit below its first line", "Give a line for each unit")
    seen: dict[str, int] = {}
    for line, (unit, *_) in rows:
        if not unit:
            _refuse(path, f"line {line} names no unit", "Give each unit a name in the first column")
        if unit in seen:
            _refuse(
                path,
                f"the unit {_cut(unit)} stands in line {seen[unit]} and in line {line}",
                "Give each unit one line, with a column for each rater",
            )
        seen[unit] = line
    return RatingTable(
        path,
        tuple(raters),
        tuple(seen),
        tuple(seen.values()),
        tuple(tuple(row[1:]) for _, row in rows),
        delimiter != ",",
    )


def _check_raters(path: Path, raters: Sequence[str]) -> None:
    if len(raters) < 2:
        _refuse(
            path,
            "it has no column of a rater" if not raters else "it has one rater only",
            "Give the unit in the first column and a column for each rater, two or more; columns "
            "are parted by commas, semicolons or tabs",
        )
    if len(raters) > MOST_RATERS:
        _refuse(
            path,
            f"it has {len(raters):,} columns of raters, and at most {MOST_RATERS} are compared",
            "Give a column for each rater and a line for each unit",
        )
    for at, rater in enumerate(raters, 2):
        if not rater:
            _refuse(path, f"column {at} has no name", "Name each rater in the first line")
        if raters.count(rater) > 1:
            _refuse(path, f"two columns are called {_cut(rater)}", "Name each rater differently")


def _lines(path: Path, text: str, delimiter: str) -> list[tuple[int, list[str]]]:
    """The lines that are not empty, with their numbers, from 1."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    lines: list[tuple[int, list[str]]] = []
    if text.count(delimiter) > LINES:  # before a row is read, for one can have all cells
        _refuse(path, f"it has more than {LINES:,} cells", "Check that it is the right file")
    at = 1
    budget = Budget()
    try:
        for row in reader:
            budget.take(*row, memory=16 * len(row))
            cells = [original(cell.strip()) for cell in row]
            if any(cells):
                budget.entry()
                lines.append((at, cells))
            at = reader.line_num + 1
    except TooMuch as error:
        _refuse(path, str(error), "Check that it is the right file, or split it")
    except csv.Error as error:
        _refuse(path, f"line {at} is not CSV ({error})", "Save the table as CSV in UTF-8")
    return lines


def _text(path: Path) -> str:
    try:
        content = files.content(path)
    except FileNotFoundError:
        _refuse(path, "there is no such file", "Check the name and the folder")
    except OSError as error:
        _refuse(path, error.strerror or str(error), "Check that it is a file that you may read")
    if content.startswith((b"PK", b"\xd0\xcf\x11\xe0")):
        _refuse(path, "it is a workbook of a spreadsheet program", "Save it as CSV in UTF-8")
    utf_16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ("utf-16",) if utf_16 else ("utf-8-sig", "cp1252"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if steering_in(text) is None:
            return text
    return _refuse(
        path, "it is no text in UTF-8, UTF-16 or Windows-1252", "Save it as CSV in UTF-8"
    )


def _cut(text: str) -> str:
    return f"“{text}”" if len(text) <= _SHOWN else f"“{text[: _SHOWN - 1]}…”"


def _refuse(path: Path, what: str, todo: str) -> NoReturn:
    raise AgreementError(f"{path}: {what}.", safe=_SAFE, todo=f"{todo.rstrip('.')}.")
