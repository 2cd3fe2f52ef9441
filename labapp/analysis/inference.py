"""Tests and intervals for small samples, each as scipy has it, and standardised effects.

All tests are two-sided. Nothing here warns: what has no value says why. Here, too, is what analyses
of variance assume, and the tests by ranks in their place; the analyses themselves are those of
`design.anova`. Within participants the values are a matrix of shape (participants, conditions)
without gaps.

Standardised effects have 95 % intervals by noncentral distributions. The noncentralities of which
the observed statistic is the 97.5th and the 2.5th percentile are the ends of an interval of the
noncentrality (Steiger and Fouladi, 1997); an effect is a function of it. Ends that no noncentrality
reaches are None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, lgamma, sqrt
from typing import Any, Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from labapp.analysis.statistic import Statistic

SIGNIFICANT = 0.001
"""Below this p a result is called significant (paper 003, section 5.1)."""
SMALLEST = 5
"""No result of fewer values is called significant."""

FEW = "there are too few values"
SAME = "there is no variation to test against"
"""Of values, of differences within participants, or within conditions that may well differ."""
MOST_NORMAL = 5000
"""For more values Shapiro and Wilk's p is not accurate."""

Values = NDArray[np.float64]


GIVEN = 0.95
Direction = Literal["two-sided", "greater", "less", "equivalent"]
TWO_SIDED: Direction = "two-sided"
GREATER: Direction = "greater"
LESS: Direction = "less"
EQUIVALENT: Direction = "equivalent"
TOST = "two one-sided tests"
NINETY = "the interval is the 90 % one of the difference"
LEVELS = {EQUIVALENT: 0.90}
"""Of the interval of a difference, in the directions in which it is not `GIVEN`."""


def outcome(
    test: str,
    statistic: float | None = None,
    df: float | None = None,
    p: float | None = None,
    *,
    df_2: float | None = None,
    why: str = "",
) -> Statistic:
    """The result of a test. df: degrees of freedom of t or chi-square, or F's numerator; df_2: F's
    denominator. Without a value, `why` gives the reason."""
    return Statistic(test=test, statistic=statistic, df=df, p=p, df_2=df_2, why=why)


def of_estimate(
    value: float,
    error: float,
    df: float | None,
    direction: Direction = TWO_SIDED,
    bound: float | None = None,
    name: str = "",
) -> Statistic:
    """The test of a difference with its standard error, and the interval that belongs to it.

    df: degrees of freedom of t; None for a normal test. bound: for a test of equivalence
    (Schuirmann, 1987); statistic and p are those of the one-sided test with the larger p, and the
    interval is the 90 % one. name: of the test, if not t or z.
    """
    t, test, why = value / error, "z" if df is None else "t", ""
    if direction == EQUIVALENT:
        above, below = (value + (bound or 0.0)) / error, (value - (bound or 0.0)) / error
        p, t = max((tail(above, df, GREATER), above), (tail(below, df, LESS), below))
        test, why = TOST, NINETY
    else:
        p = tail(t, df, direction)
    half = quantile(df, LEVELS.get(direction, GIVEN)) * error
    return Statistic(
        test=name or test, bound=bound, difference=value,
        standard_error=error, statistic=t, df=df, p=p, low=value - half, high=value + half, why=why,
    )  # fmt: skip


def quantile(df: float | None, level: float = GIVEN) -> float:
    """Half the width of the interval for a standard error of 1."""
    share = (1 + level) / 2
    return float(scipy.stats.norm.ppf(share) if df is None else scipy.stats.t.ppf(share, df))


def tail(t: float, df: float | None, direction: Direction = TWO_SIDED) -> float:
    """p of a t (of a normal deviate without df) in a direction."""
    distribution = scipy.stats.norm() if df is None else scipy.stats.t(df)
    if direction == GREATER:
        return float(distribution.sf(t))
    if direction == LESS:
        return float(distribution.cdf(t))
    return float(2 * distribution.sf(abs(t)))


def values_of(values: ArrayLike) -> Values:
    """Plain floats, those that are missing left out."""
    given = np.asarray(values, dtype=np.float64)
    return given[~np.isnan(given)]


def mean(values: Values) -> float | None:
    return float(values.mean()) if values.size else None


def sd(values: Values) -> float | None:
    """Sample standard deviation; None for fewer than two values."""
    return float(values.std(ddof=1)) if values.size > 1 else None


