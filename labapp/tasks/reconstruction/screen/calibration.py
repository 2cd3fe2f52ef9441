"""The screen of a calibration: reconstruction without a target mark, and two buttons that mark
where the pictures are "far away" and "close enough" (paper 000, A.2.3).

Buttons that mark something, as often as one likes, with a line that says what was marked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from labapp.tasks.reconstruction.events import MarkAlignment
from labapp.tasks.reconstruction.screen.matching import ReconstructionScreen
from labapp.tasks.reconstruction.state import Trial
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


NAMES = {"far": ("mark_far", "mark_far_key"), "close": ("mark_close", "mark_close_key")}
"""Words and key of each mark."""


class CalibrationScreen(ReconstructionScreen):
    """Nothing locks: the participant goes on, or marks again, when both were marked."""

    marks: MarkRow

    def make_beneath(self) -> QWidget:
        words = self.session.words

        buttons = {}
        for mark, (name, key) in NAMES.items():
            letter = words(key)
            buttons[mark] = (words("mark_button", mark=words(name), letter=letter), letter)
        self.marks = MarkRow(buttons)
        self.marks.marked.connect(self._mark)
        return self.marks

    def title(self) -> str:
        return self.session.words("mark_title")

    def instruction(self) -> str:
        words, part = self.session.words, self.part
        texts = [words("mark_text")]
        if part.skip == "after":
            seconds = words.number(f"{part.skip_after_s:g}")
            texts.append(words("mark_text_skip_after", skip_after_s=seconds))
        elif part.skip == "always":
            texts.append(words("mark_text_skip_always"))
        return " ".join(texts)

    def may_go_on(self, trial: Trial) -> bool:
        return not trial.unmarked

    def render_state(self) -> None:
        super().render_state()
        if (trial := self.trial) is not None:
            self.marks.say(self._said(trial))

    def _said(self, trial: Trial) -> str:
        """What was marked last, and what is missing."""
        words = self.session.words
        if not trial.marks:
            return words("mark_first")
        last = trial.marks[-1].mark
        count = sum(mark.mark == last for mark in trial.marks)
        made = words("mark_made", mark=words(NAMES[last][0]), count=count)
        if not trial.unmarked:
            return " ".join([made, words("mark_enough")])
        missing = words(NAMES[trial.unmarked[0]][0])
        return " ".join([made, words("mark_missing", mark=missing)])

    def take_key(self, event: QKeyEvent) -> bool:
        return self.marks.take_key(event) or super().take_key(event)

    def _mark(self, mark: str) -> None:
        self.gate.flush()
        self.send(MarkAlignment(mark))

    def right(self) -> None:
        self.gate.flush()
        super().right()
