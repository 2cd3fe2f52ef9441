"""The state of a stage. All its times are working time (without pauses), in nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass

from labapp.study.plugins import questions
from labapp_counterfactual.plan import Z

POINTS = 5
"""Of the confidence scale, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(questions.Question):
    """One question.

    query, candidates: dial states; correct: the place of the right candidate, from 0; right:
    whether the answer handed in was, None before.
    """

    dimension: int
    query: Z
    candidates: tuple[Z, ...]
    correct: int
    choice: int | None = None
    confidence: int | None = None
    right: bool | None = None

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
class CounterfactualState(questions.QuestionsState[Question]):
    """A stage of such questions."""
