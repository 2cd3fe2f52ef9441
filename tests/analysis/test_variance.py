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

from labapp.analysis import inference
from labapp.analysis.design import anova
from labapp.analysis.inference import FEW, SAME, Matrix, Values

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


def table(values: Matrix) -> anova.Term:
    """The engine's line of conditions within participants."""
    model = anova.of_one_factor(values)
    assert not isinstance(model, str)
    (term,) = model.terms()
    return term


def one_way(*samples: Values) -> anova.Term:
    """The same of independent samples."""
    groups = np.repeat(np.arange(len(samples)), [sample.size for sample in samples])
    model = anova.of_one_factor(np.concatenate(samples), groups)
    assert not isinstance(model, str)
    (term,) = model.terms()
    return term


@pytest.mark.parametrize(("n", "k"), [(2, 2), (5, 3), (15, 3), (12, 7)])
def test_repeated_measures_are_those_of_statsmodels(n: int, k: int) -> None:
    values = drawn(n, k)
    term = table(values)
    expected = AnovaRM(long(values), "value", "person", within=["condition"]).fit().anova_table
    assert term.plain.statistic == pytest.approx(expected["F Value"].item())
    assert term.plain.p == pytest.approx(expected["Pr > F"].item())
    assert (term.plain.df, term.plain.df_2) == (k - 1, (k - 1) * (n - 1))
    whole = np.square(values - values.mean()).sum()
    people = k * np.square(values.mean(axis=1) - values.mean()).sum()
    assert term.squares + people + term.error == pytest.approx(whole)
    assert term.generalised is not None
    assert term.generalised.effect == pytest.approx(term.squares / whole)


def test_one_way_is_that_of_scipy_with_groups_of_any_size() -> None:
    samples = [drawn(n, 1, seed=n)[:, 0] for n in (4, 9, 1)]
    term = one_way(*samples)
    expected = stats.f_oneway(*samples)
    assert (term.plain.statistic, term.plain.p) == pytest.approx(tuple(expected))
    assert (term.plain.df, term.plain.df_2) == (2, 11)
    assert term.generalised is not None
    assert term.generalised.effect == pytest.approx(term.plain.effect)


def test_sphericity_as_published() -> None:
    """pingouin 0.5: W = 0.21, chi-square 4.677, p = .096, epsilon .5588."""
    term = table(FIVE)
    assert term.sphericity is not None
    assert term.sphericity.statistic == pytest.approx(0.21037, abs=1e-5)
    assert term.sphericity.p == pytest.approx(0.09649, abs=1e-5)
    assert term.sphericity.df == 2
    assert term.corrected is not None
    assert term.corrected.epsilon == pytest.approx(0.55877546)


def test_sphericity_of_four_conditions_as_published() -> None:
    """The example of `MauchlySphericityTest` in R's superb: p = .5824."""
    columns = [[3, 6, 2, 2, 5], [4, 5, 4, 4, 3], [2, 7, 7, 8, 6], [6, 8, 4, 6, 5]]
    sphericity = table(np.array(columns, dtype=np.float64).T).sphericity
    assert sphericity is not None
    assert sphericity.p == pytest.approx(0.5824, abs=5e-5)


def test_sphericity_of_the_irises_as_published() -> None:
    """Matlab's `mauchly` of measurements by species: W = .55814, 5 df, p = 7.6149e-17."""
    data = load_iris()
    species = [data.data[data.target == one] for one in range(3)]
    rest = np.vstack([one - one.mean(axis=0) for one in species])
    contrasts = rest @ anova.orthonormal(rest.shape[1])
    sphericity = inference.mauchly(contrasts.T @ contrasts / (len(rest) - 3), len(rest) - 3)
    assert sphericity.statistic == pytest.approx(0.55814, abs=5e-6)
    assert sphericity.p == pytest.approx(7.6149e-17, rel=1e-4)
    assert sphericity.df == 5


def test_correction_for_sphericity_shrinks_both_degrees_of_freedom() -> None:
    term = table(FIVE)
    corrected = term.corrected
    shrink = 0.5587754577585018
    assert corrected is not None
    assert corrected.statistic == term.plain.statistic
    assert (corrected.df, corrected.df_2) == pytest.approx((2 * shrink, 8 * shrink))
    assert corrected.p == pytest.approx(stats.f.sf(corrected.statistic, 2 * shrink, 8 * shrink))
    assert table(drawn(6, 2)).corrected is None


def test_equal_variances_and_ranks_are_those_of_scipy_and_statsmodels() -> None:
    samples = [drawn(n, 1, seed=n)[:, 0] * n for n in (4, 9, 6)]
    found = inference.same_variances(samples)
    assert (found.statistic, found.p) == pytest.approx(tuple(stats.levene(*samples)))
    away = [np.abs(one - np.median(one)) for one in samples]
    assert found.p == pytest.approx(anova_oneway(away, use_var="equal").pvalue)
    ranks = inference.kruskal(samples)
    assert (ranks.statistic, ranks.p) == pytest.approx(tuple(stats.kruskal(*samples)))
    values = drawn(7, 4)
    within = inference.friedman(values)
    expected = stats.friedmanchisquare(*values.T)
    assert (within.statistic, within.p) == pytest.approx(tuple(expected))


def test_what_has_no_value_says_why_and_does_not_warn() -> None:
    same, one = np.full((5, 3), 2.0), drawn(1, 3)
    dependent = np.column_stack([drawn(6, 1)[:, 0]] * 3) + np.arange(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for values in (same, dependent):
            term = table(values)
            assert term.plain.why == SAME
            assert term.corrected is term.sphericity is None
        assert anova.of_one_factor(one) == FEW
        assert (unsure := table(drawn(2, 3)).sphericity) is not None
        assert unsure.why == FEW
        assert (always := table(drawn(6, 2)).sphericity) is not None
        assert always.why == inference.TWO_CONDITIONS
        twice = drawn(6, 2)
        linear = np.column_stack([twice, 2 * twice[:, 1] - twice[:, 0]])
        assert (singular := table(linear).sphericity) is not None
        assert singular.why == inference.SINGULAR
        assert one_way(*same.T).plain.why == SAME
        assert anova.of_one_factor(same[0, :2], np.array([0, 1])) == FEW
        assert inference.same_variances(list(same.T)).why == SAME
        assert inference.same_variances([same[0], same[1, :1]]).why == FEW
        assert inference.friedman(same).why == SAME
        assert inference.friedman(one).why == FEW
        assert inference.kruskal(list(same.T)).why == SAME
        assert inference.kruskal([same[0]]).why == inference.FEW_CONDITIONS
