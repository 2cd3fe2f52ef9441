"""Recorded sessions as a table."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem

from labapp.records.sessions import SessionSummary
from labapp.ui.language import N_, tr
from labapp.ui.moderator import wording
from labapp.ui.moderator.choices import length_text, state_text, voice_text
from labapp.ui.theme import Palette

ROW_PX = 36
SIGNS = {"complete": "✓", "ended_early": "■", "interrupted": "!", "running": "▶", "damaged": "✕"}
TONES = {"complete": "good", "interrupted": "warn", "damaged": "alarm"}
NARROW = (N_("Id"), N_("State"), N_("Length"), N_("Voice"))
WIDE = (N_("Study"), *NARROW[:2], N_("Started"), *NARROW[2:])


class Rows(QTableWidget):
    """A table that is read and whose rows are chosen, some columns as wide as there is room."""

    def __init__(self, columns: Sequence[str], name: str, wide: Collection[str]) -> None:
        super().__init__(0, len(columns))
        self.setHorizontalHeaderLabels([tr(column) for column in columns])
        self.setAccessibleName(name)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW_PX)
        header = self.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        mode = QHeaderView.ResizeMode
        for place, column in enumerate(columns):
            header.setSectionResizeMode(
                place, mode.Stretch if column in wide else mode.ResizeToContents
            )
        header.setMinimumSectionSize(64)


class SessionTable(Rows):
    """wide: with study and start, for all sessions; narrow: those of one study."""

    def __init__(self, palette: Palette, *, wide: bool) -> None:
        columns = WIDE if wide else NARROW
        super().__init__(columns, tr("Sessions"), ("State", "Study"))
        self._palette = palette
        self._columns = columns
        self.lines: tuple[SessionSummary, ...] = ()
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)

    def set_lines(self, lines: Sequence[SessionSummary]) -> None:
        """Show these sessions, in this order."""
        if tuple(lines) == self.lines:
            return
        self.lines = tuple(lines)
        self.setRowCount(len(self.lines))
        for row, line in enumerate(self.lines):
            for column, name in enumerate(self._columns):
                item = QTableWidgetItem(self._text(line, name))
                if name == "State" and line.state in TONES:
                    item.setForeground(QColor(getattr(self._palette, TONES[line.state])))
                if name == "Voice" and line.lost_s > 0:
                    item.setForeground(QColor(self._palette.warn))
                item.setToolTip(line.problem or item.text())
                self.setItem(row, column, item)

    def selected(self) -> SessionSummary | None:
        """The session of the selected row."""
        rows = self.selectionModel().selectedRows()
        return self.lines[rows[0].row()] if rows else None

    def _text(self, line: SessionSummary, column: str) -> str:
        match column:
            case "Study":
                return line.study
            case "Id":
                return line.participant + ("" if line.session == "1" else f" · {line.session}")
            case "State":
                return f"{SIGNS[line.state]}  {state_text(line)}"
            case "Started":
                return wording.local_time(line.started)
            case "Length":
                return length_text(line)
        return voice_text(line)
