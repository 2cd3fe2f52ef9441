"""Notes and flags, and beside them what went otherwise than planned. Both are typed while somebody
talks, so each carries the moment its typing began."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from labapp.analysis.deviations import Deviation
from labapp.clock import NS
from labapp.ui import theme
from labapp.ui.keyboard import PURPOSE
from labapp.ui.language import N_, tr
from labapp.ui.moderator import bits
from labapp.ui.moderator.state.deviations import words_of
from labapp.ui.moderator.state.notes import Note
from labapp.ui.moderator.state.worktime import WorkTime
from labapp.ui.moderator.timed_list import Line, TimedList
from labapp.ui.theme import Palette
from labapp.ui.widgets.buttons import Button

COLOURS = {"note": "accent", "flag": "warn", "prompt": "good", "question": "accent"}
NOTES, DEVIATIONS = range(2)


class NoteInput(QLineEdit):
    """kept(text, began_ns): Enter was pressed; began_ns: session time of the first key.

    now_ns: the session's clock.
    """

    kept = Signal(str, object)

    def __init__(self, now_ns: Callable[[], int], name: str, placeholder: str) -> None:
        super().__init__()
        self._now_ns = now_ns
        self._began_ns: int | None = None
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(name)
        bits.limit(self)
        self.textChanged.connect(self._changed)
        self.returnPressed.connect(self._keep)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._began_ns is None and event.text().isprintable() and event.text():
            self._began_ns = self._now_ns()
        if event.key() == Qt.Key.Key_Escape:
            return  # what was begun stays; the console gives the keyboard back
        super().keyPressEvent(event)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        # A composed character begins with its first stroke, long before it is text.
        if self._began_ns is None:
            self._began_ns = self._now_ns()
        super().inputMethodEvent(event)

    def _changed(self, text: str) -> None:
        if not text:
            self._began_ns = None
        elif self._began_ns is None:  # pasted or dropped
            self._began_ns = self._now_ns()

    def _keep(self) -> None:
        text, began = self.text().strip(), self._began_ns
        self.clear()
        if text and began is not None:
            self.kept.emit(text, began)


def text_of(note: Note) -> str:
    """A note as the list shows it."""
    if note.kind == "flag":
        return f"⚑ {note.number} {note.text}"
    if note.kind == "prompt":
        return tr("Prompted: “{prompt}”", prompt=note.text)
    return note.text


class NotesPanel(QFrame):
    """note_kept(text, began_ns), deviation_kept(text, began_ns), flag_set(number): what the
    moderator did."""

    note_kept = Signal(str, object)
    deviation_kept = Signal(str, object)
    flag_set = Signal(int)

    def __init__(
        self, palette: Palette, flags: Mapping[int, str], now_ns: Callable[[], int]
    ) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.input = NoteInput(now_ns, tr("Note"), tr("Ctrl+N: a note, Enter keeps it"))
        self.list = TimedList(palette, tr("Notes and flags"))
        self.deviation = NoteInput(now_ns, tr("Deviation"), tr("What went otherwise?"))
        self.deviations = TimedList(palette, tr("Deviations"))
        self.input.setProperty(PURPOSE, "note")
        self.deviation.setProperty(PURPOSE, "deviation")
        self.input.kept.connect(self.note_kept)
        self.deviation.kept.connect(self.deviation_kept)
        self.tabs = [Button(tr("Notes"), "page-tab"), Button(tr("Deviations"), "page-tab")]
        self.stack = QStackedWidget()
        head = QHBoxLayout()
        head.setSpacing(theme.SPACE_S)
        pages = ((self.input, self.list), (self.deviation, self.deviations))
        for place, (tab, (field, found)) in enumerate(zip(self.tabs, pages, strict=True)):
            tab.setCheckable(True)
            tab.setAutoExclusive(True)
            tab.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            tab.clicked.connect(lambda _=False, place=place: self.stack.setCurrentIndex(place))
            head.addWidget(tab)
            page = QWidget()
            column = QVBoxLayout(page)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(theme.SPACE_S)
            column.addWidget(field)
            column.addWidget(found, 1)
            self.stack.addWidget(page)
        self.tabs[NOTES].setChecked(True)
        head.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_S, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        layout.addLayout(head)
        layout.addWidget(self.stack, 1)
        layout.addLayout(self._flags(flags))
        self.legend = bits.label(role="secondary")
        layout.addWidget(self.legend)
        for field in (self.input, self.deviation):
            field.textChanged.connect(self.say_unfinished)
        self.say_unfinished()

    def _flags(self, flags: Mapping[int, str]) -> QGridLayout:
        grid = QGridLayout()
        grid.setSpacing(theme.SPACE_XS)
        columns = 2 if len(flags) <= 6 else 3
        self.buttons = {}
        for place, (number, meaning) in enumerate(sorted(flags.items())):
            button = Button(f"{number}  {meaning}")
            button.setProperty("role", "flag")
            button.setToolTip(tr("Flag “{meaning}”: Ctrl+{number}", meaning=meaning, number=number))
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(lambda _=False, number=number: self.flag_set.emit(number))
            grid.addWidget(button, place // columns, place % columns)
            self.buttons[number] = button
        return grid

    @property
    def field(self) -> NoteInput:
        """The field that is in front."""
        return (self.input, self.deviation)[self.stack.currentIndex()]

    def say_unfinished(self) -> None:
        """Say what the keys do, or that something begun waits in a field without the keyboard."""
        begun = [field for field in (self.input, self.deviation) if field.text().strip()]
        waits = any(not field.hasFocus() for field in begun)
        said = N_("Not kept yet: Ctrl+N goes on") if waits else N_("Ctrl + number sets a flag")
        bits.set_text(self.legend, tr(said))
        bits.set_property(self.legend, "tone", "warn" if waits else "")

    def show_notes(self, notes: Sequence[Note]) -> None:
        """Newest first."""
        self.list.show_lines(
            [Line(note.working_ns, text_of(note), COLOURS[note.kind]) for note in notes]
        )

    def show_deviations(self, found: Sequence[Deviation], work: WorkTime) -> None:
        """Newest first, and how many."""
        self.tabs[DEVIATIONS].setText(f"{tr('Deviations')} {len(found) or ''}".rstrip())
        self.deviations.show_lines(
            [
                Line(
                    work.working_ns(round(one.session_s * NS)),
                    words_of(one),
                    "accent" if one.kind == "noted" else "alarm",
                )
                for one in found
            ]
        )
