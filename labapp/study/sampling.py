"""Drawing dial states of a representation (paper 000, 3.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labapp.models.representations.space import BaseSampling, Discrete, LatentSpace, prior_of


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
        draw = prior_of(space)
        if draw is None:
            raise ValueError(f"{model} has no prior to draw from")
        return space.snap(draw(rng))
    # Uniform within the limits: for representations without a sample (InfoGAN).
    return space.snap(
        tuple(
            float(rng.integers(dimension.k))
            if isinstance(dimension, Discrete)
            else float(rng.uniform(dimension.low, dimension.high))
            for dimension in space.dimensions
        )
    )


def sample_of(model: str, sample: NDArray[np.float32] | None) -> NDArray[np.float32]:
    """The held-out sample. Raises ValueError where there is none."""
    if sample is None or len(sample) == 0:
        raise ValueError(f"{model} has no held-out sample to draw from")
    return sample
