"""What leaves the lab of a session with a task: all columns are described, the bundle is whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from labapp.analysis.task_records import records_class
from labapp.base import discovery
from labapp.record.events import Event, Payload
from labapp.record.events import registry as kinds
from labapp.record.events.types import kept, written
from labapp.session.bids.export import export
from labapp.session.bids.tasks import event_columns
from labapp.session.bids.verify import verify
from labapp.study.plugins.bids import TaskFiles
from labapp.study.plugins.task_type import TaskType
from labapp.testing.rehearsal import Notes, columns_of


def check_columns(task_type: TaskType[Any], notes: Notes) -> None:
    """Note the columns of its tables and of its files in a bundle that are not described, and those
    that a file has twice."""
    for where in task_type.bids:
        files: TaskFiles = discovery.load(where)
        counts = Counter(column.name for column in event_columns(files))
        for name in (name for name, count in counts.items() if count > 1):
            notes.add(
                f"task-{files.label} in the bundle has the column {name!r} twice: leave it out of "
                "`event_columns`, or give it a name that no timeline has."
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
    What is not said is withheld: so whoever forgets it loses what the program or the study says.
    own: the task's kinds of events; events: of a whole session."""
    apart = discovery.load(task_type.kept_text) if task_type.kept_text else {}
    for kind, fields in apart.items():
        body = kinds.known(kind)
        known = () if body is None else body.__struct_fields__
        for name in fields:
            if body is None or name not in known or name in written(body):
                why = "a person wrote it" if name in known else "there is no such field"
                notes.add(
                    f"`kept_text` names the field {name!r} of {kind!r}, and {why}: leave it out, "
                    "or name the field whose text a de-identified copy keeps."
                )
    for kind, body in own.items():
        payloads = [event.payload for event in events if event.kind == kind]
        hints = get_type_hints(body)
        declared = {*apart.get(kind, ()), *kept(body), *written(body)}
        for name in body.__struct_fields__:
            if name in declared:
                continue
            if _is_text(hints[name]) or any(_has_text(payload.get(name)) for payload in payloads):
                notes.add(
                    f"The text in the field {name!r} of {kind!r} is lost in a de-identified copy: "
                    "annotate it with `Word` if the program or the study says it, or with "
                    "`Written` if a person wrote it (`labapp.record.events.types`)."
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
