"""A part with commands and events of its own, as another package brings it: the session hands them
on without knowing them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import pytest

from labapp.record.events import Event, Payload, UnstampedEvent, registry
from labapp.record.events.commands import AskToLeave, Begin, Command, Pause, Tick
from labapp.record.events.lifecycle import SegmentStarted
from labapp.record.events.registry import Pauses
from labapp.session.machine import SessionMachine, SessionState
from labapp.study.plugins.machine import PartMachine
from labapp.study.plugins.part import PlannedPart


class BellPart(PlannedPart):
    part: Literal["bell"] = "bell"


@dataclass(frozen=True, slots=True)
class Ring(Command):
    times: int


@dataclass(frozen=True, slots=True)
class RingOnTheWayOut(Ring):
    while_leaving: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class TakeTheBell(Command):
    settles_leaving: ClassVar[bool] = True


class BellTask(PartMachine[int]):
    """Counts how often the bell rang."""

    def __init__(self, rung: type[Payload]) -> None:
        self.rung = rung

    def initial(self, pauses: Pauses) -> int:
        return 0

    def decide(self, state: int, command: Command, now_ns: int) -> Sequence[UnstampedEvent]:
        match command:
            case Ring(times):
                return (UnstampedEvent(self.rung(times), "bell"),)  # type: ignore[call-arg]
            case TakeTheBell():
                return (UnstampedEvent(self.rung(-state), "bell"),)  # type: ignore[call-arg]
        return ()

    def apply(self, state: int, event: Event, payload: Payload) -> int:
        return state + getattr(payload, "times", 0)


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Payload]]:
    """A kind that is there for one test."""
    registry.registered_kinds()
    monkeypatch.setattr(registry, "_KINDS", dict(registry._KINDS))

    class Rung(Payload):
        """The bell rang."""

        times: int

    yield registry.kind("bell.rung")(Rung)
    registry.kinds_of.cache_clear()
    registry.frequent_kinds.cache_clear()


def after(
    machine: SessionMachine, state: SessionState, command: Command
) -> tuple[SessionState, list[str]]:
    """The state after a command, and the kinds of events that it led to."""
    kinds = []
    for unstamped in machine.decide(state, command, 1):
        state = _applied(machine, state, unstamped)
        kinds.append(unstamped.payload.kind)
    return state, kinds


def _applied(
    machine: SessionMachine, state: SessionState, unstamped: UnstampedEvent
) -> SessionState:
    payload = unstamped.payload
    stamps = (
        1,
        1,
        1,
        "",
        "participant",
        payload.kind,
        payload.version,
        unstamped.part_id,
        None,
        None,
    )
    return machine.apply(state, Event(*stamps, payload.as_dict()), payload)


@pytest.fixture
def begun(rung: type[Payload]) -> tuple[SessionMachine, SessionState]:
    machine = SessionMachine([BellPart(id="bell", title="Bell")], [BellTask(rung)], {})
    started = UnstampedEvent(SegmentStarted(1, "", "", "", "", None))
    state = _applied(machine, machine.initial(), started)
    return machine, after(machine, state, Begin())[0]


def test_the_session_hands_on_what_it_does_not_know(
    begun: tuple[SessionMachine, SessionState],
) -> None:
    machine, state = begun
    state, kinds = after(machine, state, Ring(3))
    assert kinds == ["bell.rung"]
    assert state.part_state == 3
    assert after(machine, state, Tick())[1] == []


def test_a_command_says_whether_it_is_heard_of_one_who_asks_to_leave(
    begun: tuple[SessionMachine, SessionState],
) -> None:
    machine, state = begun
    state, _ = after(machine, state, AskToLeave("escape"))
    assert after(machine, state, Ring(1))[1] == []
    assert after(machine, state, RingOnTheWayOut(1))[1] == ["bell.rung"]
    state, kinds = after(machine, state, TakeTheBell())
    assert kinds == ["close.withdrawn", "bell.rung"]
    assert not state.pauses.leaving


def test_nothing_is_handed_on_in_a_pause(begun: tuple[SessionMachine, SessionState]) -> None:
    machine, state = begun
    state, _ = after(machine, state, Pause("a while"))
    assert after(machine, state, RingOnTheWayOut(1))[1] == []
