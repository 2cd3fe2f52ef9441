"""A photo on the screen: scaled once to the device's own pixels, with a box round a part of it.

A large picture to move about in: the wheel and + and - zoom, dragging and arrow keys move.

A reserved place that shows, larger, what the pointer is over: it covers nothing. The kept pictures
of a session as images: read once, cut out and coloured as a plan says.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QEnterEvent,
    QFocusEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from labapp.models.stimuli import masked_pictures
from labapp.models.stimuli.gallery import Gallery
from labapp.models.stimuli.manifest import ColourMap, Scale
from labapp.ui import theme
from labapp.ui.widgets import controls
from labapp.ui.widgets.controls import Picture
from labapp.ui.widgets.painting import (
    brush,
    centre_on_pixels,
    color,
    draw_focus_ring,
    equip,
    metrics,
    pen,
    smooth,
    write_with,
)

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


def scale_image(image: QImage, size: QSize, *, squares: bool = False) -> QImage:
    """An image resized by averaging the pixels that each new pixel covers; squares: one
    that is enlarged to twice its size or more keeps its pixels, as squares."""
    how = Qt.TransformationMode.SmoothTransformation
    if squares and size.width() >= 2 * image.width():
        how = Qt.TransformationMode.FastTransformation
    return image.scaled(size, Qt.AspectRatioMode.IgnoreAspectRatio, how)


class PhotoView(Picture):
    """pointed(x, y): the pointer is over the picture, at shares of its width and height; gone: it
    is no more.

    The picture keeps its proportions in a square of `set_side`. squares: see `scale_image`.
    """

    pointed = Signal(float, float)
    gone = Signal()

    def __init__(self, palette: theme.Palette, name: str = "", *, squares: bool = False) -> None:
        super().__init__()
        self._colors, self._squares = palette, squares
        self.image: QImage | None = None
        self.box: Box | None = None
        self._part = WHOLE
        self._scaled: QImage | None = None
        self._scaled_for: tuple[int, int, int, QRectF] | None = None
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)

    def show_picture(self, image: QImage | None, box: Box | None = None) -> None:
        """Show a picture, with a box round a part of it; None: nothing."""
        if image is not self.image or box != self.box:
            self.image, self.box = image, box
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
        if self.image is None:
            return QRectF()
        ratio = self.devicePixelRatioF()
        wide = self.image.width() * self._part.width()
        high = self.image.height() * self._part.height()
        scale = min(self.width() * ratio / wide, self.height() * ratio / high)
        across, down = max(round(wide * scale), 1), max(round(high * scale), 1)
        return centre_on_pixels(self, across, down, lambda place: ceil(place - 1e-6))

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
        if self.image is not None:
            at = self._share(place)
            self.pointed.emit(at.x(), at.y())

    def leaveEvent(self, event: QEvent) -> None:
        self.gone.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.image is None:
            return
        painter = QPainter(self)
        where = self.shown_rect()
        painter.drawImage(where, self._ready(self.image, where))
        if self.box is not None:
            self._paint_box(painter, where, self.box)

    def _ready(self, image: QImage, where: QRectF) -> QImage:
        """The part that is shown, in the device's pixels; scaled anew only when it changed."""
        ratio = self.devicePixelRatioF()
        size = QSize(round(where.width() * ratio), round(where.height() * ratio))
        wanted = (image.cacheKey(), size.width(), size.height(), self._part)
        if self._scaled is None or wanted != self._scaled_for:
            part = self._part
            corners = (part.left(), part.top(), part.right(), part.bottom())
            shown = image if part == WHOLE else cut_out(image, corners)
            self._scaled = scale_image(shown, size, squares=self._squares)
            self._scaled_for = wanted
        return self._scaled

    def _paint_box(self, painter: QPainter, where: QRectF, box: Box) -> None:
        part, half = self._part, BOX_EDGE_PX / 2

        def at(x: float, y: float) -> QPointF:
            across, down = (x - part.left()) / part.width(), (y - part.top()) / part.height()
            return QPointF(
                where.left() + across * where.width(), where.top() + down * where.height()
            )

        drawn = QRectF(at(*box[:2]), at(*box[2:]))
        if part == WHOLE:
            # Whole inside the picture, also where it touches the picture's edge.
            drawn = drawn.intersected(where.adjusted(half, half, -half, -half))
        painter.setClipRect(where)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for tone, wide in ((theme.BOX_EDGE, BOX_EDGE_PX), (theme.BOX, BOX_PX)):
            painter.setPen(pen(tone, wide))
            painter.drawRect(drawn)


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
        self.scale = 0.0
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
    def target(self) -> QRectF:
        """Where the whole picture would be drawn, in logical pixels."""
        return QRectF(self._at, self._image.size().toSizeF() * self.scale)

    @property
    def look(self) -> tuple[int, float, float, float]:
        """What is shown larger, see `labapp.record.events.look.ScreenEnlarged`."""
        if not self.scale or abs(self.scale - self.fitting) < 1e-6:
            return -1, 0.0, 0.0, 0.0
        target, middle = self.target, QRectF(self.rect()).center()
        x = (middle.x() - target.x()) / target.width()
        y = (middle.y() - target.y()) / target.height()
        return 0, round(x, 3), round(y, 3), round(self.scale, 4)

    def show_look(self, picture: int, x: float, y: float, scale: float) -> None:
        """Show what `look` said."""
        if (picture, x, y, scale) == self.look:
            return
        self.fit()
        if picture == 0 and scale:
            self.scale = scale
            middle, target = QRectF(self.rect()).center(), self.target
            self._at = middle - QPointF(x * target.width(), y * target.height())
            self._move(QPointF())

    def fit(self) -> None:
        """Show the whole picture."""
        self.scale = self.fitting
        self._move(QPointF())

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Draw it larger by a factor; what is at a place (the middle) stays there."""
        at = QPointF(self.width() / 2, self.height() / 2) if at is None else at
        before, most = self.scale, MOST / self.devicePixelRatioF()
        self.scale = min(max(before * factor, self.fitting), most)
        self._at = at - (at - self._at) * (self.scale / before if before else 1.0)
        self._move(QPointF())

    def _move(self, by: QPointF) -> None:
        """Move it, as far as it fills the view; what is smaller than the view is centred."""

        def limit(at: float, size: float, room: float) -> float:
            return (room - size) / 2 if size <= room else min(max(at, room - size), 0.0)

        wide, high = self._image.width() * self.scale, self._image.height() * self.scale
        self._at = QPointF(
            limit(self._at.x() + by.x(), wide, self.width()),
            limit(self._at.y() + by.y(), high, self.height()),
        )
        self.update()

    def _ready(self) -> QImage:
        """The picture, or a half, a quarter … of it where it is drawn that small: fine lines of a
        large picture would be left out otherwise."""
        image, wanted, place = self._image, self.target.width() * self.devicePixelRatioF(), 0
        while image.width() >= 2 * wanted:
            if place == len(self._halved):
                half = QSize((image.width() + 1) // 2, (image.height() + 1) // 2)
                self._halved.append(scale_image(image, half))
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
        if not self.scale or self.scale < self.fitting or event.oldSize().isEmpty():
            self.fit()
        else:
            self._move(QPointF())

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        hint = QPainter.RenderHint
        painter.setRenderHints(hint.SmoothPixmapTransform | hint.Antialiasing)
        painter.fillRect(self.rect(), brush(self._colors.card))
        target = self.target
        seen = target.intersected(QRectF(self.rect()))
        if not seen.isEmpty():
            image = self._ready()
            across, down = image.width() / target.width(), image.height() / target.height()
            left, top = (seen.left() - target.left()) * across, (seen.top() - target.top()) * down
            part = QRectF(left, top, seen.width() * across, seen.height() * down)
            painter.drawImage(seen, image, part)
        equip(painter, pen(self._colors.hairline), Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()), theme.RADIUS, self._colors.accent)


SHARE = 0.5
"""Of a photo's width and height is shown at once."""
ENLARGED_STEP = 0.125
FRAME = 3
_ARROWS = {
    Qt.Key.Key_Left: QPointF(-ENLARGED_STEP, 0),
    Qt.Key.Key_Right: QPointF(ENLARGED_STEP, 0),
    Qt.Key.Key_Up: QPointF(0, -ENLARGED_STEP),
    Qt.Key.Key_Down: QPointF(0, ENLARGED_STEP),
}


