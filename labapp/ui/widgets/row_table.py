"""Tables whose rows are read and chosen; cells are made when they are painted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from labapp.ui.language import tr

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_HEADED = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
Row = TypeVar("Row")


class RowModel(QAbstractTableModel, Generic[Row]):
    """Things as rows.

    Attributes
    ----------
    names : tuple of str
        Of the columns, in English.
    rows : what is shown, in its order.
    """

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.names = tuple(names)
        self.rows: list[Row] = []

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show these instead."""
        self.beginResetModel()
        self.rows = list(rows)
        self.endResetModel()

    def cell(self, row: Row, column: int, role: int) -> Any:
        """What a role of Qt's is in a cell: its text, its tool tip, a colour; None for nothing."""
        raise NotImplementedError

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.names)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role in _HEADED:
            return tr(self.names[section])
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self.rows):
            return None
        return self.cell(self.rows[index.row()], index.column(), role)


class RowTable(QTableView):
    """A table of whole rows, as wide as there is room. chosen(): other rows are selected;
    picked(int): Enter was pressed on the row, counted from 0, or it was clicked: twice, or once
    where `by_one_click` says so."""

    chosen = Signal()
    picked = Signal(int)

    def __init__(
        self,
        model: RowModel[Any],
        name: str,
        row_px: int,
        wide: Sequence[int],
        *,
        by_one_click: bool = False,
    ) -> None:
        super().__init__()
        self.setModel(model)
        self.setAccessibleName(name)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(row_px)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        # The width of what can be seen: measuring thousands of cells would take the thread.
        header.setResizeContentsPrecision(0)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        for place in wide:
            header.setSectionResizeMode(place, QHeaderView.ResizeMode.Stretch)
        self.selectionModel().selectionChanged.connect(lambda *_: self.chosen.emit())
        click = self.clicked if by_one_click else self.doubleClicked
        click.connect(lambda index: self.picked.emit(index.row()))

    def selected_row(self) -> int | None:
        """The place of the first selected row, None where there is none."""
        rows = self.selectionModel().selectedRows()
        return min(index.row() for index in rows) if rows else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _ENTER:
            if (row := self.selected_row()) is not None:
                self.picked.emit(row)
            return
        super().keyPressEvent(event)
