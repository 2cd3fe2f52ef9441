"""The waveform of a session: the lowest and highest sample of every column of a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from labapp.audio.pyramid import BASE, Pyramid, pyramid_of
from labapp.clock import NS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from labapp.audio.alignment import ClockFit
    from labapp.audio.recorded_sound import RecordedSound

    Pair = tuple[NDArray[np.int16], NDArray[np.int16]]


class Peaks:
    """The waveform of a session, whose files are gone through once and then known from the cache.

    Parameters
    ----------
    sound : the session's sound. What is silenced in it is flat here, too.
    """

    def __init__(self, sound: RecordedSound) -> None:
        self._sound = sound
        self._files: list[tuple[int, int, ClockFit, Pyramid]] = [
            (span.t0_ns, span.t1_ns, sound.fit(span.file), pyramid_of(sound.samples(span.file)))
            for span in sound.spans
        ]

    def between(self, t0_ns: int, t1_ns: int, columns: int) -> Pair:
        """The lowest and highest samples of the columns of a picture.

        Parameters
        ----------
        t0_ns, t1_ns : int
            Session time of the left edge of the first column and of the right one of the last.
        columns : how many.

        Returns
        -------
        (columns,) int16, (columns,) int16
            Zeros where nothing was recorded.
        """
        if columns < 1 or t1_ns <= t0_ns:
            none = np.zeros(max(0, columns), np.int16)
            return none, none.copy()
        edges = t0_ns + np.linspace(0.0, t1_ns - t0_ns, columns + 1)
        if (t1_ns - t0_ns) * self._sound.rate < columns * BASE * NS:
            return self._samples(t0_ns, edges)
        low, high = self._ranges(edges[:-1], edges[1:])
        silenced = [(a, b) for a, b in self._sound.silenced if a < t1_ns and t0_ns < b]
        for begins, ends in silenced:
            within = (begins <= edges[:-1]) & (edges[1:] <= ends)
            low[within] = high[within] = 0
            partly = (edges[:-1] < ends) & (begins < edges[1:]) & ~within
            for column in np.flatnonzero(partly):
                left = self._without(edges[column], edges[column + 1], silenced)
                low[column], high[column] = self._extremes(left)
        return low, high

    def _samples(self, t0_ns: int, edges: NDArray[np.float64]) -> Pair:
        """Of columns of few samples each, or of less than one."""
        rate = self._sound.rate
        first = np.floor((edges - t0_ns) * rate / NS).astype(np.int64)
        heard = self._sound.read(t0_ns, int(first[-1]) + 1)
        at = first[:-1]
        return np.minimum.reduceat(heard, at), np.maximum.reduceat(heard, at)

    def _ranges(
        self, begins: NDArray[np.float64], ends: NDArray[np.float64], *, finest: bool = False
    ) -> Pair:
        """Of many stretches of session time in ns."""
        low, high = np.zeros(begins.size, np.int16), np.zeros(begins.size, np.int16)
        for t0_ns, t1_ns, fit, pyramid in self._files:
            touched = np.flatnonzero((begins < t1_ns) & (t0_ns < ends))
            if touched.size == 0:
                continue
            first, last = (
                (np.clip(edge[touched], t0_ns, t1_ns) - fit.offset_ns) * (fit.rate / NS)
                for edge in (begins, ends)
            )
            lowest, highest = pyramid.between(first, last, finest=finest)
            # Of two files in a column the louder counts; beside nothing, what is there.
            both = (low[touched] != 0) | (high[touched] != 0)
            low[touched] = np.where(both, np.minimum(low[touched], lowest), lowest)
            high[touched] = np.where(both, np.maximum(high[touched], highest), highest)
        return low, high

    def _extremes(self, ranges: list[tuple[float, float]]) -> tuple[np.int16, np.int16]:
        """Of several stretches together, by the finest level."""
        begins, ends = np.array(ranges, np.float64).reshape(-1, 2).T
        low, high = self._ranges(begins, ends, finest=True)
        return low.min(initial=0), high.max(initial=0)

    def _without(
        self, begins: float, ends: float, silenced: list[tuple[int, int]]
    ) -> list[tuple[float, float]]:
        """What is left of a stretch, less a pair of the finest level beside what is silenced:
        that pair holds something of it."""
        beside = BASE * NS / self._sound.rate
        left, at = [], begins
        for first, last in silenced:
            if at < first - beside and at < ends:
                left.append((at, min(ends, first - beside)))
            at = max(at, last + beside)
        if at < ends:
            left.append((at, ends))
        return left
