"""How simulated participants answer a single-dimension question.

They match the picture with the examples beside it (see `matching`), rate themselves by how clear
that was, and at times ask for other examples or change their mind (paper 000, Table A.3: ratings
of 3.4 to 4.1 in the mean, 12 to 19 s a question).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from labapp.events.commands import HandIn, Next
from labapp.plugins.simulated import DEVICE, Step
from labapp.tasks.single_dimension.commands import Choose, Rate, ShowMoreExamples
from labapp.tasks.single_dimension.matching import Match
from labapp.tasks.single_dimension.state import POINTS, RATINGS

OTHER_EXAMPLES_RATE = 0.25
CHANGE_RATE = 0.15
RATING_SD = 0.7
"""Of a rating, in points (ours)."""


def steps(
    choices: int, matched: Callable[[], Match] | None, rng: np.random.Generator
) -> Iterator[Step]:
    """What a simulated participant does with a question, from its appearance to Next.

    matched: looks at the pictures; None guesses.
    """
    while rng.random() < OTHER_EXAMPLES_RATE:
        yield Step(ShowMoreExamples(), "look")
    if rng.random() < CHANGE_RATE:
        yield Step(Choose(int(rng.integers(choices)), DEVICE), "look")
    matching = matched() if matched else Match(int(rng.integers(choices)), 0.0, 0.0)
    yield Step(Choose(matching.choice, DEVICE), "look")
    for item, clear in zip(RATINGS, (matching.sure, matching.sense), strict=True):
        rating = round(float(rng.normal(1 + clear * (POINTS - 1), RATING_SD)))
        yield Step(Rate(item, min(max(rating, 1), POINTS), DEVICE))
    yield Step(HandIn())
    yield Step(Next())
