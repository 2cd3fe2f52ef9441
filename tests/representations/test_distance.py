"""Distances and thresholds against values worked out by hand, and their properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from labapp.representations import distance

Array = NDArray[np.float32]
pixels = arrays(np.float32, (6, 6), elements=st.floats(0, 1, width=32))


def test_sinelines_counts_points_that_differ_by_more_than_half() -> None:
    x, target = np.zeros(64, np.float32), np.zeros(64, np.float32)
    target[:16] = 0.5  # exactly the tolerance still agrees
    assert distance.sinelines(x, target) == 0
    target[:16] = -0.75
    assert distance.sinelines(x, target) == 0.25


def test_dsprites_is_the_difference_over_the_whole() -> None:
    x, target = np.zeros((8, 8), np.float32), np.zeros((8, 8), np.float32)
    x[0, :4] = 1
    target[0, 2:8] = 1
    assert distance.dsprites(x, target) == 6 / 10
    assert distance.dsprites_as_published(x, target) == pytest.approx(6 / 10.01)


def test_mnist_is_one_less_the_overlap_of_rounded_pixels() -> None:
    x, target = np.full((4, 4), 0.49, np.float32), np.zeros((4, 4), np.float32)
    assert distance.mnist(x, target) == 0  # both empty once rounded
    x[0, :3] = 0.5
    target[0, 1:4] = 0.9
    assert distance.mnist(x, target) == 1 - 2 / 4


@pytest.mark.parametrize("name", distance.DISTANCES)
@given(x=pixels, target=pixels)
def test_a_distance_is_symmetric_in_the_unit_interval_and_0_to_itself(
    name: str, x: Array, target: Array
) -> None:
    d = distance.DISTANCES[name]
    assert 0 <= d(x, target) <= 1
    assert d(x, target) == d(target, x)
    assert d(x, x) == 0


@pytest.mark.parametrize("name", distance.DISTANCES)
def test_two_empty_pictures_agree(name: str) -> None:
    empty = np.zeros((4, 4), np.float32)
    assert distance.DISTANCES[name](empty, empty) == 0


def test_a_target_is_reached_a_thousandth_early() -> None:
    assert distance.reached(0.9, 0.9)
    assert distance.reached(0.8995, 0.9)
    assert not distance.reached(0.8985, 0.9)


def test_squared_error_is_given_as_sum_and_as_mean() -> None:
    x, target = np.zeros((2, 2), np.float32), np.array([[1, 2], [0, 0]], np.float32)
    assert distance.squared_error(x, target) == (5, 1.25)
