"""Concept repair in a plan: pictures with what a model believes and answers of them, and the grid.

The plan holds the model's answers in every state of the concepts, so that a session needs neither
the model nor the stimulus set: it goes on, and is shown again, from its journal alone.

The state of a stage of concept repair, and of the grid behind it. All times are working time
(without pauses), in ns.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from labapp.base.documents import Strict
from labapp.models.stimuli import interventions
from labapp.models.stimuli.interventions import AS_IT_IS, OFF, ON, Answers, ChangeType, State
from labapp.models.stimuli.manifest import Concept, Finite, ItemType, Matrix, Share
from labapp.study.plugins import questions
from labapp.study.plugins.part import StimuliRef, TrialsPart

TASK, GRID = "concept-repair", "concept-grid"
"""What the tables call the two parts."""
PERFECT = "perfect-switches"
"""What the tables have for the model of practice."""

GIVEN = "plan"
"""The device of a change that the plan gives."""

Instruction = Literal["repair", "audit", "foresight"]
Sample = Literal["matched", "natural", "practice"]
"""Why a picture is shown: for its type, as it came, or to practise with."""


class PlannedClass(Strict):
    """A class on the rule card. name: as this participant has it in this stage; marks: what it can
    be told by; concepts: by id those that make it, on or off; empty if nobody says."""

    id: str
    name: str
    marks: str
    concepts: dict[str, bool] = Field(default_factory=dict)


class Repaired(Strict):
    """What the parts of one stage share: the model, its concepts and its classes.

    purity, oracle: rows for the concept whose code it is; empty if the switches are perfect.
    scores: of the model, by the name of the measure; accuracies: in percent.
    """

    stimuli: str
    manifest_sha256: str
    set: int
    model: str
    model_sha256: str | None
    learner: str
    task_accuracy: float
    concept_accuracy: float
    scores: dict[str, Finite]
    purity: Matrix
    oracle: Matrix
    concepts: tuple[Concept, ...]
    classes: tuple[PlannedClass, ...]

    @property
    def rules(self) -> tuple[dict[int, bool], ...]:
        """Of each class by the place of a concept whether it must be on."""
        return rules_of(self.concepts, tuple(known.concepts for known in self.classes))

    def class_(self, of: str) -> PlannedClass:
        """The class of an id. Raises KeyError if there is none."""
        return next(filter(lambda known: known.id == of, self.classes))

    def deviation(self, concept: int, other: int) -> float | None:
        """How far the code of a concept tells more, or less, of another than the true concept does;
        None if the model's purity is not known."""
        if not self.purity:
            return None
        return self.purity[concept][other] - self.oracle[concept][other]

    def side_effects(self, concept: int, before: str, after: str) -> tuple[int, ...]:
        """The other concepts of which the answer says the opposite after a concept was set: those
        that must be on for one of the two answers, and off for the other.

        So where a class is made by `shape` off, `left` and `top`, setting `shape` may rightly lead
        to any class with `shape` on; it is a side effect on `left` where that class needs `left`
        off.
        """
        rules = self.class_(before).concepts, self.class_(after).concepts
        return tuple(
            place
            for place, known in enumerate(self.concepts)
            if place != concept
            and all(known.id in rule for rule in rules)
            and rules[0][known.id] != rules[1][known.id]
        )


class PlannedChange(Strict):
    """A change that is given with a picture. concept: from 0; to: 1 off, 2 on."""

    concept: int = Field(ge=0)
    to: int = Field(ge=OFF, le=ON)


