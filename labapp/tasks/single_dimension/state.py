"""The state of a single-dimension stage. All its times are working time (without pauses), in ns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from labapp.events.durations import Pauses
from labapp.tasks.single_dimension.plan import Bounds, Rows, Z

RATINGS = ("confidence", "understanding")
POINTS = 5


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    z: dial state of its picture; correct: the right choice, from 0; resamples: how often other
    examples were asked for; right: whether the answer handed in was, None before.
    started_ns is None until the pictures are on the screen.
    """

    number: int
    dimension: int
    z: Z
    correct: int
    bounds: Bounds
    examples: Rows
    attempt: int = 1
    resamples: int = 0
    choice: int | None = None
    ratings: Mapping[str, int] = field(default_factory=dict)
    started_ns: int | None = None
    right: bool | None = None
    outcome: str | None = None

    @property
    def open(self) -> bool:
        """On the screen and not handed in: choice and ratings can be changed."""
        return self.started_ns is not None and self.right is None and self.outcome is None

    @property
    def answered(self) -> bool:
        """Handed in and told; Next leads on."""
        return self.right is not None and self.outcome is None

    @property
    def missing(self) -> tuple[str, ...]:
        """What is still to be given: choice, confidence, understanding."""
        lacking = () if self.choice is not None else ("choice",)
        return (*lacking, *(item for item in RATINGS if item not in self.ratings))


@dataclass(frozen=True, slots=True)
class SingleState:
    """trial: the present question, None before the first; outcomes: of the questions so far;
    attempt: at the stage."""

    pauses: Pauses
    trial: Question | None = None
    outcomes: tuple[str, ...] = ()
    stage_started_ns: int | None = None
    outcome: str | None = None
    attempt: int = 1

    def again(self, attempt: int) -> SingleState:
        """The stage from its beginning."""
        return SingleState(self.pauses, attempt=attempt)
