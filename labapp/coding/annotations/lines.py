"""Lines of a file of annotations: how they are written, read, checked and merged; without a file.

A line is canonical JSON, `{"body", "kind", "prev", "seq", "sum", "utc", "v"}`. `sum` is the
beginning of the SHA-256 of the line without it, so that a changed byte shows. `prev` is that of all
bytes of the file above it, so that a changed, removed or added line shows. Lines of older versions,
and those in bundles and packs, have no `prev`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import orjson

from labapp.base.clock import utc_text
from labapp.base.errors import AnnotationError
from labapp.base.reading.values import LINES, PROBLEMS, json_value
from labapp.record.journal.anchor import PREV, Chain, short

LONGEST = 256 * 1024
"""Bytes of a line."""
SUM = 16
"""Hexadecimal digits of a line's checksum."""
_KEYS = frozenset({"body", "kind", "seq", "sum", "utc", "v"})
_CHAINED = _KEYS | {PREV}


class Line(NamedTuple):
    """What was done, and when.

    Attributes
    ----------
    seq : number of the line in its file, from 1 without holes.
    utc : when it was written; never before that of a line before it.
    kind : what was done, such as `mark.put`.
    """

    seq: int
    utc: str
    kind: str
    v: int
    body: Mapping[str, Any]


class Problem(NamedTuple):
    """What is wrong with a line. line: its number in the file, from 1."""

    line: int
    what: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}"


@dataclass(frozen=True, slots=True)
class Lines:
    """What is read of a file.

    Attributes
    ----------
    lines : in their order, up to the first that is damaged.
    problems : of lines that are not as they were written.
    torn : what a crash cut off at the end, in words; empty where nothing is.
    ended : whether the last of them ends with a line's end.
    breaks : tuple of Problem
        Where the chain is broken: every line is as it was written, but not all that was above it.
    chained_from : the first line that is chained, which covers those above it; 0 where none is.
    """

    lines: tuple[Line, ...] = ()
    problems: tuple[Problem, ...] = ()
    torn: str = ""
    length: int = 0
    ended: bool = True
    breaks: tuple[Problem, ...] = ()
    chained_from: int = 0


def encode(line: Line, prev: str = "") -> bytes:
    """A line as its file has it, with its checksum and without the line's end. prev: the hash of
    what is above it in the file, where the line is chained.

    Raises
    ------
    AnnotationError : a text of it holds half a character, a number is too large, or it is too long.
    """
    fields = line._asdict()
    if prev:
        fields[PREV] = prev
    try:
        content = orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)
        fields["sum"] = hashlib.sha256(content).hexdigest()[:SUM]
        content = orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)
    except TypeError as error:
        raise AnnotationError(
            f"This cannot be stored ({error}).", todo="Write it in other words."
        ) from error
    if len(content) > LONGEST:
        raise AnnotationError(
            f"This has {len(content)} bytes, and a line holds at most {LONGEST}.",
            todo="Write less, or split it.",
        )
    return content


def decode(raw: bytes) -> Line:
    """A line of a file. Raises ValueError, in words, where it is not as it was written."""
    return _decoded(raw)[0]


def _decoded(raw: bytes) -> tuple[Line, str]:
    """A line and what it says of those above it; empty where it is not chained."""
    if len(raw) > LONGEST:
        raise ValueError(f"it is longer than {LONGEST} bytes")
    try:
        fields = json_value(raw)
    except ValueError as error:
        raise ValueError(f"it is damaged ({error})") from error
    if not isinstance(fields, dict) or fields.keys() not in (_KEYS, _CHAINED):
        raise ValueError("it is damaged: its keys are not those of a line")
    stored, prev = fields.pop("sum"), fields.pop(PREV, "")
    line = Line(**fields)
    types = (int, str, str, int, dict)
    typed = all(type(value) is kind for value, kind in zip(line, types, strict=True))
    if not typed or not isinstance(prev, str):
        raise ValueError("it is damaged: a value is of another type")
    try:
        content = encode(line, prev)
    except AnnotationError as error:
        raise ValueError(f"it is damaged ({error.what})") from error
    if content != raw:
        same = json_value(content)["sum"] == stored
        how = "is written otherwise" if same else "was changed, for its checksum does not fit"
        raise ValueError(f"it {how}")
    return line, prev


