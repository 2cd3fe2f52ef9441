from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from labapp.analysis import bootstrap


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
