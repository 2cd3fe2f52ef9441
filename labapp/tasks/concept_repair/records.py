"""What is recorded of concept repair, and its rows of tables.

An attempt at a picture whose concepts are set, or at the grid, has what the journal says of it and
what is true of it by the plan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations, permutations, product
from statistics import fmean
from typing import Any, Literal

from labapp.analysis.answered import mean
from labapp.analysis.column import (
    INCLUDED,
    STALLED,
    TRIAL,
    WHERE,
    WHO,
    columns_in,
    number,
    of,
    text,
    through,
    whole,
    yes,
)
from labapp.analysis.task_records import (
    Attempt,
    Key,
    Ran,
    TaskRecords,
    TaskTables,
    key_of,
    not_planned,
)
from labapp.base.clock import NS
from labapp.models.stimuli import interventions
from labapp.models.stimuli.interventions import AS_IT_IS, OFF, ON
from labapp.record.events import Event, Payload
from labapp.tasks.concept_repair import events
from labapp.tasks.concept_repair.plan import (
    DONE,
    GIVEN,
    SAME,
    ConceptGridPart,
    ConceptRepairPart,
    PlannedChange,
    PlannedItem,
    Repaired,
    after_change,
)

STATES = {AS_IT_IS: "model", OFF: "off", ON: "on"}
"""What tables call the states of a concept."""
PRACTICE = "practice"
ChangeKind = Literal["correction", "confirmation", "release", "undo"]


@dataclass(frozen=True, slots=True)
class ShownChange:
    """A change that was shown, or whose answer was withheld. number: in its attempt, from 1;
    working_ns: when; foretold: what was said of it before; undone: it was taken back later;
    p_truth: the model's probability of the true class then; seen_before: the answer to these states
    of the concepts had been on the screen before, be it before the stage began again; shown: the
    answer was shown."""

    repair: RepairAttempt
    number: int
    event: events.ConceptMoved
    kind: ChangeKind
    correct: bool | None
    working_ns: int
    t_ns: int
    p_truth: float
    seen_before: bool
    foretold: events.AnswerForetold | None = None
    undone: bool = False
    shown: bool = True

    @property
    def change_type(self) -> str | None:
        """What a change of the plan does beside what the rule card says of it."""
        return self.repair.change_type if self.given else None

    @property
    def given(self) -> bool:
        """The plan gave it; the participant only foretold it."""
        return self.event.device == GIVEN

    @property
    def part(self) -> ConceptRepairPart:
        return self.repair.part

    @property
    def harm(self) -> bool | None:
        """Whether a setting to what is true made a right answer wrong; None of other changes."""
        if not self.correct:
            return None
        right = self.repair.right
        return right(self.event.answer_before) and not right(self.event.answer_after)

    @property
    def foretold_class(self) -> str | None:
        """The class that was foretold of it."""
        if self.foretold is None:
            return None
        answer = self.foretold.answer
        return self.event.answer_before if answer == SAME else answer

    @property
    def foretold_correct(self) -> bool | None:
        """Whether it came."""
        answer = self.foretold_class
        return None if answer is None else answer == self.event.answer_after

    @property
    def side_effects(self) -> tuple[int, ...] | None:
        """The other concepts that it turned in the answer (`Repaired.side_effects`); None of
        undoing, and where classes do not say which concepts make them."""
        repaired, event = self.part.repaired, self.event
        if self.kind == "undo" or not all(known.concepts for known in repaired.classes):
            return None
        return repaired.side_effects(event.concept, event.answer_before, event.answer_after)

    @property
    def deviations(self) -> list[float]:
        """Of the concept that was set from each other one, absolute."""
        repaired, concept = self.part.repaired, self.event.concept
        others = (place for place in range(len(repaired.concepts)) if place != concept)
        every = (repaired.deviation(concept, other) for other in others)
        return [abs(deviation) for deviation in every if deviation is not None]


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
    item: PlannedItem

    def __init__(
        self,
        part: ConceptRepairPart,
        key: Key,
        drawn: events.ConceptsDrawn,
        seen: set[tuple[int, ...]],
    ) -> None:
        super().__init__(key)
        self.part = part
        self.item = part.items[key[1] - 1]
        self.alone = self.answer = drawn.answer
        self.states = [AS_IT_IS] * len(drawn.beliefs)
        self.changes: list[ShownChange] = []
        self.chosen_ns: int | None = None
        self.ended_ns: int | None = None
        self._seen = seen
        seen.add(tuple(self.states))
        self._standing: list[int] = []  # places of changes that were not taken back
        self._foretold: events.AnswerForetold | None = None

    def take(self, event: Event, payload: Payload, working: int) -> None:
        match payload:
            case events.ConceptsShown():
                self.started_session_ns, self.started_ns = event.t_ns, working
            case events.ConceptChosen():
                self._choose(working)
            case events.AnswerForetold():
                self._foretold = payload
                if self.item.withheld and self.item.given is not None:
                    self._record_withheld(event, self.item.given, working)
            case events.ConceptSet():
                if payload.device != GIVEN:
                    self._choose(working)
                self._standing.append(len(self.changes))
                self._record_change(event, payload, working, self._kind(payload))
            case events.ConceptUndone():
                if self._standing:
                    last = self._standing.pop()
                    self.changes[last] = replace(self.changes[last], undone=True)
                self._record_change(event, payload, working, "undo")
            case events.RepairEnded():
                self.ended_ns, self.ended_session_ns = working, event.t_ns

    def _record_withheld(self, event: Event, given: PlannedChange, working: int) -> None:
        """A change whose answer was not shown: the plan has it."""
        state = after_change(tuple(self.states), given.concept, given.to)
        answer, probabilities = self.part.answer_to(self.item, state)
        payload = events.ConceptSet(
            given.concept, given.to, AS_IT_IS, self.answer, answer, probabilities, GIVEN
        )
        self._record_change(event, payload, working, self._kind(payload), shown=False)

    @cached_property
    def change_type(self) -> str | None:
        """Of the change that the plan gives, see `PlannedItem.change_type`."""
        return self.item.change_type(self.part.repaired.rules)

    def _choose(self, working: int) -> None:
        if self.chosen_ns is None:
            self.chosen_ns = working

    def _kind(self, payload: events.ConceptSet) -> ChangeKind:
        if payload.to == AS_IT_IS:
            return "release"
        believed = interventions.is_predicted_on(self.item.beliefs[payload.concept])
        return "confirmation" if payload.to == interventions.set_to(believed) else "correction"

    def _record_change(
        self,
        event: Event,
        payload: events.ConceptMoved,
        working: int,
        kind: ChangeKind,
        *,
        shown: bool = True,
    ) -> None:
        truth = interventions.set_to(self.item.concepts[payload.concept])
        correct = payload.to == truth if kind in ("correction", "confirmation") else None
        place = [class_.id for class_ in self.part.repaired.classes].index(self.item.truth)
        states = after_change(tuple(self.states), payload.concept, payload.to)
        self.changes.append(
            ShownChange(
                repair=self,
                number=len(self.changes) + 1,
                event=payload,
                kind=kind,
                correct=correct,
                working_ns=working,
                t_ns=event.t_ns,
                p_truth=payload.probabilities[place],
                seen_before=states in self._seen,
                foretold=self._foretold,
                shown=shown,
            )
        )
        self._foretold = None
        if shown:
            self.states, self.answer = list(states), payload.answer_after
            self._seen.add(states)

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
        return answer == self.item.truth

    def foreseen(self) -> list[bool]:
        """Whether what was foretold came, of each answer that had not been on the screen before."""
        return [
            right
            for change in self.changes
            if not change.seen_before and (right := change.foretold_correct) is not None
        ]

    @property
    def n_concepts_wrong_end(self) -> int:
        return sum(
            (interventions.is_predicted_on(belief) if state == AS_IT_IS else state == ON) != there
            for state, belief, there in zip(
                self.states, self.item.beliefs, self.item.concepts, strict=True
            )
        )

    @property
    def own_changes(self) -> list[ShownChange]:
        """Its changes except those that the plan gave."""
        return [change for change in self.changes if not change.given]

    def of_kind(self, kind: ChangeKind) -> list[ShownChange]:
        return [change for change in self.own_changes if change.kind == kind]

    def right_of(self, kind: ChangeKind) -> int:
        return sum(bool(change.correct) for change in self.of_kind(kind))

    @property
    def success(self) -> bool | None:
        judged = self.correct if self.item.given is None else None
        return None if judged is None else judged and self.outcome == DONE

    @property
    def gain(self) -> int | None:
        judged = self.correct if self.item.given is None else None
        return None if judged is None else int(judged) - int(self.right(self.alone))


class GridAttempt(Attempt):
    """One attempt at the grid. ticks: by pair how often it was ticked or its tick taken away;
    nothing: whether it is said that no concept changes another."""

    part: ConceptGridPart

    def __init__(self, part: ConceptGridPart, key: Key, drawn: events.GridDrawn) -> None:
        super().__init__(key)
        self.part = part
        self.ticked: set[tuple[int, int]] = set()
        self.ticks: Counter[tuple[int, int]] = Counter()
        self.nothing = False
        self.ended_ns: int | None = None

    def take(self, event: Event, payload: Payload, working: int) -> None:
        match payload:
            case events.GridShown():
                self.started_session_ns, self.started_ns = event.t_ns, working
            case events.GridTicked():
                pair = payload.concept, payload.other
                self.ticks[pair] += 1
                (self.ticked.add if payload.on else self.ticked.discard)(pair)
            case events.GridNothing():
                self.nothing = payload.on
        self.ended_ns = working

    @property
    def complete(self) -> bool:
        """The participant went on from it."""
        return self.outcome == "answered"

    @property
    def response_s(self) -> float | None:
        return self.since_start(self.ended_ns) if self.complete else None


@dataclass(frozen=True, slots=True)
class GridPair:
    """A pair of different concepts in a grid, with what the participant met of it in the stage."""

    grid: GridAttempt
    concept: int
    other: int
    n_set: int
    n_side_effects: int

    @property
    def part(self) -> ConceptGridPart:
        return self.grid.part

    @property
    def pair(self) -> tuple[int, int]:
        return self.concept, self.other


@dataclass(frozen=True, slots=True)
class Scored:
    """A measure of a model."""

    repaired: Repaired
    measure: str | None
    value: float | None


@dataclass(frozen=True, slots=True)
class Purity:
    """A pair of concepts of a model."""

    repaired: Repaired
    concept: int
    other: int


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What a model answers with some concepts of a picture set right."""

    repaired: Repaired
    item: PlannedItem
    n_set: int
    correct_any: float
    correct_in_order: bool
    correct_wrong_first: bool


