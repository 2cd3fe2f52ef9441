"""Who was excluded from a study, or counted all the same, by hand: `decisions.jsonl`, beside its
session folders.

A finished journal is not written to, so that the decision is kept here with its reason: a line a
decision, only ever added. The last one on a session counts. A line that a crash cut off decides
nothing; `decision_problems` tells of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from labapp.clock import utc_text
from labapp.errors import DataFolderError
from labapp.journal import anchor, comments
from labapp.journal.layout import DECISIONS


@dataclass(frozen=True, slots=True)
class Decision:
    """included: whether the session counts, whatever the rules say; reason: why, in words; utc:
    when it was decided, empty in a copy whose dates are moved."""

    included: bool
    reason: str
    utc: str = ""

    @property
    def verdict(self) -> str:
        """What was decided, as tables have it."""
        return "included" if self.included else "excluded"

    def to_json(self) -> dict[str, Any]:
        return {"utc": self.utc, "included": self.included, "text": self.reason}

    @classmethod
    def of(cls, entry: object) -> Decision | None:
        """What a line, or a bundle, says; None where it says no decision."""
        if not isinstance(entry, dict) or not isinstance(entry.get("included"), bool):
            return None
        return cls(entry["included"], str(entry.get("text", "")), str(entry.get("utc", "")))


def decisions(study: Path) -> dict[str, Decision]:
    """The decision that counts on each session of a study, by the names of their folders."""
    try:
        entries = [entry for _, entry in comments.lines(study, DECISIONS) if entry is not None]
    except OSError:
        return {}  # `decision_problems` tells of it
    read = ((entry["session"], Decision.of(entry)) for entry in entries)
    return {name: decision for name, decision in read if decision is not None}


def decide(session: Path, included: bool, reason: str) -> Decision:
    """Write a decision on the session in this folder, on the disk. Raises DataFolderError."""
    decision = Decision(included, reason, utc_text(datetime.now(UTC)))
    path = session.parent / DECISIONS
    try:
        anchor.add_line(path, {"session": session.name, **decision.to_json()})
    except OSError as error:
        raise DataFolderError(
            f"The decision could not be kept in {path} ({error.strerror or error}).",
            safe="The sessions and the decisions before it are as they were.",
            todo="Make room, or see that you may write there.",
        ) from error
    return decision


def decision_problems(study: Path) -> list[str]:
    """What is wrong with the decisions on the sessions of a study, a line each, for people."""
    path = study / DECISIONS
    try:
        lines = comments.lines(study, DECISIONS)
    except OSError as error:
        why = error.strerror or error
        return [f"{path} cannot be read ({why}): decisions by hand are not known"]
    return [
        f"{path}, line {number}: damaged; it decides nothing"
        for number, (_, entry) in enumerate(lines, start=1)
        if Decision.of(entry) is None
    ]
