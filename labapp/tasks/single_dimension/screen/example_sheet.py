"""The pictures beside a single-dimension question: a traversal, or bins of exemplars.

Pictures are magnified by a whole number of device pixels, the same for all of them and as large as
the room allows; series are small charts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QSizePolicy

from labapp.representations.display import PUBLISHED_CHART, Chart, Display
from labapp.study.stages import Visualisation
from labapp.ui import theme
from labapp.ui.widgets import composing
from labapp.ui.widgets.composing import Array, Pixels
from labapp.ui.widgets.heard import Picture
from labapp.ui.widgets.painting import brush, color, font, metrics, pen
from labapp.ui.widgets.pictures import made_smaller, magnification, too_large

HEAD = 24
GAP, RIM = 2, 1
GROUP_GAP = theme.SPACE_L
SMALLEST_CELL = 64.0
"""Logical pixels of a picture that has more pixels than its place; smaller, it would show nothing,
and the window scrolls."""
CHART_MOST, CHART_RATIO = 168.0, 0.8
LINE_PX = 1.6


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells of a sheet: `columns` a group, groups side by side."""

    groups: int
    columns: int
    rows: int

    @property
    def across(self) -> int:
        return self.groups * self.columns

    def gaps(self) -> tuple[float, float]:
        """Logical pixels between cells, added up across and down."""
        between = (self.groups - 1) * GROUP_GAP + self.groups * (self.columns - 1) * GAP
        return between, (self.rows - 1) * GAP

    def cell_in(self, width: float, height: float) -> tuple[float, float]:
        """The room of a cell."""
        across, down = self.gaps()
        wide, high = width - across - 2 * RIM, height - HEAD - down - 2 * RIM
        return wide / self.across, high / self.rows


