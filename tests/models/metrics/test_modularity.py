"""Modularity: by hand, against an independent computation, its edges and its invariances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from sklearn.metrics import mutual_info_score

from labapp.models.metrics.information import modularities, modularity
from tests.helpers.sample import examples
from tests.models.metrics.made import mixed, seeds

several = examples(30)


def test_matrices_by_hand() -> None:
    rows = np.array([[2, 0, 0], [1, 1, 1], [2, 1, 0], [0, 0, 0], [1e-200, 0, 1e-200]])
    np.testing.assert_allclose(modularities(rows), [1, 0, 1 - 1 / 8, 0, 0.5])
    np.testing.assert_array_equal(modularities(np.array([[3.0], [0.0]])), [1, 0])


def test_coins_by_hand() -> None:
    coins = np.array([[a, b] for a in (0, 1) for b in (0, 1)] * 3, dtype=float)
    # One coin; a copy; both coins, told apart; nothing.
    both = 2 * coins[:, 0] + coins[:, 1]
    codes = np.stack([coins[:, 0], coins[:, 0], both, np.ones(12)], axis=1)
    found = modularity(codes, coins)
    np.testing.assert_allclose(found.parts["per_code"], [1, 1, 0, 0], atol=1e-14)
    assert found.score == pytest.approx(0.5)
    assert found.settings == {
        "bins": 20,
        "binning": "equal-width",
        "factors": "labels up to 20 values, else binned",
        "as_published": False,
        "rows": 12,
    }


@several
@given(seed=seeds)
def test_against_a_template_of_the_best_factor(seed: int) -> None:
    """As Ridgeway and Mozer put it: the distance to a row that holds the best factor alone."""
    codes, factors = mixed(seed)
    labels = np.round(factors * 2)
    found = modularity(codes, labels)
    per_code = []
    for code in codes.T:
        edges = np.histogram_bin_edges(code, 20)[:-1]
        shared = np.array([mutual_info_score(np.digitize(code, edges), f) for f in labels.T])
        template = np.where(shared == shared.max(), shared, 0)
        distance = np.square(shared - template).sum() / (shared.max() ** 2 * (len(shared) - 1))
        per_code.append(1 - distance)
    np.testing.assert_allclose(found.parts["per_code"], per_code, atol=1e-9)
    assert found.score == pytest.approx(np.mean(per_code))
    assert modularity(codes, labels, seed=5, as_published=True).score == found.score


def test_perfect_redundant_mixed_and_useless_codes() -> None:
    rng = np.random.default_rng(0)
    z = rng.uniform(-1, 1, (10_000, 2))
    assert modularity(z, z).score > 0.999
    # (x, x^2, y, y^3), paper 002, 3.3: redundancy is no fault here.
    redundant = np.stack([z[:, 0], z[:, 0] ** 2, z[:, 1], z[:, 1] ** 3], axis=1)
    assert modularity(redundant, z).score > 0.999
    assert modularity(z @ [[1, 1], [1, -1]], z).score < 0.05
    # Of noise, shares are alike but for chance, which two factors leave much room.
    assert modularity(rng.normal(size=(10_000, 20)), rng.random((10_000, 10))).score < 0.3


def test_one_factor_one_code_and_constant_codes() -> None:
    codes, factors = mixed(3)
    assert modularity(codes, factors[:, :1]).score == 1
    one = modularity(codes[:, :1], factors)
    assert one.score == np.asarray(one.parts["per_code"])[0]
    assert modularity(np.ones((200, 3)), factors).score == 0
    more = modularity(np.hstack([codes, np.full((200, 1), 7.0)]), factors)
    assert more.score == pytest.approx(modularity(codes, factors).score * 4 / 5)


@several
@given(seed=seeds)
def test_a_second_copy_of_every_code_changes_nothing(seed: int) -> None:
    codes, factors = mixed(seed)
    score = modularity(codes, factors).score
    assert modularity(np.hstack([codes, codes]), factors).score == pytest.approx(score, abs=1e-12)
