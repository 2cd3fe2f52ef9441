"""The plan of one session: the study's flow with every choice made and every setting spelled out.

The plan is the payload of the session's first event; a resumed session and every analysis read it
from there, never from the study file again. `labapp.study.planner` makes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from labapp.record.events.lifecycle import SessionPlanned
from labapp.study.plugins import registry
from labapp.study.plugins.part import PlannedPart


@dataclass(frozen=True)
class Plan:
    """Who does what in which order. assignment: the choices made, for people and tables."""

    participant: str
    session: str
    seed: int
    assignment: dict[str, Any]
    parts: tuple[PlannedPart, ...]


def models_of(parts: Sequence[PlannedPart]) -> tuple[str, ...]:
    """Ids of the models a plan needs, in order of first use."""
    return tuple(dict.fromkeys(model for part in parts for model in part.models()))


def to_rows(parts: Sequence[PlannedPart]) -> tuple[dict[str, Any], ...]:
    """Parts as plain values for the first event."""
    return tuple(part.model_dump(mode="json") for part in parts)


def parts_of(planned: SessionPlanned) -> tuple[PlannedPart, ...]:
    """The parts back from the first event. Raises SessionError for a kind of part that nobody
    knows, RecordError where a row does not fit."""
    return tuple(map(registry.planned_part, planned.plan))


def pictures_of(parts: Iterable[PlannedPart]) -> tuple[str, ...]:
    """Every picture that the parts of a plan show, each once, in the order they come."""
    return tuple(dict.fromkeys(name for part in parts for name in part.stored_pictures()))
