"""A researcher decides about a session that is over: it is excluded, or counts all the same."""

from __future__ import annotations

from pathlib import Path

from labapp.errors import RecordError, SessionBusy, UsageError
from labapp.journal.decisions import Decision, decide, decisions
from labapp.journal.sessions import summary
from labapp.messages import Message
from labapp.session.folder import SessionFolder

LONGEST = 1_000
"""Characters of a reason."""


def decide_by_hand(folder: Path, included: bool, reason: str) -> tuple[Decision, list[str]]:
    """Write down that a session is excluded, or counts whatever the rules say; the decision, and
    what came of it, for people.

    folder: the session folder. Raises UsageError for an exclusion without a reason and for a
    decision that stands already, SessionBusy while the session runs, RecordError where it is no
    session, is damaged, or its participant withdrew.
    """
    SessionFolder(folder).require_journal()
    reason = " ".join(reason.split())
    if not reason and not included:
        raise UsageError("An exclusion needs a reason.", todo="Say why, with --reason.")
    if len(reason) > LONGEST:
        raise UsageError(
            f"The reason has {len(reason)} characters.", todo=f"Give at most {LONGEST}."
        )
    line = summary(folder)
    if line.state == "running":
        raise SessionBusy(
            f"{folder.name} is running.", todo="Decide when it is over and its window is closed."
        )
    if line.withdrawn:
        raise RecordError(
            f"The participant of {folder.name} withdrew: it does not count in any case.",
            safe="Nothing was changed.",
        )
    if line.problem:
        raise RecordError(
            line.problem, safe="Nothing was changed.", todo="Repair it: labapp sessions recover."
        )
    before = decisions(folder.parent).get(folder.name)
    if before is not None and (before.included, before.reason) == (included, reason):
        raise UsageError(f"{folder.name} is {before.verdict} by hand already, with that reason.")
    decision = decide(folder, included, reason)
    lines: list[str] = [Message(f"decided_{decision.verdict}", folder=folder.name)]
    if included and line.not_counted:
        lines.append(Message("decided_over_rules", rules=", ".join(line.not_counted)))
    if before is not None:
        why = f" ({before.reason})" if before.reason else ""
        lines.append(Message("decided_before", verdict=before.verdict, why=why))
    if line.exported:
        lines.append(Message("decided_bundles", paths=", ".join(line.exported)))
    return decision, lines
