"""Lines of uneven width and other outlines that faces are drawn with."""

from __future__ import annotations

import math
from collections.abc import Sequence

from labapp.models.datasets.outlines import Colour, Outline, Shape

Point = tuple[float, float]

SAMPLES = 14
"""Points along a curve."""


def grey(value: float) -> Colour:
    """A grey, limited to 0 and 1."""
    value = min(max(value, 0.0), 1.0)
    return value, value, value


def curve(start: Point, control: Point, end: Point) -> list[Point]:
    """Points along a quadratic Bézier curve."""
    points = []
    for i in range(SAMPLES + 1):
        t = i / SAMPLES
        a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t**2
        points.append(
            (a * start[0] + b * control[0] + c * end[0], a * start[1] + b * control[1] + c * end[1])
        )
    return points


def through(start: Point, middle: Point, end: Point) -> list[Point]:
    """Points along the quadratic curve that passes `middle` halfway."""
    control = (
        2 * middle[0] - (start[0] + end[0]) / 2,
        2 * middle[1] - (start[1] + end[1]) / 2,
    )
    return curve(start, control, end)


def stroke(points: Sequence[Point], first: float, middle: float, last: float) -> Outline:
    """A line along points whose width goes from `first` over `middle` to `last`."""
    left, right = [], []
    for i, (x, y) in enumerate(points):
        before, after = points[max(i - 1, 0)], points[min(i + 1, len(points) - 1)]
        dx, dy = after[0] - before[0], after[1] - before[1]
        length = math.hypot(dx, dy) or 1.0
        t = i / (len(points) - 1)
        wide = middle + abs(2 * t - 1) * ((first if t < 0.5 else last) - middle)
        nx, ny = -dy / length * wide / 2, dx / length * wide / 2
        left.append((x + nx, y + ny))
        right.append((x - nx, y - ny))
    return (*left, *reversed(right))


def between(upper: Sequence[Point], lower: Sequence[Point]) -> Outline:
    """What lies between two lines that both go from left to right."""
    return (*upper, *reversed(lower))


def ring(x: float, y: float, rx: float, ry: float, width: float, power: float = 2.0) -> Outline:
    """A frame around (x, y): an ellipse at `power` 2, ever more of a box above it."""

    def around(shrink: float) -> list[Point]:
        points = []
        for i in range(41):
            angle = 2 * math.pi * i / 40
            c, s = math.cos(angle), math.sin(angle)
            points.append(
                (
                    x + (rx - shrink) * math.copysign(abs(c) ** (2 / power), c),
                    y + (ry - shrink) * math.copysign(abs(s) ** (2 / power), s),
                )
            )
        return points

    return (*around(0.0), *reversed(around(width)))


def mirror(shapes: Sequence[Shape]) -> list[Shape]:
    """The same shapes on the other side of x = 0."""
    return [
        Shape(
            tuple(
                tuple(-value if i % 2 == 0 else value for i, value in enumerate(segment))
                for segment in shape.outline
            ),
            shape.colour,
            shape.label,
            shape.alpha,
        )
        for shape in shapes
    ]
