"""Linear mixed models by restricted maximum likelihood, for values with gaps and for trials.

The deviance is profiled over the fixed effects and the residual variance, as lme4 does (Bates et
al., 2015); random effects are independent of each other. Degrees of freedom are Satterthwaite's, as
lmerTest has them (Kuznetsova et al., 2017). statsmodels' `MixedLM` gives the same fit of one random
intercept, but knows no crossed ones, gives normal deviates, and takes seconds for 2,000
participants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import log, pi, sqrt
from typing import Any

import numpy as np
import pandas as pd
import scipy

from labapp.analysis.design.anova import CONDITION, EMPTY_CELL, Estimate, Term
from labapp.analysis.design.layout import (
    PARTICIPANT,
    VALUE,
    Columns,
    Factor,
    Floats,
    Layout,
    Weights,
    Whole,
    fixed_effects,
    kron,
    subsets,
    sum_coding,
    usable,
    weigh_cells,
)
from labapp.analysis.inference import FEW, SAME, outcome, varies
from labapp.analysis.statistic import Statistic

WALD = "linear mixed model, Wald chi-square"
FAILED = "the fit did not converge"
MOST_EFFECTS = 1500
"""So many random effects of several kinds at most: the time of a fit grows with their cube."""
ZERO = 1e-4
"""Random effects whose standard deviation is this share of the residual one are called 0."""
STEP = 1e-3
FLAT = 1e-2
"""A deviance with this slope, by relative standard deviations, is at its least."""


@dataclass(frozen=True, slots=True)
class Random:
    """Random intercepts of every level of a column, or of every combination of levels of several.

    Attributes
    ----------
    name : as formulas of R have it, without the brackets.
    codes : shape (rows,), the level that a row is of.
    """

    name: str
    codes: Whole


@dataclass(frozen=True)
class Mixed:
    """A fitted model.

    Attributes
    ----------
    layout, design : the fixed effects.
    coefficients, covariance : of these.
    sds : by random effect its standard deviation; "residual" last.
    remarks : what is to be known of the fit: singular, not converged, simplified.
    criterion : -2 log restricted likelihood, which lme4 calls the REML criterion.
    """

    layout: Layout
    design: Columns
    n: int
    coefficients: Floats
    covariance: Floats
    sds: Mapping[str, float]
    remarks: tuple[str, ...] = ()
    information: Floats = field(default_factory=lambda: np.empty((0, 0)))
    slopes: Floats = field(default_factory=lambda: np.empty((0, 0, 0)))
    """Variance of the parameters of variance, and what the covariance changes with each."""
    criterion: float = float("nan")

    def df_of(self, row: Floats) -> float:
        """Satterthwaite's degrees of freedom of a weighted sum of the coefficients."""
        variance = float(row @ self.covariance @ row)
        gradient = np.array([row @ slope @ row for slope in self.slopes])
        spread = float(gradient @ self.information @ gradient)
        return 2 * variance**2 / spread if spread > 0 else float("inf")

    def estimate(self, weights: Weights) -> Estimate | Statistic:
        """A weighted sum of the means of cells, covariates at their mean."""
        row = weigh_cells(self.layout, self.design, weights)
        error = sqrt(float(row @ self.covariance @ row))
        spread = sqrt(sum(sd**2 for sd in self.sds.values()))
        value = float(row @ self.coefficients)
        return Estimate(value, error, self.df_of(row), spread, self.n, 0.0)

    def terms(self) -> list[Term]:
        """F of every term, type III, Satterthwaite."""
        return [Term(term, self._f(term, at)) for term, at in self.design.terms.items() if term]

    def wald(self, term: tuple[str, ...]) -> Statistic:
        """Wald's chi-square of a term, as statsmodels tests it; none if the fit did not
        converge."""
        if FAILED in self.remarks:
            return outcome(WALD, why=FAILED)
        at = self.design.terms[term]
        own = self.coefficients[at]
        chi_square = float(own @ np.linalg.solve(self.covariance[at, at], own))
        p = float(scipy.stats.chi2.sf(chi_square, own.size))
        return outcome(WALD, chi_square, own.size, p, why="; ".join(self.remarks))

    def _f(self, term: tuple[str, ...], at: slice) -> Statistic:
        own = self.coefficients[at]
        # Differences from the first level: which basis is taken matters for the degrees of freedom.
        named = (f for f in self.layout.factors if f.name in term)
        coded = (sum_coding(len(factor.levels)) for factor in named)
        basis = reduce(kron, (each[1:] - each[0] for each in coded), np.ones((1, 1)))
        spread = basis @ self.covariance[at, at] @ basis.T
        values, vectors = np.linalg.eigh(spread)
        q = own.size
        f = float(np.sum((vectors.T @ basis @ own) ** 2 / values) / q)
        dfs = []
        for vector in vectors.T:
            row = np.zeros(self.coefficients.size)
            row[at] = vector @ basis
            dfs.append(self.df_of(row))
        df_2 = _together(dfs)
        return outcome("F, mixed model", f, q, float(scipy.stats.f.sf(f, q, df_2)), df_2=df_2)


