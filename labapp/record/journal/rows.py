"""Rows of a journal as stored, wherever they are stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import msgspec

from labapp.base import discovery
from labapp.base.errors import RecordError
from labapp.base.reading.values import json_value
from labapp.record.events import Event, Payload, payload_of, row_hash
from labapp.record.events.registry import known
from labapp.record.events.types import loose

ENVIRONMENT = "environment.recorded"

_event = partial(tuple.__new__, Event)
"""`Event._make` without a count of the items, which takes most of its time."""


_decode = msgspec.json.Decoder().decode


def _json(kind: str, text: str) -> Any:
    """The payload of a kind. Raises ValueError for what is no JSON or exceeds `json_value`.

    msgspec is six times as quick as `json_value`, which counts and measures what it reads. A kind
    whose fields all have types needs no such limits. msgspec refuses halves of characters and
    whole numbers of thousands of digits; what it refuses is read again.
    """
    payload = known(kind)
    if payload is None or loose(payload):
        return json_value(text)
    try:
        return _decode(text)
    except (ValueError, RecursionError):
        return json_value(text)


class Row(NamedTuple):
    """A stored row: the columns of `layout.COLUMNS` in their order, and `redacted`.

    part_id: the column `stage`; payload: the stored text, verbatim; hash: as stored, not
    recomputed; redacted: true when the payload was reduced for a de-identified bundle.
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
    payload: str
    hash: str
    redacted: bool = False

    def event(self) -> Event:
        """The row as an event. Raises RecordError when the payload is not a JSON object."""
        try:
            payload = _json(self.kind, self.payload)
        except ValueError as error:
            raise _unreadable(self, f"its payload is not JSON ({error})") from error
        if not isinstance(payload, dict):
            raise _unreadable(self, "its payload is not a JSON object")
        return _event((*self[:10], payload))

    def chained(self, previous: str) -> str:
        """The hash this row should have after a row whose hash is `previous`."""
        return row_hash(previous, self, self.payload)


make_row = partial(tuple.__new__, Row)
"""`Row._make` without a count of the items, which takes most of its time."""


def payloads(rows: Iterable[Row]) -> Iterator[tuple[Event, Payload]]:
    """Events with their typed payloads, old versions migrated.

    Raises RecordError for a row that cannot be read: damaged, of a newer program, or of a task
    whose package is not installed.
    """
    environment: Mapping[str, Any] = {}
    for row in rows:
        event = row.event()
        if event.kind == ENVIRONMENT:
            environment = event.payload
        try:
            payload = payload_of(event)
        except (ValueError, KeyError) as error:
            raise _unreadable(row, str(error), missing_packages(environment)) from error
        yield event, payload


def missing_packages(payload: Mapping[str, Any]) -> str:
    """The packages that a session was recorded with and that are not here, as a sentence; empty
    where none is missing. payload: of its `environment.recorded`."""
    environment = payload.get("environment")
    return discovery.missing(environment.get("plugins") if isinstance(environment, dict) else None)


def _unreadable(row: Row, why: str, missing: str = "") -> RecordError:
    return RecordError(
        f"Event {row.seq} ({row.kind}) cannot be read: {why}.",
        safe="The record was only read; nothing was changed.",
        todo=f"{missing} Install it, then try again."
        if missing
        else "Run `labapp sessions verify` on it; if it is whole, a newer labapp wrote it: update.",
    )
