"""The parts of a session's plan, and one walk over its events, which hands each to the task that it
belongs to.

Nothing that happened in a part is passed over: an event that the task of its part does not know, or
that belongs to no part, is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from labapp.analysis.task_records import TaskRecords, records_class
from labapp.base.errors import RecordError
from labapp.record.events import Event, Payload
from labapp.record.events.durations import KINDS as PAUSES
from labapp.record.events.durations import Pauses
from labapp.record.events.lifecycle import PartEnded, PartRestarted, PartSkipped, PartStarted
from labapp.record.events.trials import TrialEnded
from labapp.study.instruments import Instrument
from labapp.study.plugins import registry
from labapp.study.plugins.part import PlannedPart, Questionnaire, TrialsPart, stages_of, with_trials
from labapp.study.plugins.task_type import TaskType

SHARED = frozenset({PartStarted.kind, PartRestarted.kind, PartEnded.kind, PartSkipped.kind})
"""Kinds of events that every part has, whoever takes them besides."""
VOCABULARY = "labapp.record.events."
"""Kinds that are defined here and that no task claims are of any part."""


@dataclass(frozen=True)
class Parts:
    """The parts of a plan by their ids, in the plan's order."""

    planned: Mapping[str, PlannedPart]

    @classmethod
    def of(cls, plan: Sequence[Mapping[str, Any]]) -> Parts:
        """From the rows of `session.planned`.

        Raises RecordError for a row that does not fit, SessionError for a kind of part that nobody
        knows.
        """
        return cls({part.id: part for part in map(registry.planned_part, plan)})

    @cached_property
    def with_trials(self) -> Mapping[str, TrialsPart]:
        """The stages and practices of every task."""
        return {part.id: part for part in with_trials(self.planned.values())}

    @cached_property
    def stages(self) -> Mapping[int, Sequence[TrialsPart]]:
        """The blocks of each stage, by its number."""
        return stages_of(self.planned.values())

    @cached_property
    def questionnaires(self) -> Mapping[str, Questionnaire]:
        """What those parts ask that are questionnaires."""
        asked = ((part.id, part.questionnaire()) for part in self.planned.values())
        return {part_id: known for part_id, known in asked if known is not None}

    def asked(self, instruments: Mapping[str, Instrument]) -> list[Instrument]:
        """The plan's questionnaires among these, each once."""
        names = dict.fromkeys(known.instrument for known in self.questionnaires.values())
        return [instruments[name] for name in names if name in instruments]


def walk(
    events: Iterable[tuple[Event, Payload]], parts: Parts
) -> tuple[TaskRecords[Any, Any], ...]:
    """What each task of a plan left in a session, in the order of the task types.

    Raises RecordError for an event that no task of its part knows.
    """
    tasks = []
    for task_type in registry.task_types():
        own = {
            part_id: part
            for part_id, part in parts.with_trials.items()
            if registry.task_type_of(part) is task_type
        }
        if own and (records := records_class(task_type)) is not None:
            tasks.append(records(own))
    follow(events, tasks, parts)
    return tuple(tasks)


def follow(
    events: Iterable[tuple[Event, Payload]], tasks: Sequence[TaskRecords[Any, Any]], parts: Parts
) -> None:
    """Hand every event to the records of its part."""
    claimed = _claimed(registry.task_types())
    told = {kind for known in registry.task_types() for kind in known.told_elsewhere}
    of_session = {kind for task in tasks for kind in task.of_session}
    taking = {part_id: (task, _taken(type(task))) for task in tasks for part_id in task.parts}
    none: tuple[None, frozenset[str]] = (None, frozenset())
    pauses = Pauses()
    last_ns = 0
    for event, payload in events:
        kind = event.kind
        last_ns = event.t_ns
        task, kinds = taking.get(event.part_id, none) if event.part_id is not None else none
        if task is not None and kind in kinds:
            task.take(event, payload, pauses.working_ns(last_ns))
        elif kind in PAUSES:
            pauses = pauses.apply(event)
        elif kind in of_session and event.part_id is None:
            for other in tasks:
                if kind in other.of_session:
                    other.take_of_session(payload)
        elif kind not in SHARED and (
            kind in claimed or not type(payload).__module__.startswith(VOCABULARY)
        ):
            elsewhere = kind in told and not payload.of_trial
            _check(event, parts, claimed.get(kind, frozenset()), elsewhere)
    for task in tasks:
        task.end(pauses.working_ns(last_ns))


@lru_cache(maxsize=64)
def _taken(records: type[TaskRecords[Any, Any]]) -> frozenset[str]:
    return records.kinds | {records.begins, PartRestarted.kind, TrialEnded.kind}


@lru_cache(maxsize=4)
def _claimed(task_types: tuple[TaskType[Any], ...]) -> Mapping[str, frozenset[str]]:
    """By kind of event, the names of the task types that it is of."""
    claimed: dict[str, set[str]] = {}
    for task_type in task_types:
        records = records_class(task_type)
        kinds = set(task_type.told_elsewhere)
        if records is not None:
            kinds |= _taken(records)
        for kind in kinds - SHARED:
            claimed.setdefault(kind, set()).add(task_type.name)
    return {kind: frozenset(names) for kind, names in claimed.items()}


def _check(event: Event, parts: Parts, names: frozenset[str], told: bool) -> None:
    """Raise RecordError unless the event is told of elsewhere, or of the task of its part.

    names: of the task types that such an event is of; told: tables of all tasks tell of it, in
    whatever part it stands.
    """
    part = parts.planned.get(event.part_id or "")
    if part is not None:
        task = registry.task_type_of(part).name
        if told or task in names:
            return
        where = f"in the part {event.part_id!r}, whose task {task!r} knows no such events"
    elif event.part_id is not None:
        where = f"in the part {event.part_id!r}, which the plan does not have"
    else:
        where = "in no part"
    raise RecordError(
        f"Event {event.seq} of this session ({event.kind}) was recorded {where}: it would be in no "
        "table.",
        safe="The session is untouched; nothing was left out without a word.",
        todo="Install the version of labapp, or of the package that brings the task, with which "
        "the session was recorded.",
    )
