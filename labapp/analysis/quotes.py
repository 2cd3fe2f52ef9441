"""Quotes for a paper: what participants said with a code, if that was agreed.

Quotes as a file: Markdown, a page, or a table.
"""

from __future__ import annotations

import base64
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from labapp.analysis.coding_section import PERSON, select_counted_marks
from labapp.analysis.declared import PREFIX
from labapp.analysis.speech_rows import WITHHELD
from labapp.analysis.tables import Tables
from labapp.base.errors import TargetExists, UsageError
from labapp.base.naming import natural
from labapp.base.reading.tables import Lines, cell
from labapp.base.report.listing import records
from labapp.base.report.page import (
    Html,
    Verbatim,
    clock,
    count,
    heading,
    join_parts,
    page,
    paragraph,
    render,
)

CONDITION = "condition"
"""In `--where`: any of the participant's conditions, or a level of any factor."""
WHERE = (
    *("participant", "session", "study", "stage", "model", "trial"),
    *("outcome", "solved", "skipped", "correct"),
    *("tier", "code", "rater", "speaker"),
)
"""Columns of the table `coded` that quotes can be chosen by, besides those of factors."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Something a participant said.

    Attributes
    ----------
    row : its row of the table `coded`.
    picture : path of the screen at its onset, from the file of quotes; empty without one.
    no_picture : why there is none; empty if nobody asked for one.
    """

    row: Mapping[str, Any]
    picture: str = ""
    no_picture: str = ""

    @property
    def who(self) -> tuple[str, str, str]:
        """Study, participant and session."""
        return str(self.row["study"]), str(self.row["participant"]), str(self.row["session"])

    @property
    def onset_ns(self) -> int:
        """Session time."""
        return round(float(self.row["onset_s"]) * 1e9)

    @property
    def code(self) -> str:
        """Its id with its tier."""
        return f"{self.row['tier']}: {self.row['code']}"

    @property
    def unread(self) -> bool:
        """Whether nobody has read its words against the sound."""
        return not self.row["reviewed"]

    @property
    def title(self) -> str:
        """The name of its code with its tier."""
        return f"{self.row['tier']}: {self.row['code_name'] or self.row['code']}"

    def with_picture(self, path: str, why: str = "") -> Quote:
        """The same with its picture, or why it has none."""
        return replace(self, picture=path, no_picture=why)


@dataclass(frozen=True, slots=True)
class Quotes:
    """What may be quoted, and what was left out, a sentence each."""

    quotes: tuple[Quote, ...]
    left_out: tuple[str, ...]


def choose_quotes(
    tables: Tables,
    codes: Sequence[str] = (),
    where: Mapping[str, str] | None = None,
    most: int | None = None,
    *,
    unread: bool = False,
) -> Quotes:
    """Choose quotes out of the final coding.

    Parameters
    ----------
    tables : of sessions that count.
    codes : ids of codes, or `tier:code`; all if none is named.
    where : values by column of the table `coded`, by factor, or by `condition`.
    most : so many of a code, the first of each participant before any second one.
    unread : also words that nobody has read against the sound; each is marked.

    Raises
    ------
    UsageError : there is no such code, or no such column.
    """
    marks = tables.coded if where and "speaker" in where else select_counted_marks(tables.coded)
    marks = _of_codes(marks, codes)
    for name, value in (where or {}).items():
        marks = marks[_matching(marks, name, value)]
    people = tables.participants[[*PERSON, "session", "consent_quote"]]
    marks = marks.merge(people, on=[*PERSON, "session"], how="left")
    agreed = marks["consent_quote"].fillna(value=True).astype(bool)
    with_words = marks["text"].notna()
    nothing_left = with_words & marks["text"].fillna("").map(_is_redacted_whole).astype(bool)
    left = []
    if n := int((~agreed).sum()):
        left.append(f"{count(n, 'mark')} from participants who did not agree to be quoted.")
    for why in WITHHELD:
        same = agreed & ~with_words & (marks["text_withheld"].fillna("") == why)
        if n := int(same.sum()):
            left.append(f"{count(n, 'mark')} without words: {WITHHELD[why]}.")
    if n := int((agreed & nothing_left).sum()):
        left.append(f"{count(n, 'mark')} on words that are redacted as a whole.")
    quotable = agreed & with_words & ~nothing_left
    drafts = quotable & ~marks["reviewed"].fillna(value=False).astype(bool)
    if (n := int(drafts.sum())) and not unread:
        left.append(
            f"{count(n, 'mark')} on words that nobody has checked against the sound, because "
            "they were written by a speech model or imported."
        )
        quotable &= ~drafts
    quotes = sorted(
        (Quote(row) for row in records(marks[quotable])),
        key=lambda quote: (
            quote.code,
            natural(quote.row["participant"]),
            natural(quote.row["session"]),
            quote.onset_ns,
        ),
    )
    if most is not None:
        every, quotes = len(quotes), list(_first(quotes, most))
        if more := every - len(quotes):
            left.append(f"{count(more, 'more quote')} beyond the limit of {most} per code.")
    return Quotes(tuple(quotes), tuple(left))


