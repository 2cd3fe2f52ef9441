"""The line below the units: searching, memos, new codes and questions; never a dialog."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QListWidget, QListWidgetItem

from labapp.ui import theme
from labapp.ui.language import tr
from labapp.ui.moderator import bits
from labapp.ui.widgets.buttons import Button

SHOWN = 6
"""Answers that are seen at once; more are scrolled to."""
ROW_PX = 24


@dataclass(frozen=True)
class Question:
    """What is asked in the line.

    Attributes
    ----------
    title : what is asked for, in words.
    text : what stands there at first.
    answers : the answers to choose from to what is typed.
    done : told what was typed and which answer is chosen, -1 for none; False leaves the line open.
    typed : whether something is typed; else it is a question to be answered by Enter or Esc.
    yes : what the button for it says.
    careful : whether Enter answers no, for a yes cannot be taken back, or states a fact.
    """

    title: str
    done: Callable[[str, int], bool | None]
    text: str = ""
    answers: Callable[[str], Sequence[str]] | None = None
    typed: bool = True
    yes: str = ""
    hint: str = field(default="")
    careful: bool = False


class _Line(QLineEdit):
    """Esc leaves, Up and Down choose an answer."""

    left = Signal()
    moved = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif event.key() in steps:
            self.moved.emit(steps[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() == Qt.FocusReason.MouseFocusReason and not self.text():
            self.left.emit()


class CodingField(QFrame):
    """Hidden until something is asked.

    Signals
    -------
    left() : nothing is asked any more.
    grown() : it needs another height.
    """

    left = Signal()
    grown = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "band")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._question: Question | None = None
        self.title = bits.label(role="strong", wrap=True)
        self.line = _Line()
        bits.limit(self.line)
        bits.limit(self.line)
        self.answers = QListWidget()
        self.answers.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.answers.setAccessibleName(tr("Matches"))
        self.answers.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.hint = bits.label(role="caption", wrap=True)
        self.yes = Button("", "compact")
        self.no = Button(tr("Not now"), "compact")
        column = bits.column(self, theme.SPACE_XS, (theme.SPACE_M, theme.SPACE_S) * 2)
        column.addWidget(self.title)
        column.addWidget(self.line)
        column.addWidget(self.answers)
        column.addWidget(self.hint)
        row = bits.row(None, theme.SPACE_S)
        row.addWidget(self.yes)
        row.addWidget(self.no)
        row.addStretch(1)
        column.addLayout(row)
        self.line.left.connect(self.leave)
        self.line.moved.connect(self._move)
        self.line.returnPressed.connect(self.accept)
        self.line.textChanged.connect(self._look)
        self.answers.itemClicked.connect(lambda item: self.accept())
        self.yes.clicked.connect(self.accept)
        self.no.clicked.connect(self.leave)
        self.hide()

    @property
    def question(self) -> Question | None:
        """What is asked."""
        return self._question

    def ask(self, question: Question) -> None:
        """Ask something."""
        self._question = question
        self.title.setText(question.title)
        self.line.setVisible(question.typed)
        self.line.setAccessibleName(question.title)
        self.line.setText(question.text)
        bits.set_text(self.hint, question.hint)
        self.hint.setVisible(bool(question.hint))
        for button in (self.yes, self.no):
            button.setVisible(not question.typed)
        self.yes.setText(question.yes)
        self._look(question.text)
        self.show()
        self._fit()
        self.grown.emit()
        answer = self.no if question.careful else self.yes
        target = self.line if question.typed else answer
        target.setFocus(Qt.FocusReason.OtherFocusReason)
        if question.typed:
            self.line.selectAll()

    def _fit(self) -> None:
        """No line of it is cut where the list above it has little room."""
        layout = self.layout()
        self.setMinimumHeight(0)
        if layout is not None and self._question is not None:
            layout.activate()
            self.setMinimumHeight(layout.totalHeightForWidth(self.width()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def accept(self) -> None:
        """Take what was typed or chosen."""
        question = self._question
        if question is None:
            return
        answered = question.done(self.line.text().strip(), self.answers.currentRow()) is not False
        if answered and self._question is question:
            self.leave()

    def leave(self) -> None:
        """Ask nothing any more."""
        if self._question is not None:
            self._question = None
            self.hide()
            self.left.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        else:
            super().keyPressEvent(event)

    def _look(self, text: str) -> None:
        question = self._question
        if question is None:
            return
        answers = question.answers(text.strip()) if question.answers is not None else ()
        self.answers.clear()
        for answer in answers:
            item = QListWidgetItem(answer)
            item.setToolTip(answer)
            self.answers.addItem(item)
        if answers:
            self.answers.setCurrentRow(0)
        rows = min(len(answers), SHOWN)
        self.answers.setFixedHeight(rows * ROW_PX + 4)
        self.answers.setVisible(bool(answers))
        self._fit()
        self.grown.emit()

    def _move(self, by: int) -> None:
        count = self.answers.count()
        if count:
            self.answers.setCurrentRow((self.answers.currentRow() + by) % count)
