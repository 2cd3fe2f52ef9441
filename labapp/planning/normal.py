"""Power by normal theory, as a check on the resampling: what statsmodels says of the same effects.

The resampled participants are no normal sample (completion rates take few values), so that the two
agree in tendency, not to the last per cent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from labapp.planning.power import Pool

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Effect:
    """The standardised effect of a test in the mixture: d_z of a paired t test, d of an independent
    one, Cohen's f of an analysis of variance (within participants: of the error without their own
    differences). None where nothing varies."""

    test: str
    name: str
    value: float | None


def effects(pool: Pool) -> list[Effect]:
    """Of each test of a pool, in its order."""
    result = []
    if len(pool.models) > 2:
        value = _f_within(pool) if pool.within else _f_between(pool)
        result.append(Effect(pool.tests[0], "f", value))
    for test, (first, other) in zip(
        pool.tests[-_pairs(pool) :], combinations(range(len(pool.models)), 2), strict=True
    ):
        if pool.within:
            mean, variance = _moments(pool.values[:, first] - pool.values[:, other], pool.weights)
            result.append(Effect(test, "d_z", _ratio(mean, variance)))
        else:
            (m, v), (m_2, v_2) = (
                _moments(pool.values[:, at], pool.weights) for at in (first, other)
            )
            result.append(Effect(test, "d", _ratio(m - m_2, (v + v_2) / 2)))
    return result


def power_of(pool: Pool, effect: Effect, n: int, level: float) -> float | None:
    """Power of a test with n participants (of each model, where each meets one)."""
    from scipy import stats
    from statsmodels.stats.power import FTestAnovaPower, TTestIndPower, TTestPower

    if effect.value is None:
        return None
    k = len(pool.models)
    if effect.name == "d_z":
        return float(TTestPower().power(effect.value, n, level))
    if effect.name == "d":
        return float(TTestIndPower().power(effect.value, n, level, ratio=1))
    if not pool.within:
        return float(FTestAnovaPower().power(effect.value, n * k, level, k_groups=k))
    df, df_error = k - 1, (k - 1) * (n - 1)
    limit = stats.f.isf(level, df, df_error)
    return float(stats.ncf.sf(limit, df, df_error, n * k * effect.value**2))


def _pairs(pool: Pool) -> int:
    return len(pool.models) * (len(pool.models) - 1) // 2


def _moments(values: Floats, weights: Floats) -> tuple[float, float]:
    """Weighted mean and variance of the values that are there."""
    finite = np.isfinite(values) & (weights > 0)
    if not finite.any():
        return np.nan, np.nan
    w = weights[finite] / weights[finite].sum()
    mean = float(w @ values[finite])
    return mean, float(w @ np.square(values[finite] - mean))


def _ratio(difference: float, variance: float) -> float | None:
    if not np.isfinite(difference) or not variance > 1e-18:
        return None
    return difference / float(np.sqrt(variance))


def _f_between(pool: Pool) -> float | None:
    moments = [_moments(pool.values[:, at], pool.weights) for at in range(len(pool.models))]
    return _ratio(_spread([m for m, _ in moments]), float(np.mean([v for _, v in moments])))


def _f_within(pool: Pool) -> float | None:
    complete = np.isfinite(pool.values).all(axis=1) & (pool.weights > 0)
    if not complete.any():
        return None
    x, w = pool.values[complete], pool.weights[complete] / pool.weights[complete].sum()
    means = w @ x
    rest = x - x.mean(axis=1, keepdims=True) - means + means.mean()
    k = x.shape[1]
    return _ratio(_spread(list(means)), float((w @ np.square(rest)).sum() / (k - 1)))


def _spread(means: Sequence[float]) -> float:
    return float(np.std(means))
