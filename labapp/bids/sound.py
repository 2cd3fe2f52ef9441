"""Where the sound lies on the timeline of the events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labapp.audio.alignment import fit_segment
from labapp.errors import RecordError
from labapp.events import Event
from labapp.events.voice import AudioBlock, AudioGap, AudioStarted
from labapp.journal.outline import AudioFile
from labapp.journal.record import Record


def clock_fits(record: Record) -> list[dict[str, Any]]:
    """A fit for each sound file, for audio/clock.json.

    offset_s: session time of frame 0; session time of a frame = offset_s + frame / fitted_rate.
    residual_ms: median absolute distance of the time marks from the line.
    """
    kinds = (AudioStarted.kind, AudioBlock.kind, AudioGap.kind)
    events = [row.event() for row in record.rows if row.kind in kinds]
    return [_fit(sound, events) for sound in record.audio]


def _fit(sound: AudioFile, events: Sequence[Event]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "file": sound.file,
        "segment": sound.segment,
        "frames": sound.frames,
        "lost_frames": sound.lost_frames,
        "nominal_rate": sound.nominal_rate,
    }
    try:
        fit = fit_segment(events, sound.file)
    except RecordError as error:
        return entry | {"fitted_rate": None, "reason": error.what}
    return entry | {
        "fitted_rate": round(fit.rate, 6),
        "offset_s": round(fit.offset_ns / 1e9, 9),
        "residual_ms": round(fit.residual_ms, 6),
        "anchors": fit.n_anchors,
        "used_nominal": fit.used_nominal,
        "reason": fit.reason,
    }
