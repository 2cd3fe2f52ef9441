"""The drawn pictures of dSprites: their order, where and how shapes lie, and the division."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from labapp.models.datasets import dsprites
from labapp.models.datasets.dsprites import draw_large
from tests.helpers.sample import examples

SQUARE, ELLIPSE, HEART = 1, 2, 3
SHAPES = (SQUARE, ELLIPSE, HEART)
TURN = 2 * math.pi

shapes = st.sampled_from(SHAPES)
scales = st.sampled_from([0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
turns = st.integers(0, 39).map(lambda step: step * TURN / 39)
eighths = st.integers(0, 8).map(lambda step: step / 8)
"""Positions whose centres are exact in binary, so that whole pixels can be compared."""


def one(
    shape: float, scale: float = 1, turn: float = 0, x: float = 0.5, y: float = 0.5
) -> NDArray[np.float32]:
    return dsprites.pictures(np.array([[shape, scale, turn, x, y]]))[0]


def centroid(picture: NDArray[np.float32]) -> tuple[float, float]:
    """(right, down) in pixels."""
    down, right = np.nonzero(picture)
    return float(right.mean()), float(down.mean())


def test_the_grid_counts_737_280_rows_with_y_fastest() -> None:
    assert dsprites.COUNT == 737_280 == math.prod(dsprites.SIZES)
    rows = np.array([0, 1, 32, 32 * 32, 40 * 32 * 32, 6 * 40 * 32 * 32, dsprites.COUNT - 1])
    expected = [
        [0, 0, 0, 0, 0],
        [0, 0, 0, 0, 1],
        [0, 0, 0, 1, 0],
        [0, 0, 1, 0, 0],
        [0, 1, 0, 0, 0],
        [1, 0, 0, 0, 0],
        [2, 5, 39, 31, 31],
    ]
    assert dsprites.grid_indices(rows).tolist() == expected


def test_every_row_has_factors_of_its_own_that_lead_back_to_it() -> None:
    rows = np.arange(dsprites.COUNT)
    low, high = np.array(dsprites.LIMITS).T
    steps = (dsprites.grid_factors(rows) - low) / (high - low) * (np.array(dsprites.SIZES) - 1)
    back = np.ravel_multi_index(tuple(steps.round().astype(int).T), dsprites.SIZES)
    assert np.array_equal(back, rows)


def test_factor_values_are_those_of_the_published_model() -> None:
    values = dsprites.grid_factors(np.arange(dsprites.COUNT))
    found = [np.unique(column) for column in values.T]
    np.testing.assert_allclose(found[0], [1, 2, 3])
    np.testing.assert_allclose(found[1], [0.5, 0.6, 0.7, 0.8, 0.9, 1])
    np.testing.assert_allclose(found[2], np.arange(40) * 2 * np.pi / 39)
    np.testing.assert_allclose(found[3], np.arange(32) / 31)
    np.testing.assert_allclose(found[4], np.arange(32) / 31)


@pytest.mark.parametrize("row", [-1, dsprites.COUNT])
def test_rows_outside_the_grid_are_refused(row: int) -> None:
    with pytest.raises(ValueError):
        dsprites.grid_factors(np.array([row]))


def test_pictures_are_black_and_white() -> None:
    rows = np.random.default_rng(0).integers(0, dsprites.COUNT, 300)
    x = dsprites.pictures(dsprites.grid_factors(rows))
    assert x.shape == (300, 64, 64)
    assert x.dtype == np.float32
    assert set(np.unique(x)) == {0, 1}
    assert (x.sum(axis=(1, 2)) > 40).all()


def test_no_rows_no_pictures() -> None:
    assert dsprites.pictures(np.zeros((0, 5))).shape == (0, 64, 64)


def test_a_picture_is_the_same_in_any_company() -> None:
    rows = np.random.default_rng(1).integers(0, dsprites.COUNT, 300)
    factors = dsprites.grid_factors(rows)
    alone = np.concatenate([dsprites.pictures(factors[i : i + 1]) for i in range(300)])
    assert np.array_equal(dsprites.pictures(factors), alone)


def test_the_square_at_full_size_is_20_pixels_wide_round_the_middle() -> None:
    # Centre 31.5, half side 9.53: pixels 22 to 41.
    expected = np.zeros((64, 64))
    expected[22:42, 22:42] = 1
    assert np.array_equal(one(SQUARE), expected)


def test_the_ellipse_lies_level_and_the_heart_stands_on_its_tip() -> None:
    down, right = np.nonzero(one(ELLIPSE))
    assert (np.ptp(right) + 1, np.ptp(down) + 1) == (26, 14)
    heart = one(HEART)
    down, right = np.nonzero(heart)
    assert (np.ptp(right) + 1, np.ptp(down) + 1) == (18, 17)
    widths = heart.sum(axis=1)[down.min() : down.max() + 1]
    assert widths[:6].mean() > 2 * widths[-6:].mean()
    # Two lobes: the topmost row is white on both sides of a black notch.
    top = heart[down.min()]
    assert np.count_nonzero(np.diff(top)) == 4
    assert top[31] == top[32] == 0


@pytest.mark.parametrize("shape", [SQUARE, ELLIPSE])
@pytest.mark.parametrize(("x", "y"), [(0, 0), (1, 0), (0, 1), (0.3, 0.9)])
def test_x_moves_right_and_y_down_by_32_pixels(shape: int, x: float, y: float) -> None:
    right, down = centroid(one(shape, 0.8, 0.4, x, y))
    assert right == pytest.approx(15.5 + 32 * x, abs=0.15)
    assert down == pytest.approx(15.5 + 32 * y, abs=0.15)


def test_the_heart_hangs_2_pixels_above_its_centre() -> None:
    right, down = centroid(one(HEART))
    assert right == pytest.approx(31.5, abs=0.01)
    assert down == pytest.approx(31.5 - 2, abs=0.2)


@pytest.mark.parametrize("shape", SHAPES)
def test_areas_grow_with_the_square_of_the_scale(shape: int) -> None:
    rng = np.random.default_rng(shape)
    factors = np.concatenate([np.full((400, 2), shape), rng.random((400, 3))], axis=1)
    factors[:, 2] *= TURN
    areas = []
    for scale in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        factors[:, 1] = scale
        areas.append(dsprites.pictures(factors).sum() / 400 / scale**2)
    np.testing.assert_allclose(areas, areas[-1], rtol=0.01)


@pytest.mark.parametrize("degrees", [20, 70, 120, 160])
def test_rotation_turns_anticlockwise_on_the_screen(degrees: int) -> None:
    down, right = np.nonzero(one(ELLIPSE, turn=math.radians(degrees)))
    covariance = np.cov(right, -down)
    axis = np.linalg.eigh(covariance)[1][:, -1]
    assert math.degrees(math.atan2(axis[1], axis[0])) % 180 == pytest.approx(degrees, abs=1.5)


def test_a_quarter_turn_points_the_tip_of_the_heart_to_the_right() -> None:
    assert centroid(one(HEART, turn=TURN / 4))[0] == pytest.approx(31.5 - 2, abs=0.2)
    assert np.array_equal(one(HEART, turn=TURN / 4), np.rot90(one(HEART)))


@pytest.mark.parametrize(
    ("shape", "part"), [(SQUARE, TURN / 4), (ELLIPSE, TURN / 2), (HEART, TURN)]
)
@examples(30)
@given(scale=scales, turn=turns)
def test_each_shape_comes_round_to_itself(
    shape: int, part: float, scale: float, turn: float
) -> None:
    assert np.array_equal(one(shape, scale, turn), one(shape, scale, turn + part))


@examples(60)
@given(shape=shapes, scale=scales, turn=turns)
def test_every_shape_is_its_own_mirror_image(shape: int, scale: float, turn: float) -> None:
    assert np.array_equal(one(shape, scale, turn), one(shape, scale, -turn)[:, ::-1])


@examples(60)
@given(shape=shapes, scale=scales, turn=turns, x=eighths, y=eighths)
def test_moving_shifts_the_picture_and_cuts_nothing_off(
    shape: int, scale: float, turn: float, x: float, y: float
) -> None:
    shift = (round(32 * (y - 0.5)), round(32 * (x - 0.5)))
    moved = np.roll(one(shape, scale, turn), shift, axis=(0, 1))
    assert np.array_equal(one(shape, scale, turn, x, y), moved)


@examples(60)
@given(shape=shapes, small=scales, large=scales, turn=turns)
def test_a_larger_scale_never_loses_a_pixel(
    shape: int, small: float, large: float, turn: float
) -> None:
    small, large = sorted((small, large))
    assert (one(shape, small, turn) <= one(shape, large, turn)).all()


def test_a_shape_between_two_is_the_nearer_one() -> None:
    assert np.array_equal(one(1.4), one(SQUARE))
    assert np.array_equal(one(1.6), one(ELLIPSE))


@pytest.mark.parametrize("shape", [(5,), (1, 4), (1, 5, 1)])
def test_other_arrays_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"\(n, 5\)"):
        dsprites.pictures(np.ones(shape))


@pytest.mark.parametrize(
    "factors",
    [
        (0, 1, 0, 0, 0),
        (4, 1, 0, 0, 0),
        (1, 0, 0, 0, 0),
        (1, 1.1, 0, 0, 0),
        (1, 1, math.inf, 0, 0),
        (1, 1, 0, -0.1, 0),
        (1, 1, 0, 0, 1.1),
        (1, 1, 0, math.nan, 0),
    ],
)
def test_factors_outside_their_limits_are_refused(factors: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match=r"scale in \(0, 1\]"):
        dsprites.pictures(np.array([factors]))


def test_the_division_keeps_every_row_once() -> None:
    division = dsprites.split(held_out=73_728, seed=1)
    assert isinstance(division.train, dsprites.RenderedSprites)
    assert isinstance(division.held, dsprites.RenderedSprites)
    train, held = division.train.grid_rows, division.held.grid_rows
    assert (len(division.train), len(division.held)) == (663_552, 73_728)
    assert np.array_equal(np.sort(np.concatenate([train, held])), np.arange(dsprites.COUNT))
    assert (np.diff(held) > 0).all()
    assert division.factor_names == dsprites.NAMES
    assert division.generative


def test_the_division_is_the_same_for_ever() -> None:
    held = dsprites.split(held_out=73_728, seed=1).held
    assert isinstance(held, dsprites.RenderedSprites)
    assert held.grid_rows[:5].tolist() == [9, 36, 39, 55, 61]
    other = dsprites.split(held_out=73_728, seed=2).held
    assert isinstance(other, dsprites.RenderedSprites)
    assert not np.array_equal(held.grid_rows, other.grid_rows)


def test_rows_of_the_division_are_drawn_from_their_factors() -> None:
    held = dsprites.split(held_out=1_000, seed=3).held
    rows = np.array([5, 999, 0, 5])
    assert np.array_equal(held.instances(rows), dsprites.pictures(held.factors(rows)))
    assert np.array_equal(held.factors(rows)[0], held.factors(rows)[3])
    assert held.factors(rows).shape == (4, 5)


@pytest.mark.parametrize("held_out", [0, dsprites.COUNT])
def test_a_division_with_an_empty_side_is_refused(held_out: int) -> None:
    with pytest.raises(ValueError, match="held_out"):
        dsprites.split(held_out=held_out, seed=1)


def test_a_large_picture_shows_what_the_small_one_does() -> None:
    rows = np.random.default_rng(0).integers(0, dsprites.COUNT, 12)
    factors = dsprites.grid_factors(rows)
    small = dsprites.pictures(factors)
    for picture, row in zip(small, factors, strict=True):
        large = draw_large(row, 256)
        assert large.shape == (256, 256)
        coarse = large.reshape(64, 4, 64, 4).mean(axis=(1, 3))
        # Only pixels at the edge differ: those are partly covered.
        inner = (coarse == 0) | (coarse == 1)
        np.testing.assert_array_equal(coarse[inner], picture[inner])
        assert np.abs(coarse - picture).max() < 0.8
