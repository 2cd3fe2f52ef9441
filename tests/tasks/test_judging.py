"""Judging explanations, photo by photo, and the warm-up before it."""

from __future__ import annotations

from typing import TypeVar

import pytest

from labapp.record.events import Payload, payload_of
from labapp.record.events.commands import AddFlag, Command, HandIn, Next, Pause, Resume
from labapp.tasks.judging.events import (
    CloseDescription,
    Judge,
    JudgementMade,
    OpenDescription,
    OpenSpecies,
    PerformanceComputed,
    PhotoJudged,
)
from labapp.tasks.judging.machine import JudgingTask as Task
from labapp.tasks.judging.plan import (
    ABSENT,
    AFTER_ABSENT,
    AFTER_PRESENT,
    AGREEMENT,
    DISTINCTION,
    DISTINCTION_CONFIDENCE,
    FIRST,
    KIND_OF,
    MISTAKE,
    OUTPUT,
    OUTPUT_CONFIDENCE,
    PRESENT,
    VERDICT,
    WRONG,
    JudgingTask,
)
from tests.helpers.play_judging import JudgingPlay
from tests.helpers.skips import skip_stage

P = TypeVar("P", bound=Payload)
TASKS: tuple[JudgingTask, ...] = tuple(KIND_OF)


def judge(question: str, value: int) -> Judge:
    return Judge(question, value, "mouse")


def payloads_of(play: JudgingPlay, kind: type[P]) -> list[P]:
    return [payload for event in play.events if isinstance(payload := payload_of(event), kind)]


def test_a_photo_is_drawn_shown_answered_and_left() -> None:
    play = JudgingPlay.of()
    assert play.kinds()[1:] == ["part.started", "photo.drawn", "photo.shown"]
    assert play.events[2].payload == {
        "photo": "photo-1",
        "set": 3,
        "truth": "gull",
        "prediction": "gull",
    }
    assert not play.send(Next()), "nothing was answered"
    for question, value in ((OUTPUT, 2), (OUTPUT_CONFIDENCE, 5), (DISTINCTION, 1)):
        assert play.send(judge(question, value))
        assert not play.send(judge(question, value)), "the same again"
        assert not play.send(Next()), "something is missing"
    play.send(judge(DISTINCTION, 3))
    play.send(judge(DISTINCTION_CONFIDENCE, 1))
    play.send(Next())
    (judged,) = payloads_of(play, PhotoJudged)
    assert judged == PhotoJudged(
        {OUTPUT: 2, OUTPUT_CONFIDENCE: 5, DISTINCTION: 3, DISTINCTION_CONFIDENCE: 1},
        {OUTPUT: True, DISTINCTION: False},
    )
    assert play.kinds()[-4:] == ["photo.judged", "trial.ended", "photo.drawn", "photo.shown"]
    assert play.judging.outcomes == ("judged",)
    assert play.photo is not None
    assert (play.photo.number, dict(play.photo.answers)) == (2, {})


@pytest.mark.parametrize("task", TASKS)
def test_every_task_is_gone_through_to_its_end(task: JudgingTask) -> None:
    play = JudgingPlay.of(task)
    play.through()
    assert play.state.ended == "completed"
    assert play.judging.outcomes == ("judged",) * 4
    kinds = play.kinds()
    at = kinds.index("performance.computed")
    assert kinds[at - 2 : at + 2] == [
        "photo.judged",
        "trial.ended",
        "performance.computed",
        "part.ended",
    ]
    (payload,) = payloads_of(play, PerformanceComputed)
    assert payload.photos == 4
    if DISTINCTION in payload.right:
        assert payload.right[DISTINCTION] == 4
    assert (payload.hits is not None) == (AGREEMENT in payload.right)
    assert play.state.result is not None
    assert play.state.result.value.performance == payload
    assert set(play.state.result.value.answers) == {1, 2, 3, 4}


@pytest.mark.parametrize(
    "command",
    [
        judge(OUTPUT, 0),
        judge(OUTPUT, 5),
        judge(OUTPUT_CONFIDENCE, 6),
        judge(AGREEMENT, 2),
        judge("similarity_1", 2),
        judge(FIRST, 1),
        OpenSpecies(2),
        HandIn(),
        OpenDescription("tree"),
        OpenDescription("something"),
        CloseDescription("method"),
        CloseDescription(""),
    ],
)
def test_what_the_photo_does_not_ask_leads_to_nothing(command: Command) -> None:
    assert not JudgingPlay.of().send(command)


def test_the_answer_about_the_branch_left_is_taken_back() -> None:
    play = JudgingPlay.of("path-distinction")
    assert not play.send(judge(AFTER_ABSENT, PRESENT)), "no branch is taken yet"
    play.send(judge(FIRST, ABSENT))
    assert not play.send(judge(AFTER_PRESENT, PRESENT)), "the other branch"
    play.send(judge(AFTER_ABSENT, PRESENT))
    play.send(judge(DISTINCTION_CONFIDENCE, 4))
    events = play.send(judge(FIRST, PRESENT))
    assert [unstamped.payload for unstamped in events] == [
        JudgementMade(FIRST, PRESENT, "mouse"),
        JudgementMade(AFTER_ABSENT, None, "mouse"),
    ]
    assert play.photo is not None
    assert play.photo.answers == {FIRST: PRESENT, DISTINCTION_CONFIDENCE: 4}
    assert not play.send(Next()), "the step of the branch is missing"
    play.send(judge(FIRST, ABSENT))
    assert AFTER_ABSENT not in play.photo.answers, "it is asked anew"
    play.send(judge(AFTER_ABSENT, PRESENT))
    play.send(Next())
    (judged,) = payloads_of(play, PhotoJudged)
    # The photo is a gull: absent, then present.
    assert judged.right == {FIRST: True, AFTER_ABSENT: True, DISTINCTION: True}


