"""Chance from uniform numbers alone, which numpy promises to keep: data must not change with it."""

from __future__ import annotations

import numpy as np

from labapp.datasets.split import Float64, Int64


def generator(*entropy: int) -> np.random.Generator:
    """Equal numbers give equal draws; `entropy` are whole numbers from 0."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy)))


def equicorrelated(random: np.random.Generator, rows: int, columns: int, rho: float) -> Float64:
    """Standard normal numbers, every two columns of which correlate with `rho`, 0 to 1.

    float64, shape (rows, columns): each is sqrt(rho) of a number that its row shares plus
    sqrt(1 - rho) of one of its own, so that the covariance may also be singular.

    Raises ValueError where `rho` lies outside 0 to 1.
    """
    if not 0.0 <= rho <= 1.0:
        raise ValueError(f"the correlation must lie between 0 and 1, found {rho}")
    u = random.random((2, rows, columns + 1))
    # Box and Muller; 1 - u lies in (0, 1], so that its logarithm is finite.
    normal = np.sqrt(-2.0 * np.log(1.0 - u[0])) * np.cos(2.0 * np.pi * u[1])
    return np.asarray(np.sqrt(rho) * normal[:, :1] + np.sqrt(1.0 - rho) * normal[:, 1:])


def order(random: np.random.Generator, count: int) -> Int64:
    """0 to count - 1 in an order by chance."""
    return np.argsort(random.random(count), kind="stable").astype(np.int64)
