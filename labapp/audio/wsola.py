"""Speech slower or faster at its own pitch: overlap-add of similar waveforms (WSOLA).

Sound is put together from windows of 40 ms that overlap by half. Each is taken from about the place
that is due at this speed, within 10 ms of it where it is most like what would follow the one
before: so periods of a voice meet in phase, and its pitch stays. At the speed 1 the very same
samples come out. Faster sound leaves some out: a click of a millisecond may be among them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SLOWEST, FASTEST = 0.25, 3.0
HOP_S = 0.02
SEARCH_S = 0.01
_SPARSE = 4
"""The best place is looked for on every so manieth sample, and then sample by sample around it."""

Read = Callable[[int, int], NDArray[np.int16]]
"""Samples from a frame on, and how many: as many are given, zeros before and after the sound."""


@dataclass(frozen=True, slots=True)
class Hop:
    """20 ms of output.

    Attributes
    ----------
    samples : (n,) int16
        To be played.
    first, last : int
        The input's frame that is heard at the first of them, and the one that would be at the next
        after them. Slow sound goes back a little now and then, to say a period of a voice again.
    due : the input's frame that was due at the first, from which it is not further than the search
        goes.
    """

    samples: NDArray[np.int16]
    first: int
    last: int
    due: float


class Stretcher:
    """Makes output hop by hop, at a speed that may change with every one.

    Parameters
    ----------
    read : gives the input.
    rate : frames a second of input and output.

    Attributes
    ----------
    at : float
        The input's frame that is due next.
    hop_frames : int
        Samples of a hop.
    """

    def __init__(self, read: Read, rate: int) -> None:
        self._read = read
        self.hop_frames = max(2 * _SPARSE, round(rate * HOP_S))
        self._search = max(_SPARSE, round(rate * SEARCH_S))
        steps = (np.arange(self.hop_frames) + 0.5) / self.hop_frames
        self._rise = (0.5 - 0.5 * np.cos(np.pi * steps)).astype(np.float32)
        self._tail: NDArray[np.float32] | None = None
        self._follows = 0
        self._jumps = False
        self.at = 0.0

    def seek(self, frame: float) -> None:
        """Go on from another frame. What sounds now is not faded out."""
        self.at = frame
        self._tail = None

    def jump(self, frame: float) -> None:
        """The same without a break: what sounds now is faded over into what is there."""
        self.at = frame
        self._jumps = True

    def hop(self, speed: float) -> Hop:
        """The next 20 ms. speed: clipped to what can be made."""
        speed = min(max(speed, SLOWEST), FASTEST)
        frames, due, tail = self.hop_frames, self.at, self._tail
        if tail is None:
            first = place = round(due)
            window = self._floats(place, 2 * frames)
            made = window[:frames]
        else:
            # The middle of a window lies where its middle is due.
            wanted = round(due + frames * (speed - 1.0))
            place = wanted if wanted == self._follows else self._most_alike(wanted, tail)
            first = place if self._jumps else self._follows
            window = self._floats(place, 2 * frames)
            made = tail + (window[:frames] - tail) * self._rise
        self._tail = window[frames:]
        self._follows = place + frames
        self._jumps = False
        self.at = due + frames * speed
        return Hop(np.rint(made).astype(np.int16), first, place + frames, due)

    def _floats(self, place: int, frames: int) -> NDArray[np.float32]:
        return self._read(place, frames).astype(np.float32)

    def _most_alike(self, due: int, tail: NDArray[np.float32]) -> int:
        """The frame near `due` from which the input is most like what follows anyway."""
        reach, frames = self._search, tail.size
        around = self._floats(due - reach, 2 * reach + frames)
        if not tail.any() or not around.any():
            return due
        sparse = _likeness(around[::_SPARSE], tail[::_SPARSE])
        near = int(np.argmax(sparse)) * _SPARSE
        first = max(0, near - _SPARSE + 1)
        last = min(2 * reach, near + _SPARSE - 1)
        exact = _likeness(around[first : last + frames], tail)
        return due - reach + first + int(np.argmax(exact))


def _likeness(around: NDArray[np.float32], tail: NDArray[np.float32]) -> NDArray[np.float64]:
    """The correlation of `tail` with each stretch of `around` that is as long, by its energy."""
    together = np.correlate(around, tail, mode="valid").astype(np.float64)
    energy = np.concatenate(([0.0], np.cumsum(np.square(around, dtype=np.float64))))
    length = tail.size
    own = energy[length:] - energy[:-length]
    # A stretch of near silence is like nothing.
    quiet = 1e-3 * own.max(initial=1.0)
    return np.asarray(together / np.sqrt(np.maximum(own, quiet) + 1.0))
