"""The runner: the impure shell around the session machine.

It owns time, decoding, the journal and the recorder. Widgets, scripts, simulated participants and
timers all do the same thing: `send` a command. The runner asks the machine what follows, stores
the events, waits until the durable ones are on disk, folds them, decodes what the dials ask for
and tells its listeners that something changed.

By how many days the dates of a participant are moved in de-identified copies is drawn once for each
study and kept in the private folder, so that a later copy agrees with an earlier one; no bundle
says it. The moved dates lie in the years 1905 to 1915: BIDS asks for 1925 or earlier, so that
nobody takes them for true ones (specification, "Common principles").
"""

from __future__ import annotations

import heapq
import itertools
import secrets
import shutil
import sqlite3
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import InitVar, dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

from labapp.base import access
from labapp.base.clock import NS, Clock, FakeClock
from labapp.base.errors import BundleError, LabappError
from labapp.base.messages import encode_message
from labapp.models.representations.decoding import Decoder
from labapp.models.stimuli.gallery import Gallery
from labapp.record.events import Event, Payload, Source, UnstampedEvent
from labapp.record.events.commands import Begin, Command, StandStill, Tick
from labapp.record.events.lifecycle import (
    AlarmCleared,
    AlarmRaised,
    ClockChanged,
    CloseRequested,
    InclusionDecided,
    PartEnded,
    SegmentEnded,
    SessionEnded,
    SessionPaused,
    SessionPlanned,
    SkipRequested,
)
from labapp.record.events.remote import RemoteAsked
from labapp.record.events.voice import SoundNow, SoundState
from labapp.record.journal.write import Journal, Moment, Receipt
from labapp.session.heartbeat import BEAT_S, Heartbeat, Standstill
from labapp.session.machine import SessionMachine, SessionState
from labapp.session.pictures import PictureRenderer, ShowsPictures
from labapp.session.private import removing, table_of
from labapp.study import plan
from labapp.study.loading import LoadedStudy
from labapp.study.plugins import registry
from labapp.study.plugins.part import PlannedPart
from labapp.study.plugins.pictures import PartPictures
from labapp.study.plugins.registry import MachineContext

if TYPE_CHECKING:
    from labapp.record.audio.recorder import Recorder
    from labapp.record.lsl import SessionStreams

PATIENCE_S = 0.05
"""How long a command blocks for its commit; longer waits go through the event loop."""
POLL_S = 0.02
"""Session seconds between two looks at a commit that takes its time."""
STALLED_S = 2.0
"""Real seconds after which a disk that does not answer is an alarm."""


_ENDS = (PartEnded, SessionPaused, SessionEnded, SkipRequested, CloseRequested)
_DECISIVE = (*_ENDS, InclusionDecided)


class Wish(NamedTuple):
    """A command, who sent it, and of one from another computer what the journal says of that."""

    command: Command
    source: Source
    asked: RemoteAsked | None = None


Listener = Callable[[], None]
PendingCommands = Callable[[], Sequence[Command]]


class FollowsSession(ShowsPictures):
    """What windows ask of a session that goes on, here or at another computer."""

    machine: SessionMachine
    state: SessionState
    _sound: SoundState
    _listeners: list[Listener]

    @property
    def part(self) -> PlannedPart | None:
        """The part on the participant's screen."""
        return self.machine.part(self.state)

    @property
    def finished(self) -> bool:
        return self.state.ended is not None

    @property
    def sound(self) -> SoundNow:
        """What becomes of sound now."""
        return self._sound.now

    def listen(self, listener: Listener) -> None:
        """Call after every change of state, pictures or `stalled`, in the thread of the windows."""
        self._listeners.append(listener)

    def tell(self) -> None:
        """Tell the listeners that something changed, also besides the state, as the recorder."""
        for listener in tuple(self._listeners):
            listener()


