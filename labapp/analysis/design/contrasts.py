"""Comparisons of estimated means: contrasts, pairs, corrections for several tests, equivalence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import exp, lgamma, sqrt
from typing import Literal, Protocol

from scipy import stats

from labapp.analysis.design.anova import Estimate
from labapp.analysis.design.layout import Factor, Weights
from labapp.analysis.inference import (
    COHEN_AVERAGE,
    COHEN_POOLED,
    HEDGES,
    PAIRED,
    Effect,
    Outcome,
    adjust,
    t_interval,
)

Direction = Literal["two-sided", "greater", "less", "equivalent"]
TWO_SIDED: Direction = "two-sided"
GREATER: Direction = "greater"
LESS: Direction = "less"
EQUIVALENT: Direction = "equivalent"


class Means(Protocol):
    """A fitted model that can say what weighted sums of means are."""

    def estimate(self, weights: Weights) -> Estimate | Outcome: ...


@dataclass(frozen=True, slots=True)
class Comparison:
    """A contrast that is tested. pair: the factor and the two levels, where it is of a pair."""

    name: str
    weights: Weights
    direction: Direction = "two-sided"
    pair: tuple[str, str, str] | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """One comparison and its one test: of a difference, or of equivalence.

    cohen: Cohen's d beside the effect; bound: of a test of equivalence the smallest difference that
    matters; p_corrected: over the family; None where there is no value, and then `why` says the
    reason."""

    comparison: Comparison
    test: Outcome
    estimate: Estimate | None = None
    effect: Effect | None = None
    cohen: Effect | None = None
    bound: float | None = None
    p_corrected: float | None = None
    n_tests: int | None = None


def pairs(factors: Sequence[Factor]) -> list[Comparison]:
    """Every pair of levels of every factor."""
    return [
        Comparison(
            f"{first} − {other}",
            {factor.name: {first: 1.0, other: -1.0}},
            pair=(factor.name, first, other),
        )
        for factor in factors
        for first, other in combinations(factor.levels, 2)
    ]


def compare(model: Means, comparison: Comparison, factors: Sequence[Factor]) -> Compared:
    """Test one comparison, and say how large it is."""
    estimate = model.estimate(comparison.weights)
    if isinstance(estimate, Outcome):
        return Compared(comparison, estimate)
    t = estimate.value / estimate.error
    name = "z" if estimate.df is None else "t"
    p = tail(t, estimate.df, comparison.direction)
    half = quantile(0.975, estimate.df) * estimate.error
    low, high = estimate.value - half, estimate.value + half
    test = Outcome(name, t, estimate.df, p, low, high)
    named = [factor for factor in factors if factor.name in comparison.weights]
    return Compared(
        comparison, test, estimate, _effect(estimate, t, named), _cohen(estimate, t, named)
    )


def _effect(estimate: Estimate, t: float, factors: Sequence[Factor]) -> Effect | None:
    """d_z where participants met all that is compared, else Hedges' g."""
    if estimate.df is None or not estimate.scale:
        return None
    between = any(not factor.within for factor in factors)
    df = estimate.df
    small = exp(lgamma(df / 2) - lgamma((df - 1) / 2)) / sqrt(df / 2) if between and df > 1 else 1.0
    low, high = (None if end is None else small * end * estimate.scale for end in t_interval(t, df))
    return Effect(
        HEDGES if between else PAIRED, small * estimate.value / estimate.spread, low, high
    )


def _cohen(estimate: Estimate, t: float, factors: Sequence[Factor]) -> Effect | None:
    """Cohen's d: d_av where participants met all that is compared, else d_s. The interval is the
    noncentrality's times standard error over standardiser (of d_av an approximation by Algina and
    Keselman, 2003)."""
    if estimate.df is None or not estimate.scale:
        return None
    between = any(not factor.within for factor in factors)
    unit = estimate.spread if between else estimate.within_levels
    if not unit > 0:
        return None
    scale = estimate.error / unit
    low, high = (None if end is None else end * scale for end in t_interval(t, estimate.df))
    return Effect(COHEN_POOLED if between else COHEN_AVERAGE, estimate.value / unit, low, high)


def tail(t: float, df: float | None, direction: Direction = "two-sided") -> float:
    """p of a t (of a normal deviate without df) in a direction."""
    distribution = stats.norm() if df is None else stats.t(df)
    if direction == GREATER:
        return float(distribution.sf(t))
    if direction == LESS:
        return float(distribution.cdf(t))
    return float(2 * distribution.sf(abs(t)))


def quantile(share: float, df: float | None) -> float:
    return float(stats.norm.ppf(share) if df is None else stats.t.ppf(share, df))


def equivalence(comparison: Comparison, estimate: Estimate, bound: float) -> Compared:
    """Test whether a difference is smaller than a bound on both sides (Schuirmann, 1987).

    statistic and p are those of the one-sided test with the larger p; low and high end the 90 %
    interval of the difference.
    """
    above = (estimate.value + bound) / estimate.error
    below = (estimate.value - bound) / estimate.error
    p, t = max((tail(above, estimate.df, GREATER), above), (tail(below, estimate.df, LESS), below))
    half = quantile(0.95, estimate.df) * estimate.error
    low, high = estimate.value - half, estimate.value + half
    test = Outcome("two one-sided tests", t, estimate.df, p, low, high)
    return Compared(replace(comparison, direction=EQUIVALENT), test, estimate, bound=bound)


def corrected(compared: Sequence[Compared], method: str) -> list[Compared]:
    """The tests of one family, each with its corrected p. method: holm, bonferroni, fdr (Benjamini
    and Hochberg, 1995) or none."""
    p = [each.test.p for each in compared]
    known = [at for at, value in enumerate(p) if value is not None]
    adjusted = adjust([p[at] or 0.0 for at in known], method)
    result = list(compared)
    for at, value in zip(known, adjusted, strict=True):
        result[at] = replace(compared[at], p_corrected=value, n_tests=len(known))
    return result
