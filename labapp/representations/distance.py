"""Distances between an instance x and a target x', as the studies define them (paper 000, 3.1
and A.2). All are in [0, 1]; alignment = 1 - distance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Distance = Callable[[Array, Array], float]

TOLERANCE = 0.5
"""Sinelines: points that differ by more than this disagree (A.2.1)."""

ALIGNMENT_SLACK = 0.001
"""A target is reached when alignment >= target - 0.001 (the published application)."""


def sinelines(x: Array, target: Array) -> float:
    """Fraction of the points whose absolute difference exceeds 0.5. Shapes (64,)."""
    return float(np.count_nonzero(np.abs(x - target) > TOLERANCE)) / x.size


def dsprites(x: Array, target: Array) -> float:
    """Sum of absolute differences over the sum of absolute values, 0 when both are empty."""
    total = float(np.abs(x).sum(dtype=np.float64) + np.abs(target).sum(dtype=np.float64))
    if total == 0:
        return 0.0
    return float(np.abs(x - target).sum(dtype=np.float64)) / total


def dsprites_as_published(x: Array, target: Array) -> float:
    """As `dsprites`, with the 0.01 that the published application adds to the denominator."""
    total = float(np.abs(x).sum(dtype=np.float64) + np.abs(target).sum(dtype=np.float64))
    return float(np.abs(x - target).sum(dtype=np.float64)) / (total + 0.01)


def mnist(x: Array, target: Array) -> float:
    """1 - intersection over union of the rounded pixels; both empty: 0."""
    ours, theirs = x >= 0.5, target >= 0.5
    union = int(np.count_nonzero(ours | theirs))
    if union == 0:
        return 0.0
    return 1.0 - int(np.count_nonzero(ours & theirs)) / union


DistanceName = Literal["sinelines", "dsprites", "dsprites_as_published", "mnist"]
DISTANCES: dict[str, Distance] = {
    "sinelines": sinelines,
    "dsprites": dsprites,
    "dsprites_as_published": dsprites_as_published,
    "mnist": mnist,
}


def reached(alignment: float, target: float) -> bool:
    """Whether an alignment counts as the target's."""
    return alignment >= target - ALIGNMENT_SLACK


def squared_error(x: Array, target: Array) -> tuple[float, float]:
    """Sum and mean over pixels of the squared difference.

    The paper calls the error a mean; its application and its published tables use the sum. Both
    are recorded.
    """
    difference = x.astype(np.float64) - target.astype(np.float64)
    total = float(np.square(difference).sum())
    return total, total / difference.size
