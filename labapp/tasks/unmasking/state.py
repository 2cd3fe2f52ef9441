"""The state of the unmasking task. Session times in ns; the trial's times are not working time, for
a stimulus that a pause falls into is shown again."""

from __future__ import annotations

from labapp.record.events.durations import Pauses
from labapp.study.plugins.machine import State

ANSWERED = "answered"
"""The outcome of a stimulus with a response; see `stage.INTERRUPTED` for one without."""


class StimulusTrial(State, frozen=True):
    """One stimulus: the number-th of the part, from 1. due_ns: when it is to appear; painted_ns:
    when it did, None before; interrupted: a pause or the end of the program fell into it before
    there was a response."""

    number: int
    attempt: int
    due_ns: int
    painted_ns: int | None = None
    response: int | None = None
    interrupted: bool = False
    outcome: str | None = None

    @property
    def due(self) -> bool:
        return self.painted_ns is None and self.outcome is None and not self.interrupted

    @property
    def open(self) -> bool:
        """On the screen and without a response."""
        return self.painted_ns is not None and self.outcome is None and not self.interrupted


class UnmaskingState(State, frozen=True):
    """trial: the present stimulus, None before the first; outcomes: of the stimuli that are done,
    interrupted ones aside; base: attempt of a stimulus shown for the first time; highest: greatest
    attempt of any stimulus so far."""

    pauses: Pauses
    trial: StimulusTrial | None = None
    outcomes: tuple[str, ...] = ()
    stage_started_ns: int | None = None
    outcome: str | None = None
    base: int = 1
    highest: int = 1

    @property
    def attempt(self) -> int:
        """After which a stage that begins again counts on."""
        return self.highest

    def again(self, attempt: int) -> UnmaskingState:
        return UnmaskingState(self.pauses, base=attempt, highest=attempt)
