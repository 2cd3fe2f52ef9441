"""A skip that is taken back leaves no trace but its events; one that is confirmed is a skip."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, get_args

import pytest

from labapp.record.events import Event
from labapp.record.events.commands import (
    AskToLeave,
    Command,
    EndSession,
    GiveConsent,
    HandIn,
    Next,
    Pause,
    Reopen,
    Resume,
    Skip,
    SkipStage,
    StayHere,
    TakeBackSkip,
    Tick,
)
from labapp.session.machine import TAKE_BACK_NS, SessionMachine
from labapp.study.plugins import registry
from labapp.study.plugins.part import TrialsPart
from labapp.tasks.concept_repair.events import RepairDone, SetConcept, TickPair
from labapp.tasks.judging.events import Judge
from labapp.tasks.judging.plan import JudgingTask
from labapp.tasks.reconstruction.events import MoveDial
from tests.helpers.concepts import ConceptPlay, small_parts
from tests.helpers.play import NS, Play, stage_machine, stage_part, whole_machine
from tests.helpers.play_judging import JudgingPlay
from tests.helpers.play_single import SinglePlay
from tests.helpers.skips import skip_stage
from tests.helpers.unmasking import UnmaskingPlay

DRAWN = {
    "trial.drawn", "question.drawn", "photo.drawn", "stimulus.drawn", "concepts.drawn",
    "grid.drawn", "part.started",
}  # fmt: skip
PLAYS: dict[str, Callable[[], Any]] = {
    "reconstruction": lambda: Play(stage_machine(skip="always")).start(),
    "calibration": lambda: Play(stage_machine(skip="always", marks=True)).start(),
    "single-dimension": lambda: SinglePlay.of(1),
    "unmasking": UnmaskingPlay.of,
    "concept-repair": ConceptPlay.of,
    "concept-grid": lambda: ConceptPlay.of(small_parts()[1]),
    **{task: lambda task=task: JudgingPlay.of(task) for task in get_args(JudgingTask)},
    "warm-up": JudgingPlay.warm_up,
}
COMMANDS: tuple[Command, ...] = (
    Next(),
    HandIn(),
    MoveDial(1, 0.9, "mouse"),
    Judge("model", 1, "mouse"),
    Skip(),
    SetConcept(0, 1, "mouse"),
    TickPair(0, 1, "mouse"),
    RepairDone(),
    Tick(),
)


@pytest.fixture(params=PLAYS)
def play(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A stage of each task, some seconds into its first question."""
    made = PLAYS[request.param]()
    made.now_ns += 5 * NS
    yield made
    assert made.machine.fold(made.events) == made.state, "live and replayed are the same"


def kinds_since(play: Any, stored: int) -> list[str]:
    return [event.kind for event in play.events[stored:]]


def task_state(play: Any) -> Any:
    """What the task knows, without the clock."""
    return replace(play.state.part_state, pauses=None)


def test_nothing_of_what_comes_next_is_there_before_it_is_confirmed(play: Any) -> None:
    stored, working = len(play.events), play.working_ns()
    play.send(SkipStage())
    for command in COMMANDS:
        play.now_ns += NS // 10
        assert not play.send(command)
    assert kinds_since(play, stored) == ["skip.requested"]
    assert play.working_ns() == working, "the cover is in no duration"
    play.wait(3)
    assert kinds_since(play, stored)[:2] == ["skip.requested", "skip.confirmed"]
    assert "part.ended" in kinds_since(play, stored)
    assert play.events[stored + 1].t_ns == play.events[stored].t_ns + TAKE_BACK_NS


def test_taken_back_it_goes_on_as_it_was(play: Any) -> None:
    before, working = task_state(play), play.working_ns()
    stored, timed = len(play.events), play.machine.parts[play.state.index].timed
    play.send(SkipStage())
    play.now_ns += 2 * NS
    play.send(TakeBackSkip("part"))
    assert play.working_ns() == working
    since = kinds_since(play, stored)
    assert since[:2] == ["skip.requested", "skip.taken_back"]
    if timed:
        # What was on the screen has no reaction time any more: it is shown again.
        assert since[2:4] == ["trial.ended", "stimulus.drawn"]
        assert play.events[stored + 2].payload["outcome"] == "interrupted"
    else:
        assert since[2:] == []
        assert task_state(play) == before
    play.now_ns += 2 * TAKE_BACK_NS
    play.send(Tick())
    assert "skip.confirmed" not in play.kinds()


