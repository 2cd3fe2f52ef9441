"""What a participant does at a window, and what the window shows of it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget


def focus() -> QWidget:
    """The widget that takes the keys."""
    widget = QApplication.focusWidget()
    assert widget is not None, "nothing has the focus"
    return widget


def press(*keys: Qt.Key) -> None:
    """Press keys, one after another, where the focus is."""
    for key in keys:
        QTest.keyClick(focus(), key)
        QApplication.processEvents()


def click(choice: Any, place: int) -> None:
    """Click a point of a row of choices, counted from 1."""
    at = choice.box(place - 1).center().toPoint()
    QTest.mouseClick(choice, Qt.MouseButton.LeftButton, pos=at)
    QApplication.processEvents()


def places(screen: QWidget) -> dict[QWidget, tuple[QPoint, int, int]]:
    """Where every widget of a screen is, and how large."""
    return {
        widget: (widget.mapTo(screen, QPoint(0, 0)), widget.width(), widget.height())
        for widget in screen.findChildren(QWidget)
        if widget.isVisible()
    }
