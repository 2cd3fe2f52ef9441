"""The codebook: every kind of event with its fields, and every column of every table."""

from __future__ import annotations

from typing import Any

from labapp.bundle.people import PARTICIPANTS, SESSIONS
from labapp.bundle.session_timeline import session_columns
from labapp.bundle.task_timeline import event_columns
from labapp.bundle.tasks import trial_columns
from labapp.bundle.tsv import described
from labapp.events import describe
from labapp.plugins import registry
from labapp.text_tables import SAID

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
        "task-session_events.tsv": described(session_columns()),
        **{
            f"task-{files.label}_{suffix}.tsv": described(columns(files))
            for files in registry.task_files()
            for suffix, columns in (("events", event_columns), ("beh", trial_columns))
        },
    }
