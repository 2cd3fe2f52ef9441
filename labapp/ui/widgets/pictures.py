"""Stimulus views: pictures magnified by a whole number of device pixels, and what they share."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.ui import theme
from labapp.ui.widgets import composing
from labapp.ui.widgets.composing import Array, Pixels
from labapp.ui.widgets.heard import Picture
from labapp.ui.widgets.painting import brush

LEAST_SIDE = 320
"""Pictures are at least so many logical pixels wide where the window allows it."""


def magnification(pixels: int, side: float, ratio: float) -> int:
    """The largest whole number of device pixels a picture pixel can take in `side` logical
    pixels on a screen with this pixel ratio; at least 1."""
    return max(1, math.floor(side * ratio / pixels + 1e-6))


def picture_side(pixels: int, side: float, ratio: float) -> float:
    """Logical pixels that a picture of so many pixels takes when it is given `side`."""
    return pixels * magnification(pixels, side, ratio) / ratio


def too_large(pixels: int, side: float, ratio: float) -> bool:
    """Whether so many picture pixels have not a device pixel each in `side` logical pixels."""
    return pixels > math.floor(side * ratio + 1e-6)


def made_smaller(image: QImage, where: QRectF, widget: QWidget) -> QImage:
    """The picture as it is drawn at this place of a widget: itself, or, where it has more pixels
    than its place, made smaller by their means."""
    size = _device_size(where, widget)
    if size.width() >= image.width():
        return image
    smooth = Qt.TransformationMode.SmoothTransformation
    return image.scaled(size, Qt.AspectRatioMode.IgnoreAspectRatio, smooth)


def _device_size(where: QRectF, widget: QWidget) -> QSize:
    return (where.size() * widget.devicePixelRatioF()).toSize()


SMALLEST_SIDE = 96.0
"""Logical pixels of a picture that can be drawn at any size, where there is no room for it."""


class StimulusView(Picture):
    """Base of the views. painted: called at the end of each paintEvent, inside it."""

    def __init__(self, palette: theme.Palette, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.painted: Callable[[], None] | None = None
        self._colors = palette
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)

    def side_for(self, side: float) -> float:
        """The logical pixels it would fill when given `side`, at the screen's pixel ratio. A window
        may have no room at all; then it scrolls."""
        return max(SMALLEST_SIDE, math.floor(side))

    def set_side(self, side: float) -> None:
        """Take a square of so many logical pixels, and a hairline round it."""
        whole = math.ceil(side) + 2
        if self.width() != whole or self.height() != whole:
            self.setFixedSize(QSize(whole, whole))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.paint(painter)
        painter.end()
        if self.painted is not None:
            self.painted()

    def paint(self, painter: QPainter) -> None:
        raise NotImplementedError


class ImageView(StimulusView):
    """One picture, or two as an overlay.

    shape: rows and columns of the pictures. binary: pictures are shown rounded. two_hues: how an
    overlay tells own from target (False: 50 % transparency, as published).
    """

    def __init__(
        self,
        shape: tuple[int, int],
        palette: theme.Palette,
        name: str,
        *,
        binary: bool,
        two_hues: bool,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(palette, name, parent)
        rows, columns = shape
        self._binary = binary
        self._two_hues = two_hues
        self._pixels: Pixels = np.full((rows, columns), 0xFF808080, dtype=np.uint32)
        self._small: QImage | None = None
        # The image looks at the array's memory: showing a picture allocates nothing.
        self._image = QImage(
            self._pixels.data, columns, rows, 4 * columns, QImage.Format.Format_RGB32
        )

    @property
    def pixels(self) -> Pixels:
        """What is shown, 0xffRRGGBB, shape (rows, columns)."""
        return self._pixels

    def side_for(self, side: float) -> float:
        pixels, ratio = max(self._pixels.shape), self.devicePixelRatioF()
        if too_large(pixels, max(side, SMALLEST_SIDE), ratio):
            return super().side_for(side)
        return picture_side(pixels, side, ratio)

    def show_picture(self, picture: Array) -> None:
        """Show one picture, float32 of the view's shape."""
        if self._binary:
            composing.binary(picture, self._pixels)
        else:
            composing.plain(picture, self._pixels)
        self._changed()

    def show_overlay(self, own: Array, target: Array) -> None:
        """Show two pictures in one."""
        if self._binary:
            own, target = composing.rounded(own), composing.rounded(target)
        compose = composing.two_hues if self._two_hues else composing.half_and_half
        compose(own, target, self._pixels)
        self._changed()

    def _changed(self) -> None:
        self._small = None
        self.update()

    def target_rect(self) -> QRectF:
        """Where the picture is drawn, in logical pixels, on whole device pixels of the window."""
        ratio = self.devicePixelRatioF()
        rows, columns = self._pixels.shape
        most = max(rows, columns)
        room = min(self.width() - 2, self.height() - 2)
        small = too_large(most, room, ratio)
        factor = room * ratio / most if small else magnification(most, room, ratio)
        wide, high = max(1, round(columns * factor)), max(1, round(rows * factor))
        origin = self.mapTo(self.window(), QPointF(0, 0))
        left = round((origin.x() + self.width() / 2) * ratio - wide / 2)
        top = round((origin.y() + self.height() / 2) * ratio - high / 2)
        return QRectF(
            left / ratio - origin.x(), top / ratio - origin.y(), wide / ratio, high / ratio
        )

    def paint(self, painter: QPainter) -> None:
        where = self.target_rect()
        painter.fillRect(self.rect(), brush(self._colors.hairline))
        painter.drawImage(where, self._fitting(where))

    def _fitting(self, where: QRectF) -> QImage:
        if self._small is None or self._small.size() != _device_size(where, self):
            self._small = made_smaller(self._image, where, self)
        return self._small
