"""A photo on the screen: scaled once to the device's own pixels, with a box round a part of it."""

from __future__ import annotations

from math import ceil, floor

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QEnterEvent, QImage, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from labapp.ui import theme
from labapp.ui.widgets.heard import Picture
from labapp.ui.widgets.painting import pen

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, as shares of the picture."""
BOX_PX, BOX_EDGE_PX = 2.0, 4.0
WHOLE = QRectF(0, 0, 1, 1)


def image_of(rgb: NDArray[np.uint8]) -> QImage:
    """An image of its own from uint8 (rows, columns, 3)."""
    pixels = np.ascontiguousarray(rgb)
    rows, columns, _ = pixels.shape
    looks = QImage(pixels.data, columns, rows, 3 * columns, QImage.Format.Format_RGB888)
    return looks.convertToFormat(QImage.Format.Format_RGB32)


def cut_out(image: QImage, box: Box | None) -> QImage:
    """The part of an image in a box; the whole of it without one. At least one pixel."""
    if box is None:
        return image
    left, top = floor(box[0] * image.width()), floor(box[1] * image.height())
    right, bottom = ceil(box[2] * image.width()), ceil(box[3] * image.height())
    return image.copy(QRect(left, top, max(right - left, 1), max(bottom - top, 1)))


class PhotoView(Picture):
    """pointed(x, y): the pointer is over the picture, at shares of its width and height; gone: it
    is no more.

    The picture keeps its proportions in a square of `set_side`.
    """

    pointed = Signal(float, float)
    gone = Signal()

    def __init__(self, palette: theme.Palette, name: str = "") -> None:
        super().__init__()
        self._colors = palette
        self._image: QImage | None = None
        self._box: Box | None = None
        self._part = WHOLE
        self._scaled: QImage | None = None
        self._scaled_for: tuple[int, int, int, QRectF] | None = None
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)

    @property
    def image(self) -> QImage | None:
        """The whole picture."""
        return self._image

    @property
    def box(self) -> Box | None:
        return self._box

    def show_picture(self, image: QImage | None, box: Box | None = None) -> None:
        """Show a picture, with a box round a part of it; None: nothing."""
        if image is not self._image or box != self._box:
            self._image, self._box = image, box
            self.update()

    def show_part(self, part: QRectF) -> None:
        """Show only a part of it, in shares of the picture."""
        if part != self._part:
            self._part = part
            self.update()

    def set_side(self, side: float) -> None:
        """Take a square of so many logical pixels."""
        whole = floor(side)
        if self.width() != whole or self.height() != whole:
            self.setFixedSize(QSize(whole, whole))

    def shown_rect(self) -> QRectF:
        """Where the picture is drawn, in logical pixels, on whole device pixels of the window."""
        if self._image is None:
            return QRectF()
        ratio = self.devicePixelRatioF()
        wide = self._image.width() * self._part.width()
        high = self._image.height() * self._part.height()
        scale = min(self.width() * ratio / wide, self.height() * ratio / high)
        across, down = max(round(wide * scale), 1), max(round(high * scale), 1)
        origin = self.mapTo(self.window(), QPointF(0, 0))
        left = ceil((origin.x() + self.width() / 2) * ratio - across / 2 - 1e-6)
        top = ceil((origin.y() + self.height() / 2) * ratio - down / 2 - 1e-6)
        return QRectF(
            left / ratio - origin.x(), top / ratio - origin.y(), across / ratio, down / ratio
        )

    def _share(self, place: QPointF) -> QPointF:
        """A place of the widget as shares of the part that is shown, from 0 to 1."""
        where = self.shown_rect()
        x = (place.x() - where.left()) / max(where.width(), 1)
        y = (place.y() - where.top()) / max(where.height(), 1)
        return QPointF(min(max(x, 0.0), 1.0), min(max(y, 0.0), 1.0))

    def enterEvent(self, event: QEnterEvent) -> None:
        self._point(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point(event.position())

    def _point(self, place: QPointF) -> None:
        if self._image is not None:
            at = self._share(place)
            self.pointed.emit(at.x(), at.y())

    def leaveEvent(self, event: QEvent) -> None:
        self.gone.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._image is None:
            return
        painter = QPainter(self)
        where = self.shown_rect()
        painter.drawImage(where, self._ready(self._image, where))
        if self._box is not None:
            self._paint_box(painter, where, self._box)
        painter.end()

    def _ready(self, image: QImage, where: QRectF) -> QImage:
        """The part that is shown, in the device's pixels; scaled anew only when it changed."""
        ratio = self.devicePixelRatioF()
        size = QSize(round(where.width() * ratio), round(where.height() * ratio))
        wanted = (image.cacheKey(), size.width(), size.height(), self._part)
        if self._scaled is None or wanted != self._scaled_for:
            part = self._part
            corners = (part.left(), part.top(), part.right(), part.bottom())
            shown = image if part == WHOLE else cut_out(image, corners)
            self._scaled = shown.scaled(
                size,
                Qt.AspectRatioMode.IgnoreAspectRatio,
                Qt.TransformationMode.SmoothTransformation,
            )
            self._scaled_for = wanted
        return self._scaled

    def _paint_box(self, painter: QPainter, where: QRectF, box: Box) -> None:
        part = self._part
        x0, y0, x1, y1 = (
            where.left() + (box[0] - part.left()) / part.width() * where.width(),
            where.top() + (box[1] - part.top()) / part.height() * where.height(),
            where.left() + (box[2] - part.left()) / part.width() * where.width(),
            where.top() + (box[3] - part.top()) / part.height() * where.height(),
        )
        half = BOX_EDGE_PX / 2
        # Whole inside the picture, also where it touches the picture's edge.
        drawn = QRectF(QPointF(x0, y0), QPointF(x1, y1))
        inside = where.adjusted(half, half, -half, -half)
        drawn = drawn.intersected(inside) if part == WHOLE else drawn
        painter.setClipRect(where)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for tone, wide in ((theme.BOX_EDGE, BOX_EDGE_PX), (theme.BOX, BOX_PX)):
            painter.setPen(pen(tone, wide))
            painter.drawRect(drawn)
