"""What people wrote is never a formula in a text table, and always comes back."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.analysis.analyze import _to_csv, write
from labapp.analysis.folding.folded import SCHEMA
from labapp.analysis.tables import load
from labapp.analysis.writing_snapshots import write_snapshots
from labapp.base.reading.tables import STARTS, escape_cell, original, write_csv
from labapp.record.events.lifecycle import NoteAdded
from labapp.session.bids.export import export
from labapp.session.bids.folder import Table
from labapp.study.plugins.bids import Column
from labapp.tasks.reconstruction.events import LabelEdited
from tests.helpers.golden import golden_builder

TEXTS = st.text(st.sampled_from("'=+-@\t\r\n ab,;\"1é"), max_size=8) | st.text(max_size=20)
ACTIVE = ("=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "'=1", "''@x", "-5")
"""Among them what only looks like a number: it is a text."""
PLAIN = ("3-5-6", "'tis", "wide", "a=b", "’=1")


@given(TEXTS)
def test_every_text_comes_back_and_none_is_active(text: str) -> None:
    cell = escape_cell(text)
    assert original(cell) == text
    assert not cell or cell[0] not in STARTS
    assert (cell == text) == (text.lstrip("'")[:1] not in set(STARTS))


@given(st.lists(st.tuples(TEXTS, st.floats(allow_nan=False), st.integers()), max_size=4))
def test_csv_gives_back_what_was_written(rows: list[tuple[str, float, int]]) -> None:
    stream = io.StringIO(newline="")
    write_csv(stream, ("text", "number", "whole"), rows)
    header, *read = csv.reader(io.StringIO(stream.getvalue(), newline=""))
    assert header == ["text", "number", "whole"]
    assert [(original(a), float(b), int(c)) for a, b, c in read] == rows
    assert all(cells[0][:1] not in set(STARTS) for cells in read)


@pytest.mark.parametrize("text", [*ACTIVE, *PLAIN])
def test_tables_of_a_bundle_and_frames_agree(text: str, tmp_path: Path) -> None:
    columns = [Column("text", "A text."), Column("number", "A number.")]
    table = Table(columns, [{"text": text, "number": -0.5}])
    line = table.text().splitlines()[1]
    assert line == f"{escape_cell(text)}\t-0.5"
    _to_csv(pd.DataFrame({"text": [text, None], "number": [-0.5, None]}), tmp_path / "t.csv")
    read = pd.read_csv(tmp_path / "t.csv")
    assert read["text"].iloc[0] == escape_cell(text)
    assert read["number"].iloc[0] == -0.5
    assert read.isna().iloc[1].all(), "what is missing stays empty"


@pytest.mark.parametrize(
    "text", ['"', '"open', '"shut" and more', 'in "the" middle', '""', '="x', 'a 24" screen', '\\"']
)
def test_quotation_marks_in_a_table_of_a_bundle_come_back(text: str) -> None:
    columns = [Column("text", "A text."), Column("more", "A text.")]
    rows = [{"text": text, "more": "first"}, {"text": "second", "more": text}]
    stream = io.StringIO(Table(columns, rows).text())
    cells = [line.split("\t") for line in stream.getvalue().splitlines()[1:]]
    # To R a mark anywhere in a cell begins a quotation.
    assert all(cell[0] == cell[-1] == '"' for line in cells for cell in line if '"' in cell)
    read = pd.read_csv(stream, sep="\t", keep_default_na=False)
    assert [original(cell) for cell in read["text"]] == [text, "second"]
    assert [original(cell) for cell in read["more"]] == ["first", text]


def test_the_large_table_is_escaped_as_the_others_are(tmp_path: Path) -> None:
    text_columns = [field.name for field in SCHEMA if "string" in str(field.type)]
    texts = [*ACTIVE, *PLAIN, "\ttab", "\rreturn", "", "'", "''"]
    rows = []
    for text in texts:
        row = {field.name: 0 if "string" not in str(field.type) else text for field in SCHEMA}
        rows.append(row | {field.name: [] for field in SCHEMA if "list" in str(field.type)})
    frame = pd.DataFrame(rows)
    write_snapshots(frame, tmp_path / "s.csv", tmp_path / "s.parquet")
    with (tmp_path / "s.csv").open(newline="", encoding="utf-8") as file:
        read = list(csv.DictReader(file))
    for name in text_columns:
        assert [row[name] for row in read] == [escape_cell(text) for text in texts]
    assert pq.read_table(tmp_path / "s.parquet")[text_columns[0]].to_pylist() == texts


def test_a_session_with_formulas(tmp_path: Path) -> None:
    """Escaped in a bundle's and an analysis' text tables, verbatim in Parquet and in `load`."""
    builder = golden_builder()
    for at, (t_ns, source, unstamped) in enumerate(builder.rows):
        if isinstance(unstamped.payload, LabelEdited):
            payload = replace(unstamped.payload, text="=HYPERLINK(0)")
            builder.rows[at] = (t_ns, source, replace(unstamped, payload=payload))
        elif isinstance(unstamped.payload, NoteAdded):
            payload = replace(unstamped.payload, text="+1 @lab\tthen")
            builder.rows[at] = (t_ns, source, replace(unstamped, payload=payload))
    bundle = export([builder.write(tmp_path / "data")], tmp_path / "bundle")
    (events,) = bundle.glob("sub-*/ses-*/beh/*_task-session_events.tsv")
    texts = set(pd.read_csv(events, sep="\t")["text"].dropna())
    assert "'+1 @lab then" in texts
    tables = load(bundle)
    assert "=HYPERLINK(0)" in set(tables.labels["text"])
    write(tables, tmp_path / "out")
    labels = pd.read_csv(tmp_path / "out" / "labels.csv")
    assert "'=HYPERLINK(0)" in set(labels["text"])
    verbatim = pd.read_parquet(tmp_path / "out" / "labels.parquet")
    assert "=HYPERLINK(0)" in set(verbatim["text"])
    active = []
    for path in (*bundle.rglob("*.tsv"), *(tmp_path / "out").glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            every = csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ",")
            cells = (cell for row in every for cell in row)
            active += [(path.name, c) for c in cells if c[:1] in set(STARTS) and not number(c)]
    assert active == []
    codebook = json.loads((bundle / "sourcedata/labapp/codebook.json").read_text())
    assert "apostrophe" in codebook["text in tables"]


def number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
