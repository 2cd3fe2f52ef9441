"""What a participant does at a window, and what the window shows of it."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from labapp.ui.widgets.choice import Choice, Option


def focus() -> QWidget:
    """The widget that takes the keys; of an option its choice."""
    widget = QApplication.focusWidget()
    assert widget is not None, "nothing has the focus"
    return widget.choice if isinstance(widget, Option) else widget


def press(*keys: Qt.Key) -> None:
    """Press keys, one after another, where the focus is."""
    for key in keys:
        QTest.keyClick(QApplication.focusWidget(), key)
        QApplication.processEvents()


def click(choice: Choice, place: int) -> None:
    """Click an option, counted from 1."""
    QTest.mouseClick(choice.options[place - 1], Qt.MouseButton.LeftButton)
    QApplication.processEvents()


def places(screen: QWidget) -> dict[QWidget, tuple[QPoint, int, int]]:
    """Where every widget of a screen is, and how large."""
    return {
        widget: (widget.mapTo(screen, QPoint(0, 0)), widget.width(), widget.height())
        for widget in screen.findChildren(QWidget)
        if widget.isVisible()
    }
