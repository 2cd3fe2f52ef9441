"""A traversal sheet as a widget: as many states as its width has room for."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QWidget

from labapp.representations.sheet_layout import Cell, SheetLayout, SheetSizes, lay_out
from labapp.representations.sheets import TraversalSheet, limits
from labapp.representations.space import Dimension, Discrete
from labapp.ui import theme
from labapp.ui.language import counted, number, tr
from labapp.ui.widgets.composing import Array, levels
from labapp.ui.widgets.painting import brush, color, font, metrics, pen

LABEL, GAP, LINE = 84, 2, 18
LEAST_SIDE = 56
"""Pictures are magnified by a whole number to about so many logical pixels."""
CHART = (64, 52)
LINE_PX = 1.6


class TraversalView(QWidget):
    """Shows one sheet; its height follows from its width. placed: another width has other room."""

    placed = Signal()

    def __init__(self, sheet: TraversalSheet, palette: theme.Palette) -> None:
        super().__init__()
        self.sheet = sheet
        self._colors = palette
        self._measures = _measures(sheet)
        self._layout = lay_out(sheet, self._measures)
        self._images: dict[int, QImage] = {}
        self.setMinimumWidth(round(lay_out(sheet, self._measures, room=0).width))
        self.setAccessibleName(tr("What each dial of {model} does", model=sheet.model))
        self._place()

    @property
    def layout_shown(self) -> SheetLayout:
        """Where everything is, in the widget's pixels."""
        return self._layout

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._place()

    def _place(self) -> None:
        self._layout = lay_out(self.sheet, self._measures, room=self.width())
        self._images.clear()
        self.setFixedHeight(round(self._layout.height) + 1)
        self.update()
        self.placed.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        dirty = QRectF(event.rect())
        p, m = self._colors, self._measures
        top, middle = Qt.AlignmentFlag.AlignTop, Qt.AlignmentFlag.AlignHCenter
        small = font(theme.SECONDARY_PX)
        painter.setFont(small)
        painter.setPen(color(p.secondary))
        for mark in self._layout.marks:
            box = QRectF(mark.x - m.cell_width, mark.y, 2 * m.cell_width, m.marks)
            painter.drawText(box, top | middle, tr(mark.text))
        for y, row in self._layout.labels:
            box = QRectF(0, y + (m.cell_height - 2 * LINE) / 2, LABEL - theme.SPACE_S, LINE)
            painter.setFont(font(theme.SECONDARY_PX, bold=True))
            painter.setPen(color(p.ink))
            painter.drawText(box, top, _elided(row.dimension.name, box.width(), bold=True))
            painter.setFont(small)
            painter.setPen(color(p.secondary))
            box.translate(0, LINE)
            painter.drawText(box, top, _elided(_limits(row.dimension), box.width()))
        draw = self._draw_chart if self.sheet.display == "series" else self._draw_picture
        for index, cell in enumerate(self._layout.cells):
            box = QRectF(cell.x, cell.y, m.cell_width, m.cell_height)
            if box.intersects(dirty):
                draw(painter, box, index, cell)
        painter.end()

    def _draw_picture(self, painter: QPainter, box: QRectF, number: int, cell: Cell) -> None:
        image = self._images.get(number)
        if image is None:
            image = self._images[number] = _image(cell.instance)
        times = box.width() * self.devicePixelRatioF() / image.width()
        # A whole number of device pixels a pixel stays crisp; between them, it would be uneven.
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, times != round(times))
        painter.fillRect(box.adjusted(-1, -1, 1, 1), brush(self._colors.hairline))
        painter.drawImage(box, image)

    def _draw_chart(self, painter: QPainter, box: QRectF, number: int, cell: Cell) -> None:
        middle, chart = box.center().y(), self.sheet.chart
        x = np.linspace(box.left(), box.right(), cell.instance.size)
        y = middle - chart.above_middle(cell.instance, box.height() / 2)
        painter.fillRect(box, brush(theme.SERIES_GROUND))
        if chart.zero is not None:
            at = middle - chart.zero * box.height() / 2
            painter.setPen(pen(theme.SERIES_AXIS, dashed=True))
            painter.drawLine(QPointF(box.left(), at), QPointF(box.right(), at))
        painter.save()
        painter.setClipRect(box)
        painter.setPen(pen(theme.SERIES_OWN, LINE_PX))
        painter.drawPolyline(
            QPolygonF([QPointF(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)])
        )
        painter.restore()
        painter.setPen(pen(self._colors.hairline))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))


def _limits(dimension: Dimension) -> str:
    if isinstance(dimension, Discrete):
        return counted(dimension.k, "{n} value", "{n} values")
    return number(limits(dimension))


def _measures(sheet: TraversalSheet) -> SheetSizes:
    if sheet.display == "series":
        width, height = CHART
    else:
        rows, columns = sheet.rows[0].instances.shape[2:4]
        times = max(1, -(-LEAST_SIDE // columns))
        width, height = columns * times, rows * times
    return SheetSizes(
        label=LABEL,
        cell_width=width,
        cell_height=height,
        marks=22,
        gap=GAP,
        group=theme.SPACE_L,
        row=theme.SPACE_S,
    )


def _image(picture: Array) -> QImage:
    values = np.ascontiguousarray(levels(picture))
    rows, columns = values.shape[:2]
    how = QImage.Format.Format_Grayscale8 if values.ndim == 2 else QImage.Format.Format_RGB888
    return QImage(values.data, columns, rows, values.strides[0], how).copy()


def _elided(text: str, room: float, *, bold: bool = False) -> str:
    known = metrics(theme.SECONDARY_PX, bold)
    return known.elidedText(text, Qt.TextElideMode.ElideRight, room)
