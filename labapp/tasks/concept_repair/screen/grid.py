"""The screen of the grid: which switch, when it is set, also changes something else in what the
model seems to see?"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from math import ceil

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.record.events.commands import Next
from labapp.tasks.concept_repair.events import TickNothing, TickPair
from labapp.tasks.concept_repair.machine import ConceptGridTask
from labapp.tasks.concept_repair.plan import ConceptGridPart
from labapp.tasks.concept_repair.state import Grid, GridState
from labapp.ui import theme
from labapp.ui.participant.screen import Screen, stage_words
from labapp.ui.participant.view import SessionView
from labapp.ui.strings import Strings
from labapp.ui.widgets.choice import COMMANDS, Choice, OptionList
from labapp.ui.widgets.controls import PlainLabel
from labapp.ui.widgets.dial import Foot, Head
from labapp.ui.widgets.painting import brush, color, draw_focus_ring, font, metrics, pen

LEAST_CELL, MOST_CELL = 44, 64
HEAD_HEIGHT = 32
_STEPS = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}


class TickGrid(Choice):
    """A cell for each pair of concepts, a row for the one that is set. ticked(row, column, device):
    the hand turns a cell over.

    It is one stop of Tab; arrow keys go from cell to cell, over the diagonal, and Space or Enter
    turns one over.
    """

    ticked = Signal(int, int, str)
    looked_over = True
    first_digit = None

    def __init__(self, names: Iterable[str], words: Strings, palette: theme.Palette) -> None:
        super().__init__(palette, words("concept_grid_title"), several=True)
        self._names = tuple(names)
        self.pairs = list(permutations(range(len(self._names)), 2))
        self._corner = words("concept_grid_corner")
        self._across = words("concept_grid_across")
        self._group.idPressed.disconnect(self._pressed)
        self._group.idClicked.connect(self._pressed)
        bold = metrics(bold=True)
        self._widest = ceil(max(map(bold.horizontalAdvance, self._names)))
        self._rows_width = max(self._widest, ceil(bold.horizontalAdvance(self._corner)))
        self._rows_width += theme.SPACE_L
        self._wide = max(MOST_CELL, self._widest + theme.SPACE_L)
        self._high = LEAST_CELL
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.show_options(
            [
                words("concept_grid_pair", concept=self._names[i], other=self._names[j])
                for i, j in self.pairs
            ]
        )
        self.setFixedSize(self.sizeHint())

    @property
    def least_height(self) -> int:
        """Logical pixels down, with cells that a finger hits."""
        return 2 * HEAD_HEIGHT + len(self._names) * LEAST_CELL + 2

    def fit(self, wide: int, high: int) -> None:
        """Take no more room than this, where it can."""
        count = len(self._names)
        least = max(LEAST_CELL, self._widest + theme.SPACE_S)
        self._wide = min(max((wide - self._rows_width - 2) // count, least), 2 * MOST_CELL)
        self._high = min(max((high - 2 * HEAD_HEIGHT - 2) // count, LEAST_CELL), MOST_CELL)
        self.setFixedSize(self.sizeHint())
        self.place_options()

    def sizeHint(self) -> QSize:
        wide = self._rows_width + len(self._names) * self._wide + 2
        return QSize(wide, 2 * HEAD_HEIGHT + len(self._names) * self._high + 2)

    def cell(self, row: int, column: int) -> QRectF:
        return QRectF(
            1 + self._rows_width + column * self._wide,
            1 + 2 * HEAD_HEIGHT + row * self._high,
            self._wide,
            self._high,
        )

    def box(self, index: int) -> QRectF:
        return self.cell(*self.pairs[index])

    def ask(self, index: int, device: str) -> None:
        self._go(index)
        self.ticked.emit(*self.pairs[index], device)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _STEPS.get(Qt.Key(event.key()))
        if step is None or self.locked or event.modifiers() & COMMANDS:
            super().keyPressEvent(event)
            return
        (row, column), (down, across) = self.pairs[self._at], step
        row, column = row + down, column + across
        if row == column:
            row, column = row + down, column + across
        if (row, column) in self.pairs:
            self._go(self.pairs.index((row, column)))

    def paint(self, painter: QPainter) -> None:
        p, count = self._colors, len(self._names)
        middle = Qt.AlignmentFlag.AlignCenter
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.setFont(font())
        painter.setPen(color(p.secondary))
        over = QRectF(1 + self._rows_width, 0, count * self._wide, HEAD_HEIGHT)
        painter.drawText(over, middle, self._across)
        painter.drawText(QRectF(0, HEAD_HEIGHT, self._rows_width, HEAD_HEIGHT), left, self._corner)
        painter.setFont(font(bold=True))
        painter.setPen(color(p.ink))
        for place, name in enumerate(self._names):
            top = self.cell(0, place).translated(0, -HEAD_HEIGHT)
            top.setHeight(HEAD_HEIGHT)
            painter.drawText(top, middle, name)
            side = QRectF(0, self.cell(place, 0).top(), self._rows_width, self._high)
            painter.drawText(side, left, name)
            painter.fillRect(self.cell(place, place), brush(p.track))
        for index in range(len(self.pairs)):
            self._paint_cell(painter, index)
        painter.setPen(pen(p.hairline))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(self.cell(0, 0).united(self.cell(count - 1, count - 1)))
        if self.hasFocus():
            ring = self.box(self._at).adjusted(2, 2, -2, -2)
            draw_focus_ring(painter, ring, theme.RADIUS - 2, p.accent)

    def _paint_cell(self, painter: QPainter, index: int) -> None:
        p, box, on = self._colors, self.box(index), index in self._taken
        painter.setPen(pen(p.hairline))
        painter.setBrush(brush(p.accent_soft if on else p.card))
        painter.drawRect(box)
        if index == self._hover:
            painter.setPen(pen(p.accent))
            painter.drawRect(box.adjusted(2, 2, -2, -2))
        if on:
            painter.setFont(font(theme.TITLE_PX, bold=True))
            painter.setPen(color(p.accent))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, "✓")


class GridScreen(Screen):
    """The grid with its question, and below it the answer that there is nothing to tick. Continue
    leads on once there is an answer, and says until then that it is missing."""

    def __init__(self, session: SessionView, part: ConceptGridPart) -> None:
        super().__init__(session, part)
        words = session.words
        task = session.task
        assert isinstance(task, ConceptGridTask)
        self._task = task
        self._stage = stage_words(session, part)
        self.title = PlainLabel(words("concept_grid_title"))
        self.text = PlainLabel(words("concept_grid_text"))
        self.keys = PlainLabel(words("concept_grid_keys"))
        for label, role in ((self.title, "title"), (self.text, ""), (self.keys, "secondary")):
            label.setProperty("role", role)
            label.setWordWrap(True)
        names = [concept.name for concept in part.repaired.concepts]
        self.grid = TickGrid(names, words, session.palette)
        self.grid.ticked.connect(lambda *pair: self.send(TickPair(*pair)))
        nothing = words("concept_grid_nothing")
        self.nothing = OptionList(
            [nothing], session.palette, words("concept_grid_title"), several=True
        )
        self.nothing.chosen.connect(lambda _, device: self.send(TickNothing(device)))
        column = self.column()
        column.addStretch(1)
        column.addWidget(self.title)
        column.addSpacing(theme.SPACE_S)
        column.addWidget(self.text)
        column.addSpacing(theme.SPACE_L)
        column.addWidget(self.grid, 0, Qt.AlignmentFlag.AlignLeft)
        column.addSpacing(theme.SPACE_S)
        column.addWidget(self.nothing)
        column.addSpacing(theme.SPACE_S)
        column.addWidget(self.keys)
        column.addStretch(2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = min(self.width() - 2 * theme.SPACE_XL, theme.CONTENT_WIDTH)
        high = self.height() - 2 * theme.SPACE_XL - 3 * theme.SPACE_S - theme.SPACE_L
        below = (self.title, self.text, self.keys, self.nothing)
        high -= sum(widget.heightForWidth(wide) for widget in below)
        if high < self.grid.least_height:
            wide -= theme.SPACE_L  # for the bar of what scrolls
        self.grid.fit(wide, high)

    @property
    def trial(self) -> Grid | None:
        state = self.state
        return state.trial if isinstance(state, GridState) else None

    def render_state(self) -> None:
        trial = self.trial
        if trial is None:
            return
        locked = trial.started_ns is None or trial.outcome is not None
        self.grid.set_locked(locked)
        self.nothing.set_locked(locked)
        self.nothing.show_index(0 if trial.nothing else None)
        places = (place for place, pair in enumerate(self.grid.pairs) if pair in trial.ticked)
        self.grid.show_taken(places)

    def head(self) -> Head:
        return Head(self._stage, self.session.words("concept_grid_head"))

    def foot(self) -> Foot:
        trial = self.trial
        shown = trial is not None and trial.started_ns is not None and trial.outcome is None
        ready = trial is not None and self._task.can_go_on(trial)
        missing = shown and not ready
        return Foot(
            right=self.session.words("continue"),
            enabled=shown,
            ready=ready,
            note=self.session.words("concept_missing_grid") if missing else "",
            warn=missing and self.reminded,
        )

    def right(self) -> None:
        trial = self.trial
        if trial is not None and self._task.can_go_on(trial):
            self.send(Next())
            return
        self.reminded = True
        self.altered.emit()
        self.grid.entrance().setFocus(Qt.FocusReason.OtherFocusReason)

    key_places = (TickGrid,)

    def announces(self, event: QKeyEvent) -> bool:
        return event.key() in _STEPS and not event.modifiers() & COMMANDS

    def entrance(self) -> QWidget:
        return self.grid
