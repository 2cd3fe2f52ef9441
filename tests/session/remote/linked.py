"""Sessions at real speed that are shared, people who join them, and a network that can be cut."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labapp.base.clock import SessionClock
from labapp.record.events import Event
from labapp.record.journal.read import read_rows
from labapp.session.opening import OpenSession
from labapp.session.remote import wire
from labapp.session.remote.client import Link, LinkState
from labapp.session.remote.following import FollowedSession
from labapp.session.remote.host import RemoteHost
from tests.helpers import waiting
from tests.helpers.live import LoopScheduler
from tests.helpers.waiting import PATIENCE_S
from tests.session.sessions import opened


@contextmanager
def nobody() -> Iterator[int]:
    """A port at which nobody listens, nor begins to meanwhile."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])


class SharedSession:
    """A session of the quick start that other computers can join; `run` lets time pass."""

    def __init__(self, tmp_path: Path, *, share: bool = True, **more: Any) -> None:
        made: list[LoopScheduler] = []

        def make_scheduler(clock: Any) -> LoopScheduler:
            made.append(LoopScheduler(clock))
            return made[0]

        self.folder = tmp_path
        self.opened: OpenSession = opened(
            tmp_path, clock=SessionClock(), make_scheduler=make_scheduler, **more
        )
        self.scheduler = made[0]
        self.runner = self.opened.runner
        self.events: list[Event] = []
        self.runner.journal.subscribe(self.events.append)
        self.opened.begin()
        self.changes = 0
        self.people: list[Person] = []
        self.hosts: list[RemoteHost] = []
        if share:
            self.share()

    def share(self) -> RemoteHost:
        """Let others join, and wait until they can."""
        host = RemoteHost(self.opened, ["127.0.0.1"], self._count, 0)
        self.hosts.append(host)
        self.run(lambda: bool(host.listening.codes))
        return host

    def _count(self) -> None:
        self.changes += 1

    @property
    def host(self) -> RemoteHost:
        return self.hosts[-1]

    def run(self, until: Callable[[], bool]) -> None:
        """Let the session go on until something holds."""
        deadline = time.monotonic() + PATIENCE_S

        def over() -> bool:
            assert time.monotonic() < deadline, "it never came"
            return until()

        self.scheduler.run(over)

    def reached(self, person: Person) -> bool:
        """Whether all events so far have come to somebody."""
        rows = person.rows
        return bool(rows) and rows[-1][0] == self.events[-1].seq

    def wait_for_all(self, person: Person) -> None:
        """Until all events so far have come to somebody and are stored. Both at once: another one
        may happen at any time."""
        journal = self.runner.journal
        self.run(lambda: self.reached(person) and journal.committed_seq == self.events[-1].seq)

    def pass_time(self, seconds: float) -> None:
        """Let the session go on for so long."""
        over = threading.Event()
        self.scheduler.call_later(seconds, over.set)
        self.run(over.is_set)

    def payloads(self, kind: str) -> list[dict[str, Any]]:
        """What the events of a kind say, in their order."""
        return [dict(event.payload) for event in list(self.events) if event.kind == kind]

    def join(
        self,
        name: str = "Anna",
        role: wire.Role = "moderator",
        *,
        code: str = "",
        port: int = 0,
        wait: bool = True,
    ) -> Person:
        """Somebody joins. port: of a network in between."""
        person = Person(
            self.folder / f"joined-{len(self.people)}",
            name,
            role,
            code or self.host.listening.codes[role],
            port or self.host.listening.port,
        )
        self.people.append(person)
        if wait:
            self.run(lambda: person.linked and self.agrees(person))
        return person

    def agrees(self, person: Person) -> bool:
        """Whether the session knows somebody, and this person knows who takes part now: an
        earlier list may hold what a test waits for."""
        host, known = self.host, person.people
        people = [wire.Person(m.number, m.name, m.role, m.linked) for m in host.members.values()]
        return person.link.member in host.members and known == wire.People(people, host.moderator)

    def rows(self) -> list[wire.Row]:
        """The events in the journal, in the form in which they travel."""
        return [(*row[:10], row.payload) for row in read_rows(self.opened.folder.path)]

    def close(self) -> None:
        for person in self.people:
            person.link.leave()
        for host in self.hosts:
            host.close()
        self.opened.close("test over")
        for host in self.hosts:
            host._process.wait(PATIENCE_S)


