"""The process that serves other computers.

It has an interpreter of its own, so that neither encryption nor a slow link delays the
participant's program, which only writes into a pipe. It ends with its standard input.

Of the session it knows what other computers are to know: the copies of study and pictures in the
session folder, the events, and sound as it is recorded. A link that is too slow for the sound
loses sound, never events.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import secrets
import signal
import socket
import sys
import threading
import time
from array import array
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal

import msgspec
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from labapp import __version__
from labapp.base.reading import files
from labapp.record.journal.layout import STIMULI, STUDY
from labapp.record.journal.read import extent, read_rows
from labapp.session.remote import wire
from labapp.session.remote.pairing import (
    ATTEMPTS,
    Code,
    Proofs,
    answer_exchange,
    make_certificate,
    proofs,
    same,
)

PAIRING_S = 15.0
"""How long somebody may take to prove the code, which the program already knows."""
STRANGERS = 16
"""Links at once that have not proved the code yet."""
MEMBERS = 12
"""People who can take part at once."""
PING_S, SILENT_S = 5.0, 10.0
"""A link that does not answer for so long is broken."""
ROWS = 400
"""Events in a message of those that happened before."""
SOUND_HZ = 16_000
"""Sound is sent at about this rate: a voice, not a recording."""
SOUND_HELD = 40
"""Pieces of sound that wait for a slow link; older ones are left out."""
JOURNAL_S = 10.0
TRIED_PORTS = 20
FAREWELL_S = 0.3
"""How long the last message to everybody may take."""

_read_before = wire.decoder(wire.Before)
_read_member = wire.decoder(wire.FromMember)
_read_program = wire.decoder(wire.ToProcess)


@dataclass(frozen=True)
class _Piece:
    """A part of a file, which is read when it is its turn."""

    path: str
    sha256: bytes
    source: Path
    begin: int

    def message(self) -> bytes:
        with self.source.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(self.begin)
            data = file.read(wire.CHUNK)
        return wire.encode(wire.File(self.path, size, self.begin, data, self.sha256))


@dataclass(eq=False)
class _Link:
    """One connection of a member: what is to be sent, oldest first, and sound apart."""

    socket: ServerConnection
    queue: deque[bytes | _Piece] = field(default_factory=deque)
    sound: deque[bytes] = field(default_factory=lambda: deque(maxlen=SOUND_HELD))
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    hears: bool = False

    def put(self, message: bytes | _Piece) -> None:
        self.queue.append(message)
        self.wake.set()

    def put_sound(self, message: bytes) -> None:
        if self.hears:
            self.sound.append(message)
            self.wake.set()


@dataclass(eq=False)
class _Member:
    number: int
    name: str
    role: wire.Role
    key: bytes
    link: _Link | None = None


class SessionServer:
    """Serves one session. tell: writes a message to the program."""

    def __init__(self, begin: wire.Begin, tell: Callable[[msgspec.Struct], None]) -> None:
        self._begin, self._tell = begin, tell
        self._certificate = make_certificate()
        self._codes = {role: Code(role) for role in ("moderator", "observer")}
        self._members: dict[int, _Member] = {}
        self._rows: list[wire.Row] = []
        self._files: dict[str, tuple[bytes, Path]] | None = None
        self._people = wire.encode(wire.People([], 0))
        self._now = b""
        self._strangers = self._last = 0
        self._decimate = Decimator()
        self._servers: list[Server] = []

    async def open(self) -> None:
        """Read what happened so far and listen. Tells where, or why not."""
        await self._read_journal()
        port, problem = self._begin.port, ""
        for tried in range(port, port + TRIED_PORTS):
            try:
                for address in self._begin.addresses:
                    self._servers.append(await self._listen(address, tried))
                port, problem = self._servers[0].sockets[0].getsockname()[1], ""
                break
            except OSError as error:
                problem = error.strerror or str(error)
                await self.close()
        listening = [] if problem else self._begin.addresses
        self._tell(wire.Listening(listening, port, self._certificate.sha256, problem))
        self._tell_codes()

    async def _listen(self, address: str, port: int) -> Server:
        family = socket.AF_INET6 if ip_address(address).version == 6 else socket.AF_INET
        return await serve(
            self._serve,
            address,
            port,
            family=family,
            ssl=self._certificate.context,
            compression=None,
            max_size=wire.SMALL,
            max_queue=64,
            ping_interval=PING_S,
            ping_timeout=SILENT_S,
            close_timeout=1,
            open_timeout=PAIRING_S,
            server_header=None,
        )

    async def close(self) -> None:
        """Listen no more, and end all links."""
        if self._members:
            self._send_all(wire.encode(wire.Over("closed")))
            await asyncio.sleep(FAREWELL_S)
        servers, self._servers = self._servers, []
        for server in servers:
            server.close()
        for server in servers:
            await server.wait_closed()

    # --- the program's messages -------------------------------------------------------------------

    def take(self, message: Any) -> None:
        """Take in a message of the program."""
        match message:
            case wire.Rows():
                self._rows += message.rows
                self._send_all(wire.encode(message))
            case wire.Pcm():
                self._take_sound(message)
            case wire.Now():
                self._now = wire.encode(message)
                self._send_all(self._now)
            case wire.People():
                self._people = wire.encode(message)
                self._send_all(self._people)
            case wire.Told(member, done):
                if (link := self._link_of(member)) is not None:
                    link.put(wire.encode(done))
            case wire.Renew(role):
                self._codes[role].renew()
                self._tell_codes()
            case wire.Remove(member):
                self._remove(member)

    def _link_of(self, number: int) -> _Link | None:
        member = self._members.get(number)
        return None if member is None else member.link

    def _send_all(self, message: bytes) -> None:
        for member in self._members.values():
            if member.link is not None:
                member.link.put(message)

    def _take_sound(self, pcm: wire.Pcm) -> None:
        links = [m.link for m in self._members.values() if m.link is not None and m.link.hears]
        if not links:
            return
        rate, data = self._decimate(pcm.rate, pcm.channels, pcm.data)
        if data:
            sound = wire.encode(wire.Sound(self._session_ns(pcm.perf_ns), rate, data))
            for link in links:
                link.put_sound(sound)

    def _remove(self, number: int) -> None:
        member = self._members.pop(number, None)
        if member is not None and member.link is not None:
            member.link.put(wire.encode(wire.Over("removed")))
            asyncio.get_running_loop().call_later(FAREWELL_S, _close_soon, member.link.socket)

    def _session_ns(self, perf_ns: int) -> int:
        begin = self._begin
        return begin.session_ns + int((perf_ns - begin.perf_ns) * begin.speed)

    def _tell_codes(self) -> None:
        shown = {role: "" if code.locked else code.code for role, code in self._codes.items()}
        self._tell(wire.Codes(shown["moderator"], shown["observer"]))

    async def _read_journal(self) -> None:
        """The events before those that the program sends; the last may still be on their way to
        the disk."""
        folder, last = Path(self._begin.folder), self._begin.after_seq
        until_s = time.monotonic() + JOURNAL_S
        while extent(folder)[0] < last and time.monotonic() < until_s:
            await asyncio.sleep(0.05)
        self._rows = [
            (*row[:10], row.payload) for row in read_rows(folder) if row.seq <= last
        ] + self._rows

    # --- a link -----------------------------------------------------------------------------------

    async def _serve(self, socket: ServerConnection) -> None:
        if self._strangers >= STRANGERS:
            return
        self._strangers += 1
        try:
            async with asyncio.timeout(PAIRING_S):
                member, link = await self._pair(socket)
        except (TimeoutError, ConnectionClosed, wire.WireError, _Refusal) as error:
            if isinstance(error, _Refusal):
                with suppress(ConnectionClosed):
                    await socket.send(wire.encode(wire.Refused(error.reason, __version__)))
            return
        finally:
            self._strangers -= 1
        why: Literal["left", "link_lost"] = "link_lost"
        sending = asyncio.create_task(self._send(link))
        try:
            async for content in socket:
                message = _read_member(content)
                if isinstance(message, wire.Leave):
                    why = "left"
                    break
                self._take_from(member, link, message)
        except (ConnectionClosed, wire.WireError):
            pass
        finally:
            sending.cancel()
            if member.link is link:
                member.link = None
                if why == "left":
                    self._members.pop(member.number, None)
                if member.number in self._members or why == "left":
                    self._tell(wire.Left(member.number, why))

    async def _pair(self, socket: ServerConnection) -> tuple[_Member, _Link]:
        """Prove the code, both ways. Raises _Refusal."""
        first = _read_before(await socket.recv())
        match first:
            case wire.Hello():
                return await self._join(socket, first)
            case wire.Return():
                return await self._come_back(socket, first)
        raise _Refusal("protocol")

    async def _join(self, socket: ServerConnection, hello: wire.Hello) -> tuple[_Member, _Link]:
        if hello.protocol != wire.PROTOCOL or hello.version != __version__:
            raise _Refusal("version")
        if len(self._members) >= MEMBERS:
            raise _Refusal("full")
        code = self._codes[hello.role]
        if (used := code.begin()) is None:
            raise _Refusal("locked")
        self._tell_codes()
        proved = False
        try:
            # Elsewhere: it takes some milliseconds, and the links of others go on.
            answered = await asyncio.to_thread(answer_exchange, used, hello.role, hello.exchange)
            if answered is None:
                raise _Refusal("code")
            answer, key = answered
            await socket.send(wire.encode(wire.Challenge(answer)))
            exchanged = (hello.role.encode(), hello.name.encode(), hello.exchange, answer)
            expected = proofs(key, self._certificate.sha256, *exchanged)
            proof = await self._proof(socket, expected)
            proved = True
        finally:
            if proved:
                code.succeed(used, once=hello.role == "moderator")
            else:
                self._tell(wire.Attempt(hello.role, code.attempts or ATTEMPTS))
            self._tell_codes()
        self._last += 1
        member = _Member(self._last, hello.name.strip() or hello.role, hello.role, expected.again)
        self._members[member.number] = member
        return member, await self._begin_link(socket, member, proof, expected, again=False)

    async def _come_back(
        self, socket: ServerConnection, back: wire.Return
    ) -> tuple[_Member, _Link]:
        member = self._members.get(back.member)
        nonce = secrets.token_bytes(32)
        key = secrets.token_bytes(32) if member is None else member.key
        await socket.send(wire.encode(wire.Challenge(nonce)))
        expected = proofs(key, self._certificate.sha256, back.nonce, nonce)
        proof = await self._proof(socket, expected)
        if member is None:  # which a stranger does not learn
            raise _Refusal("code")
        if (old := member.link) is not None:
            member.link = None
            _close_soon(old.socket)
        return member, await self._begin_link(socket, member, proof, expected, again=True)

    async def _proof(self, socket: ServerConnection, expected: Proofs) -> wire.Proof:
        proof = _read_before(await socket.recv())
        if not isinstance(proof, wire.Proof) or not same(proof.proof, expected.client):
            raise _Refusal("code")
        return proof

    async def _begin_link(
        self,
        socket: ServerConnection,
        member: _Member,
        proof: wire.Proof,
        expected: Proofs,
        *,
        again: bool,
    ) -> _Link:
        begin = self._begin
        welcome = wire.Welcome(
            expected.server, member.number, begin.blind, begin.participant, begin.speed
        )
        link = _Link(socket)
        link.put(wire.encode(welcome))
        if self._files is None:
            self._files = await asyncio.to_thread(_list_files, Path(begin.folder))
        kept = set(proof.files)
        for path, (sha256, source) in self._files.items():
            if sha256 in kept:
                link.put(wire.encode(wire.Kept(path, sha256)))
            else:
                for begins in range(0, max(source.stat().st_size, 1), wire.CHUNK):
                    link.put(_Piece(path, sha256, source, begins))
        # From here to the member's link no other task runs: no event is missed or sent twice.
        rows = self._rows[proof.after_seq :]
        for at in range(0, len(rows), ROWS):
            link.put(wire.encode(wire.Rows(rows[at : at + ROWS])))
        link.put(wire.encode(wire.Ready()))
        if self._now:
            link.put(self._now)
        member.link = link
        self._tell(wire.Joined(member.number, member.name, member.role, again))
        return link

    async def _send(self, link: _Link) -> None:
        with suppress(ConnectionClosed):
            while True:
                await link.wake.wait()
                link.wake.clear()
                while link.queue or link.sound:
                    if link.sound:
                        await link.socket.send(link.sound.popleft())
                    if link.queue:
                        next_ = link.queue.popleft()
                        if isinstance(next_, _Piece):
                            next_ = await asyncio.to_thread(next_.message)
                        await link.socket.send(next_)

    def _take_from(self, member: _Member, link: _Link, message: Any) -> None:
        match message:
            case wire.Ping(number):
                link.queue.appendleft(
                    wire.encode(wire.Pong(number, self._session_ns(time.perf_counter_ns())))
                )
                link.wake.set()
            case wire.Hear(on):
                link.hears = on
            case _:
                self._tell(wire.FromSomebody(member.number, message))


class _Refusal(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _close_soon(socket: ServerConnection) -> None:
    task = asyncio.ensure_future(socket.close())
    _closing.add(task)
    task.add_done_callback(_closing.discard)


_closing: set[asyncio.Future[None]] = set()


def _list_files(folder: Path) -> dict[str, tuple[bytes, Path]]:
    """The files that a console needs by path in the session folder, with their SHA-256."""
    listed: dict[str, tuple[bytes, Path]] = {}
    for name in (STUDY, STIMULI):
        for path in sorted((folder / name).rglob("*")):
            if path.is_file() and not path.is_symlink():
                content = files.content(path)
                relative = path.relative_to(folder).as_posix()
                listed[relative] = (hashlib.sha256(content).digest(), path)
    return listed


class Decimator:
    """Sound of one channel at a rate near SOUND_HZ: every n-th value of a running mean over n.

    The mean is the filter: what lies above half of the new rate is weakened, enough to understand
    and judge a voice. The recording is not touched.
    """

    def __init__(self) -> None:
        self._format = (0, 0)
        self._left: array[int] = array("h")

    def __call__(self, rate: int, channels: int, data: bytes) -> tuple[int, bytes]:
        """The rate in Hz, and 16-bit PCM."""
        if (rate, channels) != self._format:
            self._format, self._left = (rate, channels), array("h")
        every = max(1, round(rate / SOUND_HZ))
        samples = array("h", data)[0::channels]
        self._left += samples
        whole = len(self._left) // every * every
        taken, self._left = self._left[:whole], self._left[whole:]
        if every == 1:
            return rate, taken.tobytes()
        mean = [sum(taken[at : at + every]) // every for at in range(0, whole, every)]
        return round(rate / every), array("h", mean).tobytes()


def main() -> None:
    """The process: serve until the program is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's Ctrl+C is for the program
    logging.disable(logging.WARNING)  # of links that break; the journal says so
    out, lock = sys.stdout.buffer, threading.Lock()

    def tell(message: msgspec.Struct) -> None:
        with lock, suppress(OSError, ValueError):  # the program is gone; its end comes next
            wire.write_frame(out, message)

    first = wire.read_frame(sys.stdin.buffer)
    if first is not None:
        asyncio.run(_run(_read_program(first), tell))
    os._exit(0)  # a thread may still wait for the standard input


async def _run(begin: wire.Begin, tell: Callable[[msgspec.Struct], None]) -> None:
    server = SessionServer(begin, tell)
    loop, over = asyncio.get_running_loop(), asyncio.Event()

    def read() -> None:
        while (content := wire.read_frame(sys.stdin.buffer)) is not None:
            loop.call_soon_threadsafe(server.take, _read_program(content))
        loop.call_soon_threadsafe(over.set)

    threading.Thread(target=read, name="program", daemon=True).start()
    await server.open()
    await over.wait()
    await server.close()


if __name__ == "__main__":
    main()
