"""What the moderator wrote down, set and asked, with every correction: a fold over one session."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from labapp.base.clock import NS
from labapp.record.events import Event, Payload, Source
from labapp.record.events.durations import WorkingTime
from labapp.record.events.lifecycle import (
    DeviationNoted,
    FlagAdded,
    NoteAdded,
    PartEnded,
    PartStarted,
    PromptGiven,
)
from labapp.record.events.moderation import GuideQuestion, NoteCorrected

KINDS = {
    "note": "the moderator's own words",
    "flag": "one of the study's flags, set by its number",
    "prompt": "the moderator asked the participant to go on talking",
    "deviation": "what went otherwise than the study says, in the moderator's words",
    "question": "a question of an interview's guide was asked",
}
"""Every kind of entry, in words."""

Place = tuple[str | None, int | None, int | None]
"""Stage, trial and attempt."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something the moderator noted, or a correction of it.

    kind: one of KINDS; onset_ns: session time of its first key (of a flag, prompt or question of
    its key); kept_ns: of its event; text: as it was written; number: of a flag or question; place:
    stage, trial and attempt at its onset; corrects: the seq of the entry that it corrects, None
    where it is none; now: how it reads after all corrections, empty where it was taken back.
    """

    seq: int
    kind: str
    onset_ns: int
    kept_ns: int
    text: str
    source: str
    place: Place = (None, None, None)
    number: int | None = None
    corrects: int | None = None
    now: str = ""

    @property
    def taken_back(self) -> bool:
        return not self.now


class Trail:
    """What was on the screen at any session time so far."""

    def __init__(self) -> None:
        self._from: list[int] = [0]
        self._places: list[Place] = [(None, None, None)]

    def apply(self, event: Event, payload: Payload) -> None:
        """Take in the next event. What a moderator does carries the place it was done in, which
        is none to begin with."""
        place = self._places[-1]
        if isinstance(payload, PartStarted):
            place = (event.part_id, None, None)
        elif isinstance(payload, PartEnded):
            place = (None, None, None)
        elif event.trial is not None and event.source != Source.MODERATOR:
            place = (event.part_id, event.trial, event.attempt)
        if place != self._places[-1]:
            self._from.append(event.t_ns)
            self._places.append(place)

    def at(self, t_ns: int) -> Place:
        """Stage, trial and attempt at a session time."""
        return self._places[max(0, bisect_right(self._from, t_ns) - 1)]


class Notes:
    """The entries of one session so far, in the order of their events: `entries`."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._trail = Trail()
        self._at: dict[int, int] = {}  # seq of what is no correction -> place in `entries`

    def apply(self, event: Event, payload: Payload) -> bool:
        """Take in the next event; True when `entries` changed."""
        self._trail.apply(event, payload)
        match payload:
            case NoteAdded():
                self._add(event, "note", payload.text, payload.typing_began_ns)
            case DeviationNoted():
                self._add(event, "deviation", payload.text, payload.typing_began_ns)
            case FlagAdded():
                self._add(event, "flag", payload.meaning, event.t_ns, payload.number)
            case PromptGiven():
                self._add(event, "prompt", payload.text, event.t_ns)
            case GuideQuestion():
                self._add(event, "question", payload.text, event.t_ns, payload.question)
            case NoteCorrected() if payload.seq in self._at:
                self._correct(event, payload)
            case _:
                return False
        return True

    def _add(
        self, event: Event, kind: str, text: str, onset_ns: int, number: int | None = None
    ) -> None:
        self._at[event.seq] = len(self.entries)
        place = self._trail.at(onset_ns)
        source = str(event.source)
        self.entries.append(
            Entry(event.seq, kind, onset_ns, event.t_ns, text, source, place, number, now=text)
        )

    def _correct(self, event: Event, payload: NoteCorrected) -> None:
        """The corrected entry, and all its corrections, read as the last of them says."""
        first = self.entries[self._at[payload.seq]]
        for index, entry in enumerate(self.entries):
            if payload.seq in (entry.seq, entry.corrects):
                self.entries[index] = replace(entry, now=payload.text)
        self.entries.append(
            Entry(
                event.seq,
                first.kind,
                payload.typing_began_ns,
                event.t_ns,
                payload.text,
                str(event.source),
                self._trail.at(payload.typing_began_ns),
                first.number,
                payload.seq,
                payload.text,
            )
        )


def fold_notes(events: Iterable[tuple[Event, Payload]]) -> list[Entry]:
    """The entries of a whole session."""
    notes = Notes()
    for event, payload in events:
        notes.apply(event, payload)
    return notes.entries


def note_rows(entries: Iterable[Entry], work: WorkingTime) -> list[dict[str, Any]]:
    """Rows of the table `notes`, by their onset. work: of the same session."""
    return [
        {
            "onset_s": entry.onset_ns / NS,
            "working_s": work.working_ns(max(0, entry.onset_ns)) / NS,
            "kept_s": entry.kept_ns / NS,
            "kind": entry.kind,
            "text": entry.text,
            "text_now": entry.now,
            "taken_back": entry.taken_back,
            "number": entry.number,
            "stage": entry.place[0],
            "trial": entry.place[1],
            "attempt": entry.place[2],
            "source": entry.source,
            "seq": entry.seq,
            "corrects": entry.corrects,
        }
        for entry in sorted(entries, key=lambda entry: (entry.onset_ns, entry.seq))
    ]
