"""A line of the lists is put into other words, or taken back. Nothing is overwritten: the journal
keeps what was written first and every correction of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame

from labapp.ui import theme
from labapp.ui.language import tr
from labapp.ui.moderator import bits, wording
from labapp.ui.widgets.buttons import Button

if TYPE_CHECKING:
    from labapp.ui.moderator.notes_panel import NoteInput


@dataclass(frozen=True, slots=True)
class Correctable:
    """A line that can be corrected.

    Attributes
    ----------
    seq
        Of the event that is corrected.
    working_ns
        Working time at which the line stands.
    text, first
        How it reads now, empty where it was taken back, and how it read at first.
    own_words
        Whether it can be put into other words; the study's words are only taken back.
    """

    seq: int
    working_ns: int
    text: str
    first: str
    own_words: bool


class Correction(QFrame):
    """Where a line is corrected, while one is; hidden otherwise.

    corrected(seq, text, began_ns): it reads so from now on; empty text takes it back. left(): it is
    over, whether anything was corrected or not.

    Parameters
    ----------
    field : takes the new words, with the moment of their first key.
    now_ns : the session's clock.
    """

    corrected = Signal(int, str, object)
    left = Signal()

    def __init__(self, field: NoteInput, now_ns: Callable[[], int]) -> None:
        super().__init__()
        self._now_ns = now_ns
        self._line: Correctable | None = None
        self.field = field
        self.title = bits.label("", "secondary")
        self.words = bits.label("", "", wrap=True)
        self.take_back = Button(tr("Take it back"), "compact")
        self.leave = Button(tr("Leave it"), "compact")
        buttons = bits.row(None, theme.SPACE_XS)
        buttons.addWidget(self.take_back)
        buttons.addWidget(self.leave)
        buttons.addStretch(1)
        layout = bits.column(self, theme.SPACE_XS, (0, 0, 0, theme.SPACE_S))
        for widget in (self.title, self.words, field):
            layout.addWidget(widget)
        layout.addLayout(buttons)
        field.installEventFilter(self)
        field.committed.connect(self._keep)
        field.returnPressed.connect(self.close_line)  # after it was kept
        self.take_back.clicked.connect(self._take_back)
        self.leave.clicked.connect(self.close_line)
        self.hide()

    @property
    def writes(self) -> bool:
        """Whether a line is being put into other words."""
        return self._line is not None and self._line.own_words

    def open_line(self, line: Correctable) -> None:
        """Correct a line; what was typed for another one is dropped, for it was not kept."""
        self._line = line
        time = wording.short_time(line.working_ns)
        self.field.setVisible(line.own_words)
        self.words.setVisible(not line.own_words)
        bits.set_text(self.words, tr("“{words}”", words=line.first))
        text = tr("Corrects {time}; Enter keeps it", time=time)
        bits.set_text(self.title, text if line.own_words else tr("Set at {time}", time=time))
        self.take_back.setText(tr("Take it back") if line.text else tr("Set again"))
        self.field.begin_with((line.text or line.first) if line.own_words else "")
        self.show()
        if line.own_words:
            self.field.setFocus(Qt.FocusReason.MouseFocusReason)
            self.field.selectAll()

    @property
    def asks(self) -> bool:
        """Whether it only asks what is to become of a line, with nothing to write."""
        return self._line is not None and not self._line.own_words

    def take_key(self, event: QKeyEvent) -> bool:
        """Escape leaves the line as it is. False for any other key."""
        if event.key() != Qt.Key.Key_Escape:
            return False
        self.close_line()
        return True

    def close_line(self) -> None:
        """Correct nothing more."""
        if self._line is None:
            return
        self._line = None
        self.field.clear()
        self.hide()
        self.left.emit()

    def _keep(self, text: str, began_ns: int) -> None:
        if self._line is not None:
            self.corrected.emit(self._line.seq, text, began_ns)

    def _take_back(self) -> None:
        line = self._line
        if line is not None:
            self.corrected.emit(line.seq, "" if line.text else line.first, self._now_ns())
        self.close_line()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self.take_key(event)
        return super().eventFilter(watched, event)
