"""What two recordings of the same speech have in common, whatever the microphones: how the loudness
of each band of frequencies goes up and down.

Levels, timbre, an automatic gain and steady noise are taken out; what is left is compared by
correlation. A feature has a value every 5 ms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import gcd

import numpy as np
from numpy.typing import NDArray
from scipy.signal import resample_poly

from labapp.audio.recorded_sound import RecordedSound
from labapp.clock import NS
from labapp.videos.decoding import SOUND_RATE

HOP_S = 0.005
HOP = round(HOP_S * SOUND_RATE)
WINDOW = 4 * HOP
"""Samples of which a value is made."""
EDGES_HZ = (150.0, 300.0, 450.0, 650.0, 900.0, 1300.0, 1800.0, 2500.0, 3600.0)
"""Of the bands."""
BANDS = len(EDGES_HZ) - 1
AROUND_S = 1.0
"""Loudness is compared with the mean of so much time around it."""
FLOOR = 20.0
"""Per cent of the time that are softer than what is listened to."""
RISE = 2
"""A rise is over so many values on either side."""
PAUSE_S = 4.0
"""Zeros for longer are no pause of somebody who speaks."""
_BLOCK = 8192
_QUIETEST = 1e-3
_READ_S = 20
_MARGIN_S = 0.1


@dataclass(frozen=True, slots=True)
class Features:
    """How the loudness of a recording goes up and down.

    Attributes
    ----------
    values : (BANDS, n) float32
        0 where there is no sound.
    present : (n,) bool
        Where there is sound: neither lost, nor exact zeros for long.
    """

    values: NDArray[np.float32]
    present: NDArray[np.bool_]

    @property
    def size(self) -> int:
        """How many values a band has, one every `HOP_S` from time 0 on."""
        return int(self.present.size)

    def coarser(self, by: int) -> Features:
        """The means of so many values each."""
        size = self.size // by * by
        values = self.values[:, :size].reshape(BANDS, -1, by).mean(axis=2)
        present = self.present[:size].reshape(-1, by)
        return Features(values, np.asarray(np.all(present, axis=1), np.bool_))

    def rises(self) -> Features:
        """How much louder it becomes: the echoes of a room move the beginning of a sound less than
        all of it."""
        values = np.zeros_like(self.values)
        step = RISE
        if self.size > 2 * step:
            rise = self.values[:, 2 * step :] - self.values[:, : -2 * step]
            values[:, step:-step] = np.maximum(rise, 0.0)
        values -= values[:, self.present].mean(axis=1, keepdims=True) if self.present.any() else 0.0
        values *= self.present
        return Features(values, self.present)


class FeatureBuilder:
    """Makes features of sound that comes piece by piece, in order of time."""

    def __init__(self) -> None:
        self._levels: list[NDArray[np.float32]] = []
        self._present: list[NDArray[np.bool_]] = []
        self._pending = np.zeros(WINDOW // 2, np.float32)
        """From half a window before the middle of the next value on."""
        self._taken = 0
        self._shape = np.hanning(WINDOW + 1)[:-1].astype(np.float32)
        rates = np.fft.rfftfreq(WINDOW, 1 / SOUND_RATE)
        self._bands = np.array(
            [(low <= rates) & (rates < high) for low, high in pairwise(EDGES_HZ)],
            np.float32,
        )

    def add(self, first: int, samples: NDArray[np.int16]) -> None:
        """Take in sound. first: the place of its first sample, at `SOUND_RATE`; what lies before
        the sound that came already is left out, what is missing is silence."""
        if first < self._taken:
            samples = samples[self._taken - first :]
            first = self._taken
        while first > self._taken:
            zeros = min(first - self._taken, _BLOCK * HOP)
            self._take(np.zeros(zeros, np.float32))
        self._take(samples.astype(np.float32))

    def _take(self, samples: NDArray[np.float32]) -> None:
        self._taken += samples.size
        self._pending = np.concatenate((self._pending, samples))
        while self._pending.size >= _BLOCK * HOP + WINDOW:
            self._make(_BLOCK)

    def _make(self, count: int) -> None:
        views = np.lib.stride_tricks.sliding_window_view(self._pending, WINDOW)[::HOP][:count]
        power = np.abs(np.fft.rfft(views * self._shape, axis=1)).astype(np.float32) ** 2
        self._levels.append(np.log10(power @ self._bands.T + _QUIETEST).astype(np.float32).T)
        self._present.append(np.asarray(np.any(views, axis=1), np.bool_))
        self._pending = self._pending[count * HOP :]

    def finish(self) -> Features:
        """The features of all that came."""
        count = max(0, (self._pending.size - WINDOW) // HOP + 1)
        if count:
            self._make(count)
        if not self._levels:
            return Features(np.zeros((BANDS, 0), np.float32), np.zeros(0, np.bool_))
        levels = np.concatenate(self._levels, axis=1)
        sounding = np.concatenate(self._present)
        present = _with_pauses(sounding)
        self._levels.clear()
        for band in levels:
            band[:] = _contrast(band, sounding, present)
        return Features(levels, present)


def _with_pauses(sounding: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Where there is sound, short silences within it too: some microphones give zeros where nobody
    speaks."""
    present = sounding.copy()
    places = np.flatnonzero(sounding)
    apart = np.diff(places)
    for at in np.flatnonzero((apart > 1) & (apart <= round(PAUSE_S / HOP_S))):
        present[places[at] : places[at + 1]] = True
    return present


