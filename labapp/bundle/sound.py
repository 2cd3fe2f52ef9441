"""Where the sound lies on the timeline of the events."""

from __future__ import annotations

from typing import Any

from labapp.audio.alignment import fit_clock
from labapp.errors import RecordError
from labapp.events import Body
from labapp.events.voice import AudioGap
from labapp.records.outline import AudioFile
from labapp.records.record import Record
from labapp.records.rows import bodies


def clock_fits(record: Record) -> list[dict[str, Any]]:
    """A fit for each sound file, for audio/clock.json.

    offset_s: session time of frame 0; session time of a frame = offset_s + frame / fitted_rate.
    residual_ms: median absolute distance of the time marks from the line.
    """
    gaps = [body for _, body in bodies(r for r in record.rows if r.kind == AudioGap.kind)]
    return [_fit(sound, gaps) for sound in record.audio]


def _fit(sound: AudioFile, gaps: list[Body]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "file": sound.file,
        "segment": sound.segment,
        "frames": sound.frames,
        "lost_frames": sound.lost_frames,
        "nominal_rate": sound.nominal_rate,
    }
    breaks = [
        gap.at_frame + gap.frames
        for gap in gaps
        if isinstance(gap, AudioGap) and gap.file == sound.file
    ]
    anchors = [anchor for block in sound.blocks for anchor in block.anchors]
    try:
        fit = fit_clock(anchors, sound.nominal_rate, breaks)
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
