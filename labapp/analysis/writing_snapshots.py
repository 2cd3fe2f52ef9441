"""The large table as files: row group by row group, never all of it in memory."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from labapp.analysis.columns import SNAPSHOTS
from labapp.analysis.folding.folded import NUMBERS, SCHEMA
from labapp.analysis.snapshots import GROUP, Snapshots
from labapp.analysis.tables import build_frame
from labapp.base.reading.tables import MARK, STARTS


def write_snapshots(given: Snapshots | pd.DataFrame, csv: Path, parquet: Path) -> None:
    """Both files, neither of which may be there, as `writing.write` makes those of other tables:
    columns, types and every character are the same. Raises OSError."""
    tables = (
        given.groups()
        if isinstance(given, Snapshots)
        else [pa.Table.from_pandas(given, SCHEMA, preserve_index=False)]
    )
    with (
        parquet.open("xb") as file,
        csv.open("xb") as lines,
        pq.ParquetWriter(file, _WRITTEN) as writer,
    ):
        lines.write(f"{','.join(SCHEMA.names)}\n".encode())
        for table in tables:
            writer.write_table(table.cast(_WRITTEN), row_group_size=GROUP)
            for batch in table.to_batches(max_chunksize=LINES):
                lines.write(as_text(batch))


LINES = 20_000
"""Rows that are made text together."""
_WRITTEN = pa.Schema.from_pandas(build_frame([{"z": [0.0]}], SNAPSHOTS), preserve_index=False)
"""The types that pandas would write, and what it notes about them for its own reading."""
_TEXT = pa.string()


def as_text(batch: pa.RecordBatch) -> bytes:
    """Rows as the CSV has them: numbers as Python writes them, text escaped as
    `labapp.base.reading.tables` does it."""
    cells = [_cells(column) for column in batch.columns]
    rows = pc.binary_join_element_wise(*cells, ",", null_handling="replace", null_replacement="")
    whole = pc.binary_join(pa.ListArray.from_arrays([0, len(rows)], rows), "\n")
    return f"{whole[0].as_py()}\n".encode() if len(rows) else b""


def _cells(column: pa.Array) -> pa.Array:
    if column.type == NUMBERS:
        joined = pc.binary_join(
            pa.ListArray.from_arrays(column.offsets, _numbers(column.values)), ", "
        )
        return _quoted(pc.binary_join_element_wise("[", joined, "]", ""))
    if pa.types.is_floating(column.type):
        return _numbers(column)
    text = column.cast(_TEXT)
    if pa.types.is_integer(column.type):
        return text
    first = pc.utf8_slice_codeunits(pc.utf8_ltrim(text, MARK), 0, 1)
    active = pc.is_in(first, value_set=pa.array(list(STARTS), _TEXT))
    return _quoted(pc.if_else(active, pc.binary_join_element_wise(MARK, text, ""), text))


def _quoted(text: pa.Array) -> pa.Array:
    """Text in quotation marks if it holds what separates cells or lines."""
    special = pc.match_substring_regex(text, r'[",\r\n]')
    if not pc.any(special).as_py():
        return text
    inside = pc.replace_substring(text, '"', '""')
    return pc.if_else(special, pc.binary_join_element_wise('"', inside, '"', ""), text)


def _numbers(column: pa.Array) -> pa.Array:
    """Each different number is written by Python once. They differ by their bits: 0.0 and -0.0 are
    equal to Arrow."""
    distinct = column.view(pa.int64()).dictionary_encode()
    numbers = distinct.dictionary.view(column.type).to_pylist()
    return pa.array(map(repr, numbers), _TEXT).take(distinct.indices)
