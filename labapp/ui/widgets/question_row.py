"""A question and its options: beside each other, or one below the other."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLabel, QWidget

from labapp.ui import theme
from labapp.ui.widgets.segmented import SegmentedChoice

MARK = "▸"
MARK_WIDTH = 14


class QuestionRow(QWidget):
    """answered(place, device): the hand wants the option at this place, from 1.

    mark_missing tells, by tone and a mark in room kept for it, that an answer is missing. strong:
    the question is a main one; beside: logical pixels of the question where its options stand
    beside it.
    """

    answered = Signal(int, str)

    def __init__(
        self,
        text: str,
        options: Sequence[str],
        palette: theme.Palette,
        *,
        strong: bool = False,
        beside: int = 0,
        upright: bool = False,
        each: int | None = None,
        lines: int = 1,
        px: int = theme.BODY_PX,
    ) -> None:
        super().__init__()
        self.mark = QLabel()
        self.mark.setFixedWidth(MARK_WIDTH)
        self.mark.setProperty("tone", "warn")
        self.label = QLabel(text)
        self.label.setWordWrap(True)
        if strong:
            self.label.setProperty("role", "strong")
        self.choice = SegmentedChoice(
            options, palette, text, upright=upright, each=each, lines=lines, px=px
        )
        self.choice.chosen.connect(lambda index, device: self.answered.emit(index + 1, device))
        words = QHBoxLayout()
        words.setSpacing(0)
        words.addWidget(self.mark, 0, Qt.AlignmentFlag.AlignTop)
        words.addWidget(self.label, 1)
        across = QBoxLayout.Direction.LeftToRight
        layout = QBoxLayout(across if beside else QBoxLayout.Direction.TopToBottom, self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_XL if beside else theme.SPACE_S)
        if beside:
            self.label.setFixedWidth(beside - MARK_WIDTH)
            layout.addLayout(words)
            layout.addWidget(self.choice)
            layout.addStretch(1)
        else:
            below = QHBoxLayout()
            below.addSpacing(MARK_WIDTH)
            below.addWidget(self.choice)
            below.addStretch(1)
            layout.addLayout(words)
            layout.addLayout(below)

    @property
    def needed_width(self) -> int:
        """Logical pixels that its options need, below the question."""
        return MARK_WIDTH + self.choice.width()

    @property
    def missing(self) -> bool:
        """Whether it is marked as not answered."""
        return bool(self.mark.text())

    def show_answer(self, place: int | None) -> None:
        """Show what the session says, from 1; None: nothing is answered."""
        self.choice.show_index(None if place is None else place - 1)

    def mark_missing(self, missing: bool) -> None:
        """Tell, by tone and mark, that this still needs an answer."""
        if missing == self.missing:
            return
        self.mark.setText(MARK if missing else "")
        self.label.setProperty("tone", "warn" if missing else "")
        self.label.style().unpolish(self.label)
        self.label.style().polish(self.label)

    def entrance(self) -> QWidget:
        """What takes the focus."""
        return self.choice