Part = ConceptRepairPart | ConceptGridPart
Concepts = RepairAttempt | GridAttempt

_MODEL = (
    text("stimuli", "id of the stimulus set"),
    text("manifest_sha256", "hash of the set's manifest"),
    text("model", "id of the concept model; perfect-switches in practice"),
)
_PICTURE = of(
    RepairAttempt,
    *_MODEL,
    *columns_in("""
        text picture: id of the picture in its stimulus set
        text truth: id of the true class
        text item: what corrections do to the picture: repair, control, trap or unrepairable, see
            the glossary; empty if they do none of these, and in practice
        text sample: why it is shown: matched (for its type), natural (drawn regardless of the
            model's answer) or practice
        text instruction: repair, audit or foresight
    """),
    via=("part.repaired", "part", "item"),
    picture="item.photo",
    item="item.item",
)
_COUNTS = (
    INCLUDED,
    yes(
        "keyboard_away",
        "the participant's keyboard was away for some of it: with the moderator, or with another "
        "program",
    ),
)

REPAIRS = of(
    RepairAttempt,
    *WHO,
    *WHERE,
    text("role", "stage or practice"),
    *TRIAL,
    *_PICTURE,
    *columns_in("""
        yes foresee: the model's answers to its changes were forecast before they were shown
        whole n_concepts: concepts that could be set
        whole n_concepts_wrong: how many of these the model gets wrong when left alone
        whole n_classes: classes that the model distinguishes
        text outcome: done, gave_up, time_expired (the picture's limit) or as in the table trials
        text answer_alone: id of the class that the model answers when left alone
        yes correct_alone: that answer is right
        text answer_end: its answer when the participant left the picture
        yes correct_end: that answer is right
        yes success: the picture was left with Done, and the answer is right; empty with instruction
            foresight
        whole gain: right at the end less right when left alone: 1, 0 or -1; empty with instruction
            foresight
        whole n_changes: settings of a concept by the participant, in either direction, including
            those taken back; here and below, without those of the plan
        whole n_corrections: settings against what the model believes
        whole n_corrections_right: how many of these corrections were to the true value
        whole n_confirmations: settings to what the model already believes
        whole n_confirmations_right: how many of these confirmations were to the true value
        whole n_released: times a concept was set back to what the model has
        whole n_undone: changes that were taken back
        whole n_set_end: concepts that were set, either way, when the picture was left
        whole n_concepts_wrong_end: concepts that were wrong when it was left, by the setting if
            there is one, or else by the belief
        whole n_harms: settings of a concept to its true value that turned a right answer wrong
        yes touched: the participant chose a change, even if time ran out before it was shown
        whole n_foretold: answers that were forecast and not seen before, see concept_changes
        whole n_foretold_correct: how many of these forecasts were correct
        seconds first_change_s: from the picture's appearance to the first change that the
            participant chose, before any forecast of it
        seconds response_s: from its appearance to its end, without pauses and gaps
        yes excluded: it does not count: an interrupted attempt, or practice
        text excluded_because: why it does not count
    """),
    STALLED,
    *_COUNTS,
    via=("part", "item"),
    n_concepts=lambda row: len(row.states),
    n_concepts_wrong=lambda row: len(row.item.wrong()),
    n_classes=lambda row: len(row.part.repaired.classes),
    outcome="ended_by",
    answer_alone="alone",
    correct_alone=lambda row: row.right(row.alone),
    answer_end=lambda row: row.answer if row.complete else None,
    correct_end="correct",
    n_changes=lambda row: len(row.own_changes) - len(row.of_kind("undo")),
    n_corrections=lambda row: len(row.of_kind("correction")),
    n_corrections_right=lambda row: row.right_of("correction"),
    n_confirmations=lambda row: len(row.of_kind("confirmation")),
    n_confirmations_right=lambda row: row.right_of("confirmation"),
    n_released=lambda row: len(row.of_kind("release")),
    n_undone=lambda row: len(row.of_kind("undo")),
    n_set_end=lambda row: sum(state != AS_IT_IS for state in row.states),
    n_harms=lambda row: sum(bool(change.harm) for change in row.own_changes),
    touched=lambda row: row.chosen_ns is not None,
    n_foretold=lambda row: len(row.foreseen()),
    n_foretold_correct=lambda row: sum(row.foreseen()),
    first_change_s=lambda row: row.since_start(row.chosen_ns),
)
"""A row an attempt at a picture."""

