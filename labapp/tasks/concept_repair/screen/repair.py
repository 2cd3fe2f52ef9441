"""The screen of concept repair: the picture on the left, what the model sees of it as switches in
the middle, and on the right the names that it can say with how probable it finds each.

What is true of a picture, of which type it is and how pure the model is, is nowhere on it.

The screen of the grid: which switch, when it is set, also changes something else in what the model
seems to see? The screen of the examples: every concept in two pictures, with its words below them,
and what else in them differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import permutations, product
from math import ceil
from typing import NamedTuple

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.base.clock import NS
from labapp.models.stimuli.interventions import AS_IT_IS, OFF, ON
from labapp.record.events.commands import Next
from labapp.tasks.concept_repair.events import (
    Foretell,
    GiveUp,
    PickAnswer,
    RepairDone,
    SetConcept,
    TickNothing,
    TickPair,
    UndoChange,
)
from labapp.tasks.concept_repair.machine import ConceptGridTask, ConceptRepairTask
from labapp.tasks.concept_repair.plan import (
    SAME,
    ConceptChange,
    ConceptGridPart,
    ConceptRepairPart,
    Grid,
    GridState,
    Repair,
    RepairState,
)
from labapp.tasks.concept_repair.planner import ConceptExamplesPart, PlannedExample
from labapp.tasks.concept_repair.screen.board import Board
from labapp.tasks.concept_repair.screen.switches import SETS, ConceptSwitch, TimeLeft
from labapp.ui import theme
from labapp.ui.participant.screen import DialControl, Screen, stage_words
from labapp.ui.participant.view import SessionView
from labapp.ui.strings import Strings
from labapp.ui.widgets import controls
from labapp.ui.widgets.choice import COMMANDS, Choice, OptionList
from labapp.ui.widgets.controls import PlainLabel
from labapp.ui.widgets.dial import Foot, Head
from labapp.ui.widgets.painting import (
    brush,
    color,
    draw_focus_ring,
    equip,
    metrics,
    pen,
    write_with,
)
from labapp.ui.widgets.photo_view import PhotoView
from labapp.ui.widgets.segments import find_wrapped_width

TITLES = {
    "repair": "concept_title_repair",
    "audit": "concept_title_audit",
    "foresight": "concept_title_foresight",
}
TEXTS = {
    "repair": "concept_text_repair",
    "audit": "concept_text_audit",
    "foresight": "concept_text_foresight",
}
WIDTH = 1600
"""Wider than other screens: the picture is looked at closely, beside switches and names."""


class RepairScreen(Screen):
    """A stage of pictures, or its practice; they come and go in it without anything being made
    anew."""

    def __init__(self, session: SessionView, part: ConceptRepairPart) -> None:
        super().__init__(session, part)
        assert session.images is not None, "a session that shows pictures keeps them"
        task = session.task
        assert isinstance(task, ConceptRepairTask)
        self.images, self.part, self._task = session.images, part, task
        words, palette = session.words, session.palette
        self._stage = stage_words(session, part)
        self._shown: tuple[int, int] | None = None
        self._entered: tuple[object, ...] = ()
        self._heard: tuple[str, ...] = ()
        time = None
        if part.item_limit_s is not None:
            time = TimeLeft(
                self.left_s, part.item_limit_s, words, palette, ticks=not session.read_only
            )
        self.board = Board(part, words, palette, time, self._titles(), self._instruction())
        self.title, self.picture, self.time = self.board.title, self.board.picture, time
        self.switches, self.undo = self.board.switches, self.board.undo
        self.says, self.card, self.sure = self.board.says, self.board.card, self.board.sure
        self.column(WIDTH).addWidget(self.board)
        self.switches.wanted.connect(lambda *change: self.send(SetConcept(*change)))
        self.undo.clicked.connect(lambda: self.send(UndoChange(self.undo.pressed_by)))
        self.card.chosen.connect(self._pick)
        for button, sure in zip(self.sure, (True, False), strict=True):
            button.clicked.connect(
                lambda _=False, button=button, sure=sure: self.send(
                    Foretell(sure, button.pressed_by)
                )
            )

    def _instruction(self) -> str:
        words, text = self.session.words, self.session.words(TEXTS[self.part.instruction])
        if self.part.withheld:
            text = words("concept_text_forecast")
        return f"{text} {words('concept_think_aloud')}" if self.part.think_aloud else text

    def set_column_width(self, width: int) -> None:
        """The board has its own margins."""
        super().set_column_width(width)
        column = self.layout()
        assert column is not None
        side = max(0, (self.width() - width) // 2)
        column.setContentsMargins(side, 0, side, 0)

    def _titles(self) -> tuple[str, ...]:
        titles = [self._title_of(None)]
        if any(item.foresee for item in self.part.items):
            changes = product(range(len(self.part.repaired.concepts)), (AS_IT_IS, OFF, ON))
            titles += (self._title_of(ConceptChange(*change)) for change in changes)
        return tuple(titles)

    def _title_of(self, change: ConceptChange | None) -> str:
        words = self.session.words
        if change is None:
            return words(TITLES[self.part.instruction])
        concept = self.part.repaired.concepts[change.concept]
        if change.to == AS_IT_IS:
            return words("concept_title_given_back", concept=concept.name)
        word = concept.on if change.to == ON else concept.off
        return words("concept_title_foretell", concept=concept.name, word=word)

    @property
    def trial(self) -> Repair | None:
        state = self.state
        return state.trial if isinstance(state, RepairState) else None

    def left_s(self) -> float | None:
        """Seconds until the picture is left; None while nothing runs."""
        state = self.state
        limit = self._task.limit_ns(state) if isinstance(state, RepairState) else None
        if limit is None:
            return None
        working_ns: int = state.pauses.working_ns(self.session.clock.now_ns())
        return (limit - working_ns) / NS

    def _able(self, trial: Repair) -> bool:
        """Whether the picture is on the screen and not over."""
        return trial.started_ns is not None and trial.phase != "over"

    def _pick(self, place: int, device: str) -> None:
        classes = self.part.repaired.classes
        self.send(PickAnswer(classes[place].id if place < len(classes) else SAME, device))

    def render_state(self) -> None:
        trial = self.trial
        if trial is None:
            return
        item = self.part.items[trial.number - 1]
        if (trial.number, trial.attempt) != self._shown:
            self._shown = (trial.number, trial.attempt)
            self.reminded = False
            self._heard = ()
            self.picture.show_picture(self.images.image(item.picture))
            for switch, belief in zip(self.switches.switches, item.beliefs, strict=True):
                switch.show_belief(belief)
            self.wish = "content"
        able, hidden = self._able(trial), trial.phase == "foretelling"
        settable = able and self._task.can_set(trial)
        title = self._title_of(trial.pending)
        if self.title.text() != title:
            self.title.setText(title)
        self.switches.show_states(
            trial.states, trial.pending, locked=not settable, remind=self.reminded
        )
        self.undo.setEnabled(settable and bool(trial.history))
        self._show_answer(trial, able=able, hidden=hidden)
        self._follow_phase(trial)

    def _show_answer(self, trial: Repair, *, able: bool, hidden: bool) -> None:
        words, name = self.session.words, self.part.repaired.class_(trial.answer).name
        before = trial.history[-1].probabilities if trial.history else ()
        text = words("concept_will_say") if hidden else words("concept_says", name=name)
        if self.says.text() != text:
            self.says.setText(text)
        self.card.show_answer(trial.probabilities, before, hidden=hidden, same=name)
        self.card.set_locked(not (able and hidden))
        self.card.show_index(self._find_picked_row(trial) if hidden else None)
        self.board.show_buttons(hidden)
        for button in self.sure:
            button.setEnabled(able and trial.picked is not None)

    def _find_picked_row(self, trial: Repair) -> int | None:
        if trial.picked is None:
            return None
        classes = [known.id for known in self.part.repaired.classes]
        return len(classes) if trial.picked == SAME else classes.index(trial.picked)

    def _follow_phase(self, trial: Repair) -> None:
        """Lead the focus to what is to be done next, and say what the model says now."""
        entered = (trial.number, trial.attempt, trial.phase, self._able(trial))
        if entered != self._entered:
            self._entered = entered
            self.wish = "content"
        if trial.phase == "setting" and trial.history:
            heard = (self.says.text(), *(f"{p:.3f}" for p in trial.probabilities))
            if heard != self._heard:
                self._heard = heard
                share = f"{100 * max(trial.probabilities):.0f}\N{NO-BREAK SPACE}%"
                self.tell(f"{self.says.text()}, {share}")

    def head(self) -> Head:
        trial, words, of = self.trial, self.session.words, self.part.trials
        number = trial.number if trial is not None else 1
        return Head(self._stage, words("concept_picture_of", number=number, of=of), number, of)

    def _missing(self, trial: Repair) -> str:
        """What must be done before the picture can be finished, in words; empty for nothing."""
        words = self.session.words
        if trial.phase == "foretelling":
            key = "concept_missing_answer" if trial.picked is None else "concept_missing_sure"
            return words(key)
        if self.part.instruction == "audit" and trial.unset:
            concepts = self.part.repaired.concepts
            names = ", ".join(concepts[place].name for place in trial.unset)
            return words("concept_missing_set", items=names)
        return ""

    def foot(self) -> Foot:
        trial, words = self.trial, self.session.words
        if trial is None:
            return Foot(right=words("concept_done"), enabled=False)
        able = self._able(trial)
        missing = self._missing(trial) if able else ""
        given = self.part.instruction == "foresight"
        return Foot(
            left=words("concept_give_up") if able and self._task.can_set(trial) else "",
            leaves=True,
            right=words("concept_next" if given else "concept_done"),
            enabled=able,
            ready=able and not missing,
            note=missing,
            warn=bool(missing) and self.reminded,
        )

    def left(self) -> None:
        self.send(GiveUp())

    def right(self) -> None:
        trial = self.trial
        if trial is None or not self._able(trial):
            return
        if not self._missing(trial):
            self.send(RepairDone())
            return
        self.reminded = True
        self.render_state()
        self.altered.emit()
        entrance = self.entrance() if trial.phase == "foretelling" else None
        if entrance is not None:
            entrance.setFocus(Qt.FocusReason.OtherFocusReason)
        elif trial.unset:
            self.switches.go_to(trial.unset[0])

    def dial_controls(self) -> Mapping[int, DialControl]:
        return self.switches.controls()

    key_places = (ConceptSwitch,)

    def announces(self, event: QKeyEvent) -> bool:
        return not event.modifiers() & COMMANDS and (event.key() in SETS or event.text() == "0")

    def take_key(self, event: QKeyEvent) -> bool:
        digits = event.text() if event.text().isdecimal() else ""
        if event.modifiers() & COMMANDS or event.isAutoRepeat():
            return False
        if digits and 1 <= int(digits) <= len(self.switches.switches):
            self.switches.go_to(int(digits) - 1)
        elif event.key() == Qt.Key.Key_Backspace:
            self.send(UndoChange("keyboard"))
        else:
            return super().take_key(event)
        return True

    def entrance(self) -> QWidget | None:
        """The switch that was set last, else the first; while something is foretold the names, or
        what finishes that."""
        trial = self.trial
        if trial is None or not self._able(trial):
            return None
        if trial.phase == "foretelling":
            return self.sure[0] if trial.picked is not None else self.card
        if not self._task.can_set(trial):
            return None
        return self.switches.switches[trial.history[-1].concept if trial.history else 0]


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
        write_with(painter, color(p.secondary))
        over = QRectF(1 + self._rows_width, 0, count * self._wide, HEAD_HEIGHT)
        painter.drawText(over, middle, self._across)
        painter.drawText(QRectF(0, HEAD_HEIGHT, self._rows_width, HEAD_HEIGHT), left, self._corner)
        write_with(painter, color(p.ink), bold=True)
        for place, name in enumerate(self._names):
            top = self.cell(0, place).translated(0, -HEAD_HEIGHT)
            top.setHeight(HEAD_HEIGHT)
            painter.drawText(top, middle, name)
            side = QRectF(0, self.cell(place, 0).top(), self._rows_width, self._high)
            painter.drawText(side, left, name)
            painter.fillRect(self.cell(place, place), brush(p.track))
        for index in range(len(self.pairs)):
            self._paint_cell(painter, index)
        equip(painter, pen(p.hairline), Qt.BrushStyle.NoBrush)
        painter.drawRect(self.cell(0, 0).united(self.cell(count - 1, count - 1)))
        if self.hasFocus():
            ring = self.box(self._at).adjusted(2, 2, -2, -2)
            draw_focus_ring(painter, ring, theme.RADIUS - 2, p.accent)

    def _paint_cell(self, painter: QPainter, index: int) -> None:
        p, box, on = self._colors, self.box(index), index in self._taken
        equip(painter, pen(p.hairline), brush(p.accent_soft if on else p.card))
        painter.drawRect(box)
        if index == self._hover:
            painter.setPen(pen(p.accent))
            painter.drawRect(box.adjusted(2, 2, -2, -2))
        if on:
            write_with(painter, color(p.accent), theme.TITLE_PX, bold=True)
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
        column = controls.fill(self.column(), 1)
        controls.fill(
            column, self.title, controls.Gap(theme.SPACE_S), self.text, controls.Gap(theme.SPACE_L)
        )
        controls.fill(column, (self.grid, Qt.AlignmentFlag.AlignLeft), controls.Gap(theme.SPACE_S))
        controls.fill(column, self.nothing, controls.Gap(theme.SPACE_S), self.keys, 2)

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


EXAMPLE_WIDTH = 1440
"""Wider than other screens, as the task is: its pictures are looked at closely."""
LEAST_SIDE, MOST_SIDE = 96, 320
"""Logical pixels of a picture; with less the window scrolls, for nothing runs against time here."""
BETWEEN = theme.SPACE_S
GAP = theme.SPACE_XL
"""Logical pixels between the two pictures of a concept, and from one concept to the next."""
WORD_LINES = 2
OTHER_LINES = 2
"""Below a pair, for what else differs in it, on a page where something does."""


class Example(QWidget):
    """One concept: its name, and its two pictures with their words."""

    def __init__(self, session: SessionView, example: PlannedExample) -> None:
        super().__init__()
        images, concept = session.images, example.concept
        assert images is not None, "a session that shows pictures keeps them"
        self.name = PlainLabel(concept.name, self)
        self.name.setProperty("role", "strong")
        self.pictures, self.words = [], []
        shown = [(example.off, concept.off), (example.on, concept.on)]
        for ref, word in shown if concept.right == "on" else reversed(shown):
            told = session.words("concept_example", concept=concept.name, word=word)
            picture, label = PhotoView(session.palette, told, squares=True), PlainLabel(word, self)
            picture.setParent(self)
            picture.show_picture(images.image(ref))
            label.setWordWrap(True)
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
            self.pictures.append(picture)
            self.words.append(label)
        others = ", ".join(example.differing)
        self.others = PlainLabel(
            session.words("concept_example_others", items=others) if others else "", self
        )
        self.others.setProperty("role", "secondary")
        self.others.setWordWrap(True)

    def place(self, side: int, lines: int, others: int) -> None:
        """Show pictures of so many logical pixels, with words in so many lines, and in `others`
        lines what else differs."""
        line = _line()
        self.setFixedSize(2 * side + BETWEEN, side + beside(lines + others))
        high = others * line
        self.others.setGeometry(0, self.height() - high, self.width(), high)
        self.others.setVisible(bool(others))
        self.name.setGeometry(0, 0, self.width(), line)
        top = line + theme.SPACE_XS
        for place, (picture, label) in enumerate(zip(self.pictures, self.words, strict=True)):
            x = place * (side + BETWEEN)
            picture.set_side(side)
            picture.setGeometry(x, top, side, side)
            below = top + side + theme.SPACE_XS
            label.setGeometry(QRect(x, below, side, self.height() - below - high))


def _line() -> int:
    return ceil(metrics(bold=True).height()) + 1


def beside(lines: int) -> int:
    """Logical pixels of an example's height that are no picture."""
    return (1 + lines) * _line() + 2 * theme.SPACE_XS


