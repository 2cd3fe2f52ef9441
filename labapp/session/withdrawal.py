"""A participant withdraws: the data are kept or deleted, as the participant says.

Deletion goes in steps. It may be interrupted anywhere, and goes on when it is called again: what
killed exports left is removed, the folder is renamed (from then on nothing reads it), the
withdrawal is written down, the signed consent, the annotations, the remarks and the days by which
dates are moved are removed, then the folder's files, and last the copies that backups made.

A researcher decides about a session that is over: it is excluded, counts all the same, or is moved
from the pilots into the study, or back.
"""

from __future__ import annotations

import errno
import json
import logging
import shutil
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from labapp.analysis.declared import read_declared
from labapp.base import durable, leftovers
from labapp.base.clock import utc_text
from labapp.base.errors import (
    AnnotationError,
    DataFolderError,
    LabappError,
    ParticipantTaken,
    RecordError,
    SessionBusy,
    UsageError,
)
from labapp.base.messages import Message
from labapp.base.naming import NO_PHASE, SIMULATED
from labapp.base.reading import files
from labapp.base.resources import PILOT, pilot_root, twin_of
from labapp.coding.annotations.codebook import quoting, store_version, versions_of
from labapp.coding.annotations.ledger import content_of, parse
from labapp.coding.annotations.model import TRANSCRIPT, annotations_folder
from labapp.coding.annotations.redacting import (
    HandedOut,
    Kind,
    forget_annotations,
    holders,
    refuse_open,
)
from labapp.coding.annotations.texts import PUT
from labapp.coding.annotations.video_files import video_names
from labapp.record.audio.pyramid import forget
from labapp.record.audio.recorded_sound import WavSamples
from labapp.record.events import Event, Payload
from labapp.record.events.lifecycle import LslOpened, SessionPlanned
from labapp.record.journal import anchor
from labapp.record.journal.decisions import (
    Decision,
    Withdrawal,
    add,
    decide,
    decisions,
    forget_comments,
    moves,
    note_move,
    set_tags,
    tags,
    withdrawals,
)
from labapp.record.journal.decisions import comment_lines as lines_of
from labapp.record.journal.layout import (
    AUDIO,
    COMMENTS,
    DECISIONS,
    LEAVING,
    MERGED,
    WITHDRAWN,
    FolderName,
)
from labapp.record.journal.opening import open_record
from labapp.record.journal.read import payloads, plausible, read_rows
from labapp.record.journal.sessions import SessionSummary, export_problems, exports_of, summary
from labapp.session import backup, exports, private, runner
from labapp.session import folder as folder_module
from labapp.session.condition_assignment import cells_of, coverage, session_states
from labapp.session.folder import SessionFolder, creating, sessions_of
from labapp.study.allocation import read_cells
from labapp.study.people import Visits, people
from labapp.study.schema import PILOT as PILOT_LABEL

_log = logging.getLogger(__name__)

OF_SESSIONS = (COMMENTS, DECISIONS, MERGED)
"""The logs beside sessions whose lines go with a session: where it is moved to, or away."""


