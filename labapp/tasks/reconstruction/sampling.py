"""Drawing the initial z and the target z' of a question (paper 000, 3.1)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labapp.representations.space import Continuous, Discrete, LatentSpace
from labapp.study.assignment import attempt_at, generator
from labapp.study.plan import ReconstructionPart
from labapp.study.representations import SINELINES_GT


def draw_pair(
    part: ReconstructionPart,
    space: LatentSpace,
    sample: NDArray[np.float32] | None,
    seed: int,
    participant: str,
    trial: int,
    attempt: int = 1,
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """(z, z') of question `trial` (from 1) of an attempt at the stage, each on the sliders' steps
    and inside their limits.

    sample: held-out representation, shape (m, dimensions), float32; needed by `held_out` and
    `shuffled_pass`. Raises ValueError when the part's sampling cannot be done with what is given.
    """
    if part.sampling == "fixed":
        start, target = part.pairs[trial - 1]
        return space.snap(start), space.snap(target)
    stage = attempt_at(part.id, attempt)
    if part.sampling == "shuffled_pass":
        order = generator(seed, participant, stage, "pass")
        return _shuffled_pass(space, _needed(part.model, sample), order, trial)
    rng = generator(seed, participant, stage, trial, "pair")
    start, target = (draw_state(part.sampling, part.model, space, sample, rng) for _ in range(2))
    return start, target


def draw_state(
    sampling: Literal["held_out", "prior", "uniform"],
    model: str,
    space: LatentSpace,
    sample: NDArray[np.float32] | None,
    rng: np.random.Generator,
) -> tuple[float, ...]:
    """One dial state, on the dials' steps and inside their limits. Raises as `draw_pair`."""
    if sampling == "held_out":
        rows = _needed(model, sample)
        return space.snap(rows[int(rng.integers(len(rows)))].tolist())
    if sampling == "prior":
        if model != SINELINES_GT:
            raise ValueError(f"{model} has no prior to draw from")
        return space.snap(sinelines_prior(rng))
    return space.snap(_uniform(space, rng))


def _needed(model: str, sample: NDArray[np.float32] | None) -> NDArray[np.float32]:
    if sample is None or len(sample) == 0:
        raise ValueError(f"{model} has no held-out sample to draw from")
    return sample


def _shuffled_pass(
    space: LatentSpace, sample: NDArray[np.float32], rng: np.random.Generator, trial: int
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """As the published application: one shuffled pass over the first 250 rows, two a question."""
    rows = sample[:250]
    order = rng.permutation(len(rows))
    first, second = (2 * (trial - 1) % len(rows), (2 * trial - 1) % len(rows))
    return (
        space.snap(rows[int(order[first])].tolist()),
        space.snap(rows[int(order[second])].tolist()),
    )


def sinelines_prior(rng: np.random.Generator) -> tuple[float, ...]:
    """Slope U(-1, 1), intercept N(0, 1), amplitude Exp(1), frequency Exp(1), phase U(0, 2 pi)."""
    return (
        float(rng.uniform(-1, 1)),
        float(rng.normal()),
        float(rng.exponential()),
        float(rng.exponential()),
        float(rng.uniform(0, 2 * np.pi)),
    )


def _uniform(space: LatentSpace, rng: np.random.Generator) -> tuple[float, ...]:
    """Uniform within the limits; for representations without a sample (InfoGAN)."""
    return tuple(_uniform_value(dimension, rng) for dimension in space.dimensions)


def _uniform_value(dimension: Continuous | Discrete, rng: np.random.Generator) -> float:
    if isinstance(dimension, Discrete):
        return float(rng.integers(dimension.k))
    return float(rng.uniform(dimension.low, dimension.high))
