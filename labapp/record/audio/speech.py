"""Where somebody speaks in a recording, based only on loudness.

The energy of every 10 ms is compared with the recording's own floor, the 15th percentile of all of
them. A frame is loud that lies above it by 6 dB or by a quarter of the range up to the loudest
frames, whichever is more. Short holes are closed and short noises left out. What was lost and
filled with zeros is no speech, and does not count for the floor either.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from labapp.record.audio.recorded_sound import Samples

FRAME_S = 0.01
FLOOR_PERCENTILE = 15.0
LOUD_PERCENTILE = 98.0
MIN_RISE_DB = 6.0
RANGE_SHARE = 0.25
HOLE_S = 0.2
NOISE_S = 0.1
PAUSE_S = 0.7
_CHUNK_S = 60.0

Stretch = tuple[float, float]
"""Beginning and end in s from the first sample; half-open."""


def stretches(
    samples: Samples,
    rate: int,
    *,
    min_rise_db: float = MIN_RISE_DB,
    hole_s: float = HOLE_S,
    noise_s: float = NOISE_S,
) -> list[Stretch]:
    """Where speech is heard.

    Parameters
    ----------
    samples : (n,) int16
        Mono sound; of a file it is read a minute at a time.
    rate : frames a second, at least 100.
    min_rise_db : what is loud is louder than the floor by as much at least.
    hole_s : a quieter moment shorter than this, in s, belongs to the speech around it.
    noise_s : what is loud for less than this, in s, is a noise and no speech.

    Returns
    -------
    Beginning and end of each in s, in order; none of them holds a frame of zeros.
    """
    power, zeros = _frames(samples, rate)
    heard = power[~zeros]
    if heard.size == 0:
        return []
    # A sum over three frames: a single frame of a low voice holds no more than a period of it.
    # A 16-bit file knows nothing below -100 dB.
    level = 10.0 * np.log10(np.maximum(_smooth_power(power), 1e-10))
    floor, loudest = np.percentile(level[~zeros], [FLOOR_PERCENTILE, LOUD_PERCENTILE])
    threshold = floor + max(min_rise_db, RANGE_SHARE * (loudest - floor))
    loud = (level > threshold) & ~zeros
    loud = _fill_holes(loud, round(hole_s / FRAME_S))
    loud = _without_short(loud, round(noise_s / FRAME_S)) & ~zeros
    step = _step(rate)
    end = samples.size / rate
    return [(first * step / rate, min(end, last * step / rate)) for first, last in _runs(loud)]


def utterances(
    samples: Samples, rate: int, *, pause_s: float = PAUSE_S, min_rise_db: float = MIN_RISE_DB
) -> list[Stretch]:
    """Stretches of speech, joined if the pause between them is shorter than `pause_s`.

    See `stretches` for what they are; an utterance holds its short pauses, also such in which sound
    was lost.
    """
    return join_stretches(stretches(samples, rate, min_rise_db=min_rise_db), pause_s)


def join_stretches(spoken: Iterable[Stretch], pause_s: float = PAUSE_S) -> list[Stretch]:
    """Stretches in order of time; those less than `pause_s` apart are joined."""
    together: list[Stretch] = []
    for begins, ends in spoken:
        if together and begins - together[-1][1] < pause_s:
            together[-1] = (together[-1][0], max(ends, together[-1][1]))
        else:
            together.append((begins, ends))
    return together


def _step(rate: int) -> int:
    """Samples of a frame."""
    return max(1, round(rate * FRAME_S))


def _frames(samples: Samples, rate: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The power of each frame without its mean, full scale being 1, and whether it is all zeros.

    The last frame may be shorter than the others.
    """
    step = _step(rate)
    chunk = max(1, round(_CHUNK_S / FRAME_S)) * step
    powers, silent = [], []
    for first in range(0, samples.size, chunk):
        part = np.asarray(samples[first : first + chunk])
        whole = part.size - part.size % step
        for block in (part[:whole].reshape(-1, step), part[whole:].reshape(1, -1)):
            if block.size:
                powers.append((block.astype(np.float32) / np.float32(32768)).var(axis=1))
                silent.append(~block.any(axis=1))
    if not powers:
        return np.zeros(0), np.zeros(0, np.bool_)
    return np.concatenate(powers).astype(np.float64), np.concatenate(silent)


def _smooth_power(power: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of each frame and its two neighbours."""
    if power.size < 3:
        return power
    return np.convolve(np.pad(power, 1, mode="edge"), np.full(3, 1 / 3), mode="valid")


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Half-open ranges in which the flags are set."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], flags.astype(np.int8), [0]))))
    return [(int(first), int(last)) for first, last in edges.reshape(-1, 2)]


def _fill_holes(flags: NDArray[np.bool_], shorter: int) -> NDArray[np.bool_]:
    """Flags in which holes shorter than so many frames are filled."""
    closed = flags.copy()
    runs = _runs(flags)
    for (_, ends), (begins, _) in pairwise(runs):
        if begins - ends < shorter:
            closed[ends:begins] = True
    return closed


def _without_short(flags: NDArray[np.bool_], shorter: int) -> NDArray[np.bool_]:
    """Set flags taken away if there are fewer of them in a row than so many frames."""
    left = flags.copy()
    for first, last in _runs(flags):
        if last - first < shorter:
            left[first:last] = False
    return left