@dataclass(frozen=True)
class WithdrawalReport:
    """What was done.

    Attributes
    ----------
    exported : bundles made of the session before, which are not touched.
    others : folders that were renamed and hold sessions of the participant; they are not touched.
    more : what was done with the other sessions of the participant.
    freed : the places that the participant held and that are free now.
    cleared : what killed exports had left, which was removed.
    unknown : what the logs of exports and of what was handed out do not tell.
    annotations : which of units, texts and codes there were, which were deleted.
    handed_out : packs, quotes and clips made of the session before, which are not touched.
    source_id : of the streams that its events were sent in; empty if they were not sent.
    videos : how many there are or were; deleted with the annotations.
    codebooks : those of the study that quote what was said; they are not touched.
    copies, copies_left : backups of the session that were deleted, and those that still are there.
    """

    withdrawal: Withdrawal
    consents: int
    exported: tuple[str, ...]
    others: tuple[str, ...] = ()
    cleared: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    annotations: tuple[Kind, ...] = ()
    handed_out: tuple[HandedOut, ...] = ()
    source_id: str = ""
    videos: int = 0
    codebooks: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    copies_left: tuple[str, ...] = ()
    more: tuple[WithdrawalReport, ...] = ()
    freed: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """The report for people."""
        left = self.withdrawal
        code = "withdrawn_kept" if left.kept else "withdrawn_deleted"
        done: list[str] = [Message(code, folder=left.folder)]
        if self.consents:
            done.append("The signed consent was deleted.")
        done += [Message(f"withdrawn_{kind}") for kind in self.annotations]
        if self.videos and not left.kept:
            done.append(Message("withdrawn_videos", count=self.videos))
        if self.copies:
            done.append(Message("withdrawn_copies", paths=", ".join(self.copies)))
        if self.copies_left:
            done.append(Message("withdrawn_copies_left", paths=", ".join(self.copies_left)))
        if self.cleared:
            done.append(Message("withdrawn_cleared", paths=", ".join(self.cleared)))
        if self.exported and not left.kept:
            done.append(Message("withdrawn_bundles", paths=", ".join(self.exported)))
        if self.handed_out and not left.kept:
            made = ", ".join(f"{entry.kind} {entry.file}" for entry in self.handed_out)
            done.append(Message("withdrawn_handed_out", files=made))
        if self.codebooks and not left.kept:
            done.append(Message("withdrawn_quoted", files=", ".join(self.codebooks)))
        if self.source_id and not left.kept:
            done.append(Message("withdrawn_sent", source=self.source_id))
        if not left.kept:
            done += self.unknown
        for report in self.more:
            done += report.lines()
        if self.freed:
            done.append(Message("withdrawn_cells", cells=", ".join(self.freed)))
        if self.others:
            done.append(Message("withdrawn_others", folders=", ".join(self.others)))
        return list(dict.fromkeys(done))


def withdraw(folder: Path, private_root: Path, *, delete: bool) -> WithdrawalReport:
    """Withdraw the participant of a session, with all their sessions, and delete the data if so
    wanted. Arguments and errors: see `_withdraw`, which does it session by session, this one first.
    """
    held = _list_held_cells(folder)
    report = _withdraw(folder, private_root, delete=delete)
    study, participant = folder.parent, report.withdrawal.participant
    more = []
    for name in others_of(study, participant, folder.name):
        try:
            more.append(_withdraw(study / name, private_root, delete=not report.withdrawal.kept))
        except LabappError as error:
            raise type(error)(
                error.what,
                safe=f"{participant} has withdrawn, and none of their sessions count any more. "
                f"{name} still exists.",
                todo=f"{error.todo} Then: labapp sessions withdraw {name}".strip(),
            ) from error
    homes = [home for home in sessions_of(study.parent, study.name) if home.path.is_dir()]
    others = tuple(
        home.path.name
        for home in homes
        if home.name.participant != participant
        and (planned := _first(home.path, SessionPlanned)) is not None
        and planned.payload["participant"] == participant
    )
    return replace(report, more=tuple(more), others=others, freed=held)


def others_of(study: Path, participant: str, but: str) -> list[str]:
    """Names of the other session folders of a participant, also of those whose deletion was
    interrupted."""
    names = (child.name.removeprefix(LEAVING) for child in study.iterdir() if child.is_dir())
    parsed = (FolderName.parse(name) for name in names)
    return sorted(
        {str(name) for name in parsed if name and name.participant == participant} - {but}
    )


def _list_held_cells(folder: Path) -> tuple[str, ...]:
    """The places that the participant of a session holds."""
    planned, name = _first(folder, SessionPlanned), FolderName.parse(folder.name)
    if planned is None or name is None:
        return ()
    try:
        design = read_declared(json.dumps(planned.payload.get("declared", {}))).design
        everybody = people(session_states(folder.parent), Visits.of(design))
    except RecordError:  # nobody can tell who withdrew before
        return read_cells(planned.payload.get("assignment", {}))
    return next(
        (cells_of(p) for p in everybody if p.holds and p.participant == name.participant), ()
    )


