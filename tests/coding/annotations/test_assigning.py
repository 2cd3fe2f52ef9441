"""Draws of who codes what: fair within conditions, over all sessions, the same for a seed."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.errors import UsageError
from labapp.coding.annotations.model import Unit
from labapp.coding.annotations.rounds import BLOCK_NS, CodableSession, draw_assignments

S = 1_000_000_000


def session(number: int, condition: str, units: int = 60, seconds: int = 20) -> CodableSession:
    """One in which somebody speaks for 3 s every so often; its second half is another stage."""
    spoken = tuple(
        Unit(f"u{index}", index * seconds * S, (index * seconds + 3) * S) for index in range(units)
    )
    half = units * seconds * S // 2
    name = f"sub-P{number:02}_ses-1_20260102T030405Z"
    stages = ((0, "first"), (half, "second"))
    return CodableSession(name, condition, 0, units * seconds * S, spoken, stages)


STUDY = [session(number, "ab"[number % 2]) for number in range(12)]


def test_each_session_has_one_primary_rater_and_conditions_are_dealt_evenly() -> None:
    draw = draw_assignments(STUDY, ("anna", "ben"), 0.2, 1)
    primary = {a.session: a.rater for a in draw.assignments if a.role == "primary"}
    assert primary.keys() == {s.name for s in STUDY}
    dealt = Counter((s.condition, primary[s.name]) for s in STUDY)
    assert set(dealt.values()) == {3}, "two raters in two conditions, twelve sessions"


def test_a_fifth_is_coded_twice_in_every_condition_and_session() -> None:
    draw = draw_assignments(STUDY, ("anna", "ben"), 0.2, 1)
    seconds = [a for a in draw.assignments if a.role == "second"]
    by_session = Counter(a.session for a in seconds)
    assert by_session.keys() == {s.name for s in STUDY}
    assert max(by_session.values()) - min(by_session.values()) <= 1
    by_condition = Counter(next(s.condition for s in STUDY if s.name == a.session) for a in seconds)
    assert abs(by_condition["a"] - by_condition["b"]) <= 1
    assert draw.double == len(seconds)
    assert draw.double / draw.stretches == pytest.approx(0.2, abs=0.01)


def test_stretches_lie_within_a_stage_and_are_short() -> None:
    for entry in draw_assignments(STUDY, ("anna", "ben"), 1.0, 7).assignments:
        if entry.role == "second":
            of = next(s for s in STUDY if s.name == entry.session)
            assert entry.t1_ns - entry.t0_ns <= BLOCK_NS + 3 * S
            assert not entry.t0_ns < of.stages[1][0] < entry.t1_ns


def test_the_same_seed_gives_the_same_draw_whatever_the_order_of_sessions() -> None:
    first = draw_assignments(STUDY, ("anna", "ben"), 0.2, 1)
    assert draw_assignments(STUDY[::-1], ("anna", "ben"), 0.2, 1) == first
    assert draw_assignments(STUDY, ("anna", "ben"), 0.2, 2).assignments != first.assignments


def test_a_short_session_has_a_stretch_coded_twice_all_the_same() -> None:
    draw = draw_assignments([session(1, "a", units=2)], ("anna", "ben"), 0.01, 3)
    assert draw.double == 1


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 20)), max_size=8),
    st.integers(1, 4),
    st.floats(0, 1),
    st.integers(),
)
def test_nobody_is_the_second_rater_of_a_session_of_their_own(
    rows: list[tuple[str, int]], raters: int, both: float, seed: int
) -> None:
    sessions = [session(n, condition, units) for n, (condition, units) in enumerate(rows)]
    names = [f"rater-{number}" for number in range(raters)]
    if both and raters < 2:
        with pytest.raises(UsageError, match="cannot code a stretch twice"):
            draw_assignments(sessions, names, both, seed)
        return
    draw = draw_assignments(sessions, names, both, seed)
    primary = {a.session: a.rater for a in draw.assignments if a.role == "primary"}
    assert len(primary) == len(sessions)
    seconds = [a for a in draw.assignments if a.role == "second"]
    assert all(a.rater != primary[a.session] for a in seconds)
    assert len({(a.session, a.t0_ns) for a in seconds}) == len(seconds)
    assert draw.double >= int(both * draw.stretches)
    if not both:
        assert not seconds


@pytest.mark.parametrize("both", [-0.1, 1.1])
def test_a_share_is_from_nought_to_one(both: float) -> None:
    with pytest.raises(UsageError, match="no share"):
        draw_assignments(STUDY, ("anna", "ben"), both, 1)


def test_a_rater_is_named_once() -> None:
    with pytest.raises(UsageError, match="once"):
        draw_assignments(STUDY, ("anna", "anna"), 0.2, 1)
