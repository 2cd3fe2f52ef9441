"""Events and commands of concept repair. A concept is named by its place among those of the part,
from 0; an answer by the id of its class. Trials end with `trial.ended`.

What is true of a picture, of which type it is and how pure the model is stands in the plan and in
no event: a screen that shows these events tells nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labapp.record.events.commands import Command
from labapp.record.events.registry import Payload, Whole, Word, kind


def _no_concept(part: Mapping[str, Any], *concepts: int) -> str:
    """Why a part has not all of these concepts; empty if it has."""
    count = len(part["repaired"]["concepts"])
    strange = [concept for concept in concepts if not 0 <= concept < count]
    return f"refers to concept {strange[0]}, but there are only {count}" if strange else ""


@kind("concepts.drawn", durable=True, begins=("concept_repair",))
class ConceptsDrawn(Payload):
    """The next picture of the plan begins.

    Attributes
    ----------
    picture : its id in the stimulus set.
    model : id of the model.
    beliefs : the model's certainty about each concept, from 0 (off) to 1 (on).
    answer : the class that the model gives the picture.
    probabilities : the probabilities of the classes, in the order of the plan.
    """

    picture: Word
    model: Word
    beliefs: tuple[float, ...]
    answer: Word
    probabilities: tuple[float, ...]


@kind("concepts.shown", durable=True, of_trial=True)
class ConceptsShown(Payload):
    """The picture is on the screen; its time runs from here."""


@kind("concept.chosen", durable=True, of_trial=True)
class ConceptChosen(Payload):
    """A change was chosen, and its result will be forecast before it is shown.

    Attributes
    ----------
    concept : the concept.
    to : its new state: 0 as the model has it, 1 off, 2 on.
    was : its present state.
    device : the input: mouse, keyboard, touch or simulated.
    """

    concept: Whole
    to: Whole
    was: Whole
    device: Word

    def misfit(self, part: Mapping[str, Any]) -> str:
        return _no_concept(part, self.concept)


@kind("answer.picked", of_trial=True)
class AnswerPicked(Payload):
    """The participant picked the model's next answer; another can still be picked.

    Attributes
    ----------
    answer : the class; empty for the same as now.
    device : the input: mouse, keyboard, touch or simulated.
    """

    answer: Word
    device: Word


@kind("answer.foretold", durable=True, of_trial=True)
class AnswerForetold(Payload):
    """The forecast of the model's answer is final; the chosen change follows.

    Attributes
    ----------
    answer : the class; empty for the same as before the change.
    sure : whether the participant is sure.
    device : the input: mouse, keyboard, touch or simulated.
    """

    answer: Word
    sure: bool
    device: Word


@dataclass(frozen=True)
class ConceptMoved(Payload):
    """A concept has a new state, and the model answers again.

    Attributes
    ----------
    concept : the concept.
    to : its new state: 0 as the model has it, 1 off, 2 on.
    was : its previous state.
    answer_before : the model's answer before.
    answer_after : its answer now.
    probabilities : the new probabilities of the classes, in the order of the plan.
    device : the input: mouse, keyboard, touch or simulated; plan for a change made by the plan.
    """

    concept: Whole
    to: Whole
    was: Whole
    answer_before: Word
    answer_after: Word
    probabilities: tuple[float, ...]
    device: Word

    def moved_dial(self) -> tuple[int, float]:
        return self.concept, float(self.to)

    def misfit(self, part: Mapping[str, Any]) -> str:
        return _no_concept(part, self.concept)


@kind("concept.set", durable=True, of_trial=True)
class ConceptSet(ConceptMoved):
    """A concept was set, and the model answers again."""


@kind("concept.undone", durable=True, of_trial=True)
class ConceptUndone(ConceptMoved):
    """The last change was undone, and the concept is back in its previous state."""


@kind("repair.ended", durable=True, of_trial=True)
class RepairEnded(Payload):
    """The picture is finished.

    Attributes
    ----------
    how : done, gave_up, or time_expired at the limit of the picture.
    answer : the model's answer at that time.
    """

    how: Word
    answer: Word


@kind("grid.drawn", durable=True, begins=("concept_grid",))
class GridDrawn(Payload):
    """The grid begins. It asks which concepts also change another concept when they are set.

    Attributes
    ----------
    model : id of the model about which it asks.
    """

    model: Word


@kind("grid.shown", durable=True, of_trial=True)
class GridShown(Payload):
    """The grid is on the screen; its time runs from here."""


@kind("grid.ticked", durable=True, of_trial=True)
class GridTicked(Payload):
    """A pair was ticked, or its tick was removed.

    Attributes
    ----------
    concept : the one that is set.
    other : the one that changes with it.
    on : whether it is ticked now.
    device : the input: mouse, keyboard, touch or simulated.
    """

    concept: Whole
    other: Whole
    on: bool
    device: Word

    def misfit(self, part: Mapping[str, Any]) -> str:
        return _no_concept(part, self.concept, self.other)


@kind("grid.nothing", durable=True, of_trial=True)
class GridNothing(Payload):
    """The participant ticked, or unticked, that no concept changes another when it is set.

    Attributes
    ----------
    on : whether this is ticked now.
    device : the input: mouse, keyboard, touch or simulated.
    """

    on: bool
    device: Word


@dataclass(frozen=True, slots=True)
class SetConcept(Command):
    """Set a concept off or on, or back to what the model has; setting it to what the model believes
    already confirms it. Where the change is foretold, it is only chosen.

    concept: from 0; to: 0 as the model has it, 1 off, 2 on.
    """

    concept: int
    to: int
    device: str


@dataclass(frozen=True, slots=True)
class PickAnswer(Command):
    """Say what the model will answer after the chosen change; it can be picked anew until it is
    foretold. answer: id of the class, empty for the same as now."""

    answer: str
    device: str


@dataclass(frozen=True, slots=True)
class Foretell(Command):
    """The picked answer is final, and the change is shown. sure: how sure the participant is."""

    sure: bool
    device: str


@dataclass(frozen=True, slots=True)
class UndoChange(Command):
    """Take the last change back; one after the other, to the picture's beginning."""

    device: str


@dataclass(frozen=True, slots=True)
class RepairDone(Command):
    """The picture is finished."""


@dataclass(frozen=True, slots=True)
class GiveUp(Command):
    """The model cannot be set right with this picture."""


@dataclass(frozen=True, slots=True)
class TickPair(Command):
    """Say, or no longer say, that setting a concept also changes another. row, column: from 0."""

    row: int
    column: int
    device: str


@dataclass(frozen=True, slots=True)
class TickNothing(Command):
    """Say, or no longer say, that no concept changes another when it is set."""

    device: str
