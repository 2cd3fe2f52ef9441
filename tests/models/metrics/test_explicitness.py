"""Explicitness: against plain scikit-learn, its edges and its invariances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labapp.base.errors import MetricError
from labapp.models.metrics.inputs import halves
from labapp.models.metrics.sap import explicitness
from tests.helpers.sample import examples
from tests.models.metrics.made import Float64, array, seeds

several = examples(10)
SOLVED = 5e-4
"""Where the solver ends may depend on rounding, and a pair of rows then change places. In 150 draws
it did not."""


def mixed(seed: int, rows: int = 400) -> tuple[Float64, Float64]:
    """Four codes that mix a factor of two classes, one of four and noise."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(rows, 2))
    codes = factors @ rng.normal(size=(2, 4)) + rng.normal(size=(rows, 4))
    return codes, np.stack(
        [factors[:, 0] > 0, np.digitize(factors[:, 1], [-1, 0, 1])], axis=1
    ) * 1.0


@several
@given(seed=seeds)
def test_against_plain_scikit_learn(seed: int) -> None:
    codes, factors = mixed(seed)
    found = explicitness(codes, factors, seed=seed)
    train, test = halves(400, seed)
    for index, factor in enumerate(factors.T):
        model = make_pipeline(StandardScaler(), LogisticRegression())
        model.fit(codes[train], factor[train])
        for rows, part in ((test, "per_factor"), (train, "per_factor_train")):
            predicted = model.predict_proba(codes[rows])
            if predicted.shape[1] == 2:
                area = roc_auc_score(factor[rows], predicted[:, 1])
            else:
                area = roc_auc_score(factor[rows], predicted, multi_class="ovr", average="macro")
            assert array(found, part)[index] == pytest.approx(area, abs=SOLVED)
    assert found.score == array(found, "per_factor").mean()
    assert found.parts["train"] == array(found, "per_factor_train").mean()


def test_settings() -> None:
    codes, factors = mixed(1)
    default = explicitness(codes, factors, seed=7)
    published = explicitness(codes, factors, seed=7, as_published=True)
    assert default.score == published.score
    assert published.settings["as_published"] is True
    assert {"seed": 7, "rows": 400, "bins": 20}.items() <= default.settings.items()
    assert explicitness(codes, factors, seed=7).to_json() == default.to_json()
    assert explicitness(codes, factors, seed=8).score != default.score


def test_what_a_linear_map_can_and_cannot_undo() -> None:
    rng = np.random.default_rng(0)
    z = rng.uniform(-1, 1, (2_000, 2))
    assert explicitness(z @ [[1, 1], [1, -1]], z).score > 0.95  # mixed, yet all there
    assert explicitness(rng.normal(size=(2_000, 3)), z).score == pytest.approx(0.5, abs=0.03)
    # Which of two signs a factor has is not to be read off its size.
    sign = (z[:, :1] > 0).astype(float)
    assert explicitness(np.abs(z), sign).score == pytest.approx(0.5, abs=0.05)
    # Measured factors are cut into 20 equal widths.
    assert explicitness(z, z).score == pytest.approx(
        explicitness(z, np.floor((z - z.min(axis=0)) / np.ptp(z, axis=0) * 19.999)).score, abs=0.01
    )


@several
@given(seed=seeds, power=st.sampled_from([-300, -6, 80]), shift=st.floats(-10, 10))
def test_order_sign_unit_and_origin_of_codes_change_nothing(
    seed: int, power: int, shift: float
) -> None:
    codes, factors = mixed(seed)
    whole = explicitness(codes, factors)
    rng = np.random.default_rng(seed)
    c, f = rng.permutation(4), rng.permutation(2)
    moved = explicitness(codes[:, c] * [-1, 1, -1, 1], factors[:, f])
    np.testing.assert_allclose(
        array(moved, "per_factor"), array(whole, "per_factor")[f], atol=SOLVED
    )
    other = explicitness((codes + shift) * 10.0**power, factors)
    assert other.score == pytest.approx(whole.score, abs=SOLVED)


