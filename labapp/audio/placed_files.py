"""What a journal says of each sound file: where its frames lie in time, and which of them are lost.

A fold over the events of the sound alone (`audio.*`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from labapp.audio.alignment import Anchor, ClockFit, fit_clock
from labapp.errors import RecordError
from labapp.events import Payload
from labapp.events.voice import AudioBlock, AudioGap, AudioStarted, AudioStopped
from labapp.reading.values import json_value

LOWEST_RATE, HIGHEST_RATE = 1_000, 768_000
"""Frames a second that a recording can have."""
_FORMAT = 1


@dataclass(slots=True)
class PlacedFile:
    """A sound file as the journal knows it.

    Attributes
    ----------
    name : in the session's folder.
    rate : frames a second, as stated.
    anchors : in order of their frames.
    gaps : first frame, number of frames and cause of each stretch of silence put in for lost sound.
    first_block : by which the file can be told from another.
    frames : on the disk by the last block.
    stopped_at : frames when it was closed; None after a killed run.
    known_fit : where its frames lie in time, if that was found before.
    """

    name: str
    rate: int
    anchors: list[Anchor] = field(default_factory=list)
    gaps: list[tuple[int, int, str]] = field(default_factory=list)
    first_block: AudioBlock | None = None
    frames: int = 0
    stopped_at: int | None = None
    known_fit: ClockFit | None = None

    @property
    def expected(self) -> int:
        """Frames that it should have at least."""
        return self.frames if self.stopped_at is None else self.stopped_at

    def fit(self) -> ClockFit:
        """Where its frames lie in time. Raises RecordError where nothing says it."""
        if self.known_fit is not None:
            return self.known_fit
        if not LOWEST_RATE <= self.rate <= HIGHEST_RATE:
            raise RecordError(f"{self.name} cannot have {self.rate} frames a second.")
        breaks = (first + frames for first, frames, _ in self.gaps)
        self.known_fit = fit_clock(self.anchors, self.rate, breaks)
        return self.known_fit


def placed_files(payloads: Iterable[Payload]) -> list[PlacedFile]:
    """Fold the sound's events, in the journal's order; others are passed over."""
    placed: dict[str, PlacedFile] = {}
    for payload in payloads:
        match payload:
            case AudioStarted():
                new = PlacedFile(payload.file, payload.nominal_rate)
                placed.setdefault(payload.file, new)
            case AudioBlock() if payload.file in placed:
                file = placed[payload.file]
                file.anchors.extend(payload.anchors)
                file.first_block = file.first_block or payload
                file.frames = max(file.frames, payload.frames)
            case AudioGap() if payload.file in placed and payload.frames > 0:
                gap = (payload.at_frame, payload.frames, payload.cause)
                placed[payload.file].gaps.append(gap)
            case AudioStopped() if payload.file in placed:
                placed[payload.file].stopped_at = payload.frames
            case _:
                pass
    return list(placed.values())


def stored(placed: Iterable[PlacedFile]) -> bytes | None:
    """Files as bytes, with their fits in place of the anchors; None where one of them has none."""
    entries = []
    for file in placed:
        if file.known_fit is None:
            return None
        entry = asdict(file)
        del entry["anchors"]
        if file.first_block is not None:
            entry["first_block"]["anchors"] = []
        entries.append(entry)
    return json.dumps({"format": _FORMAT, "files": entries}).encode()


def restored(content: bytes) -> list[PlacedFile] | None:
    """What `stored` made, of this version of it; None for anything else."""
    try:
        value: Any = json_value(content)
        if value["format"] != _FORMAT:
            return None
        return [
            PlacedFile(
                **entry
                | {
                    "gaps": [(int(at), int(frames), str(why)) for at, frames, why in entry["gaps"]],
                    "first_block": entry["first_block"] and AudioBlock(**entry["first_block"]),
                    "known_fit": ClockFit(**entry["known_fit"]),
                }
            )
            for entry in value["files"]
        ]
    except (ValueError, TypeError, LookupError):
        return None
