"""Analyses of variance over several conditions, and the checks of what they assume.

Within participants the values are a matrix of shape (participants, conditions) without gaps; the
sums of squares are closed forms, equal to `statsmodels.stats.anova.AnovaRM`, whose saturated design
matrix grows with the square of the number of values. Nothing here warns: what has no value says
why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from labapp.analysis.inference import FEW, SAME, Outcome, Values, levelled, varies

ONE_WAY, REPEATED = "one-way ANOVA", "repeated-measures ANOVA"
GREENHOUSE_GEISSER = "repeated-measures ANOVA, Greenhouse-Geisser"
MAUCHLY, BROWN_FORSYTHE = "Mauchly's W", "Brown-Forsythe F"
FRIEDMAN, KRUSKAL = "Friedman chi-square", "Kruskal-Wallis H"
FEW_CONDITIONS = "there are fewer than two conditions with values"
TWO_CONDITIONS = "two conditions are always spherical"
SINGULAR = "differences between conditions are dependent on each other"

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums of squares of a one-way analysis: between conditions, between participants (0 where
    each has one condition), and the error, with its degrees of freedom."""

    conditions: float
    participants: float
    error: float
    df: int
    df_error: int

    @property
    def f(self) -> float:
        return (self.conditions / self.df) / (self.error / self.df_error)


def repeated(values: Matrix) -> tuple[Outcome, Sums | None]:
    """F of the conditions within participants; values: shape (participants, conditions)."""
    n, k = values.shape
    if k < 2 or n < 2:
        return Outcome(REPEATED, why=FEW_CONDITIONS if k < 2 else FEW), None
    grand = values.mean()
    people, conditions = values.mean(axis=1), values.mean(axis=0)
    rest = values - people[:, None] - conditions + grand
    if not _matters(rest, values):
        return Outcome(REPEATED, why=SAME), None
    sums = Sums(
        float(n * np.square(conditions - grand).sum()),
        float(k * np.square(people - grand).sum()),
        float(np.square(rest).sum()),
        k - 1,
        (k - 1) * (n - 1),
    )
    return _f_test(REPEATED, sums), sums


def one_way(samples: Sequence[Values]) -> tuple[Outcome, Sums | None]:
    """F of independent samples, pooled variance; those without values are left out."""
    known = [sample for sample in samples if sample.size]
    total = sum(sample.size for sample in known)
    if len(known) < 2 or total <= len(known):
        return Outcome(ONE_WAY, why=FEW_CONDITIONS if len(known) < 2 else FEW), None
    everything = np.concatenate(known)
    rest = np.concatenate([sample - sample.mean() for sample in known])
    if not _matters(rest, everything):
        return Outcome(ONE_WAY, why=SAME), None
    grand = everything.mean()
    sums = Sums(
        float(sum(sample.size * (sample.mean() - grand) ** 2 for sample in known)),
        0.0,
        float(np.square(rest).sum()),
        len(known) - 1,
        total - len(known),
    )
    return _f_test(ONE_WAY, sums), sums


def _matters(rest: Matrix, values: Matrix) -> bool:
    """Whether residuals are more than rounding."""
    return float(np.abs(rest).max()) > 1e-9 * max(1.0, float(np.abs(values).max()))


def _f_test(name: str, sums: Sums) -> Outcome:
    p = float(stats.f.sf(sums.f, sums.df, sums.df_error))
    return Outcome(name, sums.f, sums.df, p, df_2=sums.df_error)


def covariance_of_contrasts(values: Matrix) -> Matrix:
    """Covariance of orthonormal contrasts between conditions, shape (k - 1, k - 1)."""
    k = values.shape[1]
    # Of the matrix that takes the mean away, the first k - 1 singular vectors.
    contrasts = np.linalg.svd(np.eye(k) - 1.0 / k)[0][:, : k - 1]
    return np.atleast_2d(np.cov(values @ contrasts, rowvar=False))


