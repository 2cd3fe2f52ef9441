"""Reading rating sheets back: whatever a spreadsheet program made of them, or a clear refusal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from labapp.errors import RatingError
from labapp.reading import files, tables
from labapp.report.formats import count
from labapp.tasks.reconstruction.report.labels.sheet import (
    ALONE,
    RATED,
    SHEET,
    Line,
    Sheet,
    names_in,
)
from labapp.text_tables import MARK

WORDS = {"yes": True, "no": False, "ja": True, "nein": False}
"""What may stand in the rater's column, in capitals or not."""
NEEDED = ("sheet", "label", "name", RATED)
"""The columns that are read; the others are there for the rater."""
_SHOWN = 3
_SAFE = "No analysis was made; the file was only read."


@dataclass(frozen=True, slots=True)
class Rating:
    """What one rater says of each name, by the name's id. rater: the file's name without ending."""

    rater: str
    says: dict[str, bool]


def read_ratings(paths: Sequence[Path], sheet: Sheet) -> tuple[Rating, ...]:
    """The sheets that raters filled in, held against the names of the sessions.

    Raises RatingError (file, line, column, what was found, what is allowed) when a file cannot be
    read, is of another analysis, lacks a name or has one that is not of the sessions or was
    changed, or says something other than yes or no.
    """
    check_files(paths)
    result: list[Rating] = []
    for path in paths:
        result.append(Rating(_rater(path, result), _read(path, sheet)))
    return tuple(result)


def check_files(paths: Sequence[Path]) -> None:
    """Whether these are rating sheets at all, which can be said before the sessions are read.

    Raises RatingError when a file cannot be read, is no sheet, or was given twice.
    """
    for number, path in enumerate(paths):
        if any(path.resolve() == other.resolve() for other in paths[:number]):
            raise RatingError(
                f"{path} was given twice.",
                safe=_SAFE,
                todo="Give one file for each rater.",
            )
        for _ in _rows(path):
            pass


def _rater(path: Path, before: Sequence[Rating]) -> str:
    """The name of the file; with its folder where another rater's is called the same."""
    taken = {rating.rater for rating in before}
    return path.stem if path.stem not in taken else f"{path.parent.name}/{path.stem}"


def _read(path: Path, sheet: Sheet) -> dict[str, bool]:
    expected = sheet.by_label
    says: dict[str, bool] = {}
    lines: dict[str, int] = {}
    for place in _rows(path):
        label = place.cell("label")
        if (cell := place.cell("sheet")) != sheet.id:
            place.refuse(
                "sheet",
                cell,
                f"{sheet.id}, the sheet of these sessions",
                "It was rated for another analysis: with other sessions, or before names were "
                f"added. Give the same sessions, or rate the {SHEET} of this analysis.",
            )
        if (line := expected.get(label)) is None:
            place.refuse(
                "label",
                label,
                f"a label of the sheet, {min(expected)} to {max(expected)}",
                "Remove rows that were added.",
            )
        if label in lines:
            place.refuse(
                "label",
                label,
                f"each label once; it is in line {lines[label]} already",
                "Remove one of the two rows.",
            )
        _same_name(place, line)
        says[label], lines[label] = _word(place, line), place.line
    if missing := [label for label in expected if label not in says]:
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        raise RatingError(
            f"{path}, column label: {count(len(missing), 'name')} of {len(expected)} missing "
            f"({', '.join(missing[:_SHOWN])}{more}); every name of the sheet is needed.",
            safe=_SAFE,
            todo=f"Put the missing rows back from {SHEET} and rate them.",
        )
    return says


def _same_name(place: _Place, line: Line) -> None:
    cell = place.cell("name")
    if _plain(line.name.text) not in map(_plain, names_in(cell)):
        place.refuse(
            "name",
            cell,
            MARK + line.name.text,
            "A program has changed the name, or somebody has. Put it back from "
            f"{SHEET}; save as CSV in UTF-8.",
        )


def _word(place: _Place, line: Line) -> bool:
    """yes or no; a name without others beside it can agree with none."""
    cell = place.cell(RATED)
    rating = WORDS.get(cell.casefold())
    if rating is None:
        place.refuse(RATED, cell, ", ".join(WORDS), "Every name needs an answer.")
    if rating and line.alone:
        place.refuse(
            RATED,
            cell,
            ALONE,
            "Nobody else named this dial, so that the name can agree with none.",
        )
    return rating


@dataclass(frozen=True, slots=True)
class _Place:
    """A row of a file. line: number of its first line in the file, from 1."""

    path: Path
    line: int
    cells: dict[str, str]

    def cell(self, column: str) -> str:
        return self.cells[column].strip()

    def refuse(self, column: str, text: str, allowed: str, todo: str) -> NoReturn:
        raise RatingError(
            f"{self.path}, line {self.line}, column {column}: found {text or 'nothing'}; "
            f"allowed: {allowed}.",
            safe=_SAFE,
            todo=todo,
        )


def _rows(path: Path) -> Iterator[_Place]:
    """The rows below the header that are not empty."""
    try:
        table = tables.read(files.content(path), padded=True)
        places = table.columns(NEEDED)
        for line, cells in table.rows:
            yield _Place(path, line, {column: cells[at] for column, at in places.items()})
    except OSError as error:
        raise RatingError(
            f"{path} cannot be read: {error.strerror or error}.",
            safe="No analysis was made.",
            todo=f"Give the path of the {SHEET} of an earlier analysis as a rater filled it in; is "
            "the name right, and the folder?",
        ) from error
    except tables.TableError as error:
        raise RatingError(
            f"{path}: {error.what}.",
            safe=_SAFE,
            todo=f"{error.todo}. Rate a copy of {SHEET} and leave its first row as it is.",
        ) from error


def _plain(text: str) -> str:
    """A name without what programs change unasked: kind of composition, line ends, outer blanks."""
    return unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n").strip()
