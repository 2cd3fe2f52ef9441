"""Notes, flags, prompts and interview questions, as the moderator made and corrected them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from labapp.events import Event
from labapp.ui.moderator.state.fold import WorkTime

NoteKind = Literal["note", "flag", "prompt", "question"]


@dataclass(frozen=True, slots=True)
class Note:
    """working_ns: working time at which its typing began; t_ns: the same in session time; text: how
    it reads now, empty where it was taken back; first: how it read at first; stage: part that ran.
    """

    seq: int
    kind: NoteKind
    working_ns: int
    t_ns: int
    text: str
    number: int | None = None
    first: str = ""
    stage: str | None = None

    @property
    def taken_back(self) -> bool:
        return not self.text

    @property
    def corrected(self) -> bool:
        """Whether it reads otherwise than at first."""
        return self.text != self.first


def note_of(event: Event, work: WorkTime) -> Note | None:
    """The entry of a note, flag, prompt or interview question; None for any other event."""
    payload, at_ns = event.payload, event.t_ns
    kind: NoteKind
    number: int | None = None
    match event.kind:
        case "note.added":
            kind, text, at_ns = "note", payload["text"], int(payload["typing_began_ns"])
        case "flag.added":
            kind, text, number = "flag", payload["meaning"], int(payload["number"])
        case "prompt.given":
            kind, text = "prompt", payload["text"]
        case "interview.question_asked":
            kind, text, number = "question", payload["text"], int(payload["question"])
        case _:
            return None
    work_ns = work.working_ns(at_ns)
    return Note(event.seq, kind, work_ns, at_ns, text, number, text, event.part_id)


def correct(notes: list[Note], event: Event) -> bool:
    """Take in a note.corrected event; True when one of the notes reads otherwise now."""
    seq = int(event.payload["seq"])
    for place, note in enumerate(notes):
        if note.seq == seq:
            notes[place] = replace(note, text=str(event.payload["text"]))
            return True
    return False
