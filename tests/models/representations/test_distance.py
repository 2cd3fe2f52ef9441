"""Distances and thresholds against values worked out by hand, and their properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from labapp.models.representations import distance

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


@pytest.mark.parametrize("name", [*distance.NAMES, "mse/0.2", "mae/0.1", "ssim/0.5"])
@given(x=pixels, target=pixels)
def test_a_distance_is_symmetric_in_the_unit_interval_and_0_to_itself(
    name: str, x: Array, target: Array
) -> None:
    d = distance.get_distance(name)
    assert 0 <= d(x, target) <= 1
    assert d(x, target) == d(target, x)
    assert d(x, x) == 0


@pytest.mark.parametrize("name", [*distance.NAMES, "mse/0.2", "mae/0.1", "ssim/0.5"])
def test_two_empty_pictures_agree(name: str) -> None:
    empty = np.zeros((4, 4), np.float32)
    assert distance.get_distance(name)(empty, empty) == 0


def test_a_target_is_reached_a_thousandth_early() -> None:
    assert distance.reaches_target(0.9, 0.9)
    assert distance.reaches_target(0.8995, 0.9)
    assert not distance.reaches_target(0.8985, 0.9)


def test_squared_error_is_given_as_sum_and_as_mean() -> None:
    x, target = np.zeros((2, 2), np.float32), np.array([[1, 2], [0, 0]], np.float32)
    totals, means = distance.squared_errors(np.stack([x, target]), target)
    assert (totals.tolist(), means.tolist()) == ([5, 0], [1.25, 0])


@pytest.mark.parametrize("name", [*distance.NAMES, "mse/0.2", "ssim/0.5"])
@given(x=arrays(np.float32, (3, 6, 6), elements=st.floats(0, 1, width=32)), target=pixels)
def test_many_pictures_are_as_far_away_as_each_alone(name: str, x: Array, target: Array) -> None:
    d = distance.get_distance(name)
    assert d.many(x, target).tolist() == [d(picture, target) for picture in x]


@pytest.mark.parametrize(
    ("shape", "published"),
    [
        ((16, 16), 0.8585358805705611),
        ((24, 32), 0.8773303110369675),
        ((20, 20, 3), 0.8741593525460957),
    ],
)
def test_ssim_is_that_of_wang_and_others(shape: tuple[int, ...], published: float) -> None:
    """scikit-image's structural_similarity(a, b, data_range=1, gaussian_weights=True, sigma=1.5,
    use_sample_covariance=False)."""
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    a = 0.5 + 0.5 * np.sin(columns / 3) * np.cos(rows / 4)
    b = np.clip(a + 0.1 * np.cos(columns * rows / 7), 0, 1)
    if len(shape) == 3:
        a, b = np.stack([a, a**2, 1 - a], -1), np.stack([b, b**2, 1 - b], -1)
    ours = distance.ssim(a.astype(np.float32), b.astype(np.float32))
    assert 1 - 2 * ours == pytest.approx(published, abs=1e-9)


def test_a_scale_says_how_far_apart_is_not_alike_at_all() -> None:
    x, target = np.zeros((2, 2, 3), np.float32), np.full((2, 2, 3), 0.1, np.float32)
    assert distance.get_distance("mse")(x, target) == pytest.approx(0.01)
    assert distance.get_distance("mse/0.04")(x, target) == pytest.approx(0.25)
    assert distance.get_distance("mae/0.05")(x, target) == 1


@pytest.mark.parametrize("name", ["", "rmse", "mnist/2", "mse/", "mse/0", "mse/-1", "mse/nan"])
def test_what_is_no_distance_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(ValueError, match=r"one of sinelines, .*, ssim, or mse, mae, ssim with a"):
        distance.get_distance(name)
