"""The screen of concept repair: the picture on the left, what the model sees of it as switches in
the middle, and on the right the names that it can say with how probable it finds each.

What is true of a picture, of which type it is and how pure the model is, is nowhere on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from labapp.base.clock import NS
from labapp.models.stimuli.interventions import AS_IT_IS, OFF, ON
from labapp.tasks.concept_repair.events import (
    Foretell,
    GiveUp,
    PickAnswer,
    RepairDone,
    SetConcept,
    UndoChange,
)
from labapp.tasks.concept_repair.machine import ConceptRepairTask
from labapp.tasks.concept_repair.plan import ConceptRepairPart
from labapp.tasks.concept_repair.screen.board import Board
from labapp.tasks.concept_repair.screen.switches import SETS, ConceptSwitch, TimeLeft
from labapp.tasks.concept_repair.state import SAME, Change, Repair, RepairState
from labapp.ui.participant.screen import DialControl, Screen, stage_words
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets.choice import COMMANDS
from labapp.ui.widgets.dial import Foot, Head

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
            titles += (self._title_of(Change(*change)) for change in changes)
        return tuple(titles)

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
        self.card.show_index(self._picked_row(trial) if hidden else None)
        self.board.show_buttons(hidden)
        for button in self.sure:
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
