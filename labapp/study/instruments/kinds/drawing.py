"""A drawing on a picture. What is stored are its strokes: `{"strokes": [[[x, y], …], …]}`, where x
counts from the left and y from the top, in percent of the picture's width and height."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from labapp.study.instruments.items import Compound, Item, PictureMedia, SomeWords
from labapp.study.instruments.kinds.number import Number
from labapp.study.instruments.kinds.written import Written

Point = tuple[float, float]
Stroke = tuple[Point, ...]
MOST_STROKES = 50
MOST_POINTS = 100
"""Points of a stroke: each change of the drawing is in the journal with all strokes."""
_FINEST = 0.2
"""Percent of the picture by which a simplified stroke may differ from the hand's."""
_NUMBERS = {"left": "left edge", "top": "top edge", "right": "right edge", "bottom": "bottom edge"}


class Drawing(Compound):
    """Lines and dots on a picture, drawn by hand. In tables `<id>_path` has all strokes in the form
    of an SVG path: `M x y L x y …`, in percent of the picture's width and height; `<id>_strokes`
    counts them, and `<id>_left`, `_top`, `_right` and `_bottom` say how far the drawing reaches.

    Attributes
    ----------
    media : the picture.
    strokes : the maximum number of strokes.
    """

    own_words: ClassVar[frozenset[str]] = frozenset({"path"})
    can_be_right: ClassVar[bool] = False

    kind: Literal["drawing"]
    text: SomeWords
    media: PictureMedia
    strokes: int = Field(default=20, ge=1, le=MOST_STROKES)

    def parts(self) -> tuple[Item, ...]:
        ends: dict[str, Any] = {"kind": "number", "low": 0, "high": 100, "unit": "%", "decimals": 1}
        count = self.as_part(Number, "strokes", "strokes", kind="number", low=0, high=self.strokes)
        return (
            self.as_part(Written, "path", "path", kind="written"),
            count,
            *(self.as_part(Number, name, words, **ends) for name, words in _NUMBERS.items()),
        )

    def check(self, value: Any) -> dict[str, tuple[Stroke, ...]]:
        strokes = self.take(value, ("strokes",)).get("strokes", ())
        if not isinstance(strokes, Sequence) or len(strokes) > self.strokes:
            raise ValueError(f"{self.id}: at most {self.strokes} strokes")
        return {"strokes": tuple(self._check_stroke(stroke) for stroke in strokes)}

    def _check_stroke(self, stroke: Any) -> Stroke:
        points = stroke if isinstance(stroke, Sequence) and not isinstance(stroke, str) else ()
        if not 1 <= len(points) <= MOST_POINTS or not all(map(_is_point, points)):
            raise ValueError(
                f"{self.id}: {stroke!r} is not a stroke: 1 to {MOST_POINTS} points from 0 to 100"
            )
        return tuple((float(x), float(y)) for x, y in points)

    def answered(self, value: Any) -> bool:
        return value is not None and bool(value["strokes"])

    def complete(self, value: Any) -> bool:
        return self.answered(value)

    @classmethod
    def cells(cls, value: Any) -> dict[str, Any]:
        points = [point for stroke in value["strokes"] for point in stroke]
        if not points:
            return {}
        across, down = zip(*points, strict=True)
        return {
            "path": path_of(value["strokes"]),
            "strokes": len(value["strokes"]),
            "left": min(across),
            "top": min(down),
            "right": max(across),
            "bottom": max(down),
        }

    def said(self, value: Any) -> str:
        count = len(value["strokes"])
        return f"{count} stroke{'' if count == 1 else 's'}"

    def simulate(self, rng: np.random.Generator, leaning: float | None) -> dict[str, Any]:
        """A ring somewhere on the picture."""
        import numpy as np

        middle, turn = rng.uniform(25, 75, 2), np.linspace(0, 2 * np.pi, 25)
        ring = middle + rng.uniform(5, 20) * np.column_stack((np.cos(turn), np.sin(turn)))
        return self.check({"strokes": [ring.round(1).tolist()]})


def _is_point(point: Any) -> bool:
    return (
        isinstance(point, Sequence)
        and len(point) == 2
        and all(type(n) in (int, float) and 0 <= n <= 100 for n in point)
    )


def path_of(strokes: Iterable[Iterable[Sequence[float]]]) -> str:
    """Strokes as SVG writes a path."""
    return " ".join(
        " ".join(f"{'L' if at else 'M'} {x:g} {y:g}" for at, (x, y) in enumerate(stroke))
        for stroke in strokes
    )


def strokes_of(path: str) -> list[list[Point]]:
    """The strokes of a path as `path_of` writes it. Raises ValueError for another one."""
    strokes: list[list[Point]] = []
    words = path.split()
    for letter, x, y in zip(words[::3], words[1::3], words[2::3], strict=True):
        if letter == "M":
            strokes.append([])
        strokes[-1].append((float(x), float(y)))
    return strokes


def simplify(points: Sequence[Point]) -> Stroke:
    """A stroke with as few points as show it: those that lie on the line between others, or very
    near to it, are left out (Ramer, 1972; Douglas and Peucker, 1973)."""
    tolerance = _FINEST
    kept = _simplify(points, tolerance)
    while len(kept) > MOST_POINTS:
        tolerance *= 1.5
        kept = _simplify(points, tolerance)
    return tuple((round(x, 1), round(y, 1)) for x, y in kept)


def _simplify(points: Sequence[Point], tolerance: float) -> list[Point]:
    keep, spans = {0, len(points) - 1}, [(0, len(points) - 1)]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        line = (points[first], points[last])
        far = max(range(first + 1, last), key=lambda at: _distance(points[at], *line))
        if _distance(points[far], *line) > tolerance:
            keep.add(far)
            spans += [(first, far), (far, last)]
    return [points[at] for at in sorted(keep)]


def _distance(point: Point, start: Point, end: Point) -> float:
    """From a point to a line between two others."""
    (x, y), (x0, y0), (x1, y1) = point, start, end
    along = (x1 - x0) ** 2 + (y1 - y0) ** 2
    share = ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / along if along else 0.0
    share = min(max(share, 0.0), 1.0)
    dx, dy = x - x0 - share * (x1 - x0), y - y0 - share * (y1 - y0)
    return float((dx * dx + dy * dy) ** 0.5)