def _together(dfs: Sequence[float]) -> float:
    """Degrees of freedom of the denominator of an F from those of its t, as lmerTest has them (Fai
    and Cornelius)."""
    if len(dfs) == 1:
        return dfs[0]
    if np.ptp(dfs) < 1e-8:
        return float(np.mean(dfs))
    if min(dfs) <= 2:
        return 2.0
    expected = sum(df / (df - 2) for df in dfs)
    return 2 * expected / (expected - len(dfs))


def of_cells(frame: pd.DataFrame, layout: Layout) -> Mixed | Statistic:
    """One value per participant and cell on the factors, with a random intercept per person."""
    rows = usable(frame, layout)
    people = pd.factorize(rows[PARTICIPANT])[0].astype(np.intp)
    return fit(rows, layout, [Random(f"1 | {PARTICIPANT}", people)])


def wald(values: Floats) -> Statistic:
    """Wald's chi-square of conditions within participants: unlike an analysis of variance it takes
    in participants who lack one. values: shape (participants, conditions), NaN for what lacks."""
    values = values[:, np.isfinite(values).any(axis=0)]
    person, condition = np.nonzero(np.isfinite(values))
    frame = pd.DataFrame(
        {PARTICIPANT: person, CONDITION: condition.astype(str), VALUE: values[person, condition]}
    )
    levels = tuple(map(str, range(values.shape[1])))
    model = of_cells(frame, Layout((Factor(CONDITION, levels, within=True),)))
    if isinstance(model, Statistic):
        return replace(model, test=WALD)
    return model.wald((CONDITION,))


def of_trials(
    frame: pd.DataFrame, layout: Layout, stimulus: str | None, *, cells: bool = True
) -> Mixed | Statistic:
    """Trials on the factors: random intercepts of participants and stimuli, and with `cells` of
    participants at each level, and combination of levels, of the factors within them.

    These let the effect of a factor differ between people, all of its differences as much as each
    other (compound symmetry): unlike slopes of contrasts without correlations, that is the same
    model however levels are named and ordered. Effects that are estimated as 0 are taken out until
    none is; what was taken out is said.
    """
    rows = usable(frame, layout)
    people = pd.factorize(rows[PARTICIPANT])[0].astype(np.intp)
    effects = [Random(f"1 | {PARTICIPANT}", people)]
    if stimulus is not None and rows[stimulus].nunique() > 1:
        effects.append(Random(f"1 | {stimulus}", pd.factorize(rows[stimulus])[0].astype(np.intp)))
    for places in subsets(layout.within) if cells else ():
        names = [PARTICIPANT, *(layout.within[place].name for place in places)]
        codes = pd.factorize(pd.MultiIndex.from_frame(rows[names]))[0].astype(np.intp)
        # With one trial in each such cell it is the residual.
        if int(codes.max()) + 1 < len(rows):
            effects.append(Random(f"1 | {':'.join(names)}", codes))
    taken_out: list[str] = []
    while True:
        model = fit(rows, layout, effects)
        if isinstance(model, Statistic):
            return model
        zero = [
            effect
            for effect in effects[1:]
            if model.sds[effect.name] < ZERO * model.sds["residual"]
        ]
        if not zero:
            break
        taken_out += [effect.name for effect in zero]
        effects = [effect for effect in effects if effect not in zero]
    if not taken_out:
        return model
    named = ", ".join(f"({name})" for name in taken_out)
    text = f"estimated as 0 and removed: {named}"
    return replace(model, remarks=(*model.remarks, text))