def wait_for_threads() -> None:
    """Every thread of a link ends with it."""
    names = {"remote-writer", "remote-reader", "remote-end", "remote-link"}
    waiting.wait_for_threads(lambda thread: thread.name in names)


class Person:
    """Somebody at another computer."""

    def __init__(
        self,
        folder: Path,
        name: str,
        role: wire.Role,
        code: str,
        port: int,
        host: str = "127.0.0.1",
    ) -> None:
        self.folder = folder
        self.messages: list[Any] = []
        self.link = Link(host, port, name, role, code, folder, self.messages.append)
        self.link.start()

    @property
    def states(self) -> list[LinkState]:
        return [each for each in list(self.messages) if isinstance(each, LinkState)]

    @property
    def linked(self) -> bool:
        return bool(self.states) and self.states[-1].state == "linked"

    @property
    def over(self) -> LinkState | None:
        states = self.states
        return states[-1] if states and states[-1].state == "over" else None

    @property
    def people(self) -> wire.People | None:
        """Who takes part, as this computer knows it; this person among them."""
        sent = [each for each in list(self.messages) if isinstance(each, wire.People)]
        known = [each for each in sent if any(p.member == self.link.member for p in each.people)]
        return known[-1] if known else None

    @property
    def rows(self) -> list[wire.Row]:
        sent = [each for each in list(self.messages) if isinstance(each, wire.Rows)]
        return [row for each in sent for row in each.rows]

    def all(self, kind: type[Any]) -> list[Any]:
        return [each for each in list(self.messages) if isinstance(each, kind)]

    def follow(self) -> FollowedSession:
        """The session as far as its events are here."""
        return FollowedSession(self.link, self.folder, self.rows, lambda function: function())


class Ends:
    """The two ends of a connection that is carried on; closed when nothing goes either way."""

    def __init__(self, near: socket.socket, far: socket.socket) -> None:
        self.ways = ((near, far), (far, near))
        self._carried = len(self.ways)
        self._lock = threading.Lock()

    def cut(self) -> None:
        for end, _ in self.ways:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def done(self) -> None:
        """One way is no longer carried."""
        self.cut()
        with self._lock:
            self._carried -= 1
            if not self._carried:
                for end, _ in self.ways:
                    end.close()


@dataclass
class Network:
    """Carries bytes between a port of its own and another one, as a network does.

    Attributes
    ----------
    heard : all bytes that went either way.
    deaf : whether bytes are swallowed, as where a cable is pulled.
    """

    to: int
    heard: bytearray = field(default_factory=bytearray)
    deaf: bool = False

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._ends: list[Ends] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._server.getsockname()[1])
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._server.accept()
                try:
                    far = socket.create_connection(("127.0.0.1", self.to), 5)
                except OSError:
                    near.close()
                    continue
                ends = Ends(near, far)
                with self._lock:
                    self._ends.append(ends)
                for source, sink in ends.ways:
                    carrier = threading.Thread(
                        target=self._carry, args=(ends, source, sink), daemon=True
                    )
                    self._threads.append(carrier)
                    carrier.start()

    def _carry(self, ends: Ends, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                with self._lock:
                    self.heard += data
                if not self.deaf:
                    sink.sendall(data)
        ends.done()

    def cut(self) -> None:
        """Break every connection."""
        with self._lock:
            ends, self._ends = self._ends, []
        for each in ends:
            each.cut()

    def close(self) -> None:
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self.cut()
        for thread in self._threads:
            thread.join(5)
