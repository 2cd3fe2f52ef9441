"""Machines that are looked at while they decide and apply."""

from __future__ import annotations

import datetime
import gc
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from cProfile import Profile
from dataclasses import dataclass
from types import FrameType
from typing import Any

from labapp.events import Event, Payload, UnstampedEvent
from labapp.events.commands import Command
from labapp.plugins.machine import PartMachine
from labapp.study.assignment import generator

CLOCKS = frozenset(
    f"{name}{unit}" for name in ("time", "perf_counter", "monotonic") for unit in ("", "_ns")
)
TODAY = frozenset({"now", "utcnow", "today"})
PATIENCE = 2000
"""So often the same command can lead to nothing in the same state before the machine is said to
stand still: whoever asks would ask for ever."""


class Fault(Exception):
    """What has to be mended, in a sentence. The check ends with the first one."""


@dataclass
class Idle:
    """How often a command led to nothing in the same state, one time after the other."""

    times: int = 0
    command: Command | None = None
    state: Any = None


class Notes:
    """What was found, each sentence once."""

    def __init__(self) -> None:
        self.sentences: dict[str, None] = {}

    def add(self, sentence: str) -> None:
        self.sentences.setdefault(sentence)


class Seen:
    """What a call did that it must not do. clock, draw: what it called, empty for nothing."""

    def __init__(self) -> None:
        self.clock = ""
        self.draw = ""

    def called(self, frame: FrameType, event: str, function: Any) -> None:
        """For `sys.setprofile`."""
        if event == "call" and frame.f_code is generator.__code__:
            self.draw = "labapp.study.assignment.generator"
        if event != "c_call":
            return
        name = getattr(function, "__name__", "")
        module, owner = getattr(function, "__module__", None), getattr(function, "__self__", None)
        if module == "time" and name in CLOCKS:
            self.clock = f"time.{name}"
        elif name in TODAY and isinstance(owner, type) and issubclass(owner, datetime.date):
            self.clock = f"datetime.{name}"
        elif isinstance(owner, random.Random):
            self.draw = f"random.{name}"
        elif name == "urandom":
            self.draw = "a generator without a seed"


@contextmanager
def seen() -> Iterator[Seen]:
    """What is called inside. A profiler that runs rests meanwhile."""
    notes, collects = Seen(), gc.isenabled()
    before: Any = sys.getprofile()
    gc.disable()  # whoever is told of a collection may look at a clock
    # cProfile's is no function that could be set again.
    profiler = before if isinstance(before, Profile) else None
    if profiler:
        profiler.disable()
    sys.setprofile(notes.called)
    try:
        yield notes
    finally:
        sys.setprofile(None if profiler else before)
        if profiler:
            profiler.enable()
        if collects:
            gc.enable()


def watched(machine: PartMachine[Any], part: str, notes: Notes) -> PartMachine[Any]:
    """The same machine, looked at. part: the id of its part. It stays of its class, for screens and
    simulated participants ask for that."""
    cls = type(machine)
    idle = Idle()

    def decide(self: Any, state: Any, command: Command, now_ns: int) -> Sequence[UnstampedEvent]:
        before, own = repr(state), _own(self)
        with seen() as did:
            events = cls.decide(self, state, command, now_ns)
        name = type(command).__name__
        if did.clock:
            notes.add(
                f"`decide` reads the clock ({did.clock}) when it is asked for {name} in {part!r}: "
                "take the session time that it is given as `now_ns`."
            )
        if repr(state) != before:
            notes.add(
                f"`decide` changes the state of {part!r} when it is asked for {name}, without an "
                "event: return an event, and let `apply` make another state of it."
            )
        if _own(self) != own:
            notes.add(
                f"`decide` keeps something in the machine of {part!r} when it is asked for {name}: "
                "after a crash that is lost. Put it into the state, by an event."
            )
        if list(cls.decide(self, state, command, now_ns)) != list(events) and not did.clock:
            notes.add(
                f"`decide` answers {name} in {part!r} otherwise when it is asked again: draw from "
                "`labapp.study.assignment.generator` with the session's seed, made anew each time."
            )
        same = not events and idle.command == command and idle.state is state
        idle.times, idle.command, idle.state = (idle.times + 1 if same else 0), command, state
        if idle.times > PATIENCE:
            raise Fault(
                f"{part!r} is asked for {name} again and again, and `decide` answers it with "
                "nothing: let `wants_begin`, `next_deadline` and the `due` of its pictures ask for "
                "what is possible only."
            )
        return events

    def apply(self: Any, state: Any, event: Event, payload: Payload) -> Any:
        before, own = repr(state), _own(self)
        with seen() as did:
            after = cls.apply(self, state, event, payload)
        if did.clock:
            notes.add(
                f"`apply` reads the clock ({did.clock}) when it folds {event.kind} into the state "
                f"of {part!r}: a replay would give another state. Take `event.t_ns`."
            )
        if did.draw:
            notes.add(
                f"`apply` draws ({did.draw}) when it folds {event.kind} into the state of {part!r}"
                ": draw in `decide`, and put what was drawn into the event."
            )
        if repr(state) != before or _own(self) != own:
            notes.add(
                f"`apply` changes the state before {event.kind} of {part!r}, or the machine "
                "itself: make a new state, as `dataclasses.replace` does."
            )
        elif not (did.clock or did.draw) and cls.apply(self, state, event, payload) != after:
            notes.add(
                f"`apply` makes another state of {event.kind} in {part!r} when it folds it again: "
                "the state must follow from the events alone."
            )
        return after

    slots: tuple[str, ...] = ()
    looked_at = {"__slots__": slots, "decide": decide, "apply": apply}
    if hasattr(machine, "__dict__"):
        del looked_at["__slots__"]
    object.__setattr__(machine, "__class__", type(cls.__name__, (cls,), looked_at))
    return machine


def _own(machine: Any) -> str:
    """What a machine holds besides the state."""
    return repr(getattr(machine, "__dict__", ""))
