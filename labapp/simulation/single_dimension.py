"""How simulated participants answer a single-dimension question.

They cannot look at pictures: they know the right choice and miss it at a rate of their strategy,
rate themselves lower where they miss, and at times ask for other examples or change their mind
(paper 000, 6.1.3: correctness .56 to .81, ratings about 3.8, 12 to 18 s a question).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from labapp.events.commands import Choose, Command, HandIn, Next, Rate, ShowMoreExamples
from labapp.tasks.single_dimension.state import POINTS, RATINGS, Question

DEVICE = "simulated"
ERROR_RATES = {"understanding": 0.2}
"""By strategy; any other one guesses."""
PRACTICE_ERROR_RATE = 0.05
OTHER_EXAMPLES_RATE = 0.25
CHANGE_RATE = 0.15


@dataclass(frozen=True, slots=True)
class Step:
    """A command, and how long it takes first. waits: look (at the pictures) or think."""

    command: Command
    waits: str = "think"


def steps(
    question: Question, choices: int, strategy: str, practice: bool, rng: np.random.Generator
) -> Iterator[Step]:
    """What a simulated participant does with a question, from its appearance to Next."""
    chance = 1 - 1 / choices
    rate = ERROR_RATES.get(strategy, chance)
    if practice and strategy in ERROR_RATES:
        rate = PRACTICE_ERROR_RATE
    wrong = [choice for choice in range(choices) if choice != question.correct]
    misses = rng.random() < rate
    while rng.random() < OTHER_EXAMPLES_RATE:
        yield Step(ShowMoreExamples(), "look")
    if rng.random() < CHANGE_RATE:
        yield Step(Choose(int(rng.integers(choices)), DEVICE), "look")
    yield Step(Choose(int(rng.choice(wrong)) if misses else question.correct, DEVICE), "look")
    for item in RATINGS:
        rating = round(float(rng.normal(3.0 if misses else 4.0, 0.8)))
        yield Step(Rate(item, min(max(rating, 1), POINTS), DEVICE))
    yield Step(HandIn())
    yield Step(Next())
