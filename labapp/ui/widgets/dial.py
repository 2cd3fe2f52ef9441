"""The dial of a continuous dimension: a slider whose every step can be reached.

Dragging is coarse, Shift+drag fine, arrow keys move one step and Page keys ten, Home and End go to
the limits. A click in the track moves the handle there, as sliders on the web do. There are no
numbers (they would bias) and the wheel does nothing unless the dial has the focus.

As published, a dial is what a slider on a web page is: no fine dragging and no wheel, and a Page
key moves a tenth of the range.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor, log10

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QEnterEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QWidget

from labapp.representations.space import Continuous
from labapp.ui import theme
from labapp.ui.widgets.hands import device_of
from labapp.ui.widgets.painting import brush, pen

HANDLE_R = 10.0
RING_R = 14.0
TRACK_H = 6.0
PAGE_STEPS = 10
PUBLISHED_PAGES = 10
"""As published, so many Page keys go from one limit to the other, as in common browsers."""
EVEN = 1e-6
"""Steps by which a limit may miss a whole number of them."""
FINE_PX_PER_STEP = 2.0
"""Shift+drag: at most one step in so many pixels, whatever the range."""
WHEEL_NOTCH = 120

_STEP_KEYS = {
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_Up: 1,
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Down: -1,
}
_PAGE_KEYS = {Qt.Key.Key_PageUp: 1, Qt.Key.Key_PageDown: -1}
_END_KEYS = (Qt.Key.Key_Home, Qt.Key.Key_End)
_ALLOWED = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
_TAB_REASONS = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)


def moves_dial(event: QKeyEvent) -> bool:
    """Whether a key is one of those that move a dial."""
    key, held = Qt.Key(event.key()), event.modifiers() & ~_ALLOWED
    return not held and (key in _STEP_KEYS or key in _PAGE_KEYS or key in _END_KEYS)


@dataclass(slots=True)
class _Drag:
    """Where the pointer took hold: values are unrounded, x in pixels."""

    x: float
    value: float
    fine: bool
    device: str


class DialSlider(QAbstractSlider):
    """moved(value, device): the hand asks for a value (on its step); selected(device): it took hold
    of the dial. device: mouse, touch, keyboard or wheel.

    The handle follows the hand at once; `show_value` sets what the session says. improved: with
    fine dragging, fine Page keys and the wheel (False: as published). said: a number as the
    participant's language writes it. To Qt, and so to a screen reader, the value is a number of
    steps; the value itself is its description.
    """

    moved = Signal(float, str)
    selected = Signal(str)

    def __init__(
        self,
        dimension: Continuous,
        palette: theme.Palette,
        parent: QWidget | None = None,
        *,
        improved: bool = True,
        text_of: Callable[[str], str] = str,
    ) -> None:
        super().__init__(parent)
        self._dimension = dimension
        self._improved = improved
        self._colors = palette
        self._said = text_of
        self._digits = max(0, ceil(-log10(dimension.step) - EVEN))
        self._shown = dimension.snap(dimension.low)
        self._start: float | None = None
        self._locked = False
        self._drag: _Drag | None = None
        self._announced = False
        self._hover = False
        self._wheel = 0
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setOrientation(Qt.Orientation.Horizontal)
        step = dimension.step
        self.setRange(floor(dimension.low / step + EVEN), ceil(dimension.high / step - EVEN))
        self.setPageStep(max(1, round(self._page() / step)))
        self._follow()
        self.valueChanged.connect(self._stepped_to)

    @property
    def dimension(self) -> Continuous:
        return self._dimension

    @property
    def shown(self) -> float:
        """The value that the handle shows."""
        return self._shown

    @property
    def locked(self) -> bool:
        return self._locked

    def show_value(self, value: float) -> None:
        """Put the handle where the session says."""
        if value != self._shown:
            self._shown = value
            self._follow()
            self.update()

    def _follow(self) -> None:
        """Tell Qt, and whoever hears the screen, what the handle shows."""
        self.setValue(round(self._shown / self._dimension.step))
        self.setAccessibleDescription(self._said(f"{self._shown:.{self._digits}f}"))

    def _stepped_to(self, steps: int) -> None:
        """Qt's value is another one: by what is shown, or by a screen reader."""
        if not self._locked and steps != round(self._shown / self._dimension.step):
            self._ask(steps * self._dimension.step, "keyboard")

    def set_start(self, value: float | None) -> None:
        """The light tick at the starting value; None for none."""
        if value != self._start:
            self._start = value
            self.update()

    def set_locked(self, locked: bool) -> None:
        """A locked dial looks locked, takes no input and is left out by Tab."""
        if locked == self._locked:
            return
        self._locked = locked
        self._drag = None
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus if locked else Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.ArrowCursor if locked else Qt.CursorShape.PointingHandCursor)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, theme.TARGET_HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, theme.TARGET_HEIGHT)

    def handle_x(self, value: float) -> float:
        """Centre of the handle at a value, in the widget's pixels."""
        d = self._dimension
        return RING_R + (value - d.low) / (d.high - d.low) * self._span()

    def _span(self) -> float:
        """Pixels between the handle's places at the two limits; it never leaves the track."""
        return max(1.0, self.width() - 2 * RING_R)

    def _per_px(self, fine: bool) -> float:
        """How much a pixel of dragging moves the value."""
        d = self._dimension
        coarse = (d.high - d.low) / self._span()
        return min(d.step / FINE_PX_PER_STEP, coarse / 2) if fine else coarse

    def _is_fine(self, event: QMouseEvent) -> bool:
        """Whether this drag is a fine one."""
        return self._improved and bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)

    def _page(self) -> float:
        """How much a Page key moves the value."""
        d = self._dimension
        if self._improved:
            return PAGE_STEPS * d.step
        return max(d.step, (d.high - d.low) / PUBLISHED_PAGES)

    def _ask(self, value: float, device: str) -> None:
        snapped = self._dimension.snap(value)
        if snapped == self._shown:
            return
        self._shown = snapped
        self._follow()
        self.update()
        self.moved.emit(snapped, device)

    def _announce(self, device: str) -> None:
        self._announced = True
        self.selected.emit(device)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._locked or event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        device = device_of(event)
        self._announce(device)
        x = event.position().x()
        fine = self._is_fine(event)
        on_handle = abs(x - self.handle_x(self._shown)) <= RING_R
        value = self._shown
        if not (on_handle or fine):
            d = self._dimension
            value = d.low + (x - RING_R) * self._per_px(fine=False)
            value = min(max(value, d.low), d.high)
        self._drag = _Drag(x, value, fine, device)
        self._ask(value, device)
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        drag = self._drag
        if drag is None or self._locked:
            return
        x = event.position().x()
        fine = self._is_fine(event)
        if fine != drag.fine:
            # Shift was pressed or let go: go on from here, so that the handle does not jump.
            here = drag.value + (x - drag.x) * self._per_px(drag.fine)
            d = self._dimension
            drag.x, drag.value, drag.fine = x, min(max(here, d.low), d.high), fine
        self._ask(drag.value + (x - drag.x) * self._per_px(fine), drag.device)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._drag is not None:
            self._drag = None
            self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        d = self._dimension
        key = Qt.Key(event.key())
        if event.modifiers() & ~_ALLOWED or self._locked:
            event.ignore()
            return
        if key in _STEP_KEYS:
            wanted = self._shown + _STEP_KEYS[key] * d.step
        elif key in _PAGE_KEYS:
            wanted = self._shown + _PAGE_KEYS[key] * self._page()
        elif key == Qt.Key.Key_Home:
            wanted = d.low
        elif key == Qt.Key.Key_End:
            wanted = d.high
        else:
            event.ignore()
            return
        if not self._announced:
            self._announce("keyboard")
        self._ask(wanted, "keyboard")

    def wheelEvent(self, event: QWheelEvent) -> None:
        if not self._improved or not self.hasFocus() or self._locked:
            event.ignore()
            return
        self._wheel += event.angleDelta().y() or event.angleDelta().x()
        notches = int(self._wheel / WHEEL_NOTCH)
        self._wheel -= notches * WHEEL_NOTCH
        if notches:
            self._ask(self._shown + notches * self._dimension.step, "wheel")
        event.accept()

    def focusInEvent(self, event: QFocusEvent) -> None:
        if event.reason() in _TAB_REASONS:
            self._announce("keyboard")
        self._wheel = 0
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._announced = False
        self.update()

    def enterEvent(self, event: QEnterEvent) -> None:
        self._hover = True
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._hover = False
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self._colors
        middle = self.height() / 2
        painter = QPainter(self)
        painter.fillRect(self.rect(), brush(p.ground))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(brush(p.track))
        track = QRectF(
            RING_R - HANDLE_R, middle - TRACK_H / 2, self._span() + 2 * HANDLE_R, TRACK_H
        )
        painter.drawRoundedRect(track, TRACK_H / 2, TRACK_H / 2)
        if self._start is not None:
            x = round(self.handle_x(self._start)) + 0.5
            painter.setPen(pen(p.secondary, 1.0))
            painter.drawLine(QPointF(x, middle + 9), QPointF(x, middle + 15))
        centre = QPointF(self.handle_x(self._shown), middle)
        if self._locked:
            painter.setPen(pen(p.hairline, 2.0))
            painter.setBrush(brush(p.secondary))
            painter.drawEllipse(centre, HANDLE_R - 3, HANDLE_R - 3)
            painter.end()
            return
        if self.hasFocus():
            painter.setPen(pen(p.accent, 2.0))
            painter.setBrush(brush(p.accent_soft))
            painter.drawEllipse(centre, RING_R - 1, RING_R - 1)
        elif self._hover:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(brush(p.accent_soft))
            painter.drawEllipse(centre, RING_R - 1, RING_R - 1)
        painter.setPen(pen(p.accent, 2.0))
        painter.setBrush(brush(p.accent if self._drag is not None else p.card))
        painter.drawEllipse(centre, HANDLE_R - 2, HANDLE_R - 2)
        painter.end()