class Sheet(NamedTuple):
    """How examples stand: so many in a row, with pictures of `side` logical pixels and words in so
    many lines."""

    columns: int
    side: int
    lines: int


class ConceptExampleSheet(QWidget):
    """All concepts, in as many columns as make their pictures largest."""

    def __init__(self, session: SessionView, examples: tuple[PlannedExample, ...]) -> None:
        super().__init__()
        self.examples = [Example(session, example) for example in examples]
        for example in self.examples:
            example.setParent(self)
        self._others = OTHER_LINES * any(bool(each.others.text()) for each in self.examples)

    def _needed_side(self, lines: int) -> int:
        """Logical pixels that all words need below their pictures, in so many lines."""
        texts = [label.text() for example in self.examples for label in example.words]
        widths = (find_wrapped_width(text, lines, theme.BODY_PX, bold=False) for text in texts)
        return max(LEAST_SIDE, *widths)

    def _side(self, columns: int, lines: int, wide: int, high: int) -> int:
        rows = ceil(len(self.examples) / columns)
        across = ((wide + GAP) // columns - GAP - BETWEEN) // 2
        down = (high + theme.SPACE_L) // rows - theme.SPACE_L - beside(lines + self._others)
        return min(across, down, MOST_SIDE)

    def arranged(self, wide: int, high: int) -> Sheet:
        """The columns whose pictures are largest; where none are large enough, as many columns as
        the width allows."""
        for lines in range(1, WORD_LINES + 1):
            sheets = [
                Sheet(columns, self._side(columns, lines, wide, high), lines)
                for columns in range(1, len(self.examples) + 1)
            ]
            best = max(sheets, key=lambda sheet: sheet.side)
            if best.side >= self._needed_side(lines):
                return best
        return self._least(wide)

    def _least(self, wide: int) -> Sheet:
        side = self._needed_side(WORD_LINES)
        columns = max(1, (wide + GAP) // (2 * side + BETWEEN + GAP))
        lines = 1 if side >= self._needed_side(1) else WORD_LINES
        return Sheet(min(columns, len(self.examples)), side, lines)

    def minimumSizeHint(self) -> QSize:
        least = self._least(self.width())
        rows = ceil(len(self.examples) / least.columns)
        high = rows * (least.side + beside(least.lines + self._others) + theme.SPACE_L)
        high -= theme.SPACE_L
        return QSize(2 * least.side + BETWEEN, high)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != self.width():
            self.updateGeometry()  # another width has another least height
        sheet = self.arranged(self.width(), self.height())
        wide = sheet.columns * (2 * sheet.side + BETWEEN + GAP) - GAP
        left = max(0, (self.width() - wide) // 2)
        for place, example in enumerate(self.examples):
            row, column = divmod(place, sheet.columns)
            example.place(sheet.side, sheet.lines, self._others)
            x = left + column * (example.width() + GAP)
            example.move(x, row * (example.height() + theme.SPACE_L))


class ExamplesScreen(Screen):
    """What the words mean, in pictures that come nowhere else."""

    def __init__(self, session: SessionView, part: ConceptExamplesPart) -> None:
        super().__init__(session, part)
        words = session.words
        alike = not any(example.others for example in part.examples)
        self.title = controls.make_label(words("concept_examples_title"), "title")
        self.text = PlainLabel(words("concept_examples_alike" if alike else "concept_examples"))
        for label in (self.title, self.text):
            label.setWordWrap(True)
        self.sheet = ConceptExampleSheet(session, part.examples)
        self._stage = stage_words(session, part)
        column = controls.fill(self.column(EXAMPLE_WIDTH), self.title, controls.Gap(theme.SPACE_XS))
        controls.fill(column, self.text, controls.Gap(theme.SPACE_M), (self.sheet, 1))

    def set_column_width(self, width: int) -> None:
        """Little above and below, so that pictures are large."""
        super().set_column_width(width)
        column = self.layout()
        assert column is not None
        sides = column.contentsMargins()
        column.setContentsMargins(sides.left(), theme.SPACE_S, sides.right(), theme.SPACE_S)

    def head(self) -> Head:
        return Head(self._stage)

    def foot(self) -> Foot:
        return Foot(right=self.session.words("continue"))

    def right(self) -> None:
        self.send(Next())
