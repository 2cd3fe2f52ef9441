"""What is written down of the task, and what its screen can ask for."""

from __future__ import annotations

from dataclasses import dataclass

from labapp.events.commands import Command
from labapp.events.registry import Body, kind


@kind("counterfactual.drawn", durable=True)
class CounterfactualDrawn(Body):
    """A question of counterfactual choice was drawn. dimension: the dial asked about, from 0.
    query: dial state of the first picture; candidates: of those to choose from, each with another
    dial changed; changed: which dial that is in each; correct: the place of the right one, from
    0."""

    dimension: int
    query: tuple[float, ...]
    candidates: tuple[tuple[float, ...], ...]
    changed: tuple[int, ...]
    correct: int


@kind("counterfactual.shown", durable=True)
class CounterfactualShown(Body):
    """The question is on the screen; its time runs from here."""


@kind("counterfactual.chosen", durable=True)
class CandidateChosen(Body):
    """A candidate was taken, or changed for another. choice: its place, from 0; device: the input
    (mouse, keyboard, simulated)."""

    choice: int
    device: str


@kind("counterfactual.rated", durable=True)
class ConfidenceRated(Body):
    """The participant said, or said anew, how sure they are. confidence: 1 (not at all) to 5."""

    confidence: int
    device: str


@kind("counterfactual.answered", durable=True)
class CounterfactualAnswered(Body):
    """The answer was handed in and the right one told; it is final. choice: the candidate, from 0;
    correct: whether it was the right one; confidence: 1 to 5."""

    choice: int
    correct: bool
    confidence: int


@dataclass(frozen=True, slots=True)
class ShowCandidates(Command):
    """The pictures of a question are there, and the screen shows them."""


@dataclass(frozen=True, slots=True)
class ChooseCandidate(Command):
    """Take a candidate. choice: its place, from 0."""

    choice: int
    device: str


@dataclass(frozen=True, slots=True)
class RateConfidence(Command):
    """Say how sure one is, from 1 to 5."""

    confidence: int
    device: str


@dataclass(frozen=True, slots=True)
class HandInChoice(Command):
    """Hand the answer in; the right one is told."""
