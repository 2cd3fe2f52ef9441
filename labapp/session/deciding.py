"""A researcher decides about a session that is over: it is excluded, counts all the same, or is
moved from the pilots into the study, or back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labapp.base import durable
from labapp.base.errors import (
    DataFolderError,
    LabappError,
    ParticipantTaken,
    RecordError,
    SessionBusy,
    UsageError,
)
from labapp.base.messages import Message
from labapp.base.resources import PILOT, pilot_root
from labapp.coding.annotations.codebook import store_version, versions_of
from labapp.coding.annotations.places import annotations_folder
from labapp.record.events.lifecycle import SessionPlanned
from labapp.record.journal import anchor
from labapp.record.journal.decisions import (
    Decision,
    add,
    decide,
    decisions,
    forget_comments,
    note_move,
    withdrawals,
)
from labapp.record.journal.decisions import comment_lines as lines_of
from labapp.record.journal.layout import COMMENTS, DECISIONS
from labapp.record.journal.opening import open_record
from labapp.record.journal.sessions import SessionSummary, summary
from labapp.session import folder as folder_module
from labapp.session.condition_assignment import cells_of, coverage
from labapp.session.folder import SessionFolder, creating
from labapp.study.schema import PILOT as PILOT_LABEL

LONGEST = 1_000
"""Characters of a reason."""


def decide_by_hand(folder: Path, included: bool, reason: str) -> tuple[Decision, list[str]]:
    """Write down that a session is excluded, or counts whatever the rules say; the decision, and
    what came of it, for people.

    folder: the session folder. Raises UsageError for an exclusion without a reason and for a
    decision that stands already, SessionBusy while the session runs, RecordError where it is no
    session, is damaged, or its participant withdrew.
    """
    reason = _reason(reason, "An exclusion needs a reason." if not included else "")
    line = _over(folder)
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
    lines += _of_place(folder)
    if line.exported:
        lines.append(Message("decided_bundles", paths=", ".join(line.exported)))
    return decision, lines


def _of_place(folder: Path) -> Iterator[str]:
    """What a decision means for the participant and the place they had."""
    record = open_record(folder)
    try:
        from labapp.session.resuming import recorded_study

        covered = coverage(folder.parent.parent, recorded_study(folder, record.planned))
    except LabappError:  # of another version of labapp, or changed: its places are not known here
        return
    if covered is None:
        return
    person = next((p for p in covered.people if p.participant == record.participant), None)
    if person is None:
        return
    if not person.holds:
        yield Message("place_free", participant=person.participant)
    elif len(person.visits.labels) > 1:
        yield Message("place_kept", participant=person.participant)
    for cell, n in covered.beyond().items() if person.holds else ():
        if cell in map(covered.rule.cell_of, cells_of(person)):
            yield Message(
                "place_beyond",
                participant=person.participant,
                cell=cell or covered.rule.title,
                count=n,
                wanted=covered.rule.wanted or 0,
            )


def _reason(given: str, needed: str) -> str:
    """A reason on one line. needed: the error where it is missing."""
    reason = " ".join(given.split())
    if not reason and needed:
        raise UsageError(needed, todo="Say why, with --reason.")
    if len(reason) > LONGEST:
        raise UsageError(
            f"The reason has {len(reason)} characters.", todo=f"Give at most {LONGEST}."
        )
    return reason


def _over(folder: Path) -> SessionSummary:
    """The session of this folder, about which something can be decided."""
    SessionFolder(folder).require_journal()
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
    return line


def move_pilot(folder: Path, into_study: bool, reason: str) -> tuple[Path, list[str]]:
    """Move a session that was recorded as a pilot into its study, or back to the pilots; its new
    folder, and what came of it, for people.

    The session's folder, its annotations, its remarks and the decisions about it go together. What
    is decided is on the disk before anything moves, and the session itself goes last and at once:
    after a crash it is in one of the two places, whole, and the same call completes the move.
    Raises UsageError without a reason and for a session that was no pilot or is there already,
    ParticipantTaken where the label is somebody else's there, SessionBusy while it runs,
    RecordError where it is damaged or its participant withdrew, DataFolderError.
    """
    reason = _reason(reason, "Moving a session needs a reason.")
    line = _over(folder)
    record = open_record(folder)
    if record.pilot != into_study:
        where = "in the study" if into_study else "among the pilots"
        raise UsageError(f"{folder.name} is {where} already.")
    if not record.planned.pilot:
        raise UsageError(
            f"{folder.name} was not recorded as a pilot, and holds a place of the study.",
            todo="Where it should not count, exclude it: labapp sessions exclude NAME --reason WHY",
        )
    root = folder.parent.parent
    goal = folder  # where somebody has put it by hand
    if into_study and root.name.endswith(PILOT):
        goal = root.with_name(root.name.removesuffix(PILOT)) / folder.parent.name / folder.name
    elif not into_study:
        goal = pilot_root(root) / folder.parent.name / folder.name
    study = folder_module.study_folder(goal.parent.parent, goal.parent.name)
    with creating(study.parent):
        SessionFolder(folder).lock().release()
        _refuse_taken(folder, goal, record.planned)
        if goal != folder:
            _take_along(folder, goal)
        move = note_move(goal, not into_study, reason)
        if goal != folder:
            _carry(folder, goal)
    lines: list[str] = [
        Message("moved_back" if move.pilot else "moved_in", folder=folder.name, path=str(goal))
    ]
    if line.exported:
        lines.append(Message("decided_bundles", paths=", ".join(line.exported)))
    return goal, lines


def _carry(folder: Path, goal: Path) -> None:
    """Put a session's folder where it belongs, its annotations first."""
    annotated, arrives = annotations_folder(folder), annotations_folder(goal)
    try:
        if annotated.is_dir():
            arrives.parent.mkdir(exist_ok=True)
            for codebook in versions_of(folder.parent).values():
                store_version(goal.parent, codebook)
            anchor.carry(folder, goal)
            annotated.rename(arrives)
        folder.rename(goal)
        for parent in (goal.parent, folder.parent):
            durable.sync_folder(parent)
    except OSError as error:
        raise DataFolderError(
            f"{folder.name} could not be moved to {goal.parent} ({error.strerror or error}).",
            safe="Nothing of it is lost.",
            todo="Close what has files of it open, see that both folders are on one disk and that "
            "you may write there, and move it again: that goes on where it stopped.",
        ) from error
    for log in (COMMENTS, DECISIONS):
        forget_comments(folder, log)


