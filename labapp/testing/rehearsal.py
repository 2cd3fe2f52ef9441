"""A session in memory: the real runner, machine and pictures, a virtual clock, and no disk. It can
be paused, broken off, skipped and left without an answer, and its machines are watched."""

from __future__ import annotations

import datetime
import gc
import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from cProfile import Profile
from dataclasses import dataclass
from types import FrameType
from typing import Any

from labapp import __version__
from labapp.analysis.column import Column, seconds
from labapp.analysis.rows import SessionRecords
from labapp.analysis.task_records import Row, TaskTables, records_class
from labapp.base.clock import FakeClock
from labapp.base.errors import LabappError
from labapp.models.representations.decoding import Decoder
from labapp.record.events import Event, Payload, Source, UnstampedEvent, payload_of
from labapp.record.events.commands import (
    AskToLeave,
    Command,
    ConfirmSkip,
    GiveConsent,
    HandIn,
    Next,
    Pause,
    Resume,
    SkipStage,
    StandStill,
    StayHere,
)
from labapp.record.events.lifecycle import PartEnded, SegmentStarted, SessionPlanned
from labapp.record.events.registry import payload_text
from labapp.record.events.remote import RemoteAsked
from labapp.record.events.trials import TrialEnded
from labapp.record.journal.write import MemoryJournal
from labapp.session.machine import SessionMachine
from labapp.session.runner import Runner, VirtualScheduler, Wish, machine_of
from labapp.session.simulation.driver import Driver
from labapp.session.simulation.person import FAST
from labapp.study.conditions import generator
from labapp.study.loading import LoadedStudy
from labapp.study.plugins import registry
from labapp.study.plugins.machine import PartMachine
from labapp.study.plugins.part import PlannedPart
from labapp.study.plugins.questions import ANSWERED
from labapp.study.plugins.registry import TaskType

UTC = "2026-01-02T03:04:05.000000Z"
MOST_EVENTS = 5_000
"""Of a session with a short study."""
STILL_S = 200.0
"""Session time in which something must happen while a simulated participant acts."""


Change = tuple[int, Command]
"""Which of the commands that a simulated participant sends, counted from 0, becomes what."""


class RehearsedJournal(MemoryJournal):
    """Of a run of the program; events are what a file would give back."""

    def __init__(self, clock: FakeClock, events: list[Event], segment: int) -> None:
        super().__init__(clock, segment)
        self.events = events
        self._seq = len(events)

    def _stamp(self, unstamped: UnstampedEvent, fields: dict[str, Any], source: Source) -> Event:
        if len(self.events) >= MOST_EVENTS:
            raise Fault(
                f"The session has more than {MOST_EVENTS} events and goes on, "
                f"{unstamped.payload.kind} in {unstamped.part_id!r} among them: "
                "let the part come to an end."
            )
        return super()._stamp(unstamped, json.loads(payload_text(fields)), source)


class RecordingRunner(Runner):
    """A runner that tells which commands were sent, and by whom."""

    heard: list[tuple[str, Command, Source]]
    sent: list[Command]
    change: Change | None = None

    def send(
        self,
        command: Command,
        source: Source = Source.PARTICIPANT,
        asked: RemoteAsked | None = None,
    ) -> None:
        if source is Source.SIMULATED:
            if self.change is not None and self.change[0] == len(self.sent):
                command = self.change[1]
            self.sent.append(command)
        super().send(command, source, asked)

    def _decide(self, wish: Wish) -> bool:
        part = self.part
        self.heard.append(("" if part is None else part.part, wish.command, wish.source))
        return super()._decide(wish)


