"""The journal as an Arrow table and as Parquet; the payload's text is kept verbatim."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq

from labapp.errors import RecordError
from labapp.records.layout import BUNDLE_VERSION, COLUMNS
from labapp.records.rows import Row

SCHEMA = pa.schema(
    [
        pa.field("seq", pa.int64(), nullable=False),
        pa.field("segment", pa.int32(), nullable=False),
        pa.field("t_ns", pa.int64(), nullable=False),
        pa.field("utc", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("v", pa.int32(), nullable=False),
        pa.field("stage", pa.string()),
        pa.field("trial", pa.int32()),
        pa.field("attempt", pa.int32()),
        pa.field("payload", pa.string(), nullable=False),
        pa.field("hash", pa.string(), nullable=False),
        pa.field("redacted", pa.bool_(), nullable=False),
    ],
    metadata={"labapp.bundle_version": str(BUNDLE_VERSION)},
)
"""`layout.COLUMNS` with their types, and `redacted`."""


def table_of(rows: Sequence[Row]) -> pa.Table:
    """The rows as a table of `SCHEMA`."""
    columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMA)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def parquet_bytes(rows: Sequence[Row]) -> bytes:
    """The rows as a Parquet file."""
    sink = io.BytesIO()
    pq.write_table(table_of(rows), sink, compression="zstd")
    return sink.getvalue()


def rows_of(content: bytes, place: str) -> list[Row]:
    """The rows of a Parquet file. Raises RecordError when it is damaged or not a journal."""
    try:
        with pq.ParquetFile(pa.BufferReader(content)) as file:
            table = file.read(use_threads=False)  # quicker, where there is one small file
        columns = [table.column(name).to_pylist() for name in (*COLUMNS, "redacted")]
    except (pa.ArrowException, OSError, KeyError) as error:
        raise RecordError(
            f"The journal {place} is damaged or is not a journal ({error}).",
            safe="It was only read; nothing was changed.",
            todo="Export the session again, or take another copy of the bundle.",
        ) from error
    return list(map(_row, zip(*columns, strict=True)))


_row = partial(tuple.__new__, Row)
"""`Row._make` without a count of the items, which takes most of its time."""
