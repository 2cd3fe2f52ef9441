"""DCI and its regressors: the papers' matrices, plain scikit-learn, their edges and invariances."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from labapp.base.errors import MetricError
from labapp.models.metrics import dci as regressors
from labapp.models.metrics.dci import (
    REGRESSORS,
    concentration,
    dci,
    disentanglement,
    lasso,
    r2,
    random_forest,
    standardise,
)
from labapp.models.metrics.information import dcimig
from tests.helpers.sample import examples
from tests.models.metrics.brief import by_day, few_depths_of_forests, few_trees_of_dci
from tests.models.metrics.made import Float64, array, seeds

directions = st.booleans()

few = examples(4)

TIES = 0.02

"""Which of two equal splits a tree takes depends on the order of the inputs and on rounding. Over
20 seeds that moved an importance by 0.002 at most (0.02 with 120 rows instead of 400)."""


def mixed(seed: int, rows: int = 400) -> tuple[Float64, Float64]:
    """Three codes that each mix two factors and a little noise."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(rows, 2))
    noise = 0.3 * rng.normal(size=(rows, 3))
    return factors @ np.array([[1.0, 0.5, 0.0], [0.2, 0.5, 1.0]]) + noise, factors


def reference(inputs: Float64, targets: Float64, seed: int) -> tuple[Float64, Float64, Float64]:
    """Plain scikit-learn, nothing standardised: importances and R^2."""
    parts = train_test_split(inputs, targets, test_size=0.1, random_state=seed)
    columns = []
    for train, test in zip(parts[2].T, parts[3].T, strict=True):
        model = regressors.GradientBoostingRegressor(random_state=seed).fit(parts[0], train)
        r2 = (model.score(parts[0], train), model.score(parts[1], test))
        columns.append((model.feature_importances_, *r2))
    importance, r2_train, r2_test = (np.array(found) for found in zip(*columns, strict=True))
    return importance.T, r2_train, r2_test


def weighted_one_minus_entropy(importance: Float64) -> float:
    """As the released code has it, with its 1e-11 and another library's entropy."""
    rows = 1 - stats.entropy(importance.T + 1e-11, base=importance.shape[1])
    return float(np.average(rows, weights=importance.sum(axis=1)))


def test_fact_2_of_paper_002() -> None:
    # Eleven codes, each mostly one factor and equally little the others: printed as 0.6.
    importance = np.full((11, 11), 0.02) + 0.78 * np.eye(11)
    assert disentanglement(importance) == pytest.approx(0.59927, abs=5e-6)


def test_fact_5_of_paper_002() -> None:
    # One code outweighs an entangled one: printed as 0.957.
    importance = np.array([[1.0, 0.0], [0.01, 0.09]])
    assert disentanglement(importance) == pytest.approx(0.95736, abs=5e-6)


def test_section_3_3_of_paper_002() -> None:
    # (x, x^2, y, y^3): every code rests on one factor, so DCI does not mind the redundancy.
    z = np.random.default_rng(0).uniform(0, 1, (500, 2))
    found = dci(np.stack([z[:, 0], z[:, 0] ** 2, z[:, 1], z[:, 1] ** 3], axis=1), z)
    assert found.score > 0.99
    assert found.parts["completeness"] < 0.95


def retold(shares: Float64, seed: int) -> tuple[Float64, Float64]:
    """2,000 rows of factors of four values. Each code repeats one of the factors, each with a
    chance (codes, factors), or else is any of the four values."""
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, 4, (2_000, shares.shape[1]))
    codes = []
    for chances in shares:
        which = rng.choice(len(chances) + 1, size=2_000, p=[*chances, 1 - chances.sum()])
        table = np.column_stack([factors, rng.integers(0, 4, 2_000)])
        codes.append(table[np.arange(2_000), which])
    return np.column_stack(codes).astype(np.float64), factors.astype(np.float64)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_pair_on_which_dcimig_disagrees(seed: int) -> None:
    # Paper 002, A.2.2: the first has clean codes beside entangled ones, the second less clean ones
    # and fewer entangled. Printed, of trained models: DCI 0.38 and 0.42, DCIMIG 0.28 and 0.17.
    clean = np.eye(2)
    first = retold(np.vstack([0.57 * clean, np.full((2, 2), 0.42)]), seed)
    second = retold(np.vstack([0.43 * clean, np.full((1, 2), 0.34)]), seed)
    dci_scores = [dci(*made, seed=seed).score for made in (first, second)]
    dcimig_scores = [dcimig(*made).score for made in (first, second)]
    np.testing.assert_allclose(dci_scores, [0.38, 0.42], atol=0.06)
    np.testing.assert_allclose(dcimig_scores, [0.28, 0.17], atol=0.03)
    assert dci_scores[0] < dci_scores[1]
    assert dcimig_scores[0] > dcimig_scores[1]


