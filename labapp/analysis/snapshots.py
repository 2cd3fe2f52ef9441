"""The snapshots of many sessions: the large table, kept in a file and made a frame when asked for.

Two thousand snapshots a session, a thousand sessions: as pandas frame with a list a row they would
need gigabytes. They lie in a Parquet file among the temporary ones, a row group a session; what is
not asked for is not read again.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from labapp.analysis.columns import SNAPSHOTS
from labapp.analysis.folding.folded import NAME, SCHEMA, frame, unpack_table
from labapp.base import leftovers
from labapp.base.errors import DataFolderError

if TYPE_CHECKING:
    from labapp.analysis.tables import Tables

Who = tuple[str, str, str]
"""Study, participant and session label."""
GROUP = 100_000
"""Rows that are read together when all are gone through."""
MANY = 200_000
"""Rows from which on another process writes them."""
_FILE = "snapshots.parquet"


class SnapshotGroup(NamedTuple):
    """The snapshots of one session: the row group they are, and how many. group: None if there
    are none."""

    group: int | None
    rows: int


class SnapshotFile:
    """A Parquet file that sessions are added to and that is read afterwards, here or in a process
    of this machine to which it is sent. It goes with the object that wrote it."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._writer: pq.ParquetWriter | None = None
        self._groups = 0

    def add(self, content: bytes) -> SnapshotGroup:
        """Add the snapshots of a session, as `snapshots_piece` packs them. Raises DataFolderError
        when there is no room for them."""
        if not content:
            return SnapshotGroup(None, 0)
        table = unpack_table(content)
        try:
            if self._writer is None:
                self._writer = self._create()
            self._writer.write_table(table, row_group_size=table.num_rows)
        except OSError as error:
            raise DataFolderError(
                f"The folder for temporary files, {tempfile.gettempdir()}, cannot be written: "
                f"{error.strerror or error}.",
                safe="The sessions were only read.",
                todo="Free some space there, or name another folder with TMPDIR.",
            ) from error
        self._groups += 1
        return SnapshotGroup(self._groups - 1, table.num_rows)

    def tables(self, groups: Sequence[int]) -> Iterator[pa.Table]:
        """Row groups, one after the other. Nothing can be added afterwards."""
        self._finish()
        if not groups or self._path is None:
            return
        with pq.ParquetFile(self._path) as file:
            for group in groups:
                yield file.read_row_group(group, use_threads=False).cast(SCHEMA)

    def _create(self) -> pq.ParquetWriter:
        if self._path is not None:
            raise ValueError("the file was read already")
        folder = tempfile.mkdtemp(prefix=leftovers.prefix("store"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._path = Path(folder) / _FILE
        # Statistics and dictionaries would help who searches in it; it is only read through.
        return pq.ParquetWriter(
            self._path, SCHEMA, compression="lz4", write_statistics=False, use_dictionary=False
        )

    def _finish(self) -> None:
        if self._writer is not None:
            writer, self._writer = self._writer, None
            writer.close()

    def __getstate__(self) -> Path | None:
        self._finish()
        return self._path

    def __setstate__(self, path: Path | None) -> None:
        self._path, self._writer, self._groups = path, None, 0


@dataclass(frozen=True)
class Snapshots:
    """The snapshots of some sessions, in the order of the tables."""

    sessions: Sequence[tuple[Who, SnapshotGroup]]
    file: SnapshotFile

    @property
    def many(self) -> bool:
        """Whether there are so many that writing them takes a long time."""
        return sum(part.rows for _, part in self.sessions) > MANY

    def only(self, keep: Callable[[Who], bool]) -> Snapshots:
        """Those of some sessions."""
        return Snapshots([session for session in self.sessions if keep(session[0])], self.file)

    def frame(self) -> pd.DataFrame:
        """All of them, with a list of numbers a row: some 750 bytes a row of ten dials."""
        return frame(pa.concat_tables([SCHEMA.empty_table(), *self._tables()]), SNAPSHOTS)

    def groups(self) -> Iterator[pa.Table]:
        """All of them, in tables of some `GROUP` rows; z is a list of numbers."""
        waiting: list[pa.Table] = []
        for table in self._tables():
            waiting.append(table)
            if sum(part.num_rows for part in waiting) >= GROUP:
                yield pa.concat_tables(waiting)
                waiting.clear()
        if waiting:
            yield pa.concat_tables(waiting)

    def _tables(self) -> Iterator[pa.Table]:
        return self.file.tables([part.group for _, part in self.sessions if part.group is not None])


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


def get_attached(tables: Tables) -> Snapshots | pd.DataFrame:
    """What the tables were made with, not unpacked."""
    given: Snapshots | pd.DataFrame = tables.__dict__[NAME]
    return given
