"""The three shapes of dSprites and how they are drawn.

A pixel is white when its centre lies inside the shape. Only the pixels that a shape of full size
can reach, a window round its centre, are looked at, many pictures at a time.

The measures were fitted to the published decoder of the true factors, which had learned the
official pictures. Its output for 6,000 random rotations and positions at scale 1, turned and moved
back into the shape's own frame, gives a mean picture of each shape at a quarter of a pixel. The
heart's points are those whose outline, blurred (by 0.49 pixels, fitted too), comes nearest to it;
side and semi-axes are those whose drawn pictures differ least. Sizes were found proportional to
scale; moving or turning all shapes a little further brings the difference down by 0.3 % at most.

The grid of dSprites' factors: which row of the data set shows what.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from labapp.models.datasets.split import Float32, Float64, Int64

SIZE = 64

SQUARE_HALF = 9.53
"""Half the side of the square at scale 1, in pixels, as all that follow."""
ELLIPSE_LONG, ELLIPSE_SHORT = 12.68, 7.22
"""The semi-axes of the ellipse; the long one lies level at rotation 0."""
HEART = (
    (0.0, -7.1), (2.0, -8.39), (4.8, -9.19), (6.83, -8.76), (8.48, -7.49), (9.38, -5.63),
    (9.5, -3.57), (8.96, -1.8), (8.31, -0.22), (1.81, 6.93), (0.0, 8.02),
)  # fmt: skip
"""The right half of the heart's outline from notch to tip, convex; (right, down) of the centre."""
NEAREST, TRAVEL = 15.5, 32.0
"""A shape's centre is at NEAREST + TRAVEL times its position, in pixels, along both axes."""
_REACH = SQUARE_HALF * math.sqrt(2.0)
_WINDOW = math.floor(2.0 * _REACH) + 1