def fit(rows: pd.DataFrame, layout: Layout, effects: Sequence[Random]) -> Mixed | Statistic:
    """The model by restricted maximum likelihood. rows: without gaps."""
    name = "linear mixed model"
    n = rows[PARTICIPANT].nunique()
    if n < 2:
        return outcome(name, why=FEW)
    y = rows[VALUE].to_numpy(np.float64)
    fixed = fixed_effects(rows, layout)
    if fixed is None:
        return outcome(name, why="the factors cannot be separated in these values")
    design, _, crossed = fixed
    remarks: tuple[str, ...] = () if crossed else (EMPTY_CELL,)
    x = pd.DataFrame(design.matrix)
    within = (x - x.groupby(rows[PARTICIPANT].to_numpy()).transform("mean")).round(9)
    # Else groups cannot be told from the people in them.
    is_identified = n + np.linalg.matrix_rank(within.to_numpy()) > len(x.columns)
    if len(y) <= len(x.columns) + 1 or not is_identified:
        return outcome(name, why=FEW)
    rest = y - design.matrix @ np.linalg.lstsq(design.matrix, y, rcond=None)[0]
    if not varies(rest, float(np.abs(y).max())):
        return outcome(name, why=SAME)
    sizes = [int(effect.codes.max()) + 1 for effect in effects]
    if len(effects) > 1 and sum(sizes) > MOST_EFFECTS:
        return outcome(name, why=f"there are more than {MOST_EFFECTS:,} random effects")
    if any(size >= len(y) for size in sizes):
        return outcome(name, why="each random effect has only one value")
    unit = float(rest.std())
    problem = _Deviance(design.matrix, y / unit, effects)
    theta, converged = problem.best()
    if not converged:
        remarks = (*remarks, FAILED)
    # What was estimated as 0 has no say in the degrees of freedom.
    free = np.asarray(np.flatnonzero(theta > ZERO), np.intp)
    sigma, covariance, coefficients = problem.solution(theta)
    if singular := [effects[at].name for at in range(len(effects)) if theta[at] <= ZERO]:
        remarks = (*remarks, f"singular: {', '.join(f'({x})' for x in singular)} estimated as 0")
    information, slopes = problem.satterthwaite(theta, sigma, free)
    sds = {effect.name: float(sigma * unit * at) for effect, at in zip(effects, theta, strict=True)}
    return Mixed(
        layout, design, n, coefficients * unit, covariance * unit**2,
        {**sds, "residual": sigma * unit}, remarks, information, slopes * unit**2,
        problem.deviance(theta) + 2 * (len(y) - design.matrix.shape[1]) * log(unit),
    )  # fmt: skip


