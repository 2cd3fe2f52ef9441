"""Whether what a participant answers gets where people look for it: tables, bundle, report.

An answer is a value that a command carries. Somebody who answers otherwise must leave other tables:
so the same session is gone through again with one value changed, and compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

from labapp.analysis.report import report
from labapp.analysis.rows import SessionRecords
from labapp.analysis.tables import tables_of
from labapp.record.events import Source, payload_of
from labapp.record.events.commands import Command
from labapp.study.plugins import registry
from labapp.study.plugins.task_type import TaskType
from labapp.testing.rehearsal import Change, Notes, Rehearsal

HOW = ("device", "_ns")
"""How the fields of commands end that say how and when something was done, which is no answer."""
TRIES = 2
"""Values that are compared for one field of one command, where they lead to the same events."""
MOST_TRIES = 6


class Told:
    """What a session tells: its events, its tables, its report."""

    def __init__(self, session: Rehearsal) -> None:
        self.events = session.events

    @cached_property
    def records(self) -> SessionRecords:
        """The folds. Raises RecordError where something in it is unknown."""
        return SessionRecords.of([(event, payload_of(event)) for event in self.events], "rehearsed")

    @cached_property
    def tables(self) -> str:
        """All cells of all tables but the snapshots."""
        return repr(self.records.rows())

    @cached_property
    def report(self) -> str:
        return report(tables_of([self.records]))


def check_answers(
    task_type: TaskType[Any],
    own: set[type[Command]],
    first: Rehearsal,
    again: Callable[[Change], Rehearsal | None],
    notes: Notes,
) -> None:
    """Compare sessions that differ in one value.

    own: the task's commands; first: a whole session; again: goes through it with a change, None
    where it does not get to its end.
    """
    base = Told(first)
    base.tables, base.report  # noqa: B018 (what neither can be made of ends all here)
    lost, seen = False, []
    for cls in sorted(own, key=lambda cls: cls.__qualname__):
        for field in _answers(cls, first):
            same = False
            for session in _changed(cls, field, first, again):
                told = Told(session)
                if same := told.tables == base.tables:
                    continue
                seen.append(told)
                break
            if same:
                lost = True
                notes.add(
                    f"The tables are the same when {cls.__name__} is sent with another `{field}`: "
                    "the answer is in none. Let the event hold it, and the task's records give it "
                    "to a column."
                )
    if task_type.report and seen and not lost and all(told.report == base.report for told in seen):
        notes.add(
            "The report is the same whatever was answered: show what was answered in the "
            "task's part of it."
        )


def _answers(cls: type[Command], first: Rehearsal) -> list[str]:
    """The fields of a command that are answers, where one was sent in a part with trials. What is
    sent elsewhere has a row in the timeline of the session as it is."""
    sent = any(
        type(command) is cls and registry.part_class(kind).has_trials
        for kind, command, source in first.heard
        if kind and source is Source.SIMULATED
    )
    names = getattr(cls, "__dataclass_fields__", {}) if sent else {}
    return [name for name in names if not name.endswith(HOW)]


def _changed(
    cls: type[Command],
    field: str,
    first: Rehearsal,
    again: Callable[[Change], Rehearsal | None],
) -> Iterator[Rehearsal]:
    """Sessions whose last, or first, command of a class has another value in one field."""
    places = [place for place, command in enumerate(first.sent) if type(command) is cls]
    heard = [getattr(first.sent[place], field) for place in places]
    for place in dict.fromkeys((places[-1], places[0])):
        command: Any = first.sent[place]
        value = getattr(command, field)
        others = [other for other in (*_made(value), *heard) if repr(other) != repr(value)]
        tried = 0
        for other in list({repr(other): other for other in others}.values())[:MOST_TRIES]:
            session = again((place, replace(command, **{field: other})))
            # One that led somewhere else differs in other things, too.
            kinds = [event.kind for event in first.events]
            if session is None or [event.kind for event in session.events] != kinds:
                continue
            yield session
            if (tried := tried + 1) == TRIES:
                break


def _made(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1)
    elif isinstance(value, float):
        yield from (value * 0.9, value + 0.1)
    elif isinstance(value, str):
        yield value + "x"
