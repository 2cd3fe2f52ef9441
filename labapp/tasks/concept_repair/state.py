"""The state of a stage of concept repair, and of the grid behind it. All times are working time
(without pauses), in ns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from labapp.study.plugins import questions

Phase = Literal["setting", "foretelling", "over"]

DONE, GAVE_UP, TIME_EXPIRED = "done", "gave_up", "time_expired"
"""How a picture ends, beside those of any trial that is skipped."""
SAME = ""
"""What is foretold where the model is to answer as before."""


class Change(NamedTuple):
    """A concept, from 0, and what it is set to: 0 as the model has it, 1 off, 2 on."""

    concept: int
    to: int


class Step(NamedTuple):
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
    history: tuple[Step, ...] = ()
    pending: Change | None = None
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
