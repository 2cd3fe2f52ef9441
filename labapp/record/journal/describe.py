"""Sessions and bundles as text and plain values, for the command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from labapp.base.clock import NS
from labapp.record.events import Event
from labapp.record.journal.opening import open_records
from labapp.record.journal.read import readable
from labapp.record.journal.record import Record
from labapp.record.journal.sessions import SessionSummary


def duration(seconds: float) -> str:
    """Hours, minutes and seconds: 1:02:40, or 23:41."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def line(session: SessionSummary) -> str:
    """A session in one line: name, state, length, sound, exports, or why it is damaged."""
    state = session.state.replace("_", " ")
    if session.problem:
        return f"{session.id}  {state}: {session.problem}"
    if session.state == "complete" and session.not_counted:
        state = f"{state}, does not count ({', '.join(session.not_counted)})"
    sound = f"sound, {session.lost_s:.1f} s lost" if session.sound else "no sound"
    exported = ", exported" if session.exported else ""
    length = duration(session.length_s)
    left = {"keep": ", withdrawn (data kept)", "delete": ", withdrawn (data to be deleted)"}
    decision = (
        f", {session.decision} by hand: {session.decision_reason}" if session.decision else ""
    )
    moved = ", a pilot" if session.pilot else ""
    if session.moved and not session.pilot:
        moved = f", moved from the pilots: {session.moved}"
    end = f"{moved}{exported}{decision.rstrip(': ')}{left.get(session.withdrawn, '')}"
    return f"{session.id}  {session.study}  {state}, {length}, {sound}{end}"


def describe(path: Path) -> list[dict[str, Any]]:
    """What a session, or each session of a bundle, holds. Raises RecordError."""
    result = []
    for record in open_records(path):
        with readable(record.source):
            result.append(_facts(record))
    return result


def _facts(record: Record) -> dict[str, Any]:
    planned = record.planned
    events = list(record.events())
    unblinded = record.outline.unblinded_ns
    return {
        "id": f"sub-{planned.participant}_ses-{planned.session}",
        "study": planned.study,
        "study_version": planned.study_version,
        "participant": planned.participant,
        "session": planned.session,
        "state": record.state,
        "withdrawn": record.withdrawn or None,
        "decision": record.decision.verdict if record.decision else None,
        "decision_reason": record.decision.reason if record.decision else None,
        "pilot": record.pilot,
        "moved": record.move.reason if record.move else None,
        "length_s": round(record.working_s, 3),
        "segments": len(record.segments),
        "events": len(events),
        "assignment": planned.assignment,
        "blind": record.outline.blind,
        "unblinded_s": None if unblinded is None else unblinded / NS,
        "questions": dict(_outcomes(events)),
        "notes": sum(event.kind == "note.added" for event in events),
        "flags": sum(event.kind == "flag.added" for event in events),
        "alarms": sum(event.kind == "alarm.raised" for event in events),
        "sound_files": len(record.audio),
        "lost_s": round(record.outline.lost_s, 3),
        "redacted": record.redacted,
    }


def _outcomes(events: Sequence[Event]) -> Counter[str]:
    """How questions ended, each by its last attempt; a stage that began again asks anew."""
    result: dict[tuple[str | None, int | None], str] = {}
    for event in events:
        if event.kind == "part.restarted":
            result = {key: outcome for key, outcome in result.items() if key[0] != event.part_id}
        elif event.kind == "trial.ended":
            result[event.part_id, event.trial] = str(event.payload["outcome"])
    return Counter(result.values())


def text(facts: Sequence[dict[str, Any]]) -> list[str]:
    """Facts as aligned lines, an empty one between sessions; what is not known has no line."""
    blocks = [
        [f"{key:15} {_value(value)}" for key, value in fact.items() if value is not None]
        for fact in facts
    ]
    return "\n\n".join("\n".join(block) for block in blocks).splitlines()


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_value(inner)}" for key, inner in value.items()) or "none"
    if isinstance(value, list | tuple):
        return " → ".join(str(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
