"""Whatever is asked in whatever order at whatever time, the session stays in order."""

from __future__ import annotations

import math
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.record.events.commands import (
    AddFlag,
    AddNote,
    Back,
    Begin,
    Command,
    DeclineConsent,
    EndSession,
    GiveConsent,
    GivePrompt,
    Next,
    Pause,
    Reopen,
    Resume,
    Skip,
    Tick,
)
from labapp.tasks.questionnaire.machine import Answer
from labapp.tasks.reconstruction.events import (
    Decoded,
    EditLabel,
    MarkAlignment,
    MoveDial,
    MoveTutorialDial,
    Presented,
    SelectDial,
    ToggleOverlay,
)
from labapp.tasks.reconstruction.plan import ReconstructionPart
from tests.helpers.nightly import EVERYTHING, examples
from tests.helpers.play import SPACE, Play, stage_part, whole_machine
from tests.helpers.skips import skip_stage
from tests.properties.commands import UNDOING

numbers = st.one_of(
    st.floats(-3, 3), st.integers(-5, 5).map(float), st.sampled_from([math.nan, math.inf, -1.003])
)
dimensions = st.integers(-1, 4)
alignments = st.floats(0, 1)
texts = st.text(max_size=80)
measures = (alignments, st.floats(0, 100), st.floats(0, 1))
COMMON = st.one_of(
    st.builds(Next),
    st.builds(GiveConsent),
    st.builds(MoveDial, dimensions, numbers, st.just("mouse")),
    st.builds(Answer, st.just("ease"), st.integers(1, 7)),
    st.builds(Skip),
    st.builds(MarkAlignment, st.sampled_from(["far", "close", "nearly"])),
)
RARE = st.one_of(
    st.builds(Begin),
    st.builds(Tick),
    st.builds(Back),
    UNDOING,
    st.builds(Reopen, st.integers(1, 40)),
    st.builds(DeclineConsent),
    st.builds(Presented, *measures),
    st.builds(
        Decoded, st.integers(0, 9), st.tuples(*[st.just(v) for v in (1.0, 0.5, 0.25)]), *measures
    ),
    st.builds(SelectDial, dimensions, st.just("keyboard")),
    st.builds(ToggleOverlay, st.booleans()),
    st.builds(EditLabel, dimensions, texts),
    st.builds(MoveTutorialDial, st.integers(-1, 2), dimensions, numbers),
    st.builds(Answer, texts, st.one_of(st.integers(-1, 9), texts, st.none(), st.booleans())),
    st.builds(Pause, texts),
    st.builds(Resume, texts),
    st.builds(EndSession, st.just("too late")),
    st.builds(AddNote, texts, st.integers(0, 10**12)),
    st.builds(AddFlag, st.integers(-1, 10)),
    st.builds(GivePrompt, texts),
)
steps = st.lists(
    st.tuples(
        st.floats(0, 8),
        st.one_of(COMMON, COMMON, RARE, st.just("crash")),
    ),
    max_size=60,
)
stages = st.builds(
    lambda **changes: stage_part(**changes),
    trials=st.integers(1, 3),
    skip=st.sampled_from(["after", "always", "never"]),
    active_time=st.sampled_from(["paused", "as_published"]),
    time_limit_s=st.sampled_from([None, 20.0]),
    labels_editable=st.booleans(),
    skip_after_s=st.sampled_from([1.0, 3.0, 10.0]),
    marks=st.booleans(),
)


def check(play: Play) -> None:
    if (trial := play.trial) is not None:
        for value, dimension in zip(trial.z, SPACE.dimensions, strict=True):
            assert dimension.snap(value) == value
        part = play.machine.parts[play.state.index]
        assert isinstance(part, ReconstructionPart)
        assert len(play.stage.outcomes) <= part.trials
    due = play.machine.next_deadline(play.state)
    if due is not None:
        at = max(due, play.now_ns)
        assert play.machine.decide(play.state, Tick(), at), "a deadline that leads to nothing"


@settings(max_examples=150 if EVERYTHING else 20)
@given(stages, st.sampled_from([0, 2, 2, 2, 3, 4]), steps, alignments, st.booleans(), st.booleans())
def test_any_course_of_commands_keeps_the_session_in_order(
    stage: ReconstructionPart,
    skipped: int,
    course: list[tuple[float, Command | str]],
    alignment: float,
    ticking: bool,
    restarts: bool,
) -> None:
    machine = whole_machine(stage, stage_part("stage-2"), restarts=restarts)
    play = Play(machine, alignment=lambda trial: alignment).start()
    play.send(GiveConsent())
    for _ in range(skipped):
        skip_stage(play)
    for wait_s, command in course:
        if ticking:
            play.wait(wait_s)
        else:
            play.now_ns += round(wait_s * 1e9)
        if isinstance(command, str):
            play.crash(0.5)
        else:
            play.send(command)
        check(play)
    in_order(play)
    assert machine.fold(play.events) == play.state


def in_order(play: Play) -> None:
    """What must hold of any journal."""
    kinds = play.kinds()
    started = [e.payload["index"] for e in play.events if e.kind == "part.started"]
    ended = [e.payload["index"] for e in play.events if e.kind == "part.ended"]
    skipped = [e.payload["index"] for e in play.events if e.kind == "part.skipped"]
    met = [e.payload["index"] for e in play.events if e.kind in ("part.started", "part.skipped")]
    assert met == list(range(len(met))), "every part of the plan, once, begun or left out"
    assert not any(play.machine.parts[index].consents for index in skipped)
    assert ended == started[: len(ended)]
    assert len(started) - len(ended) <= 1
    over: set[str | None] = set()
    for event in play.events:
        moderator = event.kind in ("note.added", "flag.added", "prompt.given")
        assert moderator or event.part_id is None or event.part_id not in over
        if event.kind == "part.ended":
            over.add(event.part_id)
    ends = kinds.count("session.completed") + kinds.count("session.ended")
    assert ends - kinds.count("session.reopened") == (play.state.ended is not None)
    trials = [e.key for e in play.events if e.kind == "trial.ended"]
    assert len(set(trials)) == len(trials)
    drawn = [e.key for e in play.events if e.kind == "trial.drawn"]
    # A pair that is solved before the first move is drawn again for the same question.
    redrawn = [(e.key, e.payload["redrawn"]) for e in play.events if e.kind == "trial.drawn"]
    assert len(set(redrawn)) == len(redrawn)
    assert set(trials) <= set(drawn)
    began_again: dict[str | None, int] = {}
    for event in play.events:
        if event.kind == "part.restarted":
            assert play.machine.restarts
            attempt = event.payload["attempt"]
            assert attempt == began_again.get(event.part_id, 1) + 1
            began_again[event.part_id] = attempt
        if event.kind == "trial.drawn":
            assert event.attempt == began_again.get(event.part_id, 1)
    assert all(a.t_ns <= b.t_ns for a, b in pairwise(play.events))
    for event in play.events:
        if event.kind == "dial.moved":
            dimension = SPACE.dimensions[event.payload["dimension"]]
            assert dimension.snap(event.payload["value"]) == event.payload["value"]


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(st.floats(0, 5), COMMON), min_size=1, max_size=30))
def test_nothing_happens_in_a_pause(course: list[tuple[float, Command]]) -> None:
    play = Play(whole_machine(stage_part())).start()
    play.send(Pause("break"))
    stored = len(play.events)
    for wait_s, command in course:
        play.wait(wait_s)
        assert not play.send(command)
    assert len(play.events) == stored
    assert play.machine.next_deadline(play.state) is None
