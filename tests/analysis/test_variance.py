"""Analyses of variance and checks against statsmodels, scipy and published examples."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_iris
from statsmodels.stats.anova import AnovaRM
from statsmodels.stats.oneway import anova_oneway

from labapp.analysis import variance
from labapp.analysis.inference import FEW, SAME
from labapp.analysis.variance import Matrix

FIVE = np.array(
    [[2.2, 1.1, 8.2], [3.1, 2.5, 4.5], [4.3, 4.1, 3.4], [4.1, 5.2, 6.2], [7.2, 6.4, 7.2]]
)
"""The example of pingouin's `sphericity` and `epsilon`."""


def drawn(n: int, k: int, seed: int = 1) -> Matrix:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 1)) + rng.normal(size=(n, k)) + 0.3 * np.arange(k)


def long(values: Matrix) -> pd.DataFrame:
    n, k = values.shape
    person, condition = np.indices((n, k))
    columns = {"person": person.ravel(), "condition": condition.ravel(), "value": values.ravel()}
    return pd.DataFrame(columns)


@pytest.mark.parametrize(("n", "k"), [(2, 2), (5, 3), (15, 3), (12, 7)])
def test_repeated_measures_are_those_of_statsmodels(n: int, k: int) -> None:
    values = drawn(n, k)
    found, sums = variance.repeated(values)
    expected = AnovaRM(long(values), "value", "person", within=["condition"]).fit().anova_table
    assert found.statistic == pytest.approx(expected["F Value"].item())
    assert found.p == pytest.approx(expected["Pr > F"].item())
    assert (found.df, found.df_2) == (k - 1, (k - 1) * (n - 1))
    assert sums is not None
    whole = np.square(values - values.mean()).sum()
    assert sums.conditions + sums.participants + sums.error == pytest.approx(whole)


def test_one_way_is_that_of_scipy_with_groups_of_any_size() -> None:
    samples = [drawn(n, 1, seed=n)[:, 0] for n in (4, 9, 1)]
    found, _ = variance.one_way([*samples, np.array([])])
    expected = stats.f_oneway(*samples)
    assert (found.statistic, found.p) == pytest.approx(tuple(expected))
    assert (found.df, found.df_2) == (2, 11)


def test_sphericity_as_published() -> None:
    """pingouin 0.5: W = 0.21, chi-square 4.677, p = .096, epsilon .5588."""
    found = variance.sphericity(FIVE)
    assert found.statistic == pytest.approx(0.21037, abs=1e-5)
    assert found.p == pytest.approx(0.09649, abs=1e-5)
    assert found.df == 2
    assert variance.epsilon(variance.covariance_of_contrasts(FIVE)) == pytest.approx(0.55877546)


def test_sphericity_of_four_conditions_as_published() -> None:
    """The example of `MauchlySphericityTest` in R's superb: p = .5824."""
    columns = [[3, 6, 2, 2, 5], [4, 5, 4, 4, 3], [2, 7, 7, 8, 6], [6, 8, 4, 6, 5]]
    found = variance.sphericity(np.array(columns, dtype=np.float64).T)
    assert found.p == pytest.approx(0.5824, abs=5e-5)


def test_sphericity_of_the_irises_as_published() -> None:
    """Matlab's `mauchly` of measurements by species: W = .55814, 5 df, p = 7.6149e-17."""
    data = load_iris()
    species = [data.data[data.target == one] for one in range(3)]
    rest = np.vstack([one - one.mean(axis=0) for one in species])
    covariance = variance.covariance_of_contrasts(rest) * (len(rest) - 1) / (len(rest) - 3)
    found = variance.mauchly(covariance, len(rest) - 3)
    assert found.statistic == pytest.approx(0.55814, abs=5e-6)
    assert found.p == pytest.approx(7.6149e-17, rel=1e-4)
    assert found.df == 5


def test_correction_for_sphericity_shrinks_both_degrees_of_freedom() -> None:
    plain, _ = variance.repeated(FIVE)
    found = variance.corrected(FIVE)
    shrink = 0.5587754577585018
    assert found.statistic == plain.statistic
    assert (found.df, found.df_2) == pytest.approx((2 * shrink, 8 * shrink))
    assert found.p == pytest.approx(stats.f.sf(found.statistic, 2 * shrink, 8 * shrink))
    two = drawn(6, 2)
    assert variance.corrected(two).p == pytest.approx(variance.repeated(two)[0].p)


def test_equal_variances_and_ranks_are_those_of_scipy_and_statsmodels() -> None:
    samples = [drawn(n, 1, seed=n)[:, 0] * n for n in (4, 9, 6)]
    found = variance.same_variances(samples)
    assert (found.statistic, found.p) == pytest.approx(tuple(stats.levene(*samples)))
    away = [np.abs(one - np.median(one)) for one in samples]
    assert found.p == pytest.approx(anova_oneway(away, use_var="equal").pvalue)
    ranks = variance.kruskal(samples)
    assert (ranks.statistic, ranks.p) == pytest.approx(tuple(stats.kruskal(*samples)))
    values = drawn(7, 4)
    within = variance.friedman(values)
    expected = stats.friedmanchisquare(*values.T)
    assert (within.statistic, within.p) == pytest.approx(tuple(expected))


def test_what_has_no_value_says_why_and_does_not_warn() -> None:
    same, one = np.full((5, 3), 2.0), drawn(1, 3)
    dependent = np.column_stack([drawn(6, 1)[:, 0]] * 3) + np.arange(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for values, why in ((same, SAME), (one, FEW), (dependent, SAME)):
            assert variance.repeated(values)[0].why == why
            assert variance.corrected(values).why == why
        assert variance.sphericity(same).why == SAME
        assert variance.sphericity(one).why == FEW
        assert variance.sphericity(drawn(6, 2)).why == variance.TWO_CONDITIONS
        twice = drawn(6, 2)
        linear = np.column_stack([twice, 2 * twice[:, 1] - twice[:, 0]])
        assert variance.sphericity(linear).why == variance.SINGULAR
        assert variance.one_way(list(same.T))[0].why == SAME
        assert variance.one_way([same[0]])[0].why == variance.FEW_CONDITIONS
        assert variance.one_way([same[0, :1], same[1, :1]])[0].why == FEW
        assert variance.same_variances(list(same.T)).why == SAME
        assert variance.same_variances([same[0], same[1, :1]]).why == FEW
        assert variance.friedman(same).why == SAME
        assert variance.friedman(one).why == FEW
        assert variance.kruskal(list(same.T)).why == SAME
        assert variance.kruskal([same[0]]).why == variance.FEW_CONDITIONS
