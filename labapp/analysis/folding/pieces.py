"""The rows of one table as bytes that can travel between processes and machines.

A piece is an Arrow stream with the columns of the table, each of its type. A cell with one number a
dimension is a JSON list, as in CSV, so that whole numbers stay whole; but a list of numbers among
the snapshots, of which there are many.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from labapp.analysis.column import Column, Kind

if TYPE_CHECKING:
    import pandas as pd

TYPES: dict[Kind, pa.DataType] = {
    "text": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "numbers": pa.string(),
}


NUMBERS = pa.list_(pa.float64())
"""Type of the cells with one number a dimension among the snapshots."""


def schema(columns: Sequence[Column]) -> pa.Schema:
    """Of a piece of the table with these columns."""
    return pa.schema([(column.name, TYPES[column.kind]) for column in columns])


def piece(rows: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> bytes:
    """Rows of one table; what a row lacks is missing. Empty without rows."""
    if not rows:
        return b""
    arrays = [_array([row.get(column.name) for row in rows], column.kind) for column in columns]
    return packed(pa.Table.from_arrays(arrays, schema=schema(columns)))


def _array(values: list[Any], kind: Kind) -> pa.Array:
    if kind == "numbers":
        values = [None if value is None else json.dumps(value) for value in values]
    return pa.array(values, TYPES[kind])


def packed(table: pa.Table, compression: str | None = None) -> bytes:
    """An Arrow table as the bytes of a stream."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def unpacked(content: bytes) -> pa.Table:
    """The Arrow table of `packed`."""
    with pa.ipc.open_stream(content) as reader:
        return reader.read_all()


def together(pieces: Iterable[bytes], columns: Sequence[Column]) -> pa.Table:
    """Pieces one after the other, each with the columns that it lacks; a table without rows where
    there is none."""
    whole = schema(columns)
    tables = [_with_columns(unpacked(content), whole) for content in pieces if content]
    return pa.concat_tables(tables) if tables else whole.empty_table()


def _with_columns(table: pa.Table, whole: pa.Schema) -> pa.Table:
    """A table with all of the columns in their order; those of other studies' factors are empty."""
    if table.schema.names == whole.names:
        return table
    there = set(table.schema.names)
    return pa.Table.from_arrays(
        [
            table.column(field.name)
            if field.name in there
            else pa.nulls(table.num_rows, field.type)
            for field in whole
        ],
        schema=whole,
    )


def frame(table: pa.Table, columns: Sequence[Column]) -> pd.DataFrame:
    """A table of pieces as a pandas frame: text `string`, whole numbers `Int64`, numbers
    `float64`, yes or no `boolean`, and lists in cells with one number a dimension."""
    import pandas as pd

    extension = {pa.string(): pd.StringDtype(), pa.int64(): pd.Int64Dtype()}
    extension[pa.bool_()] = pd.BooleanDtype()
    made: pd.DataFrame = table.to_pandas(types_mapper=extension.get)
    for name in (column.name for column in columns if column.kind == "numbers"):
        cells = table.column(name).to_pylist()
        if table.schema.field(name).type != NUMBERS:
            # All at once: there are many, and a call takes longer than reading a cell.
            cells = json.loads(f"[{','.join('null' if cell is None else cell for cell in cells)}]")
        made[name] = pd.Series(cells, index=made.index, dtype=object)
    return made
