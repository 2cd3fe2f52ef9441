"""One row of the journal, and the hash chain that ties the rows together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

if TYPE_CHECKING:
    from labapp.record.events.registry import Payload

GENESIS = "0" * 64
"""The hash before the first row."""


class Source(StrEnum):
    """Who caused an event."""

    PARTICIPANT = "participant"
    MODERATOR = "moderator"
    SYSTEM = "system"
    SIMULATED = "simulated"


@dataclass(frozen=True, slots=True)
class UnstampedEvent:
    """What `decide` returns: a payload and the trial it belongs to, not yet stamped."""

    payload: Payload
    part_id: str | None = None
    trial: int | None = None
    attempt: int | None = None


class Event(NamedTuple):
    """A stamped event, as it stands in the journal (without its hash).

    A tuple, because readers make thousands of them: a frozen dataclass takes three times as long.

    seq counts from 1 without holes; t_ns is session time in nanoseconds, never decreasing;
    segment counts the runs of the program on this session from 1; part_id is the id of the
    plan's part (the column `stage`); trial and attempt count from 1.
    """

    seq: int
    segment: int
    t_ns: int
    utc: str
    source: str
    kind: str
    v: int
    part_id: str | None
    trial: int | None
    attempt: int | None
    payload: Mapping[str, Any]

    @property
    def key(self) -> tuple[str | None, int | None, int | None]:
        """The trial key (part_id, trial, attempt)."""
        return self[7:10]


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


def row_hash(previous: str, row: Sequence[Any], payload: str) -> str:
    """sha256(previous hash + stamps + payload), hexadecimal.

    row: an event or a stored row, which begin with the ten stamps; these are hashed as a JSON list
    without spaces. payload: the stored text, not re-encoded.
    """
    return hashlib.sha256(
        b"".join((previous.encode(), _stamps(row[:10]), payload.encode()))
    ).hexdigest()


def _stamps(stamps: Sequence[Any]) -> bytes:
    """The ten stamps as JSON text. By orjson: every reader does this for every row, and json takes
    twenty times as long; a test holds that both write the same."""
    try:
        return orjson.dumps(stamps)
    except TypeError:  # of a damaged journal: no text, or a whole number beyond 64 bits
        return json.dumps(stamps, separators=(",", ":"), ensure_ascii=False).encode()
