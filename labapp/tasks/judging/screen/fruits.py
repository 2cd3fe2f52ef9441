"""Fruits of the warm-up, drawn as vectors: some of one colour and one shape on a plate of grey; and
the decision tree over them, with the path that the model takes drawn strong.

The tree of paper 003, appendix C: the colour first, then the count of green fruits or the shape of
yellow ones. It is drawn and not a picture, since its words are the study's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from labapp.ui import theme
from labapp.ui.widgets.heard import Picture
from labapp.ui.widgets.painting import brush, color, font, metrics, pen

# Stimuli look the same in every theme: body, its shaded side, outline.
COLOURS = {
    "green": ("#7DB955", "#5E9A3C", "#3F6B28"),
    "red": ("#DD5A4E", "#B93F38", "#7E2823"),
    "yellow": ("#F2CB4A", "#D6A62C", "#8F6A12"),
}
GROUND = "#F1F1EE"
STEM, LEAF, SHINE = "#6B4F2E", "#4E8B3A", "#FFFFFF"
LIES: dict[str, dict[int, tuple[tuple[float, float], ...]]] = {
    "round": {
        1: ((0.5, 0.52),),
        2: ((0.29, 0.54), (0.71, 0.53)),
        3: ((0.2, 0.36), (0.5, 0.68), (0.8, 0.38)),
        4: ((0.29, 0.31), (0.71, 0.29), (0.27, 0.77), (0.73, 0.75)),
        5: ((0.18, 0.3), (0.5, 0.27), (0.82, 0.32), (0.33, 0.76), (0.68, 0.75)),
    },
    "skinny": {
        1: ((0.5, 0.5),),
        2: ((0.4, 0.32), (0.6, 0.72)),
        3: ((0.34, 0.24), (0.66, 0.53), (0.36, 0.81)),
        4: ((0.28, 0.3), (0.73, 0.25), (0.27, 0.74), (0.72, 0.72)),
        5: ((0.26, 0.24), (0.74, 0.22), (0.5, 0.52), (0.26, 0.8), (0.74, 0.81)),
    },
}
"""Where so many fruits of a shape lie, as shares of the picture."""
SIZES = {"round": (0.78, 0.62, 0.46, 0.44, 0.38), "skinny": (0.62, 0.5, 0.38, 0.35, 0.33)}
"""How large each of so many is, as a share of the picture's height."""
UNIT = 100.0
PROPORTION = 0.72
"""Height of the picture to its width."""


def parts_of(picture: str) -> tuple[str, str, int]:
    """Colour, shape and number of the fruits of a picture such as `yellow-round-4`.

    Raises ValueError for a picture that cannot be drawn.
    """
    colour, shape, number = picture.split("-")
    if colour not in COLOURS or int(number) not in LIES.get(shape, {}):
        raise ValueError(f"no picture of fruits is called {picture!r}")
    return colour, shape, int(number)


class FruitPicture(Picture):
    """Fruits in a frame. name: what it is called for who hears the screen."""

    def __init__(self, palette: theme.Palette, name: str, width: int) -> None:
        super().__init__()
        self._colors = palette
        self._picture = ""
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFixedSize(QSize(width, round(width * PROPORTION)))

    @property
    def picture(self) -> str:
        """Which picture is shown."""
        return self._picture

    def show_fruits(self, picture: str) -> None:
        """Show a picture by its name."""
        if picture != self._picture:
            self._picture = picture
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen(self._colors.hairline))
        painter.setBrush(brush(GROUND))
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(frame, theme.RADIUS, theme.RADIUS)
        if self._picture:
            paint_fruits(painter, frame, self._picture)
        painter.end()