CONCEPT_CHANGES = of(
    ShownChange,
    *WHO,
    *WHERE,
    text("role", "stage or practice"),
    *TRIAL,
    *through("repair", *_PICTURE),
    *columns_in("""
        whole change: number of the change in the attempt, from 1, undoing included
        seconds change_s: from the picture's appearance to the change, without pauses and gaps
        seconds session_s: session time (pauses included) of the change, as in the sound
        text concept: id of the concept
        whole concept_number: its place among the concepts of the model, from 1
        text change_kind: correction (set against the model's belief), confirmation (set to what it
            believes), release (back to the model's value) or undo
        text state_before: model (the model's own value), off or on
        text state_after: model, off or on
        yes state_correct: it was set to the true value; empty for releases and undoing
        yes undone: the change was taken back later
        yes given: the change was part of the plan
        yes shown: the model's answer to it was shown; if false, it was withheld, and the answer
            here comes from the plan
        text change_type: for a given change, what the answer does compared with the rule card:
            follows (the card says that it moves, and it does so), stays (the card says that it
            stays, and it does), leaks (the card says that it stays, and it moves), holds (the card
            says that it moves, and it stays) or strays (it moves to another class than the card
            says); empty if the card does not give the first answer
        text answer_before: id of the class that the model answered before
        text answer_after: id of the class that it answered then
        yes correct_before: the answer before was right
        yes correct_after: the answer then was right
        number p_truth_after [0-1]: the model's probability of the true class then
        yes harm: the answer was right before and is wrong after a concept was set to its true
            value; empty for other changes
        text foretold: id of the class that was forecast, also if that was “the same”
        yes foretold_same: “the same” was forecast
        yes sure: the participant was sure of it
        yes foretold_correct: the forecast class was the answer
        yes seen_before: the answer to these states of the picture's concepts had been on the screen
            before, even before the stage began again, so the participant may remember it
        number chance [0-1]: probability that a guess among the classes is right
        text side_effects: ids of other concepts for which the answer then implies the opposite,
            with ; between them: the class before requires one state of the concept and the class
            after the other; empty for none, and if classes do not state which concepts define them
        whole n_side_effects: number of these; empty if classes do not state it, and for undoing
        number deviation_mean [0-1]: mean over the other concepts of the absolute deviation of the
            concept that was set, see the table concept_purities
        number deviation_largest [0-1]: the largest of these
        text device: what set it: mouse, keyboard, touch, simulated; plan if it was given
        yes excluded: its attempt does not count
    """),
    *_COUNTS,
    via=("part", "repair", "event", "foretold"),
    change="number",
    change_s=lambda row: row.repair.since_start(row.working_ns),
    session_s=lambda row: row.t_ns / NS,
    concept=lambda row: row.part.repaired.concepts[row.event.concept].id,
    concept_number=lambda row: row.event.concept + 1,
    change_kind="kind",
    state_before=lambda row: STATES[row.event.was],
    state_after=lambda row: STATES[row.event.to],
    state_correct="correct",
    correct_before=lambda row: row.repair.right(row.event.answer_before),
    correct_after=lambda row: row.repair.right(row.event.answer_after),
    p_truth_after="p_truth",
    foretold="foretold_class",
    foretold_same=lambda row: row.foretold and row.foretold.answer == SAME,
    chance=lambda row: 1 / len(row.part.repaired.classes),
    side_effects=lambda row: (
        ";".join(row.part.repaired.concepts[other].id for other in row.side_effects or ()) or None
    ),
    n_side_effects=lambda row: None if row.side_effects is None else len(row.side_effects),
    deviation_mean=lambda row: mean(row.deviations),
    deviation_largest=lambda row: max(row.deviations, default=None),
)
"""A row a change."""