def _is_redacted_whole(text: object) -> bool:
    """Whether nothing is left of a text besides what stands for redacted words."""
    return re.search(r"\w", re.sub(r"\[[^\]]*\]", "", str(text))) is None


def _of_codes(marks: pd.DataFrame, codes: Sequence[str]) -> pd.DataFrame:
    if not codes:
        return marks
    known = sorted(set(zip(marks["tier"], marks["code"], strict=True)))
    chosen: set[tuple[str, str]] = set()
    for name in codes:
        tier, _, code = name.rpartition(":")
        same = {pair for pair in known if pair[1] == code and tier in ("", pair[0])}
        if not same:
            listed = ", ".join(f"{a}:{b}" for a, b in known)
            raise UsageError(
                f"No participant has the code {name!r}.",
                safe="No quotes were written.",
                todo=f"Codes that were used here: {listed or 'none'}.",
            )
        chosen |= same
    pairs = zip(marks["tier"], marks["code"], strict=True)
    return marks[pd.Series([pair in chosen for pair in pairs], marks.index, dtype=bool)]


def _matching(marks: pd.DataFrame, name: str, value: str) -> pd.Series[bool]:
    factors = [str(column) for column in marks if str(column).startswith(PREFIX)]
    if name == CONDITION:
        cells = marks["conditions"].fillna("").map(lambda text: value in _cells(str(text)))
        same = cells.astype(bool)
        for factor in factors:
            same |= _as_text(marks[factor]) == value
        return same
    column = f"{PREFIX}{name}" if f"{PREFIX}{name}" in factors else name
    if column not in (*WHERE, *factors):
        allowed = ", ".join([CONDITION, *WHERE, *(f.removeprefix(PREFIX) for f in factors)])
        raise UsageError(
            f"--where {name}={value}: quotes cannot be chosen by {name!r}.",
            safe="No quotes were written.",
            todo=f"Choose one of these: {allowed}.",
        )
    return _as_text(marks[column]) == value


def _cells(text: str) -> list[str]:
    """The cells in a text such as `condition: a, b; order: ba`."""
    cells: list[str] = []
    for variable in text.split("; "):
        name, sign, drawn = variable.partition(": ")
        own = (drawn if sign else name).split(", ")
        cells += [*own, *(f"{name}={cell}" for cell in own if sign)]
    return cells


def _as_text(values: pd.Series[Any]) -> pd.Series[str]:
    """Values as they are written on a command line; truths as yes and no."""
    if str(values.dtype) == "boolean":
        return values.map({True: "yes", False: "no"}).astype("string").fillna("")
    return values.astype("string").fillna("")


def _first(quotes: Sequence[Quote], most: int) -> Iterator[Quote]:
    """So many of each code: the first of each participant, then the second of each."""
    for _, group in groupby(quotes, key=lambda quote: quote.code):
        same = list(group)
        turns: Counter[tuple[str, str, str]] = Counter()
        ranked = []
        for place, quote in enumerate(same):
            turns[quote.who] += 1
            ranked.append((turns[quote.who], place))
        yield from (same[place] for place in sorted(place for _, place in sorted(ranked)[:most]))


COLUMNS = (
    *("study", "participant", "session", "tier", "code", "code_name", "rater"),
    *("onset_s", "offset_s", "onset_working_s", "conditions", "stage", "model", "trial", "attempt"),
    *("outcome", "solved", "correct", "alignment_onset", "alignment_gain", "text", "reviewed"),
)
TITLE = "Quotes"


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
        parts.append("not read against the sound")
    return ", ".join(parts)


def as_markdown(quotes: Quotes, folder: Path) -> str:
    """Quotes by code, each with who, when and where, and its picture."""
    lines = [f"# {TITLE}", ""]
    for title, some in _by_code(quotes):
        lines += [f"## {_plain(title)}", ""]
        for quote in some:
            words, place = _plain(str(quote.row["text"])), _plain(place_of(quote))
            lines += [f"> “{words}”", ">", f"> — {place}", ""]
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
                    "labapp.base.report:quote.html",
                    words=Verbatim(str(quote.row["text"])),
                    place=Verbatim(place_of(quote)),
                    picture=data,
                    why=quote.no_picture,
                )
            )
    if quotes.left_out:
        parts.append(heading(2, "Left out"))
        parts += [paragraph(line) for line in quotes.left_out]
    return page(TITLE, heading(1, TITLE), join_parts(parts), join_parts([]))


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
    """How a file is written. Raises UsageError for another ending, TargetExists for a file
    that is there."""
    if (written := KINDS.get(out.suffix.lower())) is None:
        raise UsageError(
            f"The ending of {out.name} does not show which kind of file to write.",
            safe="No quotes were written.",
            todo=f"Use one of {', '.join(KINDS)}, as in --out quotes.md",
        )
    for path in (out, pictures_of(out)):
        if path.exists():
            raise TargetExists(
                f"{path} exists already.",
                safe="Nothing in it was changed.",
                todo="Choose another name.",
            )
    return written


def pictures_of(out: Path) -> Path:
    """The folder of the pictures of a file of quotes."""
    return out.with_name(f"{out.stem}_pictures")
