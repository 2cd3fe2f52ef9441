"""A session as a pack has it: the sound of some stretches, and nothing of what else happened.

Its journal is a new one with the events of the sound alone, so that a window on another computer
plays and codes it like any session: no condition, no outcome, no note and no answer is in it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from labapp import __version__, access
from labapp.annotations.model import Redaction
from labapp.annotations.redaction import joined
from labapp.audio.recorded_sound import RecordedSound
from labapp.audio.writer import FRAME_BYTES, wav_header
from labapp.clock import NS, FakeClock, utc_text
from labapp.errors import AnnotationError
from labapp.events import Payload, UnstampedEvent
from labapp.events.event import Source
from labapp.events.lifecycle import (
    SegmentEnded,
    SegmentStarted,
    SessionCompleted,
    SessionPlanned,
)
from labapp.events.voice import AudioBlock, AudioStarted, AudioStopped
from labapp.journal.layout import AUDIO, JOURNAL
from labapp.journal.read import read_rows
from labapp.journal.record import Record
from labapp.journal.rows import payloads
from labapp.journal.write import Journal

MARGIN_NS = NS // 2
"""So much sound before and after a stretch, for nobody begins to hear at its first sample."""
Stretch = tuple[int, int]


def stretches_with_margin(stretches: Sequence[Stretch], end_ns: int) -> list[Stretch]:
    """Stretches of session time with some sound around each, those that touch made one."""
    return joined(
        (max(0, begin - MARGIN_NS), min(end_ns, end + MARGIN_NS)) for begin, end in stretches
    )


def write_pack_session(
    folder: Path,
    record: Record,
    stretches: Sequence[Stretch],
    redactions: Sequence[Redaction],
    *,
    sound: bool,
) -> str:
    """Write the session folder of a pack.

    Parameters
    ----------
    folder : to be made, called like the session's own folder.
    record : the session as recorded.
    stretches : session time that may be heard, in order and apart from each other.
    redactions : of the session; silent in the pack.
    sound : whether the sound may be passed on.

    Returns
    -------
    The hash of the last event of its journal, by which the files of the pack know it.

    Raises
    ------
    AnnotationError : something of the sound cannot be read.
    OSError : it cannot be written.
    """
    access.own_folder(folder, exist_ok=False)
    clock = FakeClock(0, record.name.started)
    journal = Journal.create(folder / JOURNAL, clock)

    def add(t_ns: int, payload: Payload) -> None:
        clock.set_ns(max(clock.now_ns(), t_ns))
        journal.append(UnstampedEvent(payload), Source.SYSTEM)

    try:
        planned = record.planned
        add(
            0,
            SessionPlanned(
                study=planned.study,
                study_version=planned.study_version,
                study_sha256="",
                participant=planned.participant,
                session=planned.session,
                seed=0,
                assignment={},
                presentation="as_published",
                language=planned.language,
                audio=planned.audio,
                plan=(),
                pilot=record.pilot,
            ),
        )
        add(0, SegmentStarted(1, utc_text(record.name.started), "", __version__, ""))
        if sound:
            for t_ns, payload in _sound(folder, record, stretches, redactions):
                add(t_ns, payload)
        end_ns = max(record.rows[-1].t_ns, clock.now_ns())
        add(end_ns, SessionCompleted())
        add(end_ns, SegmentEnded("completed"))
    finally:
        journal.close()
    return read_rows(folder)[-1].hash


def _sound(
    folder: Path, record: Record, stretches: Sequence[Stretch], redactions: Sequence[Redaction]
) -> Sequence[tuple[int, Payload]]:
    """Cut the stretches out of the session's sound, a file each; the events that place them."""
    heard = payloads(row for row in record.rows if row.kind.startswith("audio."))
    silenced = [(redaction.t0_ns, redaction.t1_ns) for redaction in redactions]
    source = RecordedSound(
        record.tree.open, (payload for _, payload in heard), record.rows[-1].t_ns, silenced
    )
    events: list[tuple[int, Payload]] = []
    try:
        number = 0
        for begin, end in stretches:
            begin, end = max(begin, source.begin_ns), min(end, source.end_ns)
            if not any(span.t0_ns < end and begin < span.t1_ns for span in source.spans):
                continue
            number += 1
            name = f"{AUDIO}/segment-01{f'-{number}' if number > 1 else ''}.wav"
            events += _cut(folder, name, source, begin, end)
    except (OSError, ValueError) as error:
        raise AnnotationError(
            f"The sound of {record.name} cannot be read ({error}).",
            safe="No pack was made.",
            todo="`labapp sessions verify` says what is wrong with it.",
        ) from error
    finally:
        source.close()
    return events


def _cut(
    folder: Path, name: str, source: RecordedSound, begin: int, end: int
) -> list[tuple[int, Payload]]:
    rate = source.rate
    frames = (end - begin) * rate // NS
    events: list[tuple[int, Payload]] = [
        (begin, AudioStarted(name, "", "", rate, 1, "PCM_16")),
    ]
    access.own_folder((folder / name).parent)
    with access.create(folder / name) as file:
        file.write(wav_header(rate, frames * FRAME_BYTES))
        for first in range(0, frames, rate):
            last = min(frames, first + rate)
            at_ns = begin + first * NS // rate
            data = source.read(at_ns, last - first).astype("<i2").tobytes()
            file.write(data)
            # Two marks a block, as exact as the cut itself: the pack's clock is the session's.
            middle = (first + last) // 2
            anchors = tuple(
                (frame, frame / rate, begin + frame * NS // rate) for frame in (first, middle)
            )
            digest = hashlib.sha256(data).hexdigest()
            end_of_block = begin + last * NS // rate
            events.append((end_of_block, AudioBlock(name, first, last, digest, anchors)))
    events.append((end, AudioStopped(name, frames, 0)))
    return events