CONCEPT_GRIDS = of(
    GridPair,
    *WHO,
    *WHERE,
    text("about", "id of the stage that the grid is about"),
    *TRIAL,
    *_MODEL,
    *columns_in("""
        text concept: id of the concept that is set
        text other: id of the concept that might change with it
        yes ticked: the participant says that it does
        whole ticks: times the pair was ticked or unticked
        yes nothing: the participant says that no switch changes anything else; if there is no tick
            either, the question was not answered, which earlier versions allowed
        number deviation: deviation of the pair, see the table concept_purities
        whole n_set: times the concept was set in that stage, including settings by the plan and
            those before the stage was restarted, since the participant saw them too
        whole n_side_effects: how many of these had a side effect on the other
        seconds response_s: from the grid's appearance to Next, without pauses and gaps
        yes excluded: an attempt that does not count
    """),
    *_COUNTS,
    via=("part.repaired", "part", "grid"),
    concept=lambda row: row.part.repaired.concepts[row.concept].id,
    other=lambda row: row.part.repaired.concepts[row.other].id,
    ticked=lambda row: row.pair in row.grid.ticked if row.grid.complete else None,
    ticks=lambda row: row.grid.ticks[row.pair],
    nothing=lambda row: row.grid.nothing if row.grid.complete else None,
    deviation=lambda row: row.part.repaired.deviation(*row.pair),
)
"""One row per pair of different concepts."""

