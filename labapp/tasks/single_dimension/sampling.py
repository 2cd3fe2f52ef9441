"""Drawing the questions of a stage and the examples beside them (paper 000, 4.5)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from labapp.representations.space import Discrete, LatentSpace
from labapp.study.assignment import attempt_at, generator
from labapp.study.sampling import draw_state
from labapp.tasks.single_dimension.events import QuestionDrawn
from labapp.tasks.single_dimension.plan import (
    REGIMES,
    Bounds,
    Rows,
    SingleDimensionPart,
    Z,
    choices,
    draw_value,
    lay_out,
    put,
)

Percentiles = Mapping[int, NDArray[np.float32]]
LIMITS = ((1, 5), (48, 52), (95, 99))
"""Percentiles between which Low, Medium and High are drawn."""


def bounds_of(space: LatentSpace, percentiles: Percentiles, dimension: int) -> Bounds:
    """Where the regimes of a dimension lie; empty for a discrete one."""
    if isinstance(space.dimensions[dimension], Discrete):
        return ()
    return tuple(
        (float(percentiles[low][dimension]), float(percentiles[high][dimension]))
        for low, high in LIMITS
    )


def draw_question(
    part: SingleDimensionPart,
    space: LatentSpace,
    sample: NDArray[np.float32] | None,
    percentiles: Percentiles,
    seed: int,
    participant: str,
    trial: int,
    attempt: int = 1,
) -> QuestionDrawn:
    """Question `trial` (from 1) of an attempt at the stage: the state that the plan gives it, else
    a drawn one whose dimension is overridden within a regime.

    sample: held-out representation, shape (m, dimensions), needed by sampling `held_out`.
    percentiles: as `representations.decoders.PERCENTILES`, each of shape (dimensions,).
    """
    rng = generator(seed, participant, attempt_at(part.id, attempt), trial, "question")
    dimension = part.asked[trial - 1]
    bounds = bounds_of(space, percentiles, dimension)
    if part.answers:
        correct = REGIMES.index(part.answers[trial - 1])
    else:
        correct = int(rng.integers(choices(space, dimension)))
    if part.states:
        z = part.states[trial - 1]
    else:
        value = draw_value(space, dimension, bounds, correct, rng)
        z = put(draw_state(part.sampling, part.model, space, sample, rng), dimension, value)
    return QuestionDrawn(
        dimension=dimension,
        regime=REGIMES[correct] if bounds else "",
        value=z[dimension],
        z=z,
        correct=correct,
        bounds=bounds,
        examples=draw_examples(part, space, sample, bounds, seed, participant, trial, 0, attempt),
    )


def draw_examples(
    part: SingleDimensionPart,
    space: LatentSpace,
    sample: NDArray[np.float32] | None,
    bounds: Bounds,
    seed: int,
    participant: str,
    trial: int,
    number: int,
    attempt: int = 1,
) -> Rows:
    """The examples of question `trial`; number: 0 at first, then how often others were asked."""
    stage = attempt_at(part.id, attempt)
    rng = generator(seed, participant, stage, trial, "examples", number)

    def base() -> Z:
        return draw_state(part.sampling, part.model, space, sample, rng)

    return lay_out(part.visualisation, space, part.asked[trial - 1], bounds, base, rng)
