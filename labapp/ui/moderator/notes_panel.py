"""Notes and flags, and beside them what went otherwise than planned. Both are typed while somebody
talks, so each carries the moment its typing began.

A line of the lists is put into other words, or taken back. Nothing is overwritten: the journal
keeps what was written first and every correction of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from textwrap import shorten

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QInputMethodEvent, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QStackedWidget,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from labapp.base.clock import NS
from labapp.ui import theme
from labapp.ui.keyboard import PURPOSE
from labapp.ui.language import N_, tr
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.state.console import DeviationLog, Note, WorkTime
from labapp.ui.theme import Palette
from labapp.ui.widgets.controls import Button, ElidedButton
from labapp.ui.widgets.painting import font, metrics, write_with

COLOURS = {"note": "accent", "flag": "warn", "prompt": "good", "question": "accent"}
NOTES, DEVIATIONS = range(2)
NOTED = ("noted", "noted_taken_back")
KEY = "Ctrl+Shift+N"
SHORT = 60
"""Characters of an interview's question in the list."""


class NoteInput(QLineEdit):
    """kept(text, began_ns): Enter was pressed; began_ns: session time of the first key.

    now_ns: the session's clock.
    """

    committed = Signal(str, object)

    def __init__(self, now_ns: Callable[[], int], name: str, placeholder: str) -> None:
        super().__init__()
        self._now_ns = now_ns
        self._began_ns: int | None = None
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(name)
        bits.limit(self)
        self.textChanged.connect(self._on_text_change)
        self.returnPressed.connect(self._keep)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._began_ns is None and event.text() and event.text().isprintable():
            self._began_ns = self._now_ns()
        if event.key() == Qt.Key.Key_Escape:
            return  # what was begun stays; the console gives the keyboard back
        super().keyPressEvent(event)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        # A composed character begins with its first stroke, long before it is text. Input methods
        # also send events without any, as when the field gets the keyboard.
        composes = bool(event.preeditString() or event.commitString())
        if self._began_ns is None and composes:
            self._began_ns = self._now_ns()
        super().inputMethodEvent(event)
        if not composes and not self.text():
            self._began_ns = None

    def begin_with(self, text: str) -> None:
        """Let this stand there, as nothing that was typed yet."""
        with QSignalBlocker(self):
            self.setText(text)
        self._began_ns = None

    @property
    def begun(self) -> bool:
        """Whether something was typed that is not kept yet."""
        return self._began_ns is not None and bool(self.text().strip())

    def _on_text_change(self, text: str) -> None:
        if not text:
            self._began_ns = None
        elif self._began_ns is None:  # pasted or dropped
            self._began_ns = self._now_ns()

    def _keep(self) -> None:
        text, began = self.text().strip(), self._began_ns
        self.clear()
        if text and began is not None:
            self.committed.emit(text, began)


def text_of(note: Note) -> str:
    """A note as the list shows it; what was taken back with the words it had."""
    text = note.text or note.first
    match note.kind:
        case "flag":
            return f"⚑ {note.number} {text}"
        case "prompt":
            return tr("notes.prompted", prompt=text)
        case "question":  # the guide has all of it
            return tr("interview.asked", question=shorten(text, SHORT, placeholder=" …"))
    text = f"{text} ✎" if note.text and note.corrected else text
    return tr("notes.of", name=note.by, note=text) if note.by else text


