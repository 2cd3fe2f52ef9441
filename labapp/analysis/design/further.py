"""Tests that a study chooses besides those of means: Bayes factors, trimmed means, permutations and
aligned ranks.

`analysis.further_tests` of the study file names them, so that they are chosen before the data. All
are of the participants who have every cell, and their p is not corrected. They show whether a
result depends on the usual test; no hypothesis is decided by them.

Bayes factors are those of Rouder, Speckman, Sun, Morey and Iverson (2009): a Cauchy prior of the
effect, Jeffreys's of the variance. Contrasts of trimmed means are Yuen's (1974) test, between and
within participants, for any weights (Wilcox, 2017, sections 5.9.5 and 7.4). Aligned ranks are those
of Wobbrock, Findlater, Gergle and Higgins (2011).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf, log, sqrt
from typing import Any

import numpy as np
import scipy

from labapp.analysis.design import anova
from labapp.analysis.design.anova import Comparison, Estimate, Variance
from labapp.analysis.design.layout import Floats, Whole, cell_codes, cell_weights, term_name
from labapp.analysis.inference import (
    FEW,
    GREATER,
    LESS,
    SAME,
    TWO_SIDED,
    Direction,
    of_estimate,
    outcome,
    varies,
)
from labapp.analysis.statistic import Statistic
from labapp.study.design import FurtherTest

FURTHER = "further"
TRIMMED = 0.2
"""The share of values that is cut off at each end."""
RESAMPLES, SEED = 9_999, 1
EXACT = 100 * float(np.finfo(np.float64).eps)
"""Of the largest value: by so much, sums of the same values may differ. scipy's own tolerance is of
the statistic, and none if that is 0."""
BAYES, YUEN = "Bayes factor, BF10", "t of 20 % trimmed means"
PERMUTED, ALIGNED = "permutation of t", "F of aligned ranks"
TAILS = "p is twice the smaller tail"
LARGEST = 1e300
HUGE = "it is too large to be written as a number"
NO_COVARIATES = "it is not defined with a covariate"
ONE_BETWEEN = "with more than one factor between participants, they cannot be permuted freely"


@dataclass(frozen=True)
class Data:
    """What further tests are made of.

    Attributes
    ----------
    model : the analysis of variance of the participants who have every cell.
    comparisons : the contrasts.
    prior_width : of the Cauchy prior, in standard deviations of the effect.
    """

    model: Variance
    comparisons: Sequence[Comparison]
    prior_width: float

    @property
    def groups(self) -> Whole:
        """The number of each participant's group, shape (n,)."""
        sizes = [len(factor.levels) for factor in self.model.wide.layout.between]
        own = self.model.wide.groups
        if not sizes:
            return np.zeros(len(own), np.intp)
        return np.asarray(np.ravel_multi_index(tuple(own.T), sizes), np.intp)


def further_tests(
    chosen: Sequence[FurtherTest],
    model: Variance | str,
    comparisons: Sequence[Comparison],
    prior_width: float,
) -> Iterator[Statistic]:
    """The rows of every chosen test; `model_name` has the test's key in the study file. model: the
    reason, where too few participants have every cell."""
    for name in chosen:
        if isinstance(model, str):
            yield replace(outcome(TESTS[name].title, why=model), kind=FURTHER, model_name=name)
            continue
        for row in TESTS[name].make(Data(model, comparisons, prior_width)):
            yield replace(row, kind=FURTHER, model_name=name, n=model.n)


def bayes_factor(
    t: float, df: float, n: float, width: float, direction: Direction = TWO_SIDED
) -> float:
    """How much likelier a t is with an effect than without one; inf above `LARGEST`.

    Parameters
    ----------
    df : degrees of freedom of t.
    n : effective sample size, t = effect · √n: the number of pairs, or n₁n₂ / (n₁ + n₂).
    width : scale of the Cauchy prior of the effect in standard deviations.
    direction : `greater` and `less` take the half of the prior on that side.

    Source: Rouder et al. (2009), equation 1; one-sided by the share of the posterior on that side
    (Morey and Wagenmakers, 2014).
    """
    # The effect is normal with variance g, and g inverse gamma, integrated over log g.
    u = np.linspace(-40.0, 40.0, 8001)
    spread = 1 + n * np.exp(u)
    prior = 0.5 * np.log(width**2 / 2) - scipy.special.gammaln(0.5) - 0.5 * u
    prior = prior - width**2 / (2 * np.exp(u))
    fit = -0.5 * np.log(spread) - (df + 1) / 2 * np.log1p(t * t / (spread * df))
    log_factor = float(scipy.special.logsumexp(prior + fit)) + float(np.log(u[1] - u[0]))
    log_factor += (df + 1) / 2 * float(np.log1p(t * t / df))
    if log_factor > log(LARGEST):
        return inf
    share = 1.0
    if direction in (GREATER, LESS):
        # The posterior of the effect, as far out on either side as it is worth.
        reach = (abs(t) + 12 * sqrt(1 + t * t / (2 * df))) / sqrt(n)
        masses = {}
        for side, sign in ((GREATER, 1), (LESS, -1)):
            effect = sign * np.linspace(0.0, reach, 4001)
            fit = scipy.stats.nct.pdf(t, df, effect * sqrt(n)) * scipy.stats.cauchy.pdf(
                effect, scale=width
            )
            masses[side] = float(scipy.integrate.simpson(np.nan_to_num(fit)))
        share = 2 * masses[direction] / sum(masses.values())
    return float(np.exp(log_factor)) * share


