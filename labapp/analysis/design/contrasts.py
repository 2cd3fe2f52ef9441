"""Comparisons of estimated means: contrasts, pairs, corrections for several tests, equivalence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import exp
from typing import Any, Protocol

from labapp.analysis.design.anova import Estimate
from labapp.analysis.design.layout import Factor, Weights, term_name
from labapp.analysis.inference import (
    COHEN_AVERAGE,
    COHEN_POOLED,
    EQUIVALENT,
    HEDGES,
    PAIRED,
    SMALLEST,
    Direction,
    Effect,
    adjust,
    of_estimate,
    standardised,
)
from labapp.analysis.statistic import Statistic
from labapp.study.design import MODEL

MEAN, CONTRAST, EQUIVALENCE, EFFECT = "estimated mean", "contrast", "equivalence", "effect"
ALPHA = 0.05


class Means(Protocol):
    """A fitted model that can say what weighted sums of means are."""

    def estimate(self, weights: Weights) -> Estimate | Statistic: ...


@dataclass(frozen=True, slots=True)
class Comparison:
    """A contrast that is tested. pair: the factor and the two levels, where it is of a pair."""

    name: str
    weights: Weights
    direction: Direction = "two-sided"
    pair: tuple[str, str, str] | None = None

    @property
    def cells(self) -> dict[str, Any]:
        """Which contrast it is, as cells of a row."""
        _, model, other = self.pair if self.pair and self.pair[0] == MODEL else ("", "", "")
        return {
            "contrast": self.name,
            "factors": term_name(self.weights),
            "direction": self.direction,
            "model": model,
            "compared_with": other,
        }


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


def compare(model: Means, comparison: Comparison, factors: Sequence[Factor]) -> list[Statistic]:
    """The test of one comparison, with how large it is; and Cohen's d where there is one."""
    estimate = model.estimate(comparison.weights)
    if isinstance(estimate, Statistic):
        return [replace(estimate, kind=CONTRAST, **comparison.cells)]
    test = of_estimate(estimate.value, estimate.error, estimate.df, comparison.direction)
    t = estimate.value / estimate.error
    named = [factor for factor in factors if factor.name in comparison.weights]
    effect, cohen = _effects(estimate, t, named)
    rows = [
        replace(
            test, kind=CONTRAST, n=estimate.n, **comparison.cells, **effect.cells if effect else {}
        )
    ]
    if cohen is not None:
        rows.append(Statistic(kind=EFFECT, test=cohen.name, **comparison.cells, **cohen.cells))
    return rows


def _effects(
    estimate: Estimate, t: float, factors: Sequence[Factor]
) -> tuple[Effect | None, Effect | None]:
    """d_z where participants met all that is compared, else Hedges' g; and Cohen's d: d_av, else
    d_s. The interval of d_av is an approximation by Algina and Keselman (2003)."""
    if estimate.df is None or not estimate.scale:
        return None, None
    between = any(not factor.within for factor in factors)
    value, df = estimate.value, estimate.df
    name = HEDGES if between else PAIRED
    effect = standardised(name, value / estimate.spread, t, df, estimate.scale)
    unit = estimate.spread if between else estimate.within_levels
    if not unit > 0:
        return effect, None
    name = COHEN_POOLED if between else COHEN_AVERAGE
    return effect, standardised(name, value / unit, t, df, estimate.error / unit)


def equivalence(comparison: Comparison, estimate: Estimate, bound: float) -> Statistic:
    """The test whether a difference is smaller than a bound on both sides."""
    made = of_estimate(estimate.value, estimate.error, estimate.df, EQUIVALENT, bound)
    about = replace(comparison, direction=EQUIVALENT).cells
    return replace(made, kind=EQUIVALENCE, n=estimate.n, **about)


def estimated_mean(estimate: Estimate, **about: Any) -> Statistic:
    """An estimated mean with its interval."""
    made = of_estimate(estimate.value, estimate.error, estimate.df)
    return Statistic(
        kind=MEAN, test=MEAN, n=estimate.n, mean=estimate.value, standard_error=estimate.error,
        df=estimate.df, low=made.low, high=made.high, **about,
    )  # fmt: skip


def ratio(row: Statistic, name: str) -> Effect:
    """A difference of logarithms as a ratio, with its interval."""
    value, low, high = (exp(end or 0.0) for end in (row.difference, row.low, row.high))
    return Effect(name, value, low, high)


def corrected(rows: Sequence[Statistic], method: str, family: str) -> list[Statistic]:
    """The tests of one family, each with its corrected p. method: holm, bonferroni, fdr (Benjamini
    and Hochberg, 1995) or none; family: what it is called."""
    known = [row.p for row in rows if row.p is not None]
    adjusted = iter(adjust(known, method))
    result = []
    for row in rows:
        if row.p is not None:
            p = next(adjusted)
            enough = row.n is not None and row.n >= SMALLEST
            row = replace(
                row, p_corrected=p, n_tests=len(known), family=family,
                significant=p < ALPHA and enough,
            )  # fmt: skip
        result.append(row)
    return result
