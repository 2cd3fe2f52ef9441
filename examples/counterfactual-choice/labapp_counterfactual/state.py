"""The state of a stage. All its times are working time (without pauses), in nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass

from labapp.events.durations import Pauses
from labapp_counterfactual.plan import Z

POINTS = 5
"""Of the confidence scale, from 1."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    query, candidates: dial states; correct: the place of the right candidate, from 0; started_ns:
    None until the pictures are on the screen; right: whether the answer handed in was, None before.
    """

    number: int
    attempt: int
    dimension: int
    query: Z
    candidates: tuple[Z, ...]
    correct: int
    choice: int | None = None
    confidence: int | None = None
    started_ns: int | None = None
    right: bool | None = None
    outcome: str | None = None

    @property
    def open(self) -> bool:
        """On the screen and not handed in."""
        return self.started_ns is not None and self.right is None and self.outcome is None

    @property
    def answered(self) -> bool:
        """Handed in and told; Next leads on."""
        return self.right is not None and self.outcome is None

    @property
    def missing(self) -> tuple[str, ...]:
        """What is still to be given: choice, confidence."""
        return tuple(name for name in ("choice", "confidence") if getattr(self, name) is None)


@dataclass(frozen=True, slots=True)
class CounterfactualState:
    """trial: the present question, None before the first; outcomes: of those so far; attempt: at
    the stage."""

    pauses: Pauses
    trial: Question | None = None
    outcomes: tuple[str, ...] = ()
    stage_started_ns: int | None = None
    outcome: str | None = None
    attempt: int = 1

    def again(self, attempt: int) -> CounterfactualState:
        """The stage from its beginning."""
        return CounterfactualState(self.pauses, attempt=attempt)