CONCEPT_MODELS = of(
    Scored,
    text("study", "id of the study"),
    *_MODEL,
    text("learner", "name of its method"),
    number("task_accuracy", "on its test photos", "%"),
    number("concept_accuracy", "mean over concepts", "%"),
    text("measure", "name of a measure, such as ois; empty if the set has none"),
    number("value", "the value of the measure for this model"),
    via=("repaired",),
)
"""A row per model and measure, no matter who met it."""

CONCEPT_PURITIES = of(
    Purity,
    text("study", "id of the study"),
    *_MODEL,
    text("concept", "id of the concept whose code is used"),
    text("other", "id of the concept that is predicted"),
    number("purity", "area under the ROC curve of predicting it from the model's code", "0-1"),
    number("oracle", "the same from the true concept", "0-1"),
    number("deviation", "purity minus oracle"),
    via=("repaired",),
    concept=lambda row: row.repaired.concepts[row.concept].id,
    other=lambda row: row.repaired.concepts[row.other].id,
    purity=lambda row: row.repaired.purity[row.concept][row.other],
    oracle=lambda row: row.repaired.oracle[row.concept][row.other],
    deviation=lambda row: row.repaired.deviation(row.concept, row.other),
)
"""A row per model and pair of concepts (paper 001, section 3.1), no matter who met it."""