@few_depths_of_forests
@pytest.mark.parametrize("regressor", regressors.REGRESSORS)
def test_every_regressor_tells_clean_codes_from_mixed_ones(regressor: str) -> None:
    z = np.random.default_rng(0).normal(size=(400, 2))
    turned = z @ np.array([[1.0, 1.0], [1.0, -1.0]])
    clean, entangled = (dci(codes, z, regressor=regressor) for codes in (z, turned))
    assert clean.score > 0.97
    assert clean.parts["completeness"] > 0.97
    assert clean.parts["informativeness"] > 0.97
    assert entangled.score < 0.1
    assert entangled.parts["completeness"] < 0.1
    assert clean.settings["regressor"] == regressor


@few_depths_of_forests
@pytest.mark.parametrize("regressor", ["random-forest", "lasso"])
@pytest.mark.parametrize("as_published", [False, True])
def test_every_regressor_has_the_edges_defined(regressor: str, as_published: bool) -> None:
    codes, factors = mixed(5, rows=120)
    score = dci(codes, factors, regressor=regressor, as_published=as_published)
    assert all(np.isfinite(part).all() for part in score.parts.values())
    again = dci(codes, factors, regressor=regressor, as_published=as_published)
    assert again.to_json() == score.to_json()
    constant = np.hstack([codes, np.full((120, 1), 3.1)])
    found = dci(constant, factors, regressor=regressor, as_published=as_published)
    assert (array(found, "importance")[3] == 0).all()
    assert array(found, "per_code")[3] == 0
    single = dci(codes, factors[:, :1], regressor=regressor, as_published=as_published)
    assert array(single, "importance").shape == (3, 1)
    dci(codes[:20, :1], factors[:20, :1], regressor=regressor, as_published=as_published)


@few
@given(seed=seeds)
def test_by_lasso_order_sign_and_unit_of_codes_change_nothing(seed: int) -> None:
    codes, factors = mixed(seed)
    whole = dci(codes, factors, regressor="lasso")
    other = dci((codes * [-1, 1e-30, 50])[:, [2, 0, 1]], factors, regressor="lasso")
    np.testing.assert_allclose(
        array(other, "importance"), array(whole, "importance")[[2, 0, 1]], atol=1e-3
    )
    assert other.score == pytest.approx(whole.score, abs=1e-3)


def test_lasso_knows_linear_relations_only() -> None:
    z = np.random.default_rng(0).uniform(-1, 1, (2_000, 2))
    assert dci(z**2, z, regressor="lasso").parts["informativeness"] < 0.05
    assert dci(z**2, np.abs(z), regressor="lasso").parts["informativeness"] > 0.9


def test_lasso_that_drops_all_codes_scores_0() -> None:
    rng = np.random.default_rng(0)
    codes, factors = np.repeat(rng.normal(size=(10_000, 2)), 2, axis=0), mixed(0, rows=20_000)[1]
    found = dci(codes, factors, regressor="lasso")
    assert (array(found, "importance") == 0).all()
    assert found.score == found.parts["completeness"] == 0


def test_concentration_by_hand() -> None:
    rows = np.array([[0.5, 0.5, 0, 0], [3, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]])
    np.testing.assert_allclose(concentration(rows), [0.5, 1, 0, 0], atol=1e-15)
    np.testing.assert_array_equal(concentration(np.array([[2.0], [0.0]])), [1, 0])
    assert disentanglement(np.zeros((3, 2))) == 0
    for columns in range(2, 30):  # rounding does not carry an even row below 0
        assert 0 <= concentration(np.ones((1, columns)))[0] < 1e-12


@by_day(few_trees_of_dci)
@pytest.mark.parametrize("as_published", [False, True])
@few
@given(seed=seeds)
def test_against_plain_scikit_learn(as_published: bool, seed: int) -> None:
    """As published with the roles of codes and factors exchanged."""
    codes, factors = mixed(seed)
    found = dci(codes, factors, seed=seed, as_published=as_published)
    inputs, targets = (factors, codes) if as_published else (codes, factors)
    importance, r2_train, r2_test = reference(inputs, targets, seed)
    exact = array(found, "importance").T if as_published else array(found, "importance")
    np.testing.assert_allclose(exact, importance, atol=TIES)
    np.testing.assert_allclose(array(found, "r2_train"), r2_train, atol=TIES)
    np.testing.assert_allclose(array(found, "r2_test"), r2_test, atol=TIES)
    assert found.score == pytest.approx(weighted_one_minus_entropy(exact), abs=1e-8)
    # Columns add up to 1, so that the released code's weighted completeness is the plain mean.
    assert found.parts["completeness"] == pytest.approx(weighted_one_minus_entropy(exact.T))
    assert found.parts["informativeness"] == pytest.approx(array(found, "r2_test").mean())
    assert found.parts["informativeness_train"] == pytest.approx(array(found, "r2_train").mean())


