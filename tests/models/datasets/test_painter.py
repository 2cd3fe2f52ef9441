"""Painted pictures against areas and formulas worked out by hand."""

from __future__ import annotations

import gc
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from labapp.models.datasets import circles, sinelines
from labapp.models.datasets.painter import (
    Affine,
    Gradient,
    Shape,
    box,
    ellipse,
    extents,
    label_map,
    paint,
    rotate_about,
)
from tests.helpers.sample import examples

BLACK = (0.0, 0.0, 0.0)

WHITE = (1.0, 1.0, 1.0)

DARK = Gradient((0, 0), (100, 0), BLACK, BLACK)


def test_a_box_fills_its_pixels_in_its_colour_and_no_others() -> None:
    made = paint([Shape(box(10, 20, 30, 40), (1.0, 0.6, 0.2))], DARK, 50)
    assert made.dtype == np.float32
    assert made.shape == (3, 50, 50)
    want = np.zeros((3, 50, 50))
    want[:, 10:30, 5:20] = np.array([255, 153, 51])[:, None, None] / 255
    np.testing.assert_allclose(made, want, atol=1 / 255)


def test_an_edge_through_the_middle_of_a_pixel_leaves_it_half_filled() -> None:
    made = paint([Shape(box(0, 0, 51, 100), WHITE)], DARK, 50)
    np.testing.assert_allclose(made[:, :, 25], 0.5, atol=0.02)


def test_a_see_through_shape_blends_and_one_without_colour_is_not_there() -> None:
    shapes = [Shape(box(0, 0, 100, 100), WHITE, alpha=0.25), Shape(box(0, 0, 100, 100), None)]
    np.testing.assert_allclose(paint(shapes, DARK, 8), 0.25, atol=1 / 255)


def test_a_ground_blends_from_its_first_colour_to_its_last() -> None:
    made = paint([], Gradient((0, 0), (100, 0), BLACK, WHITE), 100)
    want = np.broadcast_to((np.arange(100) + 0.5) / 100, (3, 100, 100))
    np.testing.assert_allclose(made, want, atol=0.01)


@pytest.mark.parametrize("degrees", [0, 30, 90])
def test_an_ellipse_covers_its_area_whichever_way_it_is_turned(degrees: float) -> None:
    made = paint([Shape(ellipse(50, 50, 30, 15, degrees), WHITE)], DARK, 200)
    assert made[0].sum() / 4 == pytest.approx(math.pi * 30 * 15, rel=0.005)


def test_maps_done_after_one_another_are_one_map() -> None:
    first, then = rotate_about(30, (3, 4)), Affine(2, 0, 0.5, -1, 7, 8)
    want = then.point(*first.point(1.5, -2.5))
    assert then.after(first).point(1.5, -2.5) == pytest.approx(want)
    assert rotate_about(90).point(1, 0) == pytest.approx((0, 1))
    assert rotate_about(40, (3, 4)).point(3, 4) == pytest.approx((3, 4))


def test_the_uppermost_label_is_seen_and_all_of_them_are_counted() -> None:
    shapes = [
        Shape(box(0, 0, 60, 100), WHITE, 1),
        Shape(box(0, 0, 40, 100), WHITE, 23),
        Shape(box(0, 0, 20, 100), None, 3),
        Shape(box(0, 0, 100, 100), WHITE),
    ]
    seen, there = label_map(shapes, 10), extents(shapes, 10)
    assert seen.dtype == np.uint8
    assert seen[0].tolist() == [23] * 4 + [1] * 2 + [0] * 4
    low, high, ghost = 1 << 1, 1 << 23, 1 << 3
    assert there[0].tolist() == (
        [low | high | ghost] * 2 + [low | high] * 2 + [low] * 2 + [0] * 4
    )  # fmt: skip
    assert (seen == seen[0]).all()
    assert (there == there[0]).all()


def test_a_margin_shows_what_lies_beyond_the_edges() -> None:
    seen = label_map([Shape(box(-50, 0, 50, 100), WHITE, 5)], 20, margin=50)
    want = np.zeros((20, 20))
    want[5:15, :5] = 5
    np.testing.assert_array_equal(seen, want)


def test_a_picture_without_pixels_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one pixel"):
        paint([], DARK, 0)