def varies(values: Values, size: float | None = None) -> bool:
    """Whether there is anything to test: two values that differ by more than rounding. size: the
    largest of what they are differences of, if that is known."""
    if values.size < 2:
        return False
    return float(np.ptp(values)) > 1e-9 * (size or max(1.0, float(np.abs(values).max())))


def _none(test: str, enough: bool) -> Statistic:
    """No value: the values do not vary, or there are not enough."""
    return outcome(test, why=SAME if enough else FEW)


def round_for_ranks(values: Values) -> Values:
    """Rounded, for tests by ranks: thirds of a hundred that were computed in two ways are a tie."""
    return np.round(values, 9)


def one_sample(values: Values, against: float) -> Statistic:
    """Student's t of the mean against a value."""
    name = "one-sample t"
    if not varies(values):
        return _none(name, values.size > 1)
    error = float(values.std(ddof=1)) / sqrt(values.size)
    return of_estimate(float(values.mean()) - against, error, values.size - 1, name=name)


def two_sample(first: Values, other: Values) -> Statistic:
    """Student's t of two independent samples, equal variances."""
    name = "two-sample t"
    enough = min(first.size, other.size) > 1
    if not enough or not (varies(first) or varies(other)):
        return _none(name, enough)
    squares = sum(float(np.square(own - own.mean()).sum()) for own in (first, other))
    df = first.size + other.size - 2
    error = sqrt(squares / df * (1 / first.size + 1 / other.size))
    return of_estimate(float(first.mean() - other.mean()), error, df, name=name)


def paired_t(first: Values, other: Values) -> Statistic:
    """Student's t of differences within participants; same order and size, no value missing."""
    name = "paired t"
    if not varies(first - other):
        return _none(name, first.size > 1)
    return replace(one_sample(first - other, 0.0), test=name)


def signed_rank(values: Values, against: float = 0.0) -> Statistic:
    """Wilcoxon's signed rank test of values (or differences) against a value: exact for up to 50
    values without zeros and ties, else by the normal approximation."""
    name = "Wilcoxon signed rank"
    differences = round_for_ranks(values - against)
    if differences.size < 2 or not np.any(differences != 0):
        return _none(name, differences.size > 1)
    sizes = np.abs(differences)
    exact = sizes.size <= 50 and sizes.all() and np.unique(sizes).size == sizes.size
    # Left to itself, scipy goes through all signs where there are ties: seconds a test.
    test = scipy.stats.wilcoxon(differences, method="exact" if exact else "approx")
    how = "exact" if exact else "normal approximation, for ties, zeros or more than 50 values"
    return outcome(name, float(test.statistic), None, float(test.pvalue), why=how)


def rank_sum(first: Values, other: Values) -> Statistic:
    """Mann and Whitney's U of two independent samples."""
    name = "Mann-Whitney U"
    if min(first.size, other.size) < 2:
        return _none(name, False)
    test = scipy.stats.mannwhitneyu(round_for_ranks(first), round_for_ranks(other))
    return outcome(name, float(test.statistic), None, float(test.pvalue))


def normality(values: Values, size: float | None = None) -> Statistic:
    """Shapiro and Wilk's W: a small p says that the values are not normally distributed. size: see
    `varies`."""
    name = "Shapiro-Wilk W"
    if values.size > MOST_NORMAL:
        return outcome(name, why=f"there are more than {MOST_NORMAL:,} values")
    if values.size < 3 or not varies(values, size):
        return _none(name, values.size > 2)
    test = scipy.stats.shapiro(values)
    return outcome(name, float(test.statistic), None, float(test.pvalue))


def pearson(first: Values, other: Values) -> Statistic:
    name = "Pearson r"
    if first.size < 3 or not (varies(first) and varies(other)):
        return _none(name, first.size > 2)
    test = scipy.stats.pearsonr(first, other)
    return outcome(name, float(test.statistic), None, float(test.pvalue))


def spearman(first: Values, other: Values) -> Statistic:
    name = "Spearman rho"
    if first.size < 3 or not (varies(first) and varies(other)):
        return _none(name, first.size > 2)
    test = scipy.stats.spearmanr(round_for_ranks(first), round_for_ranks(other))
    return outcome(name, float(test.statistic), None, float(test.pvalue))


def holm(p: ArrayLike) -> Values:
    """Holm's corrected p of a family; NaN stays NaN and is not of the family."""
    given = np.asarray(p, np.float64)
    values = np.full(given.shape, np.nan)
    known = np.isfinite(given)
    values[known] = adjust(given[known], "holm")
    return values


