"""What leaves the lab of a session with a task: all columns are described, the bundle is whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labapp import discovery
from labapp.analysis.task_records import records_class
from labapp.bids.export import export
from labapp.bids.verify import verify
from labapp.plugins.bids import TaskFiles
from labapp.plugins.task_type import TaskType
from labapp.testing.watching import Notes


def check_columns(task_type: TaskType[Any], notes: Notes) -> None:
    """Note the columns of its tables and of its files in a bundle that are not described."""
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
        for table, columns in records.tables.own.items():
            yield from ((f"the table {table!r}", each.name, each.meaning) for each in columns)
        for table, places in records.tables.added.items():
            for columns in places.values():
                yield from ((f"the table {table!r}", each.name, each.meaning) for each in columns)
    for where in task_type.bids:
        files: TaskFiles = discovery.load(where)
        for described in (*files.event_columns, *files.more_columns):
            yield f"task-{files.label} in the bundle", described.name, described.description


def check_leaving(session: Path, scratch: Path, notes: Notes) -> None:
    """Note what is wrong with the bundle of a whole session.

    Raises
    ------
    LabappError : it cannot be made; it says why.
    """
    bundle = export([session], scratch / "bundle")
    for problem in verify(bundle).problems:
        notes.add(f"The bundle of a session with the task is not whole: {problem}")
