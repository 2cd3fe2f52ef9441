"""Tests, effects and intervals, against scipy, statsmodels and published examples."""

from __future__ import annotations

import warnings
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats
from sklearn.datasets import load_iris
from statsmodels.stats.anova import AnovaRM
from statsmodels.stats.meta_analysis import effectsize_smd
from statsmodels.stats.oneway import anova_oneway

from labapp.analysis import bootstrap, inference
from labapp.analysis.declared import read_declaration
from labapp.analysis.design import anova
from labapp.analysis.design.analyses import analyse
from labapp.analysis.inference import FEW, SAME, Matrix, Values, values_of
from labapp.analysis.statistic import STATISTICS, Statistic, select
from labapp.analysis.tables import Tables
from tests.analysis.design.studies import MODELS, study
from tests.analysis.design.test_analyses import AGAINST, declared
from tests.analysis.design.test_r_script import STUDIES, tables_of
from tests.helpers.nightly import examples
from tests.helpers.one_test import faults

INFERENCE_SAME = np.full(6, 100.0)

OTHERS = np.array([20.0, 40.0, 30.0, 50.0, 40.0])


def test_what_does_not_vary_has_no_value_and_does_not_warn() -> None:
    for outcome in (
        inference.one_sample(INFERENCE_SAME, 25.0),
        inference.two_sample(INFERENCE_SAME, INFERENCE_SAME[:3]),
        inference.paired_t(INFERENCE_SAME, INFERENCE_SAME - 10),
        inference.signed_rank(INFERENCE_SAME, 100.0),
        inference.normality(INFERENCE_SAME),
        inference.pearson(INFERENCE_SAME, np.arange(6.0)),
        inference.spearman(INFERENCE_SAME, np.arange(6.0)),
    ):
        assert (outcome.statistic, outcome.p) == (None, None), outcome.test


def test_one_group_that_does_not_vary_is_tested_against_one_that_does() -> None:
    found = inference.two_sample(INFERENCE_SAME, OTHERS)
    with pytest.warns(RuntimeWarning, match="Precision loss"):
        expected = stats.ttest_ind(INFERENCE_SAME, OTHERS)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.df == 9


@pytest.mark.parametrize("size", [0, 1])
def test_too_few_values(size: int) -> None:
    few = np.arange(float(size))
    for outcome in (
        inference.one_sample(few, 0.5),
        inference.two_sample(few, OTHERS),
        inference.signed_rank(few, 0.5),
        inference.rank_sum(few, OTHERS),
        inference.normality(few),
        inference.pearson(few, few),
        inference.clustered_interval(few, [1] * size),
    ):
        assert (outcome.p, outcome.low) == (None, None), outcome.test
    assert inference.sd(few) is None


def test_thirds_computed_in_two_ways_are_ties() -> None:
    one = np.array([100 / 3, 50 / 3, 25.0 + 1e-13, 50.0, 75.0])
    found = inference.signed_rank(one, 25.0)
    expected = stats.wilcoxon(np.round(one - 25, 9), method="approx")
    assert found.statistic == expected.statistic == 1.5


def test_values_that_are_missing_are_left_out() -> None:
    assert values_of([1.0, np.nan, 3.0]).tolist() == [1.0, 3.0]


@given(
    st.lists(
        st.tuples(st.integers(1, 4), st.floats(0, 100, allow_nan=False)), min_size=3, max_size=30
    )
)
def test_sessions_of_sets_of_their_own_have_the_usual_interval(
    rows: list[tuple[int, float]],
) -> None:
    """With one session a set the clustered interval is the t interval of the mean's logit."""
    values = np.array([value for _, value in rows])
    found = inference.clustered_interval(values, list(range(len(rows))))
    share = values.mean() / 100
    if not 0 < share < 1:
        assert found.why in ("every value is 0 %", "every value is 100 %")
        return
    error = values.std(ddof=1) / np.sqrt(values.size) / 100 / (share * (1 - share))
    half = stats.t.ppf(0.975, values.size - 1) * error
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= values.mean() + 1e-9
    assert values.mean() - 1e-9 <= found.high <= 100
    ends = (special.expit(special.logit(share) + sign * half) for sign in (-1, 1))
    assert (found.low, found.high) == pytest.approx(tuple(100 * end for end in ends), abs=1e-6)