@dataclass(eq=False)
class Rehearsal:
    """One session.

    Attributes
    ----------
    events : all so far, as a journal would give them back.
    heard : the commands that were decided, with the kind of the part that they came in.
    sent : those that a simulated participant sent.
    """

    task_type: TaskType[Any]
    loaded: LoadedStudy
    planned: SessionPlanned
    decoders: Mapping[str, Decoder]
    notes: Notes
    strategy: str
    change: Change | None = None

    def __post_init__(self) -> None:
        self.clock = FakeClock()
        self.events: list[Event] = []
        self.heard: list[tuple[str, Command, Source]] = []
        self.sent: list[Command] = []
        journal = RehearsedJournal(self.clock, self.events, 1)
        journal.append(UnstampedEvent(self.planned), Source.SYSTEM)
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
                watch_machine(task, part.id, self.notes)
        return machine

    def of_task(self, part: PlannedPart | None) -> bool:
        return part is not None and registry.task_type_of(part) is self.task_type

    @property
    def in_task(self) -> bool:
        return self.of_task(self.runner.part)

    def start(self) -> None:
        """A run of the program begins: the first one, or another after a crash."""
        self._segment += 1
        gap = self.events[-1].t_ns if self._segment > 1 else None
        machine = self.machine()
        self.scheduler = VirtualScheduler(self.clock)
        self.runner = RecordingRunner(
            journal=RehearsedJournal(self.clock, self.events, self._segment),
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
            on_stuck=self._note_stuck,
        )
        self.driver.start()

    def _note_stuck(self, error: LabappError) -> None:
        self.stuck = error

    def crash(self, after_s: float) -> None:
        """The program is killed, and started again after so long: what is known is what the events
        say."""
        self.driver.stop()
        self.clock.set_ns(self.clock.now_ns() + round(after_s * 1e9))
        self.replays()
        self.start()

    @property
    def place(self) -> str:
        part = self.runner.part
        return "no part" if part is None else repr(part.id)

    def take(self, step: Command | str) -> None:
        match step:
            case "crash":
                self.crash(1.0)
            case "pause":
                self._hold_pause(Pause("random"), Resume("goes on"))
            case "stall":
                self.stand_still()
            case "leave":
                self._hold_pause(AskToLeave("escape"), StayHere())
            case Command():
                self.runner.send(step)

    def stand_still(self, seconds: float = 2.0) -> None:
        """The computer freezes for so long, as the machine's own rule sees it."""
        from_ns, lasted_ns = self.clock.now_ns(), round(seconds * 1e9)
        self.clock.set_ns(from_ns + lasted_ns)
        self.runner.send(StandStill("computer", from_ns, lasted_ns), Source.SYSTEM)

    def _hold_pause(self, begin: Command, end: Command) -> None:
        self.runner.send(begin, Source.MODERATOR)
        self.wait(1.0)
        self.runner.send(end, Source.MODERATOR)

    def replays(self) -> None:
        """Record a fault if the events do not reproduce the session's state."""
        live, replayed = self.runner.state, self.machine().fold(self.events)
        if replayed != live:
            self.notes.add(
                f"A replay gives another state than the session had, in {self.place}: "
                f"{_short(live.part_state)} became {_short(replayed.part_state)}. Let `apply` make "
                "the whole state from the events."
            )

    def wait(self, seconds: float) -> None:
        """Let session time pass; the participant acts meanwhile."""
        until = self.clock.now_ns() + round(seconds * 1e9)
        self.scheduler.call_later(seconds, lambda: None)
        self.scheduler.run(lambda: self.clock.now_ns() >= until or self.runner.finished)

    def back_to_work(self) -> None:
        """The moderator and the participant continue from wherever they are."""
        for command in (StayHere(), ConfirmSkip(), Resume("goes on")):
            self.runner.send(command, Source.MODERATOR)

    def go_on(self, until: Callable[[], bool]) -> None:
        """Let the participant act until something holds. Raises Fault, with the position, if
        nothing happens any more."""
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


AWAY_S = 5_000.0
"""How long nobody works; no question of a simulated participant takes nearly as long."""


def check_interruptions(
    task_type: TaskType[Any], rehearsal: Callable[[], Rehearsal], notes: Notes
) -> None:
    """Run sessions with interruptions, if the task has trials. rehearsal: a
    session from its beginning."""
    records = records_class(task_type)
    if not task_type.shown or records is None:
        return

    def pause(session: Rehearsal) -> None:
        session.runner.send(Pause("random"), Source.MODERATOR)
        session.clock.set_ns(session.clock.now_ns() + round(AWAY_S * 1e9))
        session.runner.send(Resume("goes on"), Source.MODERATOR)

    def skip(session: Rehearsal) -> None:
        part, seen = session.runner.part, len(session.events)
        for command in (SkipStage(), ConfirmSkip()):
            session.runner.send(command, Source.MODERATOR)
        if part is not None and not any(
            event.kind == PartEnded.kind and event.part_id == part.id
            for event in session.events[seen:]
        ):
            notes.add(
                f"The moderator skips {part.id!r}, and it does not end: let `decide` answer "
                "SkipStage with a `part.ended` whose outcome is `skipped`."
            )

    def leave(session: Rehearsal) -> None:
        seen = len(session.events)
        for command in (HandIn(), Next()):
            session.runner.send(command)
        ended = [event for event in session.events[seen:] if event.kind == TrialEnded.kind]
        if any(event.payload["outcome"] == ANSWERED for event in ended):
            notes.add(
                f"A question of {ended[0].part_id!r} can be left as answered before anything was "
                "answered: let `answered` hold once all of it was, so that `decide` gives nothing "
                "for *Next* until then."
            )

    def crash(session: Rehearsal) -> None:
        session.crash(AWAY_S)

    told: set[tuple[str, str]] = set()
    for happens in (pause, crash, skip, leave):
        session = rehearsal()
        if not _reach_question(task_type, session):
            return
        happens(session)
        session.back_to_work()
        session.go_on(lambda: session.runner.finished)  # noqa: B023 (called at once)
        events = [(event, payload_of(event)) for event in session.events]
        rows = SessionRecords.of(events, "rehearsed").rows()
        counted = set(_find_working_time_columns(records.tables, rows)) - told
        told |= counted
        for table, column in sorted(counted):
            what = "A pause" if happens is pause else "The time after a crash"
            notes.add(
                f"{what} is counted into the column {column!r} of the table {table!r}: take the "
                "working time that `take` of the records is given, in place of `event.t_ns`; if "
                "pauses belong in it, let its meaning say `with pauses`."
            )
        _agree(records.tables, rows, notes)


