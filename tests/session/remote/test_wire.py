"""Messages: what is written is read again, and anything else is an error."""

from __future__ import annotations

import io
import random
import unicodedata
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.record.journal.read import LONGEST
from labapp.session.remote import wire
from labapp.session.remote.wire import WireError, clean_name

MANY = 10_000
ROW: wire.Row = (1, 1, 5, "2026-01-02T03:04:05Z", "system", "x", 1, None, None, None, "{}")
H = bytes(range(32))
BEFORE: list[Any] = [
    wire.Hello(1, "0.1", "Anna", "moderator", b"A" + H),
    wire.Return(1, 3, H),
    wire.Proof(H, 7, [H, H[::-1]]),
]
FROM_MEMBER: list[Any] = [
    wire.Ping(3),
    wire.Ask(1, 5, "labapp.record.events.commands:AddNote", b'{"text":"x","typing_began_ns":1}'),
    wire.Hear(True),
    wire.ClockState(400),
    wire.HandOver(2),
    wire.Want("mnist8k/vae"),
    wire.Leave(),
]
LEVEL = wire.Level("heard", -3.0, -20.5, 0.0, 48000, 0, 48000, None, (0.1, 0.2), "")
FROM_SERVER: list[Any] = [
    wire.Challenge(H),
    wire.Refused("code", "0.1"),
    wire.Welcome(H, 1, False, "P01", 1.0),
    wire.File("study/a.yaml", 3, 0, b"abc", H),
    wire.Kept("study/a.yaml", H),
    wire.Rows([ROW, ROW]),
    wire.Ready(),
    wire.Pong(3, -5),
    wire.Sound(5, 16000, b"\0\0"),
    wire.Now(LEVEL, 0.0, 10**12, None),
    wire.People([wire.Person(1, "Anna", "moderator")], 1),
    wire.Done(1, "not_moderator"),
    wire.Model("mnist8k/vae", "models/0011223344556677"),
    wire.Over("closed"),
]
KINDS = [
    (wire.Before, BEFORE),
    (wire.FromMember, FROM_MEMBER),
    (wire.FromServer, FROM_SERVER),
]
READERS = [wire.decoder(kind) for kind, _ in KINDS]


@pytest.mark.parametrize(("kind", "messages"), KINDS)
def test_what_is_written_is_read_again(kind: Any, messages: list[Any]) -> None:
    read = wire.decoder(kind)
    assert {type(message) for message in messages} == set(get_args(kind)), "each kind is tried"
    for message in messages:
        assert read(wire.encode(message)) == message


@pytest.mark.parametrize(("kind", "messages"), KINDS)
def test_what_belongs_elsewhere_is_refused(kind: Any, messages: list[Any]) -> None:
    read = wire.decoder(kind)
    for _, others in KINDS:
        for message in others:
            if others is not messages:
                with pytest.raises(WireError):
                    read(wire.encode(message))


def mutants(messages: list[Any], seed: int, many: int) -> list[bytes]:
    """Messages that were damaged: cut, lengthened, spliced, with bits and bytes changed."""
    rng = random.Random(seed)
    contents = [wire.encode(message) for message in messages]
    damaged = []
    while len(damaged) < many:
        content = bytearray(rng.choice(contents))
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(content) + 1)
            match rng.randrange(6):
                case 0:
                    del content[at:]
                case 1:
                    content[at:at] = rng.randbytes(rng.randint(1, 9))
                case 2 if at < len(content):
                    content[at] ^= 1 << rng.randrange(8)
                case 3 if at < len(content):
                    content[at] = rng.choice((0, 0x7F, 0x80, 0xC0, 0xC1, 0xCF, 0xDD, 0xDF, 0xFF))
                case 4:
                    content += rng.choice(contents)
                case 5:
                    content[at:] = rng.choice(contents)[at:]
        if bytes(content) not in contents:
            damaged.append(bytes(content))
    return damaged


@pytest.mark.parametrize(("kind", "messages"), KINDS)
def test_ten_thousand_damaged_messages_are_refused_or_are_others(
    kind: Any, messages: list[Any]
) -> None:
    """What can still be read is a message of its kind within its bounds; nothing else comes out."""
    read, refused = wire.decoder(kind), 0
    for content in mutants(messages, 1, MANY):
        try:
            message = read(content)
        except WireError:
            refused += 1
        else:
            assert isinstance(message, get_args(kind))
            check_bounds(message)
    assert refused > MANY // 2


