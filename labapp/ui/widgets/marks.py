"""Buttons that mark something, as often as one likes, with a line that says what was marked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from labapp.ui import theme
from labapp.ui.widgets.buttons import Button
from labapp.ui.widgets.label import PlainLabel


class MarkRow(QWidget):
    """marked(name): a button or its key was pressed.

    buttons: by name, the button's words and its key, which is the whole page's (`take_key`). The
    line's room is kept while it is empty.
    """

    marked = Signal(str)

    def __init__(self, buttons: Mapping[str, tuple[str, str]]) -> None:
        super().__init__()
        self.buttons: dict[str, Button] = {}
        self._keys: dict[str, Callable[[], None]] = {}
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_M)
        for name, (words, key) in buttons.items():
            button = Button(words)
            mark = partial(self.marked.emit, name)
            button.clicked.connect(mark)
            self._keys[key.upper()] = mark
            self.buttons[name] = button
            row.addWidget(button, 1)
        self.line = PlainLabel(" ")
        self.line.setProperty("role", "secondary")
        self.line.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addLayout(row)
        column.addWidget(self.line)

    def take_key(self, event: QKeyEvent) -> bool:
        """Mark something by its key; False for any other key."""
        mark = self._keys.get(event.text().upper())
        if mark is None or event.modifiers() != Qt.KeyboardModifier.NoModifier:
            return False
        if not event.isAutoRepeat():
            mark()
        return True

    def say(self, text: str) -> None:
        """Show what was marked and what is missing, on one line."""
        if text != self.line.text():
            self.line.setText(text)
