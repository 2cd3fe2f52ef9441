"""Commands of concept repair."""

from __future__ import annotations

from dataclasses import dataclass

from labapp.events.commands import Command


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
