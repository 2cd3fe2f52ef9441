"""A reserved place that shows, larger, what the pointer is over: it covers nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFocusEvent, QImage, QKeyEvent, QMouseEvent, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from labapp.ui import theme
from labapp.ui.widgets import controls
from labapp.ui.widgets.controls import PlainLabel
from labapp.ui.widgets.painting import color, draw_focus_ring, font, metrics, pen, smooth
from labapp.ui.widgets.photo_view import WHOLE, Box, PhotoView

SHARE = 0.5
"""Of a photo's width and height is shown at once."""
STEP = 0.125
FRAME = 3
_ARROWS = {
    Qt.Key.Key_Left: QPointF(-STEP, 0),
    Qt.Key.Key_Right: QPointF(STEP, 0),
    Qt.Key.Key_Up: QPointF(0, -STEP),
    Qt.Key.Key_Down: QPointF(0, STEP),
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
        self.caption = PlainLabel()
        self.caption.setProperty("role", "secondary")
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
        """Nothing is pointed at any more."""
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
            return views.index(self._shown[0]), *_rounded(self._at), 0.0
        return (-1, 0.0, 0.0, 0.0) if self._over is None else (-2, *_rounded(self._over), 0.0)

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
            painter.setPen(color(p.secondary))
            painter.setFont(font(theme.SECONDARY_PX))
            words = place.adjusted(theme.SPACE_L, 0, -theme.SPACE_L, 0)
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(words, int(flags), self._hint)
        elif self._shown is not None:
            painter.setPen(pen(p.accent, FRAME))
            half = FRAME / 2
            painter.drawRect(place.adjusted(half, half, -half, -half))
        if self.hasFocus():
            draw_focus_ring(painter, place, theme.RADIUS, p.accent)


def _rounded(at: QPointF) -> tuple[float, float]:
    return round(at.x(), 3), round(at.y(), 3)


def _middle(box: Box | None) -> QPointF:
    if box is None:
        return QPointF(0.5, 0.5)
    return QPointF((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
