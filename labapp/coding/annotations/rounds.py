"""Rounds of coding: who codes what is drawn, independent coding is locked before anybody talks
about it, and what differs is settled afterwards.

Agreement that is reported comes from locked, independent coding alone; see `reliability`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from labapp.base.errors import AnnotationError, UsageError
from labapp.coding.annotations.assignments import (
    Draw,
    assignments_of_study,
    codable,
    draw_assignments,
    save_draw,
    undrawn,
)
from labapp.coding.annotations.codebook import Codebook, versions_of
from labapp.coding.annotations.editing import fold_lines
from labapp.coding.annotations.final import coding_raters
from labapp.coding.annotations.ledger import Ledger
from labapp.coding.annotations.marks import STATUS, MarksFold
from labapp.coding.annotations.model import (
    Assignment,
    Mark,
    RaterMarks,
    Round,
    SessionAnnotations,
    Status,
)
from labapp.coding.annotations.places import KEPT, check_rater, rater_file
from labapp.coding.annotations.settlements import Disagreement, disagreements
from labapp.coding.annotations.store import codebooks_in, open_settlements
from labapp.coding.annotations.study_sessions import AnnotatedSession, study_sessions
from labapp.record.journal.anchor import LOCKED

INDEPENDENT: Round = "independent"


@dataclass(frozen=True)
class AssigningReport:
    """What was assigned.

    Attributes
    ----------
    draw : who codes what of the sessions that nobody had yet.
    before : what was assigned earlier; it stays.
    left_out : sessions that cannot be assigned, and why.
    """

    draw: Draw
    before: tuple[Assignment, ...]
    left_out: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "draw": self.draw.id,
            "seed": self.draw.seed,
            "both": self.draw.both,
            "stretches": self.draw.stretches,
            "double": self.draw.double,
            "assignments": [
                {
                    "session": a.session,
                    "rater": a.rater,
                    "role": a.role,
                    "round": a.round,
                    "t0_s": a.t0_ns / 1e9,
                    "t1_s": a.t1_ns / 1e9,
                }
                for a in self.draw.assignments
            ],
            "assigned_before": len({a.session for a in self.before}),
            "left_out": [{"session": name, "why": why} for name, why in self.left_out],
        }

    def lines(self) -> Iterator[str]:
        """The report for people."""
        for rater in self.draw.raters:
            own = [a for a in self.draw.assignments if a.rater == rater]
            primary = [a.session for a in own if a.role == "primary"]
            second = [a for a in own if a.role == "second"]
            minutes = sum(a.t1_ns - a.t0_ns for a in second) / 60e9
            yield (
                f"{rater}: {len(primary)} sessions first, {len(second)} stretches "
                f"({minutes:.1f} min) of others second"
            )
            for session in primary:
                yield f"  {session}"
            for a in second:
                yield f"  {a.session} {a.t0_ns / 1e9:.1f}–{a.t1_ns / 1e9:.1f} s, second"
        share = self.draw.double / self.draw.stretches if self.draw.stretches else 0.0
        yield (
            f"{self.draw.double} of {self.draw.stretches} stretches are coded twice "
            f"({share:.0%}; seed {self.draw.seed})"
        )
        for name, why in self.left_out:
            yield f"Left out: {name}: {why}"


def assign_study(
    study: Path,
    raters: Sequence[str],
    both: float,
    seed: int,
    round: Round = "independent",  # noqa: A002 - the field's name
) -> AssigningReport:
    """Draw who codes what of a study's sessions that nobody was assigned to, and write it down; see
    `draw_assignments`. Raises UsageError if there is nothing to assign, or the draw cannot be made,
    and AnnotationError if a name cannot be a rater's, or the draw cannot be written down."""
    sessions = study_sessions(study)
    before = assignments_of_study(study)
    for rater in raters:
        check_rater(rater, study, {assignment.rater for assignment in before})
    left_out = list(sessions.left_out)
    ready = []
    for session in sessions.usable:
        segmentation = session.annotations.segmentation
        if not segmentation.frozen:
            what = "its units are not frozen" if segmentation.units else "it has no units"
            left_out.append((session.name, what))
        else:
            ready.append(codable(session.record, segmentation))
    new = undrawn(ready, before, round)
    if not new:
        why = "; ".join(f"{name}: {what}" for name, what in left_out)
        raise UsageError(
            f"All sessions of {study.name} that can be coded are assigned already."
            if ready
            else f"No session of {study.name} can be assigned ({why or 'there is none'}).",
            todo="`labapp code segment NAME --freeze` makes and freezes units; what is assigned "
            "stays.",
        )
    draw = draw_assignments(new, raters, both, seed, round)
    save_draw(study, draw)
    return AssigningReport(draw, before, tuple(left_out))


