"""Consent, pages, the tutorial and questionnaires."""

from __future__ import annotations

import math

from labapp.record.events.commands import (
    AddNote,
    Back,
    DeclineConsent,
    EndSession,
    GiveConsent,
    Next,
)
from labapp.session.machine import SessionMachine
from labapp.tasks.judging.events import OpenDescription
from labapp.tasks.judging.plan import JudgingTask, MethodPart
from labapp.tasks.judging.task import MethodMachine
from labapp.tasks.questionnaire.machine import Answer
from labapp.tasks.reconstruction.events import MoveTutorialDial
from tests.helpers.play import Play, stage_part, whole_machine
from tests.helpers.play_judging import explained
from tests.helpers.skips import skip_stage


def at(part_id: str) -> Play:
    play = Play(whole_machine(stage_part())).start()
    play.send(GiveConsent())
    while (part := play.machine.part(play.state)) is not None and part.id != part_id:
        skip_stage(play)
    return play


def test_consent_cannot_be_skipped_and_declining_ends_the_session() -> None:
    play = Play(whole_machine(stage_part())).start()
    assert not skip_stage(play)
    assert not play.send(Next())
    play.send(DeclineConsent())
    ends = ["consent.declined", "part.ended", "inclusion.decided", "session.ended"]
    assert play.kinds()[-4:] == ends
    assert play.state.ended == "consent declined"
    assert not play.send(EndSession("again"))


def test_pages_turn_both_ways_and_end_after_the_last() -> None:
    play = at("text-1")
    assert not play.send(Back())
    play.send(Next())
    play.send(Back())
    for _ in range(3):
        play.send(Next())
    pages = [e.payload["page"] for e in play.events if e.kind == "page.turned"]
    assert pages == [1, 0, 1, 2]
    part = play.machine.part(play.state)
    assert part is not None
    assert part.id == "tutorial"


def test_tutorial_dials_are_put_on_their_steps() -> None:
    play = at("tutorial")
    play.send(MoveTutorialDial(0, 1, 0.123))
    assert play.state.part_state.dials == ((0.0, 0.12, 0.5),)
    for box, dimension, value in ((1, 0, 0.0), (0, 3, 0.0), (0, -1, 0.0), (0, 1, math.nan)):
        assert not play.send(MoveTutorialDial(box, dimension, value))


def test_the_whole_tree_is_opened_from_the_introduction_to_a_method() -> None:
    def method(task: JudgingTask) -> Play:
        part = MethodPart(
            id="method",
            title="",
            document="d.md",
            task=task,
            explained=explained(task),
            labels=False,
            correct=None,
            incorrect=None,
            values={},
        )
        return Play(SessionMachine((part,), (MethodMachine(part, 0, 2),), {})).start()

    play = method("path-agreement")
    assert not play.send(OpenDescription("method")), "it is on the screen already"
    play.send(OpenDescription("tree"))
    assert play.state.part_state.description == "tree"
    play.send(Next())
    play.send(Next())
    assert play.kinds()[2:6] == [
        "description.opened",
        "page.turned",
        "description.closed",
        "part.ended",
    ]
    assert not method("heatmap-distinction").send(OpenDescription("tree")), "there is none"


def test_a_questionnaire_is_left_with_its_required_answers() -> None:
    play = at("questionnaire-1")
    assert not play.send(Next())
    for value in (0, 8, "3", None, True, 2.5):
        assert not play.send(Answer("ease", value)), value
    assert not play.send(Answer("no such item", 1))
    play.send(Answer("joy", 5))
    assert not play.send(Next()), "ease is required"
    play.send(Answer("ease", 3))
    assert not play.send(Answer("ease", 3)), "the same again is no change"
    play.send(Answer("ease", 4))
    play.send(Next())
    (submitted,) = (e for e in play.events if e.kind == "questionnaire.submitted")
    assert submitted.payload["answers"] == {"joy": 5, "ease": 4}


def test_notes_count_after_the_last_screen() -> None:
    play = at("debrief")
    for _ in range(3):
        play.send(Next())
    assert play.state.ended == "completed"
    assert play.send(AddNote("asked for the results", 5))
    assert not play.send(EndSession("late"))
    assert play.state.ended == "completed"
