"""Whatever is answered in whatever order, a questionnaire is handed in whole and replays."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.record.events.commands import Back, Command, Next, Pause, Resume, StayHere, TakeBackSkip
from labapp.session.machine import SessionMachine
from labapp.study.instruments import Instrument
from labapp.study.plan import QuestionnairePart
from labapp.tasks.questionnaire.machine import Answer, QuestionnaireState, QuestionnaireTask
from labapp.tasks.questionnaire.simulated import answer
from tests.helpers.nightly import examples
from tests.helpers.play import Play
from tests.properties.commands import UNDOING

OPTIONS = [
    {"id": "a", "text": "A"},
    {"id": "own", "text": "O", "describe": True},
    {"id": "none", "text": "N", "alone": True},
]
FILE = Instrument.model_validate(
    {
        "id": "every-kind",
        "version": 1,
        "title": "Every kind",
        "source": "made for tests",
        "per_page": 2,
        "scale": {"points": 3, "first": 0, "low": "no", "high": "yes"},
        "items": [
            {"id": "scale", "text": "S", "points": 5, "low": "no", "high": "yes"},
            {"id": "choice", "kind": "choice", "text": "C", "options": OPTIONS},
            {"id": "say", "kind": "statement", "text": "S {stage}", "repeat": "stages"},
            {"id": "some", "kind": "choices", "text": "C", "options": OPTIONS, "required": False},
            {"id": "words", "kind": "written", "text": "W", "required": False},
        ],
    }
)
ITEMS = ("words", "say_2", "choice", "scale", "some", "say_1")

chosen = st.lists(st.sampled_from(["a", "own", "none", "else"]), max_size=3)
choices = st.one_of(
    st.builds(lambda ids: {"chosen": ids}, chosen),
    st.builds(lambda ids, said: {"chosen": ids, "described": said}, chosen, st.text(max_size=9)),
)
values: st.SearchStrategy[Any] = st.one_of(st.integers(-1, 6), choices, st.text(max_size=9))
commands: st.SearchStrategy[Command] = st.one_of(
    st.builds(Answer, st.sampled_from([*ITEMS, "say", "say_3"]), values),
    st.builds(Answer, st.sampled_from(ITEMS), st.integers(0, 3)),
    st.builds(Next),
    st.builds(Back),
)
rare: st.SearchStrategy[Command] = st.one_of(
    UNDOING, st.builds(Pause, st.just("x")), st.builds(Resume, st.just("x"))
)


@settings(max_examples=examples(200))
@given(st.lists(st.one_of(*[commands] * 6, rare), max_size=60))
def test_any_course_of_answers(course: list[Command]) -> None:
    part = QuestionnairePart(id="q", title="", instrument="every-kind", about=None, items=ITEMS)
    task = QuestionnaireTask(part, 0, FILE)
    play = Play(SessionMachine((part,), (task,), {})).start()
    for command in course:
        play.send(command)
        if play.state.running and play.state.part_state is not None:
            assert 0 <= play.state.part_state.page < len(task.instrument.pages)
            for item, value in play.state.part_state.answers.items():
                assert task.instrument.item(item).check(value) == value, "as it is stored"
    _finish(play, task)
    assert play.machine.fold(play.events) == play.state
    (ended,) = (event.payload["outcome"] for event in play.events if event.kind == "part.ended")
    submitted = [event for event in play.events if event.kind == "questionnaire.submitted"]
    assert len(submitted) == (ended == "completed")
    for event in submitted:
        given_ = event.payload["answers"]
        assert not task.missing(QuestionnaireState(answers=given_))
        assert set(given_) <= set(ITEMS)


def _finish(play: Play, task: QuestionnaireTask) -> None:
    """Answer what is missing and go on: that leads out from wherever the course led."""
    for free in (TakeBackSkip("part"), StayHere(), Resume("to finish")):
        play.send(free)
    rng = np.random.default_rng(1)
    for _ in task.instrument.pages:
        if play.state.running:
            for item in task.missing(play.state.part_state):
                play.send(Answer(item.id, answer(item, rng)))
            play.send(Next())