def epsilon(covariance: Matrix) -> float:
    """Greenhouse and Geisser's (1959) epsilon, 1 / (k - 1) to 1; covariance: of orthonormal
    contrasts."""
    trace = float(np.trace(covariance))
    return trace**2 / (len(covariance) * float(np.square(covariance).sum()))


def sphericity(values: Matrix) -> Outcome:
    """Mauchly's (1940) W of the conditions within participants."""
    n, k = values.shape
    if k < 3:
        return Outcome(MAUCHLY, why=TWO_CONDITIONS if k == 2 else FEW_CONDITIONS)
    if n < k:
        return Outcome(MAUCHLY, why=FEW)
    return mauchly(covariance_of_contrasts(values), n - 1)


def mauchly(covariance: Matrix, df: int) -> Outcome:
    """Mauchly's W of a covariance of orthonormal contrasts with df degrees of freedom; a small p
    says that the differences between conditions do not have the same variance.

    p by the chi-square approximation -(df - (2 d^2 + d + 2) / (6 d)) ln W with d (d + 1) / 2 - 1
    degrees of freedom, d contrasts (as SAS and SPSS; R adds a term of second order).
    """
    d = len(covariance)
    mean = float(np.trace(covariance)) / d
    if mean <= 0:
        return Outcome(MAUCHLY, why=SAME)
    w = float(np.linalg.det(covariance / mean))
    if w <= 1e-12:
        return Outcome(MAUCHLY, why=SINGULAR)
    factor = df - (2 * d * d + d + 2) / (6 * d)
    freedom = d * (d + 1) // 2 - 1
    p = float(stats.chi2.sf(-factor * np.log(min(w, 1.0)), freedom))
    return Outcome(MAUCHLY, w, freedom, p)


def corrected(values: Matrix) -> Outcome:
    """The F of `repeated` with both degrees of freedom times Greenhouse and Geisser's epsilon."""
    plain, sums = repeated(values)
    if sums is None:
        return Outcome(GREENHOUSE_GEISSER, why=plain.why)
    shrink = epsilon(covariance_of_contrasts(values))
    df, df_error = sums.df * shrink, sums.df_error * shrink
    p = float(stats.f.sf(sums.f, df, df_error))
    return Outcome(GREENHOUSE_GEISSER, sums.f, df, p, df_2=df_error)


def residuals(values: Matrix) -> Values:
    """What participants and conditions do not explain, of values within participants."""
    rest = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    return np.asarray(rest).ravel()


def same_variances(samples: Sequence[Values]) -> Outcome:
    """Brown and Forsythe's (1974) test: Levene's with medians."""
    known = [sample for sample in samples if sample.size > 1]
    if len(known) < 2:
        return Outcome(BROWN_FORSYTHE, why=FEW)
    away = [np.abs(sample - np.median(sample)) for sample in known]
    plain, sums = one_way(away)
    if sums is None:
        return Outcome(BROWN_FORSYTHE, why=plain.why)
    return Outcome(BROWN_FORSYTHE, plain.statistic, plain.df, plain.p, df_2=plain.df_2)


def friedman(values: Matrix) -> Outcome:
    """Friedman's test within participants, of three conditions or more."""
    n, k = values.shape
    if k < 3 or n < 2:
        return Outcome(FRIEDMAN, why="it is of three conditions or more" if k < 3 else FEW)
    levels = levelled(values)
    if not np.ptp(levels, axis=1).any():
        return Outcome(FRIEDMAN, why=SAME)
    test = stats.friedmanchisquare(*levels.T)
    return Outcome(FRIEDMAN, float(test.statistic), k - 1, float(test.pvalue))


def kruskal(samples: Sequence[Values]) -> Outcome:
    """Kruskal and Wallis's test of independent samples."""
    known = [levelled(sample) for sample in samples if sample.size]
    if len(known) < 2:
        return Outcome(KRUSKAL, why=FEW_CONDITIONS)
    if not varies(np.concatenate(known)):
        return Outcome(KRUSKAL, why=SAME)
    test = stats.kruskal(*known)
    return Outcome(KRUSKAL, float(test.statistic), len(known) - 1, float(test.pvalue))
