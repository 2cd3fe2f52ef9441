"""Areas averaged by hand, and what averaging keeps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.models.datasets.painter import average_blocks


def test_two_pixels_become_one_and_three_become_two() -> None:
    halves = np.array([[[[0, 100], [20, 200]]]], np.uint8)
    assert average_blocks(halves, 1).tolist() == [[[[80]]]]
    # Each of two covers one and a half of three: (a + b / 2) / 1.5.
    row = np.broadcast_to(np.array([30, 60, 90], np.uint8), (1, 1, 3, 3))
    assert average_blocks(row, 2)[0, 0].tolist() == [[40, 80], [40, 80]]


@given(st.integers(1, 24), st.integers(0, 23), st.integers(0, 10**6))
def test_the_mean_stays_and_nothing_leaves_its_range(side: int, less: int, seed: int) -> None:
    size = max(side - less, 1)
    picture = np.random.default_rng(seed).integers(0, 256, (2, 3, side, side), np.uint8)
    made = average_blocks(picture, size)
    assert made.shape == (2, 3, size, size)
    assert made.min() >= picture.min()
    assert made.max() <= picture.max()
    assert np.abs(made.mean((2, 3)) - picture.mean((2, 3))).max() <= 0.5 + 1e-9
    if size == side:
        np.testing.assert_array_equal(made, picture)


@pytest.mark.parametrize("size", [0, 9])
def test_more_pixels_than_there_are_cannot_be_made(size: int) -> None:
    with pytest.raises(ValueError, match="between 1 and 8"):
        average_blocks(np.zeros((1, 1, 8, 8), np.uint8), size)