def _withdraw(folder: Path, private_root: Path, *, delete: bool) -> WithdrawalReport:
    """Write down that the participant of a session withdrew, and delete its data if so wanted.

    folder: the session folder, even if its journal is damaged or lost, for its sound may be there;
    or the former path of one whose deletion was interrupted. Raises SessionBusy while it is open or
    being exported, RecordError when it is no session or was renamed, BundleError when what a killed
    export left cannot be noted, DataFolderError when something could not be written or removed.
    """
    name = FolderName.parse(folder.name)
    study = folder.parent
    leaving = study / f"{LEAVING}{folder.name}"
    interrupted = leaving.is_dir()
    if name is None or not interrupted:
        home = SessionFolder(folder)
        if name is None or not folder.is_dir():
            home.require_journal()
        home.lock().release()
        name = home.name
    planned = _first(leaving if interrupted else folder, SessionPlanned)
    sent = _first(leaving if interrupted else folder, LslOpened)
    if planned is not None:
        _refuse_renamed(name, planned)
    left = Withdrawal(
        folder.name,
        name.participant,
        name.session,
        utc_text(datetime.now(UTC)),
        not delete and not interrupted,
        () if planned is None else read_cells(planned.payload.get("assignment", {})),
    )
    cleared: list[Path] = []
    if not left.kept:
        refuse_open(folder)
        if place := exports.running(study, folder.name) or leftovers.under_way(study, folder.name):
            raise SessionBusy(
                f"Data from {folder.name} are being written to {place} right now.",
                safe="Nothing was deleted yet.",
                todo="Withdraw the session again when this has finished.",
            )
        # What a killed export left holds the data, too.
        cleared = exports.clear(study) + _clear_leftovers(study)
        # By the sound itself, which is gone in a moment.
        _forget_waveforms(leaving if interrupted else folder)
    if not left.kept and not interrupted:
        _rename(folder, leaving)
    _write_down(study, left)
    consents = 0
    consented = study.name
    if not left.kept:
        # The journal's study: a folder may have been moved to where another name stands above it.
        if planned is not None:
            consented = str(planned.payload["study"])
            pilot = bool(planned.payload.get("pilot", False))
        else:
            moved = moves(study).get(folder.name) is not None  # only pilots are ever moved
            pilot = moved or study.parent.name.endswith(PILOT)
        consented = private.book_of(consented, pilot=pilot)
        consents = private.forget_consent(private_root, consented, left.participant, left.session)
    handed_out, unknown = _find_handed_out(folder)
    quoted = () if left.kept else tuple(quoting(study, _list_words(folder)))
    annotated: tuple[Kind, ...] = ()
    copies, copies_left = list[str](), list[str]()
    videos = len(video_names(folder))
    if not left.kept:
        annotated = forget_annotations(folder)
        for path in (folder, twin_of(study) / folder.name):  # also what a broken-off move left
            for log in OF_SESSIONS:
                forget_comments(path, log)
        if not others_of(study, left.participant, left.folder):
            runner.forget(private_root, consented, left.participant)
        _remove(leaving)
        copies, copies_left = backup.delete_copies(study, folder.name)
    return WithdrawalReport(
        left,
        consents,
        exports_of(folder),
        cleared=tuple(map(str, cleared)),
        unknown=(*export_problems(study), *unknown),
        annotations=annotated,
        handed_out=handed_out,
        source_id="" if sent is None else str(sent.payload["source_id"]),
        videos=videos,
        codebooks=quoted,
        copies=tuple(copies),
        copies_left=tuple(copies_left),
    )


def _list_words(folder: Path) -> list[str]:
    """All words that were ever written down of a session; what is damaged tells nothing."""
    path = annotations_folder(folder) / TRANSCRIPT
    try:
        lines = parse(content_of(path)).lines
    except AnnotationError:
        return []
    return [str(line.body.get("text", "")) for line in lines if line.kind == PUT]


def _clear_leftovers(study: Path) -> list[Path]:
    """Remove what killed programs left on its way out of the study; which places."""
    try:
        return leftovers.clear_registered(study) + leftovers.clear_temporary()
    except OSError as error:
        raise DataFolderError(
            "Files that a killed program left behind cannot be removed "
            f"({error.strerror or error}: {error.filename}).",
            safe="The sessions are untouched.",
            todo="Make sure that you may write there, or remove it yourself: it contains data. "
            "Then withdraw the session again.",
        ) from error