def _bayes(data: Data) -> Iterator[Statistic]:
    for comparison in data.comparisons:
        estimate = data.model.estimate(comparison.weights)
        if not isinstance(estimate, Estimate) or estimate.df is None:
            why = estimate.why if isinstance(estimate, Statistic) else FEW
            yield replace(outcome(BAYES, why=why), **comparison.cells)
            continue
        t, n = estimate.value / estimate.error, 1 / estimate.scale**2
        factor = bayes_factor(t, estimate.df, n, data.prior_width, comparison.direction)
        why = HUGE if factor == inf else f"Cauchy prior of width {data.prior_width:.3f}"
        known = None if factor == inf else factor
        yield replace(outcome(BAYES, known, why=why), **comparison.cells)


def trimmed_contrast(
    values: Floats, within: Floats, groups: Whole, between: Floats, direction: Direction = TWO_SIDED
) -> Statistic:
    """The test of a weighted sum of 20 % trimmed means.

    Parameters
    ----------
    values : shape (participants, cells).
    within : the weight of each cell.
    groups : the number of each participant's group, from 0.
    between : the weight of each group.

    Without groups and with two cells this is Yuen's test of dependent samples, with one cell and
    two groups her test of independent ones.
    """
    total, variance, parts = 0.0, 0.0, []
    for group, weight in enumerate(between):
        if not weight:
            continue
        own = values[groups == group]
        n = len(own)
        cut = int(TRIMMED * n)
        left = n - 2 * cut
        if left < 2:
            return outcome(YUEN, why=FEW)
        ordered = np.sort(own, axis=0)
        clipped = np.clip(own, ordered[cut], ordered[n - cut - 1])
        covariance = np.atleast_2d(np.cov(clipped, rowvar=False)) * (n - 1) / (left * (left - 1))
        part = weight**2 * float(within @ covariance @ within)
        total += float(weight * (within @ ordered[cut : n - cut].mean(axis=0)))
        variance += part
        parts.append(part**2 / (left - 1))
    if variance <= (1e-9 * float(np.abs(values).max())) ** 2:
        return outcome(YUEN, why=SAME)
    df = variance**2 / sum(parts)
    return of_estimate(total, sqrt(variance), df, direction, name=YUEN)


def _trimmed(data: Data) -> Iterator[Statistic]:
    for comparison, within, between in _weights(data):
        test = outcome(YUEN, why=NO_COVARIATES)
        if not data.model.wide.layout.covariates:
            test = trimmed_contrast(
                data.model.wide.values, within, data.groups, between, comparison.direction
            )
        yield replace(test, **comparison.cells)


def _weights(data: Data) -> Iterator[tuple[Comparison, Floats, Floats]]:
    """Every contrast with its weights of the cells and of the groups."""
    layout = data.model.wide.layout
    for comparison in data.comparisons:
        weights = comparison.weights
        yield (
            comparison,
            cell_weights(layout.within, weights),
            cell_weights(layout.between, weights),
        )


def _permuted(data: Data) -> Iterator[Statistic]:
    """A contrast between participants exchanges those of the groups compared; any other one changes
    the signs of participants' own contrasts."""
    layout = data.model.wide.layout
    for comparison, within, between in _weights(data):
        exchanged = any(factor.name in comparison.weights for factor in layout.between)
        scores = data.model.wide.values @ within
        samples = [scores[data.groups == at] for at in np.flatnonzero(between)]
        why = ""
        if layout.covariates:
            why = NO_COVARIATES
        elif exchanged and len(layout.between) > 1:
            why = ONE_BETWEEN
        elif min(map(len, samples)) < 2:
            why = FEW
        elif not any(varies(sample, data.model.wide.size) for sample in samples):
            why = SAME
        test = (
            outcome(PERMUTED, why=why)
            if why
            else _permutation(
                samples, between[between != 0], comparison.direction, exchanged,
                EXACT * data.model.wide.size,
            )
        )  # fmt: skip
        yield replace(test, **comparison.cells)


