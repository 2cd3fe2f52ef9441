"""What must hold for every question, whatever was done in it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.base.clock import NS
from labapp.record.events.lifecycle import SessionPaused, SessionResumed
from labapp.study.plugins.part import Snapshot
from labapp.tasks.reconstruction.events import DialSelected, OverlayToggled
from labapp.tasks.reconstruction.records import Question, error_auc
from tests.analysis.sessions import begin_trial, builder, end_trial, move, one_trial
from tests.helpers.journals import SessionBuilder

MS = 1_000_000

steps = st.lists(
    st.tuples(
        st.integers(1, 6000),  # ms since the step before
        st.sampled_from(["move", "move", "select", "overlay"]),
        st.integers(0, 2),  # dimension
        st.integers(0, 9),  # value, in tenths or classes
        st.integers(0, 50),  # error
    ),
    max_size=25,
)


def session(steps: list[tuple[int, str, int, int, int]]) -> SessionBuilder:
    """One question with these steps, from 1 s on; all times whole milliseconds."""
    made = builder()
    begin_trial(made, 1)
    ms = 1000
    for number, (wait, what, dimension, value, error) in enumerate(steps, start=1):
        ms += wait
        t = ms / 1000
        if what == "move":
            at = float(value) if dimension == 0 else value / 10
            move(made, t, number, dimension, at, error=float(error))
        elif what == "select":
            made.at(t, DialSelected(dimension, "mouse"), "stage-1", 1)
        else:
            made.at(t, OverlayToggled(True), "stage-1", 1)
    end_trial(made, (ms + 700) / 1000)
    return made


def comparable(trial: Question) -> tuple[object, ...]:
    """All that must not depend on where the session's time was spent outside the question."""
    movement = trial.movement
    return (
        trial.duration_s,
        trial.active_s,
        trial.active_s_as_published,
        trial.error_auc_sum,
        trial.error_auc_mean,
        trial.snapshots,
        (
            movement.slide_distance_by_dimension,
            movement.slides,
            movement.dimension_switches,
            movement.direction_reversals,
        ),
    )


@settings(deadline=None)  # the machine may be busy
@given(steps)
def test_active_time_is_within_the_duration(
    steps: list[tuple[int, str, int, int, int]],
) -> None:
    trial = one_trial(session(steps))
    assert trial.duration_s is not None
    assert trial.active_s is not None
    assert trial.active_s_as_published is not None
    assert 0 <= trial.active_s <= trial.duration_s
    assert 0 <= trial.active_s_as_published <= trial.duration_s
    assert trial.duration_s == pytest.approx((sum(step[0] for step in steps) + 700) / 1000)


@settings(deadline=None)  # the machine may be busy
@given(steps, st.integers(0, 200_000), st.integers(1, 10_000_000), st.booleans())
def test_a_pause_or_a_gap_anywhere_changes_nothing(
    steps: list[tuple[int, str, int, int, int]], at_ms: int, length_ms: int, crash: bool
) -> None:
    plain = session(steps)
    paused = session(steps)
    after = at_ms * MS + 500_000  # half a millisecond off, so never at the time of a step
    shift = length_ms * MS
    paused.rows = [
        (t if t <= after else t + shift, source, unstamped) for t, source, unstamped in paused.rows
    ]
    until = (after + shift) / NS
    if crash:
        paused.segment(until, 2, gap_from=after / NS)
    else:
        paused.at(after / NS, SessionPaused("test"))
    paused.at(until, SessionResumed("test"))
    assert comparable(one_trial(paused)) == comparable(one_trial(plain))


snapshots = st.lists(st.tuples(st.integers(1, 10**6), st.floats(0, 1e4)), min_size=2, max_size=30)


def _series(rows: list[tuple[int, float]]) -> list[Snapshot]:
    out = []
    t = 0
    for gap_ms, error in rows:
        out.append(Snapshot(t, (), None, 0, 0.0, error, error / 64))
        t += gap_ms * MS
    return out


@settings(deadline=None)  # the machine may be busy
@given(snapshots, st.data())
def test_the_error_auc_is_additive(rows: list[tuple[int, float]], data: st.DataObject) -> None:
    series = _series(rows)
    cut = data.draw(st.integers(0, len(series) - 1))
    whole = error_auc(series)
    first, second = error_auc(series[: cut + 1]), error_auc(series[cut:])
    assert whole[0] == pytest.approx(first[0] + second[0])
    assert whole[1] == pytest.approx(whole[0] / 64)


@settings(deadline=None)  # the machine may be busy
@given(snapshots, st.integers(0, 28), st.floats(0.01, 0.99))
def test_a_snapshot_more_of_the_same_error_changes_nothing(
    rows: list[tuple[int, float]], at: int, share: float
) -> None:
    series = _series(rows)
    at = min(at, len(series) - 2)
    between = series[at].t_ns + int(share * (series[at + 1].t_ns - series[at].t_ns))
    more = [*series[: at + 1], series[at]._replace(t_ns=between), *series[at + 1 :]]
    assert error_auc(more) == pytest.approx(error_auc(series))


@settings(deadline=None)  # the machine may be busy
@given(snapshots, st.floats(0.1, 10))
def test_the_error_auc_grows_with_time_and_error(
    rows: list[tuple[int, float]], factor: float
) -> None:
    series = _series(rows)
    larger = [s._replace(error_sum=s.error_sum * factor) for s in series]
    slower = [s._replace(t_ns=s.t_ns * 3) for s in series]
    assert error_auc(larger)[0] == pytest.approx(error_auc(series)[0] * factor)
    assert error_auc(slower)[0] == pytest.approx(error_auc(series)[0] * 3)
