"""The tasks whose trials a session recorded, and their files; the registry knows what these are.

The events.tsv of a task has one row for each stage, question, movement and picture, on one
timeline.

participants.tsv, and the sessions.tsv of each participant with the quality of the recordings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from labapp.analysis.column import Column as AnalysisColumn
from labapp.analysis.columns import list_task_tables, table_columns
from labapp.analysis.declared import (
    DECLARED,
    SessionFactors,
    between_columns,
    is_of_design,
    own_rules,
    with_declared,
    within_columns,
)
from labapp.analysis.inclusion import (
    RULES,
    SESSIONS,
    InclusionStatus,
    conditions,
    fold_inclusion_status,
    inclusion_kinds,
)
from labapp.analysis.participation import people_of
from labapp.analysis.rows import SessionRecords
from labapp.analysis.task_records import records_class
from labapp.base.errors import BundleError, SessionError
from labapp.base.naming import natural
from labapp.record.events import Event, Payload
from labapp.record.events.lifecycle import PartEnded, PartRestarted, PartStarted
from labapp.record.events.registry import Pauses
from labapp.record.events.trials import TrialEnded
from labapp.record.journal.read import payloads
from labapp.record.journal.record import Record
from labapp.session.bids.folder import Table
from labapp.study.plugins import registry
from labapp.study.plugins.bids import STAGE, TRIAL, Cells, Column, Key, TaskFiles, TaskRows, seconds

_ELSEWHERE = frozenset({"study", "participant", "session", "included"})
"""Columns that the file's place and name, or sessions.tsv, say already."""


def tasks_of(record: Record) -> list[TaskFiles]:
    """The files of the tasks of a session's plan. Raises BundleError: trials were recorded of a
    part that no task type has files for."""
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
            f"The task type {name!r} does not define the BIDS files for its parts of the kind "
            f"{part!r}, but {record.name} recorded trials of {row['id']!r}.",
            safe="No bundle was made, and the session is untouched.",
            todo="Use a version of its package in which the task type has its `bids` files, or "
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
    return (*map(describe_column, chosen), *files.more_columns)


def _of_others(files: TaskFiles) -> set[str]:
    """The columns that other tasks add to the table of a task's trials."""
    brought = {
        tables: {column.name for column in tables.columns(files.table)}
        for tables in list_task_tables()
    }
    records = records_class(registry.task_type_of_kind(files.parts[0]))
    own = set() if records is None else brought.pop(records.tables, set())
    return set().union(*brought.values()) - own


def describe_column(column: AnalysisColumn) -> Column:
    """A column of the analysis as a sidecar describes it."""
    meaning = column.meaning[:1].upper() + column.meaning[1:]
    if column.kind == "numbers":
        # Units would make BIDS expect a single number in the cell.
        unit = f", in {column.unit}" if column.unit else ""
        return Column(column.name, f"{meaning}{unit}: a JSON array with one number per dimension.")
    return Column(column.name, f"{meaning}.", column.unit)


