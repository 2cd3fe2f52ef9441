"""Analysis of variance of complete data, with any number of factors between and within.

Participants' values are taken through orthonormal contrasts of the factors within them; on each
set of these the factors between are tested by type III sums of squares with sum contrasts. That is
the univariate table of R's afex (and of car's `Anova` with `type = 3`); within participants alone
it is statsmodels' `AnovaRM`. Nothing here warns: what has no value says why.

Comparisons of estimated means: contrasts, pairs, corrections for several tests, equivalence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations, product
from math import exp, nan, sqrt
from typing import Any, Protocol

import numpy as np
import scipy

from labapp.analysis.design.layout import (
    Columns,
    Factor,
    Floats,
    Layout,
    Weights,
    Whole,
    Wide,
    cell_weights,
    columns,
    kron,
    subsets,
    term_name,
    weigh_cells,
)
from labapp.analysis.inference import (
    COHEN_AVERAGE,
    COHEN_POOLED,
    EQUIVALENT,
    FEW,
    GENERALISED,
    HEDGES,
    MAUCHLY,
    PAIRED,
    PARTIAL,
    SAME,
    SMALLEST,
    TWO_CONDITIONS,
    Direction,
    Effect,
    adjust,
    epsilon,
    f_interval,
    mauchly,
    of_estimate,
    outcome,
    standardise_effect,
)
from labapp.analysis.statistic import Statistic
from labapp.study.design import MODEL

EMPTY_CELL = "a group has no participants, so interactions between groups are not estimated"
TOO_FEW = "there are too few participants for the groups, or a covariate coincides with a group"
CONDITION = "condition"
F, CORRECTED = "ANOVA F", "ANOVA F, Greenhouse-Geisser"


@dataclass(frozen=True, slots=True)
class Term:
    """One line of the table.

    Attributes
    ----------
    factors : names of its factors and covariates.
    plain : F with its degrees of freedom; of complete data with partial eta squared.
    corrected : with Greenhouse and Geisser's epsilon; None if there is nothing to correct.
    generalised : generalised eta squared; None of other models.
    sphericity : Mauchly's W; for two conditions, a row that says why there is none; None between
        participants.
    squares, error : sums of squares of the term and of its error.
    """

    factors: tuple[str, ...]
    plain: Statistic
    corrected: Statistic | None = None
    generalised: Statistic | None = None
    sphericity: Statistic | None = None
    squares: float = nan
    error: float = nan

    @property
    def rows(self) -> Iterator[Statistic]:
        """What is known of it."""
        known = (self.plain, self.corrected, self.generalised, self.sphericity)
        return (row for row in known if row is not None)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A weighted sum of means, with its standard error and degrees of freedom (None: a normal
    deviate). spread: the standard deviation that it is divided by for a standardised effect."""

    value: float
    error: float
    df: float | None
    spread: float
    n: int
    scale: float
    """Standard error over spread: a t is a standardised effect over it."""
    within_levels: float = float("nan")
    """Root of the mean variance of the levels compared, if participants met several."""


@dataclass(frozen=True)
class Variance:
    """The model of complete data: `terms` for tests, `estimate` for means and contrasts."""

    wide: Wide
    design: Columns
    inverse: Floats
    df_error: int
    remark: str = ""

    @property
    def n(self) -> int:
        return len(self.wide.participants)

    def fit(self, scores: Floats) -> tuple[Floats, Floats]:
        """Coefficients and residuals of scores, shape (n, d)."""
        coefficients = self.inverse @ (self.design.matrix.T @ scores)
        return coefficients, scores - self.design.matrix @ coefficients

    def estimate(self, weights: Weights) -> Estimate | Statistic:
        """A weighted sum of the means of cells; a row that says why if there is none. The
        error is that of the participants' own weighted sums, so nothing is assumed of sphericity:
        the default of emmeans for models of afex."""
        layout = self.wide.layout
        scores = self.wide.values @ cell_weights(layout.within, weights)
        groups = Layout(layout.between, layout.covariates)
        row = weigh_cells(groups, self.design, weights)
        coefficients, rest = self.fit(scores[:, None])
        if float(np.abs(rest).max()) <= 1e-9 * self.wide.size:
            return outcome("t", why=SAME)
        spread = sqrt(float(np.square(rest).sum()) / self.df_error)
        scale = sqrt(float(row @ self.inverse @ row))
        value = float(row @ coefficients[:, 0])
        levels = self._within_levels(weights)
        return Estimate(value, spread * scale, self.df_error, spread, self.n, scale, levels)

    def _within_levels(self, weights: Weights) -> float:
        """Root of the mean variance, within groups, of participants' values at each combination of
        the levels that are weighted."""
        within = self.wide.layout.within
        named = [factor for factor in within if factor.name in weights]
        weighted = [[x for x in f.levels if weights[f.name].get(x)] for f in named]
        variances = [
            float(np.square(self.fit(self.wide.values @ own[:, None])[1]).sum()) / self.df_error
            for levels in product(*weighted)
            if (
                own := cell_weights(
                    within, {f.name: {level: 1.0} for f, level in zip(named, levels, strict=True)}
                )
            ).any()
        ]
        return sqrt(sum(variances) / len(variances)) if named and variances else float("nan")

    def terms(self) -> list[Term]:
        """Every term: those between participants, then each within with those."""
        return list(_with_generalised(self))

    def residuals(self) -> Floats:
        """What neither participants nor cells explain; between participants what groups leave."""
        values = self.wide.values
        if values.shape[1] > 1:
            values = values - values.mean(axis=1, keepdims=True)
        return self.fit(values)[1].ravel()

    def fitted(self) -> Floats:
        """The fitted values of `residuals`: the means of groups and cells, shape (n · cells,)."""
        return (self.wide.values - self.fit(self.wide.values)[1]).ravel()


