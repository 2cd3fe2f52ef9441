"""The held-out error of a representation: sum of squares per instance, averaged (Table 2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]

NOISE_SEED = 0
"""The draw from each posterior behind a sampled error; fixed, so that a card can be checked."""

_CHUNK = 500


def error(decode: Callable[[Float32], Float32], z: Float32, x: Float32) -> float:
    """Mean over rows of sum (x - decode(z))^2.

    Parameters
    ----------
    z : float32, shape (n, width).
    x : float32, shape (n, *shape).
    """
    total = 0.0
    for start in range(0, len(z), _CHUNK):
        part = slice(start, start + _CHUNK)
        difference = decode(z[part]).astype(np.float64) - x[part].astype(np.float64)
        total += float(np.square(difference).sum())
    return total / len(z)


def draw(mean: Float32, spread: Float32) -> Float32:
    """One draw from each posterior N(mean, spread^2), float32, the same at each call."""
    noise = np.random.default_rng(NOISE_SEED).standard_normal(mean.shape)
    return (mean + spread * noise).astype(np.float32)