def _reach_question(task_type: TaskType[Any], session: Rehearsal) -> bool:
    """Go on until a question of a stage of the task is on the screen; whether one came."""

    def has_come() -> bool:
        part = session.runner.part
        last = part is not None and any(
            event.part_id == part.id and event.kind in task_type.shown for event in session.events
        )
        return last and part is not None and part.measures and session.in_task

    session.go_on(lambda: has_come() or session.runner.finished)
    return not session.runner.finished


def _find_working_time_columns(
    tables: TaskTables, rows: Mapping[str, Sequence[Row]]
) -> Iterator[tuple[str, str]]:
    """Table and name of each column of working time that holds as long as nobody worked."""
    duration = seconds("duration_s", "working time of a trial")
    for name, column in (("trials", duration), *columns_of(tables)):
        words = f"{column.name} {column.meaning}"
        if column.unit != "s" or "session" in words or "with pauses" in words:
            continue
        if any((row.get(column.name) or 0.0) >= AWAY_S for row in rows.get(name, ())):
            yield name, column.name


def columns_of(tables: TaskTables) -> Iterator[tuple[str, Column]]:
    """The columns that a task adds, each with the name of its table."""
    for name, columns in tables.own.items():
        yield from ((name, column) for column in columns)
    for name, places in tables.added.items():
        yield from ((name, column) for columns in places.values() for column in columns)


def _agree(tables: TaskTables, rows: Mapping[str, Sequence[Row]], notes: Notes) -> None:
    """Note it where a table of its own counts what the table of trials does not, or otherwise."""
    keys = ("stage", "trial", "attempt")
    excluded = {tuple(row[key] for key in keys): row["excluded"] for row in rows["trials"]}
    for name in tables.own:
        for row in rows.get(name, ()):
            key = tuple(row.get(key) for key in keys)
            if "excluded" in row and row["excluded"] != excluded.get(key, row["excluded"]):
                notes.add(
                    f"The column 'excluded' of the table {name!r} says {row['excluded']} of an "
                    f"attempt of which the table of trials says {excluded[key]}: give it "
                    "`attempt.excluded_because is not None`."
                )


CLOCKS = frozenset(
    f"{name}{unit}" for name in ("time", "perf_counter", "monotonic") for unit in ("", "_ns")
)
TODAY = frozenset({"now", "utcnow", "today"})
PATIENCE = 2000
"""So often the same command can lead to nothing in the same state before the machine is said to
stand still, or the rehearsal would ask for ever."""


class Fault(Exception):
    """What has to be mended, in a sentence. The check ends with the first one."""


class Notes:
    """What was found, each sentence once."""

    def __init__(self) -> None:
        self.sentences: dict[str, None] = {}

    def add(self, sentence: str) -> None:
        self.sentences.setdefault(sentence)


@dataclass(eq=False)
class Seen:
    """What a call did that it must not do. clock, draw: what it called, empty for nothing."""

    clock: str = ""
    draw: str = ""

    def profile_call(self, frame: FrameType, event: str, function: Any) -> None:
        """For `sys.setprofile`."""
        if event == "call" and frame.f_code is generator.__code__:
            self.draw = "labapp.study.conditions.generator"
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
def watch_calls() -> Iterator[Seen]:
    """What is called inside. A profiler that runs rests meanwhile."""
    notes, collects = Seen(), gc.isenabled()
    before: Any = sys.getprofile()
    gc.disable()  # a callback of the collection may look at a clock
    # cProfile's is no function that could be set again.
    profiler = before if isinstance(before, Profile) else None
    if profiler:
        profiler.disable()
    sys.setprofile(notes.profile_call)
    try:
        yield notes
    finally:
        sys.setprofile(None if profiler else before)
        if profiler:
            profiler.enable()
        if collects:
            gc.enable()


def watch_machine(machine: PartMachine[Any], part: str, notes: Notes) -> None:
    """Look at what a machine does. part: the id of its part. It stays of its class, for screens and
    simulated participants ask for that."""
    cls = type(machine)
    # How often in a row a command led to nothing in a state; that command; that state.
    idle: tuple[int, Command | None, Any] = (0, None, None)

    def decide(self: Any, state: Any, command: Command, now_ns: int) -> Sequence[UnstampedEvent]:
        nonlocal idle
        before, own = repr(state), _own(self)
        with watch_calls() as did:
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
                "`labapp.study.conditions.generator` with the session's seed, made again each time."
            )
        same = not events and idle[1] == command and idle[2] is state
        idle = (idle[0] + 1 if same else 0, command, state)
        if idle[0] > PATIENCE:
            raise Fault(
                f"{part!r} is asked for {name} again and again, and `decide` answers it with "
                "nothing: let `wants_begin`, `next_deadline` and the `due` of its pictures ask for "
                "what is possible only."
            )
        return events

    def apply(self: Any, state: Any, event: Event, payload: Payload) -> Any:
        before, own = repr(state), _own(self)
        with watch_calls() as did:
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


def _own(machine: Any) -> str:
    """What a machine holds besides the state."""
    return repr(getattr(machine, "__dict__", ""))
