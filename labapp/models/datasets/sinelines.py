"""Sinelines: series of 64 points, a line plus a sine wave (paper 000, 4.1).

    x_t = z1 t + z2 + z3 sin(z4 t + z5),   t = -3.2, -3.1 ... 3.1

with slope z1 ~ U(-1, 1), intercept z2 ~ N(0, 1), amplitude z3 ~ Exp(1), frequency z4 ~ Exp(1) and
phase z5 ~ U(0, 2 pi).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labapp.models.datasets.split import ArrayRows, Float32, Float64, Split, check

POINTS = 64
TIMES: Float64 = (np.arange(POINTS) - 32) / 10.0

NAMES = ("slope", "intercept", "amplitude", "frequency", "phase")
LIMITS = ((-1.0, 1.0), (-4.0, 4.0), (0.0, 10.0), (0.0, 10.0), (0.0, 6.28))
"""The dials' ranges of the ground-truth model: draws of the prior are clamped to these."""
STEP = 0.01


def series(z: NDArray[np.floating]) -> Float32:
    """Series of the factors z. Returns float32, shape (n, 64), computed in float64. `z`: shape (n,
    5): slope, intercept, amplitude, frequency, phase. Not clamped."""
    values = np.asarray(z, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(NAMES):
        raise ValueError(f"sinelines need z of shape (n, 5), found {values.shape}")
    slope, intercept, amplitude, frequency, phase = (column[:, None] for column in values.T)
    wave = amplitude * np.sin(frequency * TIMES + phase)
    line = slope * TIMES + intercept
    return np.asarray(line + wave, dtype=np.float32)


def draw_factors(count: int, seed: int) -> Float64:
    """Independent draws of the five factors from their prior, float64, shape (count, 5).

    Only uniform numbers are taken from the generator and turned into the other distributions
    here, because numpy may change how it draws those and a division of data must not change.
    """
    u = np.random.Generator(np.random.PCG64(seed)).random((count, 6))
    # 1 - u lies in (0, 1]: its logarithm is finite.
    radius = np.sqrt(-2.0 * np.log(1.0 - u[:, 1]))
    columns = (
        2.0 * u[:, 0] - 1.0,
        radius * np.cos(2.0 * np.pi * u[:, 5]),
        -np.log(1.0 - u[:, 2]),
        -np.log(1.0 - u[:, 3]),
        2.0 * np.pi * u[:, 4],
    )
    return np.stack(columns, axis=1)


def to_dials(factors: NDArray[np.floating]) -> Float32:
    """Factors rounded to the dials' step of 0.01 and clamped to `LIMITS`, float32."""
    low, high = np.array(LIMITS).T
    return np.clip(np.round(factors / STEP) * STEP, low, high).astype(np.float32)


def sample_prior(count: int, seed: int) -> Float32:
    """Dial states of the ground-truth model drawn from the prior, shape (count, 5)."""
    return to_dials(draw_factors(count, seed))


def generate(count: int, seed: int) -> tuple[Float32, Float64]:
    """Series, float32 (count, 64), and their unclamped factors, float64 (count, 5)."""
    factors = draw_factors(count, seed)
    return series(factors), factors


def split(*, count: int, held_out: int, seed: int) -> Split:
    """`count` series drawn from the prior, split into parts.

    Rows are independent draws, so the last `held_out` of them are the held-out part: the same seed
    gives the same division for ever, whatever is trained on it. Raises ValueError: `held_out`
    leaves nothing to learn from, or nothing held out.
    """
    check(count, held_out)
    x, factors = generate(count, seed)
    cut = count - held_out
    return Split(
        train=ArrayRows(x[:cut], factors[:cut]),
        held=ArrayRows(x[cut:], factors[cut:]),
        factor_names=NAMES,
        generative=True,
    )
