"""The grid of dSprites' factors: which row of the data set shows what."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from labapp.models.datasets.split import Float64, Int64

NAMES = ("shape", "scale", "rotation", "x", "y")
SIZES = (3, 6, 40, 32, 32)
LIMITS = ((1.0, 3.0), (0.5, 1.0), (0.0, 2.0 * math.pi), (0.0, 1.0), (0.0, 1.0))
"""Ranges of the factors. Shape: 1 square, 2 ellipse, 3 heart; scale: part of the full size;
rotation: radians, anticlockwise as seen on the screen; x to the right and y down, 0 and 1 the
outermost positions of the centre."""


@dataclass(frozen=True, slots=True)
class FactorGrid:
    """Every combination of evenly spaced factor values, the last factor running fastest.

    `sizes` are the numbers of values of the five factors, first and last at their `LIMITS`.
    """

    sizes: tuple[int, ...] = SIZES

    @property
    def count(self) -> int:
        return math.prod(self.sizes)

    def indices(self, rows: Int64) -> Int64:
        """Numbers of the factors' values, from 0, int64, shape (n, 5), of the rows, shape (n,).
        Raises ValueError where there is no such row."""
        return np.stack(np.unravel_index(rows, self.sizes), axis=1).astype(np.int64)

    def factors(self, rows: Int64) -> Float64:
        """Factor values of the rows, shape (n,), in the units of `LIMITS`: float64, shape (n, 5).
        Raises ValueError where there is no such row."""
        low, high = np.array(LIMITS, dtype=np.float64).T
        steps = self.indices(rows) / (np.array(self.sizes, dtype=np.float64) - 1.0)
        return np.asarray(low + (high - low) * steps, dtype=np.float64)


FULL = FactorGrid()
"""The grid of the published data set: 737,280 rows."""
