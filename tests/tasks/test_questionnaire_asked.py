"""Which items a questionnaire asks: conditions on answers and on variables, page by page."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.record.events.commands import Back, Begin, Command, Next
from labapp.record.events.registry import Event, Pauses, Source
from labapp.study.instruments import Instrument
from labapp.study.plan import QuestionnairePart
from labapp.tasks.questionnaire.machine import Answer, QuestionnaireTask

FILE: dict[str, Any] = {
    "id": "use",
    "version": 1,
    "title": "Use",
    "source": "made for tests",
    "per_page": 2,
    "scale": {"points": 3, "low": "no", "high": "yes"},
    "scores": {"both": {"mean": ["used", "trust"]}},
    "items": [
        {"id": "used", "kind": "statement", "text": "Used"},
        {"id": "often", "kind": "statement", "text": "Often", "only_if": {"used": [2, 3]}},
        {"id": "why", "kind": "written", "text": "Why", "only_if": {"often": 3}},
        {"id": "how", "kind": "written", "text": "How", "only_if": {"used": 1}},
        {"id": "trust", "kind": "statement", "text": "Trust", "only_if": {"hint": "with"}},
        {"id": "last", "kind": "slider", "text": "L", "only_if": {"before.like": ["a", "c"]}},
    ],
}


class Sheet:
    """Plays one questionnaire and keeps its events."""

    def __init__(self, hint: str = "with", like: tuple[str, ...] = ("a", "b")) -> None:
        part = QuestionnairePart(
            id="q", title="", instrument="use", about=None, variables={"hint": hint}
        )
        self.task = QuestionnaireTask(part, 4, Instrument.model_validate(FILE))
        before = {"before.like": like, "before.other": (1,)}
        self.state = self.task.told(self.task.initial(Pauses()), before)
        self.payloads: list[Any] = []

    def send(self, *commands: Command) -> int:
        """How many events the commands gave."""
        before = len(self.payloads)
        for command in commands:
            for unstamped in self.task.decide(self.state, command, 0):
                kind = unstamped.payload.kind
                event = Event(1, 1, 0, "", Source.PARTICIPANT, kind, 1, "q", None, None, {})
                self.state = self.task.apply(self.state, event, unstamped.payload)
                self.payloads.append(unstamped.payload)
        return len(self.payloads) - before

    @property
    def ids(self) -> frozenset[str]:
        return self.task.asked(self.state).ids


def test_what_was_answered_before_shows_and_hides() -> None:
    sheet = Sheet()
    assert sheet.ids == {"used", "trust", "last"}
    assert not sheet.send(Answer("often", 2)), "it is not asked"
    sheet.send(Answer("used", 2))
    assert sheet.ids == {"used", "often", "trust", "last"}
    assert [item.id for item in sheet.task.missing(sheet.state, 0)] == ["often"]
    assert not sheet.send(Next())
    sheet.send(Answer("often", 3), Next(), Answer("why", "because"))
    sheet.send(Back(), Answer("used", 1), Next())
    assert sheet.ids == {"used", "how", "trust", "last"}, "what often said does not decide any more"
    assert [item.id for item in sheet.task.missing(sheet.state)] == ["how", "trust"]
    sheet.send(Answer("how", "so"), Next(), Answer("trust", 1), Next())
    submitted = sheet.payloads[-2]
    assert submitted.not_asked == ("often", "why")
    assert submitted.answers == {
        "used": 1,
        "how": "so",
        "trust": 1,
        "last": {"value": 0, "touched": False},
    }
    assert submitted.as_dict()["not_asked"] == ("often", "why")
    changed = [payload for payload in sheet.payloads if payload.kind == "response.changed"]
    assert [payload.item for payload in changed] == [
        *("used", "often", "why", "used", "how", "trust")
    ], "the events stay"
    scores = sheet.task.instrument.scores
    assert isinstance(scores, dict)
    assert scores["both"].of(submitted.answers) == 1.0


def test_back_again_an_answer_that_was_hidden_counts_again() -> None:
    sheet = Sheet()
    sheet.send(Answer("used", 2), Answer("often", 3), Answer("used", 1))
    assert "often" not in sheet.ids
    sheet.send(Answer("used", 3))
    assert "often" in sheet.ids
    assert not sheet.task.missing(sheet.state, 0)


def test_pages_of_which_nothing_is_asked_are_passed_over() -> None:
    sheet = Sheet("without", ("b",))
    sheet.send(Answer("used", 3), Answer("often", 1))
    assert sheet.task.pages_asked(sheet.state) == (0,)
    assert sheet.send(Next()) == 2, "the first page is the last one"
    assert sheet.payloads[-2].not_asked == ("why", "how", "trust", "last")
    sheet = Sheet()
    sheet.send(Answer("used", 3), Answer("often", 1), Next())
    assert sheet.state.page == 2
    sheet.send(Back())
    assert sheet.state.page == 0


def test_a_questionnaire_of_which_nothing_is_asked_is_over_at_once() -> None:
    file = FILE | {"scores": None, "items": [FILE["items"][4]]}
    part = QuestionnairePart(
        id="q", title="", instrument="use", about=None, variables={"hint": "without"}
    )
    task = QuestionnaireTask(part, 4, Instrument.model_validate(file))
    state = task.told(task.initial(Pauses()), {})
    assert task.wants_begin(state)
    submitted, ended = (unstamped.payload for unstamped in task.decide(state, Begin(), 0))
    assert (submitted.answers, submitted.not_asked) == ({}, ("trust",))
    assert ended.outcome == "completed"
    shown = task.at_page(state, 0)
    assert not task.wants_begin(shown), "a preview shows it"
    assert task.asked(shown).ids == {"trust"}
    assert not Sheet().send(Begin())


def test_only_what_was_submitted_is_told_to_later_parts() -> None:
    sheet = Sheet(like=())
    sheet.send(Answer("used", 3), Answer("often", 1), Next(), Answer("trust", 2))
    assert sheet.task.answers(sheet.state) == {}
    sheet.send(Next())
    assert sheet.task.answers(sheet.state) == {
        "use.used": (3,),
        "use.often": (1,),
        "use.why": (),
        "use.how": (),
        "use.trust": (2,),
        "use.last": (),
    }


def test_room_is_kept_for_what_an_answer_on_the_same_page_adds() -> None:
    sheet = Sheet()
    first, second, third = sheet.task.instrument.pages
    asked = sheet.task.asked(sheet.state)
    assert asked.awaited(first) == {"often"}
    assert asked.awaited(second) == asked.awaited(third) == frozenset(), "decided on another page"


@pytest.mark.parametrize("like", [(), ("b",), ("a",), ("b", "c")])
def test_any_of_the_chosen_options_decides(like: tuple[str, ...]) -> None:
    assert ("last" in Sheet(like=like).ids) is bool({"a", "c"} & {*like})


ANSWERS = st.lists(
    st.one_of(
        st.builds(Answer, st.sampled_from(["used", "often", "trust"]), st.integers(1, 3)),
        st.builds(Answer, st.sampled_from(["why", "how"]), st.sampled_from(["", "x"])),
        st.just(Next()),
        st.just(Back()),
    ),
    max_size=25,
)


@given(ANSWERS, st.sampled_from(["with", "without"]))
def test_whatever_is_done_what_is_submitted_is_what_is_asked(
    commands: list[Command], hint: str
) -> None:
    sheet = Sheet(hint)
    for command in commands:
        sheet.send(command)
        assert sheet.state.outcome or sheet.state.page in sheet.task.pages_asked(sheet.state)
    items = [item.id for item in sheet.task.instrument.items]
    if sheet.state.outcome:
        submitted = sheet.payloads[-2]
        assert set(submitted.answers).isdisjoint(submitted.not_asked)
        assert {*submitted.answers, *submitted.not_asked} == set(items)
        assert sheet.ids == set(submitted.answers)