def check_bounds(message: Any) -> None:
    """What a message holds is what its type says, by checking it a second way."""
    builtin = msgspec.to_builtins(message, builtin_types=(bytes,))
    assert msgspec.convert(builtin, type(message)) == message
    hints = get_type_hints(type(message))
    assert set(builtin) - {"type"} <= set(hints)


@given(st.binary(max_size=200) | st.text(max_size=50))
def test_anything_else_is_an_error(content: bytes | str) -> None:
    for read in READERS:
        with pytest.raises(WireError):
            read(content)


@pytest.mark.parametrize(
    "content",
    [
        {"type": "hello", "protocol": 1, "version": "1", "name": "", "role": "moderator"},
        {"type": "ping", "number": -1},
        {"type": "ping", "number": 2**53 + 1},
        {"type": "ping", "number": 1.5},
        {"type": "ping", "number": "1"},
        {"type": "ping", "number": 1, "more": 1},
        {"type": "ask", "number": 0, "asked_ns": 0, "command": "", "fields": b""},
        {"type": "ask", "number": 1, "asked_ns": 2**62 + 1, "command": "", "fields": b""},
        {"type": "ask", "number": 1, "asked_ns": 0, "command": "x" * 201, "fields": b""},
        {"type": "hear", "on": 1},
        {"type": "nobody"},
        {},
        [],
        None,
    ],
)
def test_values_beyond_what_is_declared_are_refused(content: Any) -> None:
    read = wire.decoder(wire.Before | wire.FromMember)
    with pytest.raises(WireError):
        read(msgspec.msgpack.encode(content))


def test_what_is_nested_without_end_is_refused() -> None:
    with pytest.raises(WireError):
        wire.decoder(wire.FromMember)(b"\x91" * 60_000)


def test_the_longest_row_of_a_journal_fits_into_a_message() -> None:
    row = (*ROW[:10], "x" * (LONGEST - 1024))
    assert len(wire.encode(wire.Rows([row]))) <= wire.LARGE


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Anna", "Anna"),
        ("  Anna \t von  der\u00a0Höhe\n", "Anna von der Höhe"),
        ("An\u202ena\u2066x\u2069", "An na x"),
        ("An\u200bna\ufeff", "An na"),
        ("A\x00n\x1b[31mna\x07", "A n [31mna"),
        ("A\u2028n\u2029a", "A n a"),
        ("Zoe\u0308", "Zoë"),
        ("李雷", "李雷"),
        ("\u202e\u200b\x00", "observer"),
        (" ", "observer"),
        ("é" * 60, "é" * 60),
        ("e\u0301" * 30, "é" * 30),
        ("\ue000\U000f0000x", "x"),
    ],
)
def test_names_are_cleaned(name: str, shown: str) -> None:
    assert clean_name(name, "observer") == shown


@given(st.text(min_size=1, max_size=wire.LONGEST_NAME))
def test_a_cleaned_name_can_be_shown_sent_and_stays(name: str) -> None:
    shown = clean_name(name, "observer")
    assert 0 < len(shown) <= wire.LONGEST_NAME
    assert shown == " ".join(shown.split())
    categories = {unicodedata.category(letter) for letter in shown}
    assert not {each for each in categories if each[0] == "C" or each in ("Zl", "Zp")}
    assert clean_name(shown, "x") == shown
    person = wire.Person(1, shown, "observer")
    assert msgspec.msgpack.decode(wire.encode(person), type=wire.Person) == person


def test_frames_of_a_pipe_are_read_as_they_were_written() -> None:
    pipe = io.BytesIO()
    for message in FROM_SERVER:
        wire.write_frame(pipe, message)
    whole = pipe.getvalue()
    pipe = io.BytesIO(whole)
    read = wire.decoder(wire.FromServer)
    assert [read(wire.read_frame(pipe) or b"") for _ in FROM_SERVER] == FROM_SERVER
    assert wire.read_frame(pipe) is None
    for cut in (3, 4, 9):
        assert wire.read_frame(io.BytesIO(whole[:cut])) is None, "an end within is an end"
