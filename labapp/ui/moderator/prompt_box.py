"""The study's prompts in reach: which there are, by which key each is given, and when the last was.

A prompt is spoken by the moderator; giving it here records that, with its text.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from labapp.ui import theme
from labapp.ui.language import tr
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.state.notes import Note
from labapp.ui.widgets.buttons import Button

FIRST_KEY = "F8"
ROW_PX = 30
MOST_ROWS = 3


def key_of(place: int) -> str:
    """The key that gives a prompt, counted from 0."""
    return FIRST_KEY if place == 0 else f"Alt+{place + 1}"


class PromptBox(QWidget):
    """given(place): the moderator says one of the prompts, counted from 0."""

    given = Signal(int)

    def __init__(self, prompts: Sequence[str]) -> None:
        super().__init__()
        self.last = bits.label(role="caption")
        self.buttons: list[Button] = []
        rows = QWidget()
        column = QVBoxLayout(rows)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for place, prompt in enumerate(prompts):
            button = Button()
            button.setProperty("role", "chip")
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.setFixedHeight(ROW_PX)
            button.setToolTip(
                tr("{key} records that you said: {prompt}", key=key_of(place), prompt=prompt)
            )
            button.setAccessibleName(tr("Said: {prompt}", prompt=prompt))
            inside = QHBoxLayout(button)
            inside.setContentsMargins(theme.SPACE_S, 0, theme.SPACE_S, 0)
            key = bits.label(key_of(place), "caption")
            key.setFixedWidth(36)
            for label in (key, words := bits.ElidedLabel(prompt, "fact")):
                label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            inside.addWidget(key)
            inside.addWidget(words, 1)
            button.clicked.connect(lambda _=False, place=place: self.given.emit(place))
            column.addWidget(button)
            self.buttons.append(button)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(rows)
        area.setFixedHeight(ROW_PX * min(MOST_ROWS, len(prompts)))
        head = QHBoxLayout()
        head.addWidget(bits.label(tr("Prompts"), "caption"), 1)
        head.addWidget(self.last)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addLayout(head)
        layout.addWidget(area)

    def show_last(self, notes: Sequence[Note], now_ns: int) -> None:
        """How long ago (session time) the last prompt was given."""
        last = next((note for note in reversed(notes) if note.kind == "prompt" and note.text), None)
        text = tr("none yet")
        if last is not None:
            text = tr("last {time} ago", time=wording.short_time(now_ns - last.t_ns))
        bits.set_text(self.last, text)