def paint_fruits(painter: QPainter, area: QRectF, picture: str) -> None:
    """Paint the fruits of a picture into an area."""
    colour, shape, number = parts_of(picture)
    size = area.height() * SIZES[shape][number - 1]
    for place, (x, y) in enumerate(LIES[shape][number]):
        painter.save()
        at = QPointF(area.left() + x * area.width(), area.top() + y * area.height())
        painter.translate(at)
        painter.scale(size / UNIT, size / UNIT)
        # A little turned, each another way: they lie there, nobody put them in line.
        painter.rotate((-14, 9, 17, -8, 4)[place])
        (_paint_round if shape == "round" else _paint_skinny)(painter, COLOURS[colour])
        painter.restore()


def _paint_round(painter: QPainter, tones: tuple[str, str, str]) -> None:
    body, shade, rim = tones
    painter.setPen(pen(STEM, 5))
    painter.drawLine(QPointF(0, -34), QPointF(4, -50))
    painter.setPen(pen(rim, 2))
    painter.setBrush(brush(LEAF))
    painter.drawPath(_leaf())
    painter.setBrush(brush(body))
    painter.drawEllipse(QPointF(0, 4), 40.0, 39.0)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(brush(shade))
    painter.drawPath(_round_shade())
    _shine(painter, QRectF(-24, -22, 14, 20), 30)


def _paint_skinny(painter: QPainter, tones: tuple[str, str, str]) -> None:
    body, shade, rim = tones
    painter.setPen(pen(STEM, 6))
    painter.drawLine(QPointF(-62, -18), QPointF(-72, -28))
    painter.setPen(pen(rim, 2))
    painter.setBrush(brush(body))
    painter.drawPath(_pod(30))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(brush(shade))
    painter.drawPath(_pod_shade())
    painter.setBrush(brush(rim))
    painter.drawEllipse(QPointF(63, -18), 4.0, 4.0)


def _shine(painter: QPainter, where: QRectF, turned: float) -> None:
    painter.save()
    painter.translate(where.center())
    painter.rotate(turned)
    painter.setOpacity(0.55)
    painter.setBrush(brush(SHINE))
    painter.drawEllipse(QPointF(0, 0), where.width() / 2, where.height() / 2)
    painter.restore()


@cache
def _leaf() -> QPainterPath:
    path = QPainterPath(QPointF(3, -44))
    path.quadTo(QPointF(16, -60), QPointF(32, -50))
    path.quadTo(QPointF(20, -38), QPointF(3, -44))
    return path


@cache
def _round_shade() -> QPainterPath:
    """The lower right rim, between two circles."""
    whole, lit = QPainterPath(), QPainterPath()
    whole.addEllipse(QPointF(0, 4), 38.5, 37.5)
    lit.addEllipse(QPointF(-7, -3), 39.0, 38.0)
    return whole.subtracted(lit)


@cache
def _pod(depth: float) -> QPainterPath:
    """A long fruit, bent like a banana; depth: how low its belly hangs."""
    path = QPainterPath(QPointF(-64, -20))
    path.cubicTo(QPointF(-40, depth + 12), QPointF(40, depth + 12), QPointF(65, -20))
    path.cubicTo(QPointF(34, 2), QPointF(-34, 2), QPointF(-58, -24))
    path.closeSubpath()
    return path


@cache
def _pod_shade() -> QPainterPath:
    path = QPainterPath(QPointF(-60, -15))
    path.cubicTo(QPointF(-38, 40), QPointF(38, 40), QPointF(63, -17))
    path.cubicTo(QPointF(36, 28), QPointF(-36, 28), QPointF(-60, -15))
    return path


NODE_H, NODE_PAD = 34.0, 14.0
STRONG = 3.0


@dataclass(frozen=True, slots=True)
class Edge:
    """From one node to another, by the answer that leads there."""

    answer: str
    start: str
    end: str


