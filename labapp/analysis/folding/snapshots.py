"""The snapshots of one session, column by column: there are thousands of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from labapp.analysis.columns import SNAPSHOTS
from labapp.analysis.folding.pieces import NUMBERS, TYPES, packed
from labapp.analysis.task_records import Traced
from labapp.clock import NS

NAME = "snapshots"
SCHEMA = pa.schema(
    [
        (column.name, NUMBERS if column.kind == "numbers" else TYPES[column.kind])
        for column in SNAPSHOTS
    ]
)


def snapshots_piece(who: dict[str, str], trials: Iterable[Traced]) -> bytes:
    """The snapshots of all attempts at questions of one session, packed; empty without any."""
    columns: dict[str, list[Any]] = {name: [] for name in SCHEMA.names}
    for trial in trials:
        for name, values in _columns(who, trial):
            columns[name].extend(values)
    if not columns["z"]:
        return b""
    arrays = [pa.array(columns[field.name], field.type) for field in SCHEMA]
    return packed(pa.Table.from_arrays(arrays, schema=SCHEMA), "lz4")


def _columns(who: dict[str, str], trial: Traced) -> Iterator[tuple[str, Iterable[Any]]]:
    taken = trial.snapshots
    same = {
        **who,
        "stage": trial.part.id,
        "model": trial.part.model,
        "trial": trial.trial,
        "attempt": trial.attempt,
    }
    for name, value in same.items():
        yield name, [value] * len(taken)
    yield "snapshot", range(1, len(taken) + 1)
    yield "t_s", [snapshot.t_ns / NS for snapshot in taken]
    yield "z", [snapshot.z for snapshot in taken]
    yield (
        "dimension",
        [None if snapshot.dimension is None else snapshot.dimension + 1 for snapshot in taken],
    )
    yield "direction", [snapshot.direction for snapshot in taken]
    yield "alignment", [snapshot.alignment for snapshot in taken]
    yield "error_sum", [snapshot.error_sum for snapshot in taken]
    yield "error_mean", [snapshot.error_mean for snapshot in taken]
