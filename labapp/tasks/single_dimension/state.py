"""The state of a single-dimension stage. All its times are working time (without pauses), in ns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from labapp.study.plugins import questions
from labapp.tasks.single_dimension.plan import Bounds, Rows, Z

RATINGS = ("confidence", "understanding")
POINTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(questions.Question):
    """One question. z: dial state of its picture; correct: the right choice, from 0; resamples: how
    often other examples were asked for; right: whether the answer handed in was, None before.
    started_ns is None until the pictures are on the screen."""

    dimension: int
    z: Z
    correct: int
    bounds: Bounds
    examples: Rows
    resamples: int = 0
    choice: int | None = None
    ratings: Mapping[str, int] = field(default_factory=dict)
    right: bool | None = None

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
class SingleState(questions.QuestionsState[Question]):
    """A stage of such questions."""
