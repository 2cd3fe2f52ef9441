"""Whether the events of a session fit its plan and each other.

A value can have the right type and still be impossible in a session: a dial that the model lacks, a
question answered before it was drawn, a part that the plan does not have. Readers look such things
up, so they are checked once, before anything is computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from labapp.base.errors import RecordError
from labapp.record.events import Event, Payload
from labapp.record.events.lifecycle import (
    PartEnded,
    PartRestarted,
    PartSkipped,
    PartStarted,
    SessionEnded,
    SessionPlanned,
)
from labapp.record.events.undoing import SessionReopened, SkipRequested

NAMES = {
    "study": re.compile(r"[a-z0-9]+(-[a-z0-9]+)*"),
    "participant": re.compile(r"[A-Za-z0-9]+"),
    "session": re.compile(r"[A-Za-z0-9]+"),
}

Key = tuple[str | None, int | None, int | None]


def plausible(events: Iterable[tuple[Event, Payload]]) -> Iterator[tuple[Event, Payload]]:
    """The same events. Raises RecordError at the first that a session cannot have."""
    check = PlausibilityCheck()
    drawn = check.drawn
    for pair in events:
        event, payload = pair
        # Half of all events have nothing to look up; this saves a call for each.
        if payload.unchecked and event[7:10] in drawn:
            yield pair
            continue
        if why := check.problem(event, payload):
            raise RecordError(
                f"Event {event.seq} ({event.kind}) cannot be: {why}.",
                safe="The record was only read; nothing was changed.",
                todo="The journal is damaged, or was changed or made by something else than "
                "labapp: `labapp sessions verify` tells more. Take another copy of it, and leave "
                "the session out until then.",
            )
        yield pair


@dataclass
class PlausibilityCheck:
    """What is known at a place in the journal. parts: rows of the plan by id, in its order; drawn:
    the trials so far; ends: the ends that can be taken back, by seq."""

    parts: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    drawn: set[Key] = field(default_factory=set)
    ends: set[int] = field(default_factory=set)

    def problem(self, event: Event, payload: Payload) -> str:
        """Why the event cannot be, empty where it can; it is taken in."""
        part_id = event[7]
        if payload.of_trial and event[7:10] in self.drawn:  # nearly all of them
            return "" if payload.unchecked else payload.misfit(self.parts[part_id or ""])
        if isinstance(payload, SessionPlanned):
            return self._planned(event, payload)
        if part_id is not None and part_id not in self.parts:
            return f"the plan has no part {part_id!r}"
        if payload.of_trial:
            return f"no question {event.trial} (attempt {event.attempt}) of {part_id!r} was drawn"
        match payload:
            case PartStarted() | PartEnded() | PartRestarted() | PartSkipped():
                if payload.index >= len(self.order):  # its id is what readers go by
                    return f"the plan has no part with the index {payload.index}"
            case SkipRequested(index=index):
                if index >= len(self.order) or self.order[index] != part_id:
                    return f"the part with the index {index} of the plan is not {part_id!r}"
            case SessionEnded():
                self.ends.add(event.seq)
            case SessionReopened() if payload.seq not in self.ends:
                return f"event {payload.seq} is no end that could be taken back"
        if payload.begins and (why := self._draw(event, payload)):
            return why
        return payload.misfit(self.parts.get(part_id or "", {}))

    def _planned(self, event: Event, payload: SessionPlanned) -> str:
        if event.seq != 1 or self.parts:
            return "a session is planned once, at its beginning"
        for what, pattern in NAMES.items():
            label = getattr(payload, what)
            if not pattern.fullmatch(label):  # they stand in names of files
                return f"{label[:60]!r} is the name of no {what}"
        for row in payload.plan:
            name, kind = row.get("id"), row.get("part")
            if not isinstance(name, str) or not isinstance(kind, str) or name in self.parts:
                return "a part of its plan has no id of its own, or does not say what it is"
            self.parts[name] = row
            self.order.append(name)
            if not _has_dials(row):
                return f"the dials of the part {name!r} are none"
        return ""

    def _draw(self, event: Event, payload: Payload) -> str:
        part_id, trial, attempt = event.key
        if part_id is None or trial is None or attempt is None or trial < 1 or attempt < 1:
            return f"it is of no question ({part_id}, {trial}, {attempt})"
        kind = self.parts[part_id]["part"]
        if kind not in payload.begins:
            return f"the part {part_id!r} of the plan has no such questions: it is {kind!r}"
        self.drawn.add(event.key)
        return ""


def _has_dials(row: Mapping[str, Any]) -> bool:
    """Whether the dials of a part are objects, those of its pieces too, if it has any."""
    if not _are_objects(row.get("dimensions", ())):
        return False
    pieces = (piece for value in row.values() if _are_objects(value) for piece in value)
    return all(_are_objects(piece.get("dimensions", ())) for piece in pieces)


def _are_objects(rows: Any) -> bool:
    return isinstance(rows, list | tuple) and all(isinstance(row, dict) for row in rows)
