"""A questionnaire: every change of an answer is an event; leaving needs all required answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from labapp.events import Body, Draft, Event
from labapp.events.commands import Answer, Command, Next, SkipStage
from labapp.events.durations import Pauses
from labapp.events.lifecycle import PartEnded, QuestionnaireSubmitted, ResponseChanged
from labapp.study.instruments import Instrument
from labapp.study.plan import QuestionnairePart


@dataclass(frozen=True, slots=True)
class QuestionnaireState:
    answers: Mapping[str, Any] = field(default_factory=dict)
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class QuestionnaireTask:
    part: QuestionnairePart
    index: int
    instrument: Instrument

    def initial(self, pauses: Pauses) -> QuestionnaireState:
        return QuestionnaireState()

    def decide(self, state: QuestionnaireState, command: Command, now_ns: int) -> Sequence[Draft]:
        if state.outcome is not None:
            return ()
        stage = self.part.id
        match command:
            case Answer(item, value):
                try:
                    checked = self.instrument.item(item).check(value)
                except (KeyError, ValueError):
                    return ()
                if state.answers.get(item) == checked:
                    return ()
                return (Draft(ResponseChanged(self.instrument.id, item, checked), stage),)
            case Next() if not self.instrument.missing(state.answers):
                answers = dict(state.answers)
                return (
                    Draft(
                        QuestionnaireSubmitted(
                            self.instrument.id, self.instrument.version, answers
                        ),
                        stage,
                    ),
                    Draft(PartEnded(self.index, "completed"), stage),
                )
            case SkipStage():
                return (Draft(PartEnded(self.index, "skipped"), stage),)
        return ()

    def apply(self, state: QuestionnaireState, event: Event, body: Body) -> QuestionnaireState:
        match body:
            case ResponseChanged():
                return replace(state, answers={**state.answers, body.item: body.value})
            case PartEnded():
                return replace(state, outcome=body.outcome)
        return state

    def next_deadline(self, state: QuestionnaireState) -> int | None:
        return None

    def wants_begin(self, state: QuestionnaireState) -> bool:
        return False
