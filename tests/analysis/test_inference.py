"""Tests and intervals in the cases that have no value, or one that is easily missed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from labapp.analysis import inference
from labapp.analysis.inference import values_of

SAME = np.full(6, 100.0)
OTHERS = np.array([20.0, 40.0, 30.0, 50.0, 40.0])


def test_what_does_not_vary_has_no_value_and_does_not_warn() -> None:
    for outcome in (
        inference.one_sample(SAME, 25.0),
        inference.two_sample(SAME, SAME[:3]),
        inference.paired(SAME, SAME - 10),
        inference.signed_rank(SAME, 100.0),
        inference.normality(SAME),
        inference.pearson(SAME, np.arange(6.0)),
        inference.spearman(SAME, np.arange(6.0)),
    ):
        assert (outcome.statistic, outcome.p) == (None, None), outcome.test


def test_one_group_that_does_not_vary_is_tested_against_one_that_does() -> None:
    found = inference.two_sample(SAME, OTHERS)
    with pytest.warns(RuntimeWarning, match="Precision loss"):
        expected = stats.ttest_ind(SAME, OTHERS)
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
