"""Rounds of coding: who codes what is drawn, independent coding is locked before anybody talks
about it, and what differs is settled afterwards.

Agreement that is reported comes only from locked, independent coding; see `reliability`.

Who codes what of a study: `annotations/assignments.jsonl`.

Primary raters are dealt out within conditions, and stretches coded twice are drawn over all
sessions. A draw is only ever added: sessions that are recorded later are drawn by themselves, and
what is assigned stays. What is written there names no condition, so that a rater may look at it.

A draw is a function of its seed, of the raters in their order, and of the sessions: neither the
machine nor the order in which sessions are named plays a part.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from labapp.base.errors import AnnotationError, UsageError
from labapp.coding.annotations import ledger
from labapp.coding.annotations.codebook import Codebook, versions_of
from labapp.coding.annotations.final import coding_raters
from labapp.coding.annotations.ledger import Ledger, Line, fold_lines
from labapp.coding.annotations.marks import STATUS, MarksFold
from labapp.coding.annotations.model import (
    ANNOTATIONS,
    KEPT,
    ROUNDS,
    Assignment,
    Mark,
    RaterMarks,
    Round,
    Segmentation,
    SessionAnnotations,
    Status,
    Unit,
    check_rater,
    rater_file,
)
from labapp.coding.annotations.settlements import Disagreement, disagreements
from labapp.coding.annotations.store import (
    AnnotatedSession,
    SessionProgress,
    codebooks_in,
    open_settlements,
    study_progress,
    study_sessions,
)
from labapp.record.journal.anchor import LOCKED
from labapp.record.journal.record import Record

ASSIGNMENTS = "assignments.jsonl"
DRAWN = "assignments.drawn"
ASSIGNED = "session.assigned"
ROLES = ("primary", "second")


def assignments_of_study(study: Path) -> tuple[Assignment, ...]:
    """All assignments of a study, by its folder; none if nothing was drawn. Raises
    AnnotationError: the file cannot be read, or a line of it is damaged."""
    path = study / ANNOTATIONS / ASSIGNMENTS
    return read_assignments(ledger.read(path).lines, str(path))


def assignments_of(record: Record) -> tuple[Assignment, ...]:
    """The assignments of a recorded session, from its study's folder or its bundle. Raises
    AnnotationError: they cannot be read."""
    if record.kind == "session":
        folder = Path(record.source).absolute()
        every = assignments_of_study(folder.parent)
        return tuple(entry for entry in every if entry.session == folder.name)
    name = f"{ANNOTATIONS}/{ASSIGNMENTS}"
    if not record.tree.has(name):
        return ()
    content = record.tree.read(name, ledger.LARGEST)
    whole = ledger.require_whole(ledger.parse(content), f"{record.source}: {name}")
    return read_assignments(whole.lines, f"{record.source}: {name}")


def read_assignments(drawn: Iterable[Line], place: str) -> tuple[Assignment, ...]:
    """The assignments in lines. place: of the file, for errors. Raises AnnotationError."""
    result: list[Assignment] = []
    for line in drawn:
        if line.kind == DRAWN:
            continue
        if line.kind != ASSIGNED:
            raise AnnotationError(
                f"{place}, line {line.seq}: {line.kind!r} does not belong to a draw.",
                todo="Update labapp; a newer version may have written it.",
            )
        try:
            draw, session = str(line.body["draw"]), str(line.body["session"])
            result += [_assignment(entry, session, draw) for entry in line.body["stretches"]]
        except (KeyError, TypeError, ValueError) as error:
            raise AnnotationError(
                f"{place}, line {line.seq}: it assigns nothing ({error}).",
                todo="Restore a copy of the file.",
            ) from error
    return tuple(result)


def save_draw(study: Path, draw: Draw) -> None:
    """Write a draw down, on the disk before it returns. Raises AnnotationsBusy: another window
    writes to the file; AnnotationError: it cannot be written, or somebody assigned one of its
    sessions in its round since it was drawn: there would be two primary raters."""
    with Ledger(study / ANNOTATIONS / ASSIGNMENTS) as file:
        before = read_assignments(file.lines, str(file.path))
        taken = {(assignment.session, assignment.round) for assignment in before}
        if twice := sorted({a.session for a in draw.assignments if (a.session, a.round) in taken}):
            raise AnnotationError(
                f"{', '.join(twice)} was assigned by another process in the meantime.",
                safe="Existing assignments are kept; nothing was added.",
                todo="Run it again to assign the others.",
            )
        bodies = session_bodies(draw.assignments)
        drawn = {
            "id": draw.id,
            "raters": list(draw.raters),
            "both": draw.both,
            "seed": draw.seed,
            "stretches": draw.stretches,
            "double": draw.double,
        }
        file.append_all([(DRAWN, drawn), *((ASSIGNED, body) for body in bodies)])
        file.flush()


def session_bodies(assignments: Iterable[Assignment]) -> list[dict[str, Any]]:
    """Assignments as the lines of a draw have them, one per session."""
    bodies: dict[tuple[str, str], dict[str, Any]] = {}
    for entry in assignments:
        empty = {"draw": entry.draw, "session": entry.session, "stretches": []}
        body = bodies.setdefault((entry.draw, entry.session), empty)
        body["stretches"].append(
            {
                "rater": entry.rater,
                "t0_ns": entry.t0_ns,
                "t1_ns": entry.t1_ns,
                "role": entry.role,
                "round": entry.round,
            }
        )
    return list(bodies.values())


def codable(record: Record, segmentation: Segmentation) -> CodableSession:
    """What a draw has to know of a recorded session: the participant's units, the assignment of the
    participant as its stratum, and the stages, so that no stretch lies in two."""
    stages: list[tuple[int, str]] = []
    for row in record.rows:
        if row.part_id is not None and (not stages or stages[-1][1] != row.part_id):
            stages.append((row.t_ns, row.part_id))
    end = max(record.rows[-1].t_ns, *(unit.t1_ns for unit in segmentation.units), 0) + 1
    return CodableSession(
        str(record.name),
        repr(sorted(record.planned.assignment.items())),
        0,
        end,
        tuple(unit for unit in segmentation.units if unit.speaker == "participant"),
        tuple(stages),
    )


def find_unassigned(
    sessions: Sequence[CodableSession], drawn: Iterable[Assignment], round_: str
) -> list[CodableSession]:
    """The sessions that are assigned to nobody in a round yet."""
    taken = {entry.session for entry in drawn if entry.round == round_}
    return [session for session in sessions if session.name not in taken]


def _assignment(entry: Mapping[str, Any], session: str, draw: str) -> Assignment:
    rater = entry["rater"]
    role, round_ = entry["role"], entry["round"]
    t0_ns, t1_ns = entry["t0_ns"], entry["t1_ns"]
    if not isinstance(rater, str):
        raise TypeError("a rater is a text")
    if role not in ROLES or round_ not in ROUNDS:
        raise ValueError(f"{role!r} in the round {round_!r}")
    if not (type(t0_ns) is type(t1_ns) is int and t0_ns <= t1_ns):
        raise ValueError("a stretch needs two times, the earlier one first")
    return Assignment(session, rater, t0_ns, t1_ns, role, round_, draw)


BLOCK_NS = 60_000_000_000
"""Most session time from the first unit of a stretch to the beginning of its last one: short enough
for many stretches, and long enough that a rater hears what a unit is about."""


@dataclass(frozen=True, slots=True)
class CodableSession:
    """What a draw has to know of a session.

    Attributes
    ----------
    condition : what its participant was assigned to, as a text; equal texts are one stratum.
    begin_ns, end_ns : session time in which marks may lie.
    units : those that are coded, in order of time.
    stages : session times at which stages began, with their names: a stretch lies within one.
    """

    name: str
    condition: str
    begin_ns: int
    end_ns: int
    units: tuple[Unit, ...]
    stages: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Draw:
    """Who codes what, as drawn.

    Attributes
    ----------
    id : of what it was drawn from; the same draw has the same id.
    both : the share of stretches to be coded twice, 0 to 1.
    assignments : by session, the primary rater's first.
    stretches, double : how many stretches there are, and how many of them are coded twice.
    """

    id: str
    raters: tuple[str, ...]
    both: float
    seed: int
    assignments: tuple[Assignment, ...]
    stretches: int
    double: int


def draw_assignments(
    sessions: Sequence[CodableSession],
    raters: Sequence[str],
    both: float,
    seed: int,
    round: Round = "independent",  # noqa: A002 - the name of the field
) -> Draw:
    """Deal sessions out to raters, and draw the stretches that a second one codes, too.

    Within each condition the sessions are dealt in a random order to the raters in turn, so that
    neither rater codes one condition more than another if that can be avoided. The stretches
    (units that follow on each other, within a stage, up to a minute) stand in a row by condition,
    session and time; from a random start every (1 / both)-th one is taken. So each condition and
    each session has its share; a session that would have none gets one. Raises UsageError: the
    share, or the raters, cannot be drawn with.

    Parameters
    ----------
    sessions : in any order; each once.
    raters : at least one, and two where stretches are coded twice; each once.
    both : share of the stretches that are coded twice, 0 to 1.
    """
    _refuse(raters, both)
    ordered = sorted(sessions, key=lambda session: session.name)
    of = "\n".join((str(seed), f"{both!r}", round, *raters, *(s.name for s in ordered)))
    draw_id = hashlib.sha256(of.encode()).hexdigest()[:16]
    generator = random.Random(draw_id)
    # The order within a condition is random, that of conditions is not: by their texts.
    key = {session.name: generator.random() for session in ordered}
    rows = sorted(ordered, key=lambda session: (session.condition, key[session.name]))
    start = int(generator.random() * len(raters))
    primary = {
        session.name: raters[(start + number) % len(raters)] for number, session in enumerate(rows)
    }
    stretches = [(session, stretch) for session in rows for stretch in _stretches(session)]
    twice = _every(len(stretches), both, generator.random())
    if both:
        for session in rows:
            own = [number for number, (of_, _) in enumerate(stretches) if of_ is session]
            if own and not twice.intersection(own):
                twice.add(own[int(generator.random() * len(own))])
    second: dict[str, list[Assignment]] = {session.name: [] for session in rows}
    for turn, number in enumerate(sorted(twice)):
        session, (begin, end) = stretches[number]
        others = [rater for rater in raters if rater != primary[session.name]]
        rater = others[turn % len(others)]
        second[session.name].append(
            Assignment(session.name, rater, begin, end, "second", round, draw_id)
        )
    assignments: list[Assignment] = []
    for session in ordered:
        whole = (session.begin_ns, session.end_ns)
        first = Assignment(session.name, primary[session.name], *whole, "primary", round, draw_id)
        assignments += [first, *second[session.name]]
    return Draw(draw_id, tuple(raters), both, seed, tuple(assignments), len(stretches), len(twice))


def _refuse(raters: Sequence[str], both: float) -> None:
    if not 0 <= both <= 1:
        raise UsageError(
            f"{both:g} is not a share of the stretches.",
            todo="Give --both a number from 0 to 1, such as 0.2 for a fifth.",
        )
    if not raters or len({rater.casefold() for rater in raters}) != len(raters):
        raise UsageError("Name at least one rater, and each only once.", todo="--raters anna,ben")
    if both and len(raters) < 2:
        raise UsageError(
            "With one rater, no stretch can be coded by two.",
            todo="Name a second rater, or give --both 0.",
        )


def _every(count: int, share: float, start: float) -> set[int]:
    """A systematic sample: each of `count` rows with the same chance, evenly over the row."""
    return {
        number
        for number in range(count)
        if int((number + 1) * share + start) > int(number * share + start)
    }


def _stretches(session: CodableSession) -> list[tuple[int, int]]:
    """Session time of runs of units within a stage, from the first one's begin to the last one's
    end."""
    runs: list[list[Unit]] = []
    for unit in sorted(session.units, key=lambda unit: (unit.t0_ns, unit.t1_ns)):
        last = runs[-1] if runs else None
        if (
            last is None
            or unit.t0_ns - last[0].t0_ns > BLOCK_NS
            or _stage(session, unit.t0_ns) != _stage(session, last[0].t0_ns)
        ):
            runs.append([unit])
        else:
            last.append(unit)
    return [(run[0].t0_ns, max(unit.t1_ns for unit in run)) for run in runs]


def _stage(session: CodableSession, t_ns: int) -> tuple[int, str] | None:
    """The stage that is going on; None before the first."""
    before = [stage for stage in session.stages if stage[0] <= t_ns]
    return before[-1] if before else None


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
                f"{rater}: first rater of {len(primary)} sessions, second rater of "
                f"{len(second)} stretches ({minutes:.1f} min) of others"
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
    new = find_unassigned(ready, before, round)
    if not new:
        why = "; ".join(f"{name}: {what}" for name, what in left_out)
        raise UsageError(
            f"All sessions of {study.name} that can be coded are assigned already."
            if ready
            else f"No session of {study.name} can be assigned ({why or 'there is none'}).",
            todo="*Units* on the Coding page (`labapp code segment NAME --freeze`) finds and "
            "freezes units. Existing assignments are kept.",
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
    """What was said to be done, or locked. closed: by session and rater; left_out: sessions that
    cannot be used, and why."""

    closed: tuple[Closed, ...]
    left_out: tuple[tuple[str, str], ...]


def close(
    study: Path, raters: Sequence[str] = (), to: Status = "locked", only: Collection[str] = ()
) -> CloseReport:
    """Say that independent coding is done; or lock what is done, so that nothing of it changes any
    more; or make a draft of what is done again. raters, only: all raters and all sessions if
    none is named. Raises UsageError if a rater has no marks here, AnnotationError if there is
    nothing to close, or what is to be locked is a draft still, and AnnotationsBusy if a window has
    a file open; nothing is changed then."""
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
    due_now = "draft" if to == "done" else "done"
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
            elif status == "draft" and to == "locked":
                drafts.append(f"{name} in {session.name}")
    _refuse_drafts(drafts)
    if not due:
        raise AnnotationError(
            f"There is no independent coding that {_NONE_LEFT[to]}.",
            safe="What is done or locked is unchanged.",
            todo="The Coding page and `labapp code status` show everybody's progress.",
        )
    with ExitStack() as stack:
        files = [
            stack.enter_context(Ledger(rater_file(session.path, rater.rater)))
            for session, rater in due
        ]
        # A rater who had a file open until now may have continued with it.
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
        uncoded = count_uncoded_units(session.annotations, rater, assignments, books)
        marks = sum(mark.round == INDEPENDENT for mark in rater.marks)
        closed.append(Closed(session.name, rater.rater, marks, uncoded))
    left_out = tuple(entry for entry in sessions.left_out if not only or entry[0] in only)
    return CloseReport(tuple(closed), left_out)


_NONE_LEFT = {
    "locked": "could be locked",
    "done": "is not done yet",
    "draft": "is done but not yet locked and could be continued",
}


def _refuse_drafts(drafts: Iterable[str]) -> None:
    if names := ", ".join(drafts):
        raise AnnotationError(
            f"Not done yet: {names}.",
            safe="Nothing was locked.",
            todo="When everything is coded, click *Done* in the coding window, or *Raters* and "
            "*Mark done or lock…* on the Coding page for many sessions at once "
            "(`labapp code done`). "
            "Then lock.",
        )


def _status(file: Ledger) -> Status:
    """How far the independent round is, by what the file holds now."""
    fold = MarksFold()
    fold_lines(fold, file.lines, str(file.path))
    return fold.statuses.get(INDEPENDENT, "draft")


def count_uncoded_units(
    annotations: SessionAnnotations,
    rater: RaterMarks,
    assignments: Sequence[Assignment],
    codebooks: Mapping[str, Codebook],
) -> int:
    """How many of a rater's units have no independent code on a tier that is not optional: of
    those assigned, or of all the participant's if nothing is."""
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


