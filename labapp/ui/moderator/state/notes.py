"""Notes, flags and prompts, as the moderator made them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from labapp.events import Event
from labapp.ui.moderator.state.worktime import WorkTime

NoteKind = Literal["note", "flag", "prompt"]


@dataclass(frozen=True, slots=True)
class Note:
    """working_ns: working time at which its typing began; t_ns: the same in session time."""

    kind: NoteKind
    working_ns: int
    t_ns: int
    text: str
    number: int | None = None


def note_of(event: Event, work: WorkTime) -> Note | None:
    """The entry of a note.added, flag.added or prompt.given event; None for any other."""
    if event.kind == "note.added":
        began = int(event.payload["typing_began_ns"])
        return Note("note", work.working_ns(began), began, event.payload["text"])
    if event.kind == "flag.added":
        number = int(event.payload["number"])
        meaning = event.payload["meaning"]
        return Note("flag", work.working_ns(event.t_ns), event.t_ns, meaning, number)
    if event.kind == "prompt.given":
        return Note("prompt", work.working_ns(event.t_ns), event.t_ns, event.payload["text"])
    return None
