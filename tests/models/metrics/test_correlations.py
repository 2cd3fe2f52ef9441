"""Correlations of the factors that tell most of a label."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.errors import MetricError
from labapp.models.datasets.birds import SPECIES, FieldMark, marks_of
from labapp.models.metrics.evaluation.scores import correlations
from tests.helpers.sample import examples


def test_the_factors_that_tell_most_come_first() -> None:
    a, b = np.array([(0, 0), (0, 1), (1, 0), (1, 1)] * 50).T
    label = 2 * a + b
    # A copy of the label, of its second digit, and its second digit with a quarter turned over.
    factors = np.stack([np.arange(200) % 3, b, label, np.where(np.arange(200) < 50, 1 - b, b)], 1)
    found = correlations(factors, label, top=3)
    assert found.chosen.tolist() == [2, 1, 3]
    np.testing.assert_allclose(found.mutual_information[:2], [np.log(4), np.log(2)])
    assert found.matrix[0, 1] == pytest.approx(1 / np.sqrt(5))
    assert found.matrix[1, 2] == pytest.approx(0.5)
    assert found.mean == pytest.approx(found.matrix[np.triu_indices(3, 1)].mean())


def test_the_marks_of_the_painted_birds() -> None:
    """By hand: 20 species as often; a crest and wing spots in ten and eight of them."""
    marks = np.array([marks_of(species) for species in range(SPECIES)])
    found = correlations(marks, np.arange(SPECIES))
    order = [FieldMark(place) for place in found.chosen]
    shares = marks.mean(axis=0)[found.chosen]
    entropies = -(shares * np.log(shares) + (1 - shares) * np.log(1 - shares))
    # A mark is decided by the species: it tells its own entropy.
    np.testing.assert_allclose(found.mutual_information, entropies)
    assert set(order) == set(FieldMark)
    known = np.corrcoef(marks[:, FieldMark.CREST], marks[:, FieldMark.PATTERN])[0, 1]
    places = order.index(FieldMark.CREST), order.index(FieldMark.PATTERN)
    assert found.matrix[places] == pytest.approx(abs(known))


@examples(20)
@given(st.integers(0, 100), st.integers(1, 6))
def test_signs_and_units_do_not_count(seed: int, top: int) -> None:
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, 2, (60, 4)).astype(float)
    factors[:2] = [[0] * 4, [1] * 4]
    label = (factors @ rng.normal(size=4)).round(1)
    label[:2] = [-9, 9]
    one = correlations(factors, label, top=top)
    other = correlations(3 - 2 * factors, 7 * label, top=top)
    np.testing.assert_array_equal(one.chosen, other.chosen)
    np.testing.assert_allclose(one.matrix, other.matrix, atol=1e-12)
    assert (one.matrix.diagonal() == 1).all()
    assert (np.diff(one.mutual_information) <= 1e-12).all()
    assert len(one.chosen) == min(top, 4)


def test_a_single_factor_has_no_pair() -> None:
    found = correlations(np.array([[0.0], [1.0], [1.0]]), [0, 1, 2], top=5)
    assert found.matrix.tolist() == [[1.0]]
    assert np.isnan(found.mean)
    assert found.to_json(["a"])["mean"] is None


def test_refusals() -> None:
    factors = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    with pytest.raises(MetricError, match="top is 0"):
        correlations(factors, [0, 1, 2], top=0)
    with pytest.raises(MetricError, match="every label is 1"):
        correlations(factors, [1, 1, 1])
    with pytest.raises(MetricError, match="there are 3 rows"):
        correlations(factors, [1, 2])
