"""What the painted widgets share: pens, fonts and colours made once, not per paint.

What a hand used: mouse, touch or keyboard.
"""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QInputDevice,
    QPaintDevice,
    QPainter,
    QPen,
    QPointerEvent,
)
from PySide6.QtWidgets import QWidget

from labapp.ui import theme

FOCUS_PX = 2.0


@cache
def color(value: str) -> QColor:
    """The QColor of a `#rrggbb` token."""
    return QColor(value)


@cache
def brush(value: str) -> QBrush:
    return QBrush(color(value))


@cache
def pen(value: str, width: float = 1.0, *, dashed: bool = False) -> QPen:
    """A pen with round joints; dashed: for what must differ by more than colour."""
    made = QPen(color(value), width)
    made.setCapStyle(Qt.PenCapStyle.FlatCap if dashed else Qt.PenCapStyle.RoundCap)
    made.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    if dashed:
        made.setDashPattern([4.0, 2.5])
    return made


@cache
def font(px: int = theme.BODY_PX, bold: bool = False) -> QFont:
    return theme.font(px, bold=bold)


@cache
def metrics(px: int = theme.BODY_PX, bold: bool = False) -> QFontMetricsF:
    return QFontMetricsF(font(px, bold))


def equip(
    painter: QPainter, line: QPen | QColor | Qt.PenStyle, fill: QBrush | QColor | Qt.BrushStyle
) -> None:
    """Give a painter what it draws lines with, and what it fills them with."""
    painter.setPen(line)
    painter.setBrush(fill)


def smooth(device: QPaintDevice) -> QPainter:
    """A painter that smooths edges."""
    painter = QPainter(device)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    return painter


def draw_focus_ring(painter: QPainter, rect: QRectF, radius: float, accent: str) -> None:
    """The ring round what has the keyboard focus."""
    painter.setPen(pen(accent, FOCUS_PX))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    half = FOCUS_PX / 2
    painter.drawRoundedRect(rect.adjusted(half, half, -half, -half), radius, radius)


def restyle(widget: QWidget, name: str, value: object) -> None:
    """Set a property that the style sheet looks at, and style the widget anew where it changed."""
    if (widget.property(name) or "") != (value or ""):
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


KEYBOARD = "keyboard"
TOUCH = (QInputDevice.DeviceType.TouchScreen, QInputDevice.DeviceType.Stylus)


def device_of(event: QPointerEvent) -> str:
    """Mouse or touch. What no control takes as a touch, Qt makes a press of the mouse, which still
    knows the device that it came from."""
    return "touch" if event.device().type() in TOUCH else "mouse"