@several
@given(seed=seeds)
def test_a_constant_code_changes_nothing_and_copies_next_to_nothing(seed: int) -> None:
    codes, factors = mixed(seed)
    score = explicitness(codes, factors).score
    more = np.hstack([codes, np.full((400, 1), 0.1)])
    assert explicitness(more, factors).score == pytest.approx(score, abs=SOLVED)
    # Copies halve the penalty on weights, which says little beside 200 rows.
    assert explicitness(np.hstack([codes, codes]), factors).score == pytest.approx(score, abs=0.01)


@several
@given(seed=seeds)
def test_labels_are_names(seed: int) -> None:
    codes, factors = mixed(seed)
    renamed = factors * [-7, 0.25] + [3, -40]
    assert explicitness(codes, renamed).score == pytest.approx(
        explicitness(codes, factors).score, abs=SOLVED
    )


def test_one_code_one_factor_and_codes_that_know_nothing() -> None:
    codes, factors = mixed(2)
    one = explicitness(codes[:, :1], factors[:, :1])
    train, test = halves(400, 0)
    # With one code and two classes, the area is that of the code itself.
    area = roc_auc_score(factors[test, 0], codes[test, 0])
    assert one.score == pytest.approx(max(area, 1 - area))
    assert array(one, "per_factor") == [one.score]
    assert explicitness(np.ones((400, 2)), factors).score == 0.5
    assert (
        explicitness(codes, factors[:, :1]).score
        == array(explicitness(codes, factors), "per_factor")[0]
    )
    only_scored = codes.copy()
    only_scored[train] = 3.0
    assert explicitness(only_scored, factors).score == 0.5


def test_a_class_that_is_missing_from_a_half() -> None:
    codes, factors = mixed(3)
    train, test = halves(400, 0)
    whole = explicitness(codes, factors)
    rare = factors.copy()
    rare[test[0], 0] = -1  # scored, not learnt: its area is 0.5
    found = explicitness(codes, rare)
    two = array(whole, "per_factor")[0]
    assert array(found, "per_factor")[0] == pytest.approx((2 * two + 0.5) / 3, abs=0.01)
    assert array(found, "per_factor_train")[0] == array(whole, "per_factor_train")[0]
    rare = factors.copy()
    rare[train[0], 0] = 2  # learnt, not scored: left out
    assert array(explicitness(codes, rare), "per_factor")[0] == pytest.approx(two, abs=0.01)


def test_a_factor_that_does_not_vary_in_a_half() -> None:
    codes, factors = mixed(4)
    train, test = halves(400, 0)
    rare = np.zeros(400)
    rare[train[0]] = 1
    found = explicitness(codes, np.column_stack([factors, rare]))
    assert np.isnan(array(found, "per_factor")).tolist() == [False, False, True]
    assert found.score == array(found, "per_factor")[:2].mean()
    assert found.to_json()["parts"]["per_factor"][2] is None  # type: ignore[index,call-overload]
    with pytest.raises(MetricError, match="no factor varies in the half"):
        explicitness(codes, rare[:, None])
    rare = np.zeros(400)
    rare[test[0]] = 1
    found = explicitness(codes, np.column_stack([factors, rare]))
    assert array(found, "per_factor")[2] == 0.5
    assert np.isnan(array(found, "per_factor_train")).tolist() == [False, False, True]
    assert np.isfinite(float(found.parts["train"]))


@pytest.mark.parametrize(("rows", "seed"), [(9, 0), (20, -1), (20, 2**32)])
def test_too_few_rows_and_impossible_seeds_are_refused(rows: int, seed: int) -> None:
    codes, factors = mixed(0)
    with pytest.raises(MetricError, match=r"rows|seed is"):
        explicitness(codes[:rows], factors[:rows], seed=seed)
