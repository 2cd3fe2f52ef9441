"""Sessions as a model for tables: sorted by any column as people count, and searched.

Cells are made when they are painted, so that thousands of sessions cost no more than those that
can be seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from labapp.journal.sessions import SessionSummary
from labapp.ui.language import tr
from labapp.ui.theme import Palette

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_DIGITS = re.compile(r"(\d+)")

Natural = tuple[tuple[int, int, str], ...]


def natural(text: str) -> Natural:
    """A key that sorts as people count: P2 before P10, whatever the case."""
    pieces = _DIGITS.split(text.casefold())
    return tuple(
        (0, int(piece), "") if piece.isdecimal() else (1, 0, piece) for piece in pieces if piece
    )


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


class SessionModel(QAbstractTableModel):
    """lines: those that are shown, in their order; all_lines: as they were given."""

    def __init__(self, columns: Sequence[Column], palette: Palette) -> None:
        super().__init__()
        self.columns = tuple(columns)
        self.lines: list[SessionSummary] = []
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
        self.lines = lines

    def _text(self, line: SessionSummary) -> str:
        """What a search looks at: all cells of a row, and the folder's name."""
        known = self._texts.get(id(line))
        if known is None:
            cells = (column.text(line) for column in self.columns)
            known = self._texts[id(line)] = (line, "\n".join((line.id, *cells)).casefold())
        return known[1]

    # --- what Qt asks -----------------------------------------------------------------------------

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        roles = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)
        if orientation == Qt.Orientation.Horizontal and role in roles:
            return tr(self.columns[section].name)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self.lines):
            return None
        line, column = self.lines[index.row()], self.columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(line)
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.tip(line) if column.tip is not None else line.problem or column.text(line)
        if role == Qt.ItemDataRole.ForegroundRole and (tone := column.tone(line)):
            return QColor(getattr(self._palette, tone))
        return None
