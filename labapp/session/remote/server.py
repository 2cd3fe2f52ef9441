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
import traceback
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from errno import EADDRINUSE
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from labapp import __version__
from labapp.base.errors import LabappError
from labapp.base.reading import files
from labapp.base.reading.values import json_value
from labapp.record.events.lifecycle import DecoderWarmed
from labapp.record.journal.layout import STIMULI, STUDY
from labapp.record.journal.read import extent, read_rows
from labapp.session.remote import wire
from labapp.session.remote.pairing import (
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
SILENT_S = 8.0
"""A link that brings or takes nothing for so long is broken: pings come every second."""
BETWEEN_S = 0.005
"""Between two requests of one link, so that no computer can keep the program busy."""
ROWS, ROWS_SIZE = 400, 256 * 1024
"""Events in a message, and about how many bytes."""
SOUND_HZ = 16_000
"""Sound is sent at about this rate: a voice, not a recording."""
SOUND_HELD = 40
"""Pieces of sound that wait for a slow link; older ones are left out."""
PONGS_HELD = 16
QUEUED = 100_000
"""Other messages that wait for a link, pieces of files above all; with more it is broken."""
UNSENT = 64 * 1024
"""Bytes that the system takes ahead of the network: what is urgent waits behind them."""
JOURNAL_S = 10.0
TRIED_PORTS = 20
FAREWELL_S = 1.0
"""How long the last messages to everybody may take."""

_read_before = wire.decoder(wire.Before)
_read_member = wire.decoder(wire.FromMember)
_read_program = wire.decoder(wire.ToProcess)
_Message = bytes | Callable[[], bytes]
"""What is to be sent, or what reads it from a file when it is its turn."""

# What strangers send would fill the terminal that labapp was started from.
_quiet = logging.getLogger(__name__)
_quiet.addHandler(logging.NullHandler())
_quiet.propagate = False


def _read_piece(path: str, sha256: bytes, source: Path, begin: int) -> bytes:
    with source.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(begin)
        data = file.read(wire.CHUNK)
    return wire.encode(wire.File(path, size, begin, data, sha256))


@dataclass(eq=False)
class _Link:
    """One connection of a member: what is to be sent over it, by urgency.

    sent : how many of `rows`, all events of the session, were sent.
    """

    socket: ServerConnection
    rows: list[wire.Row]
    sent: int
    others: deque[_Message] = field(default_factory=deque)
    sound: deque[bytes] = field(default_factory=lambda: deque(maxlen=SOUND_HELD))
    pongs: deque[bytes] = field(default_factory=lambda: deque(maxlen=PONGS_HELD))
    now: bytes = b""
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    hears: bool = False
    _sounded: bool = False

    def put(self, message: _Message) -> None:
        """Send this after all events that happened before it."""
        self.others.append(message)
        if len(self.others) > QUEUED:
            self.end()
        self.wake.set()

    def put_pong(self, message: bytes) -> None:
        self.pongs.append(message)
        self.wake.set()

    def put_sound(self, message: bytes) -> None:
        if self.hears:
            self.sound.append(message)
            self.wake.set()

    def put_now(self, message: bytes) -> None:
        """Send this in place of one before it that was not sent."""
        self.now = message
        self.wake.set()

    @property
    def waits(self) -> bool:
        """Whether anything is to be sent that nothing replaces."""
        return bool(self.others) or self.sent < len(self.rows)

    def take(self) -> _Message | None:
        """What to send next. Sound and the rest take turns, so that neither keeps the other up."""
        if self.pongs:
            return self.pongs.popleft()
        if self.sound and not (self._sounded and self.waits):
            self._sounded = True
            return self.sound.popleft()
        self._sounded = False
        if self.sent < len(self.rows):
            rows = _first_rows(self.rows, self.sent)
            self.sent += len(rows)
            return wire.encode(wire.Rows(rows))
        if self.others:
            return self.others.popleft()
        now, self.now = self.now, b""
        return now or None

    def end(self) -> None:
        """Break the connection, whatever waits in it."""
        self.socket.transport.abort()


def _first_rows(rows: list[wire.Row], begin: int) -> list[wire.Row]:
    """Events for one message, one at least."""
    size, end = 0, begin
    while end < min(begin + ROWS, len(rows)) and size < ROWS_SIZE:
        size += len(rows[end][-1])
        end += 1
    return rows[begin:end]


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
        self._files = FileList(Path(begin.folder))
        self._models: dict[str, list[tuple[Path, int, bytes]]] = {}
        self._people = wire.encode(wire.People([], 0))
        self._now = b""
        self._strangers = self._last = 0
        self._decimate = Decimator()
        self._servers: list[Server] = []

    async def open(self) -> None:
        """Read what happened so far and listen. Reports the address, or the problem."""
        port, problem = self._begin.port, await self._read_journal()
        for tried in range(port, port + TRIED_PORTS):
            if problem:
                break
            try:
                port = await self._listen(tried)
                break
            except OSError as error:
                await self.close()
                if error.errno != EADDRINUSE or tried == port + TRIED_PORTS - 1:
                    problem = error.strerror or str(error)
        listening = [] if problem else self._begin.addresses
        self._tell(wire.Listening(listening, port, self._certificate.sha256, problem))
        if not problem:
            self._tell_codes()

    async def _listen(self, port: int) -> int:
        """Listen at all addresses; at which port. Raises OSError."""
        for address in self._begin.addresses:
            family = socket.AF_INET6 if ip_address(address).version == 6 else socket.AF_INET
            server = await serve(
                self._serve,
                address,
                port,
                family=family,
                ssl=self._certificate.context,
                ssl_handshake_timeout=PAIRING_S,
                compression=None,
                max_size=wire.SMALL,
                max_queue=64,
                ping_interval=None,
                close_timeout=1,
                open_timeout=PAIRING_S,
                server_header=None,
                logger=_quiet,
            )
            self._servers.append(server)
            port = next(iter(server.sockets)).getsockname()[1]
        return port

    async def close(self) -> None:
        """Listen no more, and end all links."""
        for link in self._links():
            link.put(wire.encode(wire.Over("closed")))
        until_s = time.monotonic() + FAREWELL_S
        while any(link.waits for link in self._links()) and time.monotonic() < until_s:
            await asyncio.sleep(0.01)
        servers, self._servers = self._servers, []
        for server in servers:
            server.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL_S):
                for server in servers:
                    await server.wait_closed()

    # --- the program's messages -------------------------------------------------------------------

    def take(self, message: Any) -> None:
        """Take in a message of the program."""
        match message:
            case wire.Rows():
                self._rows += message.rows
                for link in self._links():
                    link.wake.set()
            case wire.Pcm():
                self._take_sound(message)
            case wire.Now():
                self._now = wire.encode(message)
                for link in self._links():
                    link.put_now(self._now)
            case wire.People():
                self._people = wire.encode(message)
                for link in self._links():
                    link.put(self._people)
            case wire.Told(member, done):
                if (to := self._members.get(member)) is not None and to.link is not None:
                    to.link.put(wire.encode(done))
            case wire.Renew(role):
                self._codes[role].renew()
                self._tell_codes()
            case wire.Remove(member):
                self._remove(member)

    def _links(self) -> Iterable[_Link]:
        return [member.link for member in self._members.values() if member.link is not None]

    def _take_sound(self, pcm: wire.Pcm) -> None:
        links = [link for link in self._links() if link.hears]
        if not links:
            return
        rate, data = self._decimate(pcm.rate, pcm.channels, pcm.data)
        if data:
            sound = wire.encode(wire.Sound(self._session_ns(pcm.perf_ns), rate, data))
            for link in links:
                link.put_sound(sound)

    def _remove(self, number: int) -> None:
        member = self._members.pop(number, None)
        if member is not None and (link := member.link) is not None:
            member.link = None
            link.others.appendleft(wire.encode(wire.Over("removed")))
            link.sent = len(link.rows)
            link.wake.set()
            asyncio.get_running_loop().call_later(FAREWELL_S, link.end)

    def _session_ns(self, perf_ns: int) -> int:
        begin = self._begin
        return begin.session_ns + int((perf_ns - begin.perf_ns) * begin.speed)

    def _tell_codes(self) -> None:
        shown = {role: "" if code.locked else code.code for role, code in self._codes.items()}
        self._tell(wire.Codes(shown["moderator"], shown["observer"]))

    async def _read_journal(self) -> str:
        """Read the events before those that the program sends; why that is not possible, or
        empty. The last of them may still be on their way to the disk."""
        folder, last = Path(self._begin.folder), self._begin.after_seq
        until_s = time.monotonic() + JOURNAL_S
        try:
            while extent(folder)[0] < last:
                if time.monotonic() > until_s:
                    return "the disk does not respond"
                await asyncio.sleep(0.05)
            past = [(*row[:10], row.payload) for row in read_rows(folder) if row.seq <= last]
        except LabappError as error:
            return str(error.what)
        self._rows[:0] = past
        return ""

    # --- a link -----------------------------------------------------------------------------------

    async def _serve(self, socket: ServerConnection) -> None:
        if self._strangers >= STRANGERS:
            await _refuse(socket, "full")
            return
        self._strangers += 1
        try:
            async with asyncio.timeout(PAIRING_S):
                member, link, have = await self._pair(socket)
        except (TimeoutError, ConnectionClosed, wire.WireError, _Refusal) as error:
            if isinstance(error, _Refusal):
                await _refuse(socket, error.reason)
            return
        finally:
            self._strangers -= 1
        why: Literal["left", "link_lost"] = "link_lost"
        tasks = [
            asyncio.create_task(self._send(link)),
            asyncio.create_task(self._put_files(link, have)),
        ]
        try:
            while True:
                async with asyncio.timeout(SILENT_S):
                    message = _read_member(await socket.recv())
                if isinstance(message, wire.Leave):
                    why = "left"
                    break
                if member.link is link:
                    await self._take_from(member, link, message)
        except (ConnectionClosed, wire.WireError, TimeoutError):
            link.end()
        finally:
            for task in tasks:
                task.cancel()
            if member.link is link:
                member.link = None
                if why == "left":
                    self._members.pop(member.number, None)
                self._tell(wire.Left(member.number, why))

    async def _pair(self, socket: ServerConnection) -> tuple[_Member, _Link, set[bytes]]:
        """Prove the code, both ways; which files are there already. Raises _Refusal."""
        try:
            first = _read_before(await socket.recv())
        except wire.WireError as error:  # perhaps of another version
            raise _Refusal("version") from error
        match first:
            case wire.Hello():
                return await self._join(socket, first)
            case wire.Return():
                return await self._come_back(socket, first)
        raise _Refusal("version")

    async def _join(
        self, socket: ServerConnection, hello: wire.Hello
    ) -> tuple[_Member, _Link, set[bytes]]:
        if hello.protocol != wire.PROTOCOL or hello.version != __version__:
            raise _Refusal("version")
        if len(self._members) >= MEMBERS:
            raise _Refusal("full")
        code = self._codes[hello.role]
        if (begun := code.begin()) is None:
            raise _Refusal("locked")
        used, attempts = begun
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
                self._tell(wire.Attempt(hello.role, attempts))
            self._tell_codes()
        if len(self._members) >= MEMBERS:  # others joined meanwhile
            raise _Refusal("full")
        self._last += 1
        name = wire.clean_name(hello.name, hello.role)
        member = _Member(self._last, name, hello.role, expected.again)
        self._members[member.number] = member
        return self._begin_link(socket, member, proof, expected, again=False)

    async def _come_back(
        self, socket: ServerConnection, back: wire.Return
    ) -> tuple[_Member, _Link, set[bytes]]:
        if back.protocol != wire.PROTOCOL:
            raise _Refusal("version")
        member = self._members.get(back.member)
        nonce = secrets.token_bytes(32)
        key = secrets.token_bytes(32) if member is None else member.key
        await socket.send(wire.encode(wire.Challenge(nonce)))
        expected = proofs(key, self._certificate.sha256, back.nonce, nonce)
        proof = await self._proof(socket, expected)
        if member is None or self._members.get(member.number) is not member:
            raise _Refusal("code")  # a stranger does not learn that nobody has this number
        return self._begin_link(socket, member, proof, expected, again=True)

    async def _proof(self, socket: ServerConnection, expected: Proofs) -> wire.Proof:
        proof = _read_before(await socket.recv())
        if not isinstance(proof, wire.Proof) or not same(proof.proof, expected.client):
            raise _Refusal("code")
        return proof

    def _begin_link(
        self,
        socket: ServerConnection,
        member: _Member,
        proof: wire.Proof,
        expected: Proofs,
        *,
        again: bool,
    ) -> tuple[_Member, _Link, set[bytes]]:
        begin = self._begin
        # Events that are not here cannot have been sent: what follows would be left out.
        sent = proof.after_seq if proof.after_seq <= len(self._rows) else 0
        link = _Link(socket, self._rows, sent, now=self._now)
        welcome = wire.Welcome(
            expected.server, member.number, begin.blind, begin.participant, begin.speed
        )
        link.pongs.append(wire.encode(welcome))  # before all else
        link.wake.set()
        _tune(socket)
        before, member.link = member.link, link
        if before is not None:
            before.end()
        self._tell(wire.Joined(member.number, member.name, member.role, again))
        return member, link, set(proof.files)

    async def _put_files(self, link: _Link, have: set[bytes]) -> None:
        """Send the files of the session that are not there, and then that all was sent."""
        listed = await asyncio.to_thread(self._files.read)
        for path, (sha256, size, source) in listed.items():
            if sha256 in have:
                link.put(wire.encode(wire.Kept(path, sha256)))
            else:
                _put_file(link, path, sha256, size, source)
        link.put(wire.encode(wire.Ready()))
        link.put(self._people)

    async def _put_model(self, link: _Link, model: str) -> None:
        """Send the files of a model of the session, none of which is a program."""
        warmed = (json_value(row[10]) for row in self._rows if row[5] == DecoderWarmed.kind)
        known = any(fields.get("model") == model for fields in warmed)
        if known and model not in self._models:
            self._models[model] = await asyncio.to_thread(_list_model, model)
        sources = self._models.get(model, [])
        folder = f"{wire.MODELS}/{hashlib.sha256(model.encode()).hexdigest()[:16]}"
        for source, size, sha256 in sources:
            _put_file(link, f"{folder}/{source.name}", sha256, size, source)
        link.put(wire.encode(wire.Model(model, folder if sources else "")))

    async def _send(self, link: _Link) -> None:
        """Send what there is, until the link ends or takes nothing for too long."""
        try:
            while True:
                await link.wake.wait()
                link.wake.clear()
                while (message := link.take()) is not None:
                    if not isinstance(message, bytes):
                        message = await asyncio.to_thread(message)
                    async with asyncio.timeout(SILENT_S):
                        await link.socket.send(message)
        except (ConnectionClosed, OSError):  # also a file that is gone
            link.end()

    async def _take_from(self, member: _Member, link: _Link, message: Any) -> None:
        match message:
            case wire.Ping(number):
                session_ns = self._session_ns(time.perf_counter_ns())
                link.put_pong(wire.encode(wire.Pong(number, session_ns)))
            case wire.Hear(on):
                link.hears = on
            case wire.Want(model):
                await self._put_model(link, model)
            case _:
                self._tell(wire.FromSomebody(member.number, message))
                await asyncio.sleep(BETWEEN_S)


