"""The vector painter against areas and blends worked out by hand."""

from __future__ import annotations

import gc
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from labapp.models.datasets.painter import (
    Affine,
    Gradient,
    Shape,
    box,
    ellipse,
    extents,
    label_map,
    paint,
    turned,
)

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
    first, then = turned(30, (3, 4)), Affine(2, 0, 0.5, -1, 7, 8)
    want = then.point(*first.point(1.5, -2.5))
    assert then.after(first).point(1.5, -2.5) == pytest.approx(want)
    assert turned(90).point(1, 0) == pytest.approx((0, 1))
    assert turned(40, (3, 4)).point(3, 4) == pytest.approx((3, 4))


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
