"""Columns of classes, and the division of rows that leaves every class on both sides."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.errors import MetricError
from labapp.models.metrics.inputs import MOST_CLASSES, concepts, divide_rows
from tests.helpers.sample import examples


def test_values_become_classes_in_their_order() -> None:
    found = concepts(np.array([[-1.0, 0.5], [7, 0.25], [-1, 0.5], [7, 2], [7, 2], [7, 0.25]]))
    assert found.classes == (2, 3)
    assert found.labels.T.tolist() == [[0, 1, 0, 1, 1, 1], [1, 0, 1, 2, 2, 0]]


def test_a_measurement_is_no_concept() -> None:
    with pytest.raises(MetricError, match=r"factors: column 1 is 0 in one row only"):
        concepts(np.stack([np.arange(40) % 2, np.arange(40)], axis=1).astype(float))
    many = np.repeat(np.arange(MOST_CLASSES + 1.0), 2)[:, None]
    with pytest.raises(MetricError, match="column 0 has 101 values; a concept has at most 100"):
        concepts(many)
    concepts(many[:-2])


@examples(40)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(60, 200))
def test_every_class_is_on_both_sides(seed: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    labels = np.stack([rng.integers(0, 3, rows), np.arange(rows) < 4], axis=1).astype(float)
    found = concepts(labels)
    division = divide_rows(found, rng)
    assert len(division.test) == round(rows / 5)
    both = np.concatenate([division.train, division.test])
    assert np.array_equal(np.sort(both), np.arange(rows))
    for side in (division.train, division.test):
        assert [len(np.unique(column)) for column in found.labels[side].T] == [3, 2]


def test_the_first_draw_is_taken_where_it_will_do() -> None:
    found = concepts((np.random.default_rng(0).random((300, 2)) > 0.5).astype(float))
    order = np.random.default_rng(5).permutation(300)
    division = divide_rows(found, np.random.default_rng(5))
    assert np.array_equal(division.test, order[:60])
    assert np.array_equal(division.train, order[60:])


def test_rows_that_cannot_be_divided_are_refused() -> None:
    # One test row cannot hold two classes.
    with pytest.raises(MetricError, match="a class of factor column 0 is too rare for 4 rows"):
        divide_rows(concepts(np.array([[0.0], [0], [1], [1]])), np.random.default_rng(0))