@dataclass(kw_only=True, eq=False, repr=False)
class Runner(FollowsSession):
    """One run of the program on one session.

    Attributes
    ----------
    decoders : by model id, for every model of the plan.
    slow : ids that decode in the worker.
    commit_timeout_s : how long `send` may block for a commit (a simulation without windows waits
        longer).
    gallery : the pictures of photos to judge; None if the plan has none, or nobody sees them.
    failed_rules : gives the study's own rules of exclusion that the session fails, by what is on
        disk; asked as it ends.
    """

    journal: Journal
    clock: Clock
    machine: SessionMachine
    state: SessionState
    decoders: InitVar[Mapping[str, Decoder]]
    scheduler: Scheduler
    slow: InitVar[frozenset[str]] = frozenset()
    recorder: Recorder | None = None
    commit_timeout_s: float = PATIENCE_S
    gallery: Gallery | None = None
    failed_rules: Callable[[], Sequence[str]] = tuple

    def __post_init__(self, decoders: Mapping[str, Decoder], slow: frozenset[str]) -> None:
        self._sound = SoundState()
        self.streams: SessionStreams | None = None
        self.heartbeat: Heartbeat | None = None
        self._renderer = PictureRenderer(decoders, slow, self.scheduler.post, self._on_decoded)
        self._queue: deque[Wish] = deque()
        self._busy = False
        self._waiting: list[tuple[UnstampedEvent, Receipt]] = []
        self.stalled = False
        """Whether the disk keeps the session waiting; screens stand still until it is over."""
        self._waited_s = 0.0
        self._timer: Timer | None = None
        self._next_beat: Timer | None = None
        self._next_poll: Timer | None = None
        self._listeners: list[Listener] = []
        self._pending_commands: PendingCommands = tuple
        self._asked_for: Command | None = None
        self._opened = False
        self._early: list[tuple[UnstampedEvent, Source]] = []
        self._emitting = threading.Lock()
        self._closed = False

    @property
    def name(self) -> str:
        """The name of the session's folder."""
        return self.journal.path.parent.name

    @property
    def saved_ago_s(self) -> float:
        """Since when events wait for the disk, in session seconds."""
        return self.journal.saved_ago_s

    @property
    def streams_received(self) -> bool:
        """Whether anybody receives the streams that the session sends just now."""
        return self.streams is not None and self.streams.received

    def free_bytes(self) -> int | None:
        """How much room the session's disk has; None if it cannot be asked."""
        try:
            return shutil.disk_usage(self.journal.path.parent).free
        except OSError:
            # A folder that is gone shows as a stalled journal, which is an alarm of its own.
            return None

    @property
    def part_pictures(self) -> PartPictures[Any] | None:
        """The pictures of the part on the screen."""
        return self._renderer.of_part

    @property
    def quiet_until_ns(self) -> int | None:
        """Session time before which nothing happens by itself; None if that is not known: time
        passes by itself, or something else is going on."""
        state, scheduler = self.state, self.scheduler
        if not isinstance(scheduler, VirtualScheduler) or self._queue or self._waiting:
            return None
        return None if state.pauses.holds or state.pending is not None else scheduler.next_ns

    @property
    def closed(self) -> bool:
        """Whether nothing is stored any more."""
        return self._closed

    def subscribe(self, subscriber: Callable[[Event], None]) -> None:
        """Call with every event, see `Journal.subscribe`."""
        self.journal.subscribe(subscriber)

    def ask_before_leaving(self, pending_commands: PendingCommands | None) -> None:
        """Set what gives the commands that the screen has not sent yet, such as a text still in its
        field. It is called before anything takes the screen away; None when there is no screen."""
        self._pending_commands = pending_commands or tuple

    def send(
        self,
        command: Command,
        source: Source = Source.PARTICIPANT,
        asked: RemoteAsked | None = None,
    ) -> None:
        """Ask for something. What is impossible now leads to nothing.

        What a screen asks for before `go` (it is shown before) is decided after the opening events.
        asked: stored right before what follows, of a command from another computer.
        """
        self._queue.append(Wish(command, source, asked))
        self._work()

    def emit(self, payload: Payload, source: Source = Source.SYSTEM) -> None:
        """Store an event that no task decides about (sound, screens, alarms); from any thread.

        What comes before `open` is stored after the opening events, which begin a segment.
        """
        with self._emitting:
            if not self._opened:
                self._early.append((UnstampedEvent(payload), source))
                return
        self.journal.append(UnstampedEvent(payload), source)
        # Windows are told where the recorder begins, stops or loses its microphone.
        sound = self._sound.apply(payload)
        if sound != self._sound:
            self._sound = sound
            self.scheduler.post(self.tell)

    def _work(self) -> None:
        """Work off commands and whatever they make due; one at a time, never nested."""
        if self._busy or self._closed or not self._opened:
            return
        if self.heartbeat is not None and (still := self.heartbeat.look()) is not None:
            self._handle_standstill(still)
        self._busy = True
        changed = False
        try:
            while not self._waiting:
                if self._queue:
                    wish = self._queue.popleft()
                elif self.machine.wants_begin(self.state):
                    wish = Wish(Begin(), Source.SYSTEM)
                elif not self.state.pauses.held and (due := self._renderer.due()) is not None:
                    wish = Wish(due, Source.SYSTEM)
                else:
                    break
                changed |= self._decide(wish)
        finally:
            self._busy = False
        if changed:
            self._arm()
            self.tell()

    def _handle_standstill(self, still: Standstill) -> None:
        """Decide about it before anything else: what waited meanwhile is late by as much, and no
        question may run out of time for it."""
        at = self.clock.from_perf_ns
        from_ns = at(still.from_ns)
        lasted_ns = at(still.until_ns) - from_ns
        command = StandStill(still.who, max(0, from_ns), lasted_ns, still.asleep_ns)
        self._queue.appendleft(Wish(command, Source.SYSTEM))

    def _beat(self) -> None:
        """A few times a second: look at the clocks, and let the other process know."""
        heart = self.heartbeat
        if self._closed or heart is None:
            return
        if (still := heart.look() or heart.detect_sleep()) is not None:
            self._handle_standstill(still)
            self._work()
        if changed_s := heart.clock_changed():
            self.emit(ClockChanged(round(changed_s, 3)))
        heart.beat()
        beat_s = BEAT_S / self.clock.real_seconds(NS)
        self._next_beat = self.scheduler.call_later(beat_s, self._beat)

    def _decide(self, wish: Wish) -> bool:
        events = self.machine.decide(self.state, wish.command, self.clock.now_ns())
        if not events:
            return False
        if any(isinstance(unstamped.payload, _DECISIVE) for unstamped in events):
            if self._sends_first(events, wish):
                return False
            events = self._excluding(events)
        if wish.asked is not None:
            events = [UnstampedEvent(wish.asked.followed_by(len(events))), *events]
        self._append(events, wish.source)
        return self._settle(self.commit_timeout_s)

    def _excluding(self, events: Sequence[UnstampedEvent]) -> Sequence[UnstampedEvent]:
        """The end of a session with the study's own rules that it fails."""
        if not any(isinstance(unstamped.payload, InclusionDecided) for unstamped in events):
            return events
        try:
            failed = self.failed_rules()
        except LabappError as error:
            # The analysis asks them again.
            self.emit(AlarmRaised("exclusion_undecided", str(error), encode_message(error.what)))
            return events
        return [
            replace(unstamped, payload=unstamped.payload.failing(failed))
            if isinstance(unstamped.payload, InclusionDecided)
            else unstamped
            for unstamped in events
        ]

    def _sends_first(self, events: Sequence[UnstampedEvent], wish: Wish) -> bool:
        """Whether the participant still has something to send before this command takes the screen
        away; the command is decided again after it."""
        if not any(isinstance(unstamped.payload, _ENDS) for unstamped in events):
            return False
        if wish.command is self._asked_for:
            self._asked_for = None
            return False
        pending_commands = [Wish(each, Source.PARTICIPANT) for each in self._pending_commands()]
        if pending_commands:
            self._asked_for = wish.command
            self._queue.extendleft(reversed([*pending_commands, wish]))
        return bool(pending_commands)

    def _append(self, events: Sequence[UnstampedEvent], source: Source) -> None:
        receipts = self.journal.append_all(events, source)
        self._waiting = list(zip(events, receipts, strict=True))

    def take(
        self, run: Sequence[Moment], trial: tuple[str, int, int], part_state: Any, until_ns: int
    ) -> None:
        """Take in what happened one after the other in the part on the screen, of kinds that
        concern nothing else, and that its machine has decided and folded already.

        run: with session time and source, before `quiet_until_ns`, of one trial; until_ns: what
        time it is then.
        """
        assert isinstance(self.scheduler, VirtualScheduler)
        clock = self.scheduler.clock
        self.journal.append_run(run, trial, clock)
        clock.set_ns(until_ns)
        if not run:
            return
        self.state = msgspec.structs.replace(self.state, part_state=part_state)
        self._renderer.sync(self.part, self.state)
        self._arm()
        self.tell()

    def _settle(self, commit_timeout_s: float) -> bool:
        """Fold what is on disk; True when all of the last command is folded."""
        for _, receipt in self._waiting:
            if not receipt.wait(commit_timeout_s):
                self._next_poll = self.scheduler.call_later(POLL_S, self._poll)
                return False
        for unstamped, receipt in self._waiting:
            self.state = self.machine.apply(self.state, receipt.event, unstamped.payload)
        self._waiting = []
        self._renderer.sync(self.part, self.state)
        return True

    def _poll(self) -> None:
        """The disk is slow or full: look again, and raise the alarm when it takes too long."""
        if self._closed:
            return
        if self._settle(0.0):
            self._waited_s = 0.0
            if self.stalled:
                self.stalled = False
                self.emit(AlarmCleared("journal_stalled"))
            self._arm()
            self.tell()
            self._work()
            return
        self._waited_s += self.clock.real_seconds(round(POLL_S * NS))
        if self._waited_s >= STALLED_S and not self.stalled:
            self.stalled = True
            detail = self.journal.failed or "the disk does not respond"
            self.emit(AlarmRaised("journal_stalled", detail))
            self.tell()

    def _on_decoded(self, command: Command | None) -> None:
        """The worker decoded something: this follows, or only the screen has to know."""
        if command is not None:
            self.send(command, Source.SYSTEM)
            return
        self.tell()
        self._work()

    def _arm(self) -> None:
        """One timer, at the machine's next deadline."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        deadline = self.machine.next_deadline(self.state)
        if deadline is not None and not self._closed:
            # A millisecond late rather than early: a Tick before its time leads to nothing.
            wait_s = max(0.0, (deadline - self.clock.now_ns()) / NS) + 0.001
            self._timer = self.scheduler.call_later(wait_s, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self.send(Tick(), Source.SYSTEM)
        if not self._waiting:  # else the next timer is set when the disk has answered
            self._arm()

    def start(self, opening: Sequence[Payload]) -> None:
        """Store this run's opening events and begin (or go on with) the plan."""
        self.open(opening)
        self.go()

    def open(self, opening: Sequence[Payload]) -> None:
        """Store this run's opening events; the plan waits for `go`.

        Raises JournalError when they cannot be stored.
        """
        for payload in opening:
            self._sound = self._sound.apply(payload)
        with self._emitting:
            self._append([UnstampedEvent(payload) for payload in opening], Source.SYSTEM)
            self._opened = True
            for unstamped, source in self._early:
                self.journal.append(unstamped, source)
        for _, receipt in self._waiting:
            if not receipt.wait(STALLED_S):
                raise self.journal.problem()
        self._settle(STALLED_S)

    def go(self) -> None:
        """Begin the plan, or go on with it."""
        self._arm()
        self.tell()
        self._work()
        if self.heartbeat is not None:  # now that the first screen is there
            self.heartbeat.begin()
            self._beat()

    def preview(self, before: SessionState, page: int = 0) -> None:
        """Go on with the next part behind a state, at a page of it: for previews, whose journal
        nobody reads."""
        self.state = replace(before, previewed=True)
        self._renderer.sync(None, before)
        self._work()
        if page and self.state.running:
            task = self.machine.tasks[self.state.index]
            self.state = replace(self.state, part_state=task.at_page(self.state.part_state, page))
        self.tell()

    def close(self, reason: str) -> None:
        """Stop the recorder, end the segment, write everything and join all threads."""
        if self._closed:
            return
        self._closed = True
        for timer in (self._timer, self._next_beat, self._next_poll):
            if timer is not None:
                timer.cancel()
        self._renderer.close()
        if self.heartbeat is not None:
            self.heartbeat.close()
        try:
            if self.recorder is not None:
                self.recorder.stop()
        finally:
            # A sound system that hangs must not keep the journal from being written.
            if self._opened:
                self.journal.append(UnstampedEvent(SegmentEnded(reason)), Source.SYSTEM)
            try:
                self.journal.close()
            finally:
                if self.streams is not None:
                    self.streams.close()


