"""Vector shapes to pixels and label maps, by Qt's raster engine: no window, no application.

It is the only module outside windows and screens that imports PySide6, and it does so only when
something is painted. A picture is 100 units wide and high, x to the right and y down, so that the
same shapes make a picture of any size.

Closed outlines of lines and curves, as plain numbers: what a vector painter fills.

An outline is a tuple of segments. The first is the start (x, y); each later one ends in its last
pair: (x, y) is a line, (cx, cy, x, y) a quadratic and (cx, cy, dx, dy, x, y) a cubic Bézier curve.
An affine map of the pairs is the affine map of the outline, so shapes are placed without a painter.

Random numbers for the painted data sets, made of uniform numbers alone: those are the same in every
version of numpy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labapp.models.datasets.split import Float32

if TYPE_CHECKING:
    from PySide6.QtGui import QColor, QImage, QPainterPath


UNITS = 100.0
OVERSAMPLING = 2
"""A pixel is the mean of this many pixels squared, each antialiased."""


def paint(shapes: Sequence[Shape], ground: Gradient, size: int) -> Float32:
    """The shapes one over the other on a ground: float32 0 to 1, shape (3, size, size). Raises
    ValueError if `size` is not positive."""
    from PySide6.QtCore import QPointF, Qt
    from PySide6.QtGui import QBrush, QLinearGradient, QPainter

    image = _canvas(size * OVERSAMPLING)
    blend = QLinearGradient(QPointF(*ground.start), QPointF(*ground.end))
    blend.setColorAt(0, _colour(ground.first))
    blend.setColorAt(1, _colour(ground.last))
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(image.width() / UNITS, image.height() / UNITS)
    painter.fillRect(0, 0, int(UNITS), int(UNITS), QBrush(blend))
    painter.setPen(Qt.PenStyle.NoPen)
    for shape in shapes:
        if shape.colour is not None:
            painter.fillPath(_path(shape.outline), _colour(shape.colour, shape.alpha))
    painter.end()
    bgr = _pixels(image).view(np.uint8).reshape(size, OVERSAMPLING, size, OVERSAMPLING, 4)
    sums = bgr[..., 2::-1].sum(axis=(1, 3), dtype=np.float32).transpose(2, 0, 1)
    return np.ascontiguousarray(sums / (255 * OVERSAMPLING**2), dtype=np.float32)


def label_map(shapes: Sequence[Shape], size: int, *, margin: float = 0.0) -> NDArray[np.uint8]:
    """Label of the uppermost painted and labelled shape at each pixel, 0 where there is none.

    `margin`: units seen beyond each edge of the picture, in the same `size` pixels. Shapes without
    colour or with label 0 hide nothing. uint8, shape (size, size).
    """
    seen = [s for s in shapes if s.colour is not None and s.label > 0]
    return _flat([(s.outline, s.label) for s in seen], size, margin, False).astype(np.uint8)


def extents(shapes: Sequence[Shape], size: int, *, margin: float = 0.0) -> NDArray[np.int32]:
    """Every label that covers a pixel, hidden or not: bit k set for label k.

    Shapes without colour count here. int32, shape (size, size).
    """
    marked = [(s.outline, 1 << s.label) for s in shapes if s.label > 0]
    return _flat(marked, size, margin, True)


def _flat(
    marked: Sequence[tuple[Outline, int]], size: int, margin: float, together: bool
) -> NDArray[np.int32]:
    """Outlines filled with numbers below 2**24, not antialiased: the last counts, or all by OR."""
    from PySide6.QtGui import QColor, QPainter

    image = _canvas(size)
    painter = QPainter(image)
    scale = size / (UNITS + 2 * margin)
    painter.scale(scale, scale)
    painter.translate(margin, margin)
    if together:
        painter.setCompositionMode(QPainter.CompositionMode.RasterOp_SourceOrDestination)
    for outline, value in marked:
        number = QColor(value >> 16 & 0xFF, value >> 8 & 0xFF, value & 0xFF)
        painter.fillPath(_path(outline), number)
    painter.end()
    return (_pixels(image) & 0xFFFFFF).astype(np.int32)


def _canvas(size: int) -> QImage:
    """A black picture."""
    from PySide6.QtGui import QImage

    if size < 1:
        raise ValueError(f"a picture must have at least one pixel, found size {size}")
    image = QImage(size, size, QImage.Format.Format_RGB32)
    image.fill(0xFF000000)
    return image


def _pixels(image: QImage) -> NDArray[np.uint32]:
    """A picture's pixels as 0xffRRGGBB, uint32, shape (height, width)."""
    flat = np.frombuffer(image.constBits(), np.uint32)
    return flat.reshape(image.height(), image.width())


