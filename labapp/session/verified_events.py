"""The events of a session so far, read only if the journal is exactly what was written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from labapp.errors import RecordError
from labapp.events import Event
from labapp.journal.integrity import check_rows
from labapp.journal.layout import JOURNAL
from labapp.journal.read import read_rows


def read_verified_events(folder: Path) -> list[Event]:
    """All events of a session folder, in order.

    Raises RecordError when there is none, when one is missing, or when the hash chain is broken:
    a session is only continued on a record that is whole.
    """
    rows = read_rows(folder)
    if not rows:
        raise RecordError(
            f"The journal of {folder.name} holds no event: it was interrupted while being made.",
            safe="Nothing had been recorded.",
            todo="Start the session again: the empty folder is cleared away then.",
        )
    events: list[Event] = []
    if problems := check_rows(
        rows, JOURNAL, lambda pairs: events.extend(event for event, _ in pairs)
    ):
        raise RecordError(
            f"The journal of {folder.name} is not what was written: {problems[0]}.",
            safe="Nothing was changed now; the events before it are intact.",
            todo=f"Keep the folder and look at it with: labapp sessions verify {folder.name}",
        )
    return events


def withdrawal(events: Sequence[Event]) -> str:
    """What the participant who withdrew said of the data at the session's end, keep or delete;
    empty where nobody withdrew then."""
    wish = ""
    for event in events:
        if event.kind in ("session.completed", "session.ended", "session.reopened"):
            wish = str(event.payload.get("withdrawal", ""))
    return wish


def finished(events: Sequence[Event]) -> bool:
    """Whether the session came to an end, planned or early."""
    ended = False
    for event in events:
        if event.kind in ("session.completed", "session.ended", "session.reopened"):
            ended = event.kind != "session.reopened"
    return ended