def adjust(p: ArrayLike, method: str) -> list[float]:
    """p corrected for so many tests, as R's `p.adjust` has it."""
    values = np.asarray(p, np.float64)
    m = values.size
    if method == "none" or m == 0:
        return [float(value) for value in values]
    if method == "bonferroni":
        return [float(value) for value in np.minimum(1, values * m)]
    order = np.argsort(values, kind="stable")
    ranks = np.arange(1, m + 1)
    if method == "holm":
        steps = np.maximum.accumulate(values[order] * (m - ranks + 1))
    else:
        steps = np.minimum.accumulate((values[order] * m / ranks)[::-1])[::-1]
    result = np.empty(m)
    result[order] = np.minimum(1, steps)
    return [float(value) for value in result]


def clustered_interval(values: Values, clusters: Sequence[object]) -> Statistic:
    """95 % interval of the mean when values of one cluster (a set of photos) are alike.

    The variance of the mean is the cluster-robust one with the usual small-sample factor,
    G / (G - 1) · Σ_g (Σ_i∈g (x_i - mean))² / n², and t has G - 1 degrees of freedom; with clusters
    of equal size that is the error of the mean of the cluster means. Values are percentages: the
    interval is one of the logit of the mean, by the delta method, transformed back, so that it
    stays between 0 and 100 (Korn and Graubard 1999, Analysis of Health Surveys, section 2.7).
    """
    name = "95 % interval, clustered by set, of the logit"
    names = sorted({str(cluster) for cluster in clusters})
    if len(names) < 2:
        return outcome(name, why="there are fewer than two clusters")
    off = values - values.mean()
    labels = np.array([str(cluster) for cluster in clusters])
    sums = np.array([off[labels == name].sum() for name in names])
    count = len(names)
    error = float(np.sqrt(count / (count - 1) * float(np.square(sums).sum())) / values.size)
    share = float(values.mean()) / 100
    if not 0 < share < 1:
        return outcome(name, why="every value is 0 %" if share <= 0 else "every value is 100 %")
    half = float(scipy.stats.t.ppf(0.975, count - 1)) * error / 100 / (share * (1 - share))
    middle = float(scipy.special.logit(share))
    low, high = (100 * float(scipy.special.expit(end)) for end in (middle - half, middle + half))
    return Statistic(test=name, df=count - 1, low=low, high=high)


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


def mauchly(covariance: Matrix, df: int) -> Statistic:
    """Mauchly's W of a covariance of orthonormal contrasts with df degrees of freedom; a small p
    says that the differences between conditions do not have the same variance.

    p by the chi-square approximation -(df - (2 d^2 + d + 2) / (6 d)) ln W with d (d + 1) / 2 - 1
    degrees of freedom, d contrasts (as SAS and SPSS; R adds a term of second order).
    """
    d = len(covariance)
    mean = float(np.trace(covariance)) / d
    if mean <= 0:
        return outcome(MAUCHLY, why=SAME)
    w = float(np.linalg.det(covariance / mean))
    if w <= 1e-12:
        return outcome(MAUCHLY, why=SINGULAR)
    factor = df - (2 * d * d + d + 2) / (6 * d)
    freedom = d * (d + 1) // 2 - 1
    p = float(scipy.stats.chi2.sf(-factor * np.log(min(w, 1.0)), freedom))
    return outcome(MAUCHLY, w, freedom, p)


def same_variances(samples: Sequence[Values]) -> Statistic:
    """Brown and Forsythe's (1974) test: Levene's with medians."""
    known = [sample for sample in samples if sample.size > 1]
    if len(known) < 2:
        return outcome(BROWN_FORSYTHE, why=FEW)
    away = [np.abs(sample - np.median(sample)) for sample in known]
    rest = np.concatenate([distances - distances.mean() for distances in away])
    if not varies(rest, max(float(np.abs(sample).max()) for sample in known)):
        return outcome(BROWN_FORSYTHE, why=SAME)
    test = scipy.stats.levene(*known, center="median")
    df_2 = sum(sample.size for sample in known) - len(known)
    return outcome(
        BROWN_FORSYTHE, float(test.statistic), len(known) - 1, float(test.pvalue), df_2=df_2
    )


def friedman(values: Matrix) -> Statistic:
    """Friedman's test within participants, of three conditions or more."""
    n, k = values.shape
    if k < 3 or n < 2:
        return outcome(FRIEDMAN, why="it needs three conditions or more" if k < 3 else FEW)
    levels = round_for_ranks(values)
    if not np.ptp(levels, axis=1).any():
        return outcome(FRIEDMAN, why=SAME)
    test = scipy.stats.friedmanchisquare(*levels.T)
    return outcome(FRIEDMAN, float(test.statistic), k - 1, float(test.pvalue))


