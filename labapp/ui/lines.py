"""Recorded sessions as the home lists them."""

from __future__ import annotations

from datetime import datetime

from labapp.records.sessions import SessionSummary
from labapp.ui.moderator.choices import SessionLine, SessionState

_STATES: dict[str, SessionState] = {"damaged": "unreadable"}


def session_line(summary: SessionSummary) -> SessionLine:
    """A session of the list; times in the lab's own time zone."""
    started = datetime.fromisoformat(summary.started).astimezone()
    notes = []
    if summary.exported:
        notes.append("exported")
    if summary.state == "interrupted":
        notes.append(f"at {started:%H:%M}")
    return SessionLine(
        study=summary.study,
        participant=summary.participant,
        session=summary.session,
        state=_STATES.get(summary.state, summary.state),
        started=f"{started:%Y-%m-%d %H:%M}",
        working_s=summary.length_s,
        lost_frames=summary.lost_frames if summary.sound else None,
        path=summary.path,
        notes=tuple(notes),
    )