def study_status(study: Path) -> Iterator[SessionProgress]:
    """How far each session of a study is, with what each rater still has to code; see
    `study_progress`."""
    known: list[tuple[tuple[Assignment, ...], Mapping[str, Codebook]]] = []

    def uncoded(annotations: SessionAnnotations, rater: RaterMarks) -> int:
        if not known:
            known.append((assignments_of_study(study), versions_of(study)))
        return count_uncoded_units(annotations, rater, *known[0])

    return study_progress(study, uncoded)


@dataclass(frozen=True, slots=True)
class StudyDisagreements:
    """Where raters differ. differences: over all sessions; left_out: sessions that cannot be used,
    and raters whose coding is not locked yet, and why."""

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
        left_out += [(session.name, f"The coding of {name} is not locked.") for name in unlocked]
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
    `adjudicate_difference`. Raises AnnotationError if the coding is not locked, there is no reason,
    or it cannot be written."""
    session = next((s for s in study_sessions(study).usable if s.name == difference.session), None)
    if session is None:
        raise AnnotationError(f"{difference.session} no longer exists.")
    raters = session.annotations.raters
    statuses = {name: raters[name].status_of(INDEPENDENT) for name in difference.marks}
    if unlocked := [name for name, status in statuses.items() if status != "locked"]:
        raise AnnotationError(
            f"The coding of {' and '.join(unlocked)} in {session.name} is not locked. If "
            "differences are settled before that, the coding is no longer independent.",
            safe="Nothing was settled.",
            todo="*Raters*, *Mark done or lock…* on the Coding page (`labapp code lock "
            f"{study.name}`) locks what is done.",
        )
    with open_settlements(session.path, by, record=session.record) as file:
        file.settle(difference, marks, reason)
        file.flush()


def adjudicate_difference(
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
            f"A unit can have only one code of the tier {tier.name!r}, but {len(codes)} were "
            "given.",
            safe="Nothing was settled.",
            todo="Choose one of them.",
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
