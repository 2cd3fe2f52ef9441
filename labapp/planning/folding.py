"""What a plan keeps of a simulated session; called where the session was simulated."""

from __future__ import annotations

from pathlib import Path

from labapp.analysis.rows import SessionRecords
from labapp.analysis.task_records import Row
from labapp.events.dials import Comparison
from labapp.journal.opening import open_record

BEST = "best_alignment"
KEPT = ("trials", "stages", "scores", "participants")
"""The tables that a plan is made of."""
QUESTION = (
    "study", "participant", "session", "stage", "stage_number", "task", "role", "model", "trial",
    "attempt", "outcome", "duration_s", "active_s", "slide_distance", "error_auc_sum",
    "alignment_start", "excluded", "included",
)  # fmt: skip
"""What is kept of a question: of ten thousand participants all columns would fill the memory."""


def fold(session: Path) -> dict[str, list[Row]]:
    """The rows of a session folder, by table; without those of practice. Questions with a target
    also say how near the pictures ever were (`BEST`, alignment 0-1); their end says so of solved
    ones only."""
    events = list(open_record(session).payloads())
    records = SessionRecords.of(events, session.name)
    parts = records.parts.planned.values()
    targets = {part.id for part in parts if part.target() is not None}
    best: dict[tuple[str, int, int], float] = {}
    for event, payload in events:
        if isinstance(payload, Comparison) and event.part_id in targets:
            key = (event.part_id, event.trial or 0, event.attempt or 0)
            best[key] = max(best.get(key, 0.0), payload.alignment)
    rows = records.rows()
    rows["trials"] = [
        {name: row.get(name) for name in QUESTION}
        | {BEST: best.get((row["stage"], row["trial"], row["attempt"]))}
        for row in rows["trials"]
        if row["role"] == "stage"
    ]
    return {name: rows[name] for name in KEPT}
