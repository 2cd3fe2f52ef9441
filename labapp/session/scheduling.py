"""Timers and the way back to the runner's thread: the runner has no event loop of its own."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from typing import Protocol

from labapp.clock import FakeClock


class Timer(Protocol):
    def cancel(self) -> None: ...


class Scheduler(Protocol):
    """What the runner asks of its event loop: Qt's in the windows, a virtual one without."""

    def call_later(self, session_s: float, function: Callable[[], None]) -> Timer:
        """Call once after so many seconds of session time, in the runner's thread."""
        ...

    def post(self, function: Callable[[], None]) -> None:
        """Call soon in the runner's thread; may be called from any thread."""
        ...


class _VirtualTimer:
    def __init__(self, function: Callable[[], None]) -> None:
        self.function: Callable[[], None] | None = function

    def cancel(self) -> None:
        self.function = None


class VirtualScheduler:
    """Runs timers as fast as the machine can, moving a fake clock to each one's time."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self._queue: list[tuple[int, int, _VirtualTimer]] = []
        self._order = itertools.count()

    def call_later(self, session_s: float, function: Callable[[], None]) -> Timer:
        timer = _VirtualTimer(function)
        due = self.clock.now_ns() + max(0, round(session_s * 1e9))
        heapq.heappush(self._queue, (due, next(self._order), timer))
        return timer

    def post(self, function: Callable[[], None]) -> None:
        self.call_later(0, function)

    def run(self, until: Callable[[], bool]) -> None:
        """Run timers in the order of their times until `until()` holds or none is left."""
        while self._queue and not until():
            due, _, timer = heapq.heappop(self._queue)
            if timer.function is not None:
                self.clock.set_ns(max(due, self.clock.now_ns()))
                timer.function()
