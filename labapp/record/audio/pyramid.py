"""The lowest and highest samples of a sound file over ever longer stretches, to draw it from.

The first level has a pair for every 256 frames, each further one for four of the one before. It is
made once of a file and kept in the cache, by the SHA-256 of the file; what is damaged there is made
again. Which file has which SHA-256 is kept beside it, by what the file system says of the file, for
reading half a gigabyte again takes longer than anything else.
"""

from __future__ import annotations

import hashlib
import struct
import wave
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from labapp.base.errors import RecordError
from labapp.base.reading import files
from labapp.record.audio import recorded_sound
from labapp.record.audio.alignment import fit_segment
from labapp.record.audio.recorded_sound import WavSamples
from labapp.record.events import Event

BASE = 256
STEP = 4
ENOUGH = 2000
"""A level of fewer pairs is the last."""
_CHUNK = BASE * 4096
_MAGIC = b"labapp peaks 1\n"
_HEAD = struct.Struct("<Q")
_LARGEST = 256 * files.MIB
_FOLDER = "peaks"

Pair = NDArray[np.int16]


@dataclass(frozen=True)
class Pyramid:
    """Lowest and highest samples of a file.

    Attributes
    ----------
    frames : of the file.
    levels : tuple of ((n,) int16, (n,) int16)
        Lowest and highest of each 256 frames, 1024, 4096 and so on. The last stretch of a level may
        be shorter.
    """

    frames: int
    levels: tuple[tuple[Pair, Pair], ...]

    def between(
        self, first: NDArray[np.float64], last: NDArray[np.float64], *, finest: bool = False
    ) -> tuple[Pair, Pair]:
        """The lowest and highest samples of many stretches of the file.

        Parameters
        ----------
        first, last : (n,) float64
            Frames, half-open; what lies outside the file is left out.
        finest : by stretches of 256 frames, however many these are. Otherwise as exact as a quarter
            of the longest one, or as 256 frames.

        Returns
        -------
        (n,) int16, (n,) int16
            Zeros where a stretch holds nothing of the file.
        """
        longest = float(np.max(last - first, initial=0.0))
        level, length = 0, BASE
        while not finest and level + 1 < len(self.levels) and length * STEP**2 <= longest:
            level, length = level + 1, length * STEP
        lows, highs = self.levels[level]
        begin = np.clip(first, 0, self.frames) // length
        end = np.ceil(np.clip(last, 0, self.frames) / length)
        there = (end > begin) & (last > 0) & (first < self.frames)
        # Pairs of indices, of which every second stretch is one that is asked for.
        index = np.empty(2 * int(there.sum()), np.int64)
        index[0::2], index[1::2] = begin[there], end[there]
        lowest, highest = np.zeros(first.size, np.int16), np.zeros(first.size, np.int16)
        if index.size:
            lowest[there] = np.minimum.reduceat(np.append(lows, lows[-1:]), index)[::2]
            highest[there] = np.maximum.reduceat(np.append(highs, highs[-1:]), index)[::2]
        return lowest, highest


def pyramid_of(samples: WavSamples) -> Pyramid:
    """Of a sound file, from the cache or made and put there. A cache that cannot be written to is
    done without."""
    index = _index(samples)
    digest = _read_cached_digest(index)
    if digest and (known := _read_cached_pyramid(_place(digest), samples.size)) is not None:
        return known
    hashed = hashlib.sha256()
    pyramid = _build_pyramid(samples, hashed.update)
    if pyramid.frames != samples.size:
        return pyramid  # not read to its end: gone with its drive
    body = b"".join(part.astype("<i2").tobytes() for level in pyramid.levels for part in level)
    content = _MAGIC + _HEAD.pack(pyramid.frames) + body
    recorded_sound.put(_place(hashed.hexdigest()), content)
    if index is not None:
        recorded_sound.put(index, hashed.hexdigest().encode())
    return pyramid


def forget(samples: WavSamples) -> None:
    """Take what is in the cache of a sound file away, if there is anything."""
    index = _index(samples)
    digest = _read_cached_digest(index)
    if not digest:
        hashed = hashlib.sha256()
        _build_pyramid(samples, hashed.update)
        digest = hashed.hexdigest()
    for path in filter(None, (_place(digest), index)):
        path.unlink(missing_ok=True)


def _place(digest: str) -> Path:
    return recorded_sound.place(_FOLDER, f"{digest}.peaks")


def _index(samples: WavSamples) -> Path | None:
    """Where it is remembered which SHA-256 this file has; None of a temporary one."""
    try:
        stat = samples.stat()
    except OSError:
        return None
    if stat.st_nlink == 0 or not stat.st_ino:
        return None
    name = f"{stat.st_dev:x}-{stat.st_ino:x}-{stat.st_size:x}-{stat.st_mtime_ns:x}"
    return recorded_sound.place(_FOLDER, f"{name}.sha256")


def _read_cached_digest(index: Path | None) -> str:
    digest = recorded_sound.get(index, 64) if index is not None else None
    return digest.decode("ascii") if digest else ""


def _build_pyramid(samples: WavSamples, hashed: Callable[[bytes | memoryview], None]) -> Pyramid:
    """Build the pyramid in one pass through a file; hashed: receives all bytes of it."""
    lows, highs = [], []
    frames = 0
    # Hashing takes as long as all else: another core does it meanwhile.
    with ThreadPoolExecutor(1, "labapp-sound-hash") as pool:
        hashing = pool.submit(hashed, samples.head())
        while frames < samples.size and (part := samples[frames : frames + _CHUNK]).size:
            hashing.result()
            hashing = pool.submit(hashed, part.data)
            frames += part.size
            whole = part.size - part.size % BASE
            for block in (part[:whole].reshape(-1, BASE), part[whole:].reshape(1, -1)):
                if block.size:
                    lows.append(block.min(axis=1))
                    highs.append(block.max(axis=1))
        hashing.result()
    hashed(samples.tail())
    none = np.zeros(0, np.int16)
    level = (np.concatenate([none, *lows]), np.concatenate([none, *highs]))
    levels = [level]
    while level[0].size >= ENOUGH:
        at = np.arange(0, level[0].size, STEP)
        level = (np.minimum.reduceat(level[0], at), np.maximum.reduceat(level[1], at))
        levels.append(level)
    return Pyramid(frames, tuple(levels))


def _sizes(frames: int) -> list[int]:
    """Pairs of each level of a file of so many frames."""
    sizes = [-(-frames // BASE)]
    while sizes[-1] >= ENOUGH:
        sizes.append(-(-sizes[-1] // STEP))
    return sizes


def _read_cached_pyramid(path: Path, frames: int) -> Pyramid | None:
    """The cached pyramid of a file of so many frames; None if there is none."""
    body = recorded_sound.get(path, _LARGEST)
    at = len(_MAGIC) + _HEAD.size
    sizes = _sizes(frames)
    if body is None or body[:at] != _MAGIC + _HEAD.pack(frames) or len(body) != at + 4 * sum(sizes):
        return None
    values = np.frombuffer(body, "<i2", offset=at)
    levels = []
    first = 0
    for size in sizes:
        levels.append((values[first : first + size], values[first + size : first + 2 * size]))
        first += 2 * size
    return Pyramid(frames, tuple(levels))


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
