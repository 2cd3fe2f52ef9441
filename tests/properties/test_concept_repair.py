"""Whatever is asked in whatever order, a stage of concept repair and its grid stay in order."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.models.stimuli import interventions
from labapp.record.events.commands import Command, Next, Resume, StayHere, TakeBackSkip
from labapp.tasks.concept_repair.events import (
    Foretell,
    GiveUp,
    PickAnswer,
    RepairDone,
    SetConcept,
    TickNothing,
    TickPair,
    UndoChange,
)
from labapp.tasks.concept_repair.plan import ConceptRepairPart, Grid, Repair
from tests.helpers.concepts import ConceptPlay, small_parts
from tests.helpers.nightly import EVERYTHING
from tests.helpers.skips import skip_stage
from tests.properties.commands import BETWEEN

NS = 1_000_000_000
BY = st.just("mouse")
OFTEN = st.one_of(
    st.builds(SetConcept, st.integers(0, 1), st.integers(0, 2), BY),
    st.builds(PickAnswer, st.sampled_from(["", "c1", "c2", "c3", "c4"]), BY),
    st.builds(Foretell, st.booleans(), BY),
    st.builds(UndoChange, BY),
)
RARE = st.one_of(
    st.builds(RepairDone),
    st.builds(GiveUp),
    st.builds(TickPair, st.integers(-1, 2), st.integers(-1, 2), BY),
    st.builds(TickNothing, BY),
    st.builds(SetConcept, st.integers(-2, 3), st.integers(-1, 4), BY),
    st.builds(PickAnswer, st.text(max_size=2), BY),
    st.builds(Next),
    BETWEEN,
)
steps = st.lists(
    st.tuples(st.floats(0, 9), st.one_of(OFTEN, OFTEN, RARE, st.just("crash"))), max_size=60
)
SETTINGS = st.sampled_from(
    [
        {},
        {"foresee": "half"},
        {"foresee": "all"},
        {"instruction": "audit", "foresee": "half"},
        {"instruction": "foresight", "foresee": "all"},
    ]
)


@given(steps, SETTINGS, st.booleans(), st.booleans())
@settings(max_examples=100 if EVERYTHING else 12)
def test_any_order_of_commands_leaves_the_stage_valid(
    script: list[tuple[float, Command | str]],
    stages: dict[str, str],
    restarts: bool,
    skips: bool,
) -> None:
    part, grid = small_parts(**stages)
    play = ConceptPlay.of(part, grid, restarts=restarts)
    for seconds, command in script:
        play.now_ns += round(seconds * NS)
        if isinstance(command, Command):
            play.send(command)
        else:
            play.crash(seconds)
        valid(play)
    assert play.machine.fold(play.events) == play.state
    finish(play, skips=skips)


def finish(play: ConceptPlay, *, skips: bool) -> None:
    """Whatever came before, the stage can be ended, or gone through to its end."""
    play.send(StayHere())  # while leaving is asked about, a skip cannot be taken back
    play.send(TakeBackSkip("part"))
    play.send(Resume("on"))
    play.send(Resume("on"))
    for _ in range(200):
        if play.state.ended is not None:
            break
        if skips:
            skip_stage(play)
        else:
            go_on(play)
    assert play.state.ended == "completed"
    valid(play)


def go_on(play: ConceptPlay) -> None:
    """The next thing that leads towards the end."""
    match play.asked:
        case Repair(phase="foretelling"):
            play.send(PickAnswer("c1", "mouse"))
            play.send(Foretell(True, "mouse"))
        case Repair(unset=(first, *_)) if not play.send(RepairDone()):
            play.send(SetConcept(first, 1, "mouse"))
        case Repair():
            play.send(RepairDone())
        case Grid(nothing=False, ticked=frozenset()) if not play.send(Next()):
            play.send(TickNothing("mouse"))
        case Grid():
            play.send(Next())


def valid(play: ConceptPlay) -> None:
    """What must hold at any time."""
    drawn = [event.key for event in play.events if event.kind in ("concepts.drawn", "grid.drawn")]
    assert len(set(drawn)) == len(drawn), "no key twice"
    ended = [event.key for event in play.events if event.kind == "trial.ended"]
    assert len(set(ended)) == len(ended), "each attempt ends once"
    assert set(ended) <= set(drawn)
    trial = play.asked
    if isinstance(trial, Repair):
        looked_up(play, trial)
    elif isinstance(trial, Grid):
        assert all(row != column and {row, column} <= {0, 1} for row, column in trial.ticked)
        assert not (trial.nothing and trial.ticked), "nothing, and something"


def looked_up(play: ConceptPlay, trial: Repair) -> None:
    """The state is what the table says of it, and so is every step back."""
    part = play.machine.parts[play.state.index]
    assert isinstance(part, ConceptRepairPart)
    item = play.item()
    states = list(trial.states)
    probabilities, answer = trial.probabilities, trial.answer
    for step in reversed(trial.history):
        assert probabilities == tuple(map(float, item.table[interventions.place(states)]))
        assert answer == part.answer(probabilities)
        states[step.concept], answer, probabilities = step.state, step.answer, step.probabilities
    assert states == [interventions.AS_IT_IS] * 2
    assert probabilities == tuple(map(float, item.table[0]))
    assert (trial.phase == "foretelling") == (trial.pending is not None and trial.ended is None)
    if trial.pending is not None:
        assert item.foresee
        assert trial.states[trial.pending.concept] != trial.pending.to
