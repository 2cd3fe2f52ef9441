"""What a simulated participant went through in a stage, and what it says of that afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

ENOUGH_S = 60.0
"""Seconds a question after which half the effort that can be said is felt: the middle of the mean
response times of paper 000, table A.3 (49 to 99 s)."""
LEANING_SD = 0.15
"""How differently people answer after the same experience, as a share of the scale (ours; published
ratings vary by 0.9 to 1.8 points of seven within a model)."""


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


LEANINGS: Mapping[str, Callable[[Experience], float]] = MappingProxyType(
    {
        "seq": lambda experience: experience.difficulty,
        "mental_demand": lambda experience: (experience.effort + experience.planned) / 2,
        "physical_demand": lambda experience: experience.effort / 2,
        "temporal_demand": lambda experience: experience.effort / 2,
        "performance": lambda experience: 1 - experience.success,
        "effort": lambda experience: experience.effort,
        "frustration": lambda experience: (experience.difficulty + 1 - experience.success) / 2,
        "systematic_plan": lambda experience: experience.planned,
        "random_experimenting": lambda experience: experience.tried,
        "understood_dimensions": lambda experience: experience.understanding,
        "frustrating": lambda experience: (experience.difficulty + 1 - experience.success) / 2,
        "stage_easy": lambda experience: 1 - experience.difficulty,
    }
)
"""By item of a shipped questionnaire (SEQ, NASA-TLX, the statements of paper 000): where between
the low end (0) and the high end (1) of its scale an experience leads. Ours: they only follow the
words."""


def leaning(item: str, experience: Experience | None, rng: np.random.Generator) -> float | None:
    """Where on the scale of an item somebody answers after an experience, 0..1; None where the item
    does not ask about it."""
    says = LEANINGS.get(item)
    if says is None or experience is None:
        return None
    return float(np.clip(says(experience) + rng.normal(0.0, LEANING_SD), 0.0, 1.0))
