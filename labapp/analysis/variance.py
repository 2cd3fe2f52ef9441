"""What analyses of variance assume, and the tests by ranks in their place; the analyses themselves
are those of `design.anova`.

Within participants the values are a matrix of shape (participants, conditions) without gaps.
Nothing here warns: what has no value says why.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from labapp.analysis.inference import FEW, SAME, Outcome, Values, levelled, varies

MAUCHLY, BROWN_FORSYTHE = "Mauchly's W", "Brown-Forsythe F"
FRIEDMAN, KRUSKAL = "Friedman chi-square", "Kruskal-Wallis H"
FEW_CONDITIONS = "there are fewer than two conditions with values"
TWO_CONDITIONS = "two conditions are always spherical"
SINGULAR = "differences between conditions are dependent on each other"

Matrix = NDArray[np.float64]


def epsilon(covariance: Matrix) -> float:
    """Greenhouse and Geisser's (1959) epsilon, 1 / (k - 1) to 1; covariance: of orthonormal
    contrasts."""
    trace = float(np.trace(covariance))
    return trace**2 / (len(covariance) * float(np.square(covariance).sum()))


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


def same_variances(samples: Sequence[Values]) -> Outcome:
    """Brown and Forsythe's (1974) test: Levene's with medians."""
    known = [sample for sample in samples if sample.size > 1]
    if len(known) < 2:
        return Outcome(BROWN_FORSYTHE, why=FEW)
    away = [np.abs(sample - np.median(sample)) for sample in known]
    rest = np.concatenate([distances - distances.mean() for distances in away])
    if float(np.abs(rest).max()) <= 1e-9 * max(1.0, *(float(x.max()) for x in away)):
        return Outcome(BROWN_FORSYTHE, why=SAME)
    test = stats.levene(*known, center="median")
    df_2 = sum(sample.size for sample in known) - len(known)
    return Outcome(
        BROWN_FORSYTHE, float(test.statistic), len(known) - 1, float(test.pvalue), df_2=df_2
    )


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
