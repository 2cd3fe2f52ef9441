"""A large picture to move about in: the wheel and + and - zoom, dragging and arrow keys move."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFocusEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy

from labapp.ui import theme
from labapp.ui.widgets.heard import Picture
from labapp.ui.widgets.painting import brush, draw_focus_ring, pen

FACTOR = 1.25
MOST = 4.0
"""Device pixels that a pixel of the picture takes at most."""
STEP = 60.0
_KEYS = {
    Qt.Key.Key_Left: QPointF(STEP, 0),
    Qt.Key.Key_Right: QPointF(-STEP, 0),
    Qt.Key.Key_Up: QPointF(0, STEP),
    Qt.Key.Key_Down: QPointF(0, -STEP),
}


_LARGER = (Qt.Key.Key_Plus, Qt.Key.Key_Equal)
KEYS = frozenset({*_KEYS, *_LARGER, Qt.Key.Key_Minus, Qt.Key.Key_0})
"""The keys that zoom and move the picture."""


class ZoomView(Picture):
    """At first the whole picture is seen. It never leaves the view."""

    def __init__(self, palette: theme.Palette, name: str) -> None:
        super().__init__()
        self._colors = palette
        self._image = QImage()
        self._halved: list[QImage] = []
        self._scale = 0.0
        self._at = QPointF()
        self._held: QPointF | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        self.setAccessibleName(name)

    def sizeHint(self) -> QSize:
        return QSize(800, 500)

    def show_picture(self, image: QImage) -> None:
        """Show the whole of a picture."""
        self._image, self._halved = image, []
        self.fit()

    @property
    def fitting(self) -> float:
        """The scale at which the whole picture is seen."""
        wide, high = max(self._image.width(), 1), max(self._image.height(), 1)
        return min(self.width() / wide, self.height() / high, MOST / self.devicePixelRatioF())

    @property
    def scale(self) -> float:
        """Logical pixels that a pixel of the picture takes."""
        return self._scale

    @property
    def target(self) -> QRectF:
        """Where the whole picture would be drawn, in logical pixels."""
        return QRectF(
            self._at.x(),
            self._at.y(),
            self._image.width() * self._scale,
            self._image.height() * self._scale,
        )

    @property
    def look(self) -> tuple[int, float, float, float]:
        """What is shown larger, see `labapp.events.look.ScreenEnlarged`."""
        if not self._scale or abs(self._scale - self.fitting) < 1e-6:
            return -1, 0.0, 0.0, 0.0
        target, middle = self.target, QRectF(self.rect()).center()
        x = (middle.x() - target.x()) / target.width()
        y = (middle.y() - target.y()) / target.height()
        return 0, round(x, 3), round(y, 3), round(self._scale, 4)

    def show_look(self, picture: int, x: float, y: float, scale: float) -> None:
        """Show what `look` said."""
        if (picture, x, y, scale) == self.look:
            return
        self.fit()
        if picture == 0 and scale:
            self._scale = scale
            middle, target = QRectF(self.rect()).center(), self.target
            self._at = middle - QPointF(x * target.width(), y * target.height())
            self._move(QPointF())

    def fit(self) -> None:
        """Show the whole picture."""
        self._scale = self.fitting
        self._move(QPointF())

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Draw it larger by a factor; what is at a place (the middle) stays there."""
        at = QPointF(self.width() / 2, self.height() / 2) if at is None else at
        most = MOST / self.devicePixelRatioF()
        scale = min(max(self._scale * factor, self.fitting), most)
        real = scale / self._scale if self._scale else 1.0
        self._at = at - (at - self._at) * real
        self._scale = scale
        self._move(QPointF())

    def _move(self, by: QPointF) -> None:
        """Move it, as far as it fills the view; what is smaller than the view is centred."""

        def kept(at: float, size: float, room: float) -> float:
            return (room - size) / 2 if size <= room else min(max(at, room - size), 0.0)

        wide, high = self._image.width() * self._scale, self._image.height() * self._scale
        self._at = QPointF(
            kept(self._at.x() + by.x(), wide, self.width()),
            kept(self._at.y() + by.y(), high, self.height()),
        )
        self.update()

    def _ready(self) -> QImage:
        """The picture, or a half, a quarter … of it where it is drawn that small: fine lines of a
        large picture would be left out otherwise."""
        image, wanted, place = self._image, self.target.width() * self.devicePixelRatioF(), 0
        while image.width() >= 2 * wanted:
            if place == len(self._halved):
                self._halved.append(
                    image.scaled(
                        (image.width() + 1) // 2,
                        (image.height() + 1) // 2,
                        Qt.AspectRatioMode.IgnoreAspectRatio,
                        Qt.TransformationMode.SmoothTransformation,
                    )
                )
            image, place = self._halved[place], place + 1
        return image

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta().y()
        if turned:
            self.zoom(FACTOR if turned > 0 else 1 / FACTOR, event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._held = event.position()
            self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._held is not None:
            by, self._held = event.position() - self._held, event.position()
            self._move(by)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._held = None
        self.setCursor(Qt.CursorShape.OpenHandCursor)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in _KEYS:
            self._move(_KEYS[key])
        elif key in _LARGER:
            self.zoom(FACTOR)
        elif key == Qt.Key.Key_Minus:
            self.zoom(1 / FACTOR)
        elif key == Qt.Key.Key_0:
            self.fit()
        else:
            event.ignore()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The whole picture stays the whole picture; a part of it stays where it is."""
        super().resizeEvent(event)
        if not self._scale or self._scale < self.fitting or event.oldSize().isEmpty():
            self.fit()
        else:
            self._move(QPointF())

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), brush(self._colors.card))
        target = self.target
        seen = target.intersected(QRectF(self.rect()))
        if not seen.isEmpty():
            image = self._ready()
            across, down = image.width() / target.width(), image.height() / target.height()
            part = QRectF(
                (seen.left() - target.left()) * across,
                (seen.top() - target.top()) * down,
                seen.width() * across,
                seen.height() * down,
            )
            painter.drawImage(seen, image, part)
        painter.setPen(pen(self._colors.hairline))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()), theme.RADIUS, self._colors.accent)
        painter.end()
