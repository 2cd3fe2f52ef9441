"""When an input event happened, by the time stamp that the window system gave it.

A program gets a key press late: other events are worked off before it. The window system stamps
the event in whole milliseconds of a clock that begins anywhere and, on X11, is 32 bits long, so
that it starts again from 0 every 49.7 days. Here a stamp becomes a reading of
`time.perf_counter_ns`, or is not trusted and the time of arrival stands for it.

On Linux the stamps of X11 and Wayland and Python's `perf_counter` are the same clock,
CLOCK_MONOTONIC: nothing has to be added, and each event shows whether that holds, for it must have
come before it arrived and not long before. Elsewhere, and with a display on another machine, what
has to be added is unknown; events arrive late and never early, so the smallest difference between
arrival and stamp among the latest events is the best there is.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from typing import Literal, NamedTuple

MS = 1_000_000
WRAP_NS = 2**32 * MS
LONGEST_NS = 1_000 * MS
"""An event older than this when it arrives has a stamp of another clock."""
RECENT = 64
"""Events that the difference of two clocks is taken from: enough to meet a prompt one among them,
and few enough for clocks that drift apart."""
WINDOWS_STEP_NS = 16 * MS
"""Of the clock that Windows stamps messages with: 10 to 16 ms (GetTickCount)."""

TimedBy = Literal["event", "arrival"]


class InputTime(NamedTuple):
    """perf_ns: on the clock of `time.perf_counter_ns`; timed_by: see
    `labapp.tasks.unmasking.events.ResponseGiven`."""

    perf_ns: int
    timed_by: TimedBy


class InputClock:
    """Stamps of input events on the clock of `time.perf_counter_ns`.

    Parameters
    ----------
    same : the stamps are of the same clock, whole milliseconds of it.
    step_ns : of the clock that stamps. An event that arrives within a step of its stamp is timed by
        its arrival, which then says more.
    """

    def __init__(self, *, same: bool, step_ns: int = 0) -> None:
        self._same = same
        self._step = step_ns
        self._differences: deque[int] = deque(maxlen=RECENT)

    def of(self, stamp_ms: int, arrival_ns: int) -> InputTime:
        """When an event happened.

        stamp_ms : its time stamp; 0 of an event that no hand made. arrival_ns : when the program
        got it, by `time.perf_counter_ns`, which the result never exceeds.
        """
        arrival = InputTime(arrival_ns, "arrival")
        if stamp_ms <= 0:
            return arrival
        difference = arrival_ns - stamp_ms * MS
        late = _turn(difference) if self._same else self._late(difference)
        if late is None or not 0 <= late <= LONGEST_NS or late < self._step:
            return arrival
        return InputTime(arrival_ns - late, "event")

    def _late(self, difference: int) -> int | None:
        """How late an event arrived, by the promptest of the latest ones; None for the first."""
        known = self._differences
        least = difference + min((_turn(turn - difference) for turn in known), default=0)
        if known and abs(difference - least) > LONGEST_NS:
            known.clear()  # One of the clocks was set, or stood still: the old events say nothing.
        first = not known
        known.append(difference)
        return None if first else max(0, difference - least)


def _turn(difference: int) -> int:
    """A difference of times on a clock that starts again, as the nearest one to 0."""
    return (difference + WRAP_NS // 2) % WRAP_NS - WRAP_NS // 2


def of_this_machine() -> InputClock:
    """The clock that fits the platform."""
    if sys.platform == "win32":
        return InputClock(same=False, step_ns=WINDOWS_STEP_NS)
    monotonic = "CLOCK_MONOTONIC" in time.get_clock_info("perf_counter").implementation
    return InputClock(same=sys.platform.startswith("linux") and monotonic)
