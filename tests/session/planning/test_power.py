"""Power by resampling: the tests are scipy's and statsmodels', and so is power on normal data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.anova import AnovaRM
from statsmodels.stats.power import FTestAnovaPower, TTestIndPower, TTestPower

from labapp.analysis.design import anova
from labapp.analysis.design.layout import cell_weights, wide
from labapp.session.planning.power import (
    ALL,
    PlannedTest,
    SimulatedPool,
    _counts,
    _p,
    _terms,
    between_tests,
    curves,
    effects,
    normal_power,
    p_values,
    power,
    within_tests,
)
from tests.analysis.design import frames

MODELS = ("s/ae", "s/vae", "s/gt")


@pytest.fixture
def rng() -> np.random.Generator:
    """Of each test its own: what it draws does not depend on the tests before it."""
    return np.random.default_rng(20)


def paired(values: np.ndarray, weights: np.ndarray | None = None) -> SimulatedPool:
    size = len(values)
    given = np.full(size, 1 / size) if weights is None else weights
    tests = within_tests(MODELS[: values.shape[1]])
    return SimulatedPool("metric", tests, values, np.zeros(size, np.intp), given)


def unpaired(samples: list[np.ndarray]) -> SimulatedPool:
    """A participant a row, with a value of one model."""
    groups = np.repeat(np.arange(len(samples)), [len(sample) for sample in samples])
    values = np.concatenate(samples)[:, None]
    tests = between_tests(MODELS[: len(samples)])
    return SimulatedPool("metric", tests, values, groups, np.full(len(values), 1 / len(values)))


def test_each_drawn_study_is_tested_as_scipy_and_statsmodels_would(
    rng: np.random.Generator,
) -> None:
    pool = paired(rng.normal(size=(12, 3)) + np.array([0, 0.5, 1]))
    names = [test.name for test in pool.tests]
    assert names == [ALL, "s/ae – s/vae", "s/ae – s/gt", "s/vae – s/gt"]
    p = p_values(pool, 8, 5, np.random.default_rng(1))
    counts = _counts(pool.weights, 8, 5, np.random.default_rng(1)).astype(int)
    assert (counts.sum(axis=1) == 8).all()
    for found, times in zip(p, counts, strict=True):
        drawn = np.repeat(pool.values, times, axis=0)
        pairs = [(0, 1), (0, 2), (1, 2)]
        expected = [stats.ttest_rel(drawn[:, a], drawn[:, b]).pvalue for a, b in pairs]
        np.testing.assert_allclose(found[1:], expected, rtol=1e-6)
        long = pd.DataFrame(
            [(who, at, x) for who, row in enumerate(drawn) for at, x in enumerate(row)],
            columns=["who", "model", "value"],
        )
        table = AnovaRM(long, "value", "who", within=["model"]).fit().anova_table
        assert found[0] == pytest.approx(float(table["Pr > F"].iloc[0]), rel=1e-6)


def test_independent_samples_are_tested_with_pooled_variance(rng: np.random.Generator) -> None:
    pool = unpaired([rng.normal(mean, 1, 9) for mean in (0, 0.4, 0.8)])
    p = p_values(pool, 7, 4, np.random.default_rng(2))
    again = np.random.default_rng(2)
    counts = [_counts(np.full(9, 1 / 27), 7, 4, again).astype(int) for _ in range(3)]
    for study, found in enumerate(p):
        samples = [
            np.repeat(pool.values[9 * at : 9 * at + 9, 0], counts[at][study]) for at in range(3)
        ]
        expected = [
            stats.f_oneway(*samples).pvalue,
            *(stats.ttest_ind(samples[a], samples[b]).pvalue for a, b in ((0, 1), (0, 2), (1, 2))),
        ]
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("n", [5, 12, 30])
def test_power_on_normal_data_is_that_of_statsmodels(rng: np.random.Generator, n: int) -> None:
    big, draws = 20_000, 1500
    within = paired(np.column_stack([np.zeros(big), rng.normal(0.6, 1, big)]))
    between = unpaired([rng.normal(0, 1, big), rng.normal(0.6, 1, big)])
    several = unpaired([rng.normal(mean, 1, big // 2) for mean in (0, 0.3, 0.6)])
    error = 4 * 0.5 / np.sqrt(draws)  # of a share, four standard errors at most
    level = 0.05
    found = power(within, n, (level,), draws, 3)[0, 0]
    assert found == pytest.approx(TTestPower().power(0.6, n, level), abs=error)
    found = power(between, n, (level,), draws, 3)[0, 0]
    assert found == pytest.approx(TTestIndPower().power(0.6, n, level), abs=error)
    found = power(several, n, (level,), draws, 3)[0, 0]
    f = float(np.std([0, 0.3, 0.6]))
    expected = FTestAnovaPower().power(f, 3 * n, level, k_groups=3)
    assert found == pytest.approx(expected, abs=error)
    for pool in (within, between, several):
        normal = normal_power(pool.tests[0], pool, n, level)
        assert normal == pytest.approx(power(pool, n, (level,), draws, 3)[0, 0], abs=error)


def test_the_repeated_analysis_has_the_power_of_the_noncentral_f(rng: np.random.Generator) -> None:
    pool = paired(rng.normal(size=(20_000, 3)) + np.array([0, 0.3, 0.6]))
    (effect, *_) = effects(pool)
    assert effect.name == "f"
    assert effect.value == pytest.approx(float(np.std([0, 0.3, 0.6])), abs=0.02)
    expected = normal_power(pool.tests[0], pool, 15, 0.05)
    assert power(pool, 15, (0.05,), 1500, 1)[0, 0] == pytest.approx(expected, abs=0.05)


def test_what_does_not_vary_is_never_significant() -> None:
    pool = paired(np.tile([0.2, 1.0, 1.0], (6, 1)))
    assert np.isnan(p_values(pool, 5, 3, np.random.default_rng(0))).all()
    assert power(pool, 5, (0.05, 0.01), 10, 0).tolist() == [[0] * 4, [0] * 4]
    assert {one.value for one in effects(pool)} == {None}
    assert normal_power(pool.tests[1], pool, 10, 0.05) is None
    constant = unpaired([np.ones(4), np.zeros(4)])
    assert power(constant, 4, (0.05,), 10, 0).tolist() == [[0]]


def test_participants_without_weight_are_never_drawn(rng: np.random.Generator) -> None:
    values = np.vstack([rng.normal(size=(10, 2)), np.full((10, 2), 1e9)])
    weights = np.repeat([0.1, 0.0], 10)
    counts = _counts(weights, 50, 200, np.random.default_rng(4))
    assert counts[:, 10:].sum() == 0
    assert counts[:, :10].sum() == 50 * 200
    assert (counts[:, :10].sum(axis=0) > 800).all()
    assert power(paired(values, np.zeros(20)), 5, (0.05,), 5, 0).tolist() == [[0]]


def test_gaps_are_left_out_and_more_participants_find_more(rng: np.random.Generator) -> None:
    values = rng.normal(size=(40, 2)) + np.array([0, 1.2])
    values[::7, 0] = np.nan
    found = curves(paired(values), (5, 12, 30), (0.05, 0.001), 400, 2)
    assert found.shape == (3, 2, 1)
    assert (np.diff(found[:, :, 0], axis=0) > 0).all()
    assert (found[:, 0] > found[:, 1]).all()


def test_a_mixed_design_is_tested_as_the_analysis_tests_it(rng: np.random.Generator) -> None:
    """Terms, contrasts, directions and equivalence are those of `labapp analyze`."""
    names = "gha"
    data = frames.frame(names, 24, 5)
    layout = frames.layout(names)
    whole = wide(data, layout)
    model = anova.variance(whole)
    assert isinstance(model, anova.Variance)
    codes = whole.groups[:, 0] * 3 + whole.groups[:, 1]
    pair = anova.pairs(layout.factors)[0]
    directed = anova.Comparison("a", {"a": {"a0": 1.0, "a2": -1.0}}, "less")
    tests = (*_terms(layout.within, layout.between), *(
        PlannedTest(
            comparison.name,
            cell_weights(layout.within, comparison.weights)[:, None],
            cell_weights(layout.between, comparison.weights)[None, :],
            direction, bound=1.5,
        )
        for comparison, direction in ((pair, "two-sided"), (directed, "less"), (pair, "equivalent"))
    ))  # fmt: skip
    pool = SimulatedPool("metric", tests, whole.values, codes, np.ones(len(codes)))
    everybody = [
        (own := np.flatnonzero(codes == group), np.ones((1, own.size))) for group in range(6)
    ]
    ours = [float(_p(test, pool.values, everybody)[0]) for test in tests]
    terms = {frozenset(term.factors): term.plain.p for term in model.terms()}
    expected = [
        terms[frozenset(test.name.removeprefix("F, ").split(" × "))] for test in tests[: len(terms)]
    ]
    compared = [anova.compare(model, each, layout.factors)[0] for each in (pair, directed)]
    estimate = model.estimate(pair.weights)
    assert isinstance(estimate, anova.Estimate)
    equal = anova.equivalence(pair, estimate, 1.5)
    expected += [*(row.p for row in compared), equal.p]
    assert ours == pytest.approx(expected, rel=1e-9)
