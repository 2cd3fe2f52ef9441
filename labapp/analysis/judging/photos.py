"""The record of every photo whose explanation was judged: a fold over the events of one session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from labapp.analysis.attempt import Attempt, Key, supersede
from labapp.analysis.judging.descriptions import METHOD, TREE, OverPhotos
from labapp.analysis.judging.parts import JudgedPart
from labapp.errors import RecordError
from labapp.events import Body, Event
from labapp.events.durations import Pauses
from labapp.events.lifecycle import PartRestarted
from labapp.events.trials import TrialEnded
from labapp.tasks.judging.events import (
    DescriptionClosed,
    DescriptionOpened,
    JudgementMade,
    PerformanceComputed,
    PhotoDrawn,
    PhotoJudged,
    PhotoShown,
    SpeciesOpened,
)


@dataclass(slots=True)
class Answered:
    """One question about a photo. value: the answer that stands, None where it was taken back;
    at_ns: working time of the last answer; given: how often it was answered."""

    value: int | None
    at_ns: int
    given: int = 1


class PhotoRecord(Attempt):
    """One attempt at a photo. answers: question -> answer, of those that stand."""

    def __init__(self, part: JudgedPart, key: Key, drawn: PhotoDrawn) -> None:
        super().__init__(key)
        self.part = part
        self.photo = part.photos[drawn.photo]
        self.judged_session_ns: int | None = None
        self.judged_ns: int | None = None
        self.last_ns: int | None = None
        self.first_answer_ns: int | None = None
        self.last_answer_ns: int | None = None
        self.questions: dict[str, Answered] = {}
        self.taken_back = 0
        self.species_opened = 0
        self.opened = {METHOD: 0, TREE: 0}
        self.description_ns = 0
        self.devices: list[str] = []
        self.final: Mapping[str, int] | None = None

    def take(self, event: Event, body: Body, working: int) -> None:
        """Take in an event of this attempt."""
        match body:
            case PhotoShown():
                self.started_session_ns, self.started_ns = event.t_ns, working
            case JudgementMade():
                self._judgement(body, working)
            case PhotoJudged():
                self.final = dict(body.answers)
                self.judged_session_ns, self.judged_ns = event.t_ns, working
            case SpeciesOpened():
                self.species_opened += 1
            case DescriptionOpened():
                self.opened[body.what] = self.opened.get(body.what, 0) + 1
            case TrialEnded():
                self.outcome = body.outcome
        self.last_ns = working

    def _judgement(self, body: JudgementMade, working: int) -> None:
        known = self.questions.get(body.question)
        if body.value is None:
            if known is not None:
                known.value = None
            self.taken_back += 1
            return
        if known is None:
            self.questions[body.question] = Answered(body.value, working)
        else:
            known.value, known.at_ns, known.given = body.value, working, known.given + 1
        if body.device not in self.devices:
            self.devices.append(body.device)
        if self.first_answer_ns is None:
            self.first_answer_ns = working
        self.last_answer_ns = working

    @property
    def answers(self) -> Mapping[str, int]:
        if self.final is not None:
            return self.final
        return {name: one.value for name, one in self.questions.items() if one.value is not None}

    @property
    def judged(self) -> bool:
        """Whether the answers were handed in."""
        return self.final is not None

    @property
    def complete(self) -> bool:
        return self.judged

    @property
    def duration_s(self) -> float | None:
        """From the photo's appearance to the answers handed in."""
        return self.since_start(self.judged_ns)


def fold_photos(
    events: Iterable[tuple[Event, Body]], parts: Mapping[str, JudgedPart]
) -> list[PhotoRecord]:
    """Every attempt at every photo, in the order they were drawn; events: of a whole session.

    Raises RecordError where a photo was drawn that the plan does not have.
    """
    pauses = Pauses()
    found: dict[Key, PhotoRecord] = {}
    descriptions = OverPhotos()
    counts: dict[str | None, int] = {}  # the attempt that counts of a stage that began again
    for event, body in events:
        pauses = pauses.apply(event)
        if isinstance(body, PartRestarted):
            counts[event.stage] = body.attempt
        key = _key_of(event)
        descriptions.take(body, key, pauses.working_ns(event.t_ns))
        if key is None or key[0] not in parts:
            continue
        if isinstance(body, PhotoDrawn):
            if body.photo not in parts[key[0]].photos:
                raise RecordError(
                    f"Event {event.seq} of this session begins the photo {body.photo!r}, which its "
                    "plan does not have.",
                    safe="The session is untouched.",
                    todo="Check it with `labapp sessions verify`, and leave it out until then.",
                )
            found[key] = PhotoRecord(parts[key[0]], key, body)
        elif key in found and isinstance(body, _OF_A_PHOTO):
            found[key].take(event, body, pauses.working_ns(event.t_ns))
    for key, spent_ns in descriptions.looked_at_ns.items():
        if key in found:
            found[key].description_ns = spent_ns
    supersede(found, counts)
    return list(found.values())


def _key_of(event: Event) -> Key | None:
    """The attempt at a photo (or at any other trial) that an event is of."""
    if event.stage is None or event.trial is None or event.attempt is None:
        return None
    return event.stage, event.trial, event.attempt


_OF_A_PHOTO = (
    PhotoShown,
    JudgementMade,
    PhotoJudged,
    SpeciesOpened,
    DescriptionOpened,
    DescriptionClosed,
    TrialEnded,
)
"""Notes, flags and prompts carry the key of the photo they fall into, but are no part of it."""


def fold_performance(
    events: Iterable[tuple[Event, Body]], parts: Mapping[str, JudgedPart]
) -> dict[str, PerformanceComputed]:
    """What each stage told of the own performance, by the stage's id; the last, where it began
    again."""
    return {
        event.stage: body
        for event, body in events
        if isinstance(body, PerformanceComputed)
        and event.stage is not None
        and event.stage in parts
    }
