"""Commands of the single-dimension task."""

from __future__ import annotations

from dataclasses import dataclass

from labapp.events.commands import Command


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
