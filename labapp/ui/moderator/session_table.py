"""Recorded sessions as a table: sorted by any column as people count, and searched.

Cells are made when they are painted, so that thousands of sessions cost no more than those that
can be seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QItemSelection, QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QColor

from labapp.journal.sessions import SessionSummary
from labapp.naming import natural
from labapp.ui.language import N_, tr
from labapp.ui.moderator import wording
from labapp.ui.moderator.choices import length_text, state_text, voice_text
from labapp.ui.theme import Palette
from labapp.ui.widgets.row_table import RowModel, RowTable


@dataclass(frozen=True)
class Column:
    """A column of a table of sessions.

    name: of its header, in English; text: of a cell; key: what it is sorted by, its text where
    there is none; tone: of the text, a name in the palette or empty; tip: the tool tip, the text
    where there is none; wide: takes the room that is left.
    """

    name: str
    text: Callable[[SessionSummary], str]
    key: Callable[[SessionSummary], Any] | None = None
    tone: Callable[[SessionSummary], str] = lambda line: ""
    tip: Callable[[SessionSummary], str] | None = None
    wide: bool = False

    def sort_key(self, line: SessionSummary) -> Any:
        return self.key(line) if self.key is not None else natural(self.text(line))


class SessionModel(RowModel[SessionSummary]):
    """rows: those that are shown, in their order; all_lines: as they were given."""

    def __init__(self, columns: Sequence[Column], palette: Palette) -> None:
        super().__init__([column.name for column in columns])
        self.columns = tuple(columns)
        self.all_lines: tuple[SessionSummary, ...] = ()
        self._palette = palette
        self._sorted: tuple[int, bool] | None = None
        self._wanted = ""
        self._texts: dict[int, tuple[SessionSummary, str]] = {}

    def set_lines(self, lines: Sequence[SessionSummary]) -> None:
        """Show these instead, sorted and searched as those before."""
        self.beginResetModel()
        self.all_lines = tuple(lines)
        self._texts.clear()
        self._arrange()
        self.endResetModel()

    def search(self, text: str) -> None:
        """Show only those in which every word of the text is; empty for all."""
        self.beginResetModel()
        self._wanted = text
        self._arrange()
        self.endResetModel()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """By a column; -1: as they were given."""
        self.beginResetModel()
        down = order == Qt.SortOrder.DescendingOrder
        self._sorted = (column, down) if 0 <= column < len(self.columns) else None
        self._arrange()
        self.endResetModel()

    def _arrange(self) -> None:
        words = self._wanted.casefold().split()
        lines = list(self.all_lines)
        if words:
            lines = [line for line in lines if all(word in self._text(line) for word in words)]
        if self._sorted is not None:
            column, down = self._sorted
            lines.sort(key=self.columns[column].sort_key, reverse=down)
        self.rows = lines

    def _text(self, line: SessionSummary) -> str:
        """What a search looks at: all cells of a row, and the folder's name."""
        known = self._texts.get(id(line))
        if known is None:
            cells = (column.text(line) for column in self.columns)
            known = self._texts[id(line)] = (line, "\n".join((line.id, *cells)).casefold())
        return known[1]

    def cell(self, row: SessionSummary, column: int, role: int) -> Any:
        of = self.columns[column]
        if role == Qt.ItemDataRole.DisplayRole:
            return of.text(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return of.tip(row) if of.tip is not None else row.problem or of.text(row)
        if role == Qt.ItemDataRole.ForegroundRole and (tone := of.tone(row)):
            return QColor(getattr(self._palette, tone))
        return None


ROW_PX = 36
LEAST_COLUMN_PX = 64
SIGNS = {"complete": "✓", "ended_early": "■", "interrupted": "!", "running": "▶", "damaged": "✕"}
TONES = {"complete": "good", "interrupted": "warn", "damaged": "alarm"}


def label_text(line: SessionSummary) -> str:
    """The participant, and the session where there may be several."""
    return line.participant + ("" if line.session == "1" else f" · {line.session}")


def _tells_not_counted(line: SessionSummary) -> bool:
    """Whether it came to its end, and does not count all the same."""
    if line.decision:
        return line.decision == "excluded"
    return line.state == "complete" and bool(line.not_counted)


def _state(line: SessionSummary) -> str:
    sign = SIGNS["ended_early" if _tells_not_counted(line) else line.state]
    return f"{sign}  {state_text(line)}"


def _state_tone(line: SessionSummary) -> str:
    return "warn" if _tells_not_counted(line) else TONES.get(line.state, "")


def _voice_tone(line: SessionSummary) -> str:
    return "warn" if line.lost_s > 0 else ""


STUDY = Column(N_("Study"), lambda line: line.study, wide=True)
ID = Column(N_("Id"), label_text, lambda line: natural(f"{line.participant} {line.session}"))
STATE = Column(N_("State"), _state, tone=_state_tone)
STARTED = Column(
    N_("Started"), lambda line: wording.local_time(line.started), lambda line: line.started
)
LENGTH = Column(N_("Length"), length_text, lambda line: line.length_s)
VOICE = Column(N_("Voice"), voice_text, lambda line: (line.sound, -line.lost_s), _voice_tone)
NARROW = (ID, STATE, LENGTH, replace(VOICE, wide=True))
WIDE = (STUDY, ID, STATE, STARTED, LENGTH, VOICE)


class SessionView(RowTable):
    """A table that is read and whose rows are chosen, newest first until a header is clicked.

    chosen(): other rows are selected; opened(line): a row was clicked twice, or Enter pressed.
    """

    opened = Signal(object)

    def __init__(self, columns: Sequence[Column], name: str, palette: Palette) -> None:
        self.sessions = SessionModel(columns, palette)
        wide = [place for place, column in enumerate(columns) if column.wide]
        super().__init__(self.sessions, name, ROW_PX, wide)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(True)
        header.setMinimumSectionSize(LEAST_COLUMN_PX)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setSortIndicatorShown(True)
        header.sortIndicatorChanged.connect(self._sort)
        self.picked.connect(lambda row: self.opened.emit(self.sessions.rows[row]))

    @property
    def lines(self) -> tuple[SessionSummary, ...]:
        """All sessions, as they were given."""
        return self.sessions.all_lines

    def set_lines(self, lines: Sequence[SessionSummary]) -> None:
        """Show these sessions; what is selected, and where the table stands, stays so."""
        if tuple(lines) != self.sessions.all_lines:
            self.keeping(lambda: self.sessions.set_lines(lines))

    def search(self, text: str) -> None:
        """Show only the sessions that have every word of the text."""
        self.keeping(lambda: self.sessions.search(text))

    def selected_lines(self) -> list[SessionSummary]:
        """The sessions of the selected rows, in the table's order."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [self.sessions.rows[row] for row in rows if row < len(self.sessions.rows)]

    def selected(self) -> SessionSummary | None:
        """The session of the selected row."""
        return next(iter(self.selected_lines()), None)

    def _sort(self, column: int, order: Qt.SortOrder) -> None:
        self.keeping(lambda: self.sessions.sort(column, order))

    def keeping(self, change: Callable[[], None]) -> None:
        """Change what is shown; what is selected stays so where it is still shown, and so does the
        row from which the arrow keys go on."""
        chosen = {line.path for line in self.selected_lines()}
        row = self.currentIndex().row()
        current = self.sessions.rows[row].path if row >= 0 else None
        place = self.verticalScrollBar().value()
        model = self.selectionModel()
        blocked = model.blockSignals(True)
        change()
        last = len(self.sessions.columns) - 1
        selection = QItemSelection()
        for row, line in enumerate(self.sessions.rows) if chosen or current else ():
            if line.path in chosen:
                selection.select(self.sessions.index(row, 0), self.sessions.index(row, last))
            if line.path == current:
                cell = self.sessions.index(row, 0)
                model.setCurrentIndex(cell, QItemSelectionModel.SelectionFlag.NoUpdate)
        model.select(selection, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        model.blockSignals(blocked)
        self.verticalScrollBar().setValue(place)
        self.chosen.emit()


class SessionTable(SessionView):
    """wide: with study and start, for all sessions; narrow: those of one study."""

    def __init__(self, palette: Palette, *, wide: bool, more: Sequence[Column] = ()) -> None:
        super().__init__((*(WIDE if wide else NARROW), *more), tr("Sessions"), palette)
