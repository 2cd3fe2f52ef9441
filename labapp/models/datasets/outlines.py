"""Closed outlines of lines and curves, as plain numbers: what a vector painter fills.

An outline is a tuple of segments. The first is the start (x, y); each later one ends in its last
pair: (x, y) is a line, (cx, cy, x, y) a quadratic and (cx, cy, dx, dy, x, y) a cubic Bézier curve.
An affine map of the pairs is the affine map of the outline, so shapes are placed without a painter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

Outline = tuple[tuple[float, ...], ...]
Colour = tuple[float, float, float]
"""Red, green and blue, each from 0 to 1."""
KAPPA = 4 * (math.sqrt(2) - 1) / 3
"""Length of the control arms with which four cubic curves make a circle of radius 1."""


@dataclass(frozen=True, slots=True)
class Shape:
    """An outline to be filled.

    `label`, 0 to 23, says in a label map what the shape is part of (a set of labels is kept in the
    three bytes of a pixel). A shape without colour is never painted and only marks where something
    would be. `alpha` is its opacity, 0 to 1.
    """

    outline: Outline
    colour: Colour | None
    label: int = 0
    alpha: float = 1.0


@dataclass(frozen=True, slots=True)
class Gradient:
    """Two colours blending along the line from `start` to `end`, in the units of the picture."""

    start: tuple[float, float]
    end: tuple[float, float]
    first: Colour
    last: Colour


class Affine(NamedTuple):
    """The map (x, y) -> (xx x + xy y + x0, yx x + yy y + y0)."""

    xx: float
    xy: float
    yx: float
    yy: float
    x0: float
    y0: float

    def after(self, first: Affine) -> Affine:
        """The map that does `first` and then this one."""
        xx, xy, yx, yy, x0, y0 = self
        a, b, c, d, e, f = first
        return Affine(
            xx * a + xy * c, xx * b + xy * d, yx * a + yy * c, yx * b + yy * d,
            xx * e + xy * f + x0, yx * e + yy * f + y0,
        )  # fmt: skip

    def point(self, x: float, y: float) -> tuple[float, float]:
        return self.xx * x + self.xy * y + self.x0, self.yx * x + self.yy * y + self.y0

    def outline(self, outline: Outline) -> Outline:
        xx, xy, yx, yy, x0, y0 = self
        moved = []
        for segment in outline:
            values: list[float] = []
            for i in range(0, len(segment), 2):
                x, y = segment[i], segment[i + 1]
                values += (xx * x + xy * y + x0, yx * x + yy * y + y0)
            moved.append(tuple(values))
        return tuple(moved)


def turned(degrees: float, about: tuple[float, float] = (0.0, 0.0)) -> Affine:
    """A turn about a point; clockwise to the eye where y points down."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    x, y = about
    return Affine(c, -s, s, c, x - c * x + s * y, y - s * x - c * y)


def ellipse(x: float, y: float, rx: float, ry: float, degrees: float = 0.0) -> Outline:
    """An ellipse about (x, y) with half-axes rx and ry, turned."""
    k = KAPPA
    unit: Outline = (
        (1, 0),
        (1, k, k, 1, 0, 1),
        (-k, 1, -1, k, -1, 0),
        (-1, -k, -k, -1, 0, -1),
        (k, -1, 1, -k, 1, 0),
    )
    return turned(degrees, (x, y)).after(Affine(rx, 0, 0, ry, x, y)).outline(unit)


def box(left: float, top: float, width: float, height: float) -> Outline:
    """An upright rectangle."""
    right, bottom = left + width, top + height
    return (left, top), (right, top), (right, bottom), (left, bottom)
