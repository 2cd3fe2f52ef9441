"""Who codes what: primary raters dealt out within conditions, and stretches coded twice, drawn over
all sessions.

A draw is a function of its seed, of the raters in their order, and of the sessions: neither the
machine nor the order in which sessions are named plays a part.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass

from labapp.annotations.model import Assignment, Round, Unit
from labapp.errors import UsageError

BLOCK_NS = 60_000_000_000
"""Most session time from the first unit of a stretch to the beginning of its last one: short enough
for many stretches, and long enough that a rater hears what a unit is about."""


@dataclass(frozen=True, slots=True)
class CodableSession:
    """What a draw has to know of a session.

    Attributes
    ----------
    name : of its folder.
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
    raters : in the order they were given.
    both : the share of stretches to be coded twice, 0 to 1.
    seed : of the generator.
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
    seed : any whole number.
    round : what the coding is for.

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
        assignments.append(
            Assignment(
                session.name,
                primary[session.name],
                session.begin_ns,
                session.end_ns,
                "primary",
                round,
                draw_id,
            )
        )
        assignments += second[session.name]
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
