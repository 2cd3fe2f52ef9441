"""Who codes what of a study: `annotations/assignments.jsonl`.

A draw is only ever added: sessions that are recorded later are drawn by themselves, and what is
assigned stays. What is written there names no condition, so that a rater may look at it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from labapp.annotations import ledger, lines
from labapp.annotations.assigning import CodableSession, Draw
from labapp.annotations.ledger import Ledger
from labapp.annotations.lines import Line
from labapp.annotations.model import ROUNDS, Assignment, Segmentation
from labapp.annotations.places import ANNOTATIONS
from labapp.errors import AnnotationError
from labapp.journal.record import Record

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
        file.append_all([(DRAWN, draw_body(draw)), *((ASSIGNED, body) for body in bodies)])
        file.flush()


def draw_body(draw: Draw) -> dict[str, Any]:
    """A draw as its first line has it."""
    return {
        "id": draw.id,
        "raters": list(draw.raters),
        "both": draw.both,
        "seed": draw.seed,
        "stretches": draw.stretches,
        "double": draw.double,
    }


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
