"""The field in which masked pictures come and go, each ready in the screen's own pixels before it
is shown."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from math import ceil, floor

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from labapp.ui import theme
from labapp.ui.widgets.heard import Picture
from labapp.ui.widgets.painting import brush
from labapp.ui.widgets.pictures import magnification, picture_side

EDGE = 1
"""Logical pixels of the hairline round the field."""


def scaled(image: QImage, side: float, ratio: float) -> QImage:
    """A picture in device pixels for a square of `side` logical pixels: each of its pixels as a
    block of whole device pixels, or, where it has more pixels than the square, made smaller."""
    most = max(image.width(), image.height())
    room = floor(side * ratio + 1e-6)
    smooth = most > room
    factor = room / most if smooth else magnification(most, side, ratio)
    size = QSize(max(1, round(image.width() * factor)), max(1, round(image.height() * factor)))
    how = Qt.TransformationMode.SmoothTransformation if smooth else _BLOCKS
    made = image.scaled(size, Qt.AspectRatioMode.IgnoreAspectRatio, how)
    return made.convertToFormat(QImage.Format.Format_RGB32)


_BLOCKS = Qt.TransformationMode.FastTransformation


class StimulusField(Picture):
    """A square of the level of masked pixels, a hairline round it, and a picture in its middle.

    level: of the ground, from 0 to 255, one of grey or three of red, green and blue. It is that of
    masked pixels, so that an empty field is a picture of which nothing is shown, and no lighter
    or darker. rescaled: the size or the screen changed, and nothing is ready any more; the picture
    on the screen stays.
    """

    rescaled = Signal()

    def __init__(self, level: Sequence[int], palette: theme.Palette, name: str = "") -> None:
        super().__init__()
        self.painted: Callable[[], None] | None = None
        self._colors = palette
        red, green, blue = level if len(level) == 3 else (level[0],) * 3
        self.ground = QColor(red, green, blue)
        self._ready: dict[str, QImage] = {}
        self._shown: str | None = None
        self._image: QImage | None = None
        self._side = 0.0
        self._room = (0.0, 0, 0.0)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)

    @property
    def shown(self) -> str | None:
        """Name of the picture in it; None while it is empty."""
        return self._shown

    @property
    def side(self) -> float:
        """Of the square, in logical pixels; 0 before there was room for it."""
        return self._side

    @property
    def picture_px(self) -> int | None:
        """Longer side of the picture in it, in the display's own pixels; None while it is empty."""
        return None if self._image is None else max(self._image.width(), self._image.height())

    def set_room(self, room: float, pixels: int) -> None:
        """Take as much of a square of `room` logical pixels as a picture of so many pixels fills,
        and the hairline round it."""
        ratio = self.devicePixelRatioF()
        if (room, pixels, ratio) == self._room:
            return
        self._room = (room, pixels, ratio)
        self._side = min(floor(room), picture_side(pixels, room, ratio))
        whole = ceil(self._side) + 2 * EDGE
        self.setFixedSize(QSize(whole, whole))
        self._ready.clear()
        self.update()
        self.rescaled.emit()

    def ready(self, name: str) -> bool:
        """Whether a picture can be shown at once."""
        return name in self._ready

    def prepare(self, name: str, image: QImage) -> None:
        """Make a picture ready for the present size and screen."""
        self._ready[name] = scaled(image, self._side, self.devicePixelRatioF())

    def keep(self, names: Container[str]) -> None:
        """Forget all that is ready but these."""
        self._ready = {name: image for name, image in self._ready.items() if name in names}

    def show_picture(self, name: str) -> None:
        """Show a picture that is ready; the caller repaints."""
        self._shown, self._image = name, self._ready[name]

    def clear(self) -> None:
        """Show none."""
        if self._shown is not None:
            self._shown = self._image = None
            self.update()

    def picture_rect(self) -> QRectF:
        """Where the picture is drawn, in logical pixels, on whole device pixels of the window."""
        if self._image is None:
            return QRectF()
        ratio = self.devicePixelRatioF()
        wide, high = self._image.width(), self._image.height()
        origin = self.mapTo(self.window(), QPointF(0, 0))
        left = round((origin.x() + self.width() / 2) * ratio - wide / 2)
        top = round((origin.y() + self.height() / 2) * ratio - high / 2)
        return QRectF(
            left / ratio - origin.x(), top / ratio - origin.y(), wide / ratio, high / ratio
        )

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.DevicePixelRatioChange and self._side:
            room, pixels, _ = self._room
            self.set_room(room, pixels)
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), brush(self._colors.hairline))
        painter.fillRect(self.rect().adjusted(EDGE, EDGE, -EDGE, -EDGE), self.ground)
        if self._image is not None:
            painter.drawImage(self.picture_rect(), self._image)
        painter.end()
        if self.painted is not None:
            self.painted()