CONCEPT_CURVES = of(
    CurvePoint,
    text("study", "id of the study"),
    *_MODEL,
    text("picture", "id of the picture in its stimulus set"),
    text("item", "what corrections do to the picture, see the table repairs"),
    text("sample", "matched or natural"),
    whole("n_set", "concepts that are set to their true values"),
    number("correct_any", "share of all sets of this many concepts with a right answer", "0-1"),
    yes(
        "correct_in_order",
        "the answer is right with this many concepts set in the order of the set",
    ),
    yes(
        "correct_wrong_first",
        "the same if the concepts that the model gets wrong come first, in the order of the set",
    ),
    via=("repaired", "item"),
    picture="item.photo",
    item="item.item",
)
"""What the model answers as more and more concepts are set right, without people (paper 001, figure
5); a row per picture and number, no matter who met it."""


class PictureStage:
    """The attempts of a stage that count; of the grid only its time does."""

    def __init__(self, attempts: Sequence[Concepts]) -> None:
        counted = [attempt for attempt in attempts if not attempt.excluded]
        times = (attempt.response_s for attempt in counted)
        self.times = [seconds for seconds in times if seconds is not None]
        repairs = (attempt for attempt in counted if isinstance(attempt, RepairAttempt))
        self.repairs = [repair for repair in repairs if repair.complete]

    def harms(self) -> Iterator[bool | None]:
        """Of each change by the participant while the answer was right, whether it did harm."""
        for attempt in self.repairs:
            for change in attempt.own_changes:
                if attempt.right(change.event.answer_before):
                    yield change.harm


