"""The record of an attempt at a photo whose explanation was judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from labapp.analysis.task_records import Attempt, Key
from labapp.events import Body, Event
from labapp.tasks.judging.descriptions import METHOD, TREE
from labapp.tasks.judging.events import (
    DescriptionOpened,
    JudgementMade,
    PhotoDrawn,
    PhotoJudged,
    PhotoShown,
    SpeciesOpened,
)
from labapp.tasks.judging.plan import Exercise, JudgingPart, PlannedPhoto, WarmUpPart

JudgedPart = JudgingPart | WarmUpPart


@dataclass(slots=True)
class Answered:
    """One question about a photo. value: the answer that stands, None where it was taken back;
    at_ns: working time of the last answer; given: how often it was answered."""

    value: int | None
    at_ns: int
    given: int = 1


class PhotoRecord(Attempt):
    """One attempt at a photo. answers: question -> answer, of those that stand."""

    part: JudgedPart

    def __init__(self, part: JudgedPart, key: Key, drawn: PhotoDrawn) -> None:
        super().__init__(key)
        self.part = part
        self.photo: PlannedPhoto | Exercise = part.judged[drawn.photo]
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