class PlannedItem(Strict):
    """A picture. item: what corrections do to it, none if that has no name; foresee: whether its
    changes are foretold; given: the change that is foretold, where none is free; withheld: whether
    the model's answer to it is kept from the participant; answers: base64 of float16, shape (3^k,
    classes), or (1 + 2 k, classes) of `single` changes, see `labapp.models.stimuli.interventions`.
    """

    photo: str
    picture: str
    truth: str
    concepts: tuple[bool, ...]
    beliefs: tuple[Share, ...]
    item: ItemType | None
    sample: Sample
    foresee: bool
    given: PlannedChange | None = None
    withheld: bool = False
    single: bool = False
    answers: str

    @property
    def table(self) -> Answers:
        """Probabilities of the classes: float16, shape (states, classes)."""
        return _decode_answers(self.answers, self.rows)

    @property
    def rows(self) -> int:
        """How many states its table has."""
        return interventions.counts(len(self.beliefs))[self.single]

    def probabilities(self, state: State) -> tuple[float, ...]:
        return tuple(map(float, self.table[interventions.row_of(state, self.rows)]))

    def change_type(self, rules: Sequence[Mapping[int, bool]]) -> ChangeType | None:
        """What the given change does beside what the rule card says of it; see
        `labapp.models.stimuli.interventions.change_type`."""
        if self.given is None:
            return None
        state = after_change((AS_IT_IS,) * len(self.beliefs), self.given.concept, self.given.to)
        return interventions.change_type(self.table, rules, self.beliefs, state)

    def wrong(self) -> tuple[int, ...]:
        pairs = zip(self.beliefs, self.concepts, strict=True)
        return tuple(
            n for n, (p, there) in enumerate(pairs) if interventions.is_predicted_on(p) != there
        )


def encode_answers(answers: Answers) -> str:
    """Answers to one picture as the plan keeps them."""
    return base64.b64encode(np.ascontiguousarray(answers, "<f2").tobytes()).decode()


def after_change(state: State, concept: int, to: int) -> State:
    """A state after a concept was set."""
    return (*state[:concept], to, *state[concept + 1 :])


@lru_cache(maxsize=1024)
def _decode_answers(answers: str, rows: int) -> Answers:
    values = np.frombuffer(base64.b64decode(answers, validate=True), "<f2")
    return values.reshape(rows, -1)


class _OfConcepts(TrialsPart):
    """What the pictures and the grid share. number, of: of the stage, among how many."""

    number: int
    of: int
    repaired: Repaired
    think_aloud: bool

    time_limit_s: ClassVar[None] = None  # of a stage; its pictures may have one

    @property
    def model(self) -> str:
        return self.repaired.model

    def stage_place(self) -> tuple[int, int]:
        return self.number, self.of

    def stimulus_sets(self) -> Iterator[StimuliRef]:
        yield StimuliRef(self.repaired.manifest_sha256, self.repaired.stimuli)


class ConceptRepairPart(_OfConcepts):
    """A stage, or the practice before one: pictures, one after the other.

    item_limit_s: seconds after which a picture is left; none for no limit.
    """

    ordered: ClassVar[str] = "pictures"
    task: ClassVar[str] = TASK
    part: Literal["concept_repair"] = "concept_repair"
    role: Literal["stage", "practice"]
    instruction: Instruction
    items: tuple[PlannedItem, ...] = Field(min_length=1)
    item_limit_s: float | None

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        concepts, classes = len(self.repaired.concepts), len(self.repaired.classes)
        for item in self.items:
            if {len(item.beliefs), len(item.concepts)} != {concepts}:
                raise ValueError(f"{item.photo}: beliefs and truths for {concepts} concepts needed")
            try:
                size = len(base64.b64decode(item.answers, validate=True))
            except binascii.Error as error:
                raise ValueError(f"{item.photo}: its answers are not base64") from error
            if size != 2 * item.rows * classes:
                raise ValueError(f"{item.photo}: {size / 2:g} answers, not {item.rows} x {classes}")
            if item.given is None and (item.single or item.withheld):
                raise ValueError(f"{item.photo}: answers to single changes, but no change is given")
            if (self.instruction == "foresight") != (item.given is not None):
                raise ValueError(f"{item.photo}: a change is given, but nothing else is changed")
            if item.given is not None and item.given.concept >= concepts:
                raise ValueError(f"{item.photo}: there is no concept {item.given.concept}")
            if item.truth not in [known.id for known in self.repaired.classes]:
                raise ValueError(f"{item.photo}: {item.truth!r} is not one of the classes")
        return self

    @property
    def trials(self) -> int:
        return len(self.items)

    @property
    def withheld(self) -> bool:
        """Whether the model's answers to what is forecast are kept from the participant."""
        return any(item.withheld for item in self.items)

    def order(self) -> tuple[str, ...]:
        """The pictures; none of practice, which is nobody's own."""
        return tuple(item.photo for item in self.items) if self.measures else ()

    def stored_pictures(self) -> Iterator[str]:
        for item in self.items:
            yield item.picture

    def answer(self, probabilities: tuple[float, ...]) -> str:
        """The most probable class, the first of several."""
        best = probabilities.index(max(probabilities))
        return self.repaired.classes[best].id

    def answer_to(self, item: PlannedItem, state: State) -> tuple[str, tuple[float, ...]]:
        """The model's answer to a picture in a state of its concepts, and the probabilities."""
        probabilities = item.probabilities(state)
        return self.answer(probabilities), probabilities


