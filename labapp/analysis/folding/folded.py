"""One session, read, checked and folded: all that the tables need of it, as plain bytes.

`fold` is a pure function of a place on disk, so that it gives the same in this process, in another
and on another machine. The rows of each table travel as a piece: an Arrow stream with the columns
of the table, each of its type. A cell with one number per dimension is a JSON list, as in CSV, so
that whole numbers stay whole; but a list of numbers among the snapshots, of which there are many.

Many sessions are folded one after the other, in several processes, or on a Dask cluster. They
always come back in the order in which they were given, so that the tables are the same to the last
bit.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from labapp.analysis.answered import title_of, with_replicates
from labapp.analysis.column import Column, Kind
from labapp.analysis.columns import SNAPSHOTS
from labapp.analysis.questionnaires import instruments_of
from labapp.analysis.rows import SessionRecords
from labapp.analysis.speech_rows import speech_of
from labapp.analysis.task_records import Parts, Traced
from labapp.base.clock import NS
from labapp.base.errors import RecordError
from labapp.base.messages import Message
from labapp.base.parallel.cluster import cluster
from labapp.base.parallel.processes import cores, gc_paused, processes
from labapp.record.events.lifecycle import DecoderWarmed
from labapp.record.journal.merged import Merged
from labapp.record.journal.opening import SessionPlace
from labapp.record.journal.read import Row, check_chain, readable
from labapp.record.journal.record import Record
from labapp.study.allocation import read_cells

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Folded:
    """What one session gives to the tables.

    who: study, participant and session label; place: where it was read; source: that in words;
    events: rows of its journal; tables: a piece by table (see `pieces`), empty if it has no row;
    snapshots: theirs, packed; cards: by model the hash of its card at the session; remarks: what
    was found of its annotations that the reader should know; merged: answers of other tools; phase,
    tags, simulated: by which sessions are chosen.
    """

    who: tuple[str, str, str]
    place: SessionPlace
    source: str
    running: bool
    deidentified: bool
    pilot: bool
    events: int
    tables: Mapping[str, bytes]
    snapshots: bytes
    cards: Mapping[str, str]
    remarks: tuple[str, ...] = ()
    merged: tuple[Merged, ...] = ()
    phase: str = ""
    tags: tuple[str, ...] = ()
    simulated: bool = False

    @property
    def fullness(self) -> tuple[int, bool]:
        return self.events, not self.deidentified


def pieces(session: SessionRecords) -> dict[str, bytes]:
    """The rows of one session, a piece a table; the snapshots are apart."""
    columns = session.columns
    return {name: piece(rows, columns[name]) for name, rows in session.rows().items()}


@dataclass(frozen=True, slots=True)
class WithdrawnSession:
    """A session whose participant withdrew and let the data be kept: nothing of it is read."""

    name: str
    who: tuple[str, str, str]
    pilot: bool
    cells: tuple[str, ...]
    phase: str = ""
    tags: tuple[str, ...] = ()


def fold(place: SessionPlace, *, withdrawn: bool = False) -> Folded | WithdrawnSession:
    """Read, check and fold one session.

    withdrawn: also if the participant withdrew and let the data be kept; it does not count.
    Raises RecordError when it cannot be read, was changed or damaged after it was written, or its
    data are to be deleted.
    """
    with gc_paused(), readable(str(place.path / place.prefix)):
        # In a function of its own, whose events are gone before the collector looks for any.
        return _fold(place, withdrawn=withdrawn)


def _fold(place: SessionPlace, *, withdrawn: bool) -> Folded | WithdrawnSession:
    record = place.open()
    # A bundle was made with leave to keep such data; a session folder needs that leave here.
    if record.kind == "session" and (wish := record.withdrawn):
        if wish == "delete":
            raise RecordError(
                f"The participant of {record.name} withdrew and wants the data deleted.",
                safe="No analysis was made.",
                todo=f"Delete them: labapp sessions withdraw {record.name} --delete",
            )
        if not withdrawn:
            planned = record.planned
            labels = (planned.study, planned.participant, planned.session)
            return WithdrawnSession(
                str(record.name),
                labels,
                record.pilot,
                read_cells(planned.assignment),
                planned.phase,
                record.tags,
            )
    if broken := check_chain(record.rows):
        raise RecordError(
            f"{record.source}: the journal was changed or damaged after it was written ({broken}).",
            safe="It was only read; nothing was changed.",
            todo="`labapp sessions verify` shows more. Until this is solved, give the other "
            "sessions one by one instead of their folder.",
        )
    Parts.of(record.planned.plan)  # which says what package is missing; a questionnaire does not
    events = with_replicates(list(record.payloads()), record)
    speech = speech_of(record, events)
    session = SessionRecords.of(
        events,
        f"{record.name} ({record.kind})",
        deidentified=record.redacted,
        withdrawn=bool(record.withdrawn),
        decision=record.decision,
        instruments=instruments_of(record),
        study_title=title_of(record),
        speech=speech,
        merged=record.merged,
        tags=record.tags,
    )
    cards = {
        payload.model: payload.card_sha256
        for _, payload in events
        if isinstance(payload, DecoderWarmed) and payload.card_sha256
    }
    remarks = (*speech.annotations.remarks, *_remarks(record))
    who = session.who
    return Folded(
        (who["study"], who["participant"], who["session"]),
        place,
        record.source,
        record.running,
        session.deidentified,
        record.pilot,
        len(record.rows),
        pieces(session),
        snapshots_piece(who, session.traced),
        cards,
        remarks,
        session.merged,
        record.planned.phase,
        session.tags,
        session.totals.simulated,
    )


def _remarks(record: Record) -> Iterator[str]:
    """That a session counts which was recorded as a pilot, or under another name than its folder
    has."""
    if record.planned.pilot and not record.pilot and (move := record.move) is not None:
        why = f": {move.reason}" if move.reason else ""
        yield f"{record.name} was recorded as a pilot and moved into the study{why}."
    if record.other_labels:
        who = {"participant": record.participant, "session": record.session}
        yield Message("renamed", folder=str(record.name), **who)


def continues(folded: Folded, other: Folded) -> bool:
    """Whether one of the two journals is the beginning of the other (or the same). Both are read
    again: this is asked only of a session that was given twice."""
    rows, others = folded.place.open().rows, other.place.open().rows
    shared = min(folded.events, other.events)
    if folded.deidentified or other.deidentified:
        # A de-identified copy has a hash chain of its own, and its dates are moved by whole days.
        pairs = zip(rows[:shared], others[:shared], strict=True)
        return all(_strip_date(row) == _strip_date(copy) for row, copy in pairs)
    return rows[shared - 1].hash == others[shared - 1].hash


def _strip_date(row: Row) -> tuple[object, ...]:
    """What a row says besides its payload; of its time the time of day."""
    return (*row[:3], row.utc[len("2026-01-02") :], *row[4:10])


TYPES: dict[Kind, pa.DataType] = {
    "text": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "numbers": pa.string(),
}

NUMBERS = pa.list_(pa.float64())
"""Type of the cells with one number per dimension among the snapshots."""


def schema(columns: Sequence[Column]) -> pa.Schema:
    """Of a piece of the table with these columns."""
    return pa.schema([(column.name, TYPES[column.kind]) for column in columns])


def piece(rows: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> bytes:
    """Rows of one table; what a row lacks is missing. Empty without rows."""
    if not rows:
        return b""
    arrays = [_array([row.get(column.name) for row in rows], column.kind) for column in columns]
    return pack_table(pa.Table.from_arrays(arrays, schema=schema(columns)))


def _array(values: list[Any], kind: Kind) -> pa.Array:
    if kind == "numbers":
        values = [None if value is None else json.dumps(value) for value in values]
    return pa.array(values, TYPES[kind])


def pack_table(table: pa.Table, compression: str | None = None) -> bytes:
    """An Arrow table as the bytes of a stream."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def unpack_table(content: bytes) -> pa.Table:
    """The Arrow table that `pack_table` packed."""
    with pa.ipc.open_stream(content) as reader:
        return reader.read_all()


