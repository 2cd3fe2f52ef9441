"""The record of an attempt at a stimulus of the unmasking task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from labapp.analysis.task_records import Attempt, Key
from labapp.clock import NS
from labapp.errors import RecordError
from labapp.events import Body, Event
from labapp.tasks.unmasking.events import ResponseGiven, StimulusDrawn, StimulusShown
from labapp.tasks.unmasking.plan import UnmaskingPart

MS = 1_000_000
"""ns in a millisecond."""
PRACTICE = "practice"


class StimulusRecord(Attempt):
    """One attempt at a stimulus. shown, response: what the journal says of it, None where it did
    not come to that; prior_exposures: how often the same picture was on the screen before."""

    part: UnmaskingPart

    def __init__(self, part: UnmaskingPart, key: Key, drawn: StimulusDrawn) -> None:
        super().__init__(key)
        self.part = part
        self.sequence_number = drawn.sequence
        self.mask_number = drawn.mask
        self.sequence = part.sequences[drawn.sequence - 1]
        self.mask = self.sequence.masks[drawn.mask - 1]
        self.due_ns = drawn.due_ns
        self.shown: StimulusShown | None = None
        self.response: ResponseGiven | None = None
        self.prior_exposures = 0

    def take(self, event: Event, body: Body, working: int) -> None:
        """Take in an event of this attempt."""
        match body:
            case StimulusShown():
                self.shown = body
                self.started_session_ns, self.started_ns = body.painted_ns, working
            case ResponseGiven():
                self.response, self.ended_session_ns = body, body.input_ns

    @property
    def complete(self) -> bool:
        return self.response is not None

    @property
    def planned_session_s(self) -> float:
        """Session time at which it appeared, or was to appear where it never did."""
        shown = self.started_session_s
        return self.due_ns / NS if shown is None else shown

    @property
    def excluded_because(self) -> str | None:
        """Why it does not count; practice never does."""
        return super().excluded_because or (PRACTICE if self.part.role == PRACTICE else None)

    @property
    def reaction_time_ns(self) -> int | None:
        """From the first painted frame to the input event's own time stamp."""
        if self.shown is None or self.response is None:
            return None
        return self.response.input_ns - self.shown.painted_ns

    @property
    def reaction_time_ms(self) -> float | None:
        found = self.reaction_time_ns
        return None if found is None else found / MS

    @property
    def reaction_time_s(self) -> float | None:
        found = self.reaction_time_ns
        return None if found is None else found / NS

    @property
    def dont_know(self) -> bool | None:
        """Whether the response names no class; None without a response."""
        return None if self.response is None else self.named is None

    @property
    def named(self) -> str | None:
        """The class that was named."""
        return None if self.response is None else self.part.class_of(self.response.response)

    def equals(self, other: str | None) -> bool | None:
        """Whether a class was named and is this one; None without a response, or without it."""
        return None if self.response is None or other is None else self.named == other


def count_exposures(records: Iterable[StimulusRecord]) -> None:
    """Of each attempt, how many earlier ones of the session showed the same image masked alike."""
    seen: Counter[tuple[str, str, float]] = Counter()
    for record in records:
        picture = (record.sequence.image, record.sequence.method, record.mask.percent)
        record.prior_exposures = seen[picture]
        seen[picture] += record.shown is not None


def begun(event: Event, key: Key, body: StimulusDrawn, part: UnmaskingPart) -> StimulusRecord:
    """The attempt that an event begins. Raises RecordError where the plan lacks the stimulus."""
    if 1 <= body.sequence <= len(part.sequences):
        sequence = part.sequences[body.sequence - 1]
        planned = (sequence.image, sequence.method)
        if 1 <= body.mask <= len(sequence.masks) and planned == (body.image, body.method):
            return StimulusRecord(part, key, body)
    raise foreign(event, f"begins mask {body.mask} of {body.image!r} with {body.method!r}")


def foreign(event: Event, what: str) -> RecordError:
    """The error for an event of something that the plan does not have."""
    return RecordError(
        f"Event {event.seq} of this session {what}, which its plan does not have.",
        safe="The session is untouched.",
        todo="Check it with `labapp sessions verify`, and leave it out until then.",
    )
