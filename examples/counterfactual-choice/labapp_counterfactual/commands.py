"""What the screen of the task can ask for, besides going on."""

from __future__ import annotations

from dataclasses import dataclass

from labapp.record.events.commands import Command


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