def variance(data: Wide) -> Variance | str:
    """The model of participants who have every cell; a sentence if there is none."""
    layout = data.layout
    covariates = {name: data.covariates[:, at] for at, name in enumerate(layout.covariates)}
    if not data.participants:
        return FEW
    remark = ""
    design = columns(layout.between, data.groups, covariates)
    if np.linalg.matrix_rank(design.matrix) < design.matrix.shape[1]:
        design = columns(layout.between, data.groups, covariates, crossed=False)
        remark = EMPTY_CELL
        if np.linalg.matrix_rank(design.matrix) < design.matrix.shape[1]:
            return TOO_FEW
    df_error = len(data.participants) - design.matrix.shape[1]
    if df_error < 1:
        return FEW
    inverse = np.asarray(np.linalg.inv(design.matrix.T @ design.matrix), np.float64)
    return Variance(data, design, inverse, df_error, remark)


def of_one_factor(values: Floats, groups: Whole | None = None) -> Variance | str:
    """The model of one factor, `CONDITION`.

    Parameters
    ----------
    values : shape (participants, conditions) without gaps; with groups, shape (participants,).
    groups : shape (participants,), the condition of each, from 0, if each has one.
    """
    n = len(values)
    count = values.shape[1] if groups is None else int(groups.max(initial=-1)) + 1
    levels = tuple(map(str, range(count)))
    layout = Layout((Factor(CONDITION, levels, within=groups is None),))
    codes = np.zeros((n, 0), np.intp) if groups is None else groups[:, None]
    people = tuple(map(str, range(n)))
    return variance(Wide(layout, people, values.reshape(n, -1), codes, np.zeros((n, 0))))


def orthonormal(levels: int) -> Floats:
    """Orthonormal contrasts of levels, shape (levels, levels - 1)."""
    return np.linalg.svd(np.eye(levels) - 1.0 / levels)[0][:, : levels - 1]


def build_contrasts(
    factors: Sequence[Factor], named: Sequence[int], *, mean: bool = False
) -> Floats:
    """Orthonormal contrasts of the named factors, over the others the mean (or the sum in units of
    length 1)."""
    pieces = []
    for at, factor in enumerate(factors):
        levels = len(factor.levels)
        even = np.full((levels, 1), 1 / levels if mean else 1 / sqrt(levels))
        pieces.append(orthonormal(levels) if at in named else even)
    return reduce(kron, pieces, np.ones((1, 1)))


@dataclass(frozen=True, slots=True)
class _Raw:
    factors: tuple[str, ...]
    stratum: tuple[str, ...]
    squares: float
    error: float
    df: int
    df_error: int
    covariance: Floats


def _raw(model: Variance) -> Iterator[_Raw]:
    within = model.wide.layout.within
    for places in ((), *subsets(within)):
        stratum = tuple(within[place].name for place in places)
        contrasts = build_contrasts(within, places)
        coefficients, rest = model.fit(model.wide.values @ contrasts)
        d = contrasts.shape[1]
        error = rest.T @ rest
        for term, at in model.design.terms.items():
            if not term and not places:
                continue  # the grand mean
            own = coefficients[at]
            squares = np.trace(own.T @ np.linalg.solve(model.inverse[at, at], own))
            yield _Raw(
                (*term, *stratum),
                stratum,
                float(squares),
                float(np.trace(error)),
                own.shape[0] * d,
                model.df_error * d,
                error / model.df_error,
            )