class _Deviance:
    """The deviance as a function of the relative standard deviations of the random effects."""

    def __init__(self, x: Floats, y: Floats, effects: Sequence[Random]) -> None:
        self.x, self.y = x, y
        self.zz: Floats
        self.zx: Floats
        self.zy: Floats
        self.n, self.p = x.shape
        self.diagonal = len(effects) == 1  # then Z'Z is, and no matrix need be decomposed
        self.sizes = [int(effect.codes.max()) + 1 for effect in effects]
        if self.diagonal:
            codes, size = effects[0].codes, self.sizes[0]
            self.zz = np.bincount(codes, minlength=size).astype(np.float64)
            self.zx = np.column_stack([np.bincount(codes, column, size) for column in x.T])
            self.zy = np.asarray(np.bincount(codes, y, size), np.float64)
        else:
            each = zip(effects, self.sizes, strict=True)
            z = np.hstack([np.eye(size)[effect.codes] for effect, size in each])
            self.zz, self.zx, self.zy = z.T @ z, z.T @ x, z.T @ y
        self.xx, self.xy, self.yy = x.T @ x, x.T @ y, float(y @ y)

    def _solve(self, theta: Floats) -> tuple[float, float, Floats, Floats]:
        """Log determinant, squares of the residuals with their penalty, the Cholesky factor of the
        fixed effects' information, and the fixed effects."""
        scale = np.repeat(theta, self.sizes)
        if self.diagonal:
            root = np.sqrt(scale**2 * self.zz + 1)
            determinant = 2 * float(np.log(root).sum())
            rzx = (scale / root)[:, None] * self.zx
            cu = scale / root * self.zy
        else:
            lower = scipy.linalg.cholesky(
                scale[:, None] * self.zz * scale + np.eye(scale.size), lower=True
            )
            determinant = 2 * float(np.log(np.diag(lower)).sum())
            both = scipy.linalg.solve_triangular(
                lower, scale[:, None] * np.column_stack([self.zx, self.zy]), lower=True
            )
            rzx, cu = both[:, :-1], both[:, -1]
        rx = scipy.linalg.cholesky(self.xx - rzx.T @ rzx, lower=True)
        cb = scipy.linalg.solve_triangular(rx, self.xy - rzx.T @ cu, lower=True)
        squares = self.yy - float(cu @ cu) - float(cb @ cb)
        beta = scipy.linalg.solve_triangular(rx.T, cb, lower=False)
        determinant += 2 * float(np.log(np.diag(rx)).sum())
        return determinant, squares, rx, beta

    def deviance(self, theta: Floats, sigma: float | None = None) -> float:
        """-2 log restricted likelihood; sigma: residual standard deviation, its best value if not
        given."""
        determinant, squares, *_ = self._solve(np.abs(theta))
        df = self.n - self.p
        if sigma is None:
            return float(determinant + df * (1 + log(2 * pi * squares / df)))
        return float(determinant + df * log(2 * pi * sigma**2) + squares / sigma**2)

    def best(self) -> tuple[Floats, bool]:
        """The relative standard deviations with the least deviance, and whether they were found."""
        k = len(self.sizes)
        grid = np.array([0.0, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 5.0, 10.0, 30.0, 100.0])
        if k == 1:
            level = [self.deviance(np.array([at])) for at in grid]
            at = int(np.argmin(level))
            low, high = grid[max(at - 1, 0)], grid[min(at + 1, grid.size - 1)]
            result = scipy.optimize.minimize_scalar(
                lambda value: self.deviance(np.array([value])),
                bounds=(float(low), float(high)),
                method="bounded",
                options={"xatol": 1e-9},
            )
            theta = np.array([float(result.x)])
            if self.deviance(np.zeros(1)) <= float(result.fun):
                theta = np.zeros(1)
            return theta, bool(result.success) and at < grid.size - 1
        minimize: Any = scipy.optimize.minimize  # its stubs know no options of this method
        theta, ok = np.full(k, 0.7), False
        # Once more from where it ended: a flat deviance ends it early.
        for _ in range(2):
            result = minimize(
                lambda at: self.deviance(np.asarray(at)),
                theta,
                method="L-BFGS-B",
                jac=lambda at: self._slope(np.asarray(at)),
                bounds=[(0, None)] * k,
                options={"ftol": 1e-14, "gtol": 1e-7, "maxiter": 200},
            )
            theta = np.abs(np.asarray(result.x, np.float64))
            # Where only rounding is left, the search says that it cannot go on.
            slope = np.abs(self._slope(theta)[theta > ZERO])
            ok = bool(result.success) or float(slope.max(initial=0.0)) < FLAT
        return theta, ok

    def _slope(self, theta: Floats) -> Floats:
        """The deviance's derivatives; it is the same on both sides of 0."""
        steps = 1e-5 * np.maximum(theta, 0.1)
        return np.array(
            [
                (self.deviance(theta + step) - self.deviance(theta - step)) / (2 * step.sum())
                for step in np.diag(steps)
            ]
        )

    def solution(self, theta: Floats) -> tuple[float, Floats, Floats]:
        """Residual standard deviation, covariance of the fixed effects, and these."""
        _, squares, rx, beta = self._solve(theta)
        sigma = sqrt(squares / (self.n - self.p))
        return sigma, sigma**2 * self._inverse(rx), beta

    @staticmethod
    def _inverse(lower: Floats) -> Floats:
        inverse = scipy.linalg.solve_triangular(lower, np.eye(len(lower)), lower=True)
        return np.asarray(inverse.T @ inverse)

    def satterthwaite(self, theta: Floats, sigma: float, free: Whole) -> tuple[Floats, Floats]:
        """Variance of the parameters of variance (those that are free, then sigma), and what the
        covariance of the fixed effects changes with each."""
        at = np.append(theta[free], sigma)
        # Central differences of steps in proportion, by Richardson's rule.
        steps = STEP * np.append(np.maximum(theta[free], 1e-2), sigma)

        def whole(values: Floats) -> Floats:
            made = theta.copy()
            made[free] = values[:-1]
            return made

        def deviance(values: Floats) -> float:
            return self.deviance(whole(values), float(values[-1]))

        def spread(values: Floats) -> Floats:
            return float(values[-1]) ** 2 * self._inverse(self._solve(whole(values))[2])

        k = at.size
        unit = np.eye(k)

        def hessian(h: Floats) -> Floats:
            result = np.empty((k, k))
            for i in range(k):
                for j in range(i, k):
                    a, b = unit[i] * h, unit[j] * h
                    result[i, j] = result[j, i] = (
                        deviance(at + a + b) - deviance(at + a - b)
                        - deviance(at - a + b) + deviance(at - a - b)
                    ) / (4 * h[i] * h[j])  # fmt: skip
            return result

        second = (4 * hessian(steps) - hessian(2 * steps)) / 3
        slopes = np.array(
            [
                (
                    8 * (spread(at + step) - spread(at - step))
                    - (spread(at + 2 * step) - spread(at - 2 * step))
                )
                / (12 * steps[i])
                for i, step in enumerate(unit * steps)
            ]
        )
        values, vectors = np.linalg.eigh(second)
        positive = values > 1e-8 * max(values.max(), 0)
        information = reduce(
            np.add,
            [
                2 / v * np.outer(u, u)
                for v, u in zip(values[positive], vectors.T[positive], strict=True)
            ],
            np.zeros((k, k)),
        )
        return information, slopes
