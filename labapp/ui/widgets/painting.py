"""What the painted widgets share: pens, fonts and colours made once, not per paint.

What a hand used: mouse, touch or keyboard.

Pictures as pixels: from a decoder's float32 in 0..1 to 0xffRRGGBB, written in place.

Every function takes pictures of shape (rows, columns), in grey, or (rows, columns, 3) of red, green
and blue, and fills `out`, uint32 of shape (rows, columns).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
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
    QPolygonF,
)
from PySide6.QtWidgets import QWidget

from labapp.models.representations.space import Chart
from labapp.ui import theme

Array = NDArray[np.float32]
Pixels = NDArray[np.uint32]
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


def write_with(
    painter: QPainter, ink: QPen | QColor, px: int = theme.BODY_PX, bold: bool = False
) -> None:
    """Give a painter the colour and the font of the words that it draws next."""
    painter.setPen(ink)
    painter.setFont(font(px, bold))


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


def centre_on_pixels(
    widget: QWidget, wide: int, high: int, whole: Callable[[float], int] = round
) -> QRectF:
    """The middle of a widget, so many device pixels wide and high, on whole device pixels of its
    window; in logical pixels. whole: takes a place between two pixels to one of them."""
    ratio = widget.devicePixelRatioF()
    origin = widget.mapTo(widget.window(), QPointF(0, 0))
    left = whole((origin.x() + widget.width() / 2) * ratio - wide / 2)
    top = whole((origin.y() + widget.height() / 2) * ratio - high / 2)
    return QRectF(left / ratio - origin.x(), top / ratio - origin.y(), wide / ratio, high / ratio)


CHART_LINE_PX = 1.6


def draw_chart(painter: QPainter, box: QRectF, series: Array, chart: Chart, frame: str) -> None:
    """A small chart of a series, float32 of any shape, with its zero line and a frame."""
    middle = box.center().y()
    x = np.linspace(box.left(), box.right(), series.size)
    y = middle - chart.above_middle(series, box.height() / 2)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setClipRect(box)
    painter.fillRect(box, brush(theme.SERIES_GROUND))
    if chart.zero is not None:
        at = middle - chart.zero * box.height() / 2
        painter.setPen(pen(theme.SERIES_AXIS, dashed=True))
        painter.drawLine(QPointF(box.left(), at), QPointF(box.right(), at))
    painter.setPen(pen(theme.SERIES_OWN, CHART_LINE_PX))
    painter.drawPolyline(
        QPolygonF([QPointF(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)])
    )
    equip(painter, pen(frame), Qt.BrushStyle.NoBrush)
    painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))
    painter.restore()


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


_GREYS = np.arange(256, dtype=np.uint32) * 0x010101 + 0xFF000000
LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)
"""What red, green and blue weigh in the lightness of a colour (ITU-R BT.601)."""
_BLACK, _WHITE = np.uint32(0xFF000000), np.uint32(0xFFFFFFFF)


def levels(x: Array) -> NDArray[np.uint8]:
    """Levels 0..255; values outside 0..1 are clipped."""
    return (np.clip(x, 0.0, 1.0) * np.float32(255) + np.float32(0.5)).astype(np.uint8)


def plain(x: Array, out: Pixels) -> None:
    """The picture as it is."""
    if x.ndim == 2:
        np.take(_GREYS, levels(x), out=out)
        return
    values = levels(x).astype(np.uint32)
    _join(values[..., 0], values[..., 1], values[..., 2], out)


def binary(x: Array, out: Pixels) -> None:
    """Black and white by the same rounding as the distance (representations.distance.mnist)."""
    np.copyto(out, _BLACK)
    np.copyto(out, _WHITE, where=x >= 0.5)


def two_hues(own: Array, target: Array, out: Pixels) -> None:
    """Blue where only the own picture is light, orange where only the target is, and the plain
    grey where they agree. In colour likewise: the mean of both, towards blue or orange by how much
    lighter one of them is."""
    if own.ndim == 2:
        a, b = levels(own).astype(np.uint32), levels(target).astype(np.uint32)
        _join(b, (a + b + np.uint32(1)) >> np.uint32(1), a, out)
        return
    mixed = (own + target) * np.float32(0.5)
    lighter = (own - target) @ (LUMA * np.float32(0.5))
    mixed[..., 0] -= lighter
    mixed[..., 2] += lighter
    plain(mixed, out)


def half_and_half(own: Array, target: Array, out: Pixels) -> None:
    """The target at 50 % opacity over the own picture, as in the published application."""
    plain((own + target) * np.float32(0.5), out)


def round_to_binary(x: Array) -> Array:
    """0 or 1 a pixel, by the same rounding as `binary`."""
    return (x >= 0.5).astype(np.float32)


def _join(red: Pixels, green: Pixels, blue: Pixels, out: Pixels) -> None:
    np.bitwise_or((red << 16) | (green << 8), blue, out=out)
    np.bitwise_or(out, _BLACK, out=out)
