"""What a plan keeps of a simulated session; called where the session was simulated."""

from __future__ import annotations

from pathlib import Path

from labapp.analysis.rows import Row, SessionRecords
from labapp.events.trials import PictureDecoded, TrialStarted
from labapp.records.opening import open_record

BEST = "best_alignment"
KEPT = ("trials", "stages", "scores", "participants")
"""The tables that a plan is made of."""


def fold(session: Path) -> dict[str, list[Row]]:
    """The rows of a session folder, by table. Those of reconstruction questions say besides how
    near the pictures ever were (`BEST`, alignment 0-1): the end tells it only of solved ones."""
    events = list(open_record(session).bodies())
    best: dict[tuple[str, int, int], float] = {}
    for event, body in events:
        if isinstance(body, TrialStarted | PictureDecoded) and event.stage is not None:
            key = (event.stage, event.trial or 0, event.attempt or 0)
            best[key] = max(best.get(key, 0.0), body.alignment)
    rows = SessionRecords.of(events, session.name).rows()
    for row in rows["trials"]:
        row[BEST] = best.get((row["stage"], row["trial"], row["attempt"]))
    return {name: rows[name] for name in KEPT}
