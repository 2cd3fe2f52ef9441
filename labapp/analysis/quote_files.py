"""Quotes as a file: Markdown, a page, or a table."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

from labapp.analysis.quotes import Quote, Quotes
from labapp.errors import UsageError
from labapp.report.formats import clock
from labapp.report.language import Verbatim
from labapp.report.page import Html, heading, joined, page, paragraph, render
from labapp.text_tables import Lines, cell

COLUMNS = (
    "study",
    "participant",
    "session",
    "tier",
    "code",
    "code_name",
    "rater",
    "onset_s",
    "offset_s",
    "onset_working_s",
    "conditions",
    "stage",
    "model",
    "trial",
    "attempt",
    "outcome",
    "solved",
    "correct",
    "alignment_onset",
    "alignment_gain",
    "text",
    "reviewed",
)
TITLE = "Quotes"
UNREAD = "not read against the sound"


def place_of(quote: Quote) -> str:
    """Who said it, when, and in what."""
    row = quote.row
    parts = [f"{row['participant']}, session {row['session']}", clock(row["onset_working_s"])]
    if row.get("conditions"):
        parts.append(str(row["conditions"]))
    if row.get("model"):
        parts.append(str(row["model"]))
    if row.get("trial") is not None:
        outcome = row.get("outcome")
        parts.append(f"question {row['trial']}" + (f" ({outcome})" if outcome else ""))
    if quote.unread:
        parts.append(UNREAD)
    return ", ".join(parts)


def as_markdown(quotes: Quotes, folder: Path) -> str:
    """Quotes by code, each with who, when and where, and its picture."""
    lines = [f"# {TITLE}", ""]
    for title, some in _by_code(quotes):
        lines += [f"## {_plain(title)}", ""]
        for quote in some:
            lines += [
                f"> “{_plain(str(quote.row['text']))}”",
                ">",
                f"> — {_plain(place_of(quote))}",
            ]
            lines.append("")
            if quote.picture:
                lines += [f"![The screen at that moment](<{quote.picture}>)", ""]
            elif quote.no_picture:
                lines += [f"*No picture: {_plain(quote.no_picture)}*", ""]
    if quotes.left_out:
        lines += ["## Left out", "", *(f"* {_plain(line)}" for line in quotes.left_out), ""]
    return "\n".join(lines)


def _by_code(quotes: Quotes) -> Iterator[tuple[str, list[Quote]]]:
    for _, group in groupby(quotes.quotes, key=lambda quote: quote.code):
        same = list(group)
        yield same[-1].title, same


def _plain(text: str) -> str:
    """A text in which nothing acts as Markdown."""
    escaped = "".join(f"\\{letter}" if letter in "\\`*_[]<>#|" else letter for letter in text)
    return " ".join(escaped.split())


def as_page(quotes: Quotes, folder: Path) -> str:
    """The same as a page that holds its pictures. folder: in which they lie."""
    parts: list[Html] = []
    for title, some in _by_code(quotes):
        parts.append(heading(2, Verbatim(title)))
        for quote in some:
            data = ""
            if quote.picture:
                data = base64.b64encode((folder / quote.picture).read_bytes()).decode("ascii")
            parts.append(
                render(
                    "labapp.report:quote.html",
                    words=Verbatim(str(quote.row["text"])),
                    place=Verbatim(place_of(quote)),
                    picture=data,
                    why=quote.no_picture,
                )
            )
    if quotes.left_out:
        parts.append(heading(2, "Left out"))
        parts += [paragraph(line) for line in quotes.left_out]
    return page(TITLE, heading(1, TITLE), joined(parts), joined([]))


def as_table(quotes: Quotes, folder: Path) -> str:
    """A row a quote."""
    stream = io.StringIO()
    writer = csv.writer(Lines(stream), lineterminator=Lines.END)
    writer.writerow((*COLUMNS, "picture"))
    for quote in quotes.quotes:
        values = [quote.row.get(name) for name in COLUMNS]
        writer.writerow(
            ["" if value is None else cell(value) for value in (*values, quote.picture)]
        )
    return stream.getvalue()


KINDS: Mapping[str, Callable[[Quotes, Path], str]] = {
    ".md": as_markdown,
    ".html": as_page,
    ".csv": as_table,
}
"""By the ending of the file, what is written."""


def kind_of(out: Path) -> Callable[[Quotes, Path], str]:
    """How a file is written. Raises UsageError for another ending, or a file that is there."""
    if (written := KINDS.get(out.suffix.lower())) is None:
        raise UsageError(
            f"{out.name} has no ending that says what to write.",
            safe="No quotes were written.",
            todo=f"Take one of {', '.join(KINDS)}, as in --out quotes.md",
        )
    for path in (out, pictures_of(out)):
        if path.exists():
            raise UsageError(
                f"{path} exists already.", safe="Nothing in it was changed.", todo="Name another."
            )
    return written


def pictures_of(out: Path) -> Path:
    """The folder of the pictures of a file of quotes."""
    return out.with_name(f"{out.stem}_pictures")
