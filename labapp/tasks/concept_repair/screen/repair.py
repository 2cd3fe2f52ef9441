"""The screen of concept repair: the picture on the left, what the model sees of it as switches in
the middle, and on the right the names that it can say with how probable it finds each.

What is true of a picture, of which type it is and how pure the model is, is nowhere on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from labapp.clock import NS
from labapp.stimuli.interventions import AS_IT_IS, ON
from labapp.tasks.concept_repair.commands import (
    Foretell,
    GiveUp,
    PickAnswer,
    RepairDone,
    SetConcept,
    UndoChange,
)
from labapp.tasks.concept_repair.machine import ConceptRepairTask
from labapp.tasks.concept_repair.plan import ConceptRepairPart, PlannedItem
from labapp.tasks.concept_repair.screen.answers import GOOD_BAR, AnswerCard
from labapp.tasks.concept_repair.screen.switches import SwitchPanel
from labapp.tasks.concept_repair.screen.time_left import TimeLeft
from labapp.tasks.concept_repair.state import SAME, Change, Repair, RepairState
from labapp.ui import theme
from labapp.ui.participant.screen import DialControl, Screen, stage_words
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets.bars import Foot, Head
from labapp.ui.widgets.buttons import Button
from labapp.ui.widgets.choice import COMMANDS
from labapp.ui.widgets.label import PlainLabel
from labapp.ui.widgets.photo_view import PhotoView

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
WIDTH = 1440
"""Wider than other screens: the picture is looked at closely, beside switches and names."""
ROOMY = 960
"""In a narrower window the instruction, which was read before, gives its room to the names and
their bars, which are looked at all the time. By the width: a height grows with what scrolls."""
GAPS_ACROSS = {False: theme.SPACE_L, True: theme.SPACE_XL}
"""Logical pixels between the columns, by whether there is room for more."""
MARGINS = {False: theme.SPACE_XS, True: theme.SPACE_XL}
"""Above and below, likewise."""
GAPS = theme.SPACE_XS, theme.SPACE_XL
"""Least and most logical pixels between two switches."""
LEAST_PICTURE, MOST_PICTURE, MOST_CARD = 160, 560, 440
_WRAPPED = int(Qt.TextFlag.TextWordWrap)


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
        self._margin = theme.SPACE_XL
        foretells = any(item.foresee for item in part.items)
        self.title = PlainLabel()
        self.title.setProperty("role", "title")
        self.title.setWordWrap(True)
        self.title.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.help_text = PlainLabel(self._instruction())
        self.help_text.setProperty("role", "secondary")
        self.help_text.setWordWrap(True)
        self.picture = PhotoView(palette, words("concept_picture"))
        self.time = None
        if part.item_limit_s is not None:
            self.time = TimeLeft(
                self.left_s, part.item_limit_s, words, palette, ticks=not session.read_only
            )
        audits = part.instruction == "audit"
        self.switches = SwitchPanel(part.repaired.concepts, words, palette, ticks=audits)
        self.undo = Button(words("concept_undo"))
        self.says = PlainLabel()
        self.says.setProperty("role", "strong")
        self.card = AnswerCard(part.repaired.classes, words, palette, foretells=foretells)
        self.sure = [Button(words("concept_sure")), Button(words("concept_unsure"))]
        self._sureness = QWidget() if foretells else None
        self._lay_out()
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
        words, part = self.session.words, self.part
        lines = [words(TEXTS[part.instruction])]
        if part.think_aloud:
            lines.append(words("concept_think_aloud"))
        return " ".join(lines)

    def _lay_out(self) -> None:
        words = self.session.words
        keys = words("concept_keys", last=len(self.part.repaired.concepts))
        self.keys = PlainLabel(keys if self.part.instruction != "foresight" else "")
        self.keys.setProperty("role", "secondary")
        self.keys.setWordWrap(True)
        self._left, self._middle, self._right = QWidget(), QWidget(), QWidget()
        left = _column(self._left)
        left.addWidget(self.picture)
        if self.time is not None:
            left.addWidget(self.time)
        left.addStretch(1)
        middle = _column(self._middle)
        middle.addWidget(self.switches)
        for button in (self.undo, *self.sure):
            button.setProperty("touch", True)
            policy = button.sizePolicy()
            policy.setRetainSizeWhenHidden(True)
            button.setSizePolicy(policy)
        if self.part.instruction == "foresight":
            self.undo.hide()
        else:
            middle.addSpacing(theme.SPACE_S)
            middle.addWidget(self.undo, 0, Qt.AlignmentFlag.AlignRight)
            middle.addWidget(self.keys)
        middle.addStretch(1)
        right = _column(self._right)
        right.addWidget(self.says)
        right.addWidget(self.card)
        if self._sureness is not None:
            row = QHBoxLayout(self._sureness)
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(theme.SPACE_S)
            for button in self.sure:
                row.addWidget(button, 1)
            right.addWidget(self._sureness)
        right.addStretch(1)
        row = self._row = QHBoxLayout()
        row.addStretch(1)
        for widget in (self._left, self._middle, self._right):
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignTop)
        row.addStretch(1)
        self._above = QWidget()
        above = _column(self._above)
        above.setSpacing(theme.SPACE_XS)
        above.addWidget(self.title)
        above.addWidget(self.help_text)
        centred = QHBoxLayout()
        centred.addStretch(1)
        centred.addWidget(self._above)
        centred.addStretch(1)
        column = self._column = self.column(WIDTH)
        column.addStretch(1)
        column.addLayout(centred)
        column.addSpacing(theme.SPACE_S)
        column.addLayout(row)
        column.addStretch(2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """A picture as large as there is room for beside the switches and the names; nothing moves
        from one picture, or from one title, to the next."""
        wide = min(self.width() - 2 * theme.SPACE_XL, WIDTH)
        roomy = wide >= ROOMY
        gap = GAPS_ACROSS[roomy]
        self.help_text.setVisible(roomy)
        self._margin = MARGINS[roomy]
        self._column.setStretch(0, int(roomy))
        sides = self._column.contentsMargins().left()
        self._column.setContentsMargins(sides, self._margin, sides, self._margin)
        middle, least = self.switches.needed_width, self.card.needed_width(GOOD_BAR)
        if not roomy:
            wide -= theme.SPACE_L  # for the bar of what scrolls
            least = self.card.needed_width()
        if self._sureness is not None:
            least = max(least, self._sureness.minimumSizeHint().width())
        self._row.setSpacing(gap)
        room = wide - middle - 2 * gap
        side = min(max(room - least, LEAST_PICTURE), MOST_PICTURE)
        high = self._fit_words(side + middle + least + 2 * gap)
        below = 0 if self.time is None else self.time.height() + theme.SPACE_S
        side = min(side, max(high - below, LEAST_PICTURE))
        right = max(min(room - side, MOST_CARD), least)
        high = self._fit_words(side + middle + right + 2 * gap)
        self._fit_card(right, high if roomy else 0)
        self._fit_switches(middle, high)
        self.picture.set_side(side)
        self._left.setFixedWidth(side)

    def _fit_words(self, wide: int) -> int:
        """Give title and instruction a width; returns the height that they leave."""
        title = self._title_height(wide)
        self.title.setFixedHeight(title)
        self._above.setFixedWidth(wide)
        left = self.height() - 2 * self._margin - title - theme.SPACE_S
        if self.help_text.isHidden():
            return left
        text = self.help_text.heightForWidth(wide)
        self.help_text.setFixedHeight(text)
        return left - text - theme.SPACE_XS

    def _fit_card(self, wide: int, high: int) -> None:
        self._right.setFixedWidth(wide)
        around = self.says.sizeHint().height() + theme.SPACE_S
        around += theme.TOUCH_HEIGHT + theme.SPACE_S if self._sureness is not None else 0
        self.card.set_row_height((high - around - 2) // self.card.rows)

    def _fit_switches(self, wide: int, high: int) -> None:
        self._middle.setFixedWidth(wide)
        if self.part.instruction != "foresight":
            high -= theme.TOUCH_HEIGHT + self.keys.heightForWidth(wide) + 4 * theme.SPACE_S
        count = len(self.switches.switches)
        left = high - self.switches.needed_height(0)
        self.switches.set_gap(min(max(left // max(count - 1, 1), GAPS[0]), GAPS[1]))

    @cached_property
    def _titles(self) -> tuple[str, ...]:
        """Everything that the title can say in this part."""
        changes = [
            Change(concept, to)
            for concept in range(len(self.part.repaired.concepts))
            for to in (AS_IT_IS, AS_IT_IS + 1, ON)
        ]
        foretold = (self._title_of(change) for change in changes if self._sureness is not None)
        return (self._title_of(None), *foretold)

    def _title_height(self, wide: int) -> int:
        metrics = QFontMetrics(theme.font(theme.TITLE_PX, bold=True))
        room = QRect(0, 0, wide, 1000)
        return max(metrics.boundingRect(room, _WRAPPED, text).height() for text in self._titles) + 2

    def _title_of(self, change: Change | None) -> str:
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
        """The picture on the screen and what was done with it."""
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

    def _item(self, trial: Repair) -> PlannedItem:
        return self.part.items[trial.number - 1]

    def _name(self, answer: str) -> str:
        return self.part.repaired.class_(answer).name

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
        item = self._item(trial)
        if (trial.number, trial.attempt) != self._shown:
            self._shown = (trial.number, trial.attempt)
            self.reminded = False
            self._heard = ()
            self.picture.show_picture(self.images.image(item.picture))
            self.switches.show_beliefs(item.beliefs)
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
        words, name = self.session.words, self._name(trial.answer)
        before = trial.history[-1].probabilities if trial.history else ()
        text = words("concept_will_say") if hidden else words("concept_says", name=name)
        if self.says.text() != text:
            self.says.setText(text)
        self.card.show_answer(trial.probabilities, before, hidden=hidden, same=name)
        self.card.set_locked(not (able and hidden))
        self.card.show_index(self._picked_row(trial) if hidden else None)
        for button in self.sure:
            button.setVisible(hidden)
            button.setEnabled(able and trial.picked is not None)

    def _picked_row(self, trial: Repair) -> int | None:
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
            left=words("concept_give_up") if able and self._task.can_give_up(trial) else "",
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

    def keyPressEvent(self, event: QKeyEvent) -> None:
        digits = event.text() if event.text().isdecimal() else ""
        if event.modifiers() & COMMANDS or event.isAutoRepeat():
            event.ignore()
        elif digits and 1 <= int(digits) <= len(self.switches.switches):
            self.switches.go_to(int(digits) - 1)
        elif event.key() == Qt.Key.Key_Backspace:
            self.send(UndoChange("keyboard"))
        else:
            super().keyPressEvent(event)

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


def _column(inside: QWidget) -> QVBoxLayout:
    layout = QVBoxLayout(inside)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(theme.SPACE_S)
    return layout
