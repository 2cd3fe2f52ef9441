"""The questionnaire as a state machine: pages, taken-back answers, items once a stage."""

from __future__ import annotations

from typing import Any

import pytest

from labapp.record.events.commands import Back, Command, Next, SkipStage
from labapp.record.events.registry import Event, Pauses, Source
from labapp.study.instruments import Instrument
from labapp.study.plan import QuestionnairePart
from labapp.tasks.questionnaire.machine import Answer, QuestionnaireState, QuestionnaireTask

FILE: dict[str, Any] = {
    "id": "paged",
    "version": 2,
    "title": "Paged",
    "source": "made for tests",
    "per_page": 2,
    "scale": {"points": 3, "low": "no", "high": "yes"},
    "items": [
        {"id": "a", "kind": "statement", "text": "A"},
        {"id": "b", "kind": "written", "text": "B", "required": False},
        {"id": "easy", "kind": "statement", "text": "Stage {stage}", "repeat": "stages"},
    ],
}


class Sheet:
    """Plays one questionnaire and keeps its events."""

    def __init__(self, *items: str) -> None:
        part = QuestionnairePart(
            id="q", title="", instrument="paged", about=None, items=items or ("a", "b", "easy_1")
        )
        self.task = QuestionnaireTask(part, 4, Instrument.model_validate(FILE))
        self.state: QuestionnaireState = self.task.initial(Pauses())
        self.payloads: list[Any] = []

    def send(self, *commands: Command) -> int:
        """How many events the commands gave."""
        before = len(self.payloads)
        for command in commands:
            for unstamped in self.task.decide(self.state, command, 0):
                event = Event(
                    seq=1,
                    segment=1,
                    t_ns=0,
                    utc="",
                    source=Source.PARTICIPANT,
                    kind=unstamped.payload.kind,
                    v=1,
                    part_id="q",
                    trial=None,
                    attempt=None,
                    payload={},
                )
                self.state = self.task.apply(self.state, event, unstamped.payload)
                self.payloads.append(unstamped.payload)
        return len(self.payloads) - before


def test_pages_go_on_when_theirs_is_answered_and_back_at_any_time() -> None:
    sheet = Sheet()
    assert not sheet.send(Next()), "a is required"
    assert not sheet.send(Back()), "the first page"
    sheet.send(Answer("a", 2), Next())
    assert sheet.state.page == 1
    assert not sheet.send(Next()), "easy_1 is required"
    sheet.send(Back())
    assert (sheet.state.page, sheet.state.answers) == (0, {"a": 2})
    sheet.send(Next(), Answer("easy_1", 3), Next())
    assert sheet.state.outcome == "completed"
    assert sheet.payloads[-2].answers == {"a": 2, "easy_1": 3}
    assert sheet.payloads[-2].instrument_version == 2


def test_an_answer_taken_back_is_not_handed_in() -> None:
    sheet = Sheet("a", "b")
    sheet.send(Answer("a", 1), Answer("b", "x"), Answer("b", ""))
    assert sheet.state.answers == {"a": 1, "b": ""}
    sheet.send(Next())
    assert sheet.payloads[-2].answers == {"a": 1}


def test_the_same_answer_in_other_words_is_no_change() -> None:
    sheet = Sheet("a", "b")
    assert sheet.send(Answer("b", "x")) == 1
    assert sheet.send(Answer("b", " x ")) == 0


def test_items_are_asked_in_the_order_of_the_plan() -> None:
    sheet = Sheet("easy_2", "a", "easy_1")
    assert [item.id for item in sheet.task.instrument.items] == ["easy_2", "a", "easy_1"]
    assert sheet.task.instrument.items[0].text == "Stage 2"
    assert not sheet.send(Answer("b", "not asked")), "an item of the file that is not asked"


@pytest.mark.parametrize("page", [0, 1])
def test_the_moderator_can_skip_it_on_any_page(page: int) -> None:
    sheet = Sheet()
    sheet.send(Answer("a", 2), *[Next()] * page, SkipStage())
    assert sheet.state.outcome == "skipped"
    assert not sheet.send(Answer("a", 3), Next())
