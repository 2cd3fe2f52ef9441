"""Events and commands of the single-dimension task (paper 000, 4.5). Positions hold one number
per dimension: a continuous dimension's value, a discrete dimension's index. Its questions end with
`trial.ended`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labapp.record.events.commands import Command
from labapp.record.events.registry import Index, Payload, Whole, Word, kind
from labapp.record.events.trials import no_dial, no_dial_state


@kind("question.drawn", durable=True, begins=("single_dimension",))
class QuestionDrawn(Payload):
    """A question was drawn.

    Attributes
    ----------
    dimension : the number of the slider about which it asks, from 0.
    regime : low, medium or high; empty for a discrete dimension.
    value : the value of the dimension in the picture.
    z : the slider positions of the picture, one number per slider.
    correct : the right choice, from 0.
    bounds : the values between which low, medium and high are drawn; empty for a discrete
        dimension.
    examples : slider positions of the pictures next to it, in rows.
    """

    dimension: Index
    regime: Word
    value: float
    z: tuple[float, ...]
    correct: Index
    bounds: tuple[tuple[float, float], ...]
    examples: tuple[tuple[tuple[float, ...], ...], ...]

    def misfit(self, part: Mapping[str, Any]) -> str:
        return no_dial(part, self.dimension) or no_dial_state(part, self.z)


@kind("question.shown", durable=True, of_trial=True)
class QuestionShown(Payload):
    """The question is on the screen; its time runs from here."""


@kind("examples.redrawn", durable=True, of_trial=True)
class ExamplesRedrawn(Payload):
    """The participant asked for other examples.

    Attributes
    ----------
    number : the number of the request in the question, from 1.
    examples : slider positions of the pictures, in rows.
    """

    number: Whole
    examples: tuple[tuple[tuple[float, ...], ...], ...]


@kind("choice.made", durable=True, of_trial=True)
class ChoiceMade(Payload):
    """A choice was made or changed.

    Attributes
    ----------
    choice : the number of the choice, from 0.
    device : the input: mouse, keyboard, touch or simulated.
    """

    choice: Index
    device: Word


@kind("rating.made", durable=True, of_trial=True)
class RatingMade(Payload):
    """A rating was given or changed.

    Attributes
    ----------
    item : confidence or understanding.
    value : from 1 to 5.
    device : the input: mouse, keyboard, touch or simulated.
    """

    item: Word
    value: Whole
    device: Word


@kind("answer.given", durable=True, of_trial=True)
class AnswerGiven(Payload):
    """The participant submitted the choice and the ratings, which are now final, and the right
    choice was shown.

    Attributes
    ----------
    choice : the number of the choice, from 0.
    correct : whether it is the right one.
    confidence : "I'm confident I'm right", 1 to 5.
    understanding : "The dial makes sense", 1 to 5.
    """

    choice: Index
    correct: bool
    confidence: Whole
    understanding: Whole


@dataclass(frozen=True, slots=True)
class Choose(Command):
    """Take a choice of a single-dimension question, from 0."""

    choice: int
    device: str


@dataclass(frozen=True, slots=True)
class Rate(Command):
    """Rate the answer to a single-dimension question: item confidence or understanding, 1 to 5."""

    item: str
    value: int
    device: str


@dataclass(frozen=True, slots=True)
class ShowMoreExamples(Command):
    """Draw the examples of a single-dimension question anew."""
