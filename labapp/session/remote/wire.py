"""The messages between the session's computer and another one, and those between the session's
program and the process that serves them.

Each is one msgpack value of a declared type, checked as it is read; anything else is an error and
ends the link. What a computer may send before it has proved the code is small.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import IO, Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from labapp.base.errors import LabappError
from labapp.record.journal.read import LONGEST

PROTOCOL = 1
PORT = 8731
"""Where a session listens, unless another port is asked for or this one is taken."""
LONGEST_NAME = 60
SMALL, LARGE = 64 * 1024, LONGEST + 64 * 1024
"""Bytes of a message from a computer that joins, and of one to it, which holds the longest row of a
journal."""
CHUNK = 64 * 1024
"""Bytes of a file in one message: sound must not wait long behind it."""
LARGEST_FILE = 2 * 1024**3

MODELS = "models"
"""The folder of models that were sent, beside those of the session."""

Name = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
Role = Literal["moderator", "observer"]
Hash = Annotated[bytes, Meta(min_length=32, max_length=32)]
Nonce = Annotated[bytes, Meta(min_length=16, max_length=64)]
Count = Annotated[int, Meta(ge=0, le=2**53)]
TimeNs = Annotated[int, Meta(ge=-(2**62), le=2**62)]
Row = tuple[int, int, int, str, str, str, int, str | None, int | None, int | None, str]
"""An event as the journal has it: its ten stamps and its payload as JSON."""


class _Message(Struct, frozen=True, forbid_unknown_fields=True):
    pass


# --- before the code is proved ----------------------------------------------------------------


class Hello(_Message, frozen=True, tag="hello"):
    """Somebody wants to join. exchange: the first message of SPAKE2."""

    protocol: Count
    version: Annotated[str, Meta(max_length=40)]
    name: Name
    role: Role
    exchange: Nonce


class Return(_Message, frozen=True, tag="return"):
    """Somebody whose link broke comes back. member: the number that the server gave."""

    protocol: Count
    member: Count
    nonce: Nonce


class Challenge(_Message, frozen=True, tag="challenge"):
    """The server's part of the exchange, or a number drawn at random for somebody who returns."""

    exchange: Nonce


class Proof(_Message, frozen=True, tag="proof"):
    """The proof of the code, and what of the session is there already: the number of the last event
    and the SHA-256 of files."""

    proof: Hash
    after_seq: Count = 0
    files: Annotated[list[Hash], Meta(max_length=1500)] = []


Refusal = Literal["version", "code", "locked", "full"]


class Refused(_Message, frozen=True, tag="refused"):
    """Why somebody cannot join. version: of labapp at the session's computer."""

    reason: Refusal
    version: Annotated[str, Meta(max_length=40)] = ""


# --- from the session's computer --------------------------------------------------------------


class Person(_Message, frozen=True):
    """Somebody who takes part. linked: whether the link holds."""

    member: Count
    name: Name
    role: Role
    linked: bool = True


class Welcome(_Message, frozen=True, tag="welcome"):
    """The server's proof; from here on the session's data follow."""

    proof: Hash
    member: Count
    blind: bool
    participant: str
    speed: float = 1.0


class File(_Message, frozen=True, tag="file"):
    """A piece of a file of the session, by its path in the session folder."""

    path: Annotated[str, Meta(min_length=1, max_length=400)]
    size: Count
    begin: Count
    data: bytes
    sha256: Hash


class Kept(_Message, frozen=True, tag="kept"):
    """A file that the other computer has already, by its hash."""

    path: Annotated[str, Meta(min_length=1, max_length=400)]
    sha256: Hash


class Rows(_Message, frozen=True, tag="rows"):
    """Events in the journal's order."""

    rows: list[Row]


class Ready(_Message, frozen=True, tag="ready"):
    """All files and events up to now were sent."""


class Pong(_Message, frozen=True, tag="pong"):
    """The answer to a ping, with the session time at which it was given."""

    number: Count
    session_ns: TimeNs


class Sound(_Message, frozen=True, tag="sound"):
    """Some sound, 16-bit PCM of one channel. t_ns: session time of its last frame."""

    t_ns: TimeNs
    rate: Annotated[int, Meta(ge=1000, le=200_000)]
    data: Annotated[bytes, Meta(max_length=SMALL)]


class Level(_Message, frozen=True):
    """What the voice meter shows; see `labapp.record.audio.recorder.Level`."""

    state: str
    peak_dbfs: float
    rms_dbfs: float
    silent_for_s: float
    frames: int
    lost_frames: int
    rate: int
    last_sync_ns: int | None
    envelope: tuple[float, ...]
    problem: str


class Now(_Message, frozen=True, tag="now"):
    """What a console shows besides the events. saved_ago_s: since when events wait for the disk;
    streams: whether anybody receives the LSL streams, None if there are none."""

    level: Level | None
    saved_ago_s: float
    free_bytes: int | None
    streams: bool | None


class People(_Message, frozen=True, tag="people"):
    """Who takes part, and who moderates: a member, 0 for the session's own computer."""

    people: list[Person]
    moderator: Count


class Done(_Message, frozen=True, tag="done"):
    """A request was taken in. refused: why not, empty if it was: not_moderator, too_late (it
    waited for a link, and only notes and flags are still taken then), or a sentence."""

    number: Count
    refused: str = ""


