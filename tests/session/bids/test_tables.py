"""Cells and tables, and the timelines in cases the golden session does not have."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.record.events import registered
from labapp.record.events.lifecycle import LslClock, LslOff, LslOpened, SessionPaused
from labapp.record.journal.opening import open_record
from labapp.session.bids.contents import session_timeline
from labapp.session.bids.derived import codebook
from labapp.session.bids.folder import Table, cell
from labapp.study.plugins.bids import Column, seconds
from tests.helpers.journals import SessionBuilder


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "n/a"),
        ("", "n/a"),
        (True, "true"),
        (3, "3"),
        (2.0, "2"),
        (0.1, "0.1"),
        (1e-7, "1e-07"),
        (1e300, "1e+300"),
        ([0.5, 1.0], "[0.5,1.0]"),
        ("two\twords\nand more", "two words and more"),
        ("größer — 7", "größer — 7"),
    ],
)
def test_cells(value: object, text: str) -> None:
    assert cell(value) == text


@given(st.text())
def test_any_text_fits_one_cell(text: str) -> None:
    table = Table((Column("a", "A."), Column("b", "B.")), [{"a": text, "b": 1}])
    lines = table.text().split("\n")
    assert len(lines) == 3
    assert len(lines[1].split("\t")) == 2
    assert len(table.text().splitlines()) == 2


@given(st.integers(-(10**15), 10**15))
def test_seconds_are_exact(t_ns: int) -> None:
    from decimal import Decimal

    assert Decimal(seconds(t_ns)) == Decimal(t_ns) / 10**9


def test_the_codebook_has_every_kind_and_field() -> None:
    described = {row["kind"]: row for row in codebook()["events"]}
    assert set(described) == set(registered())
    for kind, cls in registered().items():
        assert list(described[kind]["fields"]) == list(cls.__struct_fields__)
        assert described[kind]["meaning"]


def test_a_crash_inside_a_pause_is_one_pause(tmp_path: Path) -> None:
    builder = SessionBuilder()
    builder.plan([])
    builder.segment(0, 1)
    builder.at(10, SessionPaused("break"))
    builder.segment(50, 2, gap_from=10)
    from labapp.record.events.lifecycle import SessionResumed

    builder.at(60, SessionResumed("moderator"))
    record = open_record(builder.write(tmp_path))
    rows = session_timeline(record.payloads()).rows
    found = [(r["trial_type"], r["onset"], r.get("duration")) for r in rows]
    assert found == [("segment", "0", "10"), ("pause", "10", "50"), ("segment", "50", None)]
    assert [(p.kind, p.start_ns, p.end_ns) for p in record.outline.pauses] == [
        ("pause", 10_000_000_000, 60_000_000_000)
    ]
    assert record.working_s == 10


def test_the_clock_of_lsl_stands_at_the_moment_it_was_read(tmp_path: Path) -> None:
    builder = SessionBuilder()
    builder.plan([])
    builder.segment(0, 1)
    builder.at(1, LslOpened("labapp-5fd0", ("events",), "1.16"))
    builder.at(7, LslClock(5_250_000_000, 81234.000123))
    builder.at(8, LslOff("The library was not found."))
    rows = session_timeline(open_record(builder.write(tmp_path)).payloads()).rows
    told = [(r["trial_type"], r["onset"], r.get("value"), r.get("text")) for r in rows[1:]]
    assert told == [
        ("lsl.opened", "1", None, "labapp-5fd0"),
        ("lsl.clock", "5.25", "81234.000123", None),
        ("lsl.off", "8", None, "The library was not found."),
    ]
