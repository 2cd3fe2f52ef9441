"""A session in memory: the real runner, machine and pictures, a virtual clock, and no disk."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from labapp import __version__
from labapp.clock import FakeClock
from labapp.errors import LabappError
from labapp.events import Event, Source, UnstampedEvent
from labapp.events.commands import (
    AskToLeave,
    Command,
    ConfirmSkip,
    GiveConsent,
    Pause,
    Resume,
    StandStill,
    StayHere,
)
from labapp.events.event import payload_text
from labapp.events.lifecycle import SegmentStarted, SessionPlanned
from labapp.journal.write import Journal, Receipt
from labapp.plugins import registry
from labapp.plugins.part import PlannedPart
from labapp.plugins.task_type import TaskType
from labapp.representations.decoding import Decoder
from labapp.session.machine import SessionMachine
from labapp.session.runner import Runner
from labapp.session.scheduling import VirtualScheduler
from labapp.session.tasks import machine_of
from labapp.simulation.driver import Driver
from labapp.simulation.pace import FAST
from labapp.study.loading import LoadedStudy
from labapp.testing.watching import Fault, Notes, watched

UTC = "2026-01-02T03:04:05.000000Z"
MOST_EVENTS = 5_000
"""Of a session with a short study."""
STILL_S = 200.0
"""Session time in which something must happen while a simulated participant acts."""


Change = tuple[int, Command]
"""Which of the commands that a simulated participant sends, counted from 0, becomes what."""


class MemoryJournal:
    """What the runner asks of a journal; events are what a file would give back."""

    failed: str | None = None

    def __init__(self, clock: FakeClock, events: list[Event], segment: int) -> None:
        self.clock = clock
        self.events = events
        self.segment = segment
        self._written = threading.Event()
        self._written.set()

    def append(self, unstamped: UnstampedEvent, source: Source) -> Receipt:
        return self.append_all((unstamped,), source)[0]

    def append_all(self, events: Sequence[UnstampedEvent], source: Source) -> list[Receipt]:
        return [Receipt(self._stamped(unstamped, source), self._written) for unstamped in events]

    def _stamped(self, unstamped: UnstampedEvent, source: Source) -> Event:
        if len(self.events) >= MOST_EVENTS:
            raise Fault(
                f"The session has more than {MOST_EVENTS} events and goes on, "
                f"{unstamped.payload.kind} in {unstamped.part_id!r} among them: "
                "let the part come to an end."
            )
        payload = unstamped.payload
        event = Event(
            len(self.events) + 1,
            self.segment,
            self.clock.now_ns(),
            UTC,
            source.value,
            payload.kind,
            payload.version,
            unstamped.part_id,
            unstamped.trial,
            unstamped.attempt,
            json.loads(payload_text(payload.as_dict())),
        )
        self.events.append(event)
        return event

    def close(self, timeout_s: float = 0.0) -> None:
        """There is nothing to close."""


class RecordingRunner(Runner):
    """A runner that tells which commands were sent, and by whom."""

    heard: list[tuple[str, Command, Source]]
    sent: list[Command]
    change: Change | None = None

    def send(self, command: Command, source: Source = Source.PARTICIPANT) -> None:
        if source is Source.SIMULATED:
            if self.change is not None and self.change[0] == len(self.sent):
                command = self.change[1]
            self.sent.append(command)
        super().send(command, source)

    def _decide(self, command: Command, source: Source) -> bool:
        part = self.part
        self.heard.append(("" if part is None else part.part, command, source))
        return super()._decide(command, source)


class Rehearsal:
    """One session.

    Attributes
    ----------
    events : all so far, as a journal would give them back.
    heard : the commands that were decided, with the kind of the part that they came in.
    sent : those that a simulated participant sent.
    """

    def __init__(
        self,
        task_type: TaskType[Any],
        loaded: LoadedStudy,
        planned: SessionPlanned,
        decoders: Mapping[str, Decoder],
        notes: Notes,
        strategy: str,
        change: Change | None = None,
    ) -> None:
        self.task_type = task_type
        self.loaded = loaded
        self.planned = planned
        self.decoders = decoders
        self.notes = notes
        self.strategy = strategy
        self.clock = FakeClock()
        self.events: list[Event] = []
        self.heard: list[tuple[str, Command, Source]] = []
        self.sent: list[Command] = []
        self.change = change
        MemoryJournal(self.clock, self.events, 1).append(UnstampedEvent(planned), Source.SYSTEM)
        self._segment = 0
        self.start()

    def machine(self) -> SessionMachine:
        """A machine of the session that knows nothing of what happened; the parts of the task are
        looked at, but for a session with a change. It repeats questions in which the computer
        stands still where the task says that it can."""
        machine = machine_of(self.loaded, self.planned, self.decoders)
        if self.task_type.asks_again:
            machine.stalls = "repeat-question"
        if self.change is not None:
            return machine
        for part, task in zip(machine.parts, machine.tasks, strict=True):
            if self.of_task(part):
                watched(task, part.id, self.notes)
        return machine

    def of_task(self, part: PlannedPart | None) -> bool:
        """Whether a part is of the task that is checked."""
        return part is not None and registry.task_type_of(part) is self.task_type

    @property
    def in_task(self) -> bool:
        """Whether a part of the task runs."""
        return self.of_task(self.runner.part)

    def start(self) -> None:
        """A run of the program begins: the first one, or another after a crash."""
        self._segment += 1
        gap = self.events[-1].t_ns if self._segment > 1 else None
        machine = self.machine()
        self.scheduler = VirtualScheduler(self.clock)
        self.runner = RecordingRunner(
            journal=cast(Journal, MemoryJournal(self.clock, self.events, self._segment)),
            clock=self.clock,
            machine=machine,
            state=machine.fold(self.events),
            decoders=self.decoders,
            scheduler=self.scheduler,
        )
        self.runner.heard, self.runner.sent = self.heard, self.sent
        self.runner.change = self.change
        self.runner.start([SegmentStarted(self._segment, UTC, "b", __version__, "0", gap)])
        self._take_part()

    def _take_part(self) -> None:
        """A simulated participant goes on from here."""
        self.stuck: LabappError | None = None
        self.driver = Driver(
            self.runner,
            lambda name: self.runner.send(GiveConsent(), Source.SIMULATED),
            self.strategy,
            self.planned.seed,
            self.planned.participant,
            FAST,
            paints=True,
            language=self.planned.language,
            on_stuck=self._got_stuck,
        )
        self.driver.start()

    def _got_stuck(self, error: LabappError) -> None:
        self.stuck = error

    def crash(self, after_s: float) -> None:
        """The program is killed, and started again after so long: what is known is what the events
        say."""
        live = self.runner.state
        self.driver.stop()
        self.clock.set_ns(self.clock.now_ns() + round(after_s * 1e9))
        replayed = self.machine().fold(self.events)
        if replayed != live:
            self.notes.add(self._differs(live.part_state, replayed.part_state))
        self.start()

    def _differs(self, live: Any, replayed: Any) -> str:
        return (
            f"A replay gives another state than the session had, in {self.place}: {_short(live)} "
            f"became {_short(replayed)}. Let `apply` make the whole state from the events."
        )

    @property
    def place(self) -> str:
        """The part that runs."""
        part = self.runner.part
        return "no part" if part is None else repr(part.id)

    def take(self, step: Command | str) -> None:
        """One step of a random course."""
        match step:
            case "crash":
                self.crash(1.0)
            case "pause":
                self._held(Pause("random"), Resume("goes on"))
            case "stall":
                self.stand_still()
            case "leave":
                self._held(AskToLeave("escape"), StayHere())
            case Command():
                self.runner.send(step)

    def stand_still(self, seconds: float = 2.0) -> None:
        """The computer stands still for so long, as seen by the machine's own rule."""
        from_ns, lasted_ns = self.clock.now_ns(), round(seconds * 1e9)
        self.clock.set_ns(from_ns + lasted_ns)
        self.runner.send(StandStill("computer", from_ns, lasted_ns), Source.SYSTEM)

    def _held(self, begin: Command, end: Command) -> None:
        self.runner.send(begin, Source.MODERATOR)
        self.wait(1.0)
        self.runner.send(end, Source.MODERATOR)

    def replays(self) -> None:
        """Note it where the events do not give the state that the session has."""
        live, replayed = self.runner.state, self.machine().fold(self.events)
        if replayed != live:
            self.notes.add(self._differs(live.part_state, replayed.part_state))

    def wait(self, seconds: float) -> None:
        """Let session time pass; the participant acts meanwhile."""
        until = self.clock.now_ns() + round(seconds * 1e9)
        self.scheduler.call_later(seconds, lambda: None)
        self.scheduler.run(lambda: self.clock.now_ns() >= until or self.runner.finished)

    def back_to_work(self) -> None:
        """The moderator and the participant go on from wherever they are."""
        for command in (StayHere(), ConfirmSkip(), Resume("goes on")):
            self.runner.send(command, Source.MODERATOR)

    def go_on(self, until: Callable[[], bool]) -> None:
        """Let the participant act until something holds. Raises Fault where nothing happens any
        more, with where that is."""
        self.driver.stop()
        self._take_part()
        seen_events, since = len(self.events), self.clock.now_ns()

        def over() -> bool:
            nonlocal seen_events, since
            if until() or self.stuck is not None or self.runner.finished:
                return True
            if len(self.events) != seen_events:
                seen_events, since = len(self.events), self.clock.now_ns()
            return self.clock.now_ns() - since > STILL_S * 1e9

        self.scheduler.run(over)
        self.driver.stop()
        if not until():
            raise Fault(
                f"A simulated participant ({self.strategy}) does not get to the end: it stands "
                f"still in {self.place}. {self.stuck.what if self.stuck else ''} Let `simulate` "
                "send what the part waits for, its `pictures` ask for what begins a trial, and "
                "`decide` answer both with events, at last with `part.ended`."
            )


def _short(state: Any) -> str:
    text = repr(state)
    return text if len(text) <= 160 else text[:157] + "…"
