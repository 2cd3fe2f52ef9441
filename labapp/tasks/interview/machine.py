"""The interview: the moderator asks, the participant talks, until the moderator ends it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from labapp.record.events import Event, Payload, UnstampedEvent
from labapp.record.events.commands import Command, SkipStage
from labapp.record.events.durations import Pauses
from labapp.record.events.lifecycle import PartEnded
from labapp.study.plugins.machine import PartMachine
from labapp.tasks.interview.events import AskQuestion, EndInterview, QuestionAsked
from labapp.tasks.interview.plan import InterviewPart


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