def _refuse_taken(folder: Path, goal: Path, planned: SessionPlanned) -> None:
    """A label stays one person's. A pilot's is its own; one that was given by hand may not be."""
    mine = (planned.participant, planned.session)
    for other in folder_module.sessions_of(goal.parent.parent, goal.parent.name):
        if other.name.participant != planned.participant or other.path == folder:
            continue
        try:
            same_person = open_record(other.path).planned.pilot
        except RecordError:
            same_person = False
        if not same_person or (other.name.participant, other.name.session) == mine:
            raise ParticipantTaken(
                f"{other.path.parent} has a participant {planned.participant} already, in "
                f"{other.path.name}.",
                safe="Nothing was moved.",
                todo="Analyse this pilot by itself (labapp analyze --pilot). New pilots get "
                f"labels of their own, such as {PILOT_LABEL}{planned.participant}.",
            )
    if planned.participant in {left.participant for left in withdrawals(goal.parent).values()}:
        raise ParticipantTaken(
            f"The participant {planned.participant} of {goal.parent.name} withdrew.",
            safe="Nothing was moved.",
            todo="The label of a person stays that person's.",
        )


def _take_along(folder: Path, goal: Path) -> None:
    """Remarks and decisions of a session, added where it goes; those that are there already, from a
    move that was broken off, are not added again."""
    for log in (COMMENTS, DECISIONS):
        try:
            own, there = _lines(folder.parent, log), _lines(goal.parent, log)
        except OSError as error:
            raise DataFolderError(
                f"{log} of {folder.parent.name} cannot be read ({error.strerror or error}).",
                safe="Nothing was moved.",
                todo="See that you may read it.",
            ) from error
        for entry in own:
            if entry["session"] == folder.name and entry not in there:
                add(goal, {key: of for key, of in entry.items() if key != "session"}, log)


def _lines(study: Path, log: str) -> list[dict[str, Any]]:
    """The lines of a log, without what ties each of them to the lines above it. Raises OSError."""
    read = (entry for _, entry in lines_of(study, log) if entry is not None)
    return [{key: of for key, of in entry.items() if key != anchor.PREV} for entry in read]
