"""Timers in the event loop."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


def once(parent: QObject, function: Callable[[], object], after_ms: int = 0) -> QTimer:
    """A timer that calls once, some time after each start."""
    timer = make_repeating_timer(parent, function, after_ms)
    timer.setSingleShot(True)
    return timer


def make_repeating_timer(parent: QObject, function: Callable[[], object], every_ms: int) -> QTimer:
    """A timer that calls again and again once it is started."""
    timer = QTimer(parent)
    timer.setInterval(every_ms)
    timer.timeout.connect(function)
    return timer
