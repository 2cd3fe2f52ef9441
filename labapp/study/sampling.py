"""Drawing dial states of a representation (paper 000, 3.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labapp.representations.space import Continuous, Discrete, LatentSpace
from labapp.study.representations import SINELINES_GT, BaseSampling


def draw_state(
    sampling: BaseSampling,
    model: str,
    space: LatentSpace,
    sample: NDArray[np.float32] | None,
    rng: np.random.Generator,
) -> tuple[float, ...]:
    """One dial state, on the dials' steps and inside their limits. Raises ValueError when
    the sampling cannot be done with what is given.

    sample: held-out representation, shape (m, dimensions), float32; needed by `held_out`.
    """
    if sampling == "held_out":
        rows = sample_of(model, sample)
        return space.snap(rows[int(rng.integers(len(rows)))].tolist())
    if sampling == "prior":
        if model != SINELINES_GT:
            raise ValueError(f"{model} has no prior to draw from")
        return space.snap(sinelines_prior(rng))
    return space.snap(_uniform(space, rng))


def sample_of(model: str, sample: NDArray[np.float32] | None) -> NDArray[np.float32]:
    """The held-out sample. Raises ValueError where there is none."""
    if sample is None or len(sample) == 0:
        raise ValueError(f"{model} has no held-out sample to draw from")
    return sample


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
