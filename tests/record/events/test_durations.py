"""Durations: whatever holds a session up, however it is nested, is counted out once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.record.events import Event, payload_of
from labapp.record.events.registry import KINDS, Pauses, WorkingTime

VOIDING = {
    "session.paused",
    "session.resumed",
    "segment.started",
    "session.completed",
    "session.ended",
}
PAYLOADS: dict[str, dict[str, Any]] = {
    "session.paused": {"reason": ""},
    "session.resumed": {"reason": ""},
    "skip.requested": {"what": "trial", "index": 0},
    "skip.taken_back": {"what": "trial"},
    "skip.confirmed": {"what": "trial"},
    "close.requested": {"how": "escape"},
    "close.withdrawn": {},
    "session.completed": {},
    "session.ended": {"reason": "", "withdrawal": ""},
    "session.reopened": {"seq": 1},
    "window.focus": {"focused": True},
    "program.stalled": {},
}
STEPS = st.lists(
    st.tuples(
        st.integers(0, 30),
        st.sampled_from([*PAYLOADS, "segment.started", "old close.requested", "old session.ended"]),
    ),
    max_size=25,
)


def journal(steps: list[tuple[int, str]]) -> list[Event]:
    """Events at these waits (ms) after one another."""
    events: list[Event] = []
    now = 0
    for wait, what in steps:
        last = now
        now += wait
        old, kind = what.startswith("old "), what.removeprefix("old ")
        if kind == "segment.started":
            payload: dict[str, Any] = dict.fromkeys(
                ("utc", "boot_id", "app_version", "study_sha256"), ""
            )
            payload |= {"segment": 2, "gap_from_ns": last}
        elif kind == "program.stalled":
            payload = {"who": "program", "from_ns": last, "duration_ns": wait, "left_out": True}
        else:
            payload = PAYLOADS[kind]
        v = 2 if kind in ("close.requested", "session.completed", "session.ended") else 1
        events.append(
            Event(
                len(events) + 1,
                1,
                now,
                "",
                "system",
                kind,
                1 if old else v,
                None,
                None,
                None,
                payload,
            )
        )
    return events


def counted(events: list[Event], until: int) -> int:
    """Every millisecond looked at by itself: who holds the session in it?"""
    held = [False] * max([until, *(event.t_ns for event in events)])
    holds: set[str] = set()
    last = 0
    for event in events:
        for ms in range(last, event.t_ns):
            held[ms] = held[ms] or bool(holds)
        if event.kind in VOIDING:
            holds -= {"skip", "leave"}
        match event.kind:
            case "program.stalled":
                for ms in range(int(event.payload["from_ns"]), event.t_ns):
                    held[ms] = True
            case "session.paused":
                holds.add("pause")
            case "session.resumed":
                holds.discard("pause")
            case "segment.started":
                for ms in range(int(event.payload["gap_from_ns"]), event.t_ns):
                    held[ms] = True
                holds.add("pause")
            case "skip.requested":
                holds.add("skip")
            case "skip.taken_back" | "skip.confirmed":
                holds.discard("skip")
            case "close.requested" if event.v == 2:
                holds.add("leave")
            case "close.withdrawn":
                holds.discard("leave")
            case "session.completed" | "session.ended" if event.v == 2:
                holds.add("end")
            case "session.reopened":
                holds.discard("end")
        last = event.t_ns
    for ms in range(last, until):
        held[ms] = held[ms] or bool(holds)
    return sum(not still for still in held[:until])


@given(STEPS, st.integers(0, 20))
def test_working_time_is_every_moment_that_nothing_holds(
    steps: list[tuple[int, str]], rest: int
) -> None:
    events = journal(steps)
    pauses, before = Pauses(), 0
    for number, event in enumerate(events, 1):
        pauses = pauses.apply(event)
        working = pauses.working_ns(event.t_ns)
        assert working == counted(events[:number], event.t_ns)
        assert working >= before >= 0, "never less than before"
        before = working
    until = (events[-1].t_ns if events else 0) + rest
    assert pauses.working_ns(until) == counted(events, until)
    known = WorkingTime(events)
    for moment in range(until + 1):
        assert known.working_ns(moment) == counted(events, moment)


@given(STEPS)
def test_only_the_kinds_that_are_named_matter(steps: list[tuple[int, str]]) -> None:
    whole = some = Pauses()
    for event in journal(steps):
        whole = whole.apply(event)
        some = some.apply(event) if event.kind in KINDS else some
    assert whole == some


@pytest.mark.parametrize("kind", ["close.requested", "session.completed", "session.ended"])
def test_in_older_journals_time_goes_on(kind: str) -> None:
    (event,) = journal([(10, f"old {kind}")])
    assert Pauses().apply(event).working_ns(1000) == 1000
    payload = payload_of(event).as_dict()
    payload.pop("debriefed", None)  # a later field
    assert payload == PAYLOADS[kind], "the fields are the same"
