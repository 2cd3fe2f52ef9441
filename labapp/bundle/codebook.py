"""The codebook: every kind of event with its fields, and every column of every table."""

from __future__ import annotations

from typing import Any

from labapp.analysis.column import Column as AnalysisColumn
from labapp.analysis.columns import SINGLE_TRIALS, TRIALS
from labapp.analysis.judging.columns import JUDGEMENTS
from labapp.analysis.unmasking.columns import ANNOTATIONS
from labapp.bundle.people import PARTICIPANTS, SESSIONS
from labapp.bundle.session_timeline import SESSION_COLUMNS
from labapp.bundle.task_timeline import (
    JUDGING_COLUMNS,
    SINGLE_COLUMNS,
    TASK_COLUMNS,
    UNMASKING_COLUMNS,
)
from labapp.bundle.tsv import Column, described
from labapp.bundle.unmasking import OUTPUT_COLUMNS
from labapp.events import describe
from labapp.text_tables import SAID

_ELSEWHERE = frozenset({"study", "participant", "session", "task", "included"})
"""Columns that the file's place and name, or sessions.tsv, say already."""


def _trial_column(column: AnalysisColumn) -> Column:
    meaning = column.meaning[:1].upper() + column.meaning[1:]
    if column.kind == "numbers":
        # Units would make BIDS expect a single number in the cell.
        unit = f", in {column.unit}" if column.unit else ""
        return Column(column.name, f"{meaning}{unit}: a JSON array, one number a dimension.")
    return Column(column.name, f"{meaning}.", column.unit)


_OF_BOTH = {
    *("stage", "stage_number", "task", "role", "model", "trial", "attempt", "outcome"),
    *("duration_s", "started_session_s", "keyboard_away", "excluded", "excluded_because"),
}
TRIAL_COLUMNS = tuple(
    _trial_column(c) for c in TRIALS if c.name not in _ELSEWHERE and c not in SINGLE_TRIALS
)
"""The columns of _beh.tsv: those of the analysis' table of trials."""
SINGLE_TRIAL_COLUMNS = tuple(
    _trial_column(c) for c in TRIALS if c.name in _OF_BOTH or c in SINGLE_TRIALS
)
"""The same of the single-dimension task."""
JUDGEMENT_COLUMNS = tuple(
    _trial_column(c) for c in JUDGEMENTS if c.name not in _ELSEWHERE - {"task"}
)
"""Of photos whose explanations were judged: those of the analysis' table of judgements."""
ANNOTATION_COLUMNS = (
    *(_trial_column(c) for c in ANNOTATIONS if c.name not in _ELSEWHERE),
    *OUTPUT_COLUMNS,
)
"""Of masked pictures: those of the analysis' table of annotations, and the model's logits."""

JOURNAL_COLUMNS = {
    "seq": "Number of the event, from 1 without holes.",
    "segment": "Run of the program on this session, from 1.",
    "t_ns": "Session time in nanoseconds, never decreasing.",
    "utc": "The wall clock when it was stored, for people; durations are differences of t_ns.",
    "source": "Who caused it: participant, moderator, system or simulated.",
    "kind": "Kind of event, see events.",
    "v": "Version of the kind.",
    "stage": "Id of the plan's part.",
    "trial": "Number of the question in its stage, from 1.",
    "attempt": "Attempt at the question, from 1.",
    "payload": "The fields of the kind as canonical JSON, verbatim.",
    "hash": (
        "SHA-256 (hexadecimal) of the hash of the row before (64 zeros before the first) and the "
        "row: the JSON array [seq, segment, t_ns, utc, source, kind, v, stage, trial, attempt] "
        "without spaces, followed by the payload."
    ),
    "redacted": "True where the payload was reduced for a de-identified copy.",
}


def codebook() -> dict[str, Any]:
    """As plain values for codebook.json."""
    return {
        "text in tables": SAID,
        "events": describe(),
        "journal.parquet": JOURNAL_COLUMNS,
        "participants.tsv": described(PARTICIPANTS),
        "sessions.tsv": described(SESSIONS),
        "task-session_events.tsv": described(SESSION_COLUMNS),
        "task-reconstruction_events.tsv": described(TASK_COLUMNS),
        "task-reconstruction_beh.tsv": described(TRIAL_COLUMNS),
        "task-singledimension_events.tsv": described(SINGLE_COLUMNS),
        "task-singledimension_beh.tsv": described(SINGLE_TRIAL_COLUMNS),
        **{
            f"task-{label}_{kind}.tsv": described(columns)
            for label in ("judging", "warmup")
            for kind, columns in (("events", JUDGING_COLUMNS), ("beh", JUDGEMENT_COLUMNS))
        },
        "task-unmasking_events.tsv": described(UNMASKING_COLUMNS),
        "task-unmasking_beh.tsv": described(ANNOTATION_COLUMNS),
    }
