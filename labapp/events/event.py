"""One row of the journal, and the hash chain that ties the rows together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from labapp.events.registry import Body

GENESIS = "0" * 64
"""The hash before the first row."""


class Source(StrEnum):
    """Who caused an event."""

    PARTICIPANT = "participant"
    MODERATOR = "moderator"
    SYSTEM = "system"
    SIMULATED = "simulated"


@dataclass(frozen=True, slots=True)
class Draft:
    """What `decide` returns: a body and the trial it belongs to, not yet stamped."""

    body: Body
    stage: str | None = None
    trial: int | None = None
    attempt: int | None = None


class Event(NamedTuple):
    """A stamped event, as it stands in the journal (without its hash).

    A tuple because readers make thousands of them, which takes a dataclass that cannot be changed
    three times as long.

    seq counts from 1 without holes; t_ns is session time in nanoseconds, never decreasing;
    segment counts the runs of the program on this session from 1; stage is the id of the plan's
    part; trial and attempt count from 1.
    """

    seq: int
    segment: int
    t_ns: int
    utc: str
    source: str
    kind: str
    v: int
    stage: str | None
    trial: int | None
    attempt: int | None
    payload: Mapping[str, Any]

    @property
    def key(self) -> tuple[str | None, int | None, int | None]:
        """The trial key (stage, trial, attempt)."""
        return (self.stage, self.trial, self.attempt)


def payload_text(payload: Mapping[str, Any]) -> str:
    """Canonical JSON: sorted keys, no spaces, no NaN, so that equal payloads have equal text.

    Always text that UTF-8 can hold: two halves of a character (surrogates, as some input methods
    hand them over) are joined, and a half alone becomes U+FFFD.
    """
    text = json.dumps(
        payload, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def row_text(event: Event, payload: str) -> str:
    """The text of a row that is hashed; `payload` is the stored text, not re-encoded."""
    return (
        row_head(
            event.seq,
            event.segment,
            event.t_ns,
            event.utc,
            event.source,
            event.kind,
            event.v,
            event.stage,
            event.trial,
            event.attempt,
        )
        + payload
    )


def row_head(
    seq: int,
    segment: int,
    t_ns: int,
    utc: str,
    source: str,
    kind: str,
    v: int,
    stage: str | None,
    trial: int | None,
    attempt: int | None,
) -> str:
    """What the hashed text of a row begins with: its stamps as a JSON list without spaces.

    Put together by hand, for every reader makes it of every row and json.dumps takes five times as
    long; a test holds it to what json.dumps says.
    """
    question = "null" if trial is None else trial
    again = "null" if attempt is None else attempt
    try:
        where = "null" if stage is None else encode_basestring(stage)
        return (
            f"[{seq},{segment},{t_ns},{encode_basestring(utc)},{encode_basestring(source)},"
            f"{encode_basestring(kind)},{v},{where},{question},{again}]"
        )
    except TypeError:  # of a damaged journal, whose texts need not be texts
        stamps = [seq, segment, t_ns, utc, source, kind, v, stage, trial, attempt]
        return json.dumps(stamps, separators=(",", ":"), ensure_ascii=False)


def chain_hash(previous: str, row: str) -> str:
    """sha256(previous hash + row), hexadecimal."""
    return hashlib.sha256((previous + row).encode()).hexdigest()
