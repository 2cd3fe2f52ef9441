"""A questionnaire: every change of an answer is an event. A page, or the questionnaire, can be left
only with its required answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from labapp.events import Event, Payload, UnstampedEvent
from labapp.events.commands import Back, Command, Next, SkipStage
from labapp.events.durations import Pauses
from labapp.events.lifecycle import PageTurned, PartEnded
from labapp.events.questionnaires import QuestionnaireSubmitted, ResponseChanged
from labapp.plugins.machine import PartMachine
from labapp.study.instruments import Instrument
from labapp.study.parts import QuestionnairePart
from labapp.tasks.questionnaire.commands import Answer


@dataclass(frozen=True, slots=True)
class QuestionnaireState:
    """page counts from 0."""

    answers: Mapping[str, Any] = field(default_factory=dict)
    page: int = 0
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class QuestionnaireTask(PartMachine[QuestionnaireState]):
    """instrument: as in its file; the part's items and their order are taken here."""

    part: QuestionnairePart
    index: int
    instrument: Instrument

    def __post_init__(self) -> None:
        realised = self.instrument.realised(self.part.items, self.part.values)
        object.__setattr__(self, "instrument", realised)

    def initial(self, pauses: Pauses) -> QuestionnaireState:
        return QuestionnaireState()

    def page_count(self) -> int:
        return len(self.instrument.pages)

    def page(self, state: QuestionnaireState) -> int:
        return state.page

    def at_page(self, state: QuestionnaireState, page: int) -> QuestionnaireState:
        return replace(state, page=page)

    def place(self, state: QuestionnaireState) -> str:
        missing = self.instrument.missing(state.answers, state.page)
        items = ", ".join(repr(item.id) for item in missing)
        return f"page {state.page + 1}" + (f": no answer to {items}" if missing else "")

    def decide(
        self, state: QuestionnaireState, command: Command, now_ns: int
    ) -> Sequence[UnstampedEvent]:
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
                return (UnstampedEvent(ResponseChanged(self.instrument.id, item, checked), stage),)
            case Next() if state.page + 1 < len(self.instrument.pages):
                if self.instrument.missing(state.answers, state.page):
                    return ()
                return (UnstampedEvent(PageTurned(state.page + 1), stage),)
            case Next() if not self.instrument.missing(state.answers):
                return (
                    UnstampedEvent(
                        QuestionnaireSubmitted(
                            self.instrument.id,
                            self.instrument.version,
                            self.instrument.untouched() | self.instrument.given(state.answers),
                        ),
                        stage,
                    ),
                    UnstampedEvent(PartEnded(self.index, "completed"), stage),
                )
            case Back() if state.page > 0:
                return (UnstampedEvent(PageTurned(state.page - 1), stage),)
            case SkipStage():
                return (UnstampedEvent(PartEnded(self.index, "skipped"), stage),)
        return ()

    def apply(
        self, state: QuestionnaireState, event: Event, payload: Payload
    ) -> QuestionnaireState:
        match payload:
            case ResponseChanged():
                return replace(state, answers={**state.answers, payload.item: payload.value})
            case PageTurned():
                return replace(state, page=payload.page)
            case PartEnded():
                return replace(state, outcome=payload.outcome)
        return state
