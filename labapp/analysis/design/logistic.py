"""Yes or no by trials: logistic regression by generalised estimating equations.

Trials of a participant are clustered; the working correlation is independence, so that the
coefficients are those of an ordinary logistic regression, and the covariance is Mancl and
DeRouen's (2001), whose bias is reduced for few participants. Tests are t and F with participants
less coefficients as degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import pandas as pd
import scipy

from labapp.analysis.design.anova import EMPTY_CELL, Estimate, Term
from labapp.analysis.design.layout import (
    PARTICIPANT,
    VALUE,
    Columns,
    Floats,
    Layout,
    Weights,
    Whole,
    fixed_effects,
    usable,
    weigh_cells,
)
from labapp.analysis.inference import FEW, SAME, outcome
from labapp.analysis.statistic import Statistic

NAME = "F, logistic GEE"
MOST_STEPS, CONVERGED = 200, 1e-10
"""Of Fisher scoring; it ends when no coefficient changes by so much."""
CERTAIN = 10 * float(np.finfo(np.float64).eps)
"""An expectation closer than this to 0 or 1 has reached it: the answers are separated."""
ALONE = "a cell has the trials of a single participant, so its error is not known"
SEPARATED = "all trials of a cell have the same result, so its log odds have no value"


@dataclass(frozen=True)
class Logistic:
    """A fitted model; means are log odds."""

    layout: Layout
    design: Columns
    n: int
    df: int
    coefficients: Floats
    covariance: Floats
    remarks: tuple[str, ...] = ()

    def estimate(self, weights: Weights) -> Estimate | Statistic:
        row = weigh_cells(self.layout, self.design, weights)
        error = sqrt(float(row @ self.covariance @ row))
        return Estimate(float(row @ self.coefficients), error, self.df, float("nan"), self.n, 0.0)

    def terms(self) -> list[Term]:
        result = []
        for term, at in self.design.terms.items():
            if term:
                own = self.coefficients[at]
                f = float(own @ np.linalg.solve(self.covariance[at, at], own)) / own.size
                p = float(scipy.stats.f.sf(f, own.size, self.df))
                result.append(Term(term, outcome(NAME, f, own.size, p, df_2=self.df)))
        return result


def of_trials(frame: pd.DataFrame, layout: Layout) -> Logistic | Statistic:
    """frame: one row per trial; `value` 0 or 1."""
    rows = usable(frame, layout)
    y = rows[VALUE].to_numpy(np.float64)
    if y.size == 0 or np.ptp(y) == 0:
        return outcome(NAME, why=SAME if y.size else FEW)
    fixed = fixed_effects(rows, layout)
    if fixed is None:
        return outcome(NAME, why="the factors cannot be separated in these values")
    design, codes, crossed = fixed
    remarks = () if crossed else (EMPTY_CELL,)
    people = rows[PARTICIPANT].nunique()
    df = people - design.matrix.shape[1]
    if df < 1:
        return outcome(NAME, why=FEW)
    if _is_of_one(design.matrix, pd.factorize(rows[PARTICIPANT])[0]):
        return outcome(NAME, why=ALONE)
    if _is_separated(codes, y, layout) and not remarks:
        return outcome(NAME, why=SEPARATED)
    fitted = fit(y, design.matrix, pd.factorize(rows[PARTICIPANT])[0])
    if fitted is None:
        return outcome(NAME, why="the fit did not converge")
    return Logistic(layout, design, people, df, *fitted, remarks)


def fit(y: Floats, x: Floats, people: Whole) -> tuple[Floats, Floats] | None:
    """Fit a logistic regression and its covariance, robust to trials that are alike in a person.

    Parameters
    ----------
    y : of n trials, 0 or 1.
    x : n by k, of full rank.
    people : of n trials, the number of the participant.

    Returns
    -------
    The k coefficients, and their covariance, k by k; None if the fit did not converge.
    """
    try:
        with np.errstate(all="ignore"):
            coefficients, expected, bread = _score(y, x)
            weights = expected * (1 - expected)
            meat = np.zeros_like(bread)
            for person in range(people.max() + 1):
                own = people == person
                leverage = weights[own, None] * x[own] @ bread @ x[own].T
                residual = np.linalg.solve(np.eye(own.sum()) - leverage, (y - expected)[own])
                meat += np.outer(x[own].T @ residual, x[own].T @ residual)
            covariance = bread @ meat @ bread
    except np.linalg.LinAlgError:
        return None
    return (coefficients, covariance) if np.isfinite(covariance).all() else None


def _score(y: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
    """Fisher scoring: the coefficients, the trials' expectations, and the inverse of the
    information. Raises LinAlgError if it does not converge."""
    coefficients = np.zeros(x.shape[1])
    for _ in range(MOST_STEPS):
        expected = scipy.special.expit(x @ coefficients)
        weighted = (expected * (1 - expected))[:, None] * x
        bread = np.asarray(np.linalg.inv(x.T @ weighted), np.float64)
        step = bread @ (x.T @ (y - expected))
        coefficients = coefficients + step
        if np.abs(step).max() < CONVERGED:
            # Where answers are separated, steps become small because weights vanish.
            if (np.minimum(expected, 1 - expected) < CERTAIN).any():
                break
            return coefficients, expected, bread
    raise np.linalg.LinAlgError("no convergence")


def _is_of_one(x: Floats, people: Whole) -> bool:
    """Whether a coefficient is that of a single participant, whose trials it fits exactly."""
    k = x.shape[1]
    return any(np.linalg.matrix_rank(x[people != own]) < k for own in range(people.max() + 1))


def _is_separated(codes: Whole, y: Floats, layout: Layout) -> bool:
    if not layout.factors:
        return False
    cells = pd.Series(y).groupby([pd.Series(column) for column in codes.T]).agg(["min", "max"])
    return bool((cells["min"] == cells["max"]).any())
