"""Which stretch of a session a timeline shows, and where a time lies in it."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from labapp.clock import NS
from labapp.ui.language import number
from labapp.ui.moderator.wording import short_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_SPAN_NS = NS // 2
TICK_PX = 90
_STEPS_NS = (
    *(NS // 100, NS // 50, NS // 20, NS // 10, NS // 5, NS // 2),
    *(s * NS for s in (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600)),
)


class TimeScale:
    """A window of time over some pixels; it never leaves the session.

    Attributes
    ----------
    begin_ns, end_ns : int
        Session time at which the session begins and ends.
    left_ns, span_ns : float
        What is shown: from where, and how long.
    x0, width : float
        Logical pixels: where it is shown, and how wide; at least 1.
    """

    def __init__(self) -> None:
        self.begin_ns, self.end_ns = 0, NS
        self.left_ns, self.span_ns = 0.0, float(NS)
        self.x0, self.width = 0.0, 1.0

    @property
    def right_ns(self) -> float:
        """Session time at the right edge."""
        return self.left_ns + self.span_ns

    @property
    def ns_per_px(self) -> float:
        """Nanoseconds a logical pixel."""
        return self.span_ns / self.width

    @property
    def whole(self) -> bool:
        """Whether the whole session is shown."""
        return self.span_ns >= self.end_ns - self.begin_ns

    def x(self, t_ns: float) -> float:
        """Where a time lies."""
        return self.x0 + (t_ns - self.left_ns) / self.ns_per_px

    def places(self, times: NDArray[np.int64]) -> NDArray[np.float64]:
        """Where times lie, in logical pixels from the left edge, shape (n,)."""
        shares: NDArray[np.float64] = (times.astype(np.float64) - self.left_ns) / self.ns_per_px
        return shares

    def t(self, x: float) -> int:
        """The time at a place, within the session."""
        t_ns = round(self.left_ns + (x - self.x0) * self.ns_per_px)
        return min(max(t_ns, self.begin_ns), self.end_ns)

    def set_session(self, begin_ns: int, end_ns: int) -> None:
        """Another session, all of it shown."""
        self.begin_ns, self.end_ns = begin_ns, max(end_ns, begin_ns + 1)
        self.show(self.begin_ns, self.end_ns)

    def resize(self, x0: float, width: float) -> None:
        """Show the same time on other pixels."""
        self.x0, self.width = x0, max(1.0, width)

    def show(self, t0_ns: float, t1_ns: float) -> None:
        """Show a stretch, no shorter than can be told apart and no longer than the session."""
        whole = float(self.end_ns - self.begin_ns)
        self.span_ns = min(max(t1_ns - t0_ns, LEAST_SPAN_NS), whole)
        rest = (t1_ns - t0_ns) - self.span_ns
        self.left_ns = self._within(t0_ns + rest / 2)

    def zoom(self, factor: float, x: float) -> None:
        """Show 1/factor of the time; what is at x stays there."""
        share = (x - self.x0) / self.width
        fixed = self.left_ns + share * self.span_ns
        whole = float(self.end_ns - self.begin_ns)
        self.span_ns = min(max(self.span_ns / factor, LEAST_SPAN_NS), whole)
        self.left_ns = self._within(fixed - share * self.span_ns)

    def pan(self, px: float) -> None:
        """Show what lies so many pixels later."""
        self.left_ns = self._within(self.left_ns + px * self.ns_per_px)

    def _within(self, left_ns: float) -> float:
        return max(float(self.begin_ns), min(left_ns, self.end_ns - self.span_ns))

    def ticks(self) -> list[tuple[int, str]]:
        """Round times in view, so far apart that there is room for their words."""
        least = self.ns_per_px * TICK_PX
        longest = _STEPS_NS[-1]
        step = next((s for s in _STEPS_NS if s >= least), ceil(least / longest) * longest)
        first = ceil(self.left_ns / step) * step
        times = range(first, int(self.right_ns) + 1, step)
        return [(t_ns, exact_time(t_ns, step)) for t_ns in times]


def exact_time(t_ns: int, step_ns: int = NS // 10) -> str:
    """A time as exactly as steps ask for: 12:34, 12:34.5, 12:34.56."""
    digits = 0 if step_ns % NS == 0 else 1 if step_ns % (NS // 10) == 0 else 2
    if not digits:
        return short_time(t_ns)
    hundredths = max(0, t_ns) * 100 // NS
    return short_time(t_ns) + number(f".{hundredths % 100:02d}"[: digits + 1])
