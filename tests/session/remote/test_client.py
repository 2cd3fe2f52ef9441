"""The link of another computer: its clock, what it keeps, and how it ends."""

from __future__ import annotations

import hashlib
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.record.events.commands import AddNote
from labapp.session.remote import client as linking
from labapp.session.remote import wire
from labapp.session.remote.client import DRIFT, Link, LinkState, SharedClock, _Over
from tests.helpers.waiting import PATIENCE_S, wait_for
from tests.session.remote.linked import Person, nobody
from tests.session.remote.test_wire import ROW


class Time:
    """The counter of this computer, set by hand."""

    def __init__(self) -> None:
        self.now = 1_000_000_000

    def __call__(self) -> int:
        return self.now


@given(
    offset=st.integers(-(10**15), 10**15),
    drift=st.floats(-DRIFT / 2, DRIFT / 2),
    trips=st.lists(
        st.tuples(
            st.integers(10_000, 300_000_000),
            st.integers(10_000, 300_000_000),
            st.integers(10**8, 10**10),
        ),
        min_size=1,
        max_size=80,
    ),
)
def test_the_clock_is_wrong_by_no_more_than_it_says(
    offset: int, drift: float, trips: list[tuple[int, int, int]]
) -> None:
    """With any times that messages take either way, and clocks that drift apart."""
    here = Time()

    def there() -> int:
        return offset + int(here.now * (1 + drift))

    clock = SharedClock(here)
    assert clock.error_ns is None
    assert clock.now_ns() == 0
    for out, back, pause in trips:
        sent = here.now
        here.now += out
        session = there()
        here.now += back
        clock.add(sent, session, here.now)
        for wait in (0, pause):
            here.now += wait
            assert clock.error_ns is not None
            assert abs(clock.from_perf_ns(here.now) - there()) <= clock.error_ns + 2


def test_the_shortest_trip_counts_until_it_is_too_old() -> None:
    here, clock = Time(), None
    clock = SharedClock(here)
    clock.add(0, 500, 1_000_000)
    here.now = 1_000_000
    clock.add(1_000_000, 90_000_000, 31_000_000)
    here.now = 31_000_000
    assert clock.from_perf_ns(500_000) == 500, "the long trip does not count"
    assert clock.error_ns == 500_000 + int(30_500_000 * DRIFT)
    here.now += 400 * 10**9
    clock.add(here.now, 7, here.now + 30_000_000)
    here.now += 30_000_000
    assert clock.from_perf_ns(here.now - 15_000_000) == 7, "clocks drift apart in so long a time"
    clock.forget()
    clock.add(here.now, 9, here.now + 40_000_000)
    assert clock.from_perf_ns(here.now + 20_000_000) == 9, "the way may be another one now"


def test_time_never_runs_back_and_passes_as_the_session_does() -> None:
    here = Time()
    clock = SharedClock(here)
    clock.speed = 2.0
    clock.add(here.now, 10**9, here.now)
    assert clock.now_ns() == 10**9
    here.now += 1000
    assert clock.now_ns() == 10**9 + 2000
    clock.forget()
    clock.add(here.now, 10**9, here.now)
    assert clock.now_ns() == 10**9 + 2000
    assert clock.from_perf_ns(here.now) == 10**9
    assert clock.real_seconds(2 * 10**9) == 1.0


def linked(folder: Path) -> Link:
    """A link that is not begun, to hand it messages."""
    return Link("127.0.0.1", 1, "Anna", "observer", "123456", folder, lambda message: None)


def piece(path: str, whole: bytes, begin: int = 0, end: int | None = None) -> wire.File:
    data = whole[begin : len(whole) if end is None else end]
    return wire.File(path, len(whole), begin, data, hashlib.sha256(whole).digest())


def test_a_file_comes_in_pieces_and_is_kept_whole(tmp_path: Path) -> None:
    link = linked(tmp_path)
    link._take(piece("stimuli/a/b.png", b"abcdef", 0, 4))
    assert not (tmp_path / "stimuli/a/b.png").exists(), "half a file is none"
    link._take(piece("stimuli/a/b.png", b"abcdef", 0, 4))
    link._take(piece("stimuli/a/b.png", b"abcdef", 4))
    assert (tmp_path / "stimuli/a/b.png").read_bytes() == b"abcdef"
    link._take(piece("study/empty.yaml", b""))
    assert (tmp_path / "study/empty.yaml").read_bytes() == b""
    link._take(wire.Kept("stimuli/a/again.png", hashlib.sha256(b"abcdef").digest()))
    assert (tmp_path / "stimuli/a/again.png").read_bytes() == b"abcdef"
    assert not list(tmp_path.rglob("*.partial"))


