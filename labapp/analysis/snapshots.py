"""The snapshots of many sessions: the large table, kept packed and made a frame when asked for.

Two thousand snapshots a session, a thousand sessions: as pandas frame with a list a row they would
need gigabytes. Each session's rows stay an Arrow stream, in memory while they are few and in a
temporary file when they are many; what is not asked for is never unpacked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa

from labapp.analysis.columns import SNAPSHOTS
from labapp.analysis.folding.pieces import frame, unpacked
from labapp.analysis.folding.snapshots import NAME, SCHEMA
from labapp.analysis.store import Place

if TYPE_CHECKING:
    from labapp.analysis.tables import Tables

Who = tuple[str, str, str]
"""Study, participant and session label."""
GROUP = 100_000
"""Rows that are unpacked together when all are gone through."""


@dataclass(frozen=True)
class Snapshots:
    """The snapshots of some sessions, in the order of the tables."""

    sessions: Sequence[tuple[Who, Place]]

    @property
    def many(self) -> bool:
        """Whether they are too many for the memory."""
        return any(place.store.in_file for _, place in self.sessions)

    def only(self, keep: Callable[[Who], bool]) -> Snapshots:
        """Those of some sessions."""
        return Snapshots([one for one in self.sessions if keep(one[0])])

    def frame(self) -> pd.DataFrame:
        """All of them, with a list of numbers a row: some 750 bytes a row of ten dials."""
        return frame(pa.concat_tables([SCHEMA.empty_table(), *self._tables()]), SNAPSHOTS)

    def groups(self) -> Iterator[pa.Table]:
        """All of them, in tables of some `GROUP` rows; z is a list of numbers."""
        waiting: list[pa.Table] = []
        for table in self._tables():
            waiting.append(table)
            if sum(one.num_rows for one in waiting) >= GROUP:
                yield pa.concat_tables(waiting)
                waiting.clear()
        if waiting:
            yield pa.concat_tables(waiting)

    def _tables(self) -> Iterator[pa.Table]:
        return (unpacked(place.read()) for _, place in self.sessions if place.size)


class ReadWhenAsked:
    """The field `snapshots` of `Tables`: takes a frame or `Snapshots`, and gives a frame, which is
    made at the first time it is asked for."""

    def __get__(self, tables: Tables | None, owner: type[Tables] | None = None) -> pd.DataFrame:
        if tables is None:
            raise AttributeError(NAME)  # the field has no default
        given = tables.__dict__[NAME]
        if isinstance(given, pd.DataFrame):
            return given
        if _FRAME not in tables.__dict__:
            tables.__dict__[_FRAME] = given.frame()
        made: pd.DataFrame = tables.__dict__[_FRAME]
        return made

    def __set__(self, tables: Tables, value: pd.DataFrame | Snapshots) -> None:
        tables.__dict__[NAME] = value


_FRAME = "_snapshots_frame"


def recorded(tables: Tables) -> Snapshots | pd.DataFrame:
    """What the tables were made with, not unpacked."""
    given: Snapshots | pd.DataFrame = tables.__dict__[NAME]
    return given