def draw(factors: NDArray[np.floating]) -> Float32:
    """Pictures of the factors. Returns float32, shape (n, 64, 64), rows downwards, 0 black and 1
    white. Raises ValueError: another shape of array, or values outside the limits (any rotation
    will do). `factors`: shape (n, 5): shape (rounded to 1, 2 or 3), scale, rotation, x, y in the
    units of `dsprites_grid.LIMITS`, not only those of the grid."""
    values = np.asarray(factors, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != 5:
        raise ValueError(f"dSprites need factors of shape (n, 5), found {values.shape}")
    kind, scale, rotation = np.rint(values[:, 0]), values[:, 1], values[:, 2]
    place = values[:, 3:]
    within = (kind >= 1) & (kind <= 3) & (scale > 0) & (scale <= 1) & np.isfinite(rotation)
    if not (within.all() and ((place >= 0) & (place <= 1)).all()):
        raise ValueError("dSprites need shape in 1..3, scale in (0, 1] and positions in 0..1")

    centre = NEAREST + TRAVEL * place
    corner = np.ceil(centre - _REACH).astype(np.int64)
    offset = corner[:, :, None] + np.arange(_WINDOW) - centre[:, :, None]
    right, down = (offset / scale[:, None, None]).transpose(1, 0, 2)
    cos, sin = np.cos(rotation)[:, None], np.sin(rotation)[:, None]
    # The turn anticlockwise is undone: (along, across) are a pixel's coordinates in the shape.
    along = (cos * right).astype(np.float32), (-sin * down).astype(np.float32)
    across = (sin * right).astype(np.float32), (cos * down).astype(np.float32)

    window = np.empty((len(values), _WINDOW, _WINDOW), dtype=np.bool_)
    for number, inside in enumerate((_in_square, _in_ellipse, _in_heart), start=1):
        chosen = np.flatnonzero(kind == number)
        if len(chosen):
            u = along[0][chosen, None, :] + along[1][chosen, :, None]
            v = across[0][chosen, None, :] + across[1][chosen, :, None]
            window[chosen] = inside(u, v)

    pictures = np.zeros((len(values), SIZE, SIZE), dtype=np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(
        pictures, (_WINDOW, _WINDOW), axis=(1, 2), writeable=True
    )
    windows[np.arange(len(values)), corner[:, 1], corner[:, 0]] = window
    return pictures


LARGE_FINE = 3
"""Points a pixel along each axis of a large picture: its edges are smooth."""


def draw_large(factors: NDArray[np.floating], pixels: int) -> Float32:
    """A picture of one row of factors for people, with smooth edges: float32 from 0 to 1, shape
    (pixels, pixels). factors: shape (5,), as for `draw`."""
    kind, scale, rotation, *place = np.asarray(factors, dtype=np.float64).tolist()
    fine = pixels * LARGE_FINE
    # In the pixels of the small picture, whose centres lie at whole numbers.
    at = (np.arange(fine) + 0.5) * SIZE / fine - 0.5
    right, down = ((at - NEAREST - TRAVEL * place[axis]) / scale for axis in (0, 1))
    cos, sin = math.cos(rotation), math.sin(rotation)
    u = (cos * right[None, :] - sin * down[:, None]).astype(np.float32)
    v = (sin * right[None, :] + cos * down[:, None]).astype(np.float32)
    inside = (_in_square, _in_ellipse, _in_heart)[round(kind) - 1](u, v)
    points = inside.reshape(pixels, LARGE_FINE, pixels, LARGE_FINE)
    return np.asarray(points.mean(axis=(1, 3), dtype=np.float32))


def _in_square(u: Float32, v: Float32) -> NDArray[np.bool_]:
    return np.maximum(np.abs(u), np.abs(v)) < np.float32(SQUARE_HALF)


def _in_ellipse(u: Float32, v: Float32) -> NDArray[np.bool_]:
    u = u * np.float32(1.0 / ELLIPSE_LONG)
    v = v * np.float32(1.0 / ELLIPSE_SHORT)
    return u * u + v * v < np.float32(1.0)


def _edges() -> tuple[tuple[np.float32, np.float32, np.float32], ...]:
    """Each edge of the half heart as (a, b, c): a pixel is inside where a |u| + b v < c."""
    edges = []
    for (u0, v0), (u1, v1) in pairwise(HEART):
        a, b = v1 - v0, u0 - u1
        edges.append((np.float32(a), np.float32(b), np.float32(a * u0 + b * v0)))
    return tuple(edges)


_HEART_EDGES = _edges()


def _in_heart(u: Float32, v: Float32) -> NDArray[np.bool_]:
    u = np.abs(u)
    inside = np.ones(u.shape, dtype=np.bool_)
    for a, b, c in _HEART_EDGES:
        inside &= a * u + b * v < c
    return inside


NAMES = ("shape", "scale", "rotation", "x", "y")
SIZES = (3, 6, 40, 32, 32)
LIMITS = ((1.0, 3.0), (0.5, 1.0), (0.0, 2.0 * math.pi), (0.0, 1.0), (0.0, 1.0))
"""Ranges of the factors. Shape: 1 square, 2 ellipse, 3 heart; scale: part of the full size;
rotation: radians, anticlockwise as seen on the screen; x to the right and y down, 0 and 1 the
outermost positions of the centre."""


@dataclass(frozen=True, slots=True)
class FactorGrid:
    """Every combination of evenly spaced factor values, the last factor running fastest.

    `sizes` are the numbers of values of the five factors, first and last at their `LIMITS`.
    """

    sizes: tuple[int, ...] = SIZES

    @property
    def count(self) -> int:
        return math.prod(self.sizes)

    def indices(self, rows: Int64) -> Int64:
        """Numbers of the factors' values, from 0, int64, shape (n, 5), of the rows, shape (n,).
        Raises ValueError where there is no such row."""
        return np.stack(np.unravel_index(rows, self.sizes), axis=1).astype(np.int64)

    def factors(self, rows: Int64) -> Float64:
        """Factor values of the rows, shape (n,), in the units of `LIMITS`: float64, shape (n, 5).
        Raises ValueError where there is no such row."""
        low, high = np.array(LIMITS, dtype=np.float64).T
        steps = self.indices(rows) / (np.array(self.sizes, dtype=np.float64) - 1.0)
        return np.asarray(low + (high - low) * steps, dtype=np.float64)


FULL = FactorGrid()
"""The grid of the published data set: 737,280 rows."""
