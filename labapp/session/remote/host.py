"""The session's side of other computers: starts the process that serves them, hands it events and
sound, and decides who may do what.

Nothing here waits: events and sound go into a queue, which a thread writes to the process. Where
the process ends or hangs, the session goes on without it.
"""

from __future__ import annotations

import math
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from ipaddress import ip_address
from typing import Any

import msgspec

from labapp.base.clock import NS
from labapp.base.errors import JournalError, LabappError, SessionError, UsageError
from labapp.base.installation import child_environment, module_command, wait_or_kill
from labapp.record.audio.capture import Packet
from labapp.record.events import Event, Payload, Source
from labapp.record.events.commands import (
    AddDeviation,
    AddFlag,
    AddNote,
    Command,
    CorrectNote,
)
from labapp.record.events.lifecycle import AlarmCleared, AlarmRaised
from labapp.record.events.registry import payload_text
from labapp.record.events.remote import (
    ModeratorChanged,
    RemoteAsked,
    RemoteClock,
    RemoteClosed,
    RemoteJoined,
    RemoteLeft,
    RemoteOpened,
    RemoteRefused,
)
from labapp.session.opening import OpenSession
from labapp.session.remote import wire
from labapp.session.runner import Timer

NOW_S = 0.1
"""Between two reports of level and disk."""
FREE_EVERY = 50
"""Such reports between two looks at the disk."""
QUEUE = 20_000
"""Messages that wait for the process; one that takes none for so long hangs."""
GATHER_S = 0.004
"""Events this close together travel in one message."""
CLOCK_S = 10.0
"""Between two notes in the journal of how well the clock of one computer agrees."""
HERE = 0
"""The member that stands for the session's own computer."""
LATE_NS = 10 * NS
"""A request that waited longer for a link is not carried out, except to write something down: what
it was meant for is over."""
END_S = 4.0
"""How long the process may take to say goodbye to everybody."""
FAILED = "remote_failed"
_WRITTEN = (AddNote, AddFlag, AddDeviation, CorrectNote)

read_process = wire.decoder(wire.FromProcess)


def _commands() -> dict[str, type[Command]]:
    commands: dict[str, type[Command]] = {}
    kinds = [Command]
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        # A dataclass with slots leaves behind the class that it was made of.
        module = sys.modules.get(kind.__module__)
        usable = getattr(module, kind.__qualname__, None) is kind
        if kind.from_afar and usable:
            commands[name_of(kind)] = kind
    return commands


def name_of(kind: type[Command]) -> str:
    """How a message names a command."""
    return f"{kind.__module__}:{kind.__qualname__}"


def as_ask(number: int, asked_ns: int, command: Command) -> wire.Ask:
    """The message for a command."""
    return wire.Ask(number, asked_ns, name_of(type(command)), msgspec.json.encode(command))


