"""What is heard now: from the reports of the device to the samples, and from these to session time.

Two maps. `HeardSamples` knows when each sample that was sent is heard, by the times that the device
gives: a single one of these jitters by milliseconds, so the median of half a second is taken.
`SessionTimes` knows which session time each sample has.
"""

from __future__ import annotations

import statistics
from bisect import bisect_right
from collections import deque

from labapp.audio.output import Report
from labapp.clock import NS

_REMEMBERED = 600
_STARTS = 25


class HeardSamples:
    """Which sample is heard at a time.

    Parameters
    ----------
    rate : frames a second of the device.

    Attributes
    ----------
    taken : number after the last sample that the device took.
    last_ns : `perf_counter_ns` of the last report.
    """

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._pieces: deque[Report] = deque(maxlen=_REMEMBERED)
        self._starts: deque[float] = deque(maxlen=_STARTS)
        self._start_ns = 0.0
        self.taken = 0
        self.last_ns = 0

    def add(self, report: Report) -> None:
        """Take in what the device took."""
        self._pieces.append(report)
        self._starts.append(report.perf_ns + (report.latency_s - report.frame / self._rate) * NS)
        self._start_ns = statistics.median(self._starts)
        self.taken = max(self.taken, report.first + report.samples)
        self.last_ns = report.perf_ns

    def at(self, perf_ns: int) -> float:
        """The number of the sample that is heard at a time, with its fraction; of the last one
        before a silence while that lasts."""
        frame = (perf_ns - self._start_ns) * self._rate / NS
        for piece in reversed(self._pieces):
            if piece.frame <= frame:
                return piece.first + min(float(piece.samples), frame - piece.frame)
        return float(self._pieces[0].first) if self._pieces else 0.0


class SessionTimes:
    """Which session time each sample has, piece by piece."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._pieces: list[tuple[float, float]] = []

    def clear(self) -> None:
        """Forget all: what is sent from now on has times of its own."""
        self._firsts, self._pieces = [], []

    def add(self, first: int, t_ns: float, step_ns: float) -> None:
        """From the sample `first` on: its session time, and how much passes with each."""
        self._firsts.append(first)
        self._pieces.append((t_ns, step_ns))
        if len(self._firsts) > 2 * _REMEMBERED:
            del self._firsts[:_REMEMBERED], self._pieces[:_REMEMBERED]

    def at(self, sample: float) -> float | None:
        """The session time in ns; None of a sample before all that are known."""
        index = bisect_right(self._firsts, sample) - 1
        if index < 0:
            return None
        t_ns, step_ns = self._pieces[index]
        return t_ns + (sample - self._firsts[index]) * step_ns
