"""What a task is: one pure state machine a part of the plan.

`decide` answers a command with event drafts, `apply` folds an event into the state. Neither reads
a clock, a file or hidden state; randomness is drawn inside `decide` from a fresh seeded generator
and its result goes into the event.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from labapp.events import Body, Draft, Event
from labapp.events.commands import Command
from labapp.events.durations import Pauses

S = TypeVar("S")


class Task(Protocol[S]):
    """One part of the plan."""

    def initial(self, pauses: Pauses) -> S:
        """The state before anything happened in this part."""
        ...

    def decide(self, state: S, command: Command, now_ns: int) -> Sequence[Draft]:
        """What the command leads to at session time now_ns; nothing if it is not possible now."""
        ...

    def apply(self, state: S, event: Event, body: Body) -> S:
        """The state after an event; `body` is its typed body."""
        ...

    def next_deadline(self, state: S) -> int | None:
        """Session time in ns at which a Tick may lead to something, if nothing else happens."""
        ...

    def wants_begin(self, state: S) -> bool:
        """Whether the runner should send Begin now (the part, or its next question, is due)."""
        ...
