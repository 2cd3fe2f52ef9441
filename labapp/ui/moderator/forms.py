"""Windows with a form whose fields are the options of a command of labapp.

A form stays open until it is closed, so that what was typed can be corrected and tried again. A
long command shows how far it is and can be stopped.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QColor, QKeyEvent
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLineEdit, QPlainTextEdit, QWidget

from labapp.base.errors import LabappError
from labapp.ui import theme
from labapp.ui.background import Background
from labapp.ui.language import in_words, tr
from labapp.ui.moderator import bits
from labapp.ui.moderator.bits import RowModel, RowTable
from labapp.ui.theme import Palette
from labapp.ui.widgets.controls import Button, FlowLayout

WIDTH = 560
STATE_PX = 64
"""Room for what came of it."""
WIDE = 760
"""Of a window with a table, in logical pixels."""
ROW_PX = 30
TABLE_PX = 190


class CommandForm(QWidget):
    """A form in a window of its own.

    Signals
    -------
    requested(list) : the arguments of a command that is to run.
    stop_requested() : the command that runs is to end.
    """

    width_ = WIDTH
    """Of the window at first, where there is so much room, in logical pixels."""
    requested = Signal(object)
    stop_requested = Signal()

    def __init__(
        self, palette: Palette, title: str, about: str, action: str, *, stoppable: bool = False
    ) -> None:
        """stoppable: whether the command says how far it is and may be stopped."""
        super().__init__(None, Qt.WindowType.Window)
        self._stoppable = stoppable
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._palette = palette
        self._fields: list[QWidget] = []
        self.setProperty("role", "ground")
        self.setWindowTitle(title)
        self.grid = QGridLayout()
        self.grid.setHorizontalSpacing(theme.SPACE_M)
        self.grid.setVerticalSpacing(theme.SPACE_S)
        self.grid.setColumnStretch(1, 1)
        self.state = bits.label(role="secondary", wrap=True)
        self.go = Button(action, "primary", pressed=self.send)
        self.close_ = Button(tr("button.close"), pressed=self.close)
        self.stop = Button(tr("button.stop"), pressed=self.stop_requested)
        self.stop.hide()
        self.bar = bits.WorkBar(tr("form.progress"))
        self.bar.hide()
        self.state.hide()
        self.form = form = QWidget()
        form.setProperty("role", "ground")
        inside = bits.column(form, theme.SPACE_M, theme.SPACE_XL)
        bits.fill(inside, bits.label(title, "title"), bits.label(about, "secondary", wrap=True))
        bits.fill(inside, self.bar, self.state, self.grid, 1)
        self.scrolled = bits.Scrolling(form)
        self.scrolled.setProperty("role", "page")
        margins = (theme.SPACE_XL, theme.SPACE_M) * 2
        self.foot = QWidget()
        self.buttons = bits.row(self.foot, theme.SPACE_S, margins)
        bits.fill(self.buttons, 1, self.stop, self.close_, self.go)
        self.go.setVisible(bool(action))
        bits.fill(bits.column(self, 0, 0), (self.scrolled, 1), bits.hairline(), self.foot)

    def show_form(self) -> None:
        """Show the form, no larger than the screen."""
        self.setStyleSheet(bits.stylesheet(self._palette))
        for before, after in pairwise((*self._fields, self.stop, self.close_, self.go)):
            self.setTabOrder(before, after)
        self._fields[0].setFocus()
        room = self.screen().availableSize()
        width = min(self.width_, room.width())
        high = self.form.heightForWidth(width) + self.foot.sizeHint().height() + STATE_PX
        self.resize(width, min(high, room.height()))
        self.show()

    def add(self, text: str, *fields: QWidget, hint: str = "") -> None:
        """A row: what it is, and the fields for it."""
        row = self._add_label(bits.label(text))
        line = bits.row(None, theme.SPACE_S)
        self._fields += fields
        for field in fields:
            field.setAccessibleName(field.accessibleName() or text)
            bits.fill(line, (field, 1) if isinstance(field, QLineEdit | QPlainTextEdit) else field)
        column = bits.fill(bits.column(None, theme.SPACE_XS), line)
        if hint:
            bits.fill(column, bits.label(hint, "secondary", wrap=True))
        self.grid.addLayout(column, row, 1)

    def _add_label(self, label: QWidget) -> int:
        """Put the label of a row level with the first line of its fields; returns the row."""
        row = self.grid.rowCount()
        label.setContentsMargins(0, theme.SPACE_S, 0, 0)
        self.grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop)
        return row

    def add_boxes(self, text: str, boxes: Sequence[QCheckBox]) -> None:
        """A row of boxes."""
        self._fields += boxes
        row = self._add_label(bits.label(text, wrap=True))
        self.grid.addLayout(FlowLayout(theme.SPACE_M, 0, widgets=boxes), row, 1)

    def set_state(self, text: str, tone: str = "") -> None:
        """What is being done, what came of it, or what went wrong."""
        bits.set_text(self.state, text, tone)
        self.state.setVisible(bool(text))
        self.scrolled.verticalScrollBar().setValue(0)

    def asks_for(self, needed: Iterable[tuple[QWidget, str, str]]) -> bool:
        """Whether something needed is not there; then the first of it is asked for. needed: each
        a field, what it has, and what to say where that is nothing."""
        for field, value, text in needed:
            if not value:
                self.set_state(tr(text), "warn")
                field.setFocus()
                return True
        return False

    def set_busy(self, busy: bool) -> None:
        """Whether a command runs: of this form or of another."""
        self.go.setEnabled(not busy)
        if not busy:
            self.set_running(False)

    def set_running(self, running: bool) -> None:
        """Whether the command of this form runs: then it can be stopped."""
        for widget in (self.bar, self.stop):
            widget.setVisible(running and self._stoppable)
        self.stop.setEnabled(True)
        self.bar.set_share(None)

    def add_wide(self, *items: QWidget) -> None:
        """Rows as wide as the window."""
        for item in items:
            self._fields.append(item)
            self.grid.addWidget(item, self.grid.rowCount(), 0, 1, 2)

    def send(self) -> None:
        """Ask for the command."""
        raise AssertionError("each form has its own")

    def own_folder(self) -> Path:
        """An empty folder for what a command reads; it goes with the next one, or the window."""
        if self._temporary is not None:
            self._temporary.cleanup()
        self._temporary = tempfile.TemporaryDirectory(prefix="labapp-form-")
        return Path(self._temporary.name)

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None
        super().closeEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        super().keyPressEvent(event)


class Rows(RowModel[Sequence[str]]):
    """Rows of texts; a text more than there are columns is a colour, shown in the second one."""

    def cell(self, row: Sequence[str], column: int, role: int) -> Any:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return row[column]
        coloured = column == 1 and len(row) > len(self.names)
        return QColor(row[-1]) if coloured and role == Qt.ItemDataRole.DecorationRole else None


class TableForm(CommandForm):
    """A form with a table, buttons below it, and a question where something is not taken back."""

    width_ = WIDE

    def __init__(
        self, palette: Palette, title: str, about: str, columns: Sequence[str], wide: Sequence[int]
    ) -> None:
        super().__init__(palette, title, about, "")
        self.model = Rows(columns)
        self.table = RowTable(self.model, title, ROW_PX, wide)
        self.table.setMinimumHeight(TABLE_PX)
        self.asked = QWidget()
        self.asked.setProperty("role", "band")
        self.question = bits.label(role="strong", wrap=True)
        self.yes, self.no = Button("", "compact"), Button(tr("button.not_now"), "compact")
        answers = bits.fill(bits.row(None, theme.SPACE_S), self.yes, self.no, 1)
        bits.fill(bits.column(self.asked, theme.SPACE_S), self.question, answers)
        self.asked.hide()
        self._then: Callable[[], object] | None = None
        self.yes.clicked.connect(self._answer)
        self.no.clicked.connect(self._leave_question)
        self.table.chosen.connect(self.look)
        self.background = Background("coding-form", self)

    def finish(self, *items: QWidget) -> None:
        """Put table, buttons and question into the window."""
        self.add_wide(self.table, *items)
        self.grid.addWidget(self.asked, self.grid.rowCount(), 0, 1, 2)

    def buttons_line(self, *buttons: QWidget) -> QWidget:
        """Buttons beside each other, in as many lines as they need."""
        line = QWidget()
        FlowLayout(theme.SPACE_S, theme.SPACE_S, line, buttons)
        return line

    def ask(self, question: str, yes: str, then: Callable[[], object]) -> None:
        """Ask before something is done that is not taken back, or that somebody may have missed."""
        self._then = then
        bits.set_text(self.question, question)
        self.yes.setText(yes)
        self.asked.show()
        self.no.setFocus()

    def _answer(self) -> None:
        then = self._then
        self._leave_question()
        if then is not None:
            then()

    def _leave_question(self) -> None:
        self._then = None
        self.asked.hide()
        self.table.setFocus()

    def look(self) -> None:
        """Enable what can be done with the row that is selected."""

    def set_busy(self, busy: bool) -> None:
        super().set_busy(busy)
        self._busy = busy
        self.look()

    _busy = False

    def refresh(self) -> None:
        """Read again what is shown."""

    def describe(self, output: str) -> str:
        """The outcome of a command, based on what it wrote."""
        return output.strip()

    def show_error(self, error: LabappError) -> None:
        self.set_busy(False)
        self.set_state(in_words(error), "alarm")

    def closeEvent(self, event: QCloseEvent) -> None:
        self.background.close()
        super().closeEvent(event)

    def selected(self) -> int | None:
        """The place of the selected row."""
        return self.table.selected_row()

    def set_rows(self, rows: Sequence[Sequence[str]]) -> None:
        """Show these, and let the same place be selected."""
        before = self.selected() or 0
        self.model.set_rows(rows)
        if rows:
            self.table.selectRow(min(before, len(rows) - 1))
        self.look()
