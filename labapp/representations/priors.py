"""How questions are drawn, and the priors that are not uniform within the dials' limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from labapp.representations.space import LatentSpace

BaseSampling = Literal["held_out", "prior", "uniform"]
"""How a dial state is drawn: from the sample in the model's package, from its prior, or uniformly
within the dials' limits."""


def sinelines(rng: np.random.Generator) -> tuple[float, ...]:
    """Slope U(-1, 1), intercept N(0, 1), amplitude Exp(1), frequency Exp(1), phase U(0, 2 pi)."""
    return (
        float(rng.uniform(-1, 1)),
        float(rng.normal()),
        float(rng.exponential()),
        float(rng.exponential()),
        float(rng.uniform(0, 2 * np.pi)),
    )


Draw = Callable[[np.random.Generator], tuple[float, ...]]
_OF_DIALS: dict[tuple[str, ...], Draw] = {
    ("slope", "intercept", "amplitude", "frequency", "phase"): sinelines
}


def prior_of(space: LatentSpace) -> Draw | None:
    """The prior over dials of these names, which a model in closed form has; None without one."""
    return _OF_DIALS.get(tuple(dimension.name for dimension in space.dimensions))