def command_of(ask: wire.Ask) -> Command:
    """The command in a message. Raises WireError: there is none that may come from another
    computer, or its fields are wrong."""
    kind = _commands().get(ask.command)
    if kind is None:
        raise wire.WireError("There is no such request from another computer.")
    try:
        return msgspec.json.decode(ask.fields, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise wire.WireError(f"A request could not be read: {error}.") from error


@dataclass
class Member:
    """Somebody at another computer. error_ns: how well the clock there agrees, None while that is
    not known; clock_told_s: when that was stored; last: the number of the last request."""

    number: int
    name: str
    role: wire.Role
    linked: bool = True
    error_ns: int | None = None
    last: int = 0
    clock_told_s: float = -math.inf


@dataclass
class Listening:
    """What the moderator at the session's computer is shown. problem: why nobody can join."""

    addresses: list[str] = field(default_factory=list)
    port: int = 0
    codes: dict[str, str] = field(default_factory=dict)
    attempts: int = 0
    problem: str = ""


def check_addresses(addresses: list[str]) -> None:
    """Raises UsageError for what is no address of a computer."""
    for address in addresses or [""]:
        try:
            ip_address(address)
        except ValueError as error:
            raise UsageError(
                f"{address!r} is not an address on which this computer can listen.",
                safe="Nothing was opened.",
                todo="Give an address of this computer, such as 192.168.1.20.",
            ) from error


class RemoteHost:
    """Lets other computers join a session that is open.

    Parameters
    ----------
    opened : the session; `begin` was called.
    addresses : of this computer, at which it listens.
    changed : called in the runner's thread when anything here is another.

    Attributes
    ----------
    members : who takes part, by number, also while a link is broken.
    moderator : the number of who moderates; `HERE` for the session's own computer.
    listening : where others can join.
    """

    def __init__(
        self,
        opened: OpenSession,
        addresses: list[str],
        changed: Callable[[], None],
        port: int = wire.PORT,
    ) -> None:
        check_addresses(addresses)
        addresses = list(dict.fromkeys(addresses))
        self._opened, self._runner, self._changed = opened, opened.runner, changed
        self.members: dict[int, Member] = {}
        self.moderator = HERE
        self.listening = Listening()
        self._queue: queue.Queue[msgspec.Struct | Event | None] = queue.Queue(QUEUE)
        self._names: dict[int, str] = {}
        self._next: Timer | None = None
        self._closed = self._told_opened = False
        self._looks = 0
        self._free: int | None = None
        runner, clock = self._runner, self._runner.clock
        journal = runner.journal
        # Session time passes evenly: one reading and its speed say all of it.
        perf_ns = time.perf_counter_ns()
        session_ns, speed = clock.from_perf_ns(perf_ns), 1 / clock.real_seconds(NS)
        begin = wire.Begin(
            str(opened.folder.path),
            addresses,
            port,
            opened.planned.participant,
            bool(runner.state.blind),
            0,
            perf_ns,
            session_ns,
            speed,
        )
        try:
            self._process = subprocess.Popen(
                module_command("labapp.session.remote.server"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=child_environment(),
            )
        except OSError as error:
            raise SessionError(
                f"The process that connects other computers could not be started: {error}.",
                safe="The session continues on this computer.",
                todo="Close other programs, and share the session again.",
            ) from error
        after_seq = journal.subscribe_from(self._take_event)
        begin = msgspec.structs.replace(begin, after_seq=after_seq)
        _start_thread("remote-writer", partial(self._write, begin))
        _start_thread("remote-reader", self._read)
        opened.overhear(self._take_sound)
        self._report()

    def close(self) -> None:
        """End all links and listen no more; before the session is closed. It does not wait for the
        process to end."""
        if self._closed:
            return
        for member in list(self.members):
            self._leave(member, "closed")
        if self._told_opened:
            self._emit(RemoteClosed())
        self._closed = True
        if self._next is not None:
            self._next.cancel()
        self._opened.overhear(None)
        self._runner.journal.unsubscribe(self._take_event)
        self.listening = Listening()
        self._put(None)
        _start_thread("remote-end", lambda: wait_or_kill(self._process, END_S))

    # --- what the moderator at this computer does -------------------------------------------------

    def take_back(self) -> None:
        """Moderate from the session's own computer."""
        self._hand_to(HERE, "taken_back")

    def hand_over(self, member: int) -> None:
        """Let somebody who joined as moderator moderate."""
        person = self.members.get(member)
        if person is not None and person.role == "moderator" and person.linked:
            self._hand_to(member, "handed_over")

    def remove(self, member: int) -> None:
        """End somebody's part in the session."""
        if member in self.members:
            self._put(wire.Remove(member))
            self._leave(member, "removed")

    def renew(self, role: wire.Role) -> None:
        """Another code; also where wrong attempts have locked it."""
        self._put(wire.Renew(role))

    def person(self, member: int) -> str:
        """The name of somebody who takes part or did."""
        return self._names.get(member, "")

    # --- to the process ---------------------------------------------------------------------------

    def _take_event(self, event: Event) -> None:
        self._put(event)

    def _take_sound(self, rate: int, channels: int, packet: Packet) -> None:
        self._put(wire.Pcm(packet.perf_ns, rate, channels, packet.data))

    def _put(self, message: msgspec.Struct | Event | None) -> None:
        try:
            self._queue.put_nowait(message)
        except queue.Full:  # it hangs, and what was left out would be missing from every link
            self._process.kill()

    def _write(self, begin: wire.Begin) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        with suppress(OSError, ValueError):  # it ended: the thread that reads says so
            wire.write_frame(pipe, begin)
            over = False
            while not over:
                held = [self._queue.get()]
                if isinstance(held[0], Event):
                    time.sleep(GATHER_S)
                    while not self._queue.empty():
                        held.append(self._queue.get())
                over = None in held
                # Their order among other messages does not matter.
                if rows := [_row(each) for each in held if isinstance(each, Event)]:
                    wire.write_frame(pipe, wire.Rows(rows))
                for each in held:
                    if isinstance(each, msgspec.Struct):
                        wire.write_frame(pipe, each)
        with suppress(OSError):
            pipe.close()

    def _report(self) -> None:
        if self._closed:
            return
        runner = self._runner
        if self._looks % FREE_EVERY == 0:
            self._free = runner.free_bytes()
        self._looks += 1
        level = None
        if runner.recorder is not None and self._opened.recording:
            heard = runner.recorder.level()
            level = wire.Level(*(getattr(heard, name) for name in wire.Level.__struct_fields__))
        streams = None if runner.streams is None else runner.streams_received
        self._put(wire.Now(level, runner.saved_ago_s, self._free, streams))
        wait_s = NOW_S / max(runner.clock.real_seconds(NS), 1e-9)
        self._next = runner.scheduler.call_later(wait_s, self._report)

    def _tell_people(self) -> None:
        people = [wire.Person(m.number, m.name, m.role, m.linked) for m in self.members.values()]
        self._put(wire.People(people, self.moderator))
        self._changed()

    # --- from the process -------------------------------------------------------------------------

    def _read(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        with pipe, suppress(OSError, ValueError, wire.WireError):
            while (content := wire.read_frame(pipe)) is not None:
                message = read_process(content)
                self._runner.scheduler.post(partial(self._take, message))
        self._process.kill()
        if not self._closed:
            self._runner.scheduler.post(self._ended)

    def _ended(self) -> None:
        if self._closed:
            return
        # The session continues on its own computer.
        self._emit(AlarmRaised(FAILED, "the process that connects other computers ended"))
        self._opened.remote_failed = True
        self.close()
        self.listening = Listening(problem="ended")
        self._changed()

    def _take(self, message: Any) -> None:
        if self._closed:
            return
        match message:
            case wire.Listening():
                self.listening.addresses, self.listening.port = message.addresses, message.port
                self.listening.problem = message.problem
                if not message.problem:
                    self._told_opened = True
                    if self._opened.remote_failed:
                        self._opened.remote_failed = False
                        self._emit(AlarmCleared(FAILED))
                    self._emit(RemoteOpened(message.port, message.certificate_sha256.hex()))
            case wire.Codes(moderator, observer):
                self.listening.codes = {"moderator": moderator, "observer": observer}
            case wire.Attempt(role, attempts):
                self.listening.attempts += 1
                self._emit(RemoteRefused(role, attempts))
            case wire.Joined():
                self._join(message)
            case wire.Left(member, why):
                self._leave(member, why)
            case wire.FromSomebody(member, sent) if member in self.members:
                self._take_from(self.members[member], sent)
                return
        self._changed()

    def _join(self, joined: wire.Joined) -> None:
        before = self.members.get(joined.member)
        member = Member(joined.member, joined.name, joined.role)
        if before is not None:
            member.last = before.last
        self.members[joined.member] = member
        self._names[joined.member] = joined.name
        self._emit(RemoteJoined(joined.member, joined.name, joined.role, joined.again))
        # A person who has the code of a moderator was given it to moderate.
        if joined.role == "moderator" and self.moderator == HERE and not joined.again:
            self._hand_to(joined.member, "joined")
        else:
            self._tell_people()

    def _leave(self, number: int, why: Any) -> None:
        member = self.members.get(number)
        if member is None:
            return
        if why == "link_lost":
            member.linked = False
        else:
            del self.members[number]
        self._emit(RemoteLeft(number, why))
        if number == self.moderator and number not in self.members:
            self._hand_to(HERE, "left")
        else:
            self._tell_people()

    def _hand_to(self, member: int, why: str) -> None:
        if member != self.moderator:
            self.moderator = member
            self._emit(ModeratorChanged(member or None, why))
        self._tell_people()

    def _take_from(self, member: Member, message: Any) -> None:
        match message:
            case wire.ClockState(error_ns):
                before, now_s = member.error_ns, time.monotonic()
                if before is None or (
                    not before / 2 <= error_ns <= before * 3 / 2
                    and now_s - member.clock_told_s >= CLOCK_S
                ):
                    member.error_ns, member.clock_told_s = error_ns, now_s
                    self._emit(RemoteClock(member.number, error_ns))
            case wire.HandOver(to) if member.number == self.moderator:
                if to == HERE:
                    self._hand_to(HERE, "handed_over")
                else:
                    self.hand_over(to)
            case wire.Ask():
                done = wire.Done(message.number, self._ask(member, message))
                self._put(wire.Told(member.number, done))

    def _ask(self, member: Member, ask: wire.Ask) -> str:
        """Do what somebody asks for; why not, or empty."""
        if ask.number <= member.last:
            return ""  # it came a second time, over a link that had broken
        try:
            command = command_of(ask)
        except wire.WireError as error:
            return error.what
        if member.number != self.moderator and not isinstance(command, AddNote):
            return "not_moderator"
        member.last = ask.number
        now_ns = self._runner.clock.now_ns()
        if now_ns - ask.asked_ns > LATE_NS and not isinstance(command, _WRITTEN):
            return "too_late"
        asked = RemoteAsked(member.number, ask.number, max(0, min(ask.asked_ns, now_ns)))
        try:
            self._runner.send(command, Source.MODERATOR, asked)
        except LabappError as error:  # a value that cannot be stored
            return str(error.what)
        return ""

    def _emit(self, payload: Payload) -> None:
        with suppress(JournalError):  # the session is closed
            self._runner.emit(payload)


def _start_thread(name: str, function: Callable[[], object]) -> None:
    threading.Thread(target=function, name=name, daemon=True).start()


def _row(event: Event) -> wire.Row:
    return (*event[:10], payload_text(event.payload))