def test_the_two_readings_part_where_a_code_mixes_factors() -> None:
    factors = np.random.default_rng(0).normal(size=(400, 2))
    codes = factors.sum(axis=1, keepdims=True)
    default, exchanged = dci(codes, factors), dci(codes, factors, as_published=True)
    assert default.score < 0.05  # the only code is both factors at once
    assert exchanged.score == 1  # each factor matters to that code alone
    assert exchanged.parts["completeness"] < 0.05
    assert default.settings["inputs"] == exchanged.settings["targets"] == "codes"


@few_trees_of_dci
def test_shapes_and_settings() -> None:
    codes, factors = mixed(3)
    for as_published, targets in ((False, 2), (True, 3)):
        found = dci(codes, factors, seed=9, as_published=as_published)
        shapes = {name: np.shape(part) for name, part in found.parts.items() if np.ndim(part)}
        assert shapes == {
            "per_code": (3,),
            "per_factor": (2,),
            "importance": (3, 2),
            "r2_train": (targets,),
            "r2_test": (targets,),
        }
        assert found.score == found.parts["disentanglement"]
        assert found.settings["seed"] == 9
        assert found.settings["as_published"] is as_published


@few_trees_of_dci
def test_equal_arguments_give_equal_scores_and_another_seed_another_division() -> None:
    codes, factors = mixed(4)
    first, again, other = (dci(codes, factors, seed=seed) for seed in (5, 5, 6))
    assert first.to_json() == again.to_json()
    assert first.parts["informativeness"] != other.parts["informativeness"]


@few
@given(seed=seeds, as_published=directions)
@few_trees_of_dci
def test_parts_are_shares_and_nothing_is_undefined(seed: int, as_published: bool) -> None:
    found = dci(*mixed(seed, rows=40), as_published=as_published)
    for name in ("per_code", "per_factor", "importance", "disentanglement", "completeness"):
        assert (array(found, name) >= 0).all()
        assert (array(found, name) <= 1).all()
    assert all(np.isfinite(part).all() for part in found.parts.values())


@few
@given(seed=seeds, as_published=directions)
@few_trees_of_dci
def test_order_of_codes_and_factors_changes_nothing(seed: int, as_published: bool) -> None:
    codes, factors = mixed(seed)
    rng = np.random.default_rng(seed)
    c, f = rng.permutation(3), rng.permutation(2)
    whole = dci(codes, factors, as_published=as_published)
    moved = dci(codes[:, c], factors[:, f], as_published=as_published)
    np.testing.assert_allclose(
        array(moved, "importance"), array(whole, "importance")[c][:, f], atol=TIES
    )
    assert moved.score == pytest.approx(whole.score, abs=TIES)


@pytest.mark.parametrize("as_published", [False, True])
@pytest.mark.parametrize("power", [-300, -9, 60])
@few_trees_of_dci
def test_sign_and_unit_of_a_code_change_nothing(power: int, as_published: bool) -> None:
    # As they stand, scikit-learn's float32 takes the first two for constant and refuses the third.
    codes, factors = mixed(power % 97)
    whole = dci(codes, factors, as_published=as_published)
    other = dci(codes * [-1, 10.0**power, 1], factors, as_published=as_published)
    assert other.score == pytest.approx(whole.score, abs=TIES)
    for part in ("r2_train", "r2_test"):
        np.testing.assert_allclose(array(other, part), array(whole, part), atol=TIES)


@few
@given(seed=seeds)
@few_trees_of_dci
def test_increasing_maps_of_a_code_leave_importances(seed: int) -> None:
    # Trees split between the same rows; only where between two rows a test row falls may change.
    codes, factors = mixed(seed)
    whole, mapped = dci(codes, factors), dci(np.exp(codes), factors)
    np.testing.assert_allclose(array(mapped, "importance"), array(whole, "importance"), atol=TIES)
    assert mapped.parts["informativeness_train"] == pytest.approx(
        whole.parts["informativeness_train"], abs=TIES
    )