def grids_of(visualisation: Visualisation, rows: int, columns: int) -> tuple[Grid, ...]:
    """The ways to lay out so many rows of so many pictures; the first of the best is taken."""
    if visualisation == "traversals":
        return (Grid(1, columns, rows),)
    return tuple(Grid(rows, n, -(-columns // n)) for n in (2, 1, 4))


class ExampleSheet(Picture):
    """headings: over each column of a traversal (None for none), or over each bin."""

    def __init__(
        self,
        display: Display,
        visualisation: Visualisation,
        palette: theme.Palette,
        name: str,
        chart: Chart | None = None,
    ) -> None:
        super().__init__()
        self._display = display
        self._chart = chart or PUBLISHED_CHART
        self._visualisation = visualisation
        self._colors = palette
        self._rows: Array | None = None
        self._headings: tuple[str, ...] = ()
        self._images: list[QImage] = []
        self._drawn: dict[tuple[int, float, float], QImage] = {}
        self._grid = Grid(1, 1, 1)
        self._cell = (0.0, 0.0)
        self._room = (0.0, 0.0)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)

    @property
    def cell(self) -> tuple[float, float]:
        """Width and height of a picture in logical pixels."""
        return self._cell

    def show_rows(self, rows: Array, headings: Sequence[str]) -> None:
        """Show pictures, float32 of shape (rows, columns, *shape of a picture)."""
        if rows is self._rows and tuple(headings) == self._headings:
            return
        other = self._rows is None or self._rows.shape != rows.shape
        self._rows, self._headings = rows, tuple(headings)
        self._drawn.clear()
        if self._display != "series":
            pictures = rows.reshape(-1, *rows.shape[2:])
            self._images = [
                _image(picture, binary=self._display == "binary_image") for picture in pictures
            ]
        if other:
            self.fit(*self._room)
        self.update()

    def fit(self, width: float, height: float) -> None:
        """Make the pictures as large as this room allows and take what they need."""
        self._room = (width, height)
        if self._rows is None or width <= 0 or height <= 0:
            return
        rows, columns = self._rows.shape[:2]
        self._cell, self._grid = self._placed(rows, columns)
        self.setFixedSize(self._taken(self._cell, self._grid))
        self._drawn.clear()
        self.update()

    def width_of(self, rows: int, columns: int) -> int:
        """What so many rows of so many pictures would take of the room of the last `fit`."""
        return self._taken(*self._placed(rows, columns)).width()

    def _placed(self, rows: int, columns: int) -> tuple[tuple[float, float], Grid]:
        """The size of a picture and the grid that makes it largest, of those that fit."""
        grids = grids_of(self._visualisation, rows, columns)
        sized = [(self._sized(grid.cell_in(*self._room)), grid) for grid in grids]
        return max(sized, key=lambda placed: (self._fits(*placed), placed[0][0]))

    def _fits(self, cell: tuple[float, float], grid: Grid) -> bool:
        taken = self._taken(cell, grid)
        return taken.width() <= self._room[0] + 1 and taken.height() <= self._room[1] + 1

    @staticmethod
    def _taken(cell: tuple[float, float], grid: Grid) -> QSize:
        across, down = grid.gaps()
        return QSize(
            math.ceil(grid.across * cell[0] + across) + 2 * RIM,
            math.ceil(grid.rows * cell[1] + down + HEAD) + 2 * RIM,
        )

    def _sized(self, room: tuple[float, float]) -> tuple[float, float]:
        """The size of a picture in a cell of this room."""
        assert self._rows is not None
        if self._display == "series":
            wide = math.floor(min(room[0], room[1] / CHART_RATIO, CHART_MOST))
            return max(wide, 1.0), max(math.floor(wide * CHART_RATIO), 1.0)
        ratio = self.devicePixelRatioF()
        high, wide = self._rows.shape[2:4]
        most = max(high, wide)
        if too_large(most, max(min(room), SMALLEST_CELL), ratio):
            factor = math.floor(max(min(room), SMALLEST_CELL) * ratio) / ratio / most
            return wide * factor, high * factor
        times = magnification(most, min(room), ratio) / ratio
        return wide * times, high * times

    def box(self, row: int, column: int) -> QRectF:
        """Where a picture of `show_rows` is drawn."""
        grid, (wide, high) = self._grid, self._cell
        if self._visualisation == "traversals":
            across, down, group = column, row, 0
        else:
            group, (down, across) = row, divmod(column, grid.columns)
        step = grid.columns * wide + (grid.columns - 1) * GAP + GROUP_GAP
        left = RIM + group * step + across * (wide + GAP)
        return QRectF(left, RIM + HEAD + down * (high + GAP), wide, high)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._rows is None:
            return
        painter = QPainter(self)
        self._paint_headings(painter)
        columns, rim = self._rows.shape[1], brush(self._colors.hairline)
        for row in range(self._rows.shape[0]):
            for column in range(columns):
                box = self.box(row, column)
                if self._display == "series":
                    self._paint_chart(painter, box, self._rows[row, column])
                else:
                    where = self._on_pixels(box)
                    painter.fillRect(where.adjusted(-RIM, -RIM, RIM, RIM), rim)
                    painter.drawImage(where, self._image_at(row * columns + column, where))
        painter.end()

    def _image_at(self, number: int, where: QRectF) -> QImage:
        """A picture as it is drawn, made smaller once for each size of the cells."""
        key = (number, where.width(), self.devicePixelRatioF())
        if key not in self._drawn:
            self._drawn[key] = made_smaller(self._images[number], where, self)
        return self._drawn[key]

    def _on_pixels(self, box: QRectF) -> QRectF:
        """Moved to whole device pixels of the window, so that the magnification stays whole."""
        ratio = self.devicePixelRatioF()
        origin = self.mapTo(self.window(), QPointF(0, 0))
        left = round((origin.x() + box.left()) * ratio) / ratio - origin.x()
        top = round((origin.y() + box.top()) * ratio) / ratio - origin.y()
        return QRectF(left, top, box.width(), box.height())

    def _paint_headings(self, painter: QPainter) -> None:
        painter.setFont(font(theme.SECONDARY_PX, bold=True))
        painter.setPen(color(self._colors.ink))
        known = metrics(theme.SECONDARY_PX, True)
        bins = self._visualisation == "exemplars"
        for index, heading in enumerate(self._headings):
            first = self.box(index, 0) if bins else self.box(0, index)
            last = self.box(index, self._grid.columns - 1) if bins else first
            middle = (first.left() + last.right()) / 2
            wide = max(last.right() - first.left(), known.horizontalAdvance(heading) + 2)
            left = min(max(middle - wide / 2, 0.0), self.width() - wide)
            painter.drawText(
                QRectF(left, 0, wide, HEAD - theme.SPACE_XS),
                _aligned(middle, left, wide) | Qt.AlignmentFlag.AlignVCenter,
                heading,
            )

    def _paint_chart(self, painter: QPainter, box: QRectF, series: Array) -> None:
        middle = box.center().y()
        x = np.linspace(box.left(), box.right(), series.size)
        y = middle - self._chart.above_middle(series, box.height() / 2)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(box)
        painter.fillRect(box, brush(theme.SERIES_GROUND))
        if (zero := self._chart.zero) is not None:
            at = middle - zero * box.height() / 2
            painter.setPen(pen(theme.SERIES_AXIS, dashed=True))
            painter.drawLine(QPointF(box.left(), at), QPointF(box.right(), at))
        painter.setPen(pen(theme.SERIES_OWN, LINE_PX))
        painter.drawPolyline(
            QPolygonF([QPointF(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)])
        )
        painter.setPen(pen(self._colors.hairline))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))
        painter.restore()


def _aligned(middle: float, left: float, wide: float) -> Qt.AlignmentFlag:
    """Centred, or towards the edge that the heading was kept from crossing."""
    if abs(left + wide / 2 - middle) < 1:
        return Qt.AlignmentFlag.AlignHCenter
    return Qt.AlignmentFlag.AlignLeft if left == 0 else Qt.AlignmentFlag.AlignRight


def _image(picture: Array, *, binary: bool) -> QImage:
    rows, columns = picture.shape[:2]
    pixels: Pixels = np.empty((rows, columns), dtype=np.uint32)
    (composing.binary if binary else composing.plain)(picture, pixels)
    return QImage(pixels.data, columns, rows, 4 * columns, QImage.Format.Format_RGB32).copy()