def _contrast(
    levels: NDArray[np.float32], sounding: NDArray[np.bool_], present: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """How much louder than around it a band is, in units of its usual change."""
    if not sounding.any():
        return np.zeros_like(levels)
    floor = float(np.percentile(levels[sounding], FLOOR))
    above = np.where(present, np.maximum(levels - floor, 0.0), 0.0)
    half = round(AROUND_S / HOP_S / 2)
    mean = _sums(above, half) / np.maximum(_sums(present.astype(np.float64), half), 1.0)
    contrast = np.where(present, above - mean, 0.0)
    spread = float(np.sqrt(np.mean(contrast[present] ** 2)))
    return np.clip(contrast / (spread or 1.0), -4.0, 4.0).astype(np.float32)


def _sums(values: NDArray[np.float64], half: int) -> NDArray[np.float64]:
    """Of each value and so many on either side of it."""
    total = np.concatenate(([0.0], np.cumsum(values, dtype=np.float64)))
    places = np.arange(values.size)
    upper = np.minimum(places + half + 1, values.size)
    result: NDArray[np.float64] = total[upper] - total[np.maximum(places - half, 0)]
    return result


def session_features(sound: RecordedSound) -> Iterator[float | Features]:
    """The features of a session's sound on its clock: shares that are done, and at last them."""
    builder = FeatureBuilder()
    divisor = gcd(SOUND_RATE, sound.rate)
    up, down = SOUND_RATE // divisor, sound.rate // divisor
    margin = round(_MARGIN_S * SOUND_RATE)
    end = sound.end_ns * SOUND_RATE // NS
    for first in range(0, int(end), _READ_S * SOUND_RATE):
        count = min(_READ_S * SOUND_RATE, int(end) - first)
        begin_ns = (first - margin) * NS // SOUND_RATE
        frames = -(-(count + 2 * margin) * down // up)
        heard = sound.read(begin_ns, frames)
        if heard.any():
            samples = heard.astype(np.float32)
            if up != down:
                samples = resample_poly(samples, up, down).astype(np.float32)
            silent = samples[margin : margin + count]
            builder.add(first, np.rint(silent).clip(-32768, 32767).astype(np.int16))
        else:
            builder.add(first, np.zeros(count, np.int16))
        yield (first + count) / end
    yield builder.finish()