def test_painting_does_not_eat_references_to_none() -> None:
    """The pin of PySide6 in pyproject.toml: 6.12 drops one per void paint call."""
    shapes = [Shape(ellipse(50, 50, 30, 15), WHITE, 1), Shape(box(0, 0, 9, 9), WHITE, 2)] * 50
    paint(shapes, DARK, 16)
    gc.collect()
    before = sys.getrefcount(None)
    for _ in range(5):
        paint(shapes, DARK, 16)
        extents(shapes, 16)
    assert abs(before - sys.getrefcount(None)) < 200


def test_qt_is_loaded_by_painting_alone_and_no_application_is_made() -> None:
    code = (
        "import sys\n"
        "from labapp.models.datasets.birds import birds\n"
        "rows = birds(seed=1).train; rows.bird(3)\n"
        "assert 'PySide6' not in sys.modules\n"
        "import numpy as np; rows.instances(np.arange(2)); rows.factors(np.arange(2))\n"
        "assert 'PySide6.QtGui' in sys.modules and 'PySide6.QtWidgets' not in sys.modules\n"
        "from PySide6.QtCore import QCoreApplication\n"
        "assert QCoreApplication.instance() is None\n"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("QT_")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True, text=True, timeout=60, env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


unit = st.integers(0, 100).map(lambda step: step / 100)


def picture(radius: float, shade: float) -> NDArray[np.float32]:
    return circles.pictures(np.array([[radius, shade]], dtype=np.float32)).reshape(64, 64)


def test_the_smallest_disc_holds_the_lattice_points_strictly_inside_radius_4() -> None:
    white = picture(0, 0) > 0.5
    # Lattice points with a^2 + b^2 < 16: 7 + 2 * (7 + 7 + 5) = 45; (4, 0) lies on the edge.
    assert int(white.sum()) == 45
    assert white[31, 31]
    assert white[31, 34]
    assert not white[31, 35]
    assert white[33, 34]
    assert not white[34, 34]


def test_the_largest_disc_reaches_just_short_of_28_pixels() -> None:
    black = picture(1, 1) < 0.5
    assert black[31, 31 + 27]
    assert not black[31, 31 + 28]
    assert black[31 - 27, 31]
    assert not black[31 - 28, 31]


def test_shade_is_the_background_and_its_complement_the_disc() -> None:
    x = picture(0.5, 0.25)
    assert x[31, 31] == np.float32(0.75)
    assert x[0, 0] == np.float32(0.25)


def test_type_and_shape() -> None:
    x = circles.pictures(np.zeros((3, 2)))
    assert x.shape == (3, 64, 64)
    assert x.dtype == np.float32


@pytest.mark.parametrize("shape", [(2,), (1, 3), (1, 2, 1)])
def test_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"\(n, 2\)"):
        circles.pictures(np.zeros(shape))


@examples(60)
@given(radius=unit, shade=unit)
def test_turning_the_shade_round_swaps_disc_and_background(radius: float, shade: float) -> None:
    np.testing.assert_allclose(picture(radius, shade), 1 - picture(radius, 1 - shade), atol=1e-6)


@examples(60)
@given(small=unit, large=unit)
def test_a_larger_radius_never_loses_a_pixel(small: float, large: float) -> None:
    small, large = sorted((small, large))
    assert (picture(small, 0) <= picture(large, 0)).all()


def test_prior_states_stand_on_the_dials_steps() -> None:
    z = circles.sample_prior(4_000, seed=1)
    assert z.shape == (4_000, 2)
    steps = z.astype(np.float64) * 100
    assert np.abs(steps - steps.round()).max() < 1e-4
    assert {0, 100} <= set(steps.round().astype(int).ravel())
    assert z.min() == 0
    assert z.max() == 1
    assert np.array_equal(z, circles.sample_prior(4_000, seed=1))
    assert not np.array_equal(z, circles.sample_prior(4_000, seed=2))


factor = st.floats(-5, 5)


def one(*z: float) -> NDArray[np.float32]:
    return sinelines.series(np.array([z])).reshape(64)


def test_times_run_from_minus_3_2_to_3_1() -> None:
    assert sinelines.TIMES.shape == (64,)
    assert sinelines.TIMES[0] == -3.2
    assert sinelines.TIMES[32] == 0
    assert sinelines.TIMES[-1] == 3.1
    np.testing.assert_allclose(np.diff(sinelines.TIMES), 0.1)