def test_everybody_is_drawn_as_often_as_there_are_participants() -> None:
    drawing = bootstrap.weights(62)
    assert drawing.shape == (bootstrap.DRAWS, 62)
    assert (drawing.sum(axis=1) == 62).all()
    assert bootstrap.DRAWS >= 2000
    assert (drawing == bootstrap.weights(62)).all()  # the same each time


@pytest.mark.parametrize("size", [0, 1])
def test_one_participant_has_no_interval(size: int) -> None:
    drawing = bootstrap.weights(size)
    assert drawing.shape == (0, size)
    found = bootstrap.ratio(drawing, np.ones((size, 3)), np.full((size, 3), 2.0))
    assert np.isnan(found.low).all()
    assert np.isnan(found.high).all()
    assert found.value.tolist() == pytest.approx([0.5] * 3 if size else [np.nan] * 3, nan_ok=True)


def test_a_mean_has_scipys_percentile_interval() -> None:
    values = np.random.default_rng(2).gamma(2.0, 3.0, 40)
    found = bootstrap.ratio(bootstrap.weights(40), values, np.ones(40))
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval
    assert float(found.value) == pytest.approx(values.mean())
    width = theirs.high - theirs.low
    assert float(found.low) == pytest.approx(theirs.low, abs=0.05 * width)
    assert float(found.high) == pytest.approx(theirs.high, abs=0.05 * width)


def test_participants_come_whole() -> None:
    # Each of ten always says the same: a hundred answers are worth ten.
    own = np.array([0, 1] * 5)
    found = bootstrap.ratio(bootstrap.weights(10), 10.0 * own, np.full(10, 10.0))
    alone = bootstrap.ratio(bootstrap.weights(10), 1.0 * own, np.ones(10))
    assert (float(found.low), float(found.high)) == (float(alone.low), float(alone.high))
    assert float(found.high) - float(found.low) > 0.5


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.floats(0, 5000, allow_nan=False)), min_size=1, max_size=40
    )
)
def test_medians_of_draws_are_numpys(given_values: list[tuple[int, float]]) -> None:
    owner = np.array([one for one, _ in given_values], np.int64)
    values = np.array([value for _, value in given_values])
    drawing = bootstrap.weights(5, draws=30)
    theirs = []
    for row in drawing.astype(int):
        repeated = np.repeat(values, row[owner])
        theirs.append(np.median(repeated) if repeated.size else np.nan)
    expected = bootstrap.interval(np.median(values), np.array(theirs))
    found = bootstrap.median(drawing, owner, values)
    assert float(found.value) == float(np.median(values))
    assert float(found.low) == pytest.approx(float(expected.low), nan_ok=True)
    assert float(found.high) == pytest.approx(float(expected.high), nan_ok=True)


def test_draws_without_a_value_are_left_out() -> None:
    draws = np.array([[0.0, np.nan], [1.0, np.nan], [np.nan, np.nan]])
    found = bootstrap.interval([0.5, np.nan], draws)
    assert found.low[0] == pytest.approx(0.025)
    assert np.isnan(found.low[1])
    assert np.isnan(found.high[1])


