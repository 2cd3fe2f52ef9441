"""The decision tree over fruits, with the path that the model takes drawn strong.

The tree of paper 003, appendix C: the colour first, then the count of green fruits or the shape of
yellow ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.ui import theme
from labapp.ui.widgets.painting import brush, color, font, metrics, pen

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


class FruitTree(QWidget):
    """texts: what stands at each node and answer, by its name."""

    def __init__(self, palette: theme.Palette, texts: Mapping[str, str], name: str) -> None:
        super().__init__()
        self._colors = palette
        self._texts = texts
        self._name = name
        self._answers: tuple[str, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setMinimumSize(420, 190)
        self.setAccessibleName(name)

    @property
    def path(self) -> tuple[str, ...]:
        """The nodes of the path that is drawn strong, from the root to its fruit."""
        ends = [edge.end for edge in EDGES if edge.answer in self._answers]
        return ("colour", *ends) if ends else ()

    def show_path(self, answers: Sequence[str]) -> None:
        """Mark the path of these answers."""
        self._answers = tuple(answers)
        said = " → ".join(self._texts[one] for one in self._told())
        self.setAccessibleDescription(said)
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
