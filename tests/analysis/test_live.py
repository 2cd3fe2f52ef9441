"""The analysis and the running task must count the same: both fold the same random session."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.analysis.task_records import Parts, walk
from labapp.base.clock import NS
from labapp.models.representations.space import LatentSpace
from labapp.record.events import Source, UnstampedEvent, payload_of
from labapp.record.events.commands import Begin, Command, Next, Tick
from labapp.record.events.lifecycle import SegmentStarted, SessionPaused, SessionResumed
from labapp.record.events.registry import Pauses
from labapp.tasks.reconstruction.events import (
    Decoded,
    EditLabel,
    MoveDial,
    Presented,
    SelectDial,
    ToggleOverlay,
)
from labapp.tasks.reconstruction.machine import ReconstructionTask, StageState, Trial
from labapp.tasks.reconstruction.plan import ReconstructionPart
from labapp.tasks.reconstruction.records import QuestionAttempt, ReconstructionRecords
from tests.analysis.sessions import SPACE, stage_row
from tests.helpers.journals import Row, stamp
from tests.helpers.skips import skip_question

MS = 1_000_000


class Live:
    """Drives a task as the runner does, and keeps the journal's rows."""

    def __init__(self, **changes: Any) -> None:
        row = stage_row(trials=1, skip_after_s=5.0, **changes)
        row |= {"sampling": "fixed", "pairs": [[[0, 0.0, 0.0], [3, 1.0, 0.5]]]}
        self.part = ReconstructionPart.model_validate(row)
        space = LatentSpace.from_json(SPACE)
        self.task = ReconstructionTask(self.part, 0, space, None, 1, "P01")
        self.state: StageState = self.task.initial(Pauses())
        self.rows: list[Row] = []
        self.now = NS
        self.segment = 1

    def send(self, command: Command) -> None:
        for unstamped in self.task.decide(self.state, command, self.now):
            self.store(unstamped)

    def store(self, unstamped: UnstampedEvent) -> None:
        self.rows.append((self.now, Source.PARTICIPANT, unstamped))
        event = stamp(self.rows)[-1]
        self.state = self.task.apply(self.state, event, unstamped.payload)

    @property
    def trial(self) -> Trial:
        assert self.state.trial is not None
        return self.state.trial

    def decoded(self, error: int, of: Trial | None = None) -> None:
        """The picture of the present dials, or of those of an earlier state; error 0 solves."""
        alignment = 0.9 if error == 0 else 0.5
        trial = of or self.trial
        self.send(Decoded(trial.z_seq, trial.z, alignment, float(error), error / 16))

    def pause(self, length: int, crash: bool) -> None:
        if crash:
            self.segment += 1
            gap_from = self.now
            self.now += length // 2
            self.store(UnstampedEvent(SegmentStarted(self.segment, "", "", "0.1.0", "", gap_from)))
            self.now += length // 2
        else:
            self.store(UnstampedEvent(SessionPaused("test")))
            self.now += length
        self.store(UnstampedEvent(SessionResumed("test")))

    def recorded(self) -> QuestionAttempt:
        plan = [self.part.model_dump(mode="json")]
        events = [(event, payload_of(event)) for event in stamp(self.rows)]
        (task,) = walk(events, Parts.of(plan))
        assert isinstance(task, ReconstructionRecords)
        (trial,) = task.attempts
        return trial


steps = st.lists(
    st.tuples(
        st.integers(1, 5000),
        st.sampled_from(
            [
                "move",
                "move",
                "move",
                "stale",
                "select",
                "overlay",
                "label",
                "tick",
                "pause",
                "crash",
            ]
        ),
        st.integers(0, 2),
        st.integers(0, 9),
        st.integers(0, 20),
    ),
    max_size=20,
)


def play(live: Live, steps: list[tuple[int, str, int, int, int]]) -> None:
    """Random things done in one question, up to its end."""
    live.send(Begin())
    live.send(Presented(0.2, 9.0, 9 / 16))
    for wait, what, dimension, value, error in steps:
        live.now += wait * MS
        at = float(value) if dimension == 0 else value / 10
        match what:
            case "move" | "stale":
                before = live.trial
                live.send(MoveDial(dimension, at, "mouse"))
                live.now += 7 * MS
                # A slow decoder answers with the picture of the movement before.
                live.decoded(error, of=before if what == "stale" else None)
            case "select":
                live.send(SelectDial(dimension, "mouse"))
            case "overlay":
                live.send(ToggleOverlay(not live.trial.overlay))
            case "label":
                live.send(EditLabel(dimension, f"name {value}"))
            case "tick":
                live.send(Tick())
            case "pause" | "crash":
                live.pause(wait * 20 * MS, what == "crash")
    live.now += 1234 * MS


@settings(deadline=None)  # the machine may be busy
@given(steps)
def test_active_time_is_the_live_count(steps: list[tuple[int, str, int, int, int]]) -> None:
    live = Live(skip="always")
    play(live, steps)
    working = live.state.pauses.working_ns(live.now)
    expected = live.trial.active.at(working)
    shown_ns = live.trial.started_ns
    live.send(Next()) if live.trial.solved else skip_question(live)
    recorded = live.recorded()
    assert recorded.outcome == live.trial.outcome
    assert recorded.active_s == pytest.approx(expected / NS, abs=1e-9)
    assert shown_ns is not None
    assert recorded.duration_s == pytest.approx((working - shown_ns) / NS, abs=1e-9)
    assert recorded.movement.z == live.trial.z


@settings(deadline=None)  # the machine may be busy
@given(steps)
def test_active_time_as_published_is_the_live_count(
    steps: list[tuple[int, str, int, int, int]],
) -> None:
    live = Live(active_time="as_published", skip="always")
    # Solving ends the live count's use; the record goes on to the end of the question.
    unsolved = [(*step[:4], max(step[4], 1)) for step in steps]
    play(live, unsolved)
    working = live.state.pauses.working_ns(live.now)
    expected = live.trial.active.seen(working).total_ns
    skip_question(live)
    assert live.recorded().active_s_as_published == pytest.approx(expected / NS, abs=1e-9)


def test_skip_is_offered_when_the_recorded_active_time_says_so() -> None:
    live = Live(skip="after")
    play(live, [(2000, "select", 1, 0, 0), (9000, "select", 1, 0, 0), (1, "tick", 0, 0, 0)])
    skip_question(live)
    recorded = live.recorded()
    # 2 s, then 3 of 9: the limit of 5 s is reached with the second activity.
    assert recorded.since_start(recorded.skip_offered_ns) == pytest.approx(11.0)
    assert recorded.outcome == "skipped"
    assert recorded.active_s == pytest.approx(2 + 3 + 1.235)
