"""MIG: by hand, at its edges, its invariances, and the published values it can be held to."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.models.datasets import sinelines
from labapp.models.metrics.information import Binning, gaps, mig
from tests.helpers.sample import examples
from tests.models.metrics.made import BINNINGS, mixed, seeds


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
    assert found.settings == {
        "bins": 20,
        "binning": "equal-width",
        "factors": "labels up to 20 values, else binned",
        "as_published": False,
        "rows": 8,
    }


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
