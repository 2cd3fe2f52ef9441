"""A person's state follows from their sessions, and from what the study says of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.study.people import HOLDING, SessionState, Visits, counted, people


@dataclass(frozen=True)
class Had:
    participant: str
    session: str
    state: SessionState


THREE = Visits(("1", "2", "3"), 3)


def state(visits: Visits, *sessions: tuple[str, SessionState]) -> str:
    (person,) = people([Had("P01", label, of) for label, of in sessions], visits)
    return person.state


@pytest.mark.parametrize(
    ("needed", "sessions", "is_now"),
    [
        (3, "1 included", "awaited"),
        (1, "1 included", "included"),
        (3, "1 included, 2 included, 3 included", "included"),
        (3, "1 included, 3 included", "missed"),
        (2, "1 included, 3 included", "included"),
        (3, "1 included, 2 excluded", "excluded"),
        (2, "1 included, 2 excluded", "awaited"),
        (2, "1 excluded", "excluded"),
        (3, "1 included, 2 ended", "ended"),
        (3, "1 included, 2 withdrawn", "withdrawn"),
        (1, "1 withdrawn, 2 included, 3 included", "withdrawn"),
        (3, "1 included, 2 open", "running"),
        (3, "2 reserved", "missed"),
        (2, "2 reserved", "running"),
        (3, "1 declined", "declined"),
        (3, "1 gone", "gone"),
        (3, "1 gone, 2 included", "missed"),
    ],
)
def test_what_becomes_of_a_person(needed: int, sessions: str, is_now: str) -> None:
    had = [tuple(each.split()) for each in sessions.split(", ")]
    assert state(Visits(THREE.labels, needed), *had) == is_now  # type: ignore[arg-type]


def test_a_study_without_sessions_needs_one_that_counts() -> None:
    assert state(Visits(), ("1", "excluded"), ("2", "included")) == "included"
    assert state(Visits(), ("1", "open")) == "running"
    assert state(Visits(), ("1", "excluded")) == "excluded"


def test_sessions_out_of_order() -> None:
    assert THREE.skipped("3", ["1"]) == ("2",)
    assert THREE.skipped("2", []) == ("1",)
    assert THREE.skipped("2", ["1"]) == ()
    assert Visits(THREE.labels, 3, "any").skipped("3", []) == ()
    (person,) = people([Had("P01", "1", "included"), Had("P01", "3", "included")], THREE)
    assert (person.missed, person.to_come) == (("2",), ())
    assert person.text() == "1 included, 2 missed, 3 included"
    (person,) = people([Had("P01", "2", "included")], Visits(THREE.labels, 3, "any"))
    assert (person.missed, person.to_come, person.state) == ((), ("1", "3"), "awaited")


STATES: tuple[SessionState, ...] = (
    "reserved", "open", "included", "excluded", "declined", "ended", "withdrawn", "gone",
)  # fmt: skip
ORDERS: tuple[Literal["told", "refused", "any"], ...] = ("told", "refused", "any")


@given(
    sessions=st.lists(
        st.tuples(st.integers(1, 12), st.sampled_from("123"), st.sampled_from(STATES)),
        max_size=40,
    ),
    needed=st.integers(1, 3),
    order=st.sampled_from(ORDERS),
)
def test_everybody_is_counted_once(
    sessions: list[tuple[int, str, SessionState]],
    needed: int,
    order: Literal["told", "refused", "any"],
) -> None:
    visits = Visits(THREE.labels, needed, order)
    everybody = people([Had(f"P{who}", label, of) for who, label, of in sessions], visits)
    assert (
        sum(counted(everybody).values()) == len(everybody) == len({who for who, _, _ in sessions})
    )
    assert [int(person.participant[1:]) for person in everybody] == sorted(
        {who for who, _, _ in sessions}
    ), "P2 before P10"
    for person in everybody:
        states = {each.state for each in person.sessions}
        assert person.holds == (person.state in HOLDING)
        assert (person.state == "withdrawn") == ("withdrawn" in states)
        if person.holds:
            assert states & {"included", "open", "reserved"}
