"""Buttons for a timed response: by mouse, touch, their own keys, or Tab and Enter.

A response counts from the press, of a button as of a key, not from the release: the decision is
made then, and how long a finger stays down differs between mouse and keyboard by about 100 ms.
jsPsych, with which the published study was run, times a key from its press too, but a button from
the click, which is its release: its times of buttons are longer by that.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QEnterEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QAbstractButton, QGridLayout, QSizePolicy

from labapp.ui import theme
from labapp.ui.widgets.choice import COMMANDS, Group
from labapp.ui.widgets.hands import device_of
from labapp.ui.widgets.painting import brush, color, draw_focus_ring, font, metrics, pen

HEIGHT = 56
CAP_HEIGHT = 24
LEAST_WIDTH = 180
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


@dataclass(frozen=True, slots=True)
class Response:
    """A button. cap: what the key is called, as it stands on the button."""

    text: str
    cap: str
    key: Qt.Key


@dataclass(frozen=True, slots=True)
class Press:
    """A button was pressed. place: of the button, from 0; device: mouse, touch or keyboard;
    stamp_ms: the event's own; arrival_ns: of `time.perf_counter_ns`, when it came here."""

    place: int
    device: str
    stamp_ms: int
    arrival_ns: int


class ResponseButton(QAbstractButton):
    """answered(device, stamp_ms, arrival_ns). It looks the same whether a press counts or not, and
    says nothing of whether an answer is right."""

    answered = Signal(str, object, object)

    def __init__(self, response: Response, palette: theme.Palette) -> None:
        super().__init__()
        self.response = response
        self._colors = palette
        self._over = False
        # Not by a click: a ring left on the last answer would suggest it for the next.
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(f"{response.text} ({response.cap})")
        # Not by a hand, whose press counts, but by a screen reader, which has no stamp.
        self.clicked.connect(lambda: self.answered.emit("keyboard", 0, time.perf_counter_ns()))

    @property
    def needed_width(self) -> int:
        """Logical pixels that its words and its key need."""
        text = metrics().horizontalAdvance(self.response.text)
        return round(text + self._cap_width + theme.SPACE_S + 2 * theme.SPACE_L) + 2

    @property
    def _cap_width(self) -> float:
        wide = metrics(theme.SECONDARY_PX).horizontalAdvance(self.response.cap)
        return float(max(CAP_HEIGHT, wide + 2 * theme.SPACE_S))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = time.perf_counter_ns()
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self.answered.emit(device_of(event), event.timestamp(), at)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Who gives the same answer twice in quick succession answers twice."""
        self.mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()  # it is for the row

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        event.ignore()

    def enterEvent(self, event: QEnterEvent) -> None:
        self._over = True
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._over = False
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self._colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(pen(p.accent if self._over else p.secondary))
        painter.setBrush(brush(p.card))
        painter.drawRoundedRect(box, theme.RADIUS, theme.RADIUS)
        text = metrics().horizontalAdvance(self.response.text)
        left = (self.width() - text - theme.SPACE_S - self._cap_width) / 2
        words = QRectF(left, 0, text + 2, self.height())
        painter.setPen(color(p.ink))
        painter.setFont(font())
        painter.drawText(words, _MIDDLE, self.response.text)
        corner = QPointF(left + text + theme.SPACE_S, (self.height() - CAP_HEIGHT) / 2)
        cap = QRectF(corner.x(), corner.y(), self._cap_width, CAP_HEIGHT)
        painter.setPen(pen(p.hairline))
        painter.setBrush(brush(p.ground))
        painter.drawRoundedRect(cap, theme.SPACE_XS, theme.SPACE_XS)
        painter.setPen(color(p.secondary))
        painter.setFont(font(theme.SECONDARY_PX))
        painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, self.response.cap)
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()), theme.RADIUS, p.accent)
        painter.end()


_MIDDLE = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


def _columns(count: int, width: int) -> int:
    """How many buttons of a width stand beside each other, so that all rows have room and no row is
    much shorter than the others."""
    room = theme.CONTENT_WIDTH - 2 * theme.SPACE_XS + theme.SPACE_M
    most = max(1, room // (width + theme.SPACE_M))
    rows = ceil(count / most)
    return ceil(count / rows)


class ResponseRow(Group):
    """pressed(Press): a button, or its key, was pressed. All buttons are equally wide; those that
    one row of the content has no room for stand in further rows, as many in each.

    The row as a whole has the focus at first, so that no answer stands out. A button's own key
    answers wherever in the row the focus is; Enter presses the button that Tab led to, and so does
    Space, unless it is the key of a button: a key that is printed on one button must not press
    another.
    """

    pressed = Signal(object)

    def __init__(self, responses: Sequence[Response], palette: theme.Palette, name: str) -> None:
        super().__init__()
        self._colors = palette
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)
        self.buttons = [ResponseButton(response, palette) for response in responses]
        grid = QGridLayout(self)
        grid.setContentsMargins(*(theme.SPACE_XS,) * 4)
        grid.setSpacing(theme.SPACE_M)
        width = max(LEAST_WIDTH, *(button.needed_width for button in self.buttons))
        columns = _columns(len(self.buttons), width)
        for place, button in enumerate(self.buttons):
            button.setFixedSize(QSize(width, HEIGHT))
            button.answered.connect(
                lambda device, stamp, at, place=place: self.pressed.emit(
                    Press(place, device, stamp, at)
                )
            )
            grid.addWidget(button, *divmod(place, columns))
        self._places = {button.response.key: place for place, button in enumerate(self.buttons)}

    def has_key(self, key: Qt.Key) -> bool:
        """Whether a key is printed on one of the buttons."""
        return key in self._places

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Of the row, and what its buttons leave to it."""
        at = time.perf_counter_ns()
        place = None if event.modifiers() & COMMANDS else self._place(Qt.Key(event.key()))
        if place is None:
            event.ignore()
        elif not event.isAutoRepeat():
            self.pressed.emit(Press(place, "keyboard", event.timestamp(), at))

    def _place(self, key: Qt.Key) -> int | None:
        """The button that a key presses."""
        if key in self._places:
            return self._places[key]
        if key in _ENTER or key == Qt.Key.Key_Space:
            focused = (place for place, button in enumerate(self.buttons) if button.hasFocus())
            return next(focused, None)
        return None

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.hasFocus():
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            radius = theme.RADIUS + theme.SPACE_XS
            draw_focus_ring(painter, QRectF(self.rect()), radius, self._colors.accent)
            painter.end()