class ConceptGridPart(_OfConcepts):
    """The grid behind a stage: the participant ticks which concept also changes which other."""

    part: Literal["concept_grid"] = "concept_grid"
    role: Literal["stage"] = "stage"
    about: str
    task: ClassVar[str] = GRID
    trials: ClassVar[int] = 1


def rules_of(
    concepts: tuple[Concept, ...], classes: tuple[Mapping[str, bool], ...]
) -> tuple[dict[int, bool], ...]:
    """Of each class by the place of a concept whether it must be on, from the same by its id."""
    places = {concept.id: place for place, concept in enumerate(concepts)}
    return tuple({places[name]: on for name, on in rule.items()} for rule in classes)


Phase = Literal["setting", "foretelling", "over"]

DONE, GAVE_UP, TIME_EXPIRED = "done", "gave_up", "time_expired"
"""How a picture ends, beside those of any trial that is skipped."""
SAME = ""
"""What is foretold where the model is to answer as before."""


class ConceptChange(NamedTuple):
    """A concept, from 0, and what it is set to: 0 as the model has it, 1 off, 2 on."""

    concept: int
    to: int


class ConceptStep(NamedTuple):
    """Where a change led from: the concept and its state, the answer and the probabilities."""

    concept: int
    state: int
    answer: str
    probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair(questions.Question):
    """One picture.

    Attributes
    ----------
    states : of each concept 0 as the model has it, 1 set off, 2 set on.
    answer : id of the class for which the model takes the picture now.
    probabilities : of the classes now, in the order of the plan.
    history : what the changes so far led from, the last one last.
    pending : the change that is foretold now.
    picked : the answer picked for it: a class, or `SAME`; None before.
    ended : how it ended: `DONE`, `GAVE_UP` or `TIME_EXPIRED`.
    """

    states: tuple[int, ...]
    answer: str
    probabilities: tuple[float, ...]
    history: tuple[ConceptStep, ...] = ()
    pending: ConceptChange | None = None
    picked: str | None = None
    ended: str | None = None

    @property
    def phase(self) -> Phase:
        """What the participant does with it: sets concepts, foretells, or nothing more."""
        if self.ended is not None or self.outcome is not None:
            return "over"
        return "setting" if self.pending is None else "foretelling"

    @property
    def unset(self) -> tuple[int, ...]:
        """The concepts that are as the model has them, neither confirmed nor corrected."""
        return tuple(place for place, state in enumerate(self.states) if not state)


@dataclass(frozen=True, slots=True)
class RepairState(questions.QuestionsState[Repair]):
    """A stage of such pictures."""


@dataclass(frozen=True, slots=True)
class Grid(questions.Question):
    """The grid. ticked: the pairs (concept that is set, concept that changes with it); nothing:
    whether it is said that there are none."""

    ticked: frozenset[tuple[int, int]] = frozenset()
    nothing: bool = False


@dataclass(frozen=True, slots=True)
class GridState(questions.QuestionsState[Grid]):
    """The part with the grid, its one trial."""
