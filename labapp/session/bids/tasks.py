"""The tasks whose trials a session recorded, and their files; the registry knows what these are.

The events.tsv of a task has one row for each stage, question, movement and picture, on one
timeline.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from labapp.analysis.column import Column as AnalysisColumn
from labapp.analysis.columns import brought_tables, table_columns
from labapp.analysis.declared import SessionFactors, is_of_design, with_declared, within_columns
from labapp.analysis.task_records import records_class
from labapp.base.errors import BundleError, SessionError
from labapp.record.events import Event, Payload
from labapp.record.events.durations import Pauses
from labapp.record.events.lifecycle import PartEnded, PartRestarted, PartStarted
from labapp.record.events.trials import TrialEnded
from labapp.record.journal.record import Record
from labapp.session.bids.folder import Table
from labapp.study.plugins import registry
from labapp.study.plugins.bids import STAGE, TRIAL, Cells, Column, Key, TaskFiles, TaskRows, seconds

_ELSEWHERE = frozenset({"study", "participant", "session", "included"})
"""Columns that the file's place and name, or sessions.tsv, say already."""


def tasks_of(record: Record) -> list[TaskFiles]:
    """The files of the tasks of a session's plan.

    Raises
    ------
    BundleError : trials were recorded of a part that no task type has files for.
    """
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
    return [files for files in registry.task_files() if files.plan(record)]


@lru_cache(maxsize=64)
def trial_columns(files: TaskFiles, declared: tuple[str, ...] = ()) -> tuple[Column, ...]:
    """The columns of a task's _beh.tsv. declared: what the studies declare, for their factors."""
    table = with_declared(table_columns(), declared)[files.table]
    if files.trial_columns is None:
        without = {*_ELSEWHERE, *files.left_out, *_of_others(files)}
        chosen = [column for column in table if column.name not in without]
    else:
        by_name = {column.name: column for column in table}
        chosen = [column for column in table if is_of_design(column)]
        chosen += (by_name[name] for name in files.trial_columns)
    return (*map(described_column, chosen), *files.more_columns)


def _of_others(files: TaskFiles) -> set[str]:
    """The columns that other tasks add to the table of a task's trials."""
    brought = {
        tables: {column.name for column in tables.columns(files.table)}
        for tables in brought_tables()
    }
    records = records_class(registry.task_type_of_kind(files.parts[0]))
    own = set() if records is None else brought.pop(records.tables, set())
    return set().union(*brought.values()) - own


def described_column(column: AnalysisColumn) -> Column:
    """A column of the analysis as a sidecar describes it."""
    meaning = column.meaning[:1].upper() + column.meaning[1:]
    if column.kind == "numbers":
        # Units would make BIDS expect a single number in the cell.
        unit = f", in {column.unit}" if column.unit else ""
        return Column(column.name, f"{meaning}{unit}: a JSON array, one number a dimension.")
    return Column(column.name, f"{meaning}.", column.unit)


COMMON = (
    Column("onset", "Session time at which it happened or began.", "s", format="number"),
    Column(
        "duration",
        "How long it lasted in session time, pauses and gaps included; 0 for moments, n/a where no "
        "end was recorded.",
        "s",
        format="number",
    ),
)
WORKING = Column(
    "working_duration", "The duration without pauses, breaks and the gaps after crashes.", "s"
)
SEQ = Column("seq", "Number of the row in the session's journal (sourcedata) that begins it.")
RESTARTED = "restarted"
"""Outcome of a stage that was interrupted and began again: the next row of its id goes on."""


def event_columns(files: TaskFiles, declared: tuple[str, ...] = ()) -> tuple[Column, ...]:
    """The columns of a task's _events.tsv. declared: what the studies declare, for their
    factors."""
    return (
        *COMMON,
        Column("trial_type", "What happened.", levels=files.types),
        Column("stage", "Id of the plan's part."),
        Column("model", "Id of the representation."),
        *map(described_column, within_columns(declared)),
        Column("trial", "Number of the question in its stage, from 1."),
        Column("attempt", "Attempt at the question, from 1."),
        WORKING,
        Column(
            "outcome",
            "How the stage or question ended, restarted for a stage that was interrupted and began "
            "again; n/a where no end was recorded.",
        ),
        *files.event_columns,
        SEQ,
    )


class OpenRow:
    """A row whose end has not come yet: its cells, and when it began in session and working time
    (ns)."""

    def __init__(self, cells: Cells, t_ns: int, working_ns: int) -> None:
        self.cells, self.t_ns, self.working_ns = cells, t_ns, working_ns

    def close(self, t_ns: int, working_ns: int, outcome: str | None) -> None:
        self.cells["duration"] = seconds(t_ns - self.t_ns)
        self.cells["working_duration"] = seconds(working_ns - self.working_ns)
        self.cells["outcome"] = outcome


def task_timeline(
    events: Iterable[tuple[Event, Payload]], task: TaskRows, factors: SessionFactors | None = None
) -> Table:
    """The rows of the stages of one task.

    events: of the whole session, with their payloads (pauses are needed too); factors: of its
    study's design.
    """
    files = task.files
    models = {stage: part.model for stage, part in task.plan.items()}
    pauses = Pauses()
    rows: list[Cells] = []
    stages: dict[str, OpenRow] = {}
    trials: dict[Key, OpenRow] = {}
    for event, payload in events:
        pauses = pauses.apply(event)
        stage = event.part_id
        if stage is None or stage not in models:
            continue
        task.noted(event, payload)
        working = pauses.working_ns(event.t_ns)
        key = (stage, event.trial, event.attempt)
        cells: Cells = {
            "onset": seconds(event.t_ns),
            "duration": "0",
            "stage": stage,
            "model": models[stage],
            **(factors.within(stage) if factors is not None else {}),
            "trial": event.trial,
            "attempt": event.attempt,
            "seq": event.seq,
        }
        match payload:
            case PartStarted() | PartRestarted():
                if stage in stages:
                    stages[stage].close(event.t_ns, working, RESTARTED)
                rows.append(cells | {"trial_type": STAGE, "duration": None})
                stages[stage] = OpenRow(rows[-1], event.t_ns, working)
            case PartEnded() if stage in stages:
                stages[stage].close(event.t_ns, working, payload.outcome)
            case TrialEnded() if key in trials:
                trials[key].close(event.t_ns, working, payload.outcome)
            case _ if event.kind == files.shown:
                shown_ns = task.shown_ns(event, payload)
                lasts = {"trial_type": TRIAL, "onset": seconds(shown_ns), "duration": None}
                rows.append(cells | lasts | task.shown(event, payload))
                trials[key] = OpenRow(rows[-1], shown_ns, pauses.working_ns(shown_ns))
            case _ if event.kind in files.kinds:
                row = {"trial_type": files.kinds[event.kind]}
                rows.append(cells | row | task.moment(event, payload))
                if key in trials and (answer := task.answer(event, payload, trials[key].t_ns)):
                    trial = trials.pop(key)
                    trial.cells |= answer.cells
                    trial.close(answer.t_ns, pauses.working_ns(answer.t_ns), answer.outcome)
    declared = () if factors is None else (factors.declared,)
    return Table(event_columns(files, declared), rows)
