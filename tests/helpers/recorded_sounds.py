"""Sessions with any sound: what was recorded when, by a clock of its own, with gaps."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labapp.base.clock import NS
from labapp.record.audio.capture import wav_header
from labapp.record.events.lifecycle import PartStarted, SegmentEnded, SessionCompleted
from labapp.record.events.registry import Source
from labapp.record.events.voice import AudioBlock, AudioGap, AudioStarted, AudioStopped
from labapp.tasks.consent.events import ConsentGiven
from tests.helpers.journals import SessionBuilder, golden_plan

RATE = 8000
PARTICIPANT = Source.PARTICIPANT


@dataclass(frozen=True)
class Take:
    """A sound file. start_s: session time of its first frame; ppm: how much faster than stated its
    clock runs; gaps: first frame and frames of each silence put in for lost sound; stopped: closed
    in an orderly way."""

    samples: NDArray[np.int16]
    start_s: float = 1.0
    rate: int = RATE
    ppm: float = 0.0
    gaps: tuple[tuple[int, int], ...] = ()
    stopped: bool = True

    @property
    def true_rate(self) -> float:
        """Frames a second of session time."""
        return self.rate * (1 + self.ppm * 1e-6)

    def heard_s(self, frame: float) -> float:
        """Session time of a frame."""
        return self.start_s + frame / self.true_rate


def name_of(number: int) -> str:
    """Of the take of that number, from 1."""
    return f"audio/segment-{number:02d}.wav"


def sounding_session(
    root: Path,
    *takes: Take,
    end_s: float,
    uses: dict[str, bool] | None = None,
    with_study: bool = False,
) -> Path:
    """A session folder below `root` with these sounds and nothing else in it; uses: what the
    participant agreed to one by one; with_study: with the files of the study, without which it is
    not whole."""
    builder = SessionBuilder() if with_study else SessionBuilder(study_files=None)
    frozen = golden_plan()
    builder.plan(frozen.pop("plan"), **frozen)
    builder.segment(0, 1)
    if uses is not None:
        builder.at(0.1, PartStarted(0), "consent")
        builder.at(0.2, ConsentGiven("0" * 64, "name", uses), "consent", source=PARTICIPANT)
    for number, take in enumerate(takes, 1):
        add_take(builder, name_of(number), take)
    builder.at(end_s, SessionCompleted())
    builder.at(end_s, SegmentEnded("completed"))
    folder = builder.write(root)
    for number, take in enumerate(takes, 1):
        write_take(folder / name_of(number), take)
    return folder


def write_take(path: Path, take: Take) -> None:
    """The sound file of a take."""
    content = np.asarray(take.samples, "<i2").tobytes()
    path.write_bytes(wav_header(take.rate, len(content)) + content)


def add_take(builder: SessionBuilder, name: str, take: Take) -> None:
    """The events of a take, as the recorder writes them."""
    builder.at(take.start_s, AudioStarted(name, "Microphone", "ALSA", take.rate, 1, "PCM_16"))
    lost = 0
    for at, frames in take.gaps:
        lost += frames
        builder.at(take.heard_s(at + frames), AudioGap(name, at, frames, "overflow"))
    for first in range(0, take.samples.size, take.rate):
        last = min(first + take.rate, take.samples.size)
        sha256 = hashlib.sha256(np.asarray(take.samples[first:last], "<i2").tobytes()).hexdigest()
        # Ten a second, as the recorder writes them; less would do for the fit.
        frames = range(first, last, max(1, take.rate // 10))
        anchors = tuple((n, 500 + take.heard_s(n), round(take.heard_s(n) * NS)) for n in frames)
        builder.at(take.heard_s(last), AudioBlock(name, first, last, sha256, anchors))
    if take.stopped:
        ends = take.heard_s(take.samples.size)
        builder.at(ends, AudioStopped(name, take.samples.size, lost))