def _forget_waveforms(folder: Path) -> None:
    """Take what the cache has of the session's sound away."""
    for path in sorted((folder / AUDIO).glob("*.wav")):
        try:
            with closing(WavSamples(files.open_file(path, follow=False))) as samples:
                forget(samples)
        except (OSError, ValueError) as error:
            _log.warning("The cached data of %s were not removed: %s", path.name, error)


def _find_handed_out(folder: Path) -> tuple[tuple[HandedOut, ...], tuple[str, ...]]:
    """What was handed out of a session, and what cannot be told of it."""
    try:
        studies = (folder.parent, twin_of(folder.parent))
        return tuple(entry for study in studies for entry in holders(study, folder.name)), ()
    except AnnotationError as error:
        return (), (Message("handed_out_unreadable", why=error.what),)


def _first(folder: Path, kind: type[Payload]) -> Event | None:
    """The first event of a kind; None if there is none, or the journal cannot be read."""
    try:
        rows = read_rows(folder, (kind.kind,))
        return next(plausible(payloads(rows)))[0] if rows else None
    except RecordError:
        return None


def _refuse_renamed(name: FolderName, planned: Event) -> None:
    """By a wrong name, somebody else's consent would be deleted."""
    whose = (planned.payload["participant"], planned.payload["session"])
    if whose != (name.participant, name.session):
        raise RecordError(
            f"The session folder {name} was renamed: its journal belongs to participant "
            f"{whose[0]}, session {whose[1]}.",
            todo="Change the folder's name back to what it was, and then withdraw the session.",
        )


def _rename(folder: Path, leaving: Path) -> None:
    try:
        folder.rename(leaving)
    except OSError as error:
        raise DataFolderError(
            f"{folder} cannot be deleted ({error.strerror or error}).",
            safe="Nothing in it has been deleted yet.",
            todo="Close programs that have its files open, make sure that you may write there, "
            "and withdraw it again.",
        ) from error


def _write_down(study: Path, left: Withdrawal) -> None:
    """Add the withdrawal to the study's list; on disk before it returns."""
    try:
        recorded = withdrawals(study).get(left.folder)
    except RecordError:  # a damaged line of somebody else's keeps nobody from withdrawing
        recorded = None
    if recorded is not None and recorded.utc and recorded.kept == left.kept:
        return
    path = study / WITHDRAWN
    try:
        anchor.add_line(path, left.to_json())
    except OSError as error:
        why = "the disk is full" if error.errno == errno.ENOSPC else error.strerror or str(error)
        raise DataFolderError(
            f"The withdrawal of {left.folder} could not be written to {path} ({why}).",
            safe="Its participant's label stays taken.",
            todo="Free some space, or make sure that you may write there, and withdraw it again.",
        ) from error


def _remove(leaving: Path) -> None:
    try:
        shutil.rmtree(leaving)
    except OSError as error:
        raise DataFolderError(
            f"Not all of {leaving} could be deleted ({error.strerror or error}).",
            safe="The withdrawal is recorded, and the session is no longer listed.",
            todo="Close programs that have its files open, and withdraw the session again; the "
            "withdrawal continues where it stopped.",
        ) from error


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
        raise UsageError(f"{folder.name} is already {before.verdict} by hand, for this reason.")
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
        from labapp.session.resuming import load_recorded_study

        covered = coverage(folder.parent.parent, load_recorded_study(folder, record.planned))
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
                wanted=(covered.rule.sizes or {}).get(cell, 0),
            )


LONGEST_TAG, MOST_TAGS = 40, 30
"""Characters of a tag, and how many a session has."""