def test_a_line_alone() -> None:
    x = one(0.5, 2, 0, 3, 1)
    assert x[0] == np.float32(0.4)
    assert x[32] == 2
    assert x[63] == np.float32(3.55)


def test_a_wave_alone() -> None:
    x = one(0, 0, 2, math.pi, math.pi / 2)
    assert x[32] == 2  # sin(pi / 2)
    assert x[42] == -2  # t = 1: sin(3 pi / 2)
    assert abs(x[37]) < 1e-6  # t = 0.5: sin(pi)


@examples(60)
@given(z=st.tuples(factor, factor, factor, factor, factor))
def test_every_point_is_the_formula(z: tuple[float, float, float, float, float]) -> None:
    slope, intercept, amplitude, frequency, phase = z
    for index, value in enumerate(one(*z)):
        t = (index - 32) / 10
        exact = slope * t + intercept + amplitude * math.sin(frequency * t + phase)
        assert value == pytest.approx(exact, rel=1e-6, abs=1e-5)


def test_other_shapes_of_sinelines_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\(n, 5\)"):
        sinelines.series(np.zeros((1, 4)))


@pytest.mark.parametrize(
    ("column", "distribution"),
    [
        (0, stats.uniform(-1, 2)),
        (1, stats.norm()),
        (2, stats.expon()),
        (3, stats.expon()),
        (4, stats.uniform(0, 2 * math.pi)),
    ],
)
def test_each_factor_follows_its_prior(column: int, distribution: object) -> None:
    draws = sinelines.draw_factors(20_000, seed=11)[:, column]
    result = stats.kstest(draws, distribution.cdf)  # type: ignore[attr-defined]
    assert result.pvalue > 0.01


def test_factors_are_independent() -> None:
    correlation = stats.spearmanr(sinelines.draw_factors(20_000, seed=11)).statistic
    assert np.abs(correlation - np.eye(5)).max() < 0.03


def test_dial_states_are_rounded_then_clamped() -> None:
    z = sinelines.to_dials(np.array([[-1.7, 4.004, 0.004, 12.0, 6.2832], [0.125, -9, 1, 2.006, 3]]))
    np.testing.assert_allclose(z, [[-1, 4, 0, 10, 6.28], [0.12, -4, 1, 2.01, 3]], rtol=1e-6)


def test_prior_states_lie_on_the_dials() -> None:
    z = sinelines.sample_prior(5_000, seed=0).astype(np.float64)
    low, high = np.array(sinelines.LIMITS).T
    assert (z >= low - 1e-6).all()
    assert (z <= high + 1e-6).all()
    assert np.abs(z * 100 - (z * 100).round()).max() < 1e-3


def test_the_division_is_the_same_for_ever() -> None:
    data = sinelines.split(count=50_000, held_out=5_000, seed=0)
    assert (len(data.train), len(data.held)) == (45_000, 5_000)
    # Written down when the shipped models were trained: another value means other data.
    np.testing.assert_allclose(data.train.factors(np.array([0]))[0], FIRST_TRAINED, rtol=1e-12)
    np.testing.assert_allclose(data.held.factors(np.array([-1]))[0], LAST_HELD_OUT, rtol=1e-12)


def test_series_and_factors_belong_together_and_parts_do_not_overlap() -> None:
    data = sinelines.split(count=300, held_out=30, seed=5)
    for rows in (data.held, data.train):
        every = np.arange(len(rows))
        assert np.array_equal(sinelines.series(rows.factors(every)), rows.instances(every))
    held, train = data.held.factors(np.arange(30)), data.train.factors(np.arange(270))
    assert not set(held[:, 0]) & set(train[:, 0])


@pytest.mark.parametrize("held_out", [0, 10, 11])
def test_a_division_that_leaves_nothing_is_refused(held_out: int) -> None:
    with pytest.raises(ValueError, match="between 1 and 9"):
        sinelines.split(count=10, held_out=held_out, seed=0)


FIRST_TRAINED = [
    0.2739233746429086,
    0.6768018096439974,
    0.04183659648833745,
    0.016665740712559645,
    5.109927617709579,
]

LAST_HELD_OUT = [
    -0.6870779075474673,
    -0.19521494478515244,
    0.08000953316577013,
    0.11343156358186389,
    1.5896730807376582,
]
