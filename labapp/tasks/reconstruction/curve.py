"""The alignment of the present question over its time."""

from __future__ import annotations

from labapp.events import Event
from labapp.ui.moderator.state.fold import Fold, WorkTime

LIMIT = 512
FIRST_SPACING_NS = 20_000_000


class Curve(Fold):
    """points: (working time since the question began in ns, alignment), thinned so that a long
    question costs no more to draw than a short one; the newest value is always the last point."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.points: list[tuple[int, float]] = []
        self.began_ns: int | None = None
        self._spacing_ns = FIRST_SPACING_NS
        self._kept_ns = 0

    def apply(self, event: Event, work: WorkTime) -> bool:
        """Take in an event; True when the curve changed."""
        if event.kind in ("trial.drawn", "part.started"):
            changed = bool(self.points)
            self.clear()
            return changed
        if event.kind == "trial.started":
            self.began_ns = work.working_ns(event.t_ns)
            self.points = [(0, float(event.payload["alignment"]))]
            self._kept_ns = 0
            return True
        if event.kind in ("picture.decoded", "trial.solved") and self.began_ns is not None:
            t_ns = work.working_ns(event.t_ns) - self.began_ns
            self._add(t_ns, float(event.payload["alignment"]))
            return True
        return False

    def _add(self, t_ns: int, alignment: float) -> None:
        if len(self.points) > 1 and t_ns - self._kept_ns < self._spacing_ns:
            self.points[-1] = (t_ns, alignment)
            return
        self._kept_ns = t_ns
        self.points.append((t_ns, alignment))
        if len(self.points) > LIMIT:
            self.points = [*self.points[:-1:2], self.points[-1]]
            self._spacing_ns *= 2
