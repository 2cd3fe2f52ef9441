"""Mutual information, MIG, DCIMIG and modularity: by hand, by other implementations, and their
invariances."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from labapp.models.datasets import sinelines
from labapp.models.metrics.information import (
    Binning,
    assign_credit,
    dcimig,
    discretise,
    gaps,
    labels,
    mi,
    mig,
    modularities,
    modularity,
    mutual_information,
)
from tests.helpers.sample import examples
from tests.models.metrics.made import BINNINGS, Float64, array, mixed, seeds

SETTINGS = {
    "bins": 20,
    "binning": "equal-width",
    "factors": "labels up to 20 values, else binned",
    "as_published": False,
}


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
    assert found.settings == SETTINGS | {"rows": 8}
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


def test_by_hand() -> None:
    # All 8 rows of three coins. The first code is coin 1; the second is coin 1 and coin 2, so
    # it shares log 2 with the first and log 2 - the rest with ... none but these two.
    coins = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype=float)
    codes = np.stack([coins[:, 0], coins[:, 0] * coins[:, 1]], axis=1)
    both = math.log(2) - 0.75 * -(math.log(1 / 3) / 3 + 2 * math.log(2 / 3) / 3)
    found = mig(codes, coins)
    np.testing.assert_allclose(
        found.parts["mutual_information"], [[math.log(2), 0, 0], [both, both, 0]], atol=1e-14
    )
    share = both / math.log(2)
    np.testing.assert_allclose(found.parts["per_factor"], [1 - share, share, 0], atol=1e-14)
    assert found.score == pytest.approx(1 / 3)
    assert found.settings == SETTINGS | {"rows": 8}


def test_one_code_is_measured_against_nothing() -> None:
    codes, factors = mixed(1)
    found = mig(codes[:, :1], factors)
    information = np.asarray(found.parts["mutual_information"])[0]
    np.testing.assert_allclose(
        found.parts["per_factor"], information / found.parts["factor_entropies"]
    )
    assert mig(factors[:, :1], factors[:, :1]).score == pytest.approx(1)


def test_a_matrix_by_hand() -> None:
    information = np.array([[0.9, 0.2, 0.0], [0.5, 0.0, 0.1], [0.3, 0.6, 0.0]])
    np.testing.assert_allclose(gaps(information, np.array([1.0, 2.0, 0.5])), [0.4, 0.2, 0.2])
    np.testing.assert_allclose(gaps(information[:1], np.ones(3)), information[0])


def test_one_factor_is_scored_as_it_is_beside_others() -> None:
    codes, factors = mixed(3)
    alone = mig(codes, factors[:, 1:2])
    assert alone.score == np.asarray(mig(codes, factors).parts["per_factor"])[1]
    assert alone.parts["per_factor"] == [alone.score]


def test_factors_that_depend_on_each_other_lower_it_by_what_they_share() -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 4_000)
    factors = np.stack([first, np.where(rng.random(4_000) < 0.25, 1 - first, first)], axis=1)
    found = mig(factors, factors)
    shared = np.asarray(found.parts["mutual_information"])[0, 1]
    np.testing.assert_allclose(
        found.parts["per_factor"], 1 - shared / np.asarray(found.parts["factor_entropies"])
    )
    # log 2 - H(1/4) of log 2 is shared.
    assert found.score == pytest.approx(0.811, abs=0.02)


def test_codes_that_know_nothing_score_exactly_0() -> None:
    factors = mixed(2)[1]
    assert mig(np.ones((200, 1)), factors).score == 0
    assert mig(np.ones((200, 4)) * [1, 2, 3, 4], factors).score == 0


@examples(40)
@given(seed=seeds, binning=st.sampled_from(BINNINGS), as_published=st.booleans())
def test_the_score_is_a_share(seed: int, binning: Binning, as_published: bool) -> None:
    codes, factors = mixed(seed)
    found = mig(codes, np.round(factors), binning=binning, as_published=as_published)
    assert 0 <= found.score <= 1 + 1e-12
    assert np.isfinite(found.parts["per_factor"]).all()


@examples(40)
@given(seed=seeds, binning=st.sampled_from(BINNINGS))
def test_a_second_copy_of_every_code_leaves_no_gap(seed: int, binning: Binning) -> None:
    codes, factors = mixed(seed)
    assert mig(np.hstack([codes, codes]), factors, binning=binning).score == 0


@examples(40)
@given(seed=seeds, binning=st.sampled_from(BINNINGS))
def test_a_constant_code_beside_others_changes_nothing(seed: int, binning: Binning) -> None:
    codes, factors = mixed(seed)
    more = mig(np.hstack([codes, np.full((200, 1), 7.0)]), factors, binning=binning)
    assert more.score == mig(codes, factors, binning=binning).score
    assert np.asarray(more.parts["mutual_information"])[-1].max() == 0
    assert np.asarray(more.parts["code_entropies"])[-1] == 0


def test_as_published_parts_from_the_default_for_unevenly_spaced_labels_alone() -> None:
    codes, factors = mixed(5)
    assert mig(codes, factors).score == mig(codes, factors, as_published=True).score
    even = np.round(factors * 2).clip(-4, 4)
    assert mig(codes, even, as_published=True).score == pytest.approx(
        mig(codes, even).score, abs=1e-12
    )
    uneven = np.exp(even * 3)
    assert mig(codes, uneven).score == pytest.approx(mig(codes, even).score, abs=1e-12)
    merged = mig(codes, uneven, as_published=True)
    assert abs(merged.score - mig(codes, uneven).score) > 0.01
    assert merged.settings["factors"] == "binned"


def test_the_seed_changes_nothing() -> None:
    codes, factors = mixed(6)
    assert mig(codes, factors, seed=1).to_json() == mig(codes, factors, seed=2).to_json()


@pytest.mark.parametrize("as_published", [False, True])
def test_the_ground_truth_of_sinelines_reaches_its_ceiling(as_published: bool) -> None:
    # Published as 1.00; with 5,000 rows the estimate cannot reach it. Seeds 0 to 29 give 0.9842 to
    # 0.9865; 0.984 is what the released code gave on rows of its own.
    scores = []
    for seed in range(5):
        factors = sinelines.draw_factors(5_000, seed)
        scores.append(mig(factors, factors, as_published=as_published).score)
    assert min(scores) > 0.983
    assert max(scores) < 0.988


def test_fact_7_of_paper_002_fails_with_equal_widths_and_holds_with_equal_frequencies() -> None:
    z = np.random.default_rng(0).uniform(-1, 1, (10_000, 2))
    assert mig(z**15, z).score == pytest.approx(0.26, abs=0.005)
    assert mig(z**15, z, binning="equal-frequency").score > 0.99


def test_section_3_3_of_paper_002() -> None:
    # (x, x^2, y, y^3) satisfies the first characteristic, not the second, which MIG measures; any
    # single code satisfies the second.
    z = np.random.default_rng(0).random((10_000, 2))
    redundant = np.stack([z[:, 0], z[:, 0] ** 2, z[:, 1], z[:, 1] ** 3], axis=1)
    assert mig(z, z).score > 0.99
    assert mig(redundant, z, binning="equal-frequency").score == 0
    assert mig(redundant, z).score < 0.4
    assert mig(z[:, :1], z).parts["per_factor"][0] > 0.99  # type: ignore[index]


several = examples(30)

CARS3D = np.log([4.0, 24.0, 183.0])

"""Entropies of the factors of the data set that the matrices of paper 002, A.2, are of."""


def every_row(*values: int) -> Float64:
    """All combinations of factors with so many values each, (n, K)."""
    return np.array(list(itertools.product(*map(range, values))), dtype=np.float64)


def test_a_dcimig_matrix_by_hand() -> None:
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


def test_matrices_by_hand() -> None:
    rows = np.array([[2, 0, 0], [1, 1, 1], [2, 1, 0], [0, 0, 0], [1e-200, 0, 1e-200]])
    np.testing.assert_allclose(modularities(rows), [1, 0, 1 - 1 / 8, 0, 0.5])
    np.testing.assert_array_equal(modularities(np.array([[3.0], [0.0]])), [1, 0])


def test_coins_by_hand_of_modularity() -> None:
    coins = np.array([[a, b] for a in (0, 1) for b in (0, 1)] * 3, dtype=float)
    # One coin; a copy; both coins, told apart; nothing.
    both = 2 * coins[:, 0] + coins[:, 1]
    codes = np.stack([coins[:, 0], coins[:, 0], both, np.ones(12)], axis=1)
    found = modularity(codes, coins)
    np.testing.assert_allclose(found.parts["per_code"], [1, 1, 0, 0], atol=1e-14)
    assert found.score == pytest.approx(0.5)
    assert found.settings == SETTINGS | {"rows": 12}


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