class NotesPanel(bits.Card):
    """flag_set(number): the moderator set a flag. correction_begun(): the field of the correction
    is to be written into; correction_asked(): it asks whether to take a line back."""

    correction_begun = Signal()
    correction_asked = Signal()
    flag_set = Signal(int)

    def __init__(
        self, palette: Palette, flags: Mapping[int, str], now_ns: Callable[[], int]
    ) -> None:
        around = (theme.SPACE_L, theme.SPACE_S, theme.SPACE_L, theme.SPACE_M)
        super().__init__("", theme.SPACE_S, around)
        self.input = NoteInput(now_ns, tr("notes.note"), tr("notes.note_hint"))
        self.list = TimedList(palette, tr("notes.title"))
        self.deviation = NoteInput(now_ns, tr("notes.deviation"), tr("notes.deviation_hint"))
        self.deviations = TimedList(palette, tr("notes.deviations"))
        self.correction = Correction(NoteInput(now_ns, tr("notes.correction"), ""), now_ns)
        self.correction.field.setProperty(PURPOSE, "correction")
        self._controls = True
        self._lines: tuple[list[Correctable | None], list[Correctable | None]] = ([], [])
        self.input.setProperty(PURPOSE, "note")
        self.deviation.setProperty(PURPOSE, "deviation")
        self.tabs = [
            Button(tr("notes.notes"), "page-tab"),
            Button(tr("notes.deviations"), "page-tab"),
        ]
        self.stack = QStackedWidget()
        head = bits.row(None, theme.SPACE_S)
        pages = ((self.input, self.list), (self.deviation, self.deviations))
        for tab, (field, view) in zip(self.tabs, pages, strict=True):
            view.chosen.connect(self.correct)
            view.setToolTip(tr("notes.correct_tip", key=KEY))
            head.addWidget(tab)
            page = QWidget()
            bits.fill(bits.column(page, theme.SPACE_S), field, (view, 1))
            self.stack.addWidget(page)
        bits.turn_pages(self.tabs, self.stack.setCurrentIndex)
        head.addStretch(1)
        bits.fill(self.body, head, self.correction, (self.stack, 1), self._flags(flags))
        self.legend = bits.label(role="secondary")
        self.body.addWidget(self.legend)
        for field in self._fields:
            field.textChanged.connect(self.say_unfinished)
        self.say_unfinished()

    def _flags(self, flags: Mapping[int, str]) -> QGridLayout:
        grid = QGridLayout()
        grid.setSpacing(theme.SPACE_XS)
        columns = 2 if len(flags) <= 6 else 3
        self.buttons = {}
        for place, (number, meaning) in enumerate(sorted(flags.items())):
            button = ElidedButton(f"{number}  {meaning}", "flag")
            button.setToolTip(tr("notes.flag_tip", meaning=meaning, number=number))
            button.clicked.connect(lambda _=False, number=number: self.flag_set.emit(number))
            grid.addWidget(button, place // columns, place % columns)
            self.buttons[number] = button
        return grid

    def set_controls(self, controls: bool) -> None:
        """Whether flags, deviations and corrections can be given; notes always can."""
        if self.correction.asks and not controls:
            self.correction.close_line()
        for button in self.buttons.values():
            button.setEnabled(controls)
        self.deviation.setEnabled(controls)
        self._controls = controls

    def show_lines_at_least(self, lines: int) -> None:
        """Keep room for so many lines of the list, whatever stands above it."""
        for view in (self.list, self.deviations):
            view.setMinimumHeight(view.height_of(lines))

    @property
    def _fields(self) -> tuple[NoteInput, ...]:
        return (self.input, self.deviation, self.correction.field)

    @property
    def field(self) -> NoteInput:
        """The field that is in front: of the correction, while one is written."""
        if self.correction.writes:
            return self.correction.field
        return (self.input, self.deviation)[self.stack.currentIndex()]

    def say_unfinished(self) -> None:
        """Say what the keys do, or that something begun waits in a field without the keyboard."""
        waits = any(field.begun and not field.hasFocus() for field in self._fields)
        text = N_("notes.unsaved") if waits else N_("notes.flag_keys")
        bits.set_text(self.legend, tr(text), "warn" if waits else "")

    def show_notes(self, notes: Sequence[Note]) -> None:
        """Newest first."""
        self._lines[NOTES][:] = [
            Correctable(note.seq, note.working_ns, note.text, note.first, note.kind == "note")
            for note in notes
        ]
        self.list.show_lines(
            [NoteLine(n.working_ns, text_of(n), COLOURS[n.kind], n.taken_back) for n in notes]
        )

    def correct(self, place: int) -> None:
        """Correct a line of the list that is in front, counted from the oldest."""
        lines = self._lines[self.stack.currentIndex()]
        line = lines[place] if 0 <= place < len(lines) else None
        if line is None or not self._controls:
            return  # what the program noticed by itself is not the moderator's to change
        self.correction.open_line(line)
        if line.own_words:
            self.correction_begun.emit()
        else:
            self.correction_asked.emit()

    def keep_begun(self) -> None:
        """Save text left in the fields of notes and deviations without Enter."""
        for field in (self.input, self.deviation):
            if field.begun:
                field.returnPressed.emit()

    def correct_newest(self) -> None:
        """Correct the newest line that can be."""
        lines = self._lines[self.stack.currentIndex()]
        places = [place for place, line in enumerate(lines) if line is not None]
        if places:
            self.correct(places[-1])

    def show_deviations(self, log: DeviationLog, work: WorkTime) -> None:
        """Newest first, and how many."""
        deviations = log.lines()
        self.tabs[DEVIATIONS].setText(f"{tr('notes.deviations')} {len(deviations) or ''}".rstrip())
        lines, correctable = [], []
        for deviation, words in deviations:
            at_ns = work.working_ns(round(deviation.session_s * NS))
            noted, taken_back = deviation.kind in NOTED, deviation.kind == NOTED[1]
            lines.append(NoteLine(at_ns, words, "accent" if noted else "alarm", taken_back))
            text = "" if taken_back else deviation.detail
            correctable.append(
                Correctable(deviation.seq, at_ns, text, deviation.detail, True)
                if noted and deviation.seq is not None
                else None
            )
        self._lines[DEVIATIONS][:] = correctable
        self.deviations.show_lines(lines)


LINE_ROLE = Qt.ItemDataRole.UserRole
TEXT_PX = theme.BODY_PX - 1
GAP = theme.SPACE_S
LINE_PX, LEAST_HEIGHT = 24, 60
"""Logical pixels of a line that is not wrapped, and of the list where there is little room."""
BAR = 3
RIGHT = 6
WRAP = int(Qt.TextFlag.TextWordWrap)


@dataclass(frozen=True, slots=True)
class NoteLine:
    """token: the colour of the bar that tells kinds apart; struck: it was taken back."""

    working_ns: int
    text: str
    token: str
    struck: bool = False

    @property
    def time(self) -> str:
        return wording.short_time(self.working_ns)


class _Delegate(QStyledItemDelegate):
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
        line: NoteLine = index.data(LINE_ROLE)
        box: QRect = option.rect
        bar = QRect(box.left(), box.top() + 2, BAR, box.height() - 4)
        painter.fillRect(bar, self._palette.color(line.token))
        left = box.left() + BAR + GAP
        write_with(painter, self._palette.color("secondary"), theme.SECONDARY_PX)
        width = metrics(theme.SECONDARY_PX).horizontalAdvance(line.time)
        painter.drawText(QRectF(left, box.top() + 4, width + 1, 20), 0, line.time)
        words = font(TEXT_PX)
        words.setStrikeOut(line.struck)
        painter.setFont(words)
        painter.setPen(self._palette.color("secondary" if line.struck else "ink"))
        left += ceil(width) + GAP
        room = QRectF(left, box.top() + 3, box.right() - RIGHT - left, box.height())
        painter.drawText(room, WRAP, line.text)

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        line: NoteLine = index.data(LINE_ROLE)
        time = ceil(metrics(theme.SECONDARY_PX).horizontalAdvance(line.time))
        width = max(40, self._list.viewport().width() - BAR - 2 * GAP - RIGHT - time)
        text = metrics(TEXT_PX).boundingRect(QRectF(0, 0, width, 10_000), WRAP, line.text)
        return QSize(width, max(LINE_PX, ceil(text.height()) + 8))


class TimedList(QListWidget):
    """Newest first. A click in it leaves the keyboard where it is.

    chosen(place): a line was double-clicked, counted from the oldest.
    """

    chosen = Signal(int)

    def __init__(self, palette: Palette, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setItemDelegate(_Delegate(palette, self))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.setMinimumHeight(LEAST_HEIGHT)
        # It takes the room that is left, and pushes nothing away.
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.doubleClicked.connect(lambda at: self.chosen.emit(self.count() - 1 - at.row()))

    def height_of(self, lines: int) -> int:
        """Logical pixels in which so many short lines are seen, and never less than the least."""
        line = max(LINE_PX, ceil(metrics(TEXT_PX).height()) + 8)
        return max(LEAST_HEIGHT, lines * line + 2 * self.frameWidth())

    def show_lines(self, lines: Sequence[NoteLine]) -> None:
        """Lines in the order they happened; only those that are new or changed are touched."""
        for _ in range(self.count(), len(lines)):
            self.insertItem(0, QListWidgetItem())
        for place, line in enumerate(reversed(lines)):
            item = self.item(place)
            if item.data(LINE_ROLE) != line:
                item.setData(LINE_ROLE, line)
                text = tr("notes.taken_back", text=line.text) if line.struck else line.text
                item.setData(Qt.ItemDataRole.AccessibleTextRole, text)
        self.scrollToTop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.scheduleDelayedItemsLayout()


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
        How it reads now, empty if it was taken back, and how it read at first.
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
        self.take_back = Button(tr("notes.take_back"), "compact", pressed=self._take_back)
        self.leave = Button(tr("notes.leave"), "compact", pressed=self.close_line)
        buttons = bits.fill(bits.row(None, theme.SPACE_XS), self.take_back, self.leave, 1)
        layout = bits.column(self, theme.SPACE_XS, (0, 0, 0, theme.SPACE_S))
        bits.fill(layout, self.title, self.words, field, buttons)
        field.installEventFilter(self)
        field.committed.connect(self._keep)
        field.returnPressed.connect(self.close_line)  # after it was kept
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
        bits.set_text(self.words, tr("notes.quoted", words=line.first))
        text = tr("notes.corrects", time=time)
        bits.set_text(self.title, text if line.own_words else tr("notes.set_at", time=time))
        self.take_back.setText(tr("notes.take_back") if line.text else tr("notes.set_again"))
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
        if (line := self._line) is not None:
            self._keep("" if line.text else line.first, self._now_ns())
        self.close_line()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self.take_key(event)
        return super().eventFilter(watched, event)