def together(pieces: Iterable[bytes], columns: Sequence[Column]) -> pa.Table:
    """Pieces one after the other, in the order of these columns; those of other studies' factors
    are empty, and so is a table of no piece."""
    tables = [unpack_table(content) for content in pieces if content]
    return pa.concat_tables([schema(columns).empty_table(), *tables], promote_options="default")


def frame(table: pa.Table, columns: Sequence[Column]) -> pd.DataFrame:
    """A table of pieces as a pandas frame: text `string`, whole numbers `Int64`, numbers
    `float64`, yes or no `boolean`, and lists in cells with one number per dimension."""
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
        taken = trial.snapshots
        same = {
            **who,
            "stage": trial.part.id,
            "model": trial.part.model,
            "trial": trial.trial,
            "attempt": trial.attempt,
        }
        for name, value in same.items():
            columns[name] += [value] * len(taken)
        columns["snapshot"] += range(1, len(taken) + 1)
        columns["t_s"] += [snapshot.t_ns / NS for snapshot in taken]
        numbers = [snapshot.dimension for snapshot in taken]
        columns["dimension"] += [None if number is None else number + 1 for number in numbers]
        for name in ("z", "direction", "alignment", "error_sum", "error_mean"):
            columns[name] += [getattr(snapshot, name) for snapshot in taken]
    if not columns["z"]:
        return b""
    arrays = [pa.array(columns[field.name], field.type) for field in SCHEMA]
    return pack_table(pa.Table.from_arrays(arrays, schema=SCHEMA), "lz4")