class Enlarger(QAbstractButton):
    """At rest it shows its own picture, or a hint where it has none.

    said: the caption of an enlarged picture, made of its name. By keyboard: one Tab stop; Space
    goes through the pictures (`turn`), arrow keys move what is shown of one.
    """

    def __init__(self, palette: theme.Palette, hint: str, text_of: Callable[[str], str]) -> None:
        super().__init__()
        self._colors = palette
        self._hint, self._said = hint, text_of
        self._rest: tuple[QImage | None, Box | None, str] = (None, None, "")
        self._watched: list[tuple[PhotoView, str, bool]] = []
        self._shown: tuple[PhotoView, str, bool] | None = None
        self._at = QPointF(0.5, 0.5)
        self._over: QPointF | None = None
        self.view = PhotoView(palette)
        self.caption = controls.make_label(role="secondary")
        self.caption.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.caption.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        # Also while there is nothing to say: nothing shifts when there is.
        self.caption.setFixedHeight(ceil(metrics(theme.SECONDARY_PX).height()))
        self.view.pointed.connect(self._over_itself)
        self.view.gone.connect(self.leave)
        controls.fill(
            controls.column(self, theme.SPACE_XS, (FRAME, FRAME, FRAME, 0)), self.view, self.caption
        )
        self.clicked.connect(lambda: self.turn())  # by a screen reader
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(hint)
        self.view.setAccessibleName(hint)

    @property
    def enlarging(self) -> PhotoView | None:
        """The view whose picture is shown larger."""
        return self._shown[0] if self._shown is not None else None

    @property
    def overhead(self) -> int:
        """Logical pixels of height besides the picture."""
        return FRAME + theme.SPACE_XS + self.caption.height()

    def set_side(self, side: float) -> None:
        """Take a square of so many logical pixels, frame included, and a line for the caption."""
        self.view.set_side(side - 2 * FRAME)
        self.setFixedWidth(self.view.width() + 2 * FRAME)

    def rest(self, image: QImage | None, box: Box | None = None, caption: str = "") -> None:
        """What is shown while nothing is enlarged."""
        self._rest = (image, box, caption)
        if self._shown is None:
            self._show_rest()

    def watch(self, view: PhotoView, name: str, *, whole: bool = False) -> None:
        """Enlarge what the pointer is over of a view; whole: all of its picture at once, as of one
        that is cut out already."""
        views = [watched for watched, _, _ in self._watched]
        if view in views:
            self._watched[views.index(view)] = (view, name, whole)
            return
        view.setCursor(Qt.CursorShape.CrossCursor)
        entry = len(self._watched)
        self._watched.append((view, name, whole))
        view.pointed.connect(lambda x, y: self._show(self._watched[entry], QPointF(x, y)))
        view.gone.connect(self.leave)

    def leave(self) -> None:
        """The pointer has left the view."""
        self._shown = self._over = None
        self._show_rest()

    def turn(self, views: Sequence[PhotoView] = ()) -> None:
        """Enlarge the next of some views (of all that can be seen); after the last, rest."""
        among = [
            entry
            for entry in self._watched
            if (entry[0] in views if views else entry[0].isVisible()) and entry[0].image is not None
        ]
        places = [entry[0] for entry in among]
        at = places.index(self._shown[0]) + 1 if self._shown and self._shown[0] in places else 0
        if at < len(among):
            self._show(among[at], _middle(among[at][0].box))
        else:
            self.leave()

    @property
    def look(self) -> tuple[int, float, float, float]:
        """What is shown larger, see `labapp.record.events.look.ScreenEnlarged`."""
        if self._shown is not None:
            views = [view for view, _, _ in self._watched]
            return views.index(self._shown[0]), *_round_point(self._at), 0.0
        return (-1, 0.0, 0.0, 0.0) if self._over is None else (-2, *_round_point(self._over), 0.0)

    def show_look(self, picture: int, x: float, y: float, scale: float) -> None:
        """Show what `look` said."""
        if (picture, x, y, scale) == self.look:
            return
        self.leave()
        if 0 <= picture < len(self._watched):
            self._show(self._watched[picture], QPointF(x, y))
        elif picture == -2:
            self._over_itself(x, y)

    def _over_itself(self, x: float, y: float) -> None:
        """The pointer is over the picture at rest: what is under it stays under it, larger."""
        image, box, caption = self._rest
        if image is None or self._shown is not None:
            return
        self._over = QPointF(x, y)
        self.view.show_picture(image, box)
        self.view.show_part(QRectF(x * (1 - SHARE), y * (1 - SHARE), SHARE, SHARE))
        self._say(self._said(caption))

    def _show(self, entry: tuple[PhotoView, str, bool], at: QPointF) -> None:
        view, name, whole = entry
        self._shown, self._at, self._over = entry, at, None
        share = 1.0 if whole else SHARE
        left = min(max(at.x() - share / 2, 0.0), 1 - share)
        top = min(max(at.y() - share / 2, 0.0), 1 - share)
        self.view.show_picture(view.image, view.box)
        self.view.show_part(QRectF(left, top, share, share))
        self._say(self._said(name))
        self.update()

    def _show_rest(self) -> None:
        image, box, caption = self._rest
        self.view.show_picture(image, box)
        self.view.show_part(WHOLE)
        self._say(caption)
        self.update()

    def _say(self, text: str) -> None:
        if self.caption.text() != text:
            self.caption.setText(text)
            self.setAccessibleDescription(text)
            self.view.setAccessibleName(text or self._hint)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.ignore()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_Space:
            self.turn()
        elif key in _ARROWS and self._shown is not None:
            to = self._at + _ARROWS[key]
            self._show(self._shown, QPointF(min(max(to.x(), 0.0), 1.0), min(max(to.y(), 0.0), 1.0)))
        else:
            event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.leave()

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self._colors
        painter = smooth(self)
        place = QRectF(0, 0, self.width(), self.view.height() + 2 * FRAME)
        if self.view.image is None:
            painter.setPen(pen(p.hairline, dashed=True))
            painter.drawRoundedRect(place.adjusted(1, 1, -1, -1), theme.RADIUS, theme.RADIUS)
            write_with(painter, color(p.secondary), theme.SECONDARY_PX)
            words = place.adjusted(theme.SPACE_L, 0, -theme.SPACE_L, 0)
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(words, int(flags), self._hint)
        elif self._shown is not None:
            painter.setPen(pen(p.accent, FRAME))
            half = FRAME / 2
            painter.drawRect(place.adjusted(half, half, -half, -half))
        if self.hasFocus():
            draw_focus_ring(painter, place, theme.RADIUS, p.accent)