COMMON = (
    Column("onset", "Session time at which it happened or began.", "s", format="number"),
    Column(
        "duration",
        "Its duration in session time, including pauses and gaps; 0 for moments, n/a if no end "
        "was recorded.",
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
        *map(describe_column, within_columns(declared)),
        Column("trial", "Number of the question in its stage, from 1."),
        Column("attempt", "Attempt at the question, from 1."),
        WORKING,
        Column(
            "outcome",
            "How the stage or question ended; `restarted` for a stage that was interrupted and "
            "began again; n/a if no end was recorded.",
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


STATES = {
    "complete": "Every part of the plan was completed.",
    "ended_early": "Ended before the plan was complete; what was recorded is kept.",
    "interrupted": "Not properly ended: the program stopped and the session was not resumed.",
}
_RULES = "; ".join(f"{rule}: {meaning}" for rule, meaning in RULES.items()) + "."
ACHIEVED = ("solved", "correct", "photos", "stimuli")
"""Columns of what was achieved, which tasks describe."""
CONDITIONS = Column("conditions", "The study's variables: the assigned cells in their order.")
PARTICIPANTS = (
    Column("participant_id", "The participant; a pseudonym of the study."),
    Column("study", "Id of the study."),
    Column("sessions", "Number of sessions in this bundle."),
    Column(
        "complete",
        "Whether every session in this bundle is complete.",
        levels={"true": "All are complete.", "false": "At least one is not; see sessions.tsv."},
    ),
    Column(
        "included",
        "Whether the participant counts, by the study's rules and all sessions in this bundle.",
        levels={"true": "Counts.", "false": "Does not; see sessions.tsv."},
    ),
    Column("excluded_because", f"Rules that were not met. {_RULES}"),
    CONDITIONS,
)
_SESSIONS = (
    Column("session_id", "The session."),
    Column("acq_time", "When it began (UTC).", format="datetime"),
    Column("state", "How it ended.", levels=STATES),
    Column("reason", "Why it was ended early."),
    Column(
        "included",
        "Whether it counts, as decided at the end of the session by the study's rules; without "
        "that decision (no end, or recorded by an older version of labapp), whether it was "
        "completed. People who withdrew, during the session or later, do not count.",
        levels={"true": "It counts.", "false": "It does not; see excluded_because."},
    ),
    Column("excluded_because", f"Rules that were not met. {_RULES}"),
    Column(
        "decided_by_hand",
        "What the researcher decided about the session, overriding the rules; n/a without such "
        "a decision.",
        levels={"excluded": "It does not count.", "included": "It counts."},
    ),
    Column("decision_reason", "The reason for that decision; n/a in de-identified copies."),
    Column("phase", "The phase of the study, as its file said at the start; n/a without phases."),
    Column(
        "tags",
        "Words given to the session later, separated by semicolons; n/a in de-identified copies.",
    ),
    CONDITIONS,
    *(Column(name, "") for name in ACHIEVED),
    Column("payment", "The payment for the session, base and bonus; n/a if nothing is paid."),
    Column("payment_currency", "Currency of the payment."),
    Column("study_version", "Version of the study file."),
    Column("study_sha256", "Hash of the study file and every file it names."),
    Column("length", "Session time at the last event.", "s"),
    Column("working_length", "Length without pauses, breaks and gaps.", "s"),
    Column("segments", "Runs of the program on this session; more than 1 after a crash."),
    Column("gaps", "Total time between the end of killed runs and their continuation.", "s"),
    Column("pauses", "Number of pauses, without planned breaks."),
    Column("events", "Rows in the journal."),
    Column(
        "blind",
        "Whether the console hid the representations from the moderator from the beginning; n/a "
        "if the journal does not say.",
        levels={"true": "It hid them; see unblinded.", "false": "It named them."},
    ),
    Column("unblinded", "Session time from which it named them to a moderator who was blind.", "s"),
    Column("sound", "Length of the sound recorded.", "s"),
    Column("sound_lost", "Part of this that was lost and filled with silence.", "s"),
    Column("sound_missing_because", "Why the session was recorded without sound."),
)


def session_columns(declared: Iterable[str] = ()) -> tuple[Column, ...]:
    """The columns of sessions.tsv. declared: what the study declares, for its factors."""
    words = registry.achievements()
    columns = tuple(
        replace(column, description=f"{words[column.name][:1].upper()}{words[column.name][1:]}.")
        if column.name in ACHIEVED
        else column
        for column in _SESSIONS
    )
    return _with_factors(columns, declared)


def participant_columns(declared: Iterable[str] = ()) -> tuple[Column, ...]:
    """The columns of participants.tsv. declared: as in `session_columns`."""
    return _with_factors(PARTICIPANTS, declared)


def _with_factors(columns: Sequence[Column], declared: Iterable[str]) -> tuple[Column, ...]:
    """The columns with those of the factors between participants, behind the conditions."""
    declared = tuple(declared)
    at = columns.index(CONDITIONS) + 1
    factors = map(describe_column, between_columns(declared))
    own = "; ".join(f"{rule}: {meaning}" for rule, meaning in own_rules(declared).items())
    known = tuple(
        replace(column, description=f"{column.description} For the study itself: {own}.")
        if own and column.name == "excluded_because"
        else column
        for column in columns
    )
    return (*known[:at], *factors, *known[at:])


def session_line(record: Record) -> Mapping[str, object]:
    """The cells of one session in sessions.tsv, with `participant`, `study` and what that declared
    besides."""
    outline, planned = record.outline, record.planned
    kinds = [pause.kind for pause in outline.pauses]
    factors = SessionFactors(planned, {})
    inclusion_status = _status(record)
    decision = inclusion_status.decision
    paid = inclusion_status.payment
    return {
        "participant": planned.participant,
        "study": planned.study,
        "declared": factors.declared,
        "session_id": f"ses-{record.session}",
        "acq_time": record.rows[0].utc,
        "state": record.state,
        "reason": outline.reason,
        "included": inclusion_status.included,
        "excluded_because": ", ".join(inclusion_status.failed),
        "decided_by_hand": None if decision is None else decision.verdict,
        "decision_reason": None if decision is None else decision.reason or None,
        "phase": planned.phase or None,
        "tags": "; ".join(record.tags) or None,
        "conditions": conditions(planned.assignment),
        **factors.between,
        **{name: getattr(inclusion_status.achieved, name) for name in ACHIEVED},
        "payment": None if paid is None else paid.total,
        "payment_currency": None if paid is None else paid.currency,
        "study_version": planned.study_version,
        "study_sha256": planned.study_sha256,
        "length": seconds(outline.last_ns),
        "working_length": seconds(outline.working_ns),
        "segments": len(outline.segments),
        "gaps": seconds(outline.gap_ns),
        "pauses": kinds.count("pause"),
        "events": len(record.rows),
        "blind": outline.blind,
        "unblinded": None if outline.unblinded_ns is None else seconds(outline.unblinded_ns),
        "sound": sum(sound.frames / sound.nominal_rate for sound in outline.audio),
        "sound_lost": outline.lost_s,
        "sound_missing_because": outline.silent_because,
    }


def _status(record: Record) -> InclusionStatus:
    """Whether a session counts; all of it is read alone if the study has rules of its own."""
    withdrawn = bool(record.withdrawn)
    if record.planned.declared.get("exclude"):
        events = list(payloads(record.rows))
        status = SessionRecords.of(events, "", withdrawn=withdrawn).inclusion_status
        return status.decided(record.decision)
    wanted = inclusion_kinds()
    told = payloads([row for row in record.rows if row.kind in wanted])
    return fold_inclusion_status(told, withdrawn=withdrawn).decided(record.decision)


def by_participant(lines: Sequence[Mapping[str, object]]) -> dict[str, list[Mapping[str, object]]]:
    """Session lines by participant's label, each in the order they took place."""
    result: dict[str, list[Mapping[str, object]]] = {}
    for line in sorted(
        lines, key=lambda line: (natural(line["participant"]), str(line["acq_time"]))
    ):
        result.setdefault(str(line["participant"]), []).append(line)
    return result


def participants(lines: Sequence[Mapping[str, object]]) -> Table:
    """One row per participant, by their labels."""
    declared = [str(line["declared"]) for line in lines]
    factors = [column.name for column in between_columns(declared)]
    states = {person.participant: person.state for person in people_of([*map(_row, lines)])}
    rows = [
        {
            "participant_id": f"sub-{participant}",
            "study": theirs[0]["study"],
            "sessions": len(theirs),
            "complete": all(line["state"] == "complete" for line in theirs),
            "included": states[participant] == "included",
            "excluded_because": _join_values(line["excluded_because"] for line in theirs)
            or (SESSIONS if states[participant] in ("missed", "awaited") else None),
            "conditions": _join_values(line["conditions"] for line in theirs),
            **{name: _join_values(line.get(name) for line in theirs) for name in factors},
        }
        for participant, theirs in by_participant(lines).items()
    ]
    return Table(participant_columns(declared), rows)


def _row(line: Mapping[str, object]) -> Mapping[str, object]:
    """A line as the table of participants has it, as far as people are counted by it."""
    outcome = {"complete": "completed", "interrupted": "unfinished"}.get(
        str(line["state"]), "ended"
    )
    return {
        "participant": line["participant"],
        "session": str(line["session_id"]).removeprefix("ses-"),
        "outcome": outcome,
        "included": line["included"],
        "excluded_because": line["excluded_because"],
        "started_utc": line["acq_time"],
        "study_version": line["study_version"],
        DECLARED.name: line["declared"],
    }


def _join_values(values: Iterable[object]) -> str:
    return "; ".join(dict.fromkeys(str(value) for value in values if value))
