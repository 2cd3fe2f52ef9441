"""What a simulated participant went through in a stage, and what it says of that afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

ENOUGH_S = 60.0
"""Seconds a question after which half the effort that can be said is felt: the middle of the mean
response times of paper 000, table A.3 (49 to 99 s)."""


@dataclass
class Experience:
    """Of one stage, or of the stages so far.

    solved, missed : questions solved or answered rightly, and the others. seconds : of all
    questions. understanding : how well it thought it understood, 0..1. planned, tried : how far it
    went by a plan, and how far it tried out at random, 0..1.
    """

    solved: int = 0
    missed: int = 0
    seconds: list[float] = field(default_factory=list)
    understanding: float = 0.0
    planned: float = 0.5
    tried: float = 0.5

    @property
    def success(self) -> float:
        """Share of the questions solved."""
        questions = self.solved + self.missed
        return self.solved / questions if questions else 0.5

    @property
    def effort(self) -> float:
        """How long the questions took, 0..1: a half at ENOUGH_S seconds each."""
        mean = float(np.mean(self.seconds)) if self.seconds else ENOUGH_S
        return mean / (mean + ENOUGH_S)

    @property
    def difficulty(self) -> float:
        """0..1: failing weighs twice as much as taking long."""
        return (2 * (1 - self.success) + self.effort) / 3

    @classmethod
    def of_all(cls, experiences: Iterable[Experience]) -> Experience | None:
        """Of all stages together; None where there was none."""
        stages = list(experiences)
        if not stages:
            return None
        return cls(
            sum(stage.solved for stage in stages),
            sum(stage.missed for stage in stages),
            [seconds for stage in stages for seconds in stage.seconds],
            float(np.mean([stage.understanding for stage in stages])),
            float(np.mean([stage.planned for stage in stages])),
            float(np.mean([stage.tried for stage in stages])),
        )
