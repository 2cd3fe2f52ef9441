"""The tasks whose trials a session recorded, and their files; the registry knows what these are."""

from __future__ import annotations

from functools import lru_cache

from labapp.analysis.column import Column as AnalysisColumn
from labapp.analysis.columns import table_columns
from labapp.analysis.declared import is_of_design, with_declared
from labapp.errors import BundleError, SessionError
from labapp.journal.record import Record
from labapp.plugins import registry
from labapp.plugins.bids import Column, TaskFiles

_ELSEWHERE = frozenset({"study", "participant", "session", "included"})
"""Columns that the file's place and name, or sessions.tsv, say already."""


def tasks_of(record: Record) -> list[TaskFiles]:
    """The files of the tasks of a session's plan.

    Raises
    ------
    BundleError : trials were recorded of a part that no task type has files for.
    """
    _refuse_unknown(record)
    return [files for files in registry.task_files() if files.plan(record)]


def _refuse_unknown(record: Record) -> None:
    """What a task recorded is in its tables; a session is not exported without them."""
    known = {part for files in registry.task_files() for part in files.parts}
    tried = {row.part_id for row in record.rows if row.trial is not None}
    for row in record.planned.plan:
        part = row["part"]
        if row["id"] not in tried or part in known:
            continue
        try:
            name = registry.task_type_of_kind(part).name
        except SessionError as error:
            raise BundleError(error.what, safe=error.safe, todo=error.todo) from error
        raise BundleError(
            f"The task type {name!r} does not say which BIDS files its parts of the kind {part!r} "
            f"have, and {record.name} recorded trials of {row['id']!r}.",
            safe="No bundle was made; the session is untouched.",
            todo="Use a version of the package that brings the task type with its `bids` files, or "
            "ask its authors for one.",
        )


@lru_cache(maxsize=64)
def trial_columns(files: TaskFiles, declared: tuple[str, ...] = ()) -> tuple[Column, ...]:
    """The columns of a task's _beh.tsv. declared: what the studies declare, for their factors."""
    table = with_declared(table_columns(), declared)[files.table]
    if files.trial_columns is None:
        chosen = tuple(column for column in table if column.name not in _ELSEWHERE)
    else:
        by_name = {column.name: column for column in table}
        factors = (column for column in table if is_of_design(column))
        chosen = (*factors, *(by_name[name] for name in files.trial_columns))
    return (*map(described_column, chosen), *files.more_columns)


def described_column(column: AnalysisColumn) -> Column:
    """A column of the analysis as a sidecar describes it."""
    meaning = column.meaning[:1].upper() + column.meaning[1:]
    if column.kind == "numbers":
        # Units would make BIDS expect a single number in the cell.
        unit = f", in {column.unit}" if column.unit else ""
        return Column(column.name, f"{meaning}{unit}: a JSON array, one number a dimension.")
    return Column(column.name, f"{meaning}.", column.unit)