_STAGES = of(
    PictureStage,
    *columns_in("""
        number success_rate [0-1]: share of pictures finished with Done and a correct answer
        number gain [-1 to 1]: mean gain of the pictures; see the table repairs
        number harm_rate [0-1]: share of settings to the true value that made a right answer wrong;
            empty without such settings
        number foretold_rate [0-1]: share of forecasts that were correct; answers seen before are
            excluded
    """),
    success_rate=lambda stage: mean(repair.success for repair in stage.repairs),
    gain=lambda stage: mean(repair.gain for repair in stage.repairs),
    harm_rate=lambda stage: mean(stage.harms()),
    foretold_rate=lambda stage: mean([r for each in stage.repairs for r in each.foreseen()]),
)
_OF_A_MODEL = ("study", "stimuli", "manifest_sha256", "model")
TABLES = TaskTables(
    words={
        "tasks": "concept-repair (of a model that believes in concepts), concept-grid (which of "
        "them change with another)",
        "durations": "of a picture whose concepts are set, to its end",
    },
    outcomes={"done": "a picture whose concepts are set", "gave_up": "such a picture"},
    added={"stages": {"correctness_rate": _STAGES}},
    shared={
        "trials": {"duration_s": "response_s"},
        "stages": {
            "n_answered": lambda stage: len(stage.times),
            "response_time_s": lambda stage: mean(stage.times),
        },
    },
    own={
        "repairs": REPAIRS,
        "concept_changes": CONCEPT_CHANGES,
        "concept_grids": CONCEPT_GRIDS,
        "concept_models": CONCEPT_MODELS,
        "concept_purities": CONCEPT_PURITIES,
        "concept_curves": CONCEPT_CURVES,
    },
    row_is={
        "repairs": "an attempt at a picture whose concepts are set",
        "concept_changes": "a change of a concept",
        "concept_grids": "a pair of concepts in a grid of a participant",
        "concept_models": "a model and a measure of it",
        "concept_purities": "a model and a pair of concepts",
        "concept_curves": "a picture and a number of corrected concepts",
    },
    rows={
        "repairs": lambda records: records.repairs,
        "concept_changes": lambda records: (
            change for attempt in records.repairs for change in attempt.changes
        ),
        "concept_grids": lambda records: records.grid_pairs(),
        "concept_models": lambda records: scores(records.models()),
        "concept_purities": lambda records: purities(records.models()),
        "concept_curves": lambda records: curve_points(records.parts.values()),
    },
    distinct={
        "concept_models": (*_OF_A_MODEL, "measure"),
        "concept_purities": (*_OF_A_MODEL, "concept", "other"),
        "concept_curves": (*_OF_A_MODEL, "picture", "n_set"),
    },
)


