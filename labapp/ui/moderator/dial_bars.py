"""The participant's dials in the mirror: names, values, and the one in the hand."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.representations.space import Continuous, Dimension
from labapp.ui import theme
from labapp.ui.language import tr
from labapp.ui.theme import Palette
from labapp.ui.widgets.painting import brush, font, metrics, pen

MOST_ROW_PX = 34
LEAST_NAME_PX, MOST_NAME_PX = 84, 150
HANDLE = 5.5
TRACK = 4.0


class DialBars(QWidget):
    """One line a dimension: a bar from the starting value to the present one, or a row of dots."""

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self._dimensions: tuple[Dimension, ...] = ()
        self._names: tuple[str, ...] = ()
        self._z: tuple[float, ...] = ()
        self._start: tuple[float, ...] = ()
        self._selected: int | None = None
        self.setMinimumWidth(180)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(tr("Dials"))

    @property
    def shown(self) -> tuple[tuple[str, ...], tuple[float, ...], int | None]:
        """Names, values and the dial in the hand, as they are shown."""
        return self._names, self._z, self._selected

    def show_dials(
        self,
        dimensions: tuple[Dimension, ...],
        names: tuple[str, ...],
        z: tuple[float, ...],
        start: tuple[float, ...],
        selected: int | None,
    ) -> None:
        """Repaints when anything changed."""
        new = (dimensions, names, z, start, selected)
        if new != (self._dimensions, self._names, self._z, self._start, self._selected):
            self._dimensions, self._names, self._z, self._start, self._selected = new
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._dimensions:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        row = min(MOST_ROW_PX, self.height() / len(self._dimensions))
        names = min(MOST_NAME_PX, max(LEAST_NAME_PX, self.width() * 0.34))
        for index, dimension in enumerate(self._dimensions):
            box = QRectF(0, index * row, self.width(), row)
            active = index == self._selected
            self._paint_name(painter, self._names[index], box, names, active)
            track = QRectF(names + HANDLE, box.top(), box.width() - names - 2 * HANDLE, row)
            value, start = self._z[index], self._start[index]
            if isinstance(dimension, Continuous):
                self._paint_bar(painter, dimension, track, value, start, active)
            else:
                self._paint_dots(painter, dimension.k, track, int(value), active)

    def _paint_name(
        self, painter: QPainter, name: str, box: QRectF, width: float, active: bool
    ) -> None:
        size = theme.SECONDARY_PX
        painter.setFont(font(size, active))
        painter.setPen(self._palette.color("accent" if active else "ink"))
        room = width - theme.SPACE_S
        shown = metrics(size, active).elidedText(name, Qt.TextElideMode.ElideRight, room)
        painter.drawText(
            QRectF(0, box.top(), room, box.height()), Qt.AlignmentFlag.AlignVCenter, shown
        )

    def _paint_bar(
        self,
        painter: QPainter,
        dimension: Continuous,
        track: QRectF,
        value: float,
        start: float,
        active: bool,
    ) -> None:
        p = self._palette
        y = track.center().y()
        span = dimension.high - dimension.low
        at = track.left() + (value - dimension.low) / span * track.width()
        began = track.left() + (start - dimension.low) / span * track.width()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(brush(p.track))
        rail = QRectF(track.left(), y - TRACK / 2, track.width(), TRACK)
        painter.drawRoundedRect(rail, TRACK / 2, TRACK / 2)
        painter.setBrush(brush(p.accent if active else p.secondary))
        painter.drawRect(QRectF(min(at, began), y - TRACK / 2, abs(at - began), TRACK))
        painter.drawRect(QRectF(began - 0.5, y - 6, 1, 12))
        self._handle(painter, QPointF(at, y), active)

    def _handle(self, painter: QPainter, at: QPointF, active: bool) -> None:
        p = self._palette
        painter.setBrush(brush(p.accent if active else p.card))
        painter.setPen(pen(p.accent if active else p.secondary, 1.6))
        painter.drawEllipse(at, HANDLE, HANDLE)

    def _paint_dots(
        self, painter: QPainter, k: int, track: QRectF, value: int, active: bool
    ) -> None:
        p = self._palette
        pitch = min(18.0, track.width() / max(1, k - 1))
        for index in range(k):
            painter.setPen(pen(p.secondary, 1.2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            if index == value:
                painter.setBrush(brush(p.accent if active else p.ink))
                painter.setPen(Qt.PenStyle.NoPen)
            at = QPointF(track.left() + index * pitch, track.center().y())
            painter.drawEllipse(at, HANDLE - 1, HANDLE - 1)
