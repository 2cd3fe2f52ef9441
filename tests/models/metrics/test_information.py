"""Mutual information: by hand, against other implementations, and their invariances."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from labapp.models.metrics.information import Binning, discretise, labels, mi, mutual_information
from tests.helpers.sample import examples
from tests.models.metrics.made import BINNINGS, mixed, seeds


def test_two_coins_by_hand() -> None:
    # Three rows in four agree: I = log 2 - H(1/4).
    first = np.array([[0, 0, 0, 0, 1, 1, 1, 1]]).T
    second = np.array([[0, 0, 0, 1, 1, 1, 1, 0]]).T
    found = mutual_information(first, second)
    entropy = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert found.matrix[0, 0] == pytest.approx(math.log(2) - entropy, abs=1e-14)
    assert found.code_entropies[0] == pytest.approx(math.log(2), abs=1e-14)


def test_labels_are_classes_however_they_lie() -> None:
    factor = np.array([[0.0, 1e-6, 1.0, 100.0] * 10]).T
    assert mutual_information(factor, factor).factor_entropies[0] == pytest.approx(math.log(4))
    # As a histogram the first three share a bin.
    binned = mutual_information(factor, factor, label_factors=False).factor_entropies[0]
    assert binned == pytest.approx(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)))


def test_as_many_values_as_bins_are_labels_and_one_more_is_binned() -> None:
    values = np.array([[*range(19), 100]]).T.astype(float)
    assert mutual_information(values, values).factor_entropies[0] == pytest.approx(math.log(20))
    values = np.vstack([values, [[19.0]]])
    assert mutual_information(values, values).factor_entropies[0] < math.log(5)


@examples(40)
@given(seed=seeds, binning=st.sampled_from(BINNINGS), bins=st.integers(2, 25))
def test_against_a_histogram_and_against_scikit_learn(
    seed: int, binning: Binning, bins: int
) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.normal(size=(300, 3))
    factors = codes[:, :2] + rng.normal(size=(300, 2))
    found = mutual_information(codes, factors, bins=bins, binning=binning)
    for i, code in enumerate(codes.T):
        for j, factor in enumerate(factors.T):
            a, b = discretise(code, bins, binning), discretise(factor, bins, binning)
            assert found.matrix[i, j] == pytest.approx(mutual_info_score(a, b), abs=1e-12)
            if binning == "equal-width":
                joint = np.histogram2d(code, factor, bins=bins)[0]
                other = mutual_info_score(None, None, contingency=joint.astype(int))
                assert found.matrix[i, j] == pytest.approx(other, abs=1e-12)


@examples(40)
@given(seed=seeds, binning=st.sampled_from(BINNINGS))
def test_information_is_symmetric_bounded_by_entropy_and_0_for_constants(
    seed: int, binning: Binning
) -> None:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(100, 3)) @ rng.normal(size=(3, 3))
    found = mutual_information(table, table, binning=binning)
    np.testing.assert_allclose(found.matrix, found.matrix.T, atol=1e-12)
    assert (found.matrix >= 0).all()
    limit = np.minimum.outer(found.code_entropies, found.factor_entropies)
    assert (found.matrix <= limit + 1e-12).all()
    np.testing.assert_allclose(found.matrix.diagonal(), found.factor_entropies, atol=1e-12)
    assert mutual_information(np.full((100, 1), 2.5), table, binning=binning).matrix.max() == 0


def test_independent_columns_share_what_bins_by_chance_do() -> None:
    # The plug-in estimate's bias, (bins - 1)^2 / 2n, is stated and not corrected.
    rng = np.random.default_rng(3)
    found = mutual_information(rng.random((20_000, 10)), rng.random((20_000, 10)))
    assert found.matrix.mean() == pytest.approx(19**2 / 40_000, rel=0.05)


def test_values_or_bins_are_the_classes_of_a_factor() -> None:
    assert labels(np.array([5.0, -1.0, 5.0, 2.5])).tolist() == [2, 0, 2, 1]
    many = np.arange(40.0)
    np.testing.assert_array_equal(labels(many), discretise(many))
    np.testing.assert_array_equal(labels(many, bins=40), np.arange(40))


def test_mi_by_hand() -> None:
    coins = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype=float)
    codes = np.stack([coins[:, 0], 2 * coins[:, 0] + coins[:, 1]], axis=1)
    found = mi(codes, coins)
    np.testing.assert_allclose(found.parts["share"], [[1, 0, 0], [1, 1, 0]], atol=1e-14)
    np.testing.assert_allclose(found.parts["per_code"], [1, 1], atol=1e-14)
    np.testing.assert_allclose(found.parts["per_factor"], [1, 1, 0], atol=1e-14)
    np.testing.assert_allclose(
        found.parts["mutual_information"],
        math.log(2) * np.array([[1, 0, 0], [1, 1, 0]]),
        atol=1e-14,
    )
    assert found.metric == "mi"
    assert found.score == pytest.approx(2 / 3)
    assert found.settings == {
        "bins": 20,
        "binning": "equal-width",
        "factors": "labels up to 20 values, else binned",
        "as_published": False,
        "rows": 8,
    }
    assert mi(np.ones((8, 2)), coins).score == 0
    assert mi(coins[:, :1], coins[:, :1], seed=9).score == pytest.approx(1)


def test_mi_as_published_bins_every_factor() -> None:
    values = np.array([[0.0, 1e-6, 1.0, 100.0] * 10]).T
    codes = np.array([[0.0, 1.0, 2.0, 3.0] * 10]).T
    assert mi(codes, values).parts["factor_entropies"][0] == pytest.approx(math.log(4))  # type: ignore[index]
    merged = mi(codes, values, as_published=True)
    assert merged.parts["factor_entropies"][0] < math.log(2)  # type: ignore[index]
    assert merged.settings["factors"] == "binned"


@examples(30)
@given(seed=seeds, binning=st.sampled_from(BINNINGS))
def test_mi_is_kept_by_copies_and_constants_and_never_lowered_by_a_code(
    seed: int, binning: Binning
) -> None:
    codes, factors = mixed(seed)
    score = mi(codes, factors, binning=binning).score
    more = np.hstack([codes, codes, np.full((200, 1), 3.0)])
    assert mi(more, factors, binning=binning).score == score
    assert 0 <= mi(codes[:, :2], factors, binning=binning).score <= score <= 1 + 1e-12
