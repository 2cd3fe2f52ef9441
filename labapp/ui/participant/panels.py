"""What is said beside or over a screen, inline and never modal."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from labapp.ui import theme
from labapp.ui.widgets.buttons import Button
from labapp.ui.widgets.heard import announce
from labapp.ui.widgets.label import PlainLabel
from labapp.ui.widgets.markdown import MarkdownView, text_width


class Question(QFrame):
    """A gentle question in a card: stay, or go (where `go` is given). Hidden until asked."""

    stayed = Signal()
    went = Signal()

    def __init__(self, title: str, text: str, *, stay: str, go: str = "") -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.setAccessibleName(title)
        heading = PlainLabel(title)
        heading.setProperty("role", "title")
        label = PlainLabel(text)
        label.setWordWrap(True)
        self.stay = Button(stay, "primary")
        self.stay.clicked.connect(self.stayed)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.SPACE_M)
        buttons.addWidget(self.stay)
        if go:
            self.go = Button(go)
            self.go.clicked.connect(self.went)
            buttons.addWidget(self.go)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(*(theme.SPACE_L,) * 4)
        column.setSpacing(theme.SPACE_M)
        column.addWidget(heading)
        column.addWidget(label)
        column.addLayout(buttons)
        self.hide()

    def ask(self) -> None:
        self.show()
        self.raise_()
        self.stay.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.stayed.emit()
            return
        super().keyPressEvent(event)


class Cover(QWidget):
    """A calm page over the session: a pause, a wait, the end. Nothing of the task shows.

    back: takes back what the page stands for, where that is possible.
    """

    def __init__(self) -> None:
        super().__init__()
        self.back = Button()
        self.back.hide()
        self._title, self._text = PlainLabel(), PlainLabel()
        self.more = MarkdownView()
        self.more.setFixedWidth(text_width())
        self.more.hide()
        self._title.setProperty("role", "title")
        self._text.setWordWrap(True)
        for label in (self._title, self._text):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._text.setFixedWidth(text_width() * 3 // 4)
        column = QVBoxLayout(self)
        column.setSpacing(theme.SPACE_M)
        column.addStretch(2)
        column.addWidget(self._title)
        column.addWidget(self._text, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.back, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.more, 100, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)

    def say(self, title: str, text: str, more: str = "", back: str = "") -> None:
        """more: a text below, as Markdown; back: the words of the button, none for no button."""
        self.more.setVisible(bool(more))
        if more:
            self.more.show_text(more)
        if back:
            self.back.setText(back)
        self.back.setVisible(bool(back))
        if self._title.text() != title or self._text.text() != text:
            self._title.setText(title)
            self._text.setText(text)
            # Aligned labels are not asked how high their wrapped text is.
            self._text.setFixedHeight(self._text.heightForWidth(self._text.width()))
            self.setAccessibleName(f"{title}. {text}")
            announce(self, self.accessibleName())
