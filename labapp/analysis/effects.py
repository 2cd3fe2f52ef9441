"""Standardised effects with 95 % intervals by noncentral distributions.

The noncentrality of which the observed statistic is the 97.5th and the 2.5th percentile are the
ends of an interval of the noncentrality (Steiger and Fouladi, 1997); an effect is a function of it.
Ends that no noncentrality reaches are None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, lgamma, sqrt

import numpy as np
from scipy import optimize, special, stats

from labapp.analysis.inference import Values, varies

GIVEN = 0.95
STEPS = 20
TINY = 1e-9
"""Of so small a t the distribution cannot be computed; that of 0 is the same."""
SURE = -6.0
"""Noncentrality below which a t is negative but for one in a thousand million."""
LOW, HIGH = (1 + GIVEN) / 2, (1 - GIVEN) / 2
HEDGES, PAIRED = "Hedges' g", "d_z"
COHEN_AVERAGE, COHEN_POOLED = "Cohen's d_av", "Cohen's d_s"
"""The difference in the root of the mean variance of the levels compared, which participants met
all of (Cumming, 2012), and in the pooled standard deviation of independent groups."""
PARTIAL, PLAIN, GENERALISED = "partial eta squared", "eta squared", "generalised eta squared"


@dataclass(frozen=True, slots=True)
class Effect:
    """A standardised effect with its 95 % interval; name: which (Hedges' g, partial eta
    squared)."""

    name: str
    value: float
    low: float | None
    high: float | None


def hedges_g(first: Values, other: Values) -> Effect | None:
    """Hedges' (1981) g of two independent samples: the difference of their means in pooled standard
    deviations, corrected for small samples. None where they have fewer than two values or do not
    vary."""
    n_1, n_2 = first.size, other.size
    if min(n_1, n_2) < 2 or not (varies(first) or varies(other)):
        return None
    df = n_1 + n_2 - 2
    pooled = sqrt((first.var(ddof=1) * (n_1 - 1) + other.var(ddof=1) * (n_2 - 1)) / df)
    d = float(first.mean() - other.mean()) / pooled
    scale = sqrt(n_1 * n_2 / (n_1 + n_2))
    small = exp(lgamma(df / 2) - lgamma((df - 1) / 2)) / sqrt(df / 2) if df > 1 else 1.0
    low, high = (None if t is None else small * t / scale for t in t_interval(d * scale, df))
    return Effect(HEDGES, small * d, low, high)


def d_z(differences: Values) -> Effect | None:
    """Cohen's (1988) d_z of paired samples: the mean difference in standard deviations of the
    differences. None where there are fewer than two or they do not vary."""
    if not varies(differences):
        return None
    scale = sqrt(differences.size)
    d = float(differences.mean() / differences.std(ddof=1))
    low, high = (
        None if t is None else t / scale for t in t_interval(d * scale, differences.size - 1)
    )
    return Effect(PAIRED, d, low, high)


def t_interval(t: float, df: float) -> tuple[float | None, float | None]:
    """Ends of the 95 % interval of the noncentrality of a t."""
    size = abs(t) if abs(t) > TINY else 0.0

    def share(at: float) -> float:
        # It is at least the normal share below -at, and cannot be computed far out.
        return 1.0 if at < SURE else float(special.nctdtr(df, at, size))

    step = sqrt(1 + size**2 / (2 * df))  # about the spread of a t around its noncentrality
    low = _end(share, LOW, size, -step)
    high = _end(share, HIGH, size, step)
    if t >= 0:
        return low, high
    return None if high is None else -high, None if low is None else -low


def f_interval(f: float, df: float, df_error: float) -> tuple[float | None, float | None]:
    """Ends of the 95 % interval of the noncentrality of an F; 0 where even that is too much."""

    def share(at: float) -> float:
        return float(stats.ncf.cdf(f, df, df_error, at) if at else stats.f.cdf(f, df, df_error))

    step = 1 + f * df
    low, high = (
        0.0 if share(0.0) <= wanted else _end(share, wanted, 0.0, step) for wanted in (LOW, HIGH)
    )
    return low, high


def _end(share: Callable[[float], float], wanted: float, start: float, step: float) -> float | None:
    """The noncentrality with the share wanted: from a start in steps until it is passed, and then
    between the last two; None where the distribution cannot be computed so far out."""
    sign = np.sign(share(start) - wanted)
    before = start
    for _ in range(STEPS):
        after = before + step
        result = share(after)
        if not np.isfinite(result):
            return None
        if np.sign(result - wanted) != sign:
            low, high = sorted((before, after))
            return float(optimize.brentq(lambda at: share(at) - wanted, low, high, xtol=1e-10))
        before = after
    return None
