"""Tables from outside, as text: the one reader of CSV and its kin.

It reads what spreadsheet programs, R and pandas write: UTF-8, UTF-16 or Windows' Western European;
commas, semicolons or tabs; Excel's `sep=` line; any end of line. Cells come with letters composed
(NFC) and without the apostrophe of our own tables. A quote that never closes is refused,
and so is a row of more cells than its first line: such a row was written with the wrong separator
or an unquoted comma, and its cells would be taken for those of other columns.

CSV and TSV for people: no cell of text is carried out as a formula by a spreadsheet program.

A cell of text that begins with = + - @, a tab or a carriage return gets an apostrophe in front, and
so does one that begins with apostrophes before one of these: so every text comes back, by
`original`. Numbers are never touched, negative ones neither. Whatever leaves labapp as a text table
goes through here; Parquet holds the text as it is.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from labapp.base.reading.values import ENTRIES, LINES, MEMORY, Budget, TooMuch, steering_in

SEPARATORS = ",;\t"


class TableError(ValueError):
    """A text is no table. what: what is wrong, with the line where it has one; todo: what to do."""

    def __init__(self, what: str, todo: str) -> None:
        super().__init__(what)
        self.what, self.todo = what, todo


@dataclass(frozen=True, slots=True)
class TextTable:
    """The lines of a table that are not empty.

    Attributes
    ----------
    separator : what is between cells.
    first : the cells of the first line.
    line : the number of the first line in the file, from 1.
    rows : the lines below it with their numbers; each has as many cells as the first line.
    """

    separator: str
    first: tuple[str, ...]
    line: int
    rows: Iterator[tuple[int, tuple[str, ...]]]

    @property
    def decimal_comma(self) -> bool:
        """Whether a comma within a number is a decimal point, since it separates no cells."""
        return self.separator != ","

    def columns(self, needed: Sequence[str], known: Sequence[str] = ()) -> dict[str, int]:
        """Where each named column is; `needed` and `known` are found whatever their case. Raises
        TableError: a needed column is missing, or a column is there twice."""
        as_written = {name.casefold(): name for name in (*known, *needed)}
        places: dict[str, int] = {}
        for place, cell in enumerate(self.first):
            name = as_written.get(cell.strip().casefold(), cell.strip())
            if name and name in places:
                raise TableError(
                    f"line {self.line} has two columns called {name}", "Name each column once"
                )
            if name:
                places[name] = place
        if missing := [name for name in needed if name not in places]:
            found = ", ".join(places) or "none"
            raise TableError(
                f"line {self.line} has no column {', '.join(missing)} (found: {found})",
                f"Name the columns in the first line: {', '.join(known or needed)}",
            )
        return places


def decode_text(content: bytes) -> str:
    """Decode the bytes of a table as text, with composed letters. Raises TableError."""
    if content.startswith((b"PK", b"\xd0\xcf\x11\xe0")):
        raise TableError("it is a workbook of a spreadsheet program", "Save it as CSV in UTF-8")
    marked = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ("utf-16",) if marked else ("utf-8-sig", "cp1252"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text and (encoding != "cp1252" or steering_in(text) is None):
            return unicodedata.normalize("NFC", text)
    raise TableError("it is not text in UTF-8, UTF-16 or Windows-1252", "Save it as CSV in UTF-8")


def read(
    content: bytes,
    *,
    padded: bool = False,
    quotes: bool = True,
    entries: int = ENTRIES,
    memory: int = MEMORY,
) -> TextTable:
    """The table in some bytes. Raises TableError: it is not text or has no line, and later, from
    `rows`: a quote never closes, a row has more cells than the first line (or fewer, unless
    `padded`), or there are too many.

    Parameters
    ----------
    padded : take a row of fewer cells than the first line as if the last ones were empty.
    quotes : whether a cell that holds a separator is in quotes; else quotes are part of its text.
    entries, memory : rows, and bytes of their cells, that are read at most.
    """
    text = decode_text(content)
    if max(map(text.count, SEPARATORS + "\n")) > max(LINES, entries):
        # Before the rows are read, for one of them can have all cells.
        raise TableError(f"it has more than {LINES:,} cells", "Check that it is the right file")
    skipped = 0
    separator = ""
    head, _, below = text.partition("\n")
    if head.casefold().startswith("sep=") and len(head.strip()) <= len("sep=,"):
        separator = head.strip("\r\n")[len("sep=") :] or ","
        text, skipped = below, 1
    else:
        first = text.lstrip("\r\n").partition("\n")[0]
        separator = max(SEPARATORS, key="".join(first.split('"')[::2]).count)
    lines = _lines(text, separator, skipped, Budget(memory, entries), quotes=quotes)
    line, cells = next(lines, (0, ()))
    if not cells:
        raise TableError("it is empty", "Give a line that names the columns, and rows below it")
    return TextTable(separator, cells, line, _even(lines, line, len(cells), padded))


def _lines(
    text: str, separator: str, skipped: int, budget: Budget, *, quotes: bool
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The lines that are not empty, with their numbers."""
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        strict=True,
    )
    at = 1 + skipped
    try:
        for row in reader:
            budget.take(memory=8 * len(row))
            if any(cell.strip() for cell in row):
                budget.entry(*row)
                yield at, tuple(map(original, row))
            at = 1 + skipped + reader.line_num
    except TooMuch as error:
        raise TableError(str(error), "Check that it is the right file, or split it") from error
    except csv.Error as error:
        what = f"is not CSV ({error})"
        if "unexpected end of data" in str(error):
            what = "begins a quoted cell that is never closed"
        elif "field limit" in str(error):
            what = f"has a cell of more than {csv.field_size_limit():,} characters"
        raise TableError(
            f"line {at} {what}", "Correct the quotes in this line, or save the table again as CSV"
        ) from error


def _even(
    lines: Iterator[tuple[int, tuple[str, ...]]], first: int, width: int, padded: bool
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Rows as long as the first line: empty cells behind it are what spreadsheets leave there."""
    for line, cells in lines:
        while len(cells) > width and not cells[-1].strip():
            cells = cells[:-1]
        if len(cells) > width or (len(cells) < width and not padded):
            raise TableError(
                f"line {line} has {len(cells)} cells, and line {first} has {width}",
                "Put cells that contain a comma in double quotes, or separate the cells with "
                "semicolons",
            )
        yield line, cells + ("",) * (width - len(cells))


MARK = "'"
STARTS = "=+-@\t\r"
_ACTIVE = re.compile(rf"{MARK}*[{re.escape(STARTS)}]")
SAID = (
    "A text cell that begins with = + - @, a tab or a carriage return has an apostrophe in "
    "front, so that no spreadsheet program runs it as a formula (a text that begins with "
    "apostrophes before one of these gets one more). Remove it to get the text. Numbers are "
    "unchanged; the journal has every text verbatim."
)
"""What codebooks say of it."""


def escape_cell(text: str) -> str:
    """A text as it stands in a cell."""
    return MARK + text if _ACTIVE.match(text) else text


def original(cell: str) -> str:
    """The text of a cell: the inverse of `escape_cell`."""
    return cell[1:] if cell.startswith(MARK) and _ACTIVE.match(cell) else cell


class AsItIs(str):
    """A cell that is written already: the digits of a number, or a text with its mark."""

    __slots__ = ()


def cell(value: Any) -> Any:
    """A value for a cell: text escaped, anything else as it is."""
    return escape_cell(value) if isinstance(value, str) and not isinstance(value, AsItIs) else value


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