def parse(content: bytes) -> Lines:
    """The lines in the bytes of a file; nothing is raised for what is damaged. After `PROBLEMS`
    damaged lines, the rest is not looked at."""
    if content.count(b"\n") > LINES:
        what = f"the file has more than {LINES:,} lines, and no more are read"
        return Lines((), (Problem(LINES + 1, what),), "", len(content), ended=True)
    *whole, last = content.split(b"\n")
    ended = not last or not _is_line(last)
    if not ended:
        whole, last = [*whole, last], b""
    lines: list[Line] = []
    problems: list[Problem] = []
    breaks: list[Problem] = []
    expected, utc, chain = 1, "", Chain()
    for number, raw in enumerate(whole, start=1):
        try:
            line, prev = _decoded(raw)
        except ValueError as error:
            problems.append(Problem(number, str(error)))
            expected += 1
            chain.follow(raw + b"\n", None)
            if len(problems) == PROBLEMS and (left := len(whole) - number):
                what = f"{left:,} lines from here on were not looked at: too many are damaged"
                problems.append(Problem(number + 1, what))
                break
            continue
        if problem := chain.follow(raw + b"\n", prev):
            breaks.append(Problem(number, problem))
        if line.seq != expected:
            what = f"it has the number {line.seq}, and {expected} was due"
            problems.append(Problem(number, what))
        elif line.utc < utc:
            problems.append(Problem(number, "it was written before the line above it"))
        expected, utc = line.seq + 1, line.utc
        if not problems:
            lines.append(line)
    torn = ""
    if last:
        torn = f"The last line was cut off by a crash and is left out ({len(last)} bytes)."
    length = len(content) - len(last)
    return Lines(tuple(lines), tuple(problems), torn, length, ended, tuple(breaks), chain.begins)


def _is_line(raw: bytes) -> bool:
    try:
        decode(raw)
    except ValueError:
        return False
    return True


def checked(lines: Lines, place: str) -> Lines:
    """The lines where all are whole. Raises AnnotationError with the first that is not."""
    if not lines.problems:
        return lines
    more = f" {len(lines.problems) - 1} more are damaged." if len(lines.problems) > 1 else ""
    raise AnnotationError(
        f"{place}, {lines.problems[0]}.{more}",
        safe="It was only read; nothing was changed.",
        todo="Put back a copy of the file, or of the line. `labapp code verify` names every "
        "damaged line.",
    )


def merged(first: Sequence[Line], second: Sequence[Line]) -> tuple[Line, ...]:
    """The lines of two files of one rater as those of one, whichever comes first.

    What both have counts once; the rest stands in the order of time, so that a third file may come
    before or after them, too.
    """
    contents = {
        (line.utc, line.kind, line.v, orjson.dumps(line.body, option=orjson.OPT_SORT_KEYS)): line
        for line in (*first, *second)
    }
    ordered = (contents[key] for key in sorted(contents))
    return tuple(line._replace(seq=number) for number, line in enumerate(ordered, start=1))


def as_bytes(lines: Iterable[Line], *, chained: bool = False) -> bytes:
    """A file of these lines, numbered again. chained: whether each holds the hash of those above
    it. Raises AnnotationError as `encode`."""
    above, parts = hashlib.sha256(), list[bytes]()
    for number, line in enumerate(lines, start=1):
        content = encode(line._replace(seq=number), short(above) if chained else "") + b"\n"
        above.update(content)
        parts.append(content)
    return b"".join(parts)


def next_utc(last: str) -> str:
    """Now, and later than the last line's time also where the clock was set back."""
    now = utc_text(datetime.now(UTC))
    return now if now > last else after(last)


def after(utc: str) -> str:
    """The next time that a line can have; lines of one change are so close to each other."""
    return utc_text(datetime.fromisoformat(utc) + timedelta(microseconds=1))
