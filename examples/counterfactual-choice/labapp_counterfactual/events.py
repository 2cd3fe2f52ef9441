"""What is written down of the task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labapp.record.events.registry import Index, Number, Payload, Word, kind
from labapp.record.events.trials import no_dial, no_dial_state


@kind("counterfactual.drawn", durable=True, begins=("counterfactual_choice",))
class CounterfactualDrawn(Payload):
    """A question of counterfactual choice was drawn.

    Attributes
    ----------
    dimension : the dial asked about, from 0.
    query : dial state of the first picture.
    candidates : of the pictures to choose from, each with another dial changed.
    changed : which dial that is in each.
    correct : the place of the right one, from 0.
    """

    dimension: Index
    query: tuple[float, ...]
    candidates: tuple[tuple[float, ...], ...]
    changed: tuple[Index, ...]
    correct: Index

    def misfit(self, part: Mapping[str, Any]) -> str:
        states = (no_dial_state(part, z) for z in (self.query, *self.candidates))
        return no_dial(part, self.dimension) or next(filter(None, states), "")


@kind("counterfactual.shown", durable=True, of_trial=True)
class CounterfactualShown(Payload):
    """The question is on the screen; its time runs from here."""


@kind("counterfactual.chosen", durable=True, of_trial=True)
class CandidateChosen(Payload):
    """A candidate was taken, or changed for another.

    Attributes
    ----------
    choice : its place, from 0.
    device : the input (mouse, keyboard, simulated).
    """

    choice: Index
    device: Word


@kind("counterfactual.rated", durable=True, of_trial=True)
class ConfidenceRated(Payload):
    """The participant said, or said anew, how sure they are.

    Attributes
    ----------
    confidence : 1 (not at all) to 5.
    device : the input (mouse, keyboard, simulated).
    """

    confidence: Number
    device: Word


@kind("counterfactual.answered", durable=True, of_trial=True)
class CounterfactualAnswered(Payload):
    """The answer was handed in and the right one told; it is final.

    Attributes
    ----------
    choice : the candidate, from 0.
    correct : whether it was the right one.
    confidence : 1 to 5.
    """

    choice: Index
    correct: bool
    confidence: Number
