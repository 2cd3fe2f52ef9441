"""The held-out errors of a representation, per instance and averaged over the held-out split."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from labapp.datasets.split import Rows, chunks
from labapp.representations.architectures import Likelihood
from labapp.representations.space import LatentSpace

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]

NOISE_SEED = 0
"""The draw from each posterior behind a sampled error; fixed, so that a card can be checked."""

VARIANCE = 0.5
"""Of the Gaussian likelihood: that whose negative logarithm is the plain sum of squares and a
constant, which is what the Sinelines models learn by (see `objectives`)."""

CLIP = 1e-7
"""Probabilities of a decoder, float32, are kept this far from 0 and 1 in the likelihood."""


def errors(
    decode: Callable[[Float32], Float32],
    space: LatentSpace,
    z: Float32,
    rows: Rows,
    likelihood: Likelihood,
) -> tuple[float, float]:
    """Means over the held-out rows of sum (x - decode(z))^2 (Table 2 of paper 000) and -ln p(x|z).

    Parameters
    ----------
    z : dial states, float32, shape (len(rows), dimensions).

    Returns
    -------
    squared error, and negative log-likelihood in nats.
    """
    squares = nats = 0.0
    for part in chunks(len(rows)):
        x = rows.instances(part).astype(np.float64)
        decoded = decode(space.encode_rows(z[part])).astype(np.float64)
        squares += float(np.square(x - decoded).sum())
        nats += float(_nats(likelihood, x, decoded).sum())
    return squares / len(rows), nats / len(rows)


def _nats(likelihood: Likelihood, x: Float64, decoded: Float64) -> Float64:
    if likelihood == "gaussian":
        constant = 0.5 * math.log(2.0 * math.pi * VARIANCE)
        return np.square(x - decoded) / (2.0 * VARIANCE) + constant
    p = np.clip(decoded, CLIP, 1.0 - CLIP)
    return -(x * np.log(p) + (1.0 - x) * np.log1p(-p))


def draw(mean: Float32, spread: Float32) -> Float32:
    """One draw from each posterior N(mean, spread^2), float32, the same at each call.

    A spread of 0 leaves its value alone: labels are not drawn.
    """
    noise = np.random.default_rng(NOISE_SEED).standard_normal(mean.shape)
    return (mean + spread * noise).astype(np.float32)
