"""The one function that measures durations: session time without pauses, breaks and gaps."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace

from labapp.events.event import Event

KINDS = frozenset({"session.paused", "segment.started", "session.resumed"})
"""The kinds of events that `Pauses` looks at; others may be left out."""


@dataclass(frozen=True, slots=True)
class Pauses:
    """A fold over the journal that maps session time to working time.

    total_ns: closed pauses so far; open_since_ns: session time at which the open pause began.
    """

    total_ns: int = 0
    open_since_ns: int | None = None

    @property
    def paused(self) -> bool:
        return self.open_since_ns is not None

    def apply(self, event: Event) -> Pauses:
        """Take in one event; events must come in the journal's order."""
        if event.kind == "session.paused" and not self.paused:
            return replace(self, open_since_ns=event.t_ns)
        if event.kind == "segment.started" and not self.paused:
            gap_from = event.payload["gap_from_ns"]
            return self if gap_from is None else replace(self, open_since_ns=int(gap_from))
        if event.kind == "session.resumed" and self.open_since_ns is not None:
            return Pauses(self.total_ns + event.t_ns - self.open_since_ns)
        return self

    def working_ns(self, t_ns: int) -> int:
        """Working time at session time t_ns, which must not lie before the last event applied."""
        until = t_ns if self.open_since_ns is None else min(t_ns, self.open_since_ns)
        return until - self.total_ns


class WorkingTime:
    """Working time at any session time of a journal that is already there."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._from = [0]
        self._pauses = [Pauses()]
        for event in events:
            now = self._pauses[-1].apply(event)
            if now is not self._pauses[-1]:
                # A gap begins before the event that tells of it.
                begins = now.open_since_ns
                self._from.append(event.t_ns if begins is None else begins)
                self._pauses.append(now)

    def working_ns(self, t_ns: int) -> int:
        """Working time in ns at session time t_ns."""
        return self._pauses[bisect_right(self._from, t_ns) - 1].working_ns(t_ns)
