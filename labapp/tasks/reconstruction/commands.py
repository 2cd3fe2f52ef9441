"""Commands of interactive reconstruction and its tutorial."""

from __future__ import annotations

from dataclasses import dataclass

from labapp.events.commands import Command


@dataclass(frozen=True, slots=True)
class Presented(Command):
    """The runner decoded both pictures of a new question and the screen shows them."""

    alignment: float
    error_sum: float
    error_mean: float


@dataclass(frozen=True, slots=True)
class MoveDial(Command):
    """Set a dial to a value (or a discrete dial to an index)."""

    dimension: int
    value: float
    device: str


@dataclass(frozen=True, slots=True)
class SelectDial(Command):
    """Take hold of a dial without moving it."""

    dimension: int
    device: str


@dataclass(frozen=True, slots=True)
class Decoded(Command):
    """The runner decoded dial state z_seq, whose values were z."""

    z_seq: int
    z: tuple[float, ...]
    alignment: float
    error_sum: float
    error_mean: float


@dataclass(frozen=True, slots=True)
class ToggleOverlay(Command):
    on: bool


@dataclass(frozen=True, slots=True)
class EditLabel(Command):
    dimension: int
    text: str


@dataclass(frozen=True, slots=True)
class MarkAlignment(Command):
    """The participant of a calibration says how near the pictures are: mark is far or close."""

    mark: str


@dataclass(frozen=True, slots=True)
class MoveTutorialDial(Command):
    box: int
    dimension: int
    value: float
