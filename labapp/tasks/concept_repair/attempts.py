"""One attempt at a picture whose concepts are set, and at the grid: what the journal says of it,
and what is true of it by the plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from labapp.analysis.task_records import Attempt, Key, Row
from labapp.clock import NS
from labapp.errors import RecordError
from labapp.events import Event, Payload
from labapp.stimuli import interventions
from labapp.stimuli.interventions import AS_IT_IS, OFF, ON
from labapp.tasks.concept_repair.events import (
    AnswerForetold,
    ConceptChosen,
    ConceptMoved,
    ConceptsDrawn,
    ConceptSet,
    ConceptsShown,
    ConceptUndone,
    GridDrawn,
    GridNothing,
    GridShown,
    GridTicked,
    RepairEnded,
)
from labapp.tasks.concept_repair.plan import (
    GIVEN,
    ConceptGridPart,
    ConceptRepairPart,
    PlannedItem,
    Repaired,
)
from labapp.tasks.concept_repair.state import DONE, SAME

STATES = {AS_IT_IS: "model", OFF: "off", ON: "on"}
"""What tables call the states of a concept."""
PRACTICE = "practice"
ChangeKind = Literal["correction", "confirmation", "release", "undo"]


@dataclass(frozen=True, slots=True)
class Change:
    """A change that was shown. working_ns: when; foretold: what was said of it before; undone: it
    was taken back later; p_truth: the model's probability of the true class then; seen_before: the
    answer to these states of the concepts had been on the screen before, be it before the
    stage began again."""

    event: ConceptMoved
    kind: ChangeKind
    correct: bool | None
    working_ns: int
    t_ns: int
    p_truth: float
    seen_before: bool
    foretold: AnswerForetold | None = None
    undone: bool = False

    @property
    def given(self) -> bool:
        """The plan gave it; the participant only foretold it."""
        return self.event.device == GIVEN


class RepairAttempt(Attempt):
    """One attempt at a picture.

    Attributes
    ----------
    item : the picture, as planned.
    answer : str
        The model's answer as it stands; `alone` as it was when left alone.
    states : list of int
        Of the concepts, as they stand.
    changes : what was shown, in its order.
    seen : set of tuple of int
        The states of this picture whose answers were on the screen in earlier attempts; those of
        this one are added.
    chosen_ns : when the participant first chose a change, shown at once or foretold first.
    """

    part: ConceptRepairPart

    def __init__(
        self,
        part: ConceptRepairPart,
        key: Key,
        drawn: ConceptsDrawn,
        seen: set[tuple[int, ...]],
    ) -> None:
        super().__init__(key)
        self.part = part
        self.item: PlannedItem = part.items[key[1] - 1]
        self.alone = self.answer = drawn.answer
        self.states = [AS_IT_IS] * len(drawn.beliefs)
        self.changes: list[Change] = []
        self.chosen_ns: int | None = None
        self.ended_ns: int | None = None
        self._seen = seen
        seen.add(tuple(self.states))
        self._standing: list[int] = []  # places of changes that were not taken back
        self._foretold: AnswerForetold | None = None

    def take(self, event: Event, payload: Payload, working: int) -> None:
        match payload:
            case ConceptsShown():
                self.started_session_ns, self.started_ns = event.t_ns, working
            case ConceptChosen():
                self._choose(working)
            case AnswerForetold():
                self._foretold = payload
            case ConceptSet():
                if payload.device != GIVEN:
                    self._choose(working)
                self._standing.append(len(self.changes))
                self._changed(event, payload, working, self._kind(payload))
            case ConceptUndone():
                if self._standing:
                    last = self._standing.pop()
                    self.changes[last] = replace(self.changes[last], undone=True)
                self._changed(event, payload, working, "undo")
            case RepairEnded():
                self.ended_ns, self.ended_session_ns = working, event.t_ns

    def _choose(self, working: int) -> None:
        if self.chosen_ns is None:
            self.chosen_ns = working

    def _kind(self, payload: ConceptSet) -> ChangeKind:
        if payload.to == AS_IT_IS:
            return "release"
        believed = interventions.believed(self.item.beliefs[payload.concept])
        return "confirmation" if payload.to == interventions.set_to(believed) else "correction"

    def _changed(self, event: Event, payload: ConceptMoved, working: int, kind: ChangeKind) -> None:
        truth = interventions.set_to(self.item.concepts[payload.concept])
        correct = payload.to == truth if kind in ("correction", "confirmation") else None
        place = [class_.id for class_ in self.part.repaired.classes].index(self.item.truth)
        self.states[payload.concept] = payload.to
        states = tuple(self.states)
        self.changes.append(
            Change(
                event=payload,
                kind=kind,
                correct=correct,
                working_ns=working,
                t_ns=event.t_ns,
                p_truth=payload.probabilities[place],
                seen_before=states in self._seen,
                foretold=self._foretold,
            )
        )
        self._seen.add(states)
        self.answer, self._foretold = payload.answer_after, None

    @property
    def complete(self) -> bool:
        """The participant ended it, or its limit did."""
        return self.ended_ns is not None

    @property
    def excluded_because(self) -> str | None:
        """Why it does not count; practice never does."""
        return super().excluded_because or (PRACTICE if self.part.role == PRACTICE else None)

    @property
    def correct(self) -> bool | None:
        """Whether the model's answer is right as the picture was left; None while it is open."""
        return self.right(self.answer) if self.complete else None

    @property
    def response_s(self) -> float | None:
        return self.since_start(self.ended_ns)

    def right(self, answer: str) -> bool:
        """Whether an answer of the model is right."""
        return answer == self.item.truth

    def harm(self, change: Change) -> bool | None:
        """Whether a setting to what is true made a right answer wrong; None of other changes."""
        if not change.correct:
            return None
        event = change.event
        return self.right(event.answer_before) and not self.right(event.answer_after)

    def foretold(self, change: Change) -> str | None:
        """The class that was foretold of a change."""
        if change.foretold is None:
            return None
        answer = change.foretold.answer
        return change.event.answer_before if answer == SAME else answer

    def foretold_right(self, change: Change) -> bool | None:
        """Whether it came."""
        answer = self.foretold(change)
        return None if answer is None else answer == change.event.answer_after

    def foreseen(self) -> list[bool]:
        """Whether what was foretold came, of each answer that had not been on the screen before."""
        return [
            right
            for change in self.changes
            if not change.seen_before and (right := self.foretold_right(change)) is not None
        ]

    def _wrong_at_end(self) -> int:
        pairs = zip(self.states, self.item.beliefs, self.item.concepts, strict=True)
        has = [
            (interventions.believed(belief) if state == AS_IT_IS else state == ON, there)
            for state, belief, there in pairs
        ]
        return sum(on != there for on, there in has)

    def row(self) -> Row:
        """Its cells of the table of repairs, but for where it stands."""
        own = [change for change in self.changes if not change.given]
        settings = {
            kind: [change for change in own if change.kind == kind]
            for kind in ("correction", "confirmation", "release", "undo")
        }
        foretold = self.foreseen()
        before, after = self.right(self.alone), self.correct
        if after is None or self.item.given is not None:
            success, gain = None, None
        else:
            success, gain = after and self.outcome == DONE, int(after) - int(before)
        return {
            "foresee": self.item.foresee,
            "n_concepts": len(self.states),
            "n_concepts_wrong": len(self.item.wrong()),
            "n_classes": len(self.part.repaired.classes),
            "answer_alone": self.alone,
            "correct_alone": before,
            "answer_end": self.answer if self.complete else None,
            "correct_end": after,
            "success": success,
            "gain": gain,
            "n_changes": len(own) - len(settings["undo"]),
            "n_corrections": len(settings["correction"]),
            "n_corrections_right": sum(bool(c.correct) for c in settings["correction"]),
            "n_confirmations": len(settings["confirmation"]),
            "n_confirmations_right": sum(bool(c.correct) for c in settings["confirmation"]),
            "n_released": len(settings["release"]),
            "n_undone": len(settings["undo"]),
            "n_set_end": sum(state != AS_IT_IS for state in self.states),
            "n_concepts_wrong_end": self._wrong_at_end(),
            "n_harms": sum(bool(self.harm(change)) for change in own),
            "touched": self.chosen_ns is not None,
            "n_foretold": len(foretold),
            "n_foretold_correct": sum(foretold),
            "first_change_s": self.since_start(self.chosen_ns),
            "response_s": self.response_s,
        }

    def change_row(self, place: int, change: Change) -> Row:
        """The cells of a change, the place-th from 0, but for where it stands."""
        repaired, event, foretold = self.part.repaired, change.event, change.foretold
        deviations = [
            abs(known)
            for other in range(len(self.states))
            if other != event.concept
            and (known := repaired.deviation(event.concept, other)) is not None
        ]
        effects = side_effects(repaired, change)
        return {
            "change": place + 1,
            "change_s": self.since_start(change.working_ns),
            "session_s": change.t_ns / NS,
            "concept": repaired.concepts[event.concept].id,
            "concept_number": event.concept + 1,
            "change_kind": change.kind,
            "state_before": STATES[event.was],
            "state_after": STATES[event.to],
            "state_correct": change.correct,
            "undone": change.undone,
            "given": change.given,
            "answer_before": event.answer_before,
            "answer_after": event.answer_after,
            "correct_before": self.right(event.answer_before),
            "correct_after": self.right(event.answer_after),
            "p_truth_after": change.p_truth,
            "harm": self.harm(change),
            "foretold": self.foretold(change),
            "foretold_same": None if foretold is None else foretold.answer == SAME,
            "sure": None if foretold is None else foretold.sure,
            "foretold_correct": self.foretold_right(change),
            "seen_before": change.seen_before,
            "chance": 1 / len(repaired.classes),
            "side_effects": None
            if effects is None
            else ";".join(repaired.concepts[other].id for other in effects) or None,
            "n_side_effects": None if effects is None else len(effects),
            "deviation_mean": fmean(deviations) if deviations else None,
            "deviation_largest": max(deviations, default=None),
            "device": event.device,
        }