def _with_generalised(model: Variance) -> Iterator[Term]:
    layout = model.wide.layout
    measured = {factor.name for factor in layout.factors if factor.measured}
    measured |= set(layout.covariates)
    lines = list(_raw(model))
    # Each stratum's error once.
    errors = sum({line.stratum: line.error for line in lines}.values())
    if () not in {line.stratum for line in lines}:
        mean = model.wide.values.sum(axis=1, keepdims=True) / sqrt(model.wide.values.shape[1])
        errors += float(np.square(model.fit(mean)[1]).sum())
    observed = sum(line.squares for line in lines if measured & set(line.factors))
    for line in lines:
        if line.error <= (1e-9 * model.wide.size) ** 2 * model.n:
            yield Term(line.factors, outcome(F, why=SAME), squares=line.squares, error=line.error)
            continue
        f = (line.squares / line.df) / (line.error / line.df_error)
        plain = outcome(
            F, f, line.df, float(scipy.stats.f.sf(f, line.df, line.df_error)), df_2=line.df_error
        )
        d = len(line.covariance)
        corrected, sphericity = None, None
        if d > 1:
            shrink = epsilon(line.covariance)
            df, df_error = line.df * shrink, line.df_error * shrink
            p = float(scipy.stats.f.sf(f, df, df_error))
            corrected = replace(outcome(CORRECTED, f, df, p, df_2=df_error), epsilon=shrink)
            sphericity = (
                mauchly(line.covariance, model.df_error)
                if model.df_error >= d
                else outcome(MAUCHLY, why=FEW)
            )
        elif line.stratum:
            sphericity = outcome(MAUCHLY, why=TWO_CONDITIONS)
        others = errors + observed - (line.squares if measured & set(line.factors) else 0.0)
        partial, generalised = _etas(line, f, others)
        yield Term(
            line.factors, replace(plain, **partial.cells), corrected,
            Statistic(test=GENERALISED, **generalised.cells), sphericity, line.squares, line.error,
        )  # fmt: skip


def _etas(line: _Raw, f: float, others: float) -> tuple[Effect, Effect]:
    """Partial and generalised eta squared (Olejnik and Algina, 2003; Bakeman, 2005). The
    interval of the second is that of the first, its squares over all that the second divides by."""
    total = line.df + line.df_error + 1
    ends = [
        None if end is None else end / (end + total)
        for end in f_interval(f, line.df, line.df_error)
    ]
    partial = Effect(PARTIAL, line.squares / (line.squares + line.error), ends[0], ends[1])

    def general(share: float | None) -> float | None:
        if share is None:
            return None
        squares = line.error * share / (1 - share)
        return squares / (squares + others)

    value = line.squares / (line.squares + others)
    return partial, Effect(GENERALISED, value, general(ends[0]), general(ends[1]))


MEAN, CONTRAST, EQUIVALENCE, EFFECT = "estimated mean", "contrast", "equivalence", "effect"
ALPHA = 0.05


class Means(Protocol):
    """A fitted model that can say what weighted sums of means are."""

    def estimate(self, weights: Weights) -> Estimate | Statistic: ...


@dataclass(frozen=True, slots=True)
class Comparison:
    """A contrast that is tested. pair: the factor and the two levels, if it is of a pair."""

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


MOST_LEVELS = 6
"""Levels of a factor whose pairs are compared if no contrast is declared: more than fifteen
comparisons that nobody asked for hide the one that matters."""


def pairs(factors: Sequence[Factor]) -> list[Comparison]:
    """Every pair of levels of each factor that has no more than `MOST_LEVELS`."""
    return [
        Comparison(
            f"{first} − {other}",
            {factor.name: {first: 1.0, other: -1.0}},
            pair=(factor.name, first, other),
        )
        for factor in factors
        if len(factor.levels) <= MOST_LEVELS
        for first, other in combinations(factor.levels, 2)
    ]


def compare(model: Means, comparison: Comparison, factors: Sequence[Factor]) -> list[Statistic]:
    """The test of one comparison, with how large it is; and Cohen's d if there is one."""
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
    """d_z if participants met all that is compared, else Hedges' g; and Cohen's d: d_av, else
    d_s. The interval of d_av is an approximation by Algina and Keselman (2003)."""
    if estimate.df is None or not estimate.scale:
        return None, None
    between = any(not factor.within for factor in factors)
    value, df = estimate.value, estimate.df
    name = HEDGES if between else PAIRED
    effect = None
    if not between or df > 1:
        effect = standardise_effect(name, value / estimate.spread, t, df, estimate.scale)
    unit = estimate.spread if between else estimate.within_levels
    if not unit > 0:
        return effect, None
    name = COHEN_POOLED if between else COHEN_AVERAGE
    return effect, standardise_effect(name, value / unit, t, df, estimate.error / unit)


def equivalence(comparison: Comparison, estimate: Estimate, bound: float) -> Statistic:
    """The test whether a difference is smaller than a bound on both sides."""
    made = of_estimate(estimate.value, estimate.error, estimate.df, EQUIVALENT, bound)
    about = replace(comparison, direction=EQUIVALENT).cells
    return replace(made, kind=EQUIVALENCE, n=estimate.n, **about)


def report_mean(estimate: Estimate, **about: Any) -> Statistic:
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


def correct_family(rows: Sequence[Statistic], method: str, family: str) -> list[Statistic]:
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
