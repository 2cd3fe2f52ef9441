"""A field in which the participant draws their signature, with mouse, pen or finger."""

from __future__ import annotations

import json
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainterPath, QPaintEvent

from labapp.ui import theme
from labapp.ui.widgets.controls import Picture
from labapp.ui.widgets.painting import brush, color, equip, font, pen, smooth

HEIGHT = 112
LEAST_LENGTH = 0.15
"""Of the field's width: a shorter line is a slip of the hand, no signature."""
STROKE = 2.0

Stroke = list[tuple[float, float]]


def path_of(strokes: list[Stroke], width: float) -> QPainterPath:
    """The strokes as a path, for a field `width` wide."""
    path = QPainterPath()
    for stroke in strokes:
        x, y = stroke[0]
        path.moveTo(x * width, y * width)
        # A point alone is a dot: a line to where it stands.
        for x, y in stroke[1:] or stroke:
            path.lineTo(x * width, y * width)
    return path


def strokes_of(drawing: str) -> list[Stroke]:
    """The strokes of a drawing as `SignatureField.drawing` gives it."""
    return [[(float(x), float(y)) for x, y in stroke] for stroke in json.loads(drawing or "[]")]


class SignatureField(Picture):
    """Points are in widths of the field, so that a drawing has the same shape at any size.

    altered: something was drawn or cleared.
    """

    altered = Signal()

    def __init__(self, hint: str, palette: theme.Palette) -> None:
        super().__init__()
        self._colors = palette
        self._hint = hint
        self._strokes: list[Stroke] = []
        self.setAccessibleName(hint)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setFixedHeight(HEIGHT)

    @property
    def signed(self) -> bool:
        """Whether enough was drawn to be a signature."""
        length = 0.0
        for stroke in self._strokes:
            for (x0, y0), (x1, y1) in pairwise(stroke):
                length += ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
        return length >= LEAST_LENGTH

    @property
    def drawing(self) -> str:
        """The strokes as JSON; empty where there is no signature."""
        if not self.signed:
            return ""
        rounded = [[[round(x, 4), round(y, 4)] for x, y in stroke] for stroke in self._strokes]
        return json.dumps(rounded, separators=(",", ":"))

    def clear(self) -> None:
        self._strokes = []
        self.update()
        self.altered.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._strokes.append([self._point(event)])
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton and self._strokes:
            self._strokes[-1].append(self._point(event))
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.altered.emit()

    def _point(self, event: QMouseEvent) -> tuple[float, float]:
        place, width = event.position(), max(1, self.width())
        x = min(max(place.x(), 0.0), width)
        y = min(max(place.y(), 0.0), float(self.height()))
        return x / width, y / width

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self._colors
        painter = smooth(self)
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        equip(painter, pen(p.hairline, 1.0), brush(p.card))
        painter.drawRoundedRect(frame, theme.RADIUS, theme.RADIUS)
        line = self.height() * 0.75
        painter.drawLine(QPointF(theme.SPACE_L, line), QPointF(self.width() - theme.SPACE_L, line))
        if self._strokes:
            ink = pen(p.ink, STROKE)
            ink.setCapStyle(Qt.PenCapStyle.RoundCap)
            ink.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
            equip(painter, ink, Qt.BrushStyle.NoBrush)
            painter.drawPath(path_of(self._strokes, self.width()))
        else:
            painter.setFont(font())
            painter.setPen(color(p.secondary))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self._hint)
