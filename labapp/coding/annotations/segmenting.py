"""Units from the sound: where somebody speaks, parted where nobody does for a while."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from labapp.base.errors import AnnotationError
from labapp.base.messages import Message
from labapp.coding.annotations import store
from labapp.coding.annotations.ledger import new_id
from labapp.coding.annotations.model import DETECTOR, Segmentation, Unit
from labapp.coding.annotations.simulated import read_simulated_speech
from labapp.record.audio.recorded_sound import RecordedSound
from labapp.record.audio.speech import PAUSE_S, join_stretches, stretches
from labapp.record.journal.opening import open_record
from labapp.record.journal.read import payloads
from labapp.record.journal.record import Record


def sound_of(record: Record, silenced: Iterable[tuple[int, int]] = ()) -> RecordedSound:
    """The sound of a session on its clock; zeros where it is silenced."""
    sounds = (row for row in record.rows if row.kind.startswith("audio."))
    events = (payload for _, payload in payloads(sounds))
    return RecordedSound(record.tree.open, events, record.rows[-1].t_ns, silenced)


def find_speech(sound: RecordedSound, pause_s: float = 0.0) -> list[tuple[int, int]]:
    """The stretches of a session's sound in which somebody speaks, in session time and its order.
    sound: also what is silenced in it is listened to; pause_s: speech of a file with a pause
    shorter than this, in s, is one stretch."""
    heard: list[tuple[int, int]] = []
    for span in sound.spans:
        fit = sound.fit(span.file)
        samples = sound.samples(span.file)
        for begins, ends in join_stretches(stretches(samples, fit.nominal_rate), pause_s):
            t0_ns = max(span.t0_ns, fit.frame_to_ns(begins * fit.nominal_rate))
            t1_ns = min(span.t1_ns, fit.frame_to_ns(ends * fit.nominal_rate))
            t0_ns = max(t0_ns, heard[-1][1] if heard else 0)
            if t0_ns < t1_ns:
                heard.append((t0_ns, t1_ns))
    return heard


def segment(record: Record, pause_s: float = PAUSE_S) -> list[Unit]:
    """The units of a session, in order of time: of a simulated one what it said, else where its
    sound has speech, with pauses of less than `pause_s` seconds. All are the participant's: who
    speaks cannot be heard by loudness. Raises AnnotationError if there is no sound, or none of it
    can be read."""
    if spoken := read_simulated_speech(record.payloads()).units:
        return list(spoken)
    sound = sound_of(record)
    try:
        if not sound.spans:
            why = [record.outline.silent_because or "", *(f"{what}" for what in sound.problems)]
            causes = "; ".join(filter(None, why))
            raise AnnotationError(
                f"{record.name} has no sound that could be segmented"
                + (f" ({causes})." if causes else "."),
                todo="Make its units by hand in the window, or import them.",
            )
        return [
            Unit(new_id(), *stretch, origin=DETECTOR) for stretch in find_speech(sound, pause_s)
        ]
    finally:
        sound.close()


def segment_session(
    session: Path, by: str, pause_s: float = PAUSE_S, *, freeze: bool = False
) -> Segmentation:
    """Make the units of a session that has none, and freeze them if that is wanted, also those that
    were made before. pause_s: see `segment`. Raises AnnotationError if it has units and is not to
    be frozen, has no sound, or its file cannot be written."""
    record = open_record(session)
    present = store.segmentation_of(record).units
    if present and not freeze:
        raise AnnotationError(
            Message("units_there", session=str(record.name), n=len(present)),
            todo=Message("units_there_todo"),
        )
    units = [] if present else segment(record, pause_s)
    if not present and not units:
        raise AnnotationError(
            Message("no_speech", session=str(record.name)), todo=Message("no_speech_todo")
        )
    with store.open_units(session, by, record=record) as file:
        if not file.units:
            file.put_all(units)
        if freeze:
            file.freeze()
        return file.segmentation