@pytest.mark.parametrize("end", ["pause", "crash", "end"])
def test_a_pause_a_crash_and_an_end_undo_it(play: Any, end: str) -> None:
    working = play.working_ns()
    play.send(SkipStage())
    play.now_ns += NS
    if end == "pause":
        play.send(Pause("knock"))
        play.now_ns += 7 * NS
        play.send(Resume("on"))
    elif end == "crash":
        play.crash(7)
        play.send(Resume("on"))
    else:
        play.send(EndSession("enough"))
        play.now_ns += 7 * NS
        play.send(Reopen(play.state.end_seq))
        assert play.state.pauses.paused, "who goes on has to be there first"
        play.send(Resume("on"))
    assert play.state.pending is None
    assert play.state.running
    assert play.working_ns() == working, "cover, pause and gap are counted out once"
    play.now_ns += 2 * TAKE_BACK_NS
    play.send(Tick())
    assert "part.ended" not in play.kinds()


def test_while_somebody_is_asked_whether_to_leave_nothing_moves(play: Any) -> None:
    before, working = task_state(play), play.working_ns()
    play.send(AskToLeave("escape"))
    stored = len(play.events)
    assert not play.send(AskToLeave("close")), "asked already"
    for command in COMMANDS:
        play.now_ns += NS
        assert not play.send(command)
    assert play.working_ns() == working
    play.send(StayHere())
    assert play.working_ns() == working
    assert kinds_since(play, stored)[0] == "close.withdrawn"
    if not play.machine.parts[play.state.index].timed:
        assert task_state(play) == before


def test_every_task_is_played() -> None:
    kinds = {
        kind
        for task_type in registry.task_types()
        for part in task_type.parts
        if issubclass(part, TrialsPart)
        for kind in registry.kinds_of(part)
    }
    played = {made().machine.parts[0].part for made in PLAYS.values()}
    assert played == kinds


def skipped(machine: SessionMachine) -> tuple[Play, Event]:
    """A question that was just skipped by its participant, and the last event."""
    play = Play(machine).start()
    play.now_ns += 5 * NS
    play.send(Skip())
    return play, play.events[-1]


def test_a_question_waits_before_it_is_left() -> None:
    play, last = skipped(stage_machine(skip="always"))
    assert (last.kind, last.payload, last.trial) == (
        "skip.requested",
        {"what": "trial", "index": 0, "to": None},
        1,
    )
    before = task_state(play)
    assert not play.send(Skip()), "a second Enter skips nothing more"
    assert not play.send(TakeBackSkip("part")), "it is no part that is skipped"
    play.send(TakeBackSkip("trial"))
    assert task_state(play) == before
    play.send(Skip())
    play.wait(3)
    assert play.kinds()[-4:] == ["skip.confirmed", "trial.ended", "trial.drawn", "trial.started"]
    ended = next(event for event in play.events if event.kind == "trial.ended")
    assert ended.payload == {"outcome": "skipped"}
    assert play.working_ns() == 5 * NS


def test_what_is_shown_as_published_is_skipped_at_once() -> None:
    part = stage_part(skip="always")
    machine = whole_machine(part)
    as_published = SessionMachine(machine.parts, machine.tasks, {}, takes_back=False)
    play = Play(as_published).start()
    for _ in range(3):
        play.send(Next())
    while play.trial is None:
        skip_stage(play) if play.state.index else play.send(GiveConsent())
    play.send(Skip())
    assert "skip.requested" not in [e.kind for e in play.events if e.part_id == part.id]
    assert [e.payload for e in play.events if e.kind == "trial.ended"] == [{"outcome": "skipped"}]


def test_a_moderator_who_skips_the_part_comes_before_the_participant() -> None:
    play, _ = skipped(stage_machine(skip="always"))
    play.now_ns += 2 * NS
    play.send(SkipStage())
    play.wait(2)
    assert "part.ended" not in play.kinds(), "three seconds from the moderator's"
    assert not play.send(TakeBackSkip("trial"))
    play.wait(1)
    assert play.state.ended == "completed"


def test_a_plan_that_is_done_is_not_reopened() -> None:
    play, _ = skipped(stage_machine(skip="always", trials=1))
    play.wait(3)
    assert play.state.ended == "completed"
    assert not play.send(Reopen(play.state.end_seq or 0))


def test_only_the_end_that_is_there_is_undone() -> None:
    play = Play(stage_machine()).start()
    play.send(EndSession("first"))
    first = play.state.end_seq
    assert not play.send(Reopen(1))
    play.send(Reopen(first or 0))
    play.send(Resume("on"))
    assert not play.send(Reopen(first or 0)), "it goes on already"
    play.send(EndSession("second"))
    assert not play.send(Reopen(first or 0))
    assert play.state.ended == "second"
