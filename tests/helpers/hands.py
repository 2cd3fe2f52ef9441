"""Keys and mouse buttons that go down at a time of the window system's clock."""

from __future__ import annotations

import time

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPointingDevice, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget

MS = 1_000_000
LEFT = Qt.MouseButton.LeftButton


def now_ms() -> int:
    """The window system's clock in whole milliseconds, which it rounds down.

    Never the millisecond in which this is called: a stamp in it would lie before a picture that was
    painted in it, and no hand is as quick as that.
    """
    called = time.perf_counter_ns() // MS
    while (now := time.perf_counter_ns() // MS) == called:
        time.sleep(0.0002)
    return now


def key(code: Qt.Key, *, stamp_ms: int | None = None, again: bool = False, text: str = "") -> None:
    """A key goes down where the focus is, by default now."""
    widget = QApplication.focusWidget()
    assert widget is not None
    event = QKeyEvent(QEvent.Type.KeyPress, code, Qt.KeyboardModifier.NoModifier, text, again)
    event.setTimestamp(now_ms() if stamp_ms is None else stamp_ms)
    QApplication.sendEvent(widget, event)


def turn_wheel(
    widget: QWidget,
    where: QPointF | QPoint,
    notches: float = 1,
    *,
    sideways: int = 0,
    held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
) -> None:
    """The wheel is turned over a place of a widget; held: keys."""
    at, by = QPointF(where), QPoint(120 * sideways, round(120 * notches))
    turned = QWheelEvent(
        at, widget.mapToGlobal(at), QPoint(), by,
        Qt.MouseButton.NoButton, held, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(widget, turned)


def press(widget: QWidget, kind: QEvent.Type = QEvent.Type.MouseButtonPress) -> None:
    """The mouse goes down on a widget, now, and stays down."""
    at = QPointF(widget.rect().center())
    every = (at, QPointF(widget.mapToGlobal(at)), LEFT, LEFT, Qt.KeyboardModifier.NoModifier)
    event = QMouseEvent(kind, *every, QPointingDevice.primaryPointingDevice())
    event.setTimestamp(now_ms())
    QApplication.sendEvent(widget, event)
