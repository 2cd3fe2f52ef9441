"""Notes and flags: typed while somebody talks, so each carries the moment its typing began."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QInputMethodEvent, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
)

from labapp.ui import theme
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.state.notes import Note
from labapp.ui.theme import Palette
from labapp.ui.widgets.buttons import Button
from labapp.ui.widgets.painting import font, metrics

NOTE_ROLE = Qt.ItemDataRole.UserRole
TEXT_PX = theme.BODY_PX - 1
GAP = theme.SPACE_S
BAR = 3
RIGHT = 6
COLOURS = {"note": "accent", "flag": "warn", "prompt": "good"}
WRAP = int(Qt.TextFlag.TextWordWrap)


class NoteInput(QLineEdit):
    """kept(text, began_ns): Enter was pressed; began_ns: session time of the first key.

    now_ns: the session's clock.
    """

    kept = Signal(str, object)

    def __init__(self, now_ns: Callable[[], int]) -> None:
        super().__init__()
        self._now_ns = now_ns
        self._began_ns: int | None = None
        self.setPlaceholderText("Type a note, Enter keeps it")
        self.setAccessibleName("Note")
        self.setMaxLength(2000)
        self.textChanged.connect(self._changed)
        self.returnPressed.connect(self._keep)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._began_ns is None and event.text().isprintable() and event.text():
            self._began_ns = self._now_ns()
        if event.key() == Qt.Key.Key_Escape:
            self.clear()
            return
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


class _NoteDelegate(QStyledItemDelegate):
    """Time, then the text in as many lines as it needs."""

    def __init__(self, palette: Palette, parent: QListWidget) -> None:
        super().__init__(parent)
        self._palette = palette
        self._list = parent

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        note = index.data(NOTE_ROLE)
        box: QRect = option.rect
        painter.fillRect(
            QRect(box.left(), box.top() + 2, BAR, box.height() - 4),
            self._palette.color(COLOURS[note.kind]),
        )
        left = box.left() + BAR + GAP
        time = wording.short_time(note.working_ns)
        painter.setFont(font(theme.SECONDARY_PX))
        painter.setPen(self._palette.color("secondary"))
        width = metrics(theme.SECONDARY_PX).horizontalAdvance(time)
        painter.drawText(QRectF(left, box.top() + 4, width + 1, 20), 0, time)
        painter.setFont(font(TEXT_PX))
        painter.setPen(self._palette.color("ink"))
        left += ceil(width) + GAP
        painter.drawText(
            QRectF(left, box.top() + 3, box.right() - RIGHT - left, box.height()),
            WRAP,
            text_of(note),
        )

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        note = index.data(NOTE_ROLE)
        time = wording.short_time(note.working_ns)
        used = BAR + 2 * GAP + RIGHT + ceil(metrics(theme.SECONDARY_PX).horizontalAdvance(time))
        width = max(40, self._list.viewport().width() - used)
        text = metrics(TEXT_PX).boundingRect(QRectF(0, 0, width, 10_000), WRAP, text_of(note))
        return QSize(width, max(24, ceil(text.height()) + 8))


def text_of(note: Note) -> str:
    """A note as the list shows it."""
    if note.kind == "flag":
        return f"⚑ {note.number} {note.text}"
    if note.kind == "prompt":
        return f"Prompted: “{note.text}”"
    return note.text


class _NoteList(QListWidget):
    """Digits are flags, also while the list has the focus: it does not search by them."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.text().isdigit():
            event.ignore()
            return
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.scheduleDelayedItemsLayout()


class NotesPanel(QFrame):
    """note_kept(text, began_ns), flag_set(number): what the moderator did."""

    note_kept = Signal(str, object)
    flag_set = Signal(int)

    def __init__(
        self, palette: Palette, flags: Mapping[int, str], now_ns: Callable[[], int]
    ) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.input = NoteInput(now_ns)
        self.list = _NoteList()
        self.list.setAccessibleName("Notes and flags")
        self.list.setItemDelegate(_NoteDelegate(palette, self.list))
        self.list.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.list.setMinimumHeight(60)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(bits.label("NOTES", "section"))
        layout.addWidget(self.input)
        layout.addWidget(self.list, 1)
        grid = QGridLayout()
        grid.setSpacing(theme.SPACE_XS)
        columns = 2 if len(flags) <= 6 else 3
        self.buttons = {}
        for place, (number, meaning) in enumerate(sorted(flags.items())):
            button = Button(f"{number}  {meaning}")
            button.setProperty("role", "flag")
            button.setToolTip(f"Flag “{meaning}”: Ctrl+{number}, or {number} outside a text field")
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(lambda _=False, number=number: self.flag_set.emit(number))
            grid.addWidget(button, place // columns, place % columns)
            self.buttons[number] = button
        layout.addLayout(grid)
        self.legend = bits.label("Ctrl + number sets a flag at any time", "secondary")
        layout.addWidget(self.legend)
        self.input.kept.connect(self.note_kept)

    def show_notes(self, notes: Sequence[Note]) -> None:
        """Newest first; only those that are not shown yet are added."""
        for note in notes[self.list.count() :]:
            item = QListWidgetItem()
            item.setData(NOTE_ROLE, note)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, text_of(note))
            self.list.insertItem(0, item)
        self.list.scrollToTop()
