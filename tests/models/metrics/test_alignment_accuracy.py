"""The accuracy of the best single code of each concept."""

from __future__ import annotations

import numpy as np
import pytest

from labapp.base.errors import MetricError
from labapp.models.datasets.concepts.rows import hand_made
from labapp.models.metrics.ois import alignment_accuracy
from tests.models.metrics.made import array

RNG = np.random.default_rng(0)
TRUTH = (RNG.random((2_000, 3)) < [0.5, 0.5, 0.9]).astype(float)
NOISE = RNG.normal(size=(2_000, 1))


def test_the_best_code_of_each_concept_counts_wherever_it_stands() -> None:
    codes = np.concatenate([NOISE, TRUTH[:, [1, 0, 2]]], axis=1)
    found = alignment_accuracy(codes, TRUTH)
    assert found.score == 1.0
    np.testing.assert_array_equal(array(found, "best_code"), [2, 1, 3])


def test_one_code_may_be_the_best_of_several_concepts() -> None:
    """A code 3 c1 + c2 tells both; of a concept that no code tells, its likelier class is told."""
    found = alignment_accuracy((3 * TRUTH[:, 0] + TRUTH[:, 1])[:, None], TRUTH, epochs=40)
    np.testing.assert_array_equal(array(found, "best_code"), np.zeros(3))
    np.testing.assert_allclose(array(found, "per_factor")[:2], 1.0, atol=0.3)
    assert array(found, "per_factor")[0] == 1.0
    assert (
        array(found, "per_factor")[2] == array(found, "chance")[2] == pytest.approx(0.9, abs=0.03)
    )
    assert found.score == pytest.approx(array(found, "accuracy").max(axis=0).mean())


def test_pure_and_impure_codes_score_alike() -> None:
    made = hand_made(seed=0, covariance=0)
    scores = [
        alignment_accuracy(codes, made.concepts, epochs=10).score
        for codes in (made.pure, made.impure)
    ]
    np.testing.assert_allclose(scores, 1.0, atol=0.01)


def test_codes_of_several_numbers() -> None:
    # Whether two numbers are equal; neither tells it alone.
    equal = (TRUTH[:, 0] == TRUTH[:, 1]).astype(float)[:, None]
    pair = alignment_accuracy(2 * TRUTH[:, None, :2] - 1, equal, epochs=200)
    alone = alignment_accuracy(2 * TRUTH[:, :2] - 1, equal, epochs=20)
    assert pair.score == 1.0
    assert alone.score < 0.6


def test_refusals() -> None:
    with pytest.raises(MetricError, match="hidden is 0"):
        alignment_accuracy(TRUTH, TRUTH, hidden=0)
    with pytest.raises(MetricError, match="no coordinates"):
        alignment_accuracy(TRUTH, TRUTH, coordinates="x")  # type: ignore[arg-type]