@few
@given(seed=seeds)
@few_trees_of_dci
def test_a_second_copy_of_a_code_shares_its_importance(seed: int) -> None:
    codes, factors = mixed(seed)
    single = array(dci(codes, factors), "importance")
    double = dci(codes[:, [0, 1, 2, 0]], factors)
    shared = array(double, "importance")
    np.testing.assert_allclose(shared[0] + shared[3], single[0], atol=TIES)
    assert double.parts["completeness"] < 1


@few
@given(seed=seeds)
@few_trees_of_dci
def test_a_constant_code_has_no_importance_and_no_weight(seed: int) -> None:
    codes, factors = mixed(seed)
    found = dci(np.hstack([codes, np.full((400, 1), 3.1)]), factors)
    assert (array(found, "importance")[-1] == 0).all()
    assert array(found, "per_code")[-1] == 0
    assert found.score == pytest.approx(dci(codes, factors).score, abs=TIES)


@few
@given(seed=seeds)
@few_trees_of_dci
def test_as_published_a_constant_code_is_left_out_of_its_r2(seed: int) -> None:
    codes, factors = mixed(seed)
    found = dci(np.hstack([codes, np.full((400, 1), 0.1)]), factors, as_published=True)
    alone = dci(codes, factors, as_published=True)
    assert (array(found, "importance")[-1] == 0).all()
    assert np.isnan(array(found, "r2_test")).tolist() == [False, False, False, True]
    assert found.parts["informativeness"] == alone.parts["informativeness"]
    np.testing.assert_array_equal(array(found, "importance")[:-1], array(alone, "importance"))
    assert found.to_json()["parts"]["r2_test"][-1] is None  # type: ignore[index,call-overload]


def test_codes_that_know_nothing_score_0() -> None:
    found = dci(np.ones((400, 3)) * [1, 2, 3], mixed(0)[1])
    assert found.score == found.parts["completeness"] == 0
    assert found.parts["informativeness_train"] == pytest.approx(0, abs=1e-12)


def test_one_factor_and_one_code() -> None:
    codes, factors = mixed(7)
    one_factor = dci(codes, factors[:, :1])
    assert one_factor.score == 1  # nothing to be mixed with
    assert 0 < float(array(one_factor, "completeness")) < 1
    one_code = dci(codes[:, 1:2], factors)
    assert one_code.parts["completeness"] == 1  # paper 002, 3.3: any single code is complete
    assert one_code.score < 0.2
    assert dci(codes[:, :1], factors[:, :1]).score == 1


@few_trees_of_dci
def test_a_factor_whose_rare_value_misses_the_test_rows() -> None:
    codes, factors = mixed(8)
    rare = np.zeros((400, 1))
    rare[int(np.flatnonzero(~held_out(400))[0])] = 1
    found = dci(codes, np.hstack([factors, rare]))
    assert np.isnan(array(found, "r2_test")).tolist() == [False, False, True]
    assert found.parts["informativeness"] == pytest.approx(array(found, "r2_test")[:2].mean())
    with pytest.raises(MetricError, match="varies among the test rows"):
        dci(codes, rare)


@few_trees_of_dci
def test_a_factor_whose_rare_value_misses_the_training_rows() -> None:
    codes, factors = mixed(8)
    rare = np.zeros((400, 1))
    rare[int(np.flatnonzero(held_out(400))[0])] = 1
    found = dci(codes, np.hstack([factors, rare]))
    assert (array(found, "importance")[:, 2] == 0).all()
    assert array(found, "per_factor")[2] == 0
    assert np.isnan(array(found, "r2_train")).tolist() == [False, False, True]
    # One test row in 40 is 1 and 0 was said of all: 1 - 1 / (40 * 1/40 * 39/40).
    assert array(found, "r2_test")[2] == pytest.approx(1 - 40 / 39)
    with pytest.raises(MetricError, match="varies among the training rows"):
        dci(codes, rare)


def held_out(rows: int) -> NDArray[np.bool_]:
    """Which rows the seed 0 holds out."""
    test = train_test_split(np.arange(rows), test_size=0.1, random_state=0)[1]
    return np.isin(np.arange(rows), test)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"regressor": "oracle"}, "regressor is 'oracle'"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 2**32}, "seed is 4294967296"),
    ],
)
def test_impossible_settings_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(MetricError, match=re.escape(message)):
        dci(*mixed(0), **arguments)


@few_trees_of_dci
def test_too_few_rows_are_refused() -> None:
    dci(*mixed(0, rows=20))
    with pytest.raises(MetricError, match="there are 19 rows"):
        dci(*mixed(0, rows=19))


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
