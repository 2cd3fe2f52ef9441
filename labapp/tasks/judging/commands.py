"""Commands of the tasks that judge explanations."""

from __future__ import annotations

from dataclasses import dataclass

from labapp.events.commands import Command


@dataclass(frozen=True, slots=True)
class Judge(Command):
    """Answer a question about a photo, see `labapp.tasks.judging.plan`."""

    question: str
    value: int
    device: str


@dataclass(frozen=True, slots=True)
class OpenSpecies(Command):
    """Look at the rows of another class; option: its place among the options, from 1."""

    option: int


@dataclass(frozen=True, slots=True)
class OpenDescription(Command):
    """Open the description of the method, or the whole tree. what: method or tree."""

    what: str


@dataclass(frozen=True, slots=True)
class CloseDescription(Command):
    what: str
