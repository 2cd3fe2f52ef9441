"""Who was excluded from a study, or counted all the same, by hand, and which pilots were moved into
it or back: `decisions.jsonl`, beside its session folders.

A finished journal is not written to, so that the decision is kept here with its reason: a line a
decision, only ever added. The last one on a session counts. A line that a crash cut off decides
nothing; `decision_problems` tells of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from labapp.base.clock import utc_text
from labapp.base.errors import DataFolderError
from labapp.record.events.lifecycle import SessionPlanned
from labapp.record.journal import anchor, comments
from labapp.record.journal.layout import DECISIONS


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


@dataclass(frozen=True, slots=True)
class Move:
    """A session was moved. pilot: to the pilots, which are kept apart, else into the study; reason:
    why, in words; utc: when, empty in a copy whose dates are moved."""

    pilot: bool
    reason: str
    utc: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"utc": self.utc, "pilot": self.pilot, "text": self.reason}

    @classmethod
    def of(cls, entry: object) -> Move | None:
        """What a line, or a bundle, says; None where it says no move."""
        if not isinstance(entry, dict) or not isinstance(entry.get("pilot"), bool):
            return None
        return cls(entry["pilot"], str(entry.get("text", "")), str(entry.get("utc", "")))


def decisions(study: Path) -> dict[str, Decision]:
    """The decision that counts on each session of a study, by the names of their folders."""
    read = ((entry["session"], Decision.of(entry)) for entry in _entries(study))
    return {name: decision for name, decision in read if decision is not None}


def moves(study: Path) -> dict[str, Move]:
    """The last move of each session that lies with a study or its pilots, by the names of their
    folders. A line counts where the session has arrived: one that did not is still where it was."""
    read = ((entry["session"], Move.of(entry)) for entry in _entries(study))
    return {name: move for name, move in read if move is not None}


def is_pilot(session: Path, planned: SessionPlanned) -> bool:
    """Whether the session in this folder is a trial run, as it was recorded or moved since."""
    move = moves(session.parent).get(session.name)
    return planned.pilot if move is None else move.pilot


def _entries(study: Path) -> list[dict[str, Any]]:
    try:
        return [entry for _, entry in comments.lines(study, DECISIONS) if entry is not None]
    except OSError:
        return []  # `decision_problems` reports it


def note_move(session: Path, pilot: bool, reason: str) -> Move:
    """Write down that a session is moved to this folder, on the disk. Raises DataFolderError."""
    move = Move(pilot, reason, utc_text(datetime.now(UTC)))
    add(session, move.to_json())
    return move


def decide(session: Path, included: bool, reason: str) -> Decision:
    """Write a decision on the session in this folder, on the disk. Raises DataFolderError."""
    decision = Decision(included, reason, utc_text(datetime.now(UTC)))
    add(session, decision.to_json())
    return decision


def add(session: Path, line: Mapping[str, Any], log: str = DECISIONS) -> None:
    """Add a line about the session of this folder to a log beside it, on the disk. Raises
    DataFolderError."""
    path = session.parent / log
    try:
        anchor.add_line(path, {"session": session.name, **line})
    except OSError as error:
        raise DataFolderError(
            f"The decision could not be kept in {path} ({error.strerror or error}).",
            safe="The sessions and the decisions before it are as they were.",
            todo="Make room, or see that you may write there.",
        ) from error


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
        if Decision.of(entry) is None and Move.of(entry) is None
    ]
