"""Commands of the unmasking task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from labapp.events.commands import Command


@dataclass(frozen=True, slots=True)
class StimulusPainted(Command):
    """The screen shows the stimulus; see `labapp.tasks.unmasking.events.StimulusShown`."""

    painted_ns: int
    shown_by: str
    refresh_ms: float | None
    side_px: int | None = None
    too_small: bool | None = None


@dataclass(frozen=True, slots=True)
class StimulusHidden(Command):
    """The stimulus left the screen before there was a response: the participant asks to leave, or
    another window lies over it."""

    while_leaving: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Respond(Command):
    """Say what the stimulus shows; see `labapp.tasks.unmasking.events.ResponseGiven`."""

    response: int
    device: str
    input_ns: int
    timed_by: str
