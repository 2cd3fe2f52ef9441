"""Tests and intervals for small samples, each as scipy has it; where one has no value, it says so.

All tests are two-sided. Nothing here warns: a sample that does not vary has no t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a test says. test: its name; df: degrees of freedom of a t or chi-square, or of the
    numerator of an F; df_2: of its denominator; low, high: of an interval. None where there is no
    value, and then `why` says the reason."""

    test: str
    statistic: float | None = None
    df: float | None = None
    p: float | None = None
    low: float | None = None
    high: float | None = None
    df_2: float | None = None
    why: str = ""


def values_of(values: ArrayLike) -> Values:
    """Plain floats, those that are missing left out."""
    given = np.asarray(values, dtype=np.float64)
    return given[~np.isnan(given)]


def mean(values: Values) -> float | None:
    return float(values.mean()) if values.size else None


def sd(values: Values) -> float | None:
    """Sample standard deviation; None for fewer than two values."""
    return float(values.std(ddof=1)) if values.size > 1 else None


def varies(values: Values) -> bool:
    """Whether there is anything to test: two values that differ by more than rounding."""
    return values.size > 1 and float(np.ptp(values)) > 1e-9 * max(1.0, float(np.abs(values).max()))


def _none(test: str, enough: bool) -> Outcome:
    """No value: the values do not vary, or there are not enough."""
    return Outcome(test, why=SAME if enough else FEW)


def levelled(values: Values) -> Values:
    """Rounded, for tests by ranks: thirds of a hundred that were computed in two ways are a tie."""
    return np.round(values, 9)


def one_sample(values: Values, against: float) -> Outcome:
    """Student's t of the mean against a value."""
    name = "one-sample t"
    if not varies(values):
        return _none(name, values.size > 1)
    test = stats.ttest_1samp(values, against)
    return Outcome(name, float(test.statistic), values.size - 1, float(test.pvalue))


def two_sample(first: Values, other: Values) -> Outcome:
    """Student's t of two independent samples, equal variances."""
    name = "two-sample t"
    enough = min(first.size, other.size) > 1
    if not enough or not (varies(first) or varies(other)):
        return _none(name, enough)
    # From the moments: of a sample that does not vary, scipy warns, though the test has a value.
    moments = [(float(s.mean()), float(s.std(ddof=1)), s.size) for s in (first, other)]
    test = stats.ttest_ind_from_stats(*moments[0], *moments[1])
    df = first.size + other.size - 2
    return Outcome(name, float(test.statistic), df, float(test.pvalue))


def paired(first: Values, other: Values) -> Outcome:
    """Student's t of differences within participants; same order and size, no value missing."""
    name = "paired t"
    if not varies(first - other):
        return _none(name, first.size > 1)
    test = stats.ttest_rel(first, other)
    return Outcome(name, float(test.statistic), first.size - 1, float(test.pvalue))


def signed_rank(values: Values, against: float = 0.0) -> Outcome:
    """Wilcoxon's signed rank test of values (or differences) against a value: exact for up to 50
    values without zeros and ties, else by the normal approximation."""
    name = "Wilcoxon signed rank"
    differences = levelled(values - against)
    if differences.size < 2 or not np.any(differences != 0):
        return _none(name, differences.size > 1)
    sizes = np.abs(differences)
    exact = sizes.size <= 50 and sizes.all() and np.unique(sizes).size == sizes.size
    # Left to itself, scipy goes through all signs where there are ties: seconds a test.
    test = stats.wilcoxon(differences, method="exact" if exact else "approx")
    how = "exact" if exact else "normal approximation, for ties, zeros or more than 50 values"
    return Outcome(name, float(test.statistic), None, float(test.pvalue), why=how)


def rank_sum(first: Values, other: Values) -> Outcome:
    """Mann and Whitney's U of two independent samples."""
    name = "Mann-Whitney U"
    if min(first.size, other.size) < 2:
        return _none(name, False)
    test = stats.mannwhitneyu(levelled(first), levelled(other))
    return Outcome(name, float(test.statistic), None, float(test.pvalue))


def normality(values: Values) -> Outcome:
    """Shapiro and Wilk's W: a small p says that the values are not normally distributed."""
    name = "Shapiro-Wilk W"
    if values.size > MOST_NORMAL:
        return Outcome(name, why=f"there are more than {MOST_NORMAL:,} values")
    if values.size < 3 or not varies(values):
        return _none(name, values.size > 2)
    test = stats.shapiro(values)
    return Outcome(name, float(test.statistic), None, float(test.pvalue))


def pearson(first: Values, other: Values) -> Outcome:
    name = "Pearson r"
    if first.size < 3 or not (varies(first) and varies(other)):
        return _none(name, first.size > 2)
    test = stats.pearsonr(first, other)
    return Outcome(name, float(test.statistic), None, float(test.pvalue))


def spearman(first: Values, other: Values) -> Outcome:
    name = "Spearman rho"
    if first.size < 3 or not (varies(first) and varies(other)):
        return _none(name, first.size > 2)
    test = stats.spearmanr(levelled(first), levelled(other))
    return Outcome(name, float(test.statistic), None, float(test.pvalue))


def holm(p: ArrayLike) -> Values:
    """Holm's corrected p of a family; NaN stays NaN and is not of the family."""
    from statsmodels.stats.multitest import multipletests

    given = np.asarray(p, np.float64)
    values = np.full(given.shape, np.nan)
    known = np.isfinite(given)
    if known.any():
        values[known] = multipletests(given[known], method="holm")[1]
    return values


def clustered_interval(values: Values, clusters: Sequence[object]) -> Outcome:
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
        return Outcome(name, why="there are fewer than two clusters")
    off = values - values.mean()
    labels = np.array([str(cluster) for cluster in clusters])
    sums = np.array([off[labels == name].sum() for name in names])
    count = len(names)
    error = float(np.sqrt(count / (count - 1) * float(np.square(sums).sum())) / values.size)
    share = float(values.mean()) / 100
    if not 0 < share < 1:
        return Outcome(name, why="every value is 0 %" if share <= 0 else "every value is 100 %")
    half = float(stats.t.ppf(0.975, count - 1)) * error / 100 / (share * (1 - share))
    middle = float(special.logit(share))
    low, high = (100 * float(special.expit(end)) for end in (middle - half, middle + half))
    return Outcome(name, None, count - 1, None, low, high)
