"""The interview: the moderator asks, the participant talks, until the moderator ends it.

An interview in a plan, and what a study file may say of interviews.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from labapp.record.events import Event, Payload, UnstampedEvent
from labapp.record.events.commands import Command, SkipStage
from labapp.record.events.lifecycle import PartEnded
from labapp.record.events.registry import Pauses
from labapp.study.plugins.item import FlowOf, Item
from labapp.study.plugins.machine import PartMachine
from labapp.study.plugins.part import PlannedPart
from labapp.tasks.interview.events import AskQuestion, EndInterview, QuestionAsked


class InterviewPart(PlannedPart):
    """An interview that lasts until the moderator ends it. document: the text on the participant's
    screen; questions: the moderator's guide, in the order they are meant to be asked."""

    talks: ClassVar[bool] = True
    part: Literal["interview"] = "interview"
    document: str
    questions: tuple[str, ...] = ()

    def guide(self) -> tuple[str, ...]:
        return self.questions


Guide = Annotated[
    tuple[Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)], ...],
    Field(max_length=30),
]
"""Questions that a moderator asks, in their order."""


class InterviewItem(Item):
    """An interview, which the moderator ends. The text is on the participant's screen meanwhile.

    Attributes
    ----------
    interview : the file of the text on the participant's screen.
    questions : the moderator's guide; where the study is there in several languages, under each
        language its own. The first nine have a key each that stamps when they were asked.
    """

    key: ClassVar[str] = "interview"
    talks: ClassVar[bool] = True
    interview: str
    questions: Guide | dict[str, Guide] = ()

    def texts(self) -> tuple[str, ...]:
        return (self.interview,)

    def guide(self, language: str) -> tuple[str, ...]:
        return self.questions[language] if isinstance(self.questions, dict) else self.questions

    def problems(self, study: FlowOf) -> Iterator[str]:
        guides = self.questions
        for language in study.languages if isinstance(guides, dict) else ():
            if language not in guides:
                yield (
                    f"an interview with questions in the study's language, {language}; its "
                    f"questions are in {', '.join(guides) or 'none'}"
                )


@dataclass(frozen=True, slots=True)
class InterviewState:
    """asked: numbers of the guide's questions in the order they were asked, from 1; a question may
    be asked again. since_ns: session time of the last of them."""

    asked: tuple[int, ...] = ()
    since_ns: int | None = None
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class InterviewTask(PartMachine[InterviewState]):
    """Nothing is measured here: the guide's questions only get the time at which they were asked.
    The participant cannot end it by accident; it is the moderator's to end."""

    part: InterviewPart
    index: int

    def initial(self, pauses: Pauses) -> InterviewState:
        return InterviewState()

    def decide(
        self, state: InterviewState, command: Command, now_ns: int
    ) -> Sequence[UnstampedEvent]:
        if state.outcome is not None:
            return ()
        match command:
            case AskQuestion(number) if 1 <= number <= len(self.part.questions):
                text = self.part.questions[number - 1]
                return (UnstampedEvent(QuestionAsked(number, text), self.part.id),)
            case EndInterview():
                return (UnstampedEvent(PartEnded(self.index, "completed"), self.part.id),)
            case SkipStage():
                return (UnstampedEvent(PartEnded(self.index, "skipped"), self.part.id),)
        return ()

    def apply(self, state: InterviewState, event: Event, payload: Payload) -> InterviewState:
        match payload:
            case QuestionAsked():
                asked = (*state.asked, payload.question)
                return replace(state, asked=asked, since_ns=event.t_ns)
            case PartEnded():
                return replace(state, outcome=payload.outcome)
        return state
