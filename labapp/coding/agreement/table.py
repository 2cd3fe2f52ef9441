"""A table of ratings from a file of a spreadsheet program: a row a unit, a column a rater."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Literal, NoReturn, get_args

from labapp.base.errors import AgreementError
from labapp.base.reading import files, tables
from labapp.base.reading.tables import TableError
from labapp.coding.agreement.coefficients import CohenKappa, FleissKappa, Level, alpha_for
from labapp.coding.agreement.measure import Coefficient, Measure, Ratings, coefficient, ratings_of

TableMeasure = Literal["alpha", "kappa", "fleiss"]
MEASURES: tuple[str, ...] = get_args(TableMeasure)

UNIT = frozenset({"unit", "units", "item", "id", "subject", "segment"})
RATER = frozenset({"rater", "raters", "coder", "annotator", "judge"})
CODE = frozenset({"code", "rating", "value", "category", "label", "score"})
"""Names of the columns of a table that has a row a rating."""
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
    raters : names of the columns.
    units : the first column.
    lines : by unit the line of the file, from 1.
    cells : by unit what each rater gave; empty where that is nothing.
    decimal_comma : whether a comma within a number is a decimal point, since columns are not parted
        by commas.
    notes : what was made of the file that its writer may not have meant, in sentences.
    """

    path: Path
    raters: tuple[str, ...]
    units: tuple[str, ...]
    lines: tuple[int, ...]
    cells: tuple[tuple[str, ...], ...]
    decimal_comma: bool
    notes: tuple[str, ...] = ()

    @property
    def doubtful(self) -> dict[str, int]:
        """Cells that look as if they stood for a missing rating, and how many there are."""
        cells = (cell for row in self.cells for cell in row)
        return dict(Counter(cell for cell in cells if cell.casefold() in _LIKE_MISSING))

    def ratings(self, level: Level) -> Ratings:
        """As codes at the nominal level, as numbers at the others. Raises AgreementError for a cell
        that is no such number."""
        if level == "nominal":
            return ratings_of([[self._category(cell) for cell in row] for row in self.cells])
        return ratings_of(
            [
                [
                    self._number(level, line, rater, cell) if cell else None
                    for rater, cell in zip(self.raters, row, strict=True)
                ]
                for line, row in zip(self.lines, self.cells, strict=True)
            ]
        )

    @property
    def differing_in_case(self) -> tuple[tuple[str, ...], ...]:
        """Categories that differ from each other in capital letters alone."""
        alike: dict[str, dict[str, None]] = {}
        for row in self.cells:
            for cell in filter(None, row):
                alike.setdefault(cell.casefold(), {})[cell] = None
        return tuple(tuple(forms) for forms in alike.values() if len(forms) > 1)

    def _category(self, cell: str) -> str | None:
        """A nominal rating; 1, 1.0 and 01 are one, for programs write numbers as they like."""
        text = cell.replace(",", ".") if self.decimal_comma else cell
        if not _NUMBER.fullmatch(cell) or "," in text or not math.isfinite(float(text)):
            return cell or None
        return str((Decimal(text) + 0).normalize())

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
    line names the columns. Wide, the first column is the unit, each other one a rater, an empty
    cell a missing rating; long, the columns are called unit, rater and code (or rating, value,
    category, label). A nameless first column that counts the rows, as pandas writes it, is left
    out where the next column is the unit.

    Raises
    ------
    AgreementError : the file cannot be read or is no such table: it is empty, has rows of different
        lengths, fewer than two raters, a rater or a unit twice, or no unit.
    """
    try:
        table = tables.read(_content(path))
        lines = [(line, tuple(cell.strip() for cell in row)) for line, row in table.rows]
    except TableError as error:
        _refuse(path, error.what, error.todo)
    header = tuple(cell.strip() for cell in table.first)
    if not lines:
        _refuse(path, "it has no unit below its first line", "Give a line for each unit")
    notes: list[str] = []
    if _counts_rows(header, lines):
        header, lines = header[1:], [(line, row[1:]) for line, row in lines]
        notes.append("The first column has no name and counts the rows: it was left out.")
    names = [name.casefold() for name in header]
    if len(names) == 3 and names[0] in UNIT and names[1] in RATER and names[2] in CODE:
        header, lines = _wide(path, lines)
    # What spreadsheet programs leave behind the last column that is used.
    rows = [row for _, row in lines]
    used = max((at for row in (header, *rows) for at, cell in enumerate(row, 1) if cell), default=1)
    header, raters = header[:used], header[1:used]
    _check_raters(path, raters)
    if _looks_like_ratings(raters, rows):
        notes.append(
            f"Line {table.line} was read as the names of the raters, and they look like ratings: "
            f"{', '.join(raters)}. Give the table a first line that names its columns."
        )
    seen: dict[str, int] = {}
    for line, (unit, *_) in lines:
        if not unit:
            _refuse(path, f"line {line} names no unit", "Give each unit a name in the first column")
        if unit in seen:
            _refuse(
                path,
                f"the unit {_cut(unit)} is in line {seen[unit]} and in line {line}",
                "Give each unit one line, with a column for each rater; or name three columns "
                "unit, rater and code, and give each rating a line",
            )
        seen[unit] = line
    return RatingTable(
        path,
        raters,
        tuple(seen),
        tuple(seen.values()),
        tuple(row[1:used] for row in rows),
        table.decimal_comma,
        tuple(notes),
    )


def _counts_rows(header: Sequence[str], lines: Sequence[tuple[int, Sequence[str]]]) -> bool:
    """Whether a table has the index of pandas or R before its unit: a first column without a name
    that counts from 0 or 1, and a second one that names each row once."""
    if header[0] or len(header) < 4:
        return False
    counted = [row[0] for _, row in lines]
    units = [row[1] for _, row in lines]
    return any(
        counted == [str(number) for number in range(first, first + len(lines))] for first in (0, 1)
    ) and (header[1].casefold() in UNIT or len(set(units)) == len(units) > 1)


def _wide(
    path: Path, lines: Sequence[tuple[int, Sequence[str]]]
) -> tuple[tuple[str, ...], list[tuple[int, tuple[str, ...]]]]:
    """A row a unit of a table that has a row a rating."""
    raters = tuple(dict.fromkeys(row[1] for _, row in lines))
    if len(raters) > MOST_RATERS:
        _refuse(path, f"it has {len(raters):,} raters, and at most {MOST_RATERS} are compared", "")
    given: dict[str, tuple[int, dict[str, str]]] = {}
    for line, (unit, rater, code) in lines:
        _, of_unit = given.setdefault(unit, (line, {}))
        if rater in of_unit:
            _refuse(
                path,
                f"line {line} gives the unit {_cut(unit)} a second rating by {_cut(rater)}",
                "Give each unit one rating of each rater",
            )
        of_unit[rater] = code
    rows = [
        (line, (unit, *(of_unit.get(rater, "") for rater in raters)))
        for unit, (line, of_unit) in given.items()
    ]
    return ("unit", *raters), rows


def _looks_like_ratings(raters: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the raters' names are all values that their columns hold, or numbers."""
    given = {cell for row in rows for cell in row[1:]}
    return all(name in given or _NUMBER.fullmatch(name) for name in raters)


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


def _content(path: Path) -> bytes:
    try:
        return files.content(path)
    except FileNotFoundError:
        _refuse(path, "there is no such file", "Check the name and the folder")
    except OSError as error:
        _refuse(path, error.strerror or str(error), "Check that it is a file that you may read")


def _cut(text: str) -> str:
    return f"“{text}”" if len(text) <= _SHOWN else f"“{text[: _SHOWN - 1]}…”"


def _refuse(path: Path, what: str, todo: str) -> NoReturn:
    raise AgreementError(f"{path}: {what}.", safe=_SAFE, todo=f"{todo.rstrip('.')}.")
