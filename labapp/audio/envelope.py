"""The loudness of a recording over time, small enough to draw."""

from __future__ import annotations

import wave
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from labapp.audio.alignment import fit_segment
from labapp.errors import RecordError
from labapp.events import Event
from labapp.reading import files

PER_SECOND = 20
LARGEST = 4096 * files.MIB
"""Bytes of a sound file: what a WAV can have."""


def envelope(folder: Path, events: Sequence[Event]) -> list[tuple[int, float]]:
    """(session time in ns, peak 0 to 1) of the sound files of a session, 20 a second, in order.

    events: the session's, in order. A file that is missing or cannot be read is left out: this is
    for drawing, `sessions verify` is for judging.
    """
    peaks: list[tuple[int, float]] = []
    for started in (event for event in events if event.kind == "audio.started"):
        name = str(started.payload["file"])
        try:
            fit = fit_segment(events, name)
            with files.open_file(folder / name, largest=LARGEST) as stream:
                samples, rate = _samples(stream)
        except (RecordError, OSError, EOFError, wave.Error):
            continue
        if rate < PER_SECOND:
            continue
        step = rate // PER_SECOND
        count = len(samples) // step
        blocks = np.abs(samples[: count * step].astype(np.int32)).reshape(count, step).max(axis=1)
        peaks += [
            (fit.frame_to_ns(index * step), float(peak) / 32768)
            for index, peak in enumerate(blocks)
        ]
    return peaks


def _samples(stream: IO[bytes]) -> tuple[NDArray[np.int16], int]:
    """The samples of a WAV file as labapp writes them, 16 bits and mono, and their rate in Hz.

    Raises EOFError or wave.Error for any other file.
    """
    with wave.open(stream, "rb") as sound:
        if (sound.getnchannels(), sound.getsampwidth()) != (1, 2):
            raise wave.Error("not mono with 16 bits")
        content = sound.readframes(sound.getnframes())
        return np.frombuffer(content[: len(content) // 2 * 2], "<i2"), sound.getframerate()
