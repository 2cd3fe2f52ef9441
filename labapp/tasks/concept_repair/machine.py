"""Decisions of concept repair.

The participant sets concepts; the model's answer to the new state is looked up in the plan and
stands in the event. Where changes are foretold, a change is chosen first, an answer picked, and
shown when it is final; where answers are withheld, the picture ends then and the answer is in no
event. A picture ends by the participant, or at its time limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from labapp.base.clock import NS
from labapp.models.stimuli.interventions import AS_IT_IS, OFF, ON
from labapp.record.events import Payload, UnstampedEvent
from labapp.record.events.commands import Command, Next, Tick
from labapp.record.events.registry import Pauses
from labapp.study.plugins import machine
from labapp.study.plugins.questions import QuestionsMachine
from labapp.tasks.concept_repair import events
from labapp.tasks.concept_repair.plan import (
    DONE,
    GAVE_UP,
    GIVEN,
    SAME,
    TIME_EXPIRED,
    ConceptChange,
    ConceptGridPart,
    ConceptRepairPart,
    ConceptStep,
    Grid,
    GridState,
    PlannedItem,
    Repair,
    RepairState,
    after_change,
)


@dataclass(frozen=True)
class ConceptRepairTask(QuestionsMachine[RepairState, Repair]):
    """A stage of pictures. index: the part's place in the plan."""

    shown = events.ConceptsShown

    part: ConceptRepairPart
    index: int

    def initial(self, pauses: Pauses) -> RepairState:
        return RepairState(pauses)

    def item(self, trial: Repair) -> PlannedItem:
        return self.part.items[trial.number - 1]

    def can_set(self, trial: Repair) -> bool:
        """Whether concepts can be set, changes taken back and the picture given up now."""
        return trial.phase == "setting" and self.part.instruction != "foresight"

    def can_finish(self, trial: Repair) -> bool:
        """Whether the picture can be finished: not while a change is being forecast, and in an
        audit only when every concept was confirmed or corrected (`Repair.unset` has the others)."""
        audited = self.part.instruction != "audit" or not trial.unset
        return trial.phase == "setting" and audited

    def limit_ns(self, state: RepairState) -> int | None:
        """Working time at which the present picture is left; None if nothing says so."""
        trial, limit_s = state.trial, self.part.item_limit_s
        if limit_s is None or trial is None or trial.outcome is not None:
            return None
        return None if trial.started_ns is None else trial.started_ns + round(limit_s * NS)

    def next_deadline(self, state: RepairState) -> int | None:
        return machine.next_deadline(state, self.limit_ns(state))

    def decide(self, state: RepairState, command: Command, now_ns: int) -> Sequence[UnstampedEvent]:
        trial = state.trial
        shown = state.outcome is None and trial is not None and trial.started_ns is not None
        how = self._ends(state, trial, command, now_ns) if shown and trial is not None else None
        before: Sequence[UnstampedEvent] = ()
        if trial is not None and self.item(trial).withheld and isinstance(command, events.Foretell):
            before = super().decide(state, command, now_ns)
            how = DONE if before else None
        if trial is not None and how is not None:
            ended = machine.unstamped(self.part, trial, events.RepairEnded(how, trial.answer))
            left = machine.leave_question(self.part, self.index, state, trial, how)
            return (*before, ended, *left)
        return super().decide(state, command, now_ns)

    def _ends(self, state: RepairState, trial: Repair, command: Command, now_ns: int) -> str | None:
        """How a command ends the picture; None if it does not."""
        match command:
            case events.RepairDone() if self.can_finish(trial):
                return DONE
            case events.GiveUp() if self.can_set(trial):
                return GAVE_UP
            case Tick() if not state.pauses.held:
                limit = self.limit_ns(state)
                over = limit is not None and state.pauses.working_ns(now_ns) >= limit
                return TIME_EXPIRED if over else None
        return None

    def draw(self, number: int, attempt: int) -> events.ConceptsDrawn:
        item = self.part.items[number - 1]
        answer, probabilities = self.part.answer_to(item, (AS_IT_IS,) * len(item.beliefs))
        return events.ConceptsDrawn(
            picture=item.photo,
            model=self.part.model,
            beliefs=item.beliefs,
            answer=answer,
            probabilities=probabilities,
        )

    def drawn(self, payload: Payload, number: int, attempt: int) -> Repair | None:
        if not isinstance(payload, events.ConceptsDrawn):
            return None
        given = self.part.items[number - 1].given
        return Repair(
            number=number,
            attempt=attempt,
            states=(AS_IT_IS,) * len(payload.beliefs),
            answer=payload.answer,
            probabilities=payload.probabilities,
            pending=None if given is None else ConceptChange(given.concept, given.to),
        )

    def answered(self, question: Repair) -> bool:
        """Finishing a picture leads on by itself."""
        return False

    def answer(self, question: Repair, command: Command) -> Sequence[Payload]:
        match command:
            case events.SetConcept(concept, to, device) if self.can_set(question):
                if not 0 <= concept < len(question.states) or to not in (AS_IT_IS, OFF, ON):
                    return ()
                if (was := question.states[concept]) == to:
                    return ()
                if self.item(question).foresee:
                    return (events.ConceptChosen(concept, to, was, device),)
                return (self._set(question, ConceptChange(concept, to), device),)
            case events.PickAnswer(answer, device) if question.pending:
                known = {SAME, *(class_.id for class_ in self.part.repaired.classes)}
                new = answer in known and answer != question.picked
                return (events.AnswerPicked(answer, device),) if new else ()
            case events.Foretell(sure, device) if question.pending and question.picked is not None:
                by = device if self.item(question).given is None else GIVEN
                foretold = events.AnswerForetold(question.picked, sure, device)
                if self.item(question).withheld:
                    return (foretold,)
                return (foretold, self._set(question, question.pending, by))
            case events.UndoChange(device) if self.can_set(question) and question.history:
                last = question.history[-1]
                undone = events.ConceptUndone(
                    concept=last.concept,
                    to=last.state,
                    was=question.states[last.concept],
                    answer_before=question.answer,
                    answer_after=last.answer,
                    probabilities=last.probabilities,
                    device=device,
                )
                return (undone,)
        return ()

    def _set(self, trial: Repair, change: ConceptChange, device: str) -> events.ConceptSet:
        concept, to = change
        answer, probabilities = self.part.answer_to(
            self.item(trial), after_change(trial.states, concept, to)
        )
        return events.ConceptSet(
            concept=concept,
            to=to,
            was=trial.states[concept],
            answer_before=trial.answer,
            answer_after=answer,
            probabilities=probabilities,
            device=device,
        )

    def after(self, question: Repair, payload: Payload) -> Repair:
        match payload:
            case events.ConceptChosen():
                return replace(
                    question, pending=ConceptChange(payload.concept, payload.to), picked=None
                )
            case events.AnswerPicked():
                return replace(question, picked=payload.answer)
            case events.ConceptSet():
                step = ConceptStep(
                    payload.concept, payload.was, question.answer, question.probabilities
                )
                return _apply_move(question, payload, (*question.history, step))
            case events.ConceptUndone():
                return _apply_move(question, payload, question.history[:-1])
            case events.RepairEnded():
                return replace(question, ended=payload.how)
        return question


