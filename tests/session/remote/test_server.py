"""The process that serves others, here within the test: who gets in, and what strangers get."""

from __future__ import annotations

import asyncio
import hashlib
import random
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.typing import NDArray
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from labapp import __version__
from labapp.record.journal.read import read_rows
from labapp.session.remote import server as serving
from labapp.session.remote import wire
from labapp.session.remote.pairing import (
    ATTEMPTS,
    LOCKED_AFTER,
    ClientExchange,
    client_context,
    proofs,
    same,
)
from labapp.session.remote.server import Decimator, FileList, SessionServer
from tests.session.remote.linked import PATIENCE_S
from tests.session.remote.test_wire import BEFORE, FROM_MEMBER, ROW, mutants
from tests.session.sessions import begin_session

read = wire.decoder(wire.FromServer)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of a session that has begun."""
    session = begin_session(tmp_path)
    session.close("over")
    return session.folder.path


class Served:
    """A server, and what it told the program."""

    def __init__(self, folder: Path, **changes: Any) -> None:
        self.told: list[Any] = []
        self.rows: list[wire.Row] = []
        if folder.is_dir():
            self.rows = [(*row[:10], row.payload) for row in read_rows(folder)]
        values = {
            "folder": str(folder), "addresses": ["127.0.0.1"], "port": 0,
            "participant": "P01", "blind": False, "after_seq": len(self.rows),
            "perf_ns": time.perf_counter_ns(), "session_ns": 0, "speed": 1.0,
        }  # fmt: skip
        self.server = SessionServer(wire.Begin(**(values | changes)), self.told.append)

    def all(self, kind: type[Any]) -> list[Any]:
        return [each for each in self.told if isinstance(each, kind)]

    def code(self, role: str) -> str:
        return str(getattr(self.all(wire.Codes)[-1], role))

    @property
    def listening(self) -> wire.Listening:
        return self.all(wire.Listening)[-1]


@asynccontextmanager
async def served(folder: Path, **changes: Any) -> AsyncIterator[Served]:
    made = Served(folder, **changes)
    await made.server.open()
    yield made
    await made.server.close()


def socket_to(served: Served) -> connect:
    port = served.listening.port
    return connect(
        "wss://labapp/", host="127.0.0.1", port=port, ssl=client_context(), proxy=None,
        compression=None, max_size=wire.LARGE, ping_interval=None, close_timeout=1,
    )  # fmt: skip


async def answer_of(socket: ClientConnection) -> Any:
    async with asyncio.timeout(PATIENCE_S):
        return read(await socket.recv())


async def read_to_the_end(socket: ClientConnection) -> list[Any]:
    """All that comes until the link ends."""
    got: list[Any] = []
    with suppress(ConnectionClosed):
        while True:
            got.append(await answer_of(socket))
    return got


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not holds():
            await asyncio.sleep(0.005)


class Joined:
    """Somebody who proved the code, by hand."""

    def __init__(self, welcome: wire.Welcome, key: bytes, certificate: bytes) -> None:
        self.member, self.key, self.certificate = welcome.member, key, certificate


def certificate_of(socket: ClientConnection) -> bytes:
    tls = socket.transport.get_extra_info("ssl_object")
    return hashlib.sha256(tls.getpeercert(binary_form=True)).digest()


async def pair(
    socket: ClientConnection,
    code: str,
    role: wire.Role = "observer",
    name: str = "Ben",
    **proof: Any,
) -> Joined | wire.Refused:
    exchange = ClientExchange(code, role)
    hello = wire.Hello(wire.PROTOCOL, __version__, name, role, exchange.message)
    await socket.send(wire.encode(hello))
    challenge = await answer_of(socket)
    if isinstance(challenge, wire.Refused):
        return challenge
    key = exchange.key(challenge.exchange)
    assert key is not None
    exchanged = (role.encode(), name.encode(), exchange.message, challenge.exchange)
    mine = proofs(key, certificate_of(socket), *exchanged)
    await socket.send(wire.encode(wire.Proof(mine.client, **proof)))
    answer = await answer_of(socket)
    if isinstance(answer, wire.Refused):
        return answer
    assert same(answer.proof, mine.server), "the server knows the code, too"
    return Joined(answer, mine.again, certificate_of(socket))


async def come_back(socket: ClientConnection, joined: Joined, **proof: Any) -> Any:
    nonce = secrets.token_bytes(32)
    await socket.send(wire.encode(wire.Return(wire.PROTOCOL, joined.member, nonce)))
    challenge = await answer_of(socket)
    mine = proofs(joined.key, certificate_of(socket), nonce, challenge.exchange)
    await socket.send(wire.encode(wire.Proof(mine.client, **proof)))
    return await answer_of(socket)


async def read_until_ready(socket: ClientConnection) -> list[Any]:
    got: list[Any] = []
    while not (got and isinstance(got[-1], wire.Ready)):
        got.append(await answer_of(socket))
    return got


def rows_of(messages: list[Any]) -> list[wire.Row]:
    return [row for each in messages if isinstance(each, wire.Rows) for row in each.rows]


def tries(test: Callable[[Path], Awaitable[None]]) -> Callable[[Path], None]:
    """A test that is a coroutine."""

    def run(folder: Path) -> None:
        asyncio.run(test(folder))  # type: ignore[arg-type]

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


@tries
async def test_who_proves_the_code_gets_the_session(folder: Path) -> None:
    async with served(folder) as at, socket_to(at) as socket:
        code = at.code("observer")
        joined = await pair(socket, code, name="Be\u202en")
        assert isinstance(joined, Joined)
        assert at.listening.certificate_sha256 == joined.certificate
        messages = await read_until_ready(socket)
        assert rows_of(messages) == at.rows
        sent = {each.path: each for each in messages if isinstance(each, wire.File)}
        assert set(sent) == {
            path.relative_to(folder).as_posix()
            for path in (folder / "study").rglob("*")
            if path.is_file()
        }
        for path, each in sent.items():
            assert each.data == (folder / path).read_bytes()
        at.server.take(wire.Rows([(len(at.rows) + 1, *ROW[1:])]))
        assert rows_of([await answer_of(socket), await answer_of(socket)])[0][0] == len(at.rows) + 1
        assert at.all(wire.Joined) == [wire.Joined(1, "Be n", "observer", False)]
        assert at.code("observer") == code, "observers share their code"
    assert at.all(wire.Left) == [wire.Left(1, "link_lost")]


@tries
async def test_the_code_of_a_moderator_serves_once(folder: Path) -> None:
    async with served(folder) as at:
        code = at.code("moderator")
        async with socket_to(at) as first, socket_to(at) as second:
            assert isinstance(await pair(first, code, "moderator"), Joined)
            assert at.code("moderator") != code
            assert await pair(second, code, "moderator") == wire.Refused("code", __version__)
            assert at.all(wire.Attempt) == [wire.Attempt("moderator", 1)]


async def try_codes(at: Served, many: int, seed: int) -> None:
    rng, refusals = random.Random(seed), []
    for _ in range(many):
        while (guess := f"{rng.randrange(10**6):06}") == at.code("observer"):
            pass
        async with socket_to(at) as socket:
            refused = await pair(socket, guess)
            assert isinstance(refused, wire.Refused)
            refusals.append(refused.reason)
            with pytest.raises(ConnectionClosed):
                await answer_of(socket)
    most = ATTEMPTS * LOCKED_AFTER
    assert refusals == ["code"] * most + ["locked"] * (many - most)
    counted = [each.attempts for each in at.all(wire.Attempt)]
    assert counted == [1, 2, 3] * LOCKED_AFTER, "every attempt is shown"
    assert not at.all(wire.Joined)
    assert at.code("observer") == ""
    at.server.take(wire.Renew("observer"))
    async with socket_to(at) as socket:
        assert isinstance(await pair(socket, at.code("observer")), Joined)


def test_wrong_codes_are_rejected_and_lock_the_role(folder: Path) -> None:
    async def go() -> None:
        async with served(folder) as at, socket_to(at) as before:
            member = await pair(before, at.code("observer"))
            assert isinstance(member, Joined)
            at.told = [each for each in at.told if not isinstance(each, wire.Joined)]
            at.server._tell = at.told.append
            await try_codes(at, 34, 1)
            async with socket_to(at) as again:
                assert isinstance(await come_back(again, member), wire.Welcome), "a lock bars none"
            assert isinstance(await pair_moderator(at), Joined), "each role has its own"

    asyncio.run(go())


async def pair_moderator(at: Served) -> Joined | wire.Refused:
    async with socket_to(at) as socket:
        return await pair(socket, at.code("moderator"), "moderator")


def test_a_thousand_wrong_codes_are_rejected_over_the_network(folder: Path) -> None:
    async def go() -> None:
        async with served(folder) as at:
            await try_codes(at, 1000, 2)

    asyncio.run(go())


@tries
async def test_who_breaks_off_has_used_an_attempt(folder: Path) -> None:
    async with served(folder) as at:
        code = at.code("observer")
        for attempt in (1, 2, 3):
            async with socket_to(at) as socket:
                exchange = ClientExchange(code, "observer")
                hello = wire.Hello(wire.PROTOCOL, __version__, "Eve", "observer", exchange.message)
                await socket.send(wire.encode(hello))
                assert isinstance(await answer_of(socket), wire.Challenge)
            await until(lambda count=attempt: len(at.all(wire.Attempt)) == count)  # type: ignore[misc]
        assert [each.attempts for each in at.all(wire.Attempt)] == [1, 2, 3]
        assert at.code("observer") != code


@tries
async def test_another_version_is_refused_and_costs_no_attempt(folder: Path) -> None:
    async with served(folder) as at:
        exchange = ClientExchange("123456", "observer").message
        for hello in (
            wire.encode(wire.Hello(wire.PROTOCOL, "0.0.0", "A", "observer", exchange)),
            wire.encode(wire.Hello(wire.PROTOCOL + 1, __version__, "A", "observer", exchange)),
            wire.encode(wire.Return(wire.PROTOCOL + 1, 1, exchange)),
            b"\x81\xa4type\xa5greet",
        ):
            async with socket_to(at) as socket:
                await socket.send(hello)
                assert await answer_of(socket) == wire.Refused("version", __version__)
        assert not at.all(wire.Attempt)


@tries
async def test_a_link_that_broke_is_taken_up_where_it_was(folder: Path) -> None:
    async with served(folder) as at:
        async with socket_to(at) as socket:
            joined = await pair(socket, at.code("observer"))
            assert isinstance(joined, Joined)
            files = [
                each.sha256
                for each in await read_until_ready(socket)
                if isinstance(each, wire.File)
            ]
            socket.transport.abort()
        await until(lambda: len(at.all(wire.Left)) == 1)
        late = (len(at.rows) + 1, *ROW[1:])
        at.server.take(wire.Rows([late]))
        async with socket_to(at) as socket:
            welcome = await come_back(socket, joined, after_seq=len(at.rows), files=files)
            assert isinstance(welcome, wire.Welcome)
            messages = await read_until_ready(socket)
            assert rows_of(messages) == [late]
            assert not [each for each in messages if isinstance(each, wire.File)]
            assert {each.sha256 for each in messages if isinstance(each, wire.Kept)} == set(files)
            assert at.all(wire.Joined)[-1] == wire.Joined(1, "Ben", "observer", True)


@tries
async def test_events_that_never_happened_are_not_taken_for_sent(folder: Path) -> None:
    async with served(folder) as at:
        async with socket_to(at) as socket:
            joined = await pair(socket, at.code("observer"), after_seq=10**9)
            assert isinstance(joined, Joined)
            assert rows_of(await read_until_ready(socket)) == at.rows
        async with socket_to(at) as socket:
            await come_back(socket, joined, after_seq=len(at.rows) + 1)
            assert rows_of(await read_until_ready(socket)) == at.rows


@tries
async def test_who_comes_back_replaces_the_link_that_still_lives(folder: Path) -> None:
    async with served(folder) as at, socket_to(at) as old:
        joined = await pair(old, at.code("observer"))
        assert isinstance(joined, Joined)
        await read_until_ready(old)
        async with socket_to(at) as new:
            assert isinstance(await come_back(new, joined), wire.Welcome)
            await read_to_the_end(old)
            await read_until_ready(new)
            await new.send(wire.encode(wire.Ping(7)))
            while not isinstance(answer := await answer_of(new), wire.Pong):
                pass
            assert answer.number == 7
            assert not at.all(wire.Left), "the person was never gone"
        await until(lambda: at.all(wire.Left) == [wire.Left(1, "link_lost")])


@tries
async def test_only_the_key_of_the_link_brings_back(folder: Path) -> None:
    async with served(folder) as at:
        async with socket_to(at) as socket:
            joined = await pair(socket, at.code("observer"))
            assert isinstance(joined, Joined)
        for member, key in ((1, b"k" * 32), (2, joined.key), (0, joined.key)):
            other = Joined(wire.Welcome(b"\0" * 32, member, False, ""), key, b"")
            async with socket_to(at) as socket:
                assert await come_back(socket, other) == wire.Refused("code", __version__)
        assert not at.all(wire.Attempt), "a key is no code that one guesses"


@tries
async def test_who_was_removed_does_not_come_back(folder: Path) -> None:
    async with served(folder) as at:
        async with socket_to(at) as socket:
            joined = await pair(socket, at.code("observer"))
            assert isinstance(joined, Joined)
            await read_until_ready(socket)
            at.server.take(wire.Remove(joined.member))
            while not isinstance(answer := await answer_of(socket), wire.Over):
                pass
            assert answer == wire.Over("removed")
            at.server.take(wire.Rows([(len(at.rows) + 1, *ROW[1:])]))
            assert not rows_of(await read_to_the_end(socket))
        async with socket_to(at) as socket:
            assert await come_back(socket, joined) == wire.Refused("code", __version__)
        assert not at.all(wire.Left), "the program removed them and knows"


@tries
async def test_no_more_than_so_many_take_part_or_wait_at_the_door(folder: Path) -> None:
    async with served(folder) as at:
        sockets = [await socket_to(at) for _ in range(serving.MEMBERS)]
        for socket in sockets:
            assert isinstance(await pair(socket, at.code("observer")), Joined)
        strangers = [await socket_to(at) for _ in range(serving.STRANGERS)]
        async with socket_to(at) as one_more:
            assert await answer_of(one_more) == wire.Refused("full", __version__)
        assert await pair(strangers[0], at.code("observer")) == wire.Refused("full", __version__)
        for socket in (*sockets, *strangers):
            socket.transport.abort()


async def send_damaged(at: Served, many: int, seed: int) -> None:
    """Before the code is proved, and after it."""
    async with socket_to(at) as socket:
        joined = await pair(socket, at.code("observer"))
        assert isinstance(joined, Joined)
    before, member = wire.decoder(wire.Before), wire.decoder(wire.FromMember)
    for content in mutants([*BEFORE, *FROM_MEMBER], seed, many // 2):
        with_attempt = len(at.all(wire.Attempt))
        async with socket_to(at) as socket:
            await socket.send(content)
            answer = await answer_of(socket)
            if not isinstance(answer, wire.Challenge):
                assert isinstance(answer, wire.Refused)
                with pytest.raises(ConnectionClosed):
                    await answer_of(socket)
            else:
                assert before(content), "what still says hello is asked for the proof"
        if len(at.all(wire.Attempt)) > with_attempt + 1:
            raise AssertionError("one message is one attempt")
        if at.code("observer") == "" or at.code("moderator") == "":
            for role in ("observer", "moderator"):
                at.server.take(wire.Renew(role))
    reached = len(at.all(wire.FromSomebody))
    understood = 0
    for content in mutants([*BEFORE, *FROM_MEMBER], seed + 1, many // 2):
        try:
            member(content)
        except wire.WireError:
            pass
        else:
            understood += 1
            continue  # another message than before, and a right one
        async with socket_to(at) as socket:
            assert isinstance(await come_back(socket, joined, after_seq=len(at.rows)), wire.Welcome)
            await socket.send(content)
            await read_to_the_end(socket)
    assert len(at.all(wire.FromSomebody)) == reached, "nothing of it reached the program"
    assert understood < many // 8
    async with socket_to(at) as socket:
        assert isinstance(await pair(socket, at.code("observer")), Joined), "it serves on"


def test_damaged_messages_end_the_link_and_nothing_else(folder: Path) -> None:
    async def go() -> None:
        async with served(folder) as at:
            await send_damaged(at, 120, 5)

    asyncio.run(go())


def test_ten_thousand_damaged_messages_end_the_link_and_nothing_else(folder: Path) -> None:
    async def go() -> None:
        async with served(folder) as at:
            await send_damaged(at, 10_000, 6)

    asyncio.run(go())


@tries
async def test_bytes_that_are_no_tls_and_requests_of_browsers_change_nothing(folder: Path) -> None:
    async with served(folder) as at:
        rng, port = random.Random(4), at.listening.port
        for content in (
            b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            b"\x16\x03\x01\x02\x00" + rng.randbytes(512),
            rng.randbytes(3000),
            b"",
        ):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(content)
            writer.write_eof()
            async with asyncio.timeout(PATIENCE_S):
                await reader.read()
            writer.close()
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", port, ssl=client_context(), server_hostname="labapp"
        )
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        async with asyncio.timeout(PATIENCE_S):
            answer = await reader.read(4000)
        writer.close()
        assert b"426" in answer
        assert b"labapp" not in answer
        async with socket_to(at) as socket:
            await socket.send(b"x" * (wire.SMALL + 1))
            with pytest.raises(ConnectionClosed):
                await answer_of(socket)
        async with socket_to(at) as socket:
            await socket.send("a text")
            assert await answer_of(socket) == wire.Refused("version", __version__)
        async with socket_to(at) as socket:
            assert isinstance(await pair(socket, at.code("observer")), Joined)


@tries
async def test_strangers_who_say_nothing_are_sent_away(folder: Path) -> None:
    before = serving.PAIRING_S
    try:
        async with served(folder) as at:
            serving.PAIRING_S = 0.2  # from here on: the connection itself may take its time
            async with socket_to(at) as socket:
                with pytest.raises(ConnectionClosed):
                    await answer_of(socket)
                await until(lambda: at.server._strangers == 0)
    finally:
        serving.PAIRING_S = before


@tries
async def test_a_link_that_reads_nothing_costs_no_memory_and_ends(folder: Path) -> None:
    """Events wait once for all; of what the console shows only the latest waits."""
    serving.SILENT_S, before = 2.0, serving.SILENT_S
    try:
        async with served(folder) as at, socket_to(at) as socket, socket_to(at) as other:
            deaf = await pair(socket, at.code("observer"), name="Deaf")
            assert isinstance(deaf, Joined)
            await read_until_ready(socket)  # no files are on their way
            assert isinstance(await pair(other, at.code("observer")), Joined)
            socket.transport.pause_reading()
            row, got = (*ROW[1:10], '"' + "x" * 60_000 + '"'), 0
            link = at.server._members[1].link
            assert link is not None
            for number in range(200):
                at.server.take(wire.Rows([(len(at.rows) + number + 1, *row)]))
                at.server.take(wire.Now(None, 0.0, number, None))
                await other.send(wire.encode(wire.Ping(number)))
                await asyncio.sleep(0)
                assert len(link.others) + len(link.sound) + len(link.pongs) < 10
            while got < 200:
                await other.send(wire.encode(wire.Ping(got)))
                message = await answer_of(other)
                got += isinstance(message, wire.Rows) and sum(len(r[-1]) > 9 for r in message.rows)
            while wire.Left(1, "link_lost") not in at.all(wire.Left):
                await other.send(wire.encode(wire.Ping(got)))
                await asyncio.sleep(0.05)
            assert wire.Left(2, "link_lost") not in at.all(wire.Left)
            socket.transport.abort()  # who reads nothing would not see that it is closed, either
            await socket.wait_closed()
    finally:
        serving.SILENT_S = before


@tries
async def test_what_is_urgent_does_not_wait_behind_files(folder: Path) -> None:
    (folder / "stimuli").mkdir(exist_ok=True)
    (folder / "stimuli" / "large.png").write_bytes(random.Random(1).randbytes(8 * 2**20))
    async with served(folder) as at, socket_to(at) as socket:
        assert isinstance(await pair(socket, at.code("observer")), Joined)
        await socket.send(wire.encode(wire.Hear(True)))
        await socket.send(wire.encode(wire.Ping(1)))
        link = at.server._members[1].link
        assert link is not None
        await until(lambda: link.hears and len(link.others) > 20)
        at.server.take(wire.Pcm(time.perf_counter_ns(), 16000, 1, b"\1\0" * 320))
        at.server.take(wire.Rows([(len(at.rows) + 1, *ROW[1:])]))
        messages = await read_until_ready(socket)
        pieces = [place for place, each in enumerate(messages) if isinstance(each, wire.File)]
        assert len(pieces) > 100

        def place(kind: type[Any]) -> int:
            return max(place for place, each in enumerate(messages) if isinstance(each, kind))

        assert max(place(wire.Pong), place(wire.Sound), place(wire.Rows)) < pieces[-1] - 20
        content = b"".join(
            each.data
            for each in messages
            if isinstance(each, wire.File) and each.path == "stimuli/large.png"
        )
        assert content == (folder / "stimuli" / "large.png").read_bytes()


@tries
async def test_a_port_that_is_taken_is_passed_over(folder: Path) -> None:
    taken = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = taken.sockets[0].getsockname()[1]
    async with served(folder, port=port) as at:
        assert at.listening.problem == ""
        assert port < at.listening.port < port + serving.TRIED_PORTS
    taken.close()
    await taken.wait_closed()


@tries
async def test_two_addresses_have_one_port_and_both_are_served(folder: Path) -> None:
    async with served(folder, addresses=["127.0.0.1", "::1"], port=0) as at:
        assert at.listening.addresses == ["127.0.0.1", "::1"]
        for host in at.listening.addresses:
            async with connect(
                "wss://labapp/",
                host=host,
                port=at.listening.port,
                ssl=client_context(),
                proxy=None,
                max_size=wire.LARGE,
            ) as socket:
                assert isinstance(await pair(socket, at.code("observer")), Joined)


@tries
async def test_where_it_cannot_listen_it_says_why(folder: Path) -> None:
    async with served(folder, addresses=["192.0.2.1"]) as at:
        assert at.listening.problem != ""
        assert at.listening.addresses == []
        assert not at.all(wire.Codes), "there is nothing to join"
    serving.JOURNAL_S, before = 0.1, serving.JOURNAL_S
    try:
        async with served(folder, after_seq=10**6) as at:
            assert "disk" in at.listening.problem
    finally:
        serving.JOURNAL_S = before
    async with served(folder.parent / "nothing", after_seq=0) as at:
        assert at.listening.problem != ""


def test_files_are_listed_as_they_are_now(tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    (tmp_path / "stimuli" / "a").mkdir(parents=True)
    (tmp_path / "audio").mkdir()
    (tmp_path / "audio" / "segment-01.wav").write_bytes(b"voice")
    (tmp_path / "study" / "x.yaml").write_bytes(b"one")
    (tmp_path / "stimuli" / "a" / "1.png").write_bytes(b"")
    (tmp_path / "stimuli" / "link").symlink_to("/etc/hostname")
    listing = FileList(tmp_path)
    listed = listing.read()
    assert {path: (each[0], each[1]) for path, each in listed.items()} == {
        "study/x.yaml": (hashlib.sha256(b"one").digest(), 3),
        "stimuli/a/1.png": (hashlib.sha256(b"").digest(), 0),
    }
    (tmp_path / "study" / "x.yaml").write_bytes(b"another")
    (tmp_path / "stimuli" / "a" / "1.png").unlink()
    assert {path: each[1] for path, each in listing.read().items()} == {"study/x.yaml": 7}


Sound = NDArray[np.int16]


def naive(sound: Sound, every: int) -> list[int]:
    whole = len(sound) // every * every
    return [int(sum(map(int, sound[at : at + every])) / every) for at in range(0, whole, every)]


@given(
    npst.arrays(np.int16, st.tuples(st.integers(0, 400), st.integers(1, 2))),
    st.sampled_from([8000, 16000, 22050, 44100, 48000, 96000]),
    st.lists(st.integers(0, 400), max_size=5),
)
def test_sound_is_the_mean_of_the_first_channel_however_it_is_cut(
    sound: Sound, rate: int, cuts: list[int]
) -> None:
    decimate, out = Decimator(), b""
    new = rate
    for piece in np.split(sound, sorted(cuts)):
        new, data = decimate(rate, sound.shape[1], piece.tobytes())
        out += data
    every = max(1, round(rate / serving.SOUND_HZ))
    assert new == round(rate / every)
    assert np.frombuffer(out, np.int16).tolist() == naive(sound[:, 0], every)


def test_half_a_frame_at_the_end_is_left_out_and_another_format_begins_again() -> None:
    decimate = Decimator()
    assert decimate(48000, 2, b"\1\0\2\0" * 4 + b"\1\0\2") == (16000, b"\1\0")
    assert decimate(48000, 2, b"\1\0\2\0" * 2) == (16000, b"\1\0"), "one frame was left"
    assert decimate(16000, 1, b"\5\0") == (16000, b"\5\0")
    assert decimate(16000, 1, b"") == (16000, b"")