class Timer(Protocol):
    def cancel(self) -> None: ...


class Scheduler(Protocol):
    """What the runner asks of its event loop: Qt's in the windows, a virtual one without."""

    def call_later(self, session_s: float, function: Callable[[], None]) -> Timer:
        """Call once after so many seconds of session time, in the runner's thread."""
        ...

    def post(self, function: Callable[[], None]) -> None:
        """Call soon in the runner's thread; may be called from any thread."""
        ...


class _VirtualTimer:
    def __init__(self, function: Callable[[], None]) -> None:
        self.function: Callable[[], None] | None = function

    def cancel(self) -> None:
        self.function = None


class VirtualScheduler:
    """Runs timers as fast as the machine can, moving a fake clock to each one's time."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self._queue: list[tuple[int, int, _VirtualTimer]] = []
        self._order = itertools.count()

    def call_later(self, session_s: float, function: Callable[[], None]) -> Timer:
        timer = _VirtualTimer(function)
        due = self.clock.now_ns() + max(0, round(session_s * 1e9))
        heapq.heappush(self._queue, (due, next(self._order), timer))
        return timer

    def post(self, function: Callable[[], None]) -> None:
        self.call_later(0, function)

    @property
    def next_ns(self) -> int:
        """Session time of the next timer; the end of all time where there is none."""
        while self._queue and self._queue[0][2].function is None:
            heapq.heappop(self._queue)
        return self._queue[0][0] if self._queue else sys.maxsize

    def run(self, until: Callable[[], bool]) -> None:
        """Run timers in the order of their times until `until()` holds or none is left."""
        while self._queue and not until():
            due, _, timer = heapq.heappop(self._queue)
            if timer.function is not None:
                self.clock.set_ns(max(due, self.clock.now_ns()))
                timer.function()


YEARS = (1905, 1915)
"""Where a session of the day on which a participant's days are drawn comes to lie: between the
first of January of one and the last of December of the other."""

_SCHEMA = "CREATE TABLE IF NOT EXISTS shift (participant TEXT PRIMARY KEY, days INTEGER) STRICT"


def days_of(private: Path, study: str, participant: str) -> int:
    """By how many days the dates of a participant are moved back; drawn where that is not known.

    Raises BundleError when it cannot be read or kept, DataFolderError when others could read it.
    """
    path = table_of(private, study)
    try:
        access.own_private(private, path)
        with closing(sqlite3.connect(path, timeout=10.0)) as connection, connection:
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute(_SCHEMA)
            # Of two exports at once the first one's draw counts.
            connection.execute(
                "INSERT OR IGNORE INTO shift VALUES (?, ?)", (participant, _draw_days())
            )
            ((days,),) = connection.execute(
                "SELECT days FROM shift WHERE participant = ?", (participant,)
            )
    except (OSError, sqlite3.Error) as error:
        raise BundleError(
            f"The number of days by which the dates of {participant} are shifted could not be "
            f"written to {path} ({error}).",
            safe="No bundle was made.",
            todo="Make sure that you may write there, or choose another folder (--private).",
        ) from error
    return int(days)


def forget(private: Path, study: str, participant: str) -> None:
    """Remove what is kept of a participant. Raises DataFolderError when that is not possible."""
    path = private / f"{study}.sqlite"
    with removing(path, f"What is kept of {participant}") as connection:
        if connection is not None:
            connection.execute(_SCHEMA)
            connection.execute("DELETE FROM shift WHERE participant = ?", (participant,))


def _draw_days() -> int:
    first, last = date(YEARS[0], 1, 1), date(YEARS[1], 12, 31)
    days = (datetime.now(UTC).date() - last).days
    return days + secrets.randbelow((last - first).days + 1)


def machine_of(
    loaded: LoadedStudy, planned: SessionPlanned, decoders: Mapping[str, Decoder]
) -> SessionMachine:
    """The state machine of a planned session."""
    parts = plan.parts_of(planned)
    context = MachineContext(loaded, planned, decoders)
    study = loaded.study
    return SessionMachine(
        parts,
        [
            registry.task_type_of(part).machine(part, index, context)
            for index, part in enumerate(parts)
        ],
        dict(study.flags),
        study.inclusion,
        study.incentive,
        restarts=study.when_interrupted == "restart_stage",
        takes_back=planned.presentation != "as_published",
        stalls=study.stalls,
        debriefs="never" if study.flow[-1].only_if else study.flow[-1].shown_early(),
        quotas=study.quotas,
        variables=planned.assignment,
    )
