"""What kinds of tasks about dials have in common.

The plan's row of a part that asks about dials has a list of them, `dimensions`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from labapp.record.events.registry import Payload
from labapp.record.events.types import Index


class Comparison(Payload):
    """Base of the kinds that say how near the picture of a trial is to its target.

    Attributes
    ----------
    alignment : of picture and target, 0-1, 1 where they are alike.
    """

    alignment: float


class TargetShown(Comparison):
    """Base of the kinds with which a trial that has a target comes onto the screen.

    Attributes
    ----------
    aligned_at_start : what the participant begins with and the target agree already.
    """

    aligned_at_start: bool


class DialTurned(Payload):
    """Base of the kinds with which a hand has brought a dial of a picture to a new value.

    Attributes
    ----------
    dimension : which dial, from 0.
    value : where it stands now.
    """

    dimension: Index
    value: float


def no_dial(part: Mapping[str, Any], dimension: int) -> str:
    """Why a part has no dial of a number, from 0; empty where it has."""
    count = len(part.get("dimensions", ()))
    return "" if 0 <= dimension < count else f"{part['id']!r} has {count} dials, none {dimension}"


def no_dial_state(part: Mapping[str, Any], z: Sequence[float]) -> str:
    """Why a part has no such dial state; empty where it can. z: one number a dial."""
    count = len(part.get("dimensions", ()))
    return "" if len(z) == count else f"it has {len(z)} dials, and {part['id']!r} has {count}"