def samples(n: int, m: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(1, 1, n), rng.normal(0, 2, m)


@given(st.floats(-30, 30), st.integers(1, 200))
def test_ends_of_the_interval_of_a_t_have_their_shares(t: float, df: int) -> None:
    low, high = inference.t_interval(t, df)
    assert low is not None
    assert high is not None
    assert low < t < high
    t = t if abs(t) > 1e-9 else 0.0
    assert stats.nct.cdf(t, df, low) == pytest.approx(0.975, abs=1e-6)
    assert stats.nct.cdf(t, df, high) == pytest.approx(0.025, abs=1e-6)


@given(st.floats(0, 500), st.integers(1, 13), st.integers(2, 300))
def test_ends_of_the_interval_of_an_f_have_their_shares(f: float, df: int, error: int) -> None:
    low, high = inference.f_interval(f, df, error)
    assert low is not None
    assert high is not None
    assert 0 <= low <= high
    for end, share in ((low, 0.95), (high, 0.05)):
        if end > 0:
            assert stats.ncf.cdf(f, df, error, end) == pytest.approx(share, abs=1e-6)
        else:
            assert stats.f.cdf(f, df, error) <= share + 1e-9


def test_g_is_that_of_statsmodels() -> None:
    one, other = samples(12, 7)
    found = inference.hedges_g(one, other)
    assert found is not None
    expected, _ = effectsize_smd(
        one.mean(), one.std(ddof=1), one.size, other.mean(), other.std(ddof=1), other.size
    )
    # It has the approximate factor 1 - 3 / (4 N - 9), ours the exact one.
    assert found.value == pytest.approx(expected, rel=2e-3)
    t = stats.ttest_ind(one, other).statistic
    assert found.name == "Hedges' g"
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high
    scale = np.sqrt(12 * 7 / 19)
    exact = found.value / (t / scale)
    assert stats.nct.cdf(t, 17, found.low / exact * scale) == pytest.approx(0.975, abs=1e-6)


def test_d_z_and_its_interval_go_with_the_paired_t() -> None:
    one, other = samples(9, 9)
    apart = one - other
    found = inference.d_z(apart)
    t = stats.ttest_rel(one, other).statistic
    assert found is not None
    assert found.value == pytest.approx(t / 3)
    assert found.low is not None
    assert stats.nct.cdf(t, 8, found.low * 3) == pytest.approx(0.975, abs=1e-6)
    turned = inference.d_z(-apart)
    assert turned is not None
    assert (turned.low, turned.high) == pytest.approx((-(found.high or 0), -found.low))


def test_an_interval_of_eta_squared_as_published() -> None:
    """Smithson (2001, Educational and Psychological Measurement 61, p. 619): F(3, 20) is not
    printed with data here; the definition: noncentrality / (noncentrality + df + df_error + 1)."""
    # Squares of 30 between three groups of ten and of 50 within them.
    within = np.tile([1.0, -1.0], 5) * np.sqrt(50 / 30)
    values = np.concatenate([within + np.sqrt(1.5) * mean for mean in (-1, 0, 1)])
    model = anova.of_one_factor(values, np.repeat([0, 1, 2], 10))
    assert not isinstance(model, str)
    (term,) = model.terms()
    assert (term.squares, term.error) == pytest.approx((30, 50))
    eta = term.plain
    assert eta.effect == pytest.approx(30 / 80)
    assert term.generalised is not None
    assert term.generalised.effect == pytest.approx(eta.effect)
    for end, share in ((eta.effect_low, 0.95), (eta.effect_high, 0.05)):
        assert end is not None
        noncentral = end / (1 - end) * 30
        f = term.plain.statistic
        assert stats.ncf.cdf(f, 2, 27, noncentral) == pytest.approx(share, abs=1e-6)


def test_partial_and_generalised_eta_squared_of_the_squares() -> None:
    values = np.random.default_rng(0).normal(size=(8, 3)) + np.arange(8)[:, None]
    model = anova.of_one_factor(values)
    assert not isinstance(model, str)
    (term,) = model.terms()
    f = term.plain.statistic
    assert f is not None
    assert term.plain.effect_name == "partial eta squared"
    assert term.plain.effect == pytest.approx(2 * f / (2 * f + 14))
    whole = np.square(values - values.mean()).sum()
    assert term.generalised is not None
    assert term.generalised.effect == pytest.approx(term.squares / whole)
    assert term.squares / whole < (term.plain.effect or 0.0)


def test_no_effect_of_what_does_not_vary() -> None:
    same = np.full(5, 1.0)
    assert inference.hedges_g(same, same + 1) is None
    assert inference.hedges_g(same[:1], same) is None
    assert inference.d_z(same) is None
    assert inference.d_z(same[:1]) is None


def rows(tables: Tables) -> list[Statistic]:
    return list(analyse(tables.included(), read_declaration(tables, "own")).rows)


def of(made: list[Statistic]) -> list[str]:
    return faults(row.row() for row in made)


def test_a_row_has_the_columns_of_the_table() -> None:
    assert [column.name for column in STATISTICS] == [each.name for each in fields(Statistic)]
    assert len(STATISTICS) == 54
    assert all(column.meaning for column in STATISTICS)


@pytest.mark.parametrize("name", list(STUDIES))
def test_each_row_is_one_test(name: str) -> None:
    made = rows(tables_of(name))
    assert len([row for row in made if row.p is not None]) > 10
    assert of(made) == []


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(8, 20),
    gaps=st.integers(0, 3),
    models=st.integers(2, 3),
    between=st.booleans(),
    transform=st.sampled_from(("log", "sqrt", "")),
    bound=st.sampled_from(({"raw": 3.0}, {"standardised": 0.4})),
    plan=st.tuples(
        st.sampled_from(("all", "per_outcome")),
        st.sampled_from(("holm", "bonferroni", "fdr", "none")),
    ),
)
@settings(max_examples=examples(12))
def test_each_row_of_a_design_that_is_drawn_is_one_test(
    seed: int, n: int, gaps: int, models: int, between: bool, transform: str,
    bound: dict[str, float], plan: tuple[str, str],
) -> None:  # fmt: skip
    names = MODELS[:models]
    pair = {"name": "pair", "weights": {"model": {names[0]: 1, names[1]: -1}}}
    hint = {"name": "hint", "weights": {"hint": {"with": 1, "without": -1}}}
    design: dict[str, object] = {"within": ["model"]}
    if between:
        design["between"] = {"hint": ["with", "without"]}
    plans = {
        "design": design,
        "analysis": {
            "family": plan[0], "correction": plan[1],
            "transform": {"response_time_s": transform} if transform else {},
            "contrasts": [pair, *([hint] if between else [])],
            "smallest_effect": {"response_time_s": {"contrast": "pair", **bound}},
        },
        "hypotheses": [
            {"text": way, "outcome": "response_time_s", "contrast": "pair", "direction": way}
            for way in ("less", "greater", "equivalent")
        ],
    }  # fmt: skip
    made = rows(study(plans, n=n, seed=seed, gaps=gaps, models=names))
    assert select(made, kind="contrast")
    assert of(made) == []


def test_rows_of_two_tests_are_found() -> None:
    """An equivalence whose t is that of the difference, a p of another test, an interval of another
    level, and families that are mixed: what was wrong with tests of equivalence once."""
    made = list(declared()[1].rows)
    assert of(made) == []
    (equal,) = select(made, kind="equivalence")
    against, *_ = select(made, kind="contrast", contrast=AGAINST["name"])
    term, *_ = select(made, kind="test", test="ANOVA F")
    for row, wrong in (
        (equal, {"statistic": against.statistic}),
        (equal, {"low": against.low, "high": against.high}),
        (against, {"p": equal.p}),
        (against, {"family": equal.family}),
        (against, {"effect": -(against.effect or 0.0)}),
        (term, {"df_2": (term.df_2 or 0.0) + 1}),
        (term, {"effect": 0.5 * (term.effect or 0.0)}),
    ):
        changed = [replace(each, **wrong) if each is row else each for each in made]
        assert of(changed), wrong


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
