"""CSV and TSV for people: no cell of text is carried out as a formula by a spreadsheet program.

A cell of text that begins with = + - @, a tab or a carriage return gets an apostrophe in front, and
so does one that begins with apostrophes before one of these: so every text comes back, by
`original`. Numbers are never touched, negative ones neither. Whatever leaves labapp as a text table
goes through here; Parquet holds the text as it is.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from typing import IO, Any

MARK = "'"
STARTS = "=+-@\t\r"
_ACTIVE = re.compile(rf"{MARK}*[{re.escape(STARTS)}]")
SAID = (
    "A cell of text that begins with = + - @, a tab or a carriage return stands behind an "
    "apostrophe, so that no spreadsheet program carries it out (and one that begins with "
    "apostrophes before one of these has one more). Take it off to get the text. Numbers are as "
    "they are; the journal has every text verbatim."
)
"""What codebooks say of it."""


def escaped(text: str) -> str:
    """A text as it stands in a cell."""
    return MARK + text if _ACTIVE.match(text) else text


def original(cell: str) -> str:
    """The text of a cell: the inverse of `escaped`."""
    return cell[1:] if cell.startswith(MARK) and _ACTIVE.match(cell) else cell


class AsItIs(str):
    """A cell that is written already: the digits of a number, or a text with its mark."""

    __slots__ = ()


def cell(value: Any) -> Any:
    """A value for a cell: text escaped, anything else as it is."""
    return escaped(value) if isinstance(value, str) and not isinstance(value, AsItIs) else value


class Lines:
    """What a writer of CSV writes to, line by line, so that carriage returns in cells are quoted:
    Python quotes them only where lines end with one. end: what lines end with after all."""

    END = "\r\n"

    def __init__(self, stream: IO[str], end: str = "\n") -> None:
        self._stream, self._end = stream, end

    def write(self, line: str) -> int:
        return self._stream.write(line.removesuffix(self.END) + self._end)


def write_csv(
    stream: IO[str], header: Sequence[str], rows: Iterable[Sequence[Any]], end: str = "\n"
) -> None:
    """A table as CSV with commas; None is an empty cell. end: of each line."""
    writer = csv.writer(Lines(stream, end), lineterminator=Lines.END)
    writer.writerow(header)
    writer.writerows([cell(value) for value in row] for row in rows)