@dataclass(frozen=True, slots=True)
class Closed:
    """A rater's coding of a session that was said to be done, or locked. uncoded: assigned units
    without a code on a tier that is not optional."""

    session: str
    rater: str
    marks: int
    uncoded: int


@dataclass(frozen=True, slots=True)
class CloseReport:
    """What was said to be done, or locked.

    Attributes
    ----------
    closed : by session and rater.
    left_out : sessions that cannot be used, and why.
    """

    closed: tuple[Closed, ...]
    left_out: tuple[tuple[str, str], ...]


def close(
    study: Path,
    raters: Sequence[str] = (),
    to: Literal["done", "locked"] = "locked",
    only: Collection[str] = (),
) -> CloseReport:
    """Say that independent coding is done; or lock what is done, so that nothing of it changes any
    more. raters, only: all raters and all sessions where none is named. Raises UsageError if a
    rater has no marks here, AnnotationError if there is nothing to close, or what is to be locked
    is a draft still, and AnnotationsBusy if a window has a file open; nothing is changed then."""
    assignments = assignments_of_study(study)
    sessions = study_sessions(study)
    usable = [session for session in sessions.usable if not only or session.name in only]
    known = {name for session in usable for name in session.annotations.raters}
    if unknown := sorted(set(raters) - known):
        raise UsageError(
            f"{unknown[0]} has no marks in {study.name}.",
            todo=f"Raters here: {', '.join(sorted(known - KEPT.keys())) or 'none'}.",
        )
    due: list[tuple[AnnotatedSession, RaterMarks]] = []
    drafts: list[str] = []
    due_now = "done" if to == "locked" else "draft"
    for session in usable:
        for name, rater in sorted(session.annotations.raters.items()):
            given = any(mark.round == INDEPENDENT for mark in rater.marks)
            if rater.machine or (raters and name not in raters):
                continue
            if rater.round != INDEPENDENT and not given:
                continue
            status = rater.status_of(INDEPENDENT)
            if status == due_now:
                due.append((session, rater))
            elif status == "draft":
                drafts.append(f"{name} in {session.name}")
    _refuse_drafts(drafts)
    if not due:
        raise AnnotationError(
            "There is no independent coding "
            + ("that could be locked." if to == "locked" else "that is not done yet."),
            safe="What is done or locked stays so.",
            todo="`labapp code status` shows how far everybody is.",
        )
    with ExitStack() as stack:
        files = [
            stack.enter_context(Ledger(rater_file(session.path, rater.rater)))
            for session, rater in due
        ]
        # Whoever had a file open until now may have gone on with it.
        _refuse_drafts(
            f"{rater.rater} in {session.name}"
            for (session, rater), file in zip(due, files, strict=True)
            if to == "locked" and _status(file) == "draft"
        )
        for file in files:
            if _status(file) == due_now:
                file.append(STATUS, {"status": to, "round": INDEPENDENT})
            if to == "locked":
                file.note_head(LOCKED, round=INDEPENDENT)
    closed = []
    for session, rater in due:
        books = codebooks_in(session.record)
        uncoded = uncoded_units(session.annotations, rater, assignments, books)
        marks = sum(mark.round == INDEPENDENT for mark in rater.marks)
        closed.append(Closed(session.name, rater.rater, marks, uncoded))
    left_out = tuple(entry for entry in sessions.left_out if not only or entry[0] in only)
    return CloseReport(tuple(closed), left_out)


def _refuse_drafts(drafts: Iterable[str]) -> None:
    if names := ", ".join(drafts):
        raise AnnotationError(
            f"Not done yet: {names}.",
            safe="Nothing was locked.",
            todo="When all is coded, say *Done* in the window, or give `labapp code done STUDY "
            "--rater NAME` for many sessions at once; then lock it.",
        )


def _status(file: Ledger) -> Status:
    """How far the independent round is, by what the file holds now."""
    fold = MarksFold()
    fold_lines(fold, file.lines, str(file.path))
    return fold.statuses.get(INDEPENDENT, "draft")


def uncoded_units(
    annotations: SessionAnnotations,
    rater: RaterMarks,
    assignments: Sequence[Assignment],
    codebooks: Mapping[str, Codebook],
) -> int:
    """How many of a rater's units have no independent code on a tier that is not optional: of
    those assigned, or of all the participant's where nothing is."""
    book = codebooks.get(rater.codebook)
    whose = (annotations.session, rater.rater, INDEPENDENT)
    own = [a for a in assignments if (a.session, a.rater, a.round) == whose]
    units = [
        unit.id
        for unit in annotations.segmentation.units
        if unit.speaker == "participant"
        and (not own or any(entry.covers(unit.t0_ns) for entry in own))
    ]
    tiers = [t.name for t in book.tiers if t.on == "units" and not t.optional] if book else []
    given = {(mark.tier, mark.unit) for mark in rater.marks if mark.round == INDEPENDENT}
    return sum(any((tier, unit) not in given for tier in tiers) for unit in units)


