"""A field to write in that gives its text when it is kept, never key by key."""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer, QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QTextCursor
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from labapp.ui import theme
from labapp.ui.widgets.limit import Limit

QUIET_MS = 1000
"""A text is kept after so long without a key."""
LONGEST_MS = 5000
"""Whoever writes on without a rest loses no more than this to a power cut."""
LINE_PX = 20


def comes_back(event: QEvent) -> bool:
    """Whether an editor loses the focus only while the keyboard is elsewhere: with the moderator,
    with another program, or while something covers the page. It stays as it is until then."""
    return isinstance(event, QFocusEvent) and event.reason() in (
        Qt.FocusReason.ActiveWindowFocusReason,
        Qt.FocusReason.PopupFocusReason,
    )


class TextField(QWidget):
    """kept(text): the focus went elsewhere on the page, Enter was pressed in a single line, a
    second went by without a key, or five seconds of writing. Only what a hand wrote is ever given.

    longest: characters at most; too_long: what is said to who writes more.
    """

    committed = Signal(str)

    def __init__(self, name: str, *, lines: int = 1, longest: int, too_long: str) -> None:
        super().__init__()
        self._given = ""
        self._written = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.keep)
        self._writing = QElapsedTimer()
        self.edit: QLineEdit | QPlainTextEdit
        if lines == 1:
            line = QLineEdit()
            line.returnPressed.connect(self.keep)
            line.textEdited.connect(self._edited)
            self.edit = line
        else:
            area = QPlainTextEdit()
            area.setTabChangesFocus(True)
            area.setFixedHeight(lines * LINE_PX + 2 * theme.SPACE_M)
            self.edit = area
        self.limit = Limit(self.edit, longest, too_long)
        if isinstance(self.edit, QPlainTextEdit):
            self.edit.textChanged.connect(self._edited)
        self.edit.setAccessibleName(name)
        self.edit.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)  # in Qt's own words
        self.edit.installEventFilter(self)
        self.setFocusProxy(self.edit)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self.edit)

    def text(self) -> str:
        """What stands there."""
        edit = self.edit
        return edit.text() if isinstance(edit, QLineEdit) else edit.toPlainText()

    def show_text(self, text: str) -> None:
        """Show what the session says, unless a hand wrote something else that is not kept yet."""
        self._given = text
        if self.text().strip() == text:
            self._written = False
        elif not self._written:
            self._set(text)

    def _set(self, text: str) -> None:
        self.edit.blockSignals(True)
        if isinstance(self.edit, QLineEdit):
            self.edit.setText(text)
        else:
            self.edit.setPlainText(text)
            self.edit.moveCursor(QTextCursor.MoveOperation.End)
        self.edit.blockSignals(False)

    def uncommitted_text(self) -> str | None:
        """The text, if a hand wrote it and it is another than was given."""
        text = self.text().strip()
        return text if self._written and text != self._given else None

    def keep(self) -> None:
        """Give the text, if a hand wrote it and it is another than was given."""
        self._timer.stop()
        if (text := self.uncommitted_text()) is not None:
            self.committed.emit(text)

    def _edited(self) -> None:
        self._written = True
        if not self._timer.isActive():
            self._writing.start()
        left = LONGEST_MS - self._writing.elapsed()
        self._timer.start(max(0, min(QUIET_MS, left)))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut and not comes_back(event):
            self.keep()
        elif event.type() == QEvent.Type.Hide:
            self._timer.stop()
        return super().eventFilter(watched, event)