class ConceptRepairRecords(TaskRecords[Any, Any]):
    """Every attempt at every picture, and at every grid."""

    tables = TABLES
    begins = events.ConceptsDrawn.kind
    kinds = frozenset(
        payload.kind
        for payload in (
            events.AnswerForetold,
            events.AnswerPicked,
            events.ConceptChosen,
            events.ConceptSet,
            events.ConceptUndone,
            events.ConceptsShown,
            events.GridDrawn,
            events.GridNothing,
            events.GridShown,
            events.GridTicked,
            events.RepairEnded,
        )
    )

    def __init__(self, parts: Mapping[str, Part]) -> None:
        super().__init__(parts)
        # By stage and picture, the states whose answers were on the screen, in whatever attempt.
        self._seen: dict[tuple[str, int], set[tuple[int, ...]]] = {}

    def take(self, event: Event, payload: Payload, working_ns: int) -> None:
        """The grid begins with an event of its own."""
        if isinstance(payload, events.GridDrawn) and (key := key_of(event)) is not None:
            self.by_key[key] = self.begin(self.parts[key[0]], key, event, payload)
        else:
            super().take(event, payload, working_ns)

    def begin(
        self, part: Part, key: Key, event: Event, payload: events.ConceptsDrawn | events.GridDrawn
    ) -> Concepts:
        if isinstance(payload, events.GridDrawn):
            if isinstance(part, ConceptGridPart):
                return GridAttempt(part, key, payload)
            raise not_planned(event, "begins a grid")
        photos = [item.photo for item in part.items] if isinstance(part, ConceptRepairPart) else []
        if isinstance(part, ConceptRepairPart) and photos[key[1] - 1 : key[1]] == [payload.picture]:
            return RepairAttempt(part, key, payload, self._seen.setdefault(key[:2], set()))
        raise not_planned(event, f"begins the picture {payload.picture!r}")

    @property
    def repairs(self) -> list[RepairAttempt]:
        return [attempt for attempt in self.attempts if isinstance(attempt, RepairAttempt)]

    def stage(self, part: Part, attempts: Sequence[Concepts], ran: Ran) -> PictureStage:
        return PictureStage(attempts)

    def models(self) -> list[Repaired]:
        """The models of the stages, each once."""
        met: dict[tuple[str, str], Repaired] = {}
        for repaired in (part.repaired for part in self.parts.values() if part.role == "stage"):
            met.setdefault((repaired.manifest_sha256, repaired.model), repaired)
        return list(met.values())

    def grid_pairs(self) -> Iterator[GridPair]:
        """Every pair of every grid, with what the participant met of it in the stage."""
        for attempt in self.attempts:
            if isinstance(attempt, GridAttempt):
                times_set, effects = self._count_met(attempt.part.about)
                for pair in permutations(range(len(attempt.part.repaired.concepts)), 2):
                    yield GridPair(attempt, *pair, times_set[pair[0]], effects[pair])

    def _count_met(self, stage: str) -> tuple[Counter[int], Counter[tuple[int, int]]]:
        """How often each concept was set in a stage, and with which side effects, in all attempts:
        what was met before the stage began again was met."""
        times_set: Counter[int] = Counter()
        effects: Counter[tuple[int, int]] = Counter()
        for attempt in self.repairs:
            for change in attempt.changes if attempt.part.id == stage else ():
                if change.kind != "undo":
                    times_set[change.event.concept] += 1
                    effects.update((change.event.concept, it) for it in change.side_effects or ())
        return times_set, effects


def scores(models: Iterable[Repaired]) -> Iterator[Scored]:
    """The measures of models; one without any has a row all the same."""
    for repaired in models:
        known: Iterable[tuple[str | None, float | None]] = repaired.scores.items() or [(None, None)]
        yield from (Scored(repaired, measure, value) for measure, value in known)


def purities(models: Iterable[Repaired]) -> Iterator[Purity]:
    """Every pair of concepts of models."""
    for repaired in models:
        for pair in product(range(len(repaired.concepts)), repeat=2):
            yield Purity(repaired, *pair)


def curve_points(parts: Iterable[Part]) -> Iterator[CurvePoint]:
    """What models answer as more and more concepts of each picture are set right."""
    for part in parts:
        if isinstance(part, ConceptRepairPart) and part.role == "stage":
            classes = [known.id for known in part.repaired.classes]
            for item in part.items if not any(each.single for each in part.items) else ():
                for count, point in enumerate(_curve(item, classes.index(item.truth))):
                    yield CurvePoint(part.repaired, item, count, *point)


@lru_cache(maxsize=4096)
def _curve(item: PlannedItem, truth: int) -> tuple[tuple[float, bool, bool], ...]:
    """By how many concepts are set to what is true, from none to all: the share of all choices of
    them with a right answer, whether it is right in the listed order, and whether it is where those
    that the model has wrong come first. The sessions of a study share pictures."""
    concepts = range(len(item.concepts))

    def right(chosen: Iterable[int]) -> bool:
        state = [AS_IT_IS for _ in concepts]
        for place in chosen:
            state[place] = interventions.set_to(item.concepts[place])
        return int(item.table[interventions.place(state)].argmax()) == truth

    wrong = item.wrong()
    ordered = [*wrong, *(place for place in concepts if place not in wrong)]
    return tuple(
        (
            fmean(right(chosen) for chosen in combinations(concepts, count)),
            right(range(count)),
            right(ordered[:count]),
        )
        for count in range(len(item.concepts) + 1)
    )
