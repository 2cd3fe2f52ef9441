"""How long decoding takes in this session, measured from the journal: from the dial's event to the
event of its picture."""

from __future__ import annotations

from collections import deque

from labapp.events import Event

KEPT = 500
ENOUGH = 50


class Latency:
    """A fold over dial.moved and picture.decoded; the last 500 pictures count."""

    def __init__(self) -> None:
        self._moved: dict[int, int] = {}
        self._taken_ns: deque[int] = deque(maxlen=KEPT)

    def apply(self, event: Event) -> bool:
        """Take in an event; True when there is a new measurement."""
        if event.kind == "dial.moved":
            self._moved[int(event.payload["z_seq"])] = event.t_ns
            return False
        if event.kind == "picture.decoded":
            z_seq = int(event.payload["z_seq"])
            began = self._moved.pop(z_seq, None)
            # A slow decoder leaves out the states that were passed by.
            for older in [seq for seq in self._moved if seq < z_seq]:
                del self._moved[older]
            if began is not None:
                self._taken_ns.append(event.t_ns - began)
                return True
        elif event.kind == "trial.drawn":
            self._moved.clear()
        return False

    def p99_ms(self) -> float | None:
        """99th percentile in ms, or None while there are too few to tell."""
        if len(self._taken_ns) < ENOUGH:
            return None
        ordered = sorted(self._taken_ns)
        return ordered[min(len(ordered) - 1, round(0.99 * len(ordered)))] / 1e6
