"""Whatever is asked in whatever order, an unmasking stage stays in order."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.record.events.commands import Command, Next, Resume, StayHere, TakeBackSkip, Tick
from labapp.tasks.unmasking.events import Respond, StimulusHidden, StimulusPainted
from tests.helpers.nightly import examples
from tests.helpers.skips import skip_stage
from tests.helpers.unmasking import UnmaskingPlay, unmasking_part
from tests.properties.commands import BETWEEN

NS = 1_000_000_000
SEQUENCES, MASKS = 3, 4
moments = st.integers(-2 * NS, 12 * NS)
"""Offsets from now of the time stamps that commands carry."""
COMMON = st.builds(Respond, st.integers(0, 2), st.just("key"), moments, st.just("event"))
RARE = st.one_of(
    st.builds(Next),
    st.builds(StimulusHidden),
    st.builds(StimulusPainted, moments, st.just("frame"), st.none()),
    st.builds(Respond, st.integers(-3, 9), st.just("key"), moments, st.just("event")),
    BETWEEN,
)
steps = st.lists(
    st.tuples(
        st.floats(0, 3),
        st.one_of(COMMON, COMMON, COMMON, COMMON, RARE, st.sampled_from(["crash", "paints"])),
    ),
    max_size=60,
)


@given(steps, st.sampled_from([0, 300]), st.booleans(), st.booleans())
@settings(max_examples=examples(100))
def test_any_order_of_commands_leaves_the_stage_valid(
    script: list[tuple[float, Command | str]], blank_ms: int, restarts: bool, skips: bool
) -> None:
    part = unmasking_part(SEQUENCES, MASKS, blank_ms=blank_ms)
    play = UnmaskingPlay.of(part, restarts=restarts)
    for seconds, command in script:
        play.now_ns += round(seconds * NS)
        match command:
            case "crash":
                play.crash(seconds)
            case "paints":
                play.paints = not play.paints
            case Respond(response, device, at, timed_by):
                play.send(Respond(response, device, play.now_ns + at, timed_by))
            case StimulusPainted(at, shown_by, refresh):
                play.send(StimulusPainted(play.now_ns + at, shown_by, refresh))
            case Command():
                play.send(command)
        valid(play)
    assert play.machine.fold(play.events) == play.state
    finish(play, skips=skips)


def finish(play: UnmaskingPlay, *, skips: bool) -> None:
    """Whatever came before, the stage can be ended, or gone through to its end."""
    if play.state.ended is not None:
        return
    play.paints = True
    play.send(StayHere())  # while leaving is asked about, a skip cannot be taken back
    if play.state.ended is not None:  # the only stage had been skipped by then
        valid(play)
        return
    play.send(TakeBackSkip("part"))
    play.send(Resume("on"))
    play.send(Resume("on"))
    if skips:
        skip_stage(play)
    else:
        play.send(Tick())  # whatever is due is painted by the screen now
        play.through()
        assert play.unmasking.outcomes == ("answered",) * SEQUENCES * MASKS
    assert play.state.ended == "completed"
    valid(play)


def valid(play: UnmaskingPlay) -> None:
    """What must hold at any time."""
    again = max((n for n, e in enumerate(play.events) if e.kind == "part.restarted"), default=-1)
    since = play.events[again + 1 :]
    drawn = [e for e in play.events if e.kind == "stimulus.drawn"]
    assert len({e.key for e in drawn}) == len(drawn), "no key twice"
    numbers = [e.trial or 0 for e in since if e.kind == "stimulus.drawn"]
    assert all(after - before in (0, 1) for before, after in pairwise(numbers)), "in their order"
    for event in drawn:
        sequence, mask = event.payload["sequence"], event.payload["mask"]
        assert event.trial == (sequence - 1) * MASKS + mask
        assert event.payload["due_ns"] >= event.t_ns
    left = [(e.trial, e.payload["outcome"]) for e in since if e.kind == "trial.ended"]
    answered = [trial for trial, outcome in left if outcome == "answered"]
    assert answered == list(range(1, len(answered) + 1)), "each is answered once, in order"
    given = {e.key: e for e in play.events if e.kind == "response.given"}
    shown = {e.key: e for e in play.events if e.kind == "stimulus.shown"}
    assert len(given) == len([e for e in play.events if e.kind == "response.given"])
    assert len(shown) == len([e for e in play.events if e.kind == "stimulus.shown"])
    for key, event in given.items():
        painted = shown[key].payload["painted_ns"]
        assert painted <= event.payload["input_ns"] <= event.t_ns
        assert shown[key].payload["painted_ns"] <= shown[key].t_ns
        assert event.payload["response"] in (0, 1, 2)
    ended = [e.key for e in play.events if e.kind == "trial.ended"]
    assert len(set(ended)) == len(ended), "each attempt ends once"
    assert play.state.tally.trials.keys() == {("stage-1", trial) for trial in answered}
