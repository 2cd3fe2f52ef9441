"""Codes whose purity is known: a pure one tells one concept, an impure one tells all."""

from __future__ import annotations

import numpy as np
import pytest

from labapp.models.datasets.concepts.rows import hand_made


def test_the_paper_s_sizes_and_ranges() -> None:
    made = hand_made()
    assert made.concepts.shape == made.pure.shape == made.impure.shape == (3_000, 5)
    assert set(np.unique(made.concepts)) == {0.0, 1.0}
    for codes in (made.pure, made.impure):
        on = made.concepts == 1
        assert (codes[on].min(), codes[on].max()) == pytest.approx((0.95, 1.0), abs=0.005)
        assert (codes[~on].min(), codes[~on].max()) == pytest.approx((0.0, 0.05), abs=0.005)


def test_every_concept_can_be_read_from_any_impure_code() -> None:
    made = hand_made(seed=3)
    for j, code in enumerate(made.impure.T):
        concept = code > 0.5
        tile = np.floor((code - 0.95 * concept) / 0.05 * 16).astype(int)
        others = np.stack([(tile >> shift) & 1 for shift in (3, 2, 1, 0)], axis=1)
        np.testing.assert_array_equal(others, np.delete(made.concepts, j, axis=1))
        np.testing.assert_array_equal(concept, made.concepts[:, j])


def test_a_pure_code_tells_nothing_beyond_its_concept() -> None:
    made = hand_made(seed=4, covariance=0.0, rows=20_000)
    place = (made.pure - 0.95 * made.concepts) / 0.05
    np.testing.assert_allclose(np.corrcoef(place.T, made.concepts.T)[:5, 5:], 0, atol=0.03)


# The correlation of the signs of normal numbers is 2/pi arcsin of theirs: 0.161 for 0.25.
@pytest.mark.parametrize(("covariance", "of_signs"), [(0.0, 0.0), (0.25, 0.1609), (1.0, 1.0)])
def test_both_readings_of_the_covariance(covariance: float, of_signs: float) -> None:
    concepts = hand_made(covariance=covariance, rows=50_000).concepts
    off = np.corrcoef(concepts.T)[np.triu_indices(5, 1)]
    np.testing.assert_allclose(off, of_signs, atol=0.02)


def test_equal_seeds_equal_codes() -> None:
    first, again, other = (hand_made(seed=seed).impure for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize("given", [{"rows": 0}, {"count": 0}, {"count": 21}, {"covariance": 1.5}])
def test_refused(given: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="found"):
        hand_made(**given)