@pytest.mark.parametrize(
    "path",
    [
        "a.yaml", "study", "/study/a", "../study/a", "study/../../a", "audio/x.wav", "study/./../a",
        "study/a\\..\\b", "stimuli/c:/x", "study/a\0b", "stimuli//..//x", "journal.sqlite/x", ".",
    ],
)  # fmt: skip
def test_a_file_outside_of_the_session_is_refused(path: str, tmp_path: Path) -> None:
    folder = tmp_path / "joined"
    link = linked(folder)
    for message in (piece(path, b"x"), wire.Kept(path, hashlib.sha256(b"x").digest())):
        with pytest.raises(wire.WireError):
            link._take(message)
    assert not [each for each in tmp_path.rglob("*") if each.is_file()]


def test_a_file_that_is_damaged_or_lacks_a_piece_is_refused(tmp_path: Path) -> None:
    link = linked(tmp_path)
    with pytest.raises(wire.WireError, match="damaged"):
        link._take(wire.File("study/a", 3, 0, b"abd", hashlib.sha256(b"abc").digest()))
    link._take(piece("study/b", b"abcdef", 0, 2))
    with pytest.raises(wire.WireError, match="missing"):
        link._take(piece("study/b", b"abcdef", 4))
    with pytest.raises(wire.WireError, match="too large"):
        link._take(wire.File("study/c", wire.LARGEST_FILE + 1, 0, b"", b"x" * 32))
    with pytest.raises(wire.WireError, match="should exist here, but it does not"):
        link._take(wire.Kept("study/d", b"x" * 32))
    assert not (tmp_path / "study/a").exists()


def test_a_file_that_cannot_be_kept_ends_the_link_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "study").write_bytes(b"a file where a folder should be")
    with pytest.raises(_Over) as over:
        linked(tmp_path)._take(piece("study/a.yaml", b"x"))
    assert over.value.reason == "damaged"
    assert over.value.detail != ""


def test_events_come_once_and_in_order(tmp_path: Path) -> None:
    got: list[Any] = []
    link = Link("127.0.0.1", 1, "A", "observer", "123456", tmp_path, got.append)

    def rows(*numbers: int) -> wire.Rows:
        return wire.Rows([(number, *ROW[1:]) for number in numbers])

    link._take(rows(1, 2))
    link._take(rows(2, 3))
    link._take(rows(1, 2, 3))
    assert got == [rows(1, 2), rows(3)]
    for wrong in (rows(5), rows(4, 6), rows(4, 4)):
        with pytest.raises(wire.WireError, match="missing"):
            link._take(wrong)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "::1", "a..b", "x" * 70, "no such.invalid", "a/b", "\u202e", "127.0.0.1@x"],
)
def test_where_nobody_is_the_first_attempt_is_the_last(host: str, tmp_path: Path) -> None:
    with nobody() as port:
        person = Person(tmp_path, "Anna", "observer", "123456", port, host)
        wait_for(lambda: person.over is not None)
    assert person.over is not None
    assert person.over.reason == "unreachable"
    assert person.over.detail != ""
    wait_for(lambda: not person.link._thread.is_alive())


def answer_with(content: bytes) -> tuple[int, threading.Thread]:
    """Something that is no session."""
    server = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        with server, server.accept()[0] as connection:
            connection.recv(4096)
            connection.sendall(content)

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    return server.getsockname()[1], thread


@pytest.mark.parametrize(
    "content", [b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\n\r\n", b"\x16" * 99]
)
def test_what_is_no_session_is_unreachable(content: bytes, tmp_path: Path) -> None:
    port, thread = answer_with(content)
    person = Person(tmp_path, "Anna", "observer", "123456", port)
    wait_for(lambda: person.over is not None)
    assert person.over is not None
    assert person.over.reason == "unreachable"
    thread.join(5)


def test_leaving_while_nobody_answers_takes_no_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linking, "CONNECT_S", 600.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        person = Person(tmp_path, "Anna", "observer", "123456", server.getsockname()[1])
        wait_for(lambda: bool(person.states))
        person.link.leave(PATIENCE_S)
        assert person.over == LinkState("over", "left")
        assert not person.link._thread.is_alive()


def test_what_is_asked_for_after_the_end_waits_for_ever_and_harms_nothing(tmp_path: Path) -> None:
    with nobody() as port:
        person = Person(tmp_path, "Anna", "observer", "123456", port)
        wait_for(lambda: not person.link._thread.is_alive())
    person.link.ask(AddNote("too late", 0))
    person.link.hear(True)
    person.link.hand_over(0)
    person.link.leave()
    assert person.link.waiting == 1


def test_a_mistake_of_ours_ends_the_link_and_is_not_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fail(self: Link) -> None:
        raise KeyError("a mistake")

    monkeypatch.setattr(linking.Link, "_follow", fail)
    person = Person(tmp_path, "Anna", "observer", "123456", 1)
    wait_for(lambda: person.over is not None)
    assert person.over == LinkState("over", "damaged", "KeyError")
    assert "a mistake" in capsys.readouterr().err
