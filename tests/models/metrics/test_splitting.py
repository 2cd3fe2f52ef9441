"""Halves of the rows, and columns standardised by those learnt from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import StandardScaler

from labapp.base.errors import MetricError
from labapp.models.metrics.inputs import halves, z_scores


@given(rows=st.integers(10, 300), seed=st.integers(0, 2**32 - 1))
def test_halves_are_all_rows_once(rows: int, seed: int) -> None:
    train, test = halves(rows, seed)
    assert len(train) == rows // 2
    assert sorted([*train, *test]) == list(range(rows))
    assert [part.tolist() for part in halves(rows, seed)] == [train.tolist(), test.tolist()]


def test_another_seed_divides_otherwise() -> None:
    assert halves(100, 0)[0].tolist() != halves(100, 1)[0].tolist()


@pytest.mark.parametrize(
    ("rows", "seed", "message"), [(9, 0, "9 rows"), (20, -1, "seed is -1"), (20, 2**32, "seed is")]
)
def test_too_few_rows_and_impossible_seeds_are_refused(rows: int, seed: int, message: str) -> None:
    with pytest.raises(MetricError, match=message):
        halves(rows, seed)


@given(seed=st.integers(0, 2**32 - 1))
def test_z_scores_against_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table, train = rng.normal(3, 2, (40, 3)), rng.permutation(40)[:20]
    expected = StandardScaler().fit(table[train]).transform(table)
    np.testing.assert_allclose(z_scores(table, train), expected, atol=1e-9)


def test_columns_that_do_not_vary_among_the_rows_learnt_from_are_0() -> None:
    table = np.array([[1, 2.0], [1, 3], [9, 4]])
    found = z_scores(table, np.array([0, 1]))
    assert found[:, 0].tolist() == [0, 0, 0]
    np.testing.assert_allclose(found[:, 1], [-1, 1, 3])


@pytest.mark.parametrize("unit", [1e-300, 1e100])
def test_no_unit_leaves_float64(unit: float) -> None:
    np.testing.assert_allclose(
        z_scores(np.array([[1.0], [2.0], [3.0]]) * unit, np.arange(2))[:, 0], [-1, 1, 3]
    )
    far = z_scores(np.array([[0.0], [1e-300], [1e100]]), np.arange(2))
    assert np.isfinite(far).all()