def test_the_rows_of_another_class_are_opened_and_the_first_again_at_the_next_photo() -> None:
    play = JudgingPlay.of("prototype-distinction")
    assert not play.send(OpenSpecies(1)), "open already"
    assert not play.send(OpenSpecies(0))
    assert not play.send(OpenSpecies(5))
    play.send(OpenSpecies(3))
    assert play.photo is not None
    assert play.photo.option == 3
    play.answer()
    play.send(Next())
    assert (play.photo.number, play.photo.option) == (2, 1)


def test_the_description_opens_at_any_time_and_closes_with_the_stage() -> None:
    play = JudgingPlay.of("path-agreement")
    (unstamped,) = play.send(OpenDescription("method"))
    assert (unstamped.payload.kind, unstamped.trial, unstamped.attempt) == (
        "description.opened",
        1,
        1,
    )
    assert not play.send(OpenDescription("method"))
    assert [d.payload.kind for d in play.send(OpenDescription("tree"))] == [
        "description.closed",
        "description.opened",
    ]
    assert play.judging.description == "tree"
    play.answer()
    play.send(Next())
    assert play.judging.description == "tree", "a photo that follows changes nothing"
    play.send(CloseDescription("tree"))
    assert play.judging.description == ""
    play.send(OpenDescription("method"))
    skip_stage(play)
    ended = play.kinds().index("part.ended")
    assert play.kinds()[ended - 3 : ended] == [
        "trial.ended",
        "description.closed",
        "performance.computed",
    ]


def test_what_time_leaves_unanswered_does_not_count() -> None:
    play = JudgingPlay.of(time_limit_s=60.0)
    play.wait(30)
    play.answer()
    play.send(Next())
    play.wait(40)
    assert play.state.records[0].outcome == "time_expired"
    assert play.judging.outcomes == ("judged", "time_expired")
    (payload,) = payloads_of(play, PerformanceComputed)
    assert (payload.photos, payload.right) == (1, {OUTPUT: 1, DISTINCTION: 1})


def test_a_broken_off_stage_begins_again_with_a_new_attempt() -> None:
    play = JudgingPlay.of()
    play.machine.restarts = True
    play.answer()
    play.send(Next())
    play.send(judge(OUTPUT, 1))
    play.crash(5)
    play.send(Pause("after a crash"))
    play.send(Resume("on"))
    assert play.photo is not None
    assert (play.photo.number, play.photo.attempt, play.judging.attempt) == (1, 2, 2)
    assert dict(play.judging.judged) == {}


def test_a_stage_that_begins_again_closes_the_description_first() -> None:
    play = JudgingPlay.of()
    play.machine.restarts = True
    play.send(OpenDescription("method"))
    play.crash(5)
    assert play.judging.description == "method"
    play.send(Pause("after a crash"))
    play.send(Resume("on"))
    again = play.kinds().index("part.restarted")
    assert play.kinds()[again - 1 : again + 2] == [
        "description.closed",
        "part.restarted",
        "photo.drawn",
    ]
    assert play.judging.description == ""


def test_a_crash_inside_a_photo_keeps_its_answers() -> None:
    play = JudgingPlay.of()
    play.send(judge(OUTPUT, 1))
    play.crash(5)
    assert play.photo is not None
    assert (play.photo.attempt, play.photo.answers, play.photo.open) == (1, {OUTPUT: 1}, True)
    assert play.machine.fold(play.events) == play.state
    assert play.kinds().count("photo.shown") == 1


def test_a_flag_is_keyed_with_the_photo() -> None:
    play = JudgingPlay.of()
    (unstamped,) = play.send(AddFlag(1))
    assert (unstamped.part_id, unstamped.trial, unstamped.attempt) == ("stage-1", 1, 1)


def test_the_warm_up_is_handed_in_told_and_left() -> None:
    play = JudgingPlay.warm_up()
    assert not play.send(Next())
    play.send(judge(VERDICT, WRONG))
    play.send(judge(AGREEMENT, 1))
    assert not play.send(HandIn()), "the mistake is missing"
    assert not play.send(judge(MISTAKE, 5)), "three steps, and none"
    play.send(judge(MISTAKE, 2))
    play.send(HandIn())
    (payload,) = payloads_of(play, PhotoJudged)
    assert payload.right == {VERDICT: True, MISTAKE: False}
    assert play.photo is not None
    assert play.photo.judged
    for late in (judge(MISTAKE, 1), HandIn()):
        assert not play.send(late), "locked once told"
    play.send(Next())
    assert play.photo.number == 2
    play.through()
    assert play.state.ended == "completed"
    assert "performance.computed" not in play.kinds(), "it is practice"


def test_what_a_task_offers_besides() -> None:
    for task in TASKS:
        machine_task = JudgingPlay.of(task).task
        assert isinstance(machine_task, Task)
        tree = KIND_OF[task] == "path"
        assert machine_task.offered == (("method", "tree") if tree else ("method",))
