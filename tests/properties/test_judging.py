"""Whatever is asked in whatever order, a stage that judges explanations stays in order."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.record.events.commands import Command, HandIn, Next
from labapp.tasks.judging import performance
from labapp.tasks.judging.events import CloseDescription, Judge, OpenDescription, OpenSpecies
from labapp.tasks.judging.machine import JudgingTask as Machine
from labapp.tasks.judging.plan import (
    AFTER_ABSENT,
    AFTER_PRESENT,
    AGREEMENT,
    DISTINCTION,
    DISTINCTION_CONFIDENCE,
    FIRST,
    FIRST_STEP,
    KIND_OF,
    MISTAKE,
    OUTPUT,
    OUTPUT_CONFIDENCE,
    VERDICT,
    JudgingTask,
    applies,
)
from tests.helpers.nightly import examples
from tests.helpers.play_judging import JudgingPlay
from tests.properties.commands import BETWEEN

TASKS: tuple[JudgingTask, ...] = tuple(KIND_OF)
QUESTIONS = (
    *(OUTPUT, OUTPUT_CONFIDENCE, DISTINCTION, DISTINCTION_CONFIDENCE, AGREEMENT, FIRST_STEP),
    *(FIRST, FIRST, AFTER_ABSENT, AFTER_PRESENT, VERDICT, MISTAKE),
    *(f"similarity_{row}" for row in range(1, 10)),
)
devices = st.sampled_from(["mouse", "keyboard"])
JUDGE = st.builds(Judge, st.sampled_from(QUESTIONS), st.integers(-1, 6), devices)
RARE = st.one_of(
    st.builds(OpenSpecies, st.integers(-1, 6)),
    st.builds(OpenDescription, st.sampled_from(["method", "tree", "else"])),
    st.builds(CloseDescription, st.sampled_from(["method", "tree", ""])),
    st.builds(Judge, st.text(max_size=5), st.integers(-9, 9), devices),
    BETWEEN,
)
LEAVES = st.one_of(st.builds(Next), st.builds(HandIn))
steps = st.lists(
    st.tuples(
        st.floats(0, 8),
        st.one_of(JUDGE, JUDGE, JUDGE, LEAVES, RARE, st.sampled_from(["crash", "answer"])),
    ),
    max_size=60,
)


@given(
    steps,
    st.sampled_from([*TASKS, "warm-up"]),
    st.sampled_from([None, 60.0]),
    st.booleans(),
)
@settings(max_examples=examples(120))
def test_any_order_of_commands_leaves_the_stage_valid(
    script: list[tuple[float, Command | str]],
    task: JudgingTask | str,
    limit: float | None,
    restarts: bool,
) -> None:
    play = (
        JudgingPlay.warm_up() if task == "warm-up" else JudgingPlay.of(task, time_limit_s=limit)  # type: ignore[arg-type]
    )
    play.machine.restarts = restarts
    for seconds, command in script:
        if command == "crash":
            play.crash(seconds)
        elif command == "answer":
            # Most scripts would never have all of the answers, and so never leave a photo.
            if play.photo is not None and play.photo.open and not play.state.pauses.held:
                play.answer()
        elif isinstance(command, Command):
            play.wait(seconds)
            play.send(command)
        valid(play)
    assert play.machine.fold(play.events) == play.state


@given(steps, st.sampled_from(TASKS), st.data())
@settings(max_examples=examples(60))
def test_from_any_place_in_the_journal_it_goes_on_as_it_was(
    script: list[tuple[float, Command | str]], task: JudgingTask, data: st.DataObject
) -> None:
    """The state that a resumed session folds is the one that was live at that event."""
    play = JudgingPlay.of(task)
    live = {len(play.events): play.state}
    for seconds, command in script:
        play.wait(seconds)
        if isinstance(command, Command):
            play.send(command)
        elif play.photo is not None and play.photo.open and not play.state.pauses.held:
            play.answer()
        live[len(play.events)] = play.state
    at = data.draw(st.sampled_from(sorted(live)))
    assert play.machine.fold(play.events[:at]) == live[at]


def valid(play: JudgingPlay) -> None:
    """What must hold at any time."""
    state, task = play.judging, play.task
    assert len(state.outcomes) <= task.part.trials
    attempts = {(e.trial, e.attempt) for e in play.events if e.kind == "photo.drawn"}
    drawn = [e for e in play.events if e.kind == "photo.drawn"]
    assert len(attempts) == len(drawn), "each photo is drawn once an attempt"
    judged = [(e.trial, e.attempt) for e in play.events if e.kind == "photo.judged"]
    assert len(set(judged)) == len(judged), "the answers are final once"
    trial = state.trial
    if trial is not None:
        asked = {question.id: question for question in task.questions(trial)}
        for name, value in trial.answers.items():
            assert asked[name].first <= value <= asked[name].last
            assert applies(asked[name], trial.answers)
        if trial.right is not None:
            assert not task.missing(trial)
        assert 1 <= trial.option <= 4
    if isinstance(task, Machine):
        assert state.description in ("", *task.offered)
        for number, answers in state.judged.items():
            photo = task.part.photos[number - 1]
            right = performance.mark_answers(task.part.task, photo, answers)
            assert not (right.keys() - {DISTINCTION}) - set(answers)
        done = play.state.result
        assert (done is not None) == (state.outcome is not None)
        if done is not None:
            assert done.value.performance.photos == len(state.judged)
    if state.outcome == "completed":
        assert state.outcomes == ("judged",) * task.part.trials
