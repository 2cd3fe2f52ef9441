"""The journal as an Arrow table and as Parquet; the payload's text is kept verbatim."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from labapp.base.errors import RecordError
from labapp.base.reading import files
from labapp.record.journal.layout import BUNDLE_VERSION
from labapp.record.journal.read import MOST_ROWS, Row, make_row

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

REPEATED = ("utc", "source", "kind", "stage", "payload", "hash")
"""Columns of text in which equal texts are stored once: a million equal rows take little memory."""
LARGEST = 256 * files.MIB
"""Bytes of a journal, unpacked."""
_TOO_LARGE = f"it unpacks to more than {LARGEST} bytes"
BATCH = 16_384


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
    rows: list[Row] = []
    try:
        with pq.ParquetFile(
            pa.BufferReader(content),
            read_dictionary=REPEATED,
            thrift_string_size_limit=files.DOCUMENT,
            thrift_container_size_limit=len(SCHEMA) * MOST_ROWS,
        ) as file:
            _refuse_foreign(file)
            letters = 0
            for batch in file.iter_batches(BATCH, columns=SCHEMA.names, use_threads=False):
                batch.validate(full=True)  # damaged pages count texts that are not there
                letters += batch.nbytes
                if letters > LARGEST:
                    raise ValueError(_TOO_LARGE)
                columns = [_values(batch.column(field.name), field) for field in SCHEMA]
                rows += map(make_row, zip(*columns, strict=True))
    except (pa.ArrowException, OSError, KeyError, ValueError, MemoryError) as error:
        raise RecordError(
            f"The journal {place} is damaged or is not a journal ({error}).",
            safe="It was only read; nothing was changed.",
            todo="Export the session again, or use another copy of the bundle.",
        ) from error
    return rows


def _refuse_foreign(file: pq.ParquetFile) -> None:
    """Raises ValueError, before a value is unpacked, for columns or lengths that no journal has."""
    schema = file.schema_arrow
    for field in SCHEMA:
        at = schema.get_field_index(field.name)
        if at < 0:
            raise ValueError(f"the column {field.name} is missing")
        kind = schema.field(at).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if kind != field.type:
            raise ValueError(f"the column {field.name} contains {kind}, not {field.type}")
    if file.metadata.num_rows > MOST_ROWS:
        raise ValueError(
            f"it has {file.metadata.num_rows} rows, but labapp reads at most {MOST_ROWS}"
        )
    groups = (file.metadata.row_group(at) for at in range(file.metadata.num_row_groups))
    if sum(group.total_byte_size for group in groups) > LARGEST:
        raise ValueError(_TOO_LARGE)


def _values(column: pa.Array, field: pa.Field) -> list[Any]:
    """A column's values; texts that are there often are the same object each time."""
    if column.null_count and not field.nullable:
        raise ValueError(f"the column {field.name} has empty cells")
    if pa.types.is_dictionary(column.type):
        texts = [*column.dictionary.to_pylist(), None]
        return [texts[-1 if at is None else at] for at in column.indices.to_pylist()]
    values: list[Any] = column.to_pylist()
    return values
