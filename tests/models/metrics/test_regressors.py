"""The regressors of DCI: against scikit-learn called plainly, and what they share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from labapp.models.datasets.split import Float64
from labapp.models.metrics.dci import REGRESSORS, lasso, r2, random_forest, standardise

names = pytest.mark.parametrize("name", REGRESSORS)


def rows(seed: int, n: int = 400) -> tuple[Float64, Float64]:
    """Four inputs, of which the first three matter to the target: 3, 1 and 0.3 times."""
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(n, 4))
    return inputs, inputs @ [3.0, -1.0, 0.3, 0.0] + 0.1 * rng.normal(size=n)


@names
def test_importance_follows_what_matters(name: str) -> None:
    inputs, target = rows(0)
    fitted = REGRESSORS[name](inputs, target, 0)
    assert fitted.importance.shape == (4,)
    assert fitted.importance.dtype == np.float64
    assert (np.diff(fitted.importance) < 0).all()
    assert (fitted.importance >= 0).all()
    assert r2(target, fitted.predict(inputs)) > 0.9


@names
def test_equal_seeds_give_equal_fits(name: str) -> None:
    inputs, target = rows(1)
    first, again = (REGRESSORS[name](inputs, target, 7) for _ in range(2))
    np.testing.assert_array_equal(first.importance, again.importance)
    np.testing.assert_array_equal(first.predict(inputs), again.predict(inputs))


@names
def test_inputs_that_do_not_vary_have_no_importance(name: str) -> None:
    inputs, target = rows(2)
    inputs[:, 1] = 0.0
    assert REGRESSORS[name](inputs, target, 0).importance[1] == 0
    nothing = REGRESSORS[name](np.zeros((400, 2)), target, 0)
    assert nothing.importance.tolist() == [0, 0]
    # A forest's trees each see some of the rows only, and guess at their mean.
    np.testing.assert_allclose(nothing.predict(np.zeros((3, 2))), target.mean(), atol=0.5)


def test_lasso_by_hand() -> None:
    # Of independent inputs of SD 1, a weight is the correlation less the penalty.
    signs = np.array([[1.0, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]]).T
    inputs = np.tile(signs, (5, 1))
    target = 7.0 + 2 * (0.8 * inputs[:, 0] - 0.6 * inputs[:, 1] + 0.01 * inputs[:, 2])
    unit = target.std()
    fitted = lasso(inputs, target, 0)
    np.testing.assert_allclose(
        fitted.importance, [1.6 / unit - 0.02, 1.2 / unit - 0.02, 0], atol=1e-9
    )
    np.testing.assert_allclose(
        fitted.predict(np.array([[1.0, 0, 0]])), 7 + 1.6 - 0.02 * unit, atol=1e-9
    )


def test_lasso_does_not_depend_on_units() -> None:
    inputs, target = rows(3)
    whole = lasso(inputs, target, 0)
    other = lasso(inputs * [1e-3, 1, 20, 1] + 5, 1e4 * target - 9, 0)
    np.testing.assert_allclose(other.importance, whole.importance, atol=1e-6)


@pytest.mark.parametrize("apart", [0.0, 1e-9, 1e-6, 1e-5])
def test_lasso_divides_a_weight_among_near_copies_of_an_input(apart: float) -> None:
    inputs, target = rows(4)
    doubled = np.hstack([inputs, inputs + apart * np.random.default_rng(0).normal(size=(400, 4))])
    found = lasso(doubled, target, 0).importance
    single = lasso(inputs, target, 0).importance
    np.testing.assert_allclose(found[:4] + found[4:], single, atol=1e-3)


def test_the_forest_has_the_depth_that_predicts_rows_best_that_it_has_not_seen() -> None:
    inputs, target = rows(5, n=180)
    grow, choose = train_test_split(np.arange(180), test_size=1 / 9, random_state=3)
    assert len(choose) == 20  # with a tenth of 200 for the test: 160, 20 and 20
    forests = [
        RandomForestRegressor(10, max_depth=depth, random_state=3).fit(inputs[grow], target[grow])
        for depth in range(3, 13)
    ]
    scores = [forest.score(inputs[choose], target[choose]) for forest in forests]
    best = forests[int(np.argmax(scores))]
    fitted = random_forest(inputs, target, 3)
    np.testing.assert_array_equal(fitted.importance, best.feature_importances_)
    np.testing.assert_array_equal(fitted.predict(inputs), best.predict(inputs))
    assert fitted.importance.sum() == pytest.approx(1)


tables = arrays(np.float64, (12, 2), elements=st.floats(-1e90, 1e90))


@settings(deadline=None)
@given(table=tables)
def test_standardised_columns_have_mean_0_and_sd_1_or_are_0(table: Float64) -> None:
    found = standardise(table)
    for column, given_ in zip(found.T, table.T, strict=True):
        assert column.mean() == pytest.approx(0, abs=1e-9)
        assert column.std() == pytest.approx(0 if given_.min() == given_.max() else 1)


def test_standardised_against_scikit_learn() -> None:
    inputs, _ = rows(6)
    np.testing.assert_allclose(standardise(inputs), StandardScaler().fit_transform(inputs))


def test_r2_against_scikit_learn() -> None:
    inputs, target = rows(7)
    assert r2(target, inputs[:, 0]) == pytest.approx(r2_score(target, inputs[:, 0]))
    assert r2(target, np.full(400, target.mean())) == pytest.approx(0)
    assert np.isnan(r2(np.ones(3), np.ones(3)))