AHEAD = 4
"""Sessions a worker has waiting, so that it is never idle and few results lie about."""
WORTH_A_PROCESS = 12
"""Sessions that are read in the time a process takes to start."""
SAFE = "The sessions were only read."


class Waiting(Protocol):
    """Of something under way."""

    def result(self) -> Folded | WithdrawnSession: ...


def fold_all(
    places: Sequence[SessionPlace],
    *,
    withdrawn: bool = False,
    workers: int | None = 1,
    dask: str | None = None,
) -> Generator[Folded | WithdrawnSession, None, None]:
    """Every session folded, in the order given; to be closed, which ends the workers.

    workers: processes, 1 for this one alone, None for as many as are worth it on this machine.
    dask: address of a Dask scheduler, whose workers are taken instead; they need the same labapp
    and the sessions under the same paths. Raises RecordError as `fold`, of the first place that
    cannot be folded; SetupError when a worker is lost or the cluster cannot be used.
    """
    task = partial(fold, withdrawn=withdrawn)
    if dask is not None:
        # The workers have working directories of their own.
        there = [replace(place, path=place.path.absolute()) for place in places]
        with cluster(dask, safe=SAFE) as (client, n):
            submit = partial(client.submit, task, pure=False)
            yield from _in_order(there, submit, n * AHEAD)
        return
    n = fitting(len(places)) if workers is None else min(workers, len(places))
    if n <= 1:
        yield from map(task, places)
        return
    with processes(n, _one_thread, safe=SAFE) as pool:
        yield from _in_order(places, partial(pool.submit, task), n * AHEAD)


def fitting(sessions: int) -> int:
    """Processes that are worth it for so many sessions, at most one a core this process may use."""
    return max(1, min(cores(), sessions // WORTH_A_PROCESS))


def _in_order(
    places: Iterable[SessionPlace], submit: Callable[[SessionPlace], Waiting], ahead: int
) -> Iterator[Folded | WithdrawnSession]:
    under_way: deque[Waiting] = deque()
    for place in places:
        under_way.append(submit(place))
        if len(under_way) > ahead:
            yield under_way.popleft().result()
    while under_way:
        yield under_way.popleft().result()


def _one_thread() -> None:
    import pyarrow as pa

    pa.set_cpu_count(1)
