"""The large table as files: row group by row group, never all of it in memory."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from labapp.analysis.columns import SNAPSHOTS
from labapp.analysis.folding.folded import NUMBERS, SCHEMA
from labapp.analysis.snapshots import GROUP, Snapshots
from labapp.analysis.tables import typed
from labapp.base.reading.tables import MARK, STARTS

LIMITS: dict[str, str | bool | int | float | list[str]] = {"memory_limit": "512MB", "threads": 1}
"""What duckdb may use; two threads take twice the processor time and as long."""


def write_snapshots(given: Snapshots | pd.DataFrame, csv: Path, parquet: Path) -> None:
    """Both files, neither of which may be there, as `writing.write` makes those of other tables:
    columns, types and every character are the same. Raises OSError."""
    tables = (
        given.groups()
        if isinstance(given, Snapshots)
        else [pa.Table.from_pandas(given, SCHEMA, preserve_index=False)]
    )
    with parquet.open("xb") as file, pq.ParquetWriter(file, _WRITTEN) as writer:
        for table in tables:
            writer.write_table(table.cast(_WRITTEN), row_group_size=GROUP)
    with csv.open("xb"):
        pass  # so that it is ours: COPY writes over what is there
    try:
        with duckdb.connect(config=LIMITS) as connection:
            # In a process that another one started duckdb takes itself to be asked by a person.
            connection.execute("SET enable_progress_bar = false")
            connection.execute(_COPY, {"parquet": str(parquet), "csv": str(csv)})
    except duckdb.Error as error:
        raise OSError(f"{csv.name} cannot be written ({error})") from error


_WRITTEN = pa.Schema.from_pandas(typed([{"z": [0.0]}], SNAPSHOTS), preserve_index=False)
"""The types that pandas would write, and what it notes about them for its own reading."""
# Doubles and lists of them as text are what Python writes, to the digit: a test holds duckdb to it.
_STARTS = ", ".join(f"chr({ord(start)})" for start in STARTS)


def _selected(field: pa.Field) -> str:
    """A column as the CSV has it: text escaped as `labapp.base.reading.tables` does it."""
    name = str(field.name)
    if field.type == NUMBERS:
        return f"{name}::VARCHAR AS {name}"
    if not (pa.types.is_string(field.type) or pa.types.is_large_string(field.type)):
        return name
    mark = f"chr({ord(MARK)})"
    first = f"left(ltrim({name}, {mark}), 1)"
    return f"CASE WHEN {first} IN ({_STARTS}) THEN {mark} || {name} ELSE {name} END AS {name}"


_SELECTED = ", ".join(map(_selected, SCHEMA))
_COPY = (
    f"COPY (SELECT {_SELECTED} FROM read_parquet($parquet)) TO $csv "
    "(FORMAT csv, HEADER, DELIMITER ',')"
)