class Model(_Message, frozen=True, tag="model"):
    """The files of a model were sent, into a folder beside those of the session. folder: empty
    if the session has no such model."""

    model: Annotated[str, Meta(max_length=4096)]
    folder: Annotated[str, Meta(max_length=400)]


class Over(_Message, frozen=True, tag="over"):
    """The link ends. why: closed (nobody can take part any more) or removed."""

    why: Literal["closed", "removed"]


# --- from another computer --------------------------------------------------------------------


class Ping(_Message, frozen=True, tag="ping"):
    number: Count


class Ask(_Message, frozen=True, tag="ask"):
    """A request. command: its class; fields: of it, as JSON; asked_ns: session time there."""

    number: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    asked_ns: TimeNs
    command: Annotated[str, Meta(max_length=200)]
    fields: Annotated[bytes, Meta(max_length=SMALL)]


class Hear(_Message, frozen=True, tag="hear"):
    """Whether sound is to be sent."""

    on: bool


class ClockState(_Message, frozen=True, tag="clock"):
    """By how much session times that are read there can be wrong."""

    error_ns: Annotated[int, Meta(ge=0, le=2**62)]


class HandOver(_Message, frozen=True, tag="hand_over"):
    """The moderator hands over to somebody else; 0: to the session's own computer."""

    to: Count


class Want(_Message, frozen=True, tag="want"):
    """The files of a model of the session are not there: its card, numbers and graph."""

    model: Annotated[str, Meta(max_length=4096)]


class Leave(_Message, frozen=True, tag="leave"):
    """The person leaves."""


Before = Hello | Return | Proof
FromServer = (
    Challenge | Refused | Welcome | File | Kept | Rows | Ready | Pong | Sound | Now | People | Done
) | (Model | Over)
FromMember = Ping | Ask | Hear | ClockState | HandOver | Want | Leave


# --- between the program and its process ------------------------------------------------------


class Begin(_Message, frozen=True, tag="begin"):
    """Listen. addresses: on which; folder: of the session; after_seq: the last event that is read
    from the journal, later ones come; the clock is at session_ns when `perf_counter_ns` is at
    perf_ns, and passes `speed` as fast."""

    folder: str
    addresses: list[str]
    port: int
    participant: str
    blind: bool
    after_seq: int
    perf_ns: int
    session_ns: int
    speed: float


class Pcm(_Message, frozen=True, tag="pcm"):
    """Sound as the recorder hears it. perf_ns: of its last frame."""

    perf_ns: int
    rate: int
    channels: int
    data: bytes


class Renew(_Message, frozen=True, tag="renew"):
    """Another code for a role."""

    role: Role


class Remove(_Message, frozen=True, tag="remove"):
    """Somebody is not to take part any more."""

    member: int


class Told(_Message, frozen=True, tag="told"):
    """A request of a member was taken in, or was not."""

    member: int
    done: Done


class Listening(_Message, frozen=True, tag="listening"):
    """Where the process listens, or why it does not."""

    addresses: list[str]
    port: int
    certificate_sha256: bytes
    problem: str = ""


class Codes(_Message, frozen=True, tag="codes"):
    """The codes by role, empty if one is locked."""

    moderator: str
    observer: str


class Attempt(_Message, frozen=True, tag="attempt"):
    """A wrong code."""

    role: Role
    attempts: int


class Joined(_Message, frozen=True, tag="joined"):
    """Somebody joined, or came back."""

    member: int
    name: str
    role: Role
    again: bool


class Left(_Message, frozen=True, tag="left"):
    """A link ended; see `labapp.record.events.remote.RemoteLeft`."""

    member: int
    why: Literal["left", "link_lost"]


class FromSomebody(_Message, frozen=True, tag="from"):
    """What a member sent that the program decides about."""

    member: int
    message: Ask | ClockState | HandOver


ToProcess = Begin | Rows | Pcm | Now | People | Told | Renew | Remove
FromProcess = Listening | Codes | Attempt | Joined | Left | FromSomebody


class WireError(LabappError):
    """A message that is none."""


_encoder = msgspec.msgpack.Encoder()
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Controls, marks that turn the direction of writing, letters of nobody, separators of lines."""


def clean_name(name: str, fallback: str) -> str:
    """A name as it is shown and stored: on one line, without characters that cannot be seen."""
    seen = (" " if unicodedata.category(sign) in _UNSEEN else sign for sign in name)
    words = " ".join("".join(seen).split())
    return unicodedata.normalize("NFC", words)[:LONGEST_NAME] or fallback


def encode(message: Struct) -> bytes:
    """A message as bytes."""
    return _encoder.encode(message)


def decoder(kind: Any) -> Callable[[bytes | str], Any]:
    """A function that reads messages of some types, and raises WireError for all else."""
    reads = msgspec.msgpack.Decoder(kind)

    def read(content: bytes | str) -> Any:
        try:
            if isinstance(content, str):
                raise WireError("Text was received instead of a message.")
            return reads.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise WireError(f"A message could not be read: {error}.") from error

    return read


def write_frame(pipe: IO[bytes], message: Struct) -> None:
    """Write a message with its length before it. Raises OSError and ValueError as the pipe does."""
    content = encode(message)
    pipe.write(len(content).to_bytes(4, "big") + content)
    pipe.flush()


def read_frame(pipe: IO[bytes]) -> bytes | None:
    """The next message in bytes; None at the end."""
    head = pipe.read(4)
    if len(head) < 4:
        return None
    size = int.from_bytes(head, "big")
    content = pipe.read(size)
    return content if len(content) == size else None