def kruskal(samples: Sequence[Values]) -> Statistic:
    """Kruskal and Wallis's test of independent samples."""
    known = [round_for_ranks(sample) for sample in samples if sample.size]
    if len(known) < 2:
        return outcome(KRUSKAL, why=FEW_CONDITIONS)
    if not varies(np.concatenate(known)):
        return outcome(KRUSKAL, why=SAME)
    test = scipy.stats.kruskal(*known)
    return outcome(KRUSKAL, float(test.statistic), len(known) - 1, float(test.pvalue))


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
    """A standardised effect with its interval, of 95 %, of eta squared of 90 %; name: which
    (Hedges' g, partial eta squared)."""

    name: str
    value: float
    low: float | None
    high: float | None

    @property
    def cells(self) -> dict[str, Any]:
        """As cells of a row."""
        return {
            "effect_name": self.name,
            "effect": self.value,
            "effect_low": self.low,
            "effect_high": self.high,
        }


def standardise_effect(name: str, value: float, t: float, df: float, scale: float) -> Effect:
    """An effect with the interval of the noncentrality of its t; scale: a t times it is the effect.
    Hedges' g has its correction for small samples here, of more than one degree of freedom."""
    factor = 1.0
    if name == HEDGES:
        factor = exp(lgamma(df / 2) - lgamma((df - 1) / 2)) / sqrt(df / 2)
    low, high = (None if end is None else factor * end * scale for end in t_interval(t, df))
    return Effect(name, factor * value, low, high)


def hedges_g(first: Values, other: Values) -> Effect | None:
    """Hedges' (1981) g of two independent samples: the difference of their means in pooled standard
    deviations, corrected for small samples. None if they have fewer than two values or do not
    vary."""
    test = two_sample(first, other)
    if test.p is None or test.statistic is None or test.df is None:
        return None
    scale = sqrt(1 / first.size + 1 / other.size)
    return standardise_effect(HEDGES, test.statistic * scale, test.statistic, test.df, scale)


def d_z(differences: Values) -> Effect | None:
    """Cohen's (1988) d_z of paired samples: the mean difference in standard deviations of the
    differences. None if there are fewer than two or they do not vary."""
    if not varies(differences):
        return None
    scale = 1 / sqrt(differences.size)
    t = float(differences.mean() / differences.std(ddof=1)) / scale
    return standardise_effect(PAIRED, t * scale, t, differences.size - 1, scale)


def t_interval(t: float, df: float) -> tuple[float | None, float | None]:
    """Ends of the 95 % interval of the noncentrality of a t."""
    size = abs(t) if abs(t) > TINY else 0.0

    def share(at: float) -> float:
        # It is at least the normal share below -at, and cannot be computed far out.
        return 1.0 if at < SURE else float(scipy.special.nctdtr(df, at, size))

    step = sqrt(1 + size**2 / (2 * df))  # about the spread of a t around its noncentrality
    low = _end(share, LOW, size, -step)
    high = _end(share, HIGH, size, step)
    if t >= 0:
        return low, high
    return None if high is None else -high, None if low is None else -low


def f_interval(f: float, df: float, df_error: float) -> tuple[float | None, float | None]:
    """Ends of the 90 % interval of the noncentrality of an F; 0 if even that is too much. An F
    has one side: this interval lacks 0 exactly where p < .05 (Steiger, 2004)."""

    def share(at: float) -> float:
        return float(
            scipy.stats.ncf.cdf(f, df, df_error, at) if at else scipy.stats.f.cdf(f, df, df_error)
        )

    step = 1 + f * df
    low, high = (
        0.0 if share(0.0) <= wanted else _end(share, wanted, 0.0, step)
        for wanted in (GIVEN, 1 - GIVEN)
    )
    return low, high


def _end(share: Callable[[float], float], wanted: float, start: float, step: float) -> float | None:
    """The noncentrality with the share wanted: from a start in steps until it is passed, and then
    between the last two; None if the distribution cannot be computed so far out."""
    sign = np.sign(share(start) - wanted)
    before = start
    for _ in range(STEPS):
        after = before + step
        result = share(after)
        if not np.isfinite(result):
            return None
        if np.sign(result - wanted) != sign:
            low, high = sorted((before, after))
            return float(
                scipy.optimize.brentq(lambda at: share(at) - wanted, low, high, xtol=1e-10)
            )
        before = after
    return None