def _apply_move(
    trial: Repair, payload: events.ConceptMoved, history: tuple[ConceptStep, ...]
) -> Repair:
    before, behind = trial.states[: payload.concept], trial.states[payload.concept + 1 :]
    return replace(
        trial,
        states=(*before, payload.to, *behind),
        answer=payload.answer_after,
        probabilities=payload.probabilities,
        history=history,
        pending=None,
        picked=None,
    )


@dataclass(frozen=True)
class ConceptGridTask(QuestionsMachine[GridState, Grid]):
    """The grid behind a stage; Next leads on once a pair is ticked, or it is said that there is
    none. index: its place in the plan."""

    shown = events.GridShown

    part: ConceptGridPart
    index: int

    def initial(self, pauses: Pauses) -> GridState:
        return GridState(pauses)

    def draw(self, number: int, attempt: int) -> events.GridDrawn:
        return events.GridDrawn(self.part.model)

    def drawn(self, payload: Payload, number: int, attempt: int) -> Grid | None:
        return Grid(number, attempt) if isinstance(payload, events.GridDrawn) else None

    def decide(self, state: GridState, command: Command, now_ns: int) -> Sequence[UnstampedEvent]:
        grid = state.trial
        if grid is not None and self.can_go_on(grid) and isinstance(command, Next):
            return machine.leave_question(self.part, self.index, state, grid, self.achieved)
        return super().decide(state, command, now_ns)

    def can_go_on(self, grid: Grid) -> bool:
        """Whether the grid says something, be it that no concept changes another."""
        shown = grid.started_ns is not None and grid.outcome is None
        return shown and (grid.nothing or bool(grid.ticked))

    def answered(self, question: Grid) -> bool:
        """It is an answer only once the participant goes on: a grid that the moderator skips has
        none."""
        return False

    def answer(self, question: Grid, command: Command) -> Sequence[Payload]:
        match command:
            case events.TickPair(row, column, device) if row != column:
                concepts = range(len(self.part.repaired.concepts))
                if row in concepts and column in concepts:
                    on = (row, column) not in question.ticked
                    nothing = (events.GridNothing(False, device),) if question.nothing else ()
                    return (*nothing, events.GridTicked(row, column, on, device))
            case events.TickNothing(device):
                off = (events.GridTicked(*pair, False, device) for pair in sorted(question.ticked))
                return (*off, events.GridNothing(not question.nothing, device))
        return ()

    def after(self, question: Grid, payload: Payload) -> Grid:
        match payload:
            case events.GridNothing():
                return replace(question, nothing=payload.on)
            case events.GridTicked():
                pair = {(payload.concept, payload.other)}
                ticked = question.ticked | pair if payload.on else question.ticked - pair
                return replace(question, ticked=ticked)
        return question
