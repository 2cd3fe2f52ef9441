"""Who codes what of a study: `annotations/assignments.jsonl`.

Primary raters are dealt out within conditions, and stretches coded twice are drawn over all
sessions. A draw is only ever added: sessions that are recorded later are drawn by themselves, and
what is assigned stays. What is written there names no condition, so that a rater may look at it.

A draw is a function of its seed, of the raters in their order, and of the sessions: neither the
machine nor the order in which sessions are named plays a part.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labapp.base.errors import AnnotationError, UsageError
from labapp.coding.annotations import ledger, lines
from labapp.coding.annotations.ledger import Ledger
from labapp.coding.annotations.lines import Line
from labapp.coding.annotations.model import ROUNDS, Assignment, Round, Segmentation, Unit
from labapp.coding.annotations.places import ANNOTATIONS
from labapp.record.journal.record import Record

ASSIGNMENTS = "assignments.jsonl"
DRAWN = "assignments.drawn"
ASSIGNED = "session.assigned"
ROLES = ("primary", "second")


def assignments_of_study(study: Path) -> tuple[Assignment, ...]:
    """All assignments of a study, by its folder; none where nothing was drawn.

    Raises
    ------
    AnnotationError : the file cannot be read, or a line of it is damaged.
    """
    path = study / ANNOTATIONS / ASSIGNMENTS
    return read_assignments(ledger.read(path).lines, str(path))


def assignments_of(record: Record) -> tuple[Assignment, ...]:
    """The assignments of a recorded session, from its study's folder or its bundle.

    Raises
    ------
    AnnotationError : they cannot be read.
    """
    if record.kind == "session":
        folder = Path(record.source).absolute()
        every = assignments_of_study(folder.parent)
        return tuple(entry for entry in every if entry.session == folder.name)
    name = f"{ANNOTATIONS}/{ASSIGNMENTS}"
    if not record.tree.has(name):
        return ()
    content = record.tree.read(name, ledger.LARGEST)
    whole = lines.checked(lines.parse(content), f"{record.source}: {name}")
    return read_assignments(whole.lines, f"{record.source}: {name}")


def read_assignments(drawn: Iterable[Line], place: str) -> tuple[Assignment, ...]:
    """The assignments in lines. place: of the file, for errors. Raises AnnotationError."""
    result: list[Assignment] = []
    for line in drawn:
        if line.kind == DRAWN:
            continue
        if line.kind != ASSIGNED:
            raise AnnotationError(
                f"{place}, line {line.seq}: {line.kind!r} is nothing that a draw says.",
                todo="Update labapp; a newer version may have written it.",
            )
        try:
            draw, session = str(line.body["draw"]), str(line.body["session"])
            result += [_assignment(entry, session, draw) for entry in line.body["stretches"]]
        except (KeyError, TypeError, ValueError) as error:
            raise AnnotationError(
                f"{place}, line {line.seq}: it assigns nothing ({error}).",
                todo="Put back a copy of the file.",
            ) from error
    return tuple(result)


def save_draw(study: Path, draw: Draw) -> None:
    """Write a draw down, on the disk before it returns.

    Raises
    ------
    AnnotationsBusy : another window writes to the file.
    AnnotationError : it cannot be written, or somebody assigned one of its sessions in its round
        since it was drawn: there would be two primary raters.
    """
    with Ledger(study / ANNOTATIONS / ASSIGNMENTS) as file:
        before = read_assignments(file.lines, str(file.path))
        taken = {(assignment.session, assignment.round) for assignment in before}
        if twice := sorted({a.session for a in draw.assignments if (a.session, a.round) in taken}):
            raise AnnotationError(
                f"{', '.join(twice)} was assigned by somebody else meanwhile.",
                safe="What is assigned stays; nothing was added.",
                todo="Assign the others: call it again.",
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
    """Assignments as the lines of a draw have them, one a session."""
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


def undrawn(
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
        raise ValueError("a stretch has two times in their order")
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
    neither rater codes one condition more than another where that can be avoided. The stretches
    (units that follow on each other, within a stage, up to a minute) stand in a row by condition,
    session and time; from a random start every (1 / both)-th one is taken. So each condition and
    each session has its share; a session that would have none gets one.

    Parameters
    ----------
    sessions : in any order; each once.
    raters : at least one, and two where stretches are coded twice; each once.
    both : share of the stretches that are coded twice, 0 to 1.

    Raises
    ------
    UsageError : the share, or the raters, cannot be drawn with.
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
            f"{both:g} is no share of the stretches.",
            todo="Give --both a number from 0 to 1, such as 0.2 for a fifth.",
        )
    if not raters or len({rater.casefold() for rater in raters}) != len(raters):
        raise UsageError(
            "Each rater is named once, and there is at least one.", todo="--raters anna,ben"
        )
    if both and len(raters) < 2:
        raise UsageError(
            "One rater alone cannot code a stretch twice for others to compare.",
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
