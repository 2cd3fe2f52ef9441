"""Whatever happens in a session, its end says whether it counts, and says it rightly."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.record.events.commands import (
    Command,
    DeclineConsent,
    EndSession,
    GiveConsent,
    Next,
    Resume,
    Skip,
    SkipStage,
)
from labapp.session.machine import SessionMachine
from labapp.study.inclusion import Inclusion
from labapp.tasks.questionnaire.machine import Answer
from labapp.tasks.reconstruction.events import MoveDial
from tests.helpers.nightly import EVERYTHING, examples
from tests.helpers.play import Play, stage_part, whole_machine
from tests.helpers.play_single import SinglePlay, single_part, single_task
from tests.helpers.skips import skip_stage

COURSES = st.lists(
    st.one_of(
        st.just(Next()),
        st.just(Next()),
        st.just(Answer("ease", 4)),
        st.just(SkipStage()),
        st.just(Skip()),
        st.builds(MoveDial, st.integers(0, 2), st.sampled_from([0.0, 0.5, 1.0]), st.just("mouse")),
        st.just("crash"),
    ),
    max_size=50,
)
ALIGNMENTS = st.sampled_from([0.0, 1.0, 1.0])
RULES = st.builds(Inclusion, completed=st.booleans(), min_solved=st.integers(0, 3))
ENDS = st.sampled_from(
    [EndSession("late"), EndSession("left", "keep"), EndSession("left", "delete")]
)


@settings(max_examples=120 if EVERYTHING else 12)
@given(COURSES, RULES, ENDS, st.sampled_from([True] * 9 + [False]), st.booleans(), ALIGNMENTS)
def test_every_session_that_ends_says_whether_it_counts(
    course: list[Command | str],
    rules: Inclusion,
    end: EndSession,
    agrees: bool,
    restarts: bool,
    alignment: float,
) -> None:
    machine = whole_machine(
        stage_part("practice", role="practice", trials=1),
        stage_part("stage-1", skip="always"),
        stage_part("stage-2"),
    )
    machine.rules, machine.restarts = rules, restarts
    # What was solved before a stage began again is not solved in the next attempt.
    play = Play(machine, alignment=lambda trial: alignment * (trial.attempt == 1)).start()
    play.send(GiveConsent() if agrees else DeclineConsent())
    while agrees and (part := machine.part(play.state)) is not None and part.id != "practice":
        play.send(Next())
    for command in course:
        if isinstance(command, str):
            play.crash(0.5)
            play.send(Resume("again"))
        else:
            play.send(command)
    play.send(end)
    assert machine.fold(play.events) == play.state
    assert play.kinds().count("inclusion.decided") == 1
    at = play.kinds().index("inclusion.decided")
    decided, ended = play.events[at : at + 2]
    assert ended.kind in ("session.completed", "session.ended")

    again = {e.part_id: e.seq for e in play.events if e.kind == "part.restarted"}
    solved = [
        e
        for e in play.events
        if e.kind == "trial.solved" and e.part_id != "practice" and e.seq > again.get(e.part_id, 0)
    ]
    left_out = {
        e.part_id
        for e in play.events
        if e.kind == "part.ended" and e.payload["outcome"] == "skipped"
    } & {"practice", "stage-1", "stage-2"}
    completed = ended.kind == "session.completed" and not left_out
    expected = [
        *(["completed"] if rules.completed and not completed else []),
        *(["min_solved"] if len(solved) < rules.min_solved else []),
        *(["withdrawn"] if ended.payload.get("withdrawal") else []),
    ]
    assert decided.payload["failed"] == expected
    assert decided.payload["included"] is not bool(expected)
    assert decided.payload["facts"]["solved"] == len(solved)


@settings(max_examples=examples(60))
@given(st.lists(st.booleans(), max_size=3), st.lists(st.booleans(), max_size=4))
def test_a_practice_counts_only_when_all_of_it_was_answered_rightly(
    practice: list[bool], answers: list[bool]
) -> None:
    parts = (
        single_part(id="practice", role="practice", asked=(0, 0, 1)),
        single_part(asked=(1, 1, 2, 2)),
    )
    tasks = [single_task(part, index=index) for index, part in enumerate(parts)]
    rules = Inclusion(completed=False, practice_correct=True)
    play = SinglePlay(SessionMachine(parts, tasks, {}, rules))
    play.start()
    for right in practice:
        play.answer(right=right)
        play.send(Next())
    if len(practice) < 3:
        skip_stage(play)
    for right in answers:
        play.answer(right=right)
        play.send(Next())
    play.send(EndSession("late"))
    decided = play.events[-2].payload
    assert decided["included"] is (practice == [True] * 3)
    assert decided["facts"]["correct"] == sum(answers)
    assert decided["facts"]["practice_correct"] == sum(practice)
