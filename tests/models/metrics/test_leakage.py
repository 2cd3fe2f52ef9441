"""CTL and ICL: values that can be computed by hand, and what must not change them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import digamma

from labapp.base.errors import MetricError
from labapp.models.metrics.leakage import ctl, icl
from tests.helpers.sample import examples
from tests.models.metrics.made import array

A, B = np.array(list(product((0.0, 1.0), repeat=2)) * 250).T
TRUTH = np.stack([A, B], axis=1)
NOISE = np.random.default_rng(0).normal(size=(1_000, 2))


def test_concepts_as_their_own_codes_leak_nothing() -> None:
    assert ctl(TRUTH, TRUTH, labels=A * B).score == 0
    assert icl(TRUTH, TRUTH).score == 0


def test_a_code_that_holds_the_label() -> None:
    # The parity is one bit, of which neither concept tells anything.
    parity = (A + B) % 2
    codes = np.stack([A + 2 * B, B], axis=1)
    found = ctl(codes, TRUTH, labels=parity)
    np.testing.assert_allclose(array(found, "codes_on_task"), [1, 0], atol=1e-12)
    np.testing.assert_allclose(array(found, "concepts_on_task"), 0, atol=1e-12)
    assert found.score == pytest.approx(0.5)


def test_what_the_concept_itself_tells_is_no_leak() -> None:
    # The label is A and B: H = 0.8113 bits, of which A tells 0.3113; the code A + 2 B tells all.
    found = ctl(np.stack([A + 2 * B, B], axis=1), TRUTH, labels=A * B)
    known = 0.311278 / 0.811278
    np.testing.assert_allclose(array(found, "concepts_on_task"), known, atol=1e-6)
    np.testing.assert_allclose(array(found, "per_factor"), [1 - known, 0], atol=1e-6)


def test_codes_that_tell_of_each_other() -> None:
    # I(A + 2 B; B) is a bit, of entropies of two bits and one: 1 / sqrt(2).
    found = icl(np.stack([A + 2 * B, B], axis=1), TRUTH)
    assert found.score == pytest.approx(1 / np.sqrt(2))
    # Each tells all of the other.
    assert icl(np.stack([A + 2 * B, B + 2 * A], axis=1), TRUTH).score == pytest.approx(1.0)


def test_concepts_that_depend_on_each_other_allow_codes_to() -> None:
    both = np.stack([A, np.maximum(A, B)], axis=1)
    allowed = array(icl(both, both), "between_concepts")[0, 1]
    assert allowed == pytest.approx(0.311278 / np.sqrt(0.811278), abs=1e-6)
    copied = icl(np.stack([A, A], axis=1), both)
    assert copied.score == pytest.approx(1 - allowed)


def test_the_entropy_of_a_code_by_neighbours_is_a_matter_of_its_rows() -> None:
    # Of each other all is told; the scale is psi(n) - psi(k), whatever the codes are.
    independent = icl(NOISE, TRUTH)
    assert independent.score < 0.02
    same = icl(np.stack([NOISE[:, 0], NOISE[:, 0]], axis=1), TRUTH)
    assert same.score == pytest.approx(1.0, abs=0.01)
    # Two noisy copies of a bit share a bit, 0.69 nats of 6.0; in bins both are counted alike.
    copies = A[:, None] + 1e-3 * NOISE
    shared = icl(copies, TRUTH).score
    assert shared == pytest.approx(np.log(2) / (digamma(1_000) - digamma(3)), rel=0.1)
    assert icl(copies, TRUTH, estimator="bins").score > 1.5 * shared
    assert icl(A[:, None] + np.zeros((1, 2)), TRUTH).score == pytest.approx(1.0)


def test_neighbours_find_what_a_noisy_code_tells() -> None:
    codes = TRUTH + 0.01 * NOISE
    found = ctl(codes, TRUTH, labels=A)
    np.testing.assert_allclose(array(found, "codes_on_task"), [1, 0], atol=0.05)
    assert found.score < 0.02
    in_bins = ctl(codes, TRUTH, labels=A, estimator="bins")
    np.testing.assert_allclose(array(in_bins, "codes_on_task"), [1, 0], atol=0.05)
    assert (in_bins.settings["bins"], found.settings["neighbours"]) == (20, 3)


@examples(10)
@given(st.floats(0.01, 100), st.floats(-100, 100), st.integers(0, 5))
def test_unit_origin_and_order_of_concepts_do_not_count(
    unit: float, origin: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    codes = (TRUTH + 0.5 * NOISE @ rng.normal(size=(2, 2)))[:300]
    truth, label = TRUTH[:300], (A + B)[:300]
    one = ctl(codes, truth, labels=label)
    other = ctl(unit * codes[:, ::-1] + origin, truth[:, ::-1], labels=label)
    assert other.score == pytest.approx(one.score, abs=0.02)
    pair = icl(codes, truth)
    assert icl(unit * codes[:, ::-1] + origin, truth[:, ::-1]).score == pytest.approx(
        pair.score, abs=0.02
    )
    matrix = array(pair, "leakage")
    np.testing.assert_array_equal(matrix, matrix.T)
    assert (matrix.diagonal() == 0).all()
    assert 0 <= pair.score <= 1


def test_a_code_of_one_value_tells_nothing() -> None:
    codes = np.stack([np.full(1_000, 0.3), B], axis=1)
    assert ctl(codes, TRUTH, labels=A).score == 0
    assert array(icl(codes, TRUTH), "between_codes")[0, 1] == 0


def test_codes_in_another_order_are_aligned() -> None:
    codes = np.concatenate([NOISE[:, :1], TRUTH[:, ::-1]], axis=1)
    found = ctl(codes, TRUTH, labels=A, align=True)
    assert found.settings["alignment"] == [2, 1]
    assert found.score == 0
    assert icl(codes, TRUTH, align=True).score == 0
    assert ctl(TRUTH[:, ::-1], TRUTH, labels=A).score == pytest.approx(0.5)


def test_equal_arguments_give_equal_scores() -> None:
    tied = np.round(TRUTH + 0.2 * NOISE, 1)
    assert icl(tied, TRUTH, seed=3).to_json() == icl(tied, TRUTH, seed=3).to_json()


def test_refusals() -> None:
    for arguments, said in (
        ({"codes": NOISE, "factors": TRUTH[:, :1]}, "2 codes for 1 concepts"),
        ({"codes": TRUTH[:, :1], "factors": TRUTH[:, :1]}, "there is one concept"),
        ({"codes": TRUTH, "factors": TRUTH, "estimator": "x"}, "neighbours, bins"),
        ({"codes": TRUTH, "factors": TRUTH, "neighbours": 1_000}, "among 1000 rows"),
        ({"codes": TRUTH, "factors": TRUTH, "neighbours": 0}, "neighbours is 0"),
        ({"codes": TRUTH, "factors": TRUTH, "seed": -1}, "the seed is -1"),
    ):
        with pytest.raises(MetricError) as refused:
            icl(**arguments)  # type: ignore[arg-type]
        assert said in str(refused.value)
