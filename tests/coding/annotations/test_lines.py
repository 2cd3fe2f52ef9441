"""Lines of files of annotations: what is written is read, and what was changed is found."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.base.clock import utc_text
from labapp.base.errors import AnnotationError
from labapp.coding.annotations.ledger import (
    LONGEST,
    Line,
    as_bytes,
    checked,
    decode,
    encode,
    merged,
    next_utc,
    parse,
)
from tests.helpers.nightly import EVERYTHING

few = settings(max_examples=100 if EVERYTHING else 6)
BEGAN = datetime(2026, 1, 2, tzinfo=UTC)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
BODIES = st.dictionaries(TEXT, VALUES, max_size=4)


def at(number: int) -> str:
    """A time, later for greater numbers."""
    return utc_text(BEGAN + timedelta(microseconds=number))


def lines_of(entries: list[tuple[int, dict[str, Any]]]) -> tuple[Line, ...]:
    """A file of bodies, each written at its time."""
    ordered = sorted(dict(entries).items())
    return tuple(
        Line(seq, at(time), "mark.put", 1, body)
        for seq, (time, body) in enumerate(ordered, start=1)
    )


FILES = st.lists(st.tuples(st.integers(0, 50), BODIES), max_size=8).map(lines_of)


@few
@given(FILES)
def test_what_is_written_is_read(lines: tuple[Line, ...]) -> None:
    read = parse(as_bytes(lines))
    assert read.lines == lines
    assert not read.problems
    assert not read.torn


@few
@given(FILES.filter(bool), st.data())
def test_every_changed_byte_is_found(lines: tuple[Line, ...], data: st.DataObject) -> None:
    content = as_bytes(lines)
    place = data.draw(st.integers(0, len(content) - 1))
    value = data.draw(st.integers(0, 255).filter(lambda v: v != content[place]))
    changed = content[:place] + bytes([value]) + content[place + 1 :]
    read = parse(changed)
    number = content.count(b"\n", 0, place) + 1
    if place == len(content) - 1:
        assert read.torn, "the end of the last line"
        assert read.lines == lines[:-1]
        return
    assert read.problems
    assert read.problems[0].line == number
    with pytest.raises(AnnotationError, match=f"line {number}: "):
        checked(read, "anna.jsonl")


@few
@given(FILES.filter(bool), st.data())
def test_a_line_that_was_cut_off_is_left_out(lines: tuple[Line, ...], data: st.DataObject) -> None:
    content = as_bytes(lines)
    cut = data.draw(st.integers(1, len(encode(lines[-1]))))
    read = parse(content[:-cut])
    if cut == 1:
        assert read.lines == lines, "only the end of the line is missing"
        assert not read.ended
        return
    assert read.lines == lines[:-1]
    assert not read.problems
    assert ("cut off" in read.torn) == (content[-cut - 1 : -cut] != b"\n")


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "damaged"),
        (b"[]", "its keys are not those of a line"),
        (b'{"body":{}}', "its keys are not those of a line"),
        (b'{"body":[],"kind":"a","seq":1,"sum":"","utc":"","v":1}', "of another type"),
        (b'{"body":{},"kind":"a","seq":true,"sum":"","utc":"","v":1}', "of another type"),
        (b'{"body":{},"kind":"a","seq":1,"sum":"","utc":"","v":1}', "was changed"),
        (b"[" * 100, "damaged"),
        (b" " * (LONGEST + 1), "longer than"),
        (b"\xff", "damaged"),
    ],
)
def test_what_is_no_line(raw: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        decode(raw)


def test_a_line_written_otherwise_is_told_from_a_changed_one() -> None:
    raw = encode(Line(1, at(0), "a", 1, {}))
    with pytest.raises(ValueError, match="written otherwise"):
        decode(raw.replace(b'"body":{}', b'"body": {}'))


def test_a_missing_and_a_doubled_line_are_found() -> None:
    first, second, third = (encode(Line(n, at(n), "a", 1, {})) + b"\n" for n in (1, 2, 3))
    assert [str(p) for p in parse(first + third).problems] == [
        "line 2: it has the number 3, and 2 was due"
    ]
    assert [p.line for p in parse(first + second + second + third).problems] == [3]
    early = encode(Line(2, at(0), "a", 1, {})) + b"\n"
    assert "written before the line above" in str(parse(first + early).problems[0])


@pytest.mark.parametrize("body", [{"n": 2**70}, {"text": "\ud800"}, {"text": "x" * LONGEST}])
def test_what_cannot_be_stored(body: dict[str, Any]) -> None:
    with pytest.raises(AnnotationError):
        encode(Line(1, at(0), "a", 1, body))


@few
@given(FILES, FILES, FILES)
def test_merging_does_not_ask_for_an_order(
    a: tuple[Line, ...], b: tuple[Line, ...], c: tuple[Line, ...]
) -> None:
    assert merged(a, b) == merged(b, a)
    assert merged(a, a) == a
    assert merged(a, ()) == a
    assert not parse(as_bytes(merged(a, b))).problems
    assert merged(merged(a, b), c) == merged(a, merged(b, c))


def test_time_goes_on_where_the_clock_was_set_back() -> None:
    late = "2999-01-01T00:00:00.000000Z"
    assert next_utc(late) == "2999-01-01T00:00:00.000001Z"
    assert next_utc("") > "2020"
