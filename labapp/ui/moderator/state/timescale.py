"""Which stretch of the session the timeline shows, and where a moment lies in it."""

from __future__ import annotations

from labapp.clock import NS

SPANS_MIN = (5, 10, 15, 20, 30, 45, 60, 75, 90, 120, 150, 180, 240, 360, 480)
LEAST_SPAN_NS = 10 * NS


class Timescale:
    """Working times in ns, places in pixels of a view `width` wide.

    Unless zoomed it follows: it shows the whole session in round spans that grow with it.
    """

    def __init__(self) -> None:
        self.now_ns = 0
        self.width = 1
        self._zoomed: tuple[int, int] | None = None

    @property
    def follows(self) -> bool:
        return self._zoomed is None

    def range(self) -> tuple[int, int]:
        """Time at the left and right edge."""
        return self._zoomed or (0, self.whole())

    def whole(self) -> int:
        """The span that shows the whole session."""
        minutes = self.now_ns / NS / 60
        span = next((m for m in SPANS_MIN if minutes <= m * 0.98), SPANS_MIN[-1])
        return max(span * 60 * NS, self.now_ns)

    def x(self, t_ns: int) -> float:
        """Place of a time."""
        start, end = self.range()
        return (t_ns - start) / (end - start) * self.width

    def t(self, x: float) -> int:
        """Time at a place."""
        start, end = self.range()
        return round(start + x / self.width * (end - start))

    def show_all(self) -> None:
        self._zoomed = None

    def zoom(self, factor: float, at_x: float) -> None:
        """Show 1/factor of the time, keeping what is at at_x in its place."""
        start, end = self.range()
        span = max(LEAST_SPAN_NS, round((end - start) / factor))
        if span >= self.whole():
            self.show_all()
            return
        self.show_from(round(self.t(at_x) - at_x / self.width * span), span)

    def pan(self, by_ns: int) -> None:
        """Show a later (or, below 0, earlier) stretch."""
        if self._zoomed is not None:
            start, end = self._zoomed
            self.show_from(start + by_ns, end - start)

    def show_from(self, start: int, span: int) -> None:
        """Show a span from a time on, kept inside the session."""
        start = min(max(0, start), max(0, self.whole() - span))
        self._zoomed = (start, start + span)