def _permutation(
    samples: Sequence[Floats], weights: Floats, direction: Direction, exchanged: bool, tiny: float
) -> Statistic:
    """The test of the weighted sum of the samples' means, in units of its pooled standard error.
    tiny: by which sums that are equal may differ, since they were added in another order."""
    sizes = np.array([len(sample) for sample in samples])
    ends = np.cumsum(sizes)[:-1]
    df = int(sizes.sum()) - len(sizes)

    def estimate(*given: Any, axis: int = -1) -> tuple[Any, Any]:
        parts = given if exchanged else np.split(given[0], ends, axis=axis)
        means = [part.mean(axis=axis, keepdims=True) for part in parts]
        squares = [
            np.square(part - mean).sum(axis=axis) for part, mean in zip(parts, means, strict=True)
        ]
        error = np.sqrt(sum(squares) / df * float(np.square(weights) @ (1 / sizes)))
        value = sum(w * mean.squeeze(axis) for w, mean in zip(weights, means, strict=True))
        return value, np.maximum(error, tiny)

    def t(*given: Any, axis: int = -1) -> Any:
        return np.divide(*estimate(*given, axis=axis))

    given = tuple(samples) if exchanged else (np.concatenate(samples),)
    made = scipy.stats.permutation_test(
        given, t, permutation_type="independent" if exchanged else "samples", vectorized=True,
        n_resamples=RESAMPLES, batch=1_000, rng=np.random.default_rng(SEED),
    )  # fmt: skip
    every, (value, error) = made.null_distribution, map(float, estimate(*given))
    observed, drawn = value / error, int(len(every) == RESAMPLES)
    near = tiny / error * (1 + abs(observed))
    tails = {
        GREATER: (np.count_nonzero(every >= observed - near) + drawn) / (len(every) + drawn),
        LESS: (np.count_nonzero(every <= observed + near) + drawn) / (len(every) + drawn),
    }
    p = tails.get(direction, min(1.0, 2 * min(tails.values())))
    how = f"permutations drawn at random, seed {SEED}"
    why = f"{len(every):,} {how}" if drawn else f"all {len(every):,} permutations"
    if direction not in tails:
        why += f"; {TAILS}"
    return outcome(PERMUTED, observed, None, p, why=why)


def align(values: Floats, codes: Sequence[Whole], term: Sequence[int]) -> Floats:
    """What is left of values when every effect but that of one term is taken away.

    Parameters
    ----------
    values : shape (n,).
    codes : of each factor the numbers of the values' levels.
    term : the places of the term's factors among these.
    """

    def means(places: Sequence[int]) -> Floats:
        if not places:
            return np.full(len(values), values.mean())
        _, cell = np.unique(
            np.column_stack([codes[place] for place in places]), axis=0, return_inverse=True
        )
        cell = cell.ravel()
        return np.asarray((np.bincount(cell, values) / np.bincount(cell))[cell], np.float64)

    made = values - means(range(len(codes)))
    for size in range(len(term) + 1):
        for some in combinations(term, size):
            made = made + (-1) ** (len(term) - size) * means(some)
    return np.asarray(made, np.float64)


def _aligned(data: Data) -> Iterator[Statistic]:
    whole = data.model.wide
    layout = whole.layout
    n, cells = whole.values.shape
    order = (*layout.between, *layout.within)
    names = [factor.name for factor in order]
    within = cell_codes(layout.within) if layout.within else np.zeros((1, 0), np.intp)
    codes = [np.repeat(own, cells) for own in whole.groups.T]
    codes += [np.tile(own, n) for own in within.T]
    for term in data.model.terms():
        if set(term.factors) & set(layout.covariates):
            continue
        test = outcome(ALIGNED, why=NO_COVARIATES)
        if not layout.covariates:
            places = [names.index(name) for name in term.factors]
            aligned = align(whole.values.ravel(), codes, places)
            ranks = scipy.stats.rankdata(np.round(aligned / whole.size, 13)).reshape(n, cells)
            fitted = anova.variance(replace(whole, values=ranks))
            if isinstance(fitted, str):
                test = outcome(ALIGNED, why=fitted)
            else:
                same = next(own for own in fitted.terms() if own.factors == term.factors)
                test = replace(
                    outcome(ALIGNED, why=same.plain.why), statistic=same.plain.statistic,
                    df=same.plain.df, df_2=same.plain.df_2, p=same.plain.p,
                )  # fmt: skip
        yield replace(test, factors=term_name(term.factors))


@dataclass(frozen=True)
class Further:
    """A kind of further test: what its rows are called, and what makes them."""

    title: str
    make: Callable[[Data], Iterator[Statistic]]


TESTS: dict[FurtherTest, Further] = {
    "bayes_factor": Further(BAYES, _bayes),
    "trimmed_means": Further(YUEN, _trimmed),
    "permutation": Further(PERMUTED, _permuted),
    "aligned_ranks": Further(ALIGNED, _aligned),
}