def _colour(colour: Colour, alpha: float = 1.0) -> QColor:
    from PySide6.QtGui import QColor

    r, g, b = (min(max(value, 0.0), 1.0) for value in colour)
    return QColor.fromRgbF(r, g, b, alpha)


def _path(outline: Outline) -> QPainterPath:
    from PySide6.QtGui import QPainterPath

    path = QPainterPath()
    path.moveTo(*outline[0])
    for segment in outline[1:]:
        if len(segment) == 2:
            path.lineTo(*segment)
        elif len(segment) == 4:
            path.quadTo(*segment)
        else:
            path.cubicTo(*segment)
    path.closeSubpath()
    return path


def average_blocks(pictures: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """Reduce square pictures to fewer pixels by averaging areas. Returns uint8, shape (n, channels,
    size, size), rounded as a picture file holds it. Raises ValueError: `size` is not positive, or
    larger than the pictures. `pictures`: uint8, shape (n, channels, side, side). `size`: pixels of
    a side of what comes out, at most `side`."""
    side = pictures.shape[-1]
    if not 0 < size <= side:
        raise ValueError(f"size must be between 1 and {side}, found {size}")
    edges = np.arange(size + 1) * (side / size)
    # Where the new pixel and the old one overlap, as a share of the new one: (size, side).
    over = np.minimum(edges[1:, None], np.arange(side) + 1) - np.maximum(
        edges[:-1, None], np.arange(side)
    )
    share = over.clip(0) * (size / side)
    whole: NDArray[np.uint8] = np.rint(share @ pictures @ share.T).astype(np.uint8)
    return whole


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


def rotate_about(degrees: float, about: tuple[float, float] = (0.0, 0.0)) -> Affine:
    """A rotation about a point; it appears clockwise if y points down."""
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
    return rotate_about(degrees, (x, y)).after(Affine(rx, 0, 0, ry, x, y)).outline(unit)


def box(left: float, top: float, width: float, height: float) -> Outline:
    """An upright rectangle."""
    right, bottom = left + width, top + height
    return (left, top), (right, top), (right, bottom), (left, bottom)


class Draws:
    """Numbers drawn one after the other; the same entropy gives the same numbers."""

    def __init__(self, *entropy: int) -> None:
        self._random = np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy))).random

    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        return low + (high - low) * float(self._random())

    def normal(self, mean: float, sd: float) -> float:
        """A normal number, limited to 3 SD (Box and Muller)."""
        radius = math.sqrt(-2 * math.log(1 - self.uniform()))
        value = radius * math.cos(2 * math.pi * self.uniform())
        return mean + sd * min(max(value, -3.0), 3.0)

    def chance(self, probability: float) -> bool:
        return self.uniform() < probability


def grain(seed: tuple[int, ...], count: int) -> Float32:
    """Normal numbers from uniform ones (Box and Muller): float32, shape (count,)."""
    random = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
    half = (count + 1) // 2
    uniform = random.random((2, half), dtype=np.float32)
    radius = np.sqrt(-2 * np.log1p(-uniform[0]))
    turn = np.float32(2 * math.pi) * uniform[1]
    return np.concatenate((radius * np.cos(turn), radius * np.sin(turn)))[:count]
