"""One row of the journal, and the hash chain that ties the rows together.

How durations are measured: session time without the stretches in which it stands still.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

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


Hold = Literal["pause", "skip", "leave", "end"]
"""What time stands still for: a pause, a break or the gap after a crash; a skip that can be taken
back; the question whether the participant wants to leave; the end, until it is undone."""

OPENS: Mapping[str, Hold] = {
    "session.paused": "pause",
    "segment.started": "pause",
    "skip.requested": "skip",
    "close.requested": "leave",
    "session.completed": "end",
    "session.ended": "end",
}
CLOSES: Mapping[str, Hold] = {
    "session.resumed": "pause",
    "skip.taken_back": "skip",
    "skip.confirmed": "skip",
    "close.withdrawn": "leave",
    "session.reopened": "end",
}
VOIDS = frozenset(
    {"session.paused", "session.resumed", "segment.started", "session.completed", "session.ended"}
)
"""The kinds that put an end to a skip that could still be taken back, and to the question whether
to leave: what the moderator does, or a crash, comes before both."""
STALLED = "program.stalled"
KINDS = frozenset({*OPENS, *CLOSES, STALLED})
"""The kinds of events that `Pauses` looks at; others may be left out."""


@dataclass(frozen=True, slots=True)
class Pauses:
    """A fold over the journal that maps session time to working time.

    Working time stands still while anything holds it; a stretch that several things hold is left
    out once.

    Attributes
    ----------
    total_ns : closed stretches so far.
    open_since_ns : session time from which time stands still now.
    holds : what it stands still for.
    until_ns : session time at which the last closed stretch ended.
    """

    total_ns: int = 0
    open_since_ns: int | None = None
    holds: frozenset[Hold] = frozenset()
    until_ns: int = 0

    @property
    def held(self) -> bool:
        """Whether time stands still, whatever for."""
        return bool(self.holds)

    @property
    def paused(self) -> bool:
        """Whether the session waits for the moderator, or rests in a break."""
        return "pause" in self.holds

    @property
    def leaving(self) -> bool:
        """Whether the participant is asked whether to leave."""
        return "leave" in self.holds

    def apply(self, event: Event) -> Pauses:
        """Take in one event; events must come in the journal's order."""
        if event.kind not in KINDS:
            return self
        if event.kind == STALLED:
            return self._stalled(event)
        holds = self._after(event)
        if holds == self.holds:
            return self
        if self.open_since_ns is None:
            gap_from = event.payload.get("gap_from_ns")
            since = event.t_ns if gap_from is None else int(gap_from)
            return replace(self, open_since_ns=since, holds=holds)
        if holds:
            return replace(self, holds=holds)
        return Pauses(self.total_ns + event.t_ns - self.open_since_ns, until_ns=event.t_ns)

    def _stalled(self, event: Event) -> Pauses:
        """A stall is over when its event reports it: no participant could do anything during it."""
        begins = max(int(event.payload["from_ns"]), self.until_ns)
        ends = int(event.payload["from_ns"]) + int(event.payload["duration_ns"])
        if not event.payload.get("left_out") or self.held or ends <= begins:
            return self
        return Pauses(self.total_ns + ends - begins, until_ns=ends)

    def stretch_since(self, before: Pauses) -> tuple[int, int] | None:
        """The stretch that an event closed, of which `before` is the state; in session time."""
        if self.held or self is before:
            return None
        begins = before.open_since_ns
        if begins is None:  # a stall
            begins = self.until_ns - (self.total_ns - before.total_ns)
        return begins, self.until_ns

    def _after(self, event: Event) -> frozenset[Hold]:
        holds = self.holds
        if event.kind in VOIDS:
            holds = holds - {"skip", "leave"}
        if (closed := CLOSES.get(event.kind)) is not None:
            return holds - {closed}
        opened = OPENS[event.kind]
        if opened in ("leave", "end") and event.v < 2:
            return holds  # it had no counterpart then, and time went on
        if event.kind == "segment.started" and event.payload.get("gap_from_ns") is None:
            return holds
        return holds | {opened}

    def working_ns(self, t_ns: int) -> int:
        """Working time at session time t_ns, which must not lie before the last event applied."""
        until = t_ns if self.open_since_ns is None else min(t_ns, self.open_since_ns)
        return until - self.total_ns


class WorkingTime:
    """Working time at any session time of a journal that is already there."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._from = [0]
        self._pauses = [Pauses()]
        for event in events:
            before = self._pauses[-1]
            now = before.apply(event)
            if now is before:
                continue
            closed = now.stretch_since(before)
            if closed is not None and not before.held:  # a stall, which its event tells afterwards
                self._from.append(closed[0])
                self._pauses.append(replace(before, open_since_ns=closed[0]))
            # A gap begins before the event that reports it.
            begins = now.open_since_ns if closed is None else closed[1]
            self._from.append(event.t_ns if begins is None else begins)
            self._pauses.append(now)

    def working_ns(self, t_ns: int) -> int:
        """Working time in ns at session time t_ns."""
        return self._pauses[bisect_right(self._from, t_ns) - 1].working_ns(t_ns)
