"""The link of another computer to a session, in a thread of its own.

It pairs, keeps the session's files, and hands everything else on. Where the link breaks it is taken
up again, with the key of the first pairing, until somebody leaves: what was asked for meanwhile is
sent then, and nothing twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
import shutil
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage
from websockets.frames import CloseCode

from labapp import __version__
from labapp.base.clock import NS
from labapp.record.events.commands import Command
from labapp.record.journal.layout import STIMULI, STUDY
from labapp.session.remote import wire
from labapp.session.remote.host import as_ask
from labapp.session.remote.pairing import ClientExchange, client_context, proofs, same

CONNECT_S = 8.0
SILENT_S = 4.0
"""A link that brings nothing for so long is broken: levels come ten times a second."""
PAUSES_S = (0.2, 0.5, 1.0, 2.0)
"""Before each new attempt; the last one again and again."""
PING_S, FIRST_PINGS, FIRST_PING_S = 1.0, 8, 0.05
PINGS_KEPT = 60
DRIFT = 1e-4
"""By how much the clocks of two computers can drift apart, in seconds a second: 100 ppm."""
LEAVE_S = 0.5
"""How long saying goodbye may take."""

_read = wire.decoder(wire.FromServer)
_quiet = logging.getLogger(__name__)
_quiet.addHandler(logging.NullHandler())
_quiet.propagate = False


@dataclass(frozen=True)
class LinkState:
    """How the link is.

    Attributes
    ----------
    state : joining, linked, broken (it is tried again), or over (it is not).
    reason : why it is over: see `wire.Refused` and `wire.Over`; also left, unreachable (the first
        attempt failed), wrong_server (somebody in between), or damaged (what came could not be
        read, or not be kept here).
    detail : for example what the system says, or the version of labapp there.
    """

    state: str
    reason: str = ""
    detail: str = ""


class SharedClock:
    """The session's clock as another computer knows it.

    The time there lay within the round trip of a ping. Of the latest pings that one counts which
    leaves the least room for error: half its round trip, and what two clocks can have drifted apart
    since.
    """

    def __init__(self, perf_ns: Callable[[], int] = time.perf_counter_ns) -> None:
        self._perf_ns = perf_ns
        self.speed = 1.0
        self._pings: deque[tuple[int, int, int]] = deque(maxlen=PINGS_KEPT)
        self._best: tuple[int, int, int] | None = None
        self._latest = 0

    def add(self, sent_ns: int, session_ns: int, received_ns: int) -> None:
        """Take in an answered ping: `perf_counter_ns` at both ends, session time in between."""
        middle = (sent_ns + received_ns) // 2
        self._pings.append(((received_ns - sent_ns + 1) // 2, middle, session_ns))
        # The drift until now is the same for all of them but for their age.
        self._best = min(self._pings, key=lambda ping: ping[0] - ping[1] * DRIFT)

    def forget(self) -> None:
        """The way of the network may be another one from here on."""
        self._pings.clear()

    @property
    def error_ns(self) -> int | None:
        """By how much `now_ns` can be wrong; None before the first ping."""
        if (best := self._best) is None:
            return None
        half, middle, _ = best
        return half + int(max(0, self._perf_ns() - middle) * DRIFT)

    def now_ns(self) -> int:
        """Session time now. It never runs back."""
        self._latest = max(self._latest, self.from_perf_ns(self._perf_ns()))
        return self._latest

    def utc(self) -> datetime:
        """The time of day of this computer."""
        return datetime.now(UTC)

    def real_seconds(self, session_ns: int) -> float:
        """How long a span of session time takes in the room, in seconds."""
        return session_ns / NS / self.speed

    def from_perf_ns(self, perf_ns: int) -> int:
        """Session time of a `perf_counter_ns` reading of this computer."""
        if (best := self._best) is None:
            return 0
        _, middle, session_ns = best
        return session_ns + int((perf_ns - middle) * self.speed)


class Link:
    """Takes part in a session at another computer.

    Parameters
    ----------
    host, port : of the session's computer.
    name : of the person who joins.
    role : what the person wants to do.
    code : as it was read aloud.
    folder : where files of the session are kept.
    deliver : takes `LinkState` and the messages that are not of the link itself, in the order in
        which they come, in the link's thread.
    """

    def __init__(
        self,
        host: str,
        port: int,
        name: str,
        role: wire.Role,
        code: str,
        folder: Path,
        deliver: Callable[[Any], None],
    ) -> None:
        self._address, self._code = (host, port), code
        self._name, self._role, self._folder = name, role, folder
        self._deliver = deliver
        self.clock = SharedClock()
        self.member = 0
        self._key = b""
        self._certificate = b""
        self._last_seq = 0
        self._files: dict[bytes, Path] = {}
        self._asked: dict[int, wire.Ask] = {}
        self._number = 0
        self._hears = False
        self._lock = threading.Lock()
        self._out: asyncio.Queue[msgspec.Struct] | None = None
        self._sent_number = 0
        self._wanted: set[str] = set()
        self._pings: dict[int, int] = {}
        self._leaving = self._held = False
        self._over = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name="remote-link", daemon=True)

    def start(self) -> None:
        """Begin to pair."""
        self._thread.start()

    def ask(self, command: Command) -> None:
        """Ask for something now; where the link is broken, as soon as it holds again."""
        with self._lock:
            self._number += 1
            ask = as_ask(self._number, self.clock.now_ns(), command)
            self._asked[ask.number] = ask
        self._in_loop(self._send_asked)

    @property
    def waiting(self) -> int:
        """How many requests the session has not confirmed."""
        return len(self._asked)

    def hear(self, on: bool) -> None:
        """Whether sound is to come."""
        self._hears = on
        self._send(wire.Hear(on))

    def want(self, model: str) -> None:
        """Have the files of a model sent; `wire.Model` is delivered once they are here."""
        self._wanted.add(model)
        self._send(wire.Want(model))

    def hand_over(self, to: int) -> None:
        """Let somebody else moderate; 0: the session's own computer."""
        self._send(wire.HandOver(to))

    def leave(self, timeout_s: float = 2.0) -> None:
        """End the link for good."""
        self._leaving = True
        self._send(wire.Leave())
        if self._loop is not None:
            with suppress(RuntimeError):  # it is over already
                self._loop.call_soon_threadsafe(self._over.set)
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout_s)

    # --- the link's thread ------------------------------------------------------------------------

    def _send(self, message: msgspec.Struct) -> None:
        self._in_loop(partial(self._put, message))

    def _in_loop(self, function: Callable[[], None]) -> None:
        if (loop := self._loop) is not None:
            with suppress(RuntimeError):  # it is over
                loop.call_soon_threadsafe(function)

    def _put(self, message: msgspec.Struct) -> None:
        if (out := self._out) is not None:
            out.put_nowait(message)

    def _send_asked(self) -> None:
        """Send what was asked for and not sent over this connection, in its order."""
        if self._out is None:
            return
        with self._lock:
            asked = [ask for number, ask in self._asked.items() if number > self._sent_number]
        for ask in asked:
            self._out.put_nowait(ask)
            self._sent_number = ask.number

    async def _write(self, socket: ClientConnection, out: asyncio.Queue[msgspec.Struct]) -> None:
        with suppress(ConnectionClosed):  # what was asked for is sent again over the next one
            while True:
                message = await out.get()
                await socket.send(wire.encode(message))
                if isinstance(message, wire.Leave):
                    await socket.close()

    def _run(self) -> None:
        asyncio.run(self._keep())

    async def _keep(self) -> None:
        self._loop = asyncio.get_running_loop()
        if self._leaving:
            self._over.set()
        self._deliver(LinkState("joining"))
        attempt = 0
        while True:
            following = asyncio.create_task(self._follow())
            leaving = asyncio.create_task(self._over.wait())
            await asyncio.wait({following, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if leaving.done():
                await asyncio.wait({following}, timeout=LEAVE_S)
            leaving.cancel()
            following.cancel()
            await asyncio.wait({following})
            over = self._why_over(following)
            if over is not None:
                self._deliver(over)
                return
            if self._held:
                self._held, attempt = False, 0
                self._deliver(LinkState("broken"))
            pause_s = PAUSES_S[min(attempt, len(PAUSES_S) - 1)]
            with suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), pause_s)
            attempt += 1

    def _why_over(self, following: asyncio.Task[None]) -> LinkState | None:
        """Why the link is over after a connection ended; None if it is tried again."""
        error = None if following.cancelled() else following.exception()
        if self._leaving:
            return LinkState("over", "left")
        match error:
            case _Over(reason=reason, detail=detail):
                return LinkState("over", reason, detail)
            case ConnectionClosed(rcvd=close) if (
                self._held and close is not None and close.code == CloseCode.GOING_AWAY
            ):
                return LinkState("over", "closed")
            case ConnectionClosed() | InvalidHandshake() | InvalidMessage() | OSError() if (
                self._key
            ):
                return None
            case ConnectionClosed():
                return LinkState("over", "unreachable")
            case None | InvalidHandshake() | InvalidMessage() | OSError() | ValueError():
                # The network, or what answers there is no session, or there is no such address.
                return LinkState("over", "unreachable", str(error) or type(error).__name__)
            case _:
                traceback.print_exception(error)
                return LinkState("over", "damaged", type(error).__name__)

    async def _follow(self) -> None:
        """One connection, from the pairing to its end."""
        host, port = self._address
        async with connect(
            "wss://labapp/",
            host=host,
            port=port,
            ssl=client_context(),
            server_hostname="labapp",
            compression=None,
            max_size=wire.LARGE,
            proxy=None,
            open_timeout=CONNECT_S,
            close_timeout=LEAVE_S,
            ping_interval=None,
            user_agent_header=None,
            logger=_quiet,
        ) as socket:
            try:
                await self._talk(socket)
            finally:
                self._out = None
                if not self._leaving:
                    socket.transport.abort()  # nobody may be there to say goodbye to

    async def _talk(self, socket: ClientConnection) -> None:
        tls = socket.transport.get_extra_info("ssl_object")
        certificate = hashlib.sha256(tls.getpeercert(binary_form=True)).digest()
        if self._certificate and certificate != self._certificate:
            raise _Over("wrong_server")
        welcome = await self._pair(socket, certificate)
        self._certificate, self.member = certificate, welcome.member
        self._held = True
        self.clock.speed = welcome.speed
        self.clock.forget()
        self._pings.clear()
        self._deliver(welcome)
        self._out, self._sent_number = asyncio.Queue(), 0
        self._put(wire.Hear(self._hears))
        self._send_asked()
        for model in tuple(self._wanted):
            self._put(wire.Want(model))
        tasks = [
            asyncio.create_task(self._write(socket, self._out)),
            asyncio.create_task(self._ping()),
        ]
        try:
            while True:
                async with asyncio.timeout(SILENT_S):
                    content = await socket.recv()
                self._take(_read(content))
        except wire.WireError as error:
            raise _Over("damaged", error.what) from error
        finally:
            for task in tasks:
                task.cancel()

    async def _pair(self, socket: ClientConnection, certificate: bytes) -> wire.Welcome:
        """Prove the code or the key, and see that the server knows it, too. Raises _Over."""
        try:
            if self._key:
                nonce = secrets.token_bytes(32)
                await socket.send(wire.encode(wire.Return(wire.PROTOCOL, self.member, nonce)))
                exchanged: tuple[bytes, ...] = (nonce, await self._challenge(socket))
                key = self._key
            else:
                exchange = await asyncio.to_thread(ClientExchange, self._code, self._role)
                hello = wire.Hello(
                    wire.PROTOCOL, __version__, self._name, self._role, exchange.message
                )
                await socket.send(wire.encode(hello))
                answer = await self._challenge(socket)
                made = exchange.key(answer)
                if made is None:
                    raise _Over("damaged")
                key = made
                exchanged = (self._role.encode(), self._name.encode(), exchange.message, answer)
            mine = proofs(key, certificate, *exchanged)
            have = [sha256 for sha256, path in self._files.items() if path.is_file()]
            proof = wire.Proof(mine.client, self._last_seq, have[:1500])
            await socket.send(wire.encode(proof))
            welcome = await self._answer(socket)
        except wire.WireError as error:
            raise _Over("damaged", error.what) from error
        if not isinstance(welcome, wire.Welcome) or not same(welcome.proof, mine.server):
            raise _Over("wrong_server")
        if not self._key:
            self._key = mine.again
        return welcome

    async def _challenge(self, socket: ClientConnection) -> bytes:
        challenge = await self._answer(socket)
        if not isinstance(challenge, wire.Challenge):
            raise _Over("wrong_server")
        return challenge.exchange

    async def _answer(self, socket: ClientConnection) -> Any:
        async with asyncio.timeout(CONNECT_S):
            message = _read(await socket.recv())
        if isinstance(message, wire.Refused):
            if self._key and message.reason == "full":
                raise ConnectionRefusedError("too many links at once")
            known = bool(self._key) and message.reason == "code"
            raise _Over("removed" if known else message.reason, message.version)
        return message

    async def _ping(self) -> None:
        number = 0
        while True:
            self._pings[number] = time.perf_counter_ns()
            self._put(wire.Ping(number))
            number += 1
            await asyncio.sleep(FIRST_PING_S if number < FIRST_PINGS else PING_S)
            if number >= FIRST_PINGS and (error_ns := self.clock.error_ns) is not None:
                self._put(wire.ClockState(error_ns))

    def _take(self, message: Any) -> None:
        match message:
            case wire.Pong(number, session_ns):
                if (sent_ns := self._pings.pop(number, None)) is not None:
                    self.clock.add(sent_ns, session_ns, time.perf_counter_ns())
            case wire.File() | wire.Kept():
                try:
                    self._keep_file(message)
                except (OSError, ValueError) as error:  # the disk is full, or there is no such name
                    raise _Over("damaged", str(error)) from error
            case wire.Over(why):
                raise _Over(why)
            case wire.Rows():
                rows = [row for row in message.rows if row[0] > self._last_seq]
                if rows:
                    first, last = rows[0][0], rows[-1][0]
                    if (first, last) != (self._last_seq + 1, self._last_seq + len(rows)):
                        raise wire.WireError("Events are missing.")
                    self._last_seq = rows[-1][0]
                    self._deliver(wire.Rows(rows))
            case wire.Model(model):
                self._wanted.discard(model)
                self._deliver(message)
            case wire.Done(number):
                with self._lock:
                    self._asked.pop(number, None)
                self._deliver(message)
            case _:
                if isinstance(message, wire.Ready):
                    self._deliver(LinkState("linked"))
                self._deliver(message)

    def _keep_file(self, message: wire.File | wire.Kept) -> None:
        path = self._path(message.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(message, wire.File):
            self._keep_piece(path, message)
        elif (kept := self._files.get(message.sha256)) is None:
            raise wire.WireError(
                "A file was not sent because it should exist here, but it does not."
            )
        elif kept != path:
            shutil.copyfile(kept, path)

    def _keep_piece(self, path: Path, piece: wire.File) -> None:
        """Write a piece of a file; the whole is checked by its hash."""
        partial = path.with_name(f"{path.name}.partial")
        if piece.size > wire.LARGEST_FILE:
            raise wire.WireError("A file is too large.")
        with partial.open("ab" if piece.begin else "wb") as file:
            if file.tell() != piece.begin:
                raise wire.WireError("A piece of a file is missing.")
            file.write(piece.data)
            size = file.tell()
        if size < piece.size and piece.data:
            return
        with partial.open("rb") as file:
            if hashlib.file_digest(file, "sha256").digest() != piece.sha256:
                raise wire.WireError("A file arrived damaged.")
        partial.replace(path)
        self._files[piece.sha256] = path

    def _path(self, name: str) -> Path:
        """Where a file of the session is kept. Raises WireError for a place outside."""
        parts = PurePosixPath(name).parts
        odd = any(part in ("..", ".", "/") or set(part) & set("\\:\0") for part in parts)
        if len(parts) < 2 or parts[0] not in (STUDY, STIMULI, wire.MODELS) or odd:
            raise wire.WireError("A file would be placed outside the session.")
        return self._folder.joinpath(*parts)


class _Over(Exception):
    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail
