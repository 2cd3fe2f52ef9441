"""DCIMIG: by hand, the paper's disagreements with MIG, its edges and its invariances."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.models.metrics.information import Binning, assign_credit, dcimig, gaps, mig
from tests.helpers.sample import examples
from tests.models.metrics.made import BINNINGS, Float64, array, mixed, seeds

several = examples(30)

CARS3D = np.log([4.0, 24.0, 183.0])
"""Entropies of the factors of the data set that the matrices of paper 002, A.2, are of."""


def every_row(*values: int) -> Float64:
    """All combinations of factors with so many values each, (n, K)."""
    return np.array(list(itertools.product(*map(range, values))), dtype=np.float64)


def test_a_matrix_by_hand() -> None:
    information = np.array([[0.9, 0.2, 0.0], [0.5, 0.0, 0.1], [0.3, 0.6, 0.55], [0.0, 0.0, 0.0]])
    found = assign_credit(information, np.array([1.0, 2.0, 1.0]))
    np.testing.assert_allclose(found.gaps, [0.7, 0.4, 0.05, 0])
    np.testing.assert_allclose(found.per_code, [0.7, 0.4, 0.025, 0])
    np.testing.assert_array_equal(found.best_factor, [0, 0, 1, np.nan])
    np.testing.assert_array_equal(found.best_code, [0, 2, np.nan])
    np.testing.assert_allclose(found.per_factor, [0.7, 0.025, 0])
    assert found.score == pytest.approx(0.75 / 4)  # all entropies, of the third factor too


def test_the_most_disentangled_code_of_a_factor_counts_not_the_most_informed() -> None:
    found = assign_credit(np.array([[0.9, 0.8], [0.5, 0.0]]), np.ones(2))
    assert found.best_code[0] == 1
    assert found.score == 0.25


def test_coins_by_hand() -> None:
    coins = every_row(2, 2, 2)
    # The first two coins; the third only together with the first.
    codes = np.stack([coins[:, 0], coins[:, 1], coins[:, 0] * 2 + coins[:, 2]], axis=1)
    found = dcimig(codes, coins)
    np.testing.assert_allclose(array(found, "gaps"), [math.log(2), math.log(2), 0], atol=1e-14)
    np.testing.assert_allclose(array(found, "per_factor"), [1, 1, 0], atol=1e-14)
    assert found.score == pytest.approx(2 / 3)
    assert mig(codes, coins).score == pytest.approx(2 / 3)  # it misses the copy, not the mixture


def test_settings_and_shapes() -> None:
    codes, factors = mixed(1)
    for as_published in (False, True):
        found = dcimig(codes, factors, as_published=as_published)
        assert {name: np.shape(part) for name, part in found.parts.items()} == {
            "per_code": (4,),
            "per_factor": (3,),
            "gaps": (4,),
            "best_factor": (4,),
            "best_code": (3,),
            "mutual_information": (4, 3),
            "code_entropies": (4,),
            "factor_entropies": (3,),
        }
        assert found.settings == {
            "bins": 20,
            "binning": "equal-width",
            "factors": "labels up to 20 values, else binned",
            "as_published": as_published,
            "rows": 200,
        }
        assert found.score == dcimig(codes, factors, seed=3).score


# Figure 3 of paper 002 as its text tells it, in numbers of ours that give the scores printed under
# it. Left: codes 9 and 5 know factor 1, codes 2 and 3 factor 2, each nearly it alone. Right: code 1
# alone knows factor 1 and code 6 alone factor 2, but code 1 knows of both, and so does code 6.
FIGURE_3A = np.zeros((10, 3))
FIGURE_3A[[9, 5], 1] = [1.0, 1.0 - 0.075 * CARS3D[1]]
FIGURE_3A[[2, 3], 2] = [1.4773421, 1.4773421 - 0.075 * CARS3D[2]]
FIGURE_3A[9, 2] = FIGURE_3A[2, 1] = 0.1
FIGURE_3B = np.zeros((10, 3))
FIGURE_3B[1, 1:] = [1.0402, 0.7]
FIGURE_3B[6, 1:] = [0.4, 1.5259]


def test_a_disagreement_with_mig_as_in_figure_3_of_paper_002() -> None:
    left, right = (assign_credit(matrix, CARS3D) for matrix in (FIGURE_3A, FIGURE_3B))
    assert left.score == pytest.approx(0.233, abs=5e-4)
    assert right.score == pytest.approx(0.15, abs=5e-4)
    assert left.score > right.score
    np.testing.assert_array_equal(left.best_code, [np.nan, 9, 2])
    np.testing.assert_array_equal(right.best_code, [np.nan, 1, 6])
    migs = [gaps(matrix, CARS3D).mean() for matrix in (FIGURE_3A, FIGURE_3B)]
    assert migs == pytest.approx([0.05, 0.12], abs=5e-4)


@pytest.mark.parametrize("binning", BINNINGS)
def test_the_same_disagreement_in_rows(binning: Binning) -> None:
    """MIG is for compact codes, DCIMIG for codes of one factor each."""
    factors = np.tile(every_row(4, 4), (20, 1))
    first, second = factors.T
    redundant = np.stack([first, first, second, second], axis=1)
    compact = np.stack([4 * first + second // 2, 4 * second + first // 2], axis=1)
    assert mig(redundant, factors, binning=binning).score == 0
    assert dcimig(redundant, factors, binning=binning).score == pytest.approx(1)
    # A code knows two bits of its factor and one of the other: gaps of one bit of two in either
    # reading. A third code that is a factor alone then parts the two.
    assert mig(compact, factors, binning=binning).score == pytest.approx(0.5)
    assert dcimig(compact, factors, binning=binning).score == pytest.approx(0.5)
    more = np.hstack([compact, factors[:, :1]])
    assert mig(more, factors, binning=binning).score == pytest.approx(0.25)
    assert dcimig(more, factors, binning=binning).score == pytest.approx(0.75)


def test_what_4_4_of_paper_002_says_of_mig_and_dcimig() -> None:
    factors = np.tile(every_row(2, 8), (20, 1))
    # One code that is both factors: MIG does not mind, DCIMIG credits what it knows more of one.
    both = (8 * factors[:, :1] + factors[:, 1:]).astype(float)
    assert mig(both, factors).score == pytest.approx(1)
    assert dcimig(both, factors).score == pytest.approx(0.5)  # (3 bits - 1 bit) of 4
    # Which factor is left out matters to DCIMIG alone: one holds 1 bit of 4, the other 3.
    assert mig(factors[:, :1], factors).score == pytest.approx(0.5)
    assert mig(factors[:, 1:], factors).score == pytest.approx(0.5)
    assert dcimig(factors[:, :1], factors).score == pytest.approx(0.25)
    assert dcimig(factors[:, 1:], factors).score == pytest.approx(0.75)


def test_fact_10_of_paper_002() -> None:
    # Codes of one factor each, bent, and others beside them: near 1, up to the bins' chance.
    z = np.random.default_rng(0).uniform(-1, 1, (10_000, 2))
    codes = np.hstack([z**15, z.sum(axis=1, keepdims=True), z[:, :1]])
    assert dcimig(codes, z, binning="equal-frequency").score > 0.99
    assert dcimig(codes, z).score < 0.7  # equal widths lose z_2^15, as for MIG in Fact 7


def test_fact_11_of_paper_002() -> None:
    z = np.random.default_rng(0).uniform(-1, 1, (10_000, 2))
    assert dcimig(z @ [[1, 1], [1, -1]], z, binning="equal-frequency").score < 0.02


def test_one_factor_one_code_and_codes_that_know_nothing() -> None:
    codes, factors = mixed(7)
    one_factor = dcimig(codes, factors[:, :1])
    share = array(one_factor, "mutual_information").max() / array(one_factor, "factor_entropies")[0]
    assert one_factor.score == pytest.approx(share)
    assert dcimig(factors[:, :1], factors[:, :1]).score == pytest.approx(1)
    assert np.isnan(array(dcimig(codes[:, :1], factors), "best_code")).sum() == 2
    nothing = dcimig(np.ones((200, 2)) * [1, 2], factors)
    assert nothing.score == 0
    assert np.isnan(array(nothing, "best_factor")).all()
    assert np.isnan(array(nothing, "best_code")).all()
    assert nothing.to_json()["parts"]["best_code"] == [None] * 3  # type: ignore[index,call-overload]


@several
@given(seed=seeds, binning=st.sampled_from(BINNINGS))
def test_the_score_is_a_share_and_the_weighted_mean_of_its_factors(
    seed: int, binning: Binning
) -> None:
    codes, factors = mixed(seed)
    found = dcimig(codes, np.round(factors), binning=binning)
    assert 0 <= found.score <= 1
    weights = array(found, "factor_entropies")
    assert found.score == pytest.approx(np.average(array(found, "per_factor"), weights=weights))
    assert (array(found, "per_code") <= 1 + 1e-12).all()


@several
@given(seed=seeds, binning=st.sampled_from(BINNINGS))
def test_copies_and_constant_codes_cost_nothing(seed: int, binning: Binning) -> None:
    codes, factors = mixed(seed)
    score = dcimig(codes, factors, binning=binning).score
    more = np.hstack([codes, codes, np.full((200, 1), 7.0)])
    assert dcimig(more, factors, binning=binning).score == score


@several
@given(seed=seeds)
def test_further_codes_never_lower_it(seed: int) -> None:
    codes, factors = mixed(seed)
    scores = [dcimig(codes[:, :count], factors).score for count in range(1, 5)]
    assert scores == sorted(scores)
