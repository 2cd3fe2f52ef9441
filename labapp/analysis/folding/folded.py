"""One session, read, checked and folded: all that the tables need of it, as plain bytes.

`fold` is a pure function of a place on disk, so that it gives the same in this process, in another
and on another machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from labapp.analysis.beside import title_of, with_replicates
from labapp.analysis.folding.pieces import piece
from labapp.analysis.folding.snapshots import snapshots_piece
from labapp.analysis.items import instruments_of
from labapp.analysis.rows import SessionRecords
from labapp.analysis.speech_source import speech_of
from labapp.analysis.walk import Parts
from labapp.errors import RecordError
from labapp.events.lifecycle import DecoderWarmed
from labapp.journal.guard import readable
from labapp.journal.integrity import check_chain
from labapp.journal.opening import SessionPlace
from labapp.journal.record import Record
from labapp.journal.rows import Row
from labapp.messages import Message
from labapp.parallel.long_work import gc_paused
from labapp.study.allocation import drawn_cells


@dataclass(frozen=True, slots=True)
class Folded:
    """What one session gives to the tables.

    who: study, participant and session label; place: where it was read; source: that in words;
    events: rows of its journal; tables: a piece by table (see `pieces`), empty where it has no row;
    snapshots: theirs, packed; cards: by model the hash of its card at the session; remarks: what
    was found of its annotations that the reader should know.
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

    @classmethod
    def of(
        cls,
        session: SessionRecords,
        place: SessionPlace,
        record: Record,
        cards: Mapping[str, str],
        remarks: tuple[str, ...] = (),
    ) -> Folded:
        planned = session.totals.planned
        return cls(
            (planned.study, planned.participant, planned.session),
            place,
            record.source,
            record.running,
            session.deidentified,
            record.pilot,
            len(record.rows),
            pieces(session),
            snapshots_piece(session.who, session.traced),
            cards,
            remarks,
        )

    @property
    def fullness(self) -> tuple[int, bool]:
        return self.events, not self.deidentified


def pieces(session: SessionRecords) -> dict[str, bytes]:
    """The rows of one session, a piece a table; the snapshots are apart."""
    columns = session.columns
    return {name: piece(rows, columns[name]) for name, rows in session.rows().items()}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A session whose participant withdrew and let the data be kept: nothing of it is read."""

    name: str
    who: tuple[str, str, str]
    pilot: bool
    cells: tuple[str, ...]


def fold(place: SessionPlace, *, withdrawn: bool = False) -> Folded | LeftOut:
    """Read, check and fold one session.

    withdrawn: also where the participant withdrew and let the data be kept; it does not count.
    Raises RecordError when it cannot be read, is not what was written, or its data are to be
    deleted.
    """
    with gc_paused(), readable(str(place.path / place.prefix)):
        # In a function of its own, whose events are gone before the collector looks for any.
        return _fold(place, withdrawn=withdrawn)


def _fold(place: SessionPlace, *, withdrawn: bool) -> Folded | LeftOut:
    record = place.open()
    # A bundle was made with leave to keep such data; a session folder needs that leave here.
    if record.kind == "session" and (wish := record.withdrawn):
        _refuse_undeleted(record, wish)
        if not withdrawn:
            planned = record.planned
            who = (planned.study, planned.participant, planned.session)
            return LeftOut(str(record.name), who, record.pilot, drawn_cells(planned.assignment))
    if broken := check_chain(record.rows):
        raise RecordError(
            f"{record.source}: the journal is not what was written ({broken}).",
            safe="It was only read; nothing was changed.",
            todo="`labapp sessions verify` tells more. Until then name the other sessions one "
            "by one, in place of the folder that holds them all.",
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
    )
    cards = {
        payload.model: payload.card_sha256
        for _, payload in events
        if isinstance(payload, DecoderWarmed) and payload.card_sha256
    }
    remarks = (*speech.annotations.remarks, *_moved(record), *_renamed(record))
    return Folded.of(session, place, record, cards, remarks)


def _moved(record: Record) -> tuple[str, ...]:
    """That a session counts which was recorded as a pilot."""
    if not record.planned.pilot or record.pilot or (move := record.move) is None:
        return ()
    why = f": {move.reason}" if move.reason else ""
    return (f"{record.name} was recorded as a pilot and moved into the study{why}.",)


def _renamed(record: Record) -> tuple[str, ...]:
    """That the folder of a session has another name than it was recorded under."""
    if not record.other_labels:
        return ()
    who = {"participant": record.participant, "session": record.session}
    return (Message("renamed", folder=str(record.name), **who),)


def _refuse_undeleted(record: Record, wish: str) -> None:
    if wish == "delete":
        raise RecordError(
            f"The participant of {record.name} withdrew and wants the data deleted.",
            safe="No analysis was made.",
            todo=f"Delete them: labapp sessions withdraw {record.name} --delete",
        )


def continues(folded: Folded, other: Folded) -> bool:
    """Whether one of the two journals is the beginning of the other (or the same). Both are read
    again: this is asked only of a session that was given twice."""
    rows, others = folded.place.open().rows, other.place.open().rows
    shared = min(folded.events, other.events)
    if folded.deidentified or other.deidentified:
        # A de-identified copy has a hash chain of its own, and its dates are moved by whole days.
        pairs = zip(rows[:shared], others[:shared], strict=True)
        return all(_undated(row) == _undated(copy) for row, copy in pairs)
    return rows[shared - 1].hash == others[shared - 1].hash


def _undated(row: Row) -> tuple[object, ...]:
    """What a row says besides its payload; of its time the time of day."""
    return (*row[:3], row.utc[_DATE:], *row[4:10])


_DATE = len("2026-01-02")
