"""Real-time sessions without windows: an event loop of a few lines."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable

from labapp.base.clock import NS, Clock


class _Timer:
    def __init__(self, function: Callable[[], None]) -> None:
        self.function: Callable[[], None] | None = function

    def cancel(self) -> None:
        self.function = None


class LoopScheduler:
    """Runs timers at their times on the real clock, in the thread that calls `run`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._queue: list[tuple[float, int, _Timer]] = []
        self._order = itertools.count()
        self._wake = threading.Condition()

    def call_later(self, session_s: float, function: Callable[[], None]) -> _Timer:
        timer = _Timer(function)
        due = time.perf_counter() + self._clock.real_seconds(round(session_s * NS))
        with self._wake:
            heapq.heappush(self._queue, (due, next(self._order), timer))
            self._wake.notify()
        return timer

    def post(self, function: Callable[[], None]) -> None:
        self.call_later(0, function)

    def run(self, until: Callable[[], bool]) -> None:
        while not until():
            with self._wake:
                wait_s = self._queue[0][0] - time.perf_counter() if self._queue else 0.1
                if wait_s > 0:
                    self._wake.wait(min(wait_s, 0.1))
                    continue
                timer = heapq.heappop(self._queue)[2]
            if timer.function is not None:
                timer.function()