EDGES = (
    Edge("colour_green", "colour", "count"),
    Edge("colour_red", "colour", "C"),
    Edge("colour_yellow", "colour", "shape"),
    Edge("count_few", "count", "A"),
    Edge("count_many", "count", "B"),
    Edge("shape_round", "shape", "D"),
    Edge("shape_skinny", "shape", "E"),
)
PLACES = {
    "colour": (0.5, 0.09),
    "count": (0.2, 0.5),
    "C": (0.5, 0.5),
    "shape": (0.8, 0.5),
    "A": (0.08, 0.91),
    "B": (0.35, 0.91),
    "D": (0.65, 0.91),
    "E": (0.92, 0.91),
}
"""Of each node, as shares of the drawing."""
LABEL_AT = 0.66
"""How far along its line an answer stands: where the lines of two answers are well apart."""


class FruitTree(Picture):
    """texts: what stands at each node and answer, by its name."""

    def __init__(self, palette: theme.Palette, texts: Mapping[str, str], name: str) -> None:
        super().__init__()
        self._colors = palette
        self._texts = texts
        self._name = name
        self._answers: tuple[str, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setMinimumSize(
            500, 200
        )  # so that no answer lies over another, and no node over the edge
        self.setAccessibleName(name)

    @property
    def path(self) -> tuple[str, ...]:
        """The nodes of the path that is drawn strong, from the root to its fruit."""
        ends = [edge.end for edge in EDGES if edge.answer in self._answers]
        return ("colour", *ends) if ends else ()

    def show_path(self, answers: Sequence[str]) -> None:
        """Mark the path of these answers."""
        self._answers = tuple(answers)
        listed = " → ".join(self._texts[key] for key in self._told())
        self.setAccessibleDescription(listed)
        self.update()

    def _told(self) -> list[str]:
        """The path with its answers between its nodes."""
        told = ["colour"]
        for edge in EDGES:
            if edge.answer in self._answers:
                told += [edge.answer, edge.end]
        return told

    def sizeHint(self) -> QSize:
        return QSize(520, 330)

    def _centre(self, node: str) -> QPointF:
        x, y = PLACES[node]
        return QPointF(x * self.width(), y * self.height())

    def _box(self, node: str) -> QRectF:
        wide = metrics(bold=True).horizontalAdvance(self._texts[node]) + 2 * NODE_PAD
        at = self._centre(node)
        left = min(max(at.x() - wide / 2, 2.0), self.width() - wide - 2)
        return QRectF(left, at.y() - NODE_H / 2, wide, NODE_H)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        strong = [edge for edge in EDGES if edge.answer in self._answers]
        for edge in (*(edge for edge in EDGES if edge not in strong), *strong):
            self._paint_edge(painter, edge, taken=edge in strong)
        path = self.path
        for node in PLACES:
            self._paint_node(painter, node, taken=node in path)
        painter.end()

    def _paint_edge(self, painter: QPainter, edge: Edge, *, taken: bool) -> None:
        p = self._colors
        start, end = self._box(edge.start).center(), self._box(edge.end).center()
        painter.setPen(pen(p.accent, STRONG) if taken else pen(p.secondary, 1.2))
        painter.drawLine(start, end)
        words = self._texts[edge.answer]
        wide = metrics(theme.SECONDARY_PX, taken).horizontalAdvance(words) + theme.SPACE_M
        at = start + (end - start) * LABEL_AT
        label = QRectF(at.x() - wide / 2, at.y() - 10, wide, 20)
        painter.fillRect(label, brush(p.ground))
        painter.setFont(font(theme.SECONDARY_PX, taken))
        painter.setPen(color(p.accent if taken else p.secondary))
        painter.drawText(label, Qt.AlignmentFlag.AlignCenter, words)

    def _paint_node(self, painter: QPainter, node: str, *, taken: bool) -> None:
        p, box = self._colors, self._box(node)
        leaf = len(node) == 1
        painter.setPen(pen(p.accent, 2.0) if taken else pen(p.secondary, 1.2))
        painter.setBrush(brush(p.accent_soft if taken else p.card))
        radius = NODE_H / 2 if leaf else theme.RADIUS
        painter.drawRoundedRect(box, radius, radius)
        painter.setFont(font(bold=taken))
        painter.setPen(color(p.accent if taken else p.ink))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self._texts[node])
