"""Whatever is asked in whatever order, a single-dimension stage stays in order."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.record.events.commands import Command, HandIn, Next
from labapp.tasks.single_dimension.events import Choose, Rate, ShowMoreExamples
from labapp.tasks.single_dimension.machine import RATINGS
from tests.helpers.nightly import examples
from tests.helpers.play_single import SPACE, SinglePlay, single_part
from tests.properties.commands import BETWEEN

devices = st.sampled_from(["mouse", "keyboard"])
COMMON = st.one_of(
    st.builds(Choose, st.integers(0, 2), devices),
    st.builds(Rate, st.sampled_from(RATINGS), st.integers(1, 5), devices),
    st.builds(HandIn),
    st.builds(Next),
)
RARE = st.one_of(
    st.builds(ShowMoreExamples),
    st.builds(Choose, st.integers(-3, 9), devices),
    st.builds(Rate, st.text(max_size=5), st.integers(-9, 9), devices),
    BETWEEN,
)
steps = st.lists(
    st.tuples(st.floats(0, 8), st.one_of(COMMON, COMMON, COMMON, RARE, st.just("crash"))),
    max_size=70,
)


@given(
    steps,
    st.sampled_from([None, 40.0]),
    st.sampled_from(["traversals", "exemplars"]),
    st.integers(0, 5),
)
@settings(max_examples=examples(60))
def test_any_order_of_commands_leaves_the_stage_valid(
    script: list[tuple[float, Command | str]], limit: float | None, visualisation: str, seed: int
) -> None:
    play = SinglePlay.of(seed, time_limit_s=limit, visualisation=visualisation)
    for seconds, command in script:
        if isinstance(command, str):
            play.crash(seconds)
        else:
            play.wait(seconds)
            play.send(command)
        valid(play)
    assert play.machine.fold(play.events) == play.state


def valid(play: SinglePlay) -> None:
    """What must hold at any time."""
    state, part = play.single, single_part()
    assert len(state.outcomes) <= part.trials
    drawn = [e for e in play.events if e.kind == "question.drawn"]
    told = [e for e in play.events if e.kind == "answer.given"]
    left = [e.trial for e in play.events if e.kind == "trial.ended"]
    assert [e.trial for e in drawn] == list(range(1, len(drawn) + 1))
    assert left == list(range(1, len(left) + 1)), "each question ends once, in order"
    assert len({e.trial for e in told}) == len(told), "one answer a question"
    question = state.trial
    if question is not None:
        assert question.choice is None or 0 <= question.choice < 4
        assert all(1 <= value <= 5 for value in question.ratings.values())
        assert question.right in (None, question.choice == question.correct)
        assert len(question.z) == len(SPACE)
        if question.right is not None:
            assert not question.missing
    if state.outcome == "completed":
        assert state.outcomes == ("answered",) * part.trials