def change_tags(folder: Path, add: Iterable[str], remove: Iterable[str] = ()) -> list[str]:
    """Give a session tags, or take some away; all that it has then.

    Raises UsageError for a tag that is none, one to remove that is not there, and if nothing
    changes; RecordError where it is no session, is damaged, or its participant withdrew;
    DataFolderError.
    """
    _over(folder, running=True)
    before = tags(folder.parent).get(folder.name, ())
    added = [_check_tag(tag) for tag in add]
    removed = [" ".join(tag.split()) for tag in remove]
    if unknown := [tag for tag in removed if tag not in before]:
        raise UsageError(
            f"{folder.name} has no tag {unknown[0]!r}.",
            todo=f"It has: {', '.join(before) or 'none'}.",
        )
    after = tuple(dict.fromkeys(tag for tag in (*before, *added) if tag not in removed))
    if after == before:
        raise UsageError(f"{folder.name} already has these tags.")
    if len(after) > MOST_TAGS:
        raise UsageError(f"A session has at most {MOST_TAGS} tags.")
    set_tags(folder, after)
    return list(after)


def _check_tag(given: str) -> str:
    tag = " ".join(given.split())
    if not tag or len(tag) > LONGEST_TAG or tag in (NO_PHASE, SIMULATED) or set(tag) & set(",;"):
        raise UsageError(
            f"{given!r} is not a tag.",
            todo=f"Use 1 to {LONGEST_TAG} characters, without commas and semicolons, but not "
            f"{NO_PHASE} or {SIMULATED}.",
        )
    return tag


def _reason(given: str, needed: str) -> str:
    """A reason on one line. needed: the error where it is missing."""
    reason = " ".join(given.split())
    if not reason and needed:
        raise UsageError(needed, todo="Give the reason with --reason.")
    if len(reason) > LONGEST:
        raise UsageError(
            f"The reason has {len(reason)} characters.", todo=f"Give at most {LONGEST}."
        )
    return reason


def _over(folder: Path, *, running: bool = False) -> SessionSummary:
    """The session of this folder, about which something can be decided. running: also while it
    runs."""
    SessionFolder(folder).require_journal()
    line = summary(folder)
    if line.state == "running" and not running:
        raise SessionBusy(
            f"{folder.name} is running.",
            todo="Decide when the session has ended and its window is closed.",
        )
    if line.withdrawn:
        raise RecordError(
            f"The participant of {folder.name} withdrew, so it does not count in any case."
        )
    if line.problem:
        raise RecordError(line.problem, todo="Repair the session: labapp sessions recover.")
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
            f"{folder.name} was not recorded as a pilot, and occupies a place in the study.",
            todo="If it should not count, exclude it: labapp sessions exclude NAME --reason WHY",
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
            safe="Nothing in it is lost.",
            todo="Close programs that have its files open, make sure that both folders are on "
            "one disk and that you may write there, and move the session again; the move "
            "continues where it stopped.",
        ) from error
    for log in OF_SESSIONS:
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
                f"{other.path.parent} already has a participant {planned.participant}, in "
                f"{other.path.name}.",
                safe="Nothing was moved.",
                todo="Analyse this pilot separately (labapp analyze --pilot). New pilots get "
                f"their own labels, such as {PILOT_LABEL}{planned.participant}.",
            )
    if planned.participant in {left.participant for left in withdrawals(goal.parent).values()}:
        raise ParticipantTaken(
            f"The participant {planned.participant} of {goal.parent.name} withdrew.",
            safe="Nothing was moved.",
            todo="A label is never given to a second person.",
        )


def _take_along(folder: Path, goal: Path) -> None:
    """What the logs say of a session, added where it goes; those that are there already, from a
    move that was broken off, are not added again."""
    for log in OF_SESSIONS:
        try:
            own, there = _lines(folder.parent, log), _lines(goal.parent, log)
        except OSError as error:
            raise DataFolderError(
                f"{log} of {folder.parent.name} cannot be read ({error.strerror or error}).",
                safe="Nothing was moved.",
                todo="Make sure that you may read it.",
            ) from error
        for entry in own:
            if entry["session"] == folder.name and entry not in there:
                add(goal, {key: of for key, of in entry.items() if key != "session"}, log)


def _lines(study: Path, log: str) -> list[dict[str, Any]]:
    """The lines of a log, without what ties each of them to the lines above it. Raises OSError."""
    read = (entry for _, entry in lines_of(study, log) if entry is not None)
    return [{key: of for key, of in entry.items() if key != anchor.PREV} for entry in read]
