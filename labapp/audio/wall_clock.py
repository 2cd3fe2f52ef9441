"""A playhead that moves by the clock of the machine, where there is no sound to follow."""

from __future__ import annotations


class WallClock:
    """Where a replay without sound is.

    Parameters
    ----------
    begin_ns, end_ns : session time between which it moves.

    Attributes
    ----------
    playing : whether it moves; it stops at the end by itself, which `at` finds out.
    """

    def __init__(self, begin_ns: int, end_ns: int) -> None:
        self._begin_ns, self._end_ns = begin_ns, end_ns
        self._t_ns = float(begin_ns)
        self._since_ns = 0
        self._speed = 1.0
        self._loop: tuple[int, int] | None = None
        self.playing = False

    def set(
        self,
        perf_ns: int,
        t_ns: float,
        *,
        playing: bool,
        speed: float,
        loop: tuple[int, int] | None,
    ) -> None:
        """From now on it is there and moves so."""
        self._since_ns, self._t_ns = perf_ns, t_ns
        self.playing, self._speed, self._loop = playing, speed, loop

    def at(self, perf_ns: int) -> float:
        """The session time in ns at a `perf_counter_ns`."""
        if not self.playing:
            return self._t_ns
        t_ns = self._t_ns + (perf_ns - self._since_ns) * self._speed
        if self._loop is not None and t_ns >= self._loop[1]:
            first, last = self._loop
            # Beyond the end already when the loop was set: from its beginning.
            return first + (t_ns - max(self._t_ns, last)) % (last - first)
        if t_ns >= self._end_ns:
            self.playing, self._t_ns = False, float(self._end_ns)
            return self._t_ns
        return t_ns
