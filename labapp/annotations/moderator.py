"""What the moderator wrote down in the session, as the marks of a rater."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from labapp.annotations.model import Mark, RaterMarks
from labapp.annotations.places import MODERATOR
from labapp.events import Event, Payload
from labapp.events.lifecycle import DeviationNoted, FlagAdded, NoteAdded
from labapp.events.moderation import GuideQuestion, NoteCorrected, Prompt

FLAG, NOTE, DEVIATION = "flag", "note", "deviation"
PROMPT, QUESTION = "prompt", "question"
"""Tiers of these marks, and codes of all but flags, whose code is their number."""
MODERATOR_KINDS = tuple(
    payload.kind for payload in (FlagAdded, NoteAdded, DeviationNoted, NoteCorrected)
)
"""Kinds of events that marks come from, beside all that derive from `Prompt`."""


def moderator_marks(events: Iterable[tuple[Event, Payload]]) -> RaterMarks:
    """Flags, notes, deviations, prompts and questions of a journal, as they read in the end.

    Flags, prompts and questions are points; a note lasts from its first key to its end. What was
    taken back is left out. The id of a mark is that of its event, its memo what was written.
    """
    marks: dict[int, Mark] = {}
    taken_back: set[int] = set()
    for event, payload in events:
        match payload:
            case FlagAdded():
                code, text = str(payload.number), payload.meaning
                marks[event.seq] = _mark(event, FLAG, code, event.t_ns, text)
            case NoteAdded():
                marks[event.seq] = _mark(event, NOTE, NOTE, payload.typing_began_ns, payload.text)
            case DeviationNoted():
                began = payload.typing_began_ns
                marks[event.seq] = _mark(event, DEVIATION, DEVIATION, began, payload.text)
            case GuideQuestion():
                marks[event.seq] = _mark(event, QUESTION, QUESTION, event.t_ns, payload.text)
            case Prompt():
                marks[event.seq] = _mark(event, PROMPT, PROMPT, event.t_ns, payload.text)
            case NoteCorrected() if (before := marks.get(payload.seq)) is not None:
                marks[payload.seq] = replace(before, memo=payload.text or before.memo)
                taken_back.discard(payload.seq)
                if not payload.text:
                    taken_back.add(payload.seq)
            case _:
                """Nothing that the moderator wrote down."""
    left = (mark for seq, mark in marks.items() if seq not in taken_back)
    ordered = sorted(left, key=lambda mark: (mark.t0_ns, mark.t1_ns, mark.id))
    return RaterMarks(MODERATOR, tuple(ordered), "done", machine=True)


def _mark(event: Event, tier: str, code: str, t0_ns: int, memo: str) -> Mark:
    return Mark(
        f"event-{event.seq}",
        MODERATOR,
        tier,
        code,
        min(t0_ns, event.t_ns),
        event.t_ns,
        memo=memo,
        blind=(),
        utc=event.utc,
    )
