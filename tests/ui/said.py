"""What a window says: every text that can be seen, pointed at or read aloud; and what is cut."""

from __future__ import annotations

import re
from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QTableView,
    QWidget,
)

from labapp.ui.moderator.bits import ElidedLabel
from labapp.ui.widgets.markdown import MarkdownView


def said_in(window: QWidget) -> set[str]:
    """Everything that the widgets of a window say with letters. What is painted is not in here."""
    said = {window.windowTitle()}
    for widget in (window, *window.findChildren(QWidget)):
        said |= {widget.accessibleName(), widget.accessibleDescription(), widget.toolTip()}
        said |= set(_texts(widget))
    return {text for text in said if isinstance(text, str) and re.search(r"[A-Za-z]{2}", text)}


def _texts(widget: QWidget) -> Iterator[str]:
    match widget:
        case MarkdownView():
            yield widget.toPlainText()
            return
        case ElidedLabel():
            yield widget.full()
            return
        case QLabel():
            yield widget.text()
            return
        case QComboBox():
            yield from (widget.itemText(index) for index in range(widget.count()))
        case QListWidget():
            role = Qt.ItemDataRole.AccessibleTextRole
            yield from (widget.item(row).data(role) for row in range(widget.count()))
        case QTableView():
            table = widget.model()
            for column in range(table.columnCount()):
                yield table.headerData(column, Qt.Orientation.Horizontal)
                for row in range(table.rowCount()):
                    yield table.index(row, column).data()
                    yield table.index(row, column).data(Qt.ItemDataRole.ToolTipRole)
    for get in ("text", "placeholderText"):
        if callable(found := getattr(widget, get, None)):
            yield found()


def cut_in(window: QWidget) -> set[str]:
    """Texts on labels, buttons and in fields that have less room than they need. What ends in an
    ellipsis says so itself."""
    shown = (widget for widget in window.findChildren(QWidget) if widget.isVisible())
    return {text for widget in shown for text in _texts(widget) if text and _is_cut(widget, text)}


def _is_cut(widget: QWidget, text: str) -> bool:
    match widget:
        case ElidedLabel() | QComboBox():
            return False
        case QLabel() if widget.wordWrap():
            return widget.heightForWidth(widget.width()) > widget.height() + 2
        case QLabel() | QAbstractButton():
            return widget.minimumSizeHint().width() > widget.width() + 1
        case QLineEdit():
            margin = 8
            return widget.fontMetrics().horizontalAdvance(text) > widget.width() - margin
    return False
