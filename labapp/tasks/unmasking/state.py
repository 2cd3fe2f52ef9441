"""The state of the unmasking task. Session times in ns; the trial's times are not working time, for
a stimulus that a pause falls into is shown again."""

from __future__ import annotations

from labapp.record.events import Payload
from labapp.record.events.durations import Pauses
from labapp.study.plugins.machine import State
from labapp.tasks.unmasking.events import ResponseGiven, StimulusDrawn, StimulusShown
from labapp.tasks.unmasking.plan import DONT_KNOW, UnmaskingPart

ANSWERED = "answered"
"""The outcome of a stimulus with a response; see `stage.INTERRUPTED` for one without."""


class Reaction:
    """What the events of one attempt at a stimulus say of it, for the console, tables and bundles.

    Attributes
    ----------
    shown, response : what the journal says of it, None where it did not come to that.
    """

    shown: StimulusShown | None = None
    response: ResponseGiven | None = None

    def apply(self, payload: Payload) -> None:
        """Take in an event of the attempt."""
        if isinstance(payload, StimulusShown):
            self.shown = payload
        elif isinstance(payload, ResponseGiven):
            self.response = payload

    @property
    def reaction_time_ns(self) -> int | None:
        """From the first painted frame to the input event's own time stamp."""
        if self.shown is None or self.response is None:
            return None
        return self.response.input_ns - self.shown.painted_ns


class Answered(Reaction):
    """The same, and what it means by the plan."""

    def __init__(self, part: UnmaskingPart, drawn: StimulusDrawn) -> None:
        self.part, self.drawn = part, drawn

    @property
    def dont_know(self) -> bool | None:
        """Whether the response names no class; None without a response."""
        return None if self.response is None else self.response.response == DONT_KNOW

    @property
    def named(self) -> str | None:
        """Id of the class that the response names."""
        return None if self.response is None else self.part.class_of(self.response.response)

    @property
    def correct(self) -> bool | None:
        return self.equals(self.drawn.truth)

    def equals(self, other: str | None) -> bool | None:
        """Whether a class was named and is this one; None without a response, or without it."""
        return None if self.response is None or other is None else self.named == other


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
