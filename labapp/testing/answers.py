"""Whether what a participant answers gets where people look for it: tables, bundle, report.

An answer is a value that a command carries. Somebody who answers otherwise must leave other tables:
so the same session is gone through again with one value changed, and compared.

What leaves the lab of a session with a task: all columns are described, the bundle is whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from labapp.analysis.analyze import report
from labapp.analysis.rows import SessionRecords
from labapp.analysis.tables import tables_of
from labapp.analysis.task_records import records_class
from labapp.base import discovery
from labapp.record.events import Event, Payload, Source, payload_of
from labapp.record.events import registry as kinds
from labapp.record.events.commands import Command
from labapp.record.events.registry import kept_fields, personal_fields
from labapp.session.bids.export import export
from labapp.session.bids.tasks import event_columns
from labapp.session.bids.verify import verify
from labapp.study.plugins import registry
from labapp.study.plugins.bids import TaskFiles
from labapp.study.plugins.registry import TaskType
from labapp.testing.rehearsal import Change, Notes, Rehearsal, columns_of

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
        """The folds. Raises RecordError if something in it is unknown."""
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
    if it does not get to its end.
    """
    base = Told(first)
    base.tables, base.report  # noqa: B018 (what neither can be made of ends all here)
    lost, seen = False, []
    for cls in sorted(own, key=lambda cls: cls.__qualname__):
        for field in _answers(cls, first):
            same = False
            for session in _replay_changed(cls, field, first, again):
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


def _replay_changed(
    cls: type[Command], field: str, first: Rehearsal, again: Callable[[Change], Rehearsal | None]
) -> Iterator[Rehearsal]:
    """Sessions whose last, or first, command of a class has another value in one field."""
    places = [place for place, command in enumerate(first.sent) if type(command) is cls]
    heard = [getattr(first.sent[place], field) for place in places]
    for place in dict.fromkeys((places[-1], places[0])):
        command: Any = first.sent[place]
        value = getattr(command, field)
        others = [other for other in (*_make_variants(value), *heard) if repr(other) != repr(value)]
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


def _make_variants(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1)
    elif isinstance(value, float):
        yield from (value * 0.9, value + 0.1)
    elif isinstance(value, str):
        yield value + "x"


def check_columns(task_type: TaskType[Any], notes: Notes) -> None:
    """Note the columns of its tables and of its files in a bundle that are not described, and those
    that a file has twice."""
    for where in task_type.bids:
        files: TaskFiles = discovery.load(where)
        counts = Counter(column.name for column in event_columns(files))
        for name in (name for name, count in counts.items() if count > 1):
            notes.add(
                f"task-{files.label} in the bundle has the column {name!r} twice: leave it out "
                "of `event_columns`, or give it a name that is not used in any timeline."
            )
    for table, name, words in _columns(task_type):
        if not words.strip():
            notes.add(
                f"The column {name!r} of {table} is not described: say what it holds; the codebook "
                "and the table of columns show it."
            )


def _columns(task_type: TaskType[Any]) -> Iterator[tuple[str, str, str]]:
    """Table, name and description of each column that a task brings."""
    records = records_class(task_type)
    if records is not None:
        for table, column in columns_of(records.tables):
            yield f"the table {table!r}", column.name, column.meaning
    for where in task_type.bids:
        files: TaskFiles = discovery.load(where)
        for described in (*files.event_columns, *files.more_columns):
            yield f"task-{files.label} in the bundle", described.name, described.description


def check_texts(
    task_type: TaskType[Any],
    own: Mapping[str, type[Payload]],
    events: Sequence[Event],
    notes: Notes,
) -> None:
    """Note the texts of its events of which nothing says whether a de-identified copy keeps them.
    What is not declared is withheld, so a text that is forgotten loses what the program or the
    study says.
    own: the task's kinds of events; events: of a whole session."""
    apart = discovery.load(task_type.kept_text) if task_type.kept_text else {}
    for kind, fields in apart.items():
        body = kinds.find_kind(kind)
        known = () if body is None else body.__struct_fields__
        for name in fields:
            if body is None or name not in known or name in personal_fields(body):
                why = "it is private" if name in known else "there is no such field"
                notes.add(
                    f"`kept_text` names the field {name!r} of {kind!r}, and {why}: leave it out, "
                    "or name the field whose text a de-identified copy keeps."
                )
    for kind, body in own.items():
        payloads = [event.payload for event in events if event.kind == kind]
        hints = get_type_hints(body)
        declared = {*apart.get(kind, ()), *kept_fields(body), *personal_fields(body)}
        for name in body.__struct_fields__:
            if name in declared:
                continue
            if _is_text(hints[name]) or any(_has_text(payload.get(name)) for payload in payloads):
                notes.add(
                    f"The text in the field {name!r} of {kind!r} is lost in a de-identified copy: "
                    "annotate it with `Word` if the program or the study says it, with `Written` "
                    "if a person wrote it, or with `Identifying` if it leads to a person "
                    "(`labapp.record.events.registry`)."
                )


def _is_text(hint: Any) -> bool:
    """Whether a field of a type holds text; the keys of a mapping are names and always stay."""
    if isinstance(hint, type) and issubclass(hint, str):
        return True
    arguments = get_args(hint)
    if get_origin(hint) is Literal:
        return any(isinstance(value, str) for value in arguments)
    mapping = isinstance(get_origin(hint), type) and issubclass(get_origin(hint), Mapping)
    return any(_is_text(argument) for argument in (arguments[1:] if mapping else arguments))


def _has_text(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value)
    inside = value.values() if isinstance(value, Mapping) else value
    return isinstance(value, Mapping | list | tuple) and any(_has_text(item) for item in inside)


def check_leaving(session: Path, scratch: Path, notes: Notes) -> None:
    """Note what is wrong with the bundle of a whole session.

    Raises
    ------
    LabappError : it cannot be made; it says why.
    """
    bundle = export([session], scratch / "bundle")
    for problem in verify(bundle).problems:
        notes.add(f"The bundle of a session with the task is not whole: {problem}")
