"""The room: each shape covers what its geometry says, and moves with scale and orientation."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from labapp.models.datasets.concepts import shapes


def covered(view: shapes.ShadedView) -> NDArray[np.bool_]:
    """Pixels that the object fills by half or more."""
    return view.light[2] > view.light[:2].sum(axis=0)


@pytest.mark.parametrize("shape", range(4))
def test_light_is_shared_and_never_too_much(shape: int) -> None:
    view = shapes.view(1.0, shape, 10.0)
    assert view.light.dtype == view.shine.dtype == np.float32
    assert view.light.min() >= 0
    assert view.shine.min() >= 0
    total = view.light.sum(axis=0)
    assert total.min() > 0.05  # every pixel shows something
    assert total.max() <= 1.0 + 1e-6
    assert (view.shine[~covered(view) & (view.light[2] == 0)] == 0).all()


@pytest.mark.parametrize("shape", range(4))
def test_larger_and_in_the_middle(shape: int) -> None:
    areas = [covered(shapes.view(scale, shape, 0.0)).sum() for scale in (0.75, 1.0, 1.25)]
    assert areas[0] * 1.3 < areas[1] < areas[2] / 1.2
    columns = np.flatnonzero(covered(shapes.view(1.0, shape, 0.0)).any(axis=0))
    assert abs(columns.mean() - 31.5) <= 1.0


def test_shapes_are_four_different_ones() -> None:
    seen = [covered(shapes.view(1.0, shape, 0.0)) for shape in range(4)]
    heights = [int(mask.any(axis=1).sum()) for mask in seen]
    widths = [int(mask.any(axis=0).sum()) for mask in seen]
    assert heights[3] > max(heights[:3])  # the capsule is tall and slim
    assert widths[3] < min(widths[:3])
    # A ball looks round, and covers pi/4 of its box; a cube from the front all of it but its edge.
    assert heights[2] == pytest.approx(widths[2], abs=2)
    share = [mask.sum() / (h * w) for mask, h, w in zip(seen, heights, widths, strict=True)]
    assert share[2] == pytest.approx(np.pi / 4, abs=0.05)
    assert share[0] > 0.9


@pytest.mark.parametrize("shape", range(4))
def test_every_orientation_looks_different(shape: int) -> None:
    views = [shapes.view(1.0, shape, angle) for angle in np.linspace(-30, 30, 15)]
    for one, other in pairwise(views):
        assert np.abs(one.light - other.light).mean() > 1e-3
    # Round bodies cover the same pixels from all sides, but for edges that the light decides.
    if shape:
        assert (covered(views[0]) != covered(views[-1])).sum() < 10


def test_the_corner_moves_with_the_viewer_and_the_walls_differ_in_light() -> None:
    front = shapes.view(0.75, 2, 0.0).light[1][4]
    assert front[:20].std() < 0.02  # one wall
    assert front[40:].mean() > 1.2 * front[:20].mean()
    steps = []
    for angle in (-15.0, 0.0, 15.0):
        row = shapes.view(0.75, 2, angle).light[1][4]
        steps.append(int(np.abs(np.diff(row)).argmax()))
    assert steps[0] < steps[1] < steps[2]


def test_colours_mix_by_light() -> None:
    view = shapes.view(1.0, 2, 0.0)
    white = view.coloured(np.ones((1, 3, 3), np.float32))[0]
    np.testing.assert_allclose(white[0], np.minimum(view.light.sum(axis=0) + view.shine, 1))
    np.testing.assert_array_equal(white[0], white[2])
    black = view.coloured(np.zeros((1, 3, 3), np.float32))[0]
    np.testing.assert_array_equal(black[1], view.shine)