def _round_point(at: QPointF) -> tuple[float, float]:
    return round(at.x(), 3), round(at.y(), 3)


def _middle(box: Box | None) -> QPointF:
    if box is None:
        return QPointF(0.5, 0.5)
    return QPointF((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)


MOST_IMAGES = 160
"""Images that are kept: those of a photo with forty rows."""


class Images:
    """What screens and mirror show of a gallery; equal pictures are one image."""

    def __init__(self, gallery: Gallery) -> None:
        self._gallery = gallery
        self._kept: OrderedDict[tuple[object, ...], QImage] = OrderedDict()

    def image(self, ref: str) -> QImage:
        """A picture. Raises StimuliError if it is not what was kept."""
        return self._once(("picture", ref), lambda: image_of(self._gallery.rgb(ref)))

    def overlay(self, ref: str, heat: str, scale: Scale, colours: ColourMap) -> QImage:
        """A heatmap over the picture that it explains."""

        def make_overlay() -> QImage:
            rgb = self._gallery.rgb
            return image_of(masked_pictures.overlay(rgb(ref), rgb(heat), scale, colours))

        return self._once(("heatmap", ref, heat, colours), make_overlay)

    def part(self, ref: str, box: tuple[float, float, float, float] | None) -> QImage:
        """The part of a picture inside a box."""
        return self._once(("part", ref, box), lambda: cut_out(self.image(ref), box))

    def _once(self, key: tuple[object, ...], make: Callable[[], QImage]) -> QImage:
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        made = self._kept[key] = make()
        while len(self._kept) > MOST_IMAGES:
            self._kept.popitem(last=False)
        return made