class GridAttempt(Attempt):
    """One attempt at the grid. ticks: by pair how often it was ticked or its tick taken away;
    nothing: whether it is said that no concept changes another."""

    part: ConceptGridPart

    def __init__(self, part: ConceptGridPart, key: Key, drawn: GridDrawn) -> None:
        super().__init__(key)
        self.part = part
        self.ticked: set[tuple[int, int]] = set()
        self.ticks: dict[tuple[int, int], int] = {}
        self.nothing = False
        self.ended_ns: int | None = None

    def take(self, event: Event, payload: Payload, working: int) -> None:
        match payload:
            case GridShown():
                self.started_session_ns, self.started_ns = event.t_ns, working
            case GridTicked():
                pair = payload.concept, payload.other
                self.ticks[pair] = self.ticks.get(pair, 0) + 1
                (self.ticked.add if payload.on else self.ticked.discard)(pair)
            case GridNothing():
                self.nothing = payload.on
        self.ended_ns = working

    @property
    def complete(self) -> bool:
        """The participant went on from it."""
        return self.outcome == "answered"

    @property
    def response_s(self) -> float | None:
        return self.since_start(self.ended_ns) if self.complete else None


def side_effects(repaired: Repaired, change: Change) -> tuple[int, ...] | None:
    """The other concepts that a change turned in the answer (`Repaired.side_effects`); None of
    undoing, and where classes do not say which concepts make them."""
    if change.kind == "undo" or not all(known.concepts for known in repaired.classes):
        return None
    event = change.event
    return repaired.side_effects(event.concept, event.answer_before, event.answer_after)


def foreign(event: Event, what: str) -> RecordError:
    """The error for an event of something that the plan does not have."""
    return RecordError(
        f"Event {event.seq} of this session {what}, which its plan does not have.",
        safe="The session is untouched.",
        todo="Check it with `labapp sessions verify`, and leave it out until then.",
    )