@dataclass(frozen=True, slots=True)
class StudyDisagreements:
    """Where raters differ.

    Attributes
    ----------
    differences : over all sessions.
    left_out : sessions that cannot be used, and raters whose coding is not locked yet, and why.
    """

    differences: tuple[Disagreement, ...]
    left_out: tuple[tuple[str, str], ...]


def study_disagreements(study: Path) -> StudyDisagreements:
    """Where raters differ, over all sessions of a study. What is not locked is not looked at:
    raters who have seen where others differ no longer code independently. Raises
    AnnotationError."""
    assignments = assignments_of_study(study)
    ids = {sha256: book.id for sha256, book in versions_of(study).items()}
    sessions = study_sessions(study)
    differences: list[Disagreement] = []
    left_out = list(sessions.left_out)
    for session in sessions.usable:
        raters = session.annotations.raters
        unlocked = [
            name
            for name in coding_raters(session.annotations)
            if raters[name].status_of(INDEPENDENT) != "locked"
            and any(mark.round == INDEPENDENT for mark in raters[name].marks)
        ]
        left_out += [(session.name, f"the coding of {name} is not locked.") for name in unlocked]
        locked = replace(
            session.annotations,
            raters={name: rater for name, rater in raters.items() if name not in unlocked},
        )
        own = [entry for entry in assignments if entry.rater not in unlocked]
        differences += disagreements(locked, own, ids)
    return StudyDisagreements(tuple(differences), tuple(left_out))


def settle(
    study: Path, difference: Disagreement, by: str, marks: Sequence[Mark], reason: str
) -> None:
    """Settle a disagreement that `study_disagreements` gave. marks: what holds, see
    `adjudicated`. Raises AnnotationError if the coding is not locked, there is no reason, or it
    cannot be written."""
    session = next((s for s in study_sessions(study).usable if s.name == difference.session), None)
    if session is None:
        raise AnnotationError(f"{difference.session} is not there any more.")
    raters = session.annotations.raters
    statuses = {name: raters[name].status_of(INDEPENDENT) for name in difference.marks}
    if unlocked := [name for name, status in statuses.items() if status != "locked"]:
        raise AnnotationError(
            f"The coding of {' and '.join(unlocked)} in {session.name} is not locked: what is "
            "settled before that would be no independent coding any more.",
            safe="Nothing was settled.",
            todo=f"`labapp code lock {study.name}` locks what is done.",
        )
    with open_settlements(session.path, by, record=session.record) as file:
        file.settle(difference, marks, reason)
        file.flush()


def adjudicated(
    difference: Disagreement, codes: Sequence[str], codebooks: Mapping[str, Codebook]
) -> tuple[Mark, ...]:
    """Marks with other codes than any rater gave, for what is settled. Raises AnnotationError if
    the codebook that they coded by has no such code on that tier, or one code of it alone holds at
    a time."""
    given = [mark for marks in difference.marks.values() for mark in marks]
    known = [book for mark in given if (book := codebooks.get(mark.codebook))]
    book = max(known, key=lambda book: book.version, default=None)
    tier = book.tier(difference.tier) if book else None
    if tier is not None and tier.exclusive and len(codes) > 1:
        raise AnnotationError(
            f"On the tier {tier.name!r} one code holds at a time, and these are {len(codes)}.",
            safe="Nothing was settled.",
            todo="Say which of them holds.",
        )
    result = []
    for code_id in codes:
        code = book.code(code_id) if book else None
        if book is None or code is None or code.tier != difference.tier or code.retired:
            allowed = [] if book is None else [c.id for c in book.given(difference.tier)]
            raise AnnotationError(
                f"There is no code {code_id!r} on the tier {difference.tier!r}.",
                safe="Nothing was settled.",
                todo=f"Give one of: {', '.join(allowed)}." if allowed else "",
            )
        end = difference.t0_ns if code.kind == "point" else difference.t1_ns
        t1_ns = difference.t1_ns if difference.unit is not None else end
        times = difference.t0_ns, t1_ns
        mark = Mark("", "", code.tier, code.id, *times, difference.unit, codebook=book.sha256)
        result.append(replace(mark, round="reconciled", blind=()))
    return tuple(result)
