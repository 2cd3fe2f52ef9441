"""What a window says: every text that can be seen, pointed at or read aloud."""

from __future__ import annotations

import re
from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QListWidget, QTableWidget, QWidget

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
        case QTableWidget():
            columns, rows = range(widget.columnCount()), range(widget.rowCount())
            yield from (widget.horizontalHeaderItem(column).text() for column in columns)
            for item in (widget.item(row, column) for row in rows for column in columns):
                yield from (item.text(), item.toolTip())
    for get in ("text", "placeholderText"):
        if callable(found := getattr(widget, get, None)):
            yield found()
