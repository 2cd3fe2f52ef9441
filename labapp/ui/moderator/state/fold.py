"""What a task makes of the events so far for what its words and widgets say beside the mirror."""

from __future__ import annotations

from labapp.events import Event
from labapp.events.durations import Pauses


class WorkTime:
    """A fold over the journal; all times in ns."""

    def __init__(self) -> None:
        self.pauses = Pauses()
        self.closed: list[tuple[int, int]] = []

    def apply(self, event: Event) -> None:
        """Take in the next event."""
        before = self.pauses
        self.pauses = before.apply(event)
        if (closed := self.pauses.stretch_since(before)) is not None:
            self.closed.append(closed)

    def working_ns(self, t_ns: int) -> int:
        """Working time at any session time so far."""
        if self.pauses.open_since_ns is not None:
            t_ns = min(t_ns, self.pauses.open_since_ns)
        return t_ns - sum(min(t_ns, end) - start for start, end in self.closed if start < t_ns)


class Fold:
    """Made by a console for the parts of a task; `PartWords.fold` names it."""

    def apply(self, event: Event, work: WorkTime) -> bool:
        """Take in an event, at whose working time `work` stands; True where what stands beside the
        mirror is to be drawn anew now, and not with the next change on the participant's screen."""
        raise NotImplementedError