class _Refusal(Exception):
    def __init__(self, reason: wire.Refusal) -> None:
        super().__init__(reason)
        self.reason = reason


async def _refuse(socket: ServerConnection, reason: wire.Refusal) -> None:
    with suppress(ConnectionClosed):
        await socket.send(wire.encode(wire.Refused(reason, __version__)))


def _sha256(path: Path) -> bytes:
    with files.open_file(path, largest=wire.LARGEST_FILE) as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def _put_file(link: _Link, path: str, sha256: bytes, size: int, source: Path) -> None:
    for begins in range(0, max(size, 1), wire.CHUNK):
        link.put(partial(_read_piece, path, sha256, source, begins))


def _list_model(model: str) -> list[tuple[Path, int, bytes]]:
    # Loaded when it is wanted: few sessions have models that another computer lacks.
    from labapp.models.representations.package import files_of

    with suppress(OSError, LabappError):
        return [(path, path.stat().st_size, _sha256(path)) for path in files_of(model)]
    return []


def _tune(connection: ServerConnection) -> None:
    """Let what is urgent overtake the rest, and a lost packet not slow down those that follow."""
    raw = connection.transport.get_extra_info("socket")
    options: dict[str, int | bytes] = {"TCP_NOTSENT_LOWAT": UNSENT, "TCP_CONGESTION": b"bbr"}
    for name, value in options.items():
        with suppress(AttributeError, OSError):  # this system has no such option, or no BBR
            raw.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class FileList:
    """The files of a session that a console needs.

    Parameters
    ----------
    folder : of the session.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._hashes: dict[tuple[str, int, int], bytes] = {}
        self._lock = threading.Lock()

    def read(self) -> dict[str, tuple[bytes, int, Path]]:
        """SHA-256, size and place by path in the folder; one that cannot be read is left out."""
        listed: dict[str, tuple[bytes, int, Path]] = {}
        with self._lock:
            for name in (STUDY, STIMULI):
                for path in sorted((self._folder / name).rglob("*")):
                    if path.is_symlink() or not path.is_file():
                        continue
                    with suppress(OSError, LabappError):
                        relative, stat = path.relative_to(self._folder).as_posix(), path.stat()
                        key = (relative, stat.st_size, stat.st_mtime_ns)
                        if key not in self._hashes:
                            self._hashes[key] = _sha256(path)
                        listed[relative] = (self._hashes[key], stat.st_size, path)
        return listed


class Decimator:
    """Sound of one channel at a rate near SOUND_HZ: every n-th value of a running mean over n.

    The mean is the filter: what lies above half of the new rate is weakened, enough to understand
    and judge a voice. The recording is not touched.
    """

    def __init__(self) -> None:
        self._format = (0, 0)
        self._left = np.empty(0, np.int16)

    def __call__(self, rate: int, channels: int, data: bytes) -> tuple[int, bytes]:
        """The rate in Hz, and 16-bit PCM. data: whole frames; what else ends it is left out."""
        if (rate, channels) != self._format:
            self._format, self._left = (rate, channels), np.empty(0, np.int16)
        every = max(1, round(rate / SOUND_HZ))
        frames = len(data) // (2 * channels)
        first = np.frombuffer(data, "<i2", frames * channels)[::channels]
        samples = np.concatenate((self._left, first))
        whole = len(samples) // every * every
        self._left = samples[whole:]
        mean = samples[:whole].reshape(-1, every).mean(axis=1)
        return round(rate / every), mean.astype(np.int16).tobytes()


def main() -> None:
    """The process: serve until the program is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's Ctrl+C is for the program
    logging.disable(logging.WARNING)  # of links that break; the journal says so
    out, lock = sys.stdout.buffer, threading.Lock()

    def tell(message: msgspec.Struct) -> None:
        with lock, suppress(OSError, ValueError):  # the program is gone; its end comes next
            wire.write_frame(out, message)

    first, status = wire.read_frame(sys.stdin.buffer), 0
    if first is not None:
        status = asyncio.run(_run(_read_program(first), tell))
    os._exit(status)  # a thread may still wait for the standard input


async def _run(begin: wire.Begin, tell: Callable[[msgspec.Struct], None]) -> int:
    server = SessionServer(begin, tell)
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    failed = 0

    def take(content: bytes) -> None:
        nonlocal failed
        try:
            server.take(_read_program(content))
        except Exception:  # noqa: BLE001 (what is lost here would be missing from every link)
            traceback.print_exc()
            failed = 1
            over.set()

    def read() -> None:
        while (content := wire.read_frame(sys.stdin.buffer)) is not None:
            loop.call_soon_threadsafe(take, content)
        loop.call_soon_threadsafe(over.set)

    threading.Thread(target=read, name="program", daemon=True).start()
    await server.open()
    await over.wait()
    await server.close()
    return failed


if __name__ == "__main__":
    main()
