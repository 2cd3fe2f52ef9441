"""Single questions, each with its numbers worked out by hand: attempts, breaks, and what no
duration counts."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.analysis.rows import SessionRecords, spans_away, within
from labapp.analysis.tables import Tables, tables_of
from labapp.analysis.task_records import BEGAN_AGAIN, REPEATED, Attempt, Key, supersede
from labapp.base.clock import NS
from labapp.base.errors import RecordError
from labapp.record.events import Event, Payload, Source
from labapp.record.events.commands import Pause, Resume
from labapp.record.events.lifecycle import (
    KeyboardGiven,
    NoteAdded,
    PartEnded,
    PartStarted,
    SegmentStarted,
    SessionCompleted,
    SessionPaused,
    SessionResumed,
    WindowFocus,
)
from labapp.record.events.trials import TrialEnded
from labapp.session.bids.contents import session_timeline
from labapp.study.plugins.part import Snapshot
from labapp.tasks.reconstruction.events import (
    DialSelected,
    LabelEdited,
    OverlayToggled,
    PictureDecoded,
    SkipOffered,
    TrialDrawn,
    TrialSolved,
)
from labapp.tasks.reconstruction.records import QuestionAttempt, error_auc
from labapp.tasks.single_dimension.events import AnswerGiven, QuestionDrawn
from labapp.tasks.single_dimension.plan import SingleDimensionPart
from labapp.tasks.single_dimension.records import QuestionRecord, QuestionStage
from labapp.tasks.unmasking.events import StimulusHidden
from labapp.tasks.unmasking.report.contents import groups_of
from labapp.tasks.unmasking.report.curves import AnnotationCells
from labapp.tasks.unmasking.report.sections import timing
from tests.analysis.sessions import (
    TARGET,
    ZERO,
    Stamped,
    begin_trial,
    builder,
    end_trial,
    move,
    one_trial,
    paired,
    reconstruction,
    records,
    seconds,
    stage_row,
)
from tests.helpers.journals import SessionBuilder
from tests.helpers.judged import of_play
from tests.helpers.unmasking import UnmaskingPlay


def test_a_discrete_change_counts_one_whatever_the_values() -> None:
    made = builder()
    begin_trial(made, 1)
    move(made, 2, 1, 0, 9.0, error=8)
    move(made, 3, 2, 0, 3.0, error=8)
    move(made, 4, 3, 1, 1.0, error=8)  # a quarter of the slider from -1 to 3
    end_trial(made, 5)
    assert one_trial(made).movement.slide_distance_by_dimension == [2.0, 0.25, 0.0]


def test_the_dials_set_to_the_solution_are_nobodys_movement() -> None:
    made = builder()
    begin_trial(made, 1)
    move(made, 2, 1, 2, 0.5)
    move(made, 2.016, 2, 2, 0.6)
    # The picture of the movement before arrives and solves: the dial goes back to 0.5.
    made.at(2.02, PictureDecoded(1, 0.8, 2.0, 0.125), "stage-1", 1)
    made.at(2.02, TrialSolved(1, (0.0, 0.0, 0.5), 0.8), "stage-1", 1)
    end_trial(made, 4, "solved")
    trial = one_trial(made)
    assert trial.movement.z == (0.0, 0.0, 0.5)
    assert sum(trial.movement.slide_distance_by_dimension) == pytest.approx(0.6)
    assert trial.since_start(trial.solved_ns) == pytest.approx(1.02)
    # From the alignment on it is the error of the solution that counts, not the one before.
    assert trial.error_auc_sum == pytest.approx(8 * 1.02 + 2 * 1.98)
    assert trial.snapshots[-1].z == (0.0, 0.0, 0.5)


def test_the_error_is_constant_between_snapshots_and_idle_time_counts() -> None:
    made = builder()
    begin_trial(made, 10)
    move(made, 11, 1, 1, 1.0, error=4)  # snapshot: first movement
    move(made, 11.05, 2, 1, 1.1, error=2)  # same way, 50 ms later: none
    move(made, 11.15, 3, 1, 1.2, error=1)  # 150 ms after the last one: snapshot
    end_trial(made, 31.15)
    trial = one_trial(made)
    assert seconds(s.t_ns for s in trial.snapshots) == pytest.approx([0, 1, 1.15, 21.15])
    assert trial.error_auc_sum == pytest.approx(8 * 1 + 4 * 0.15 + 1 * 20)
    assert trial.error_auc_mean == pytest.approx(0.5 * 1 + 0.25 * 0.15 + 0.0625 * 20)


def test_the_picture_of_an_overtaken_movement_is_no_snapshot() -> None:
    made = builder()
    begin_trial(made, 1)
    move(made, 2, 1, 1, 1.0)
    move(made, 2.5, 2, 1, 1.5)
    made.at(3, PictureDecoded(1, 0.4, 6.0, 0.375), "stage-1", 1)
    made.at(4, PictureDecoded(2, 0.5, 4.0, 0.25), "stage-1", 1)
    end_trial(made, 5)
    trial = one_trial(made)
    assert [s.error_sum for s in trial.snapshots] == [8.0, 4.0, 4.0]
    assert trial.error_auc_sum == 8 * 3 + 4 * 1


def test_a_pause_takes_no_time() -> None:
    made = builder()
    begin_trial(made, 1)
    move(made, 2, 1, 1, 1.0, error=4)
    made.at(3, SessionPaused("water"), source=Source.MODERATOR)
    made.at(103, SessionResumed("moderator"), source=Source.MODERATOR)
    move(made, 104, 2, 1, 1.5, error=2)
    end_trial(made, 105)
    trial = one_trial(made)
    assert (trial.duration_s, trial.active_s) == (4.0, 4.0)
    assert trial.error_auc_sum == 8 * 1 + 4 * 2 + 2 * 1


def test_a_crash_gap_takes_no_time_and_activity_goes_on_after_it() -> None:
    made = builder()
    begin_trial(made, 1)
    move(made, 2, 1, 1, 1.0, error=4)
    made.segment(500, 2, gap_from=2.5)
    made.at(510, SessionResumed("resumed after a crash"))
    move(made, 512, 2, 1, 1.5, error=2)
    end_trial(made, 518)
    trial = one_trial(made)
    # 1 s, then 0.5 before and 2 after the gap, then 6 s of which 3 count as active.
    assert (trial.duration_s, trial.active_s) == (9.5, 6.5)
    assert trial.error_auc_sum == 8 * 1 + 4 * 2.5 + 2 * 6


def test_active_time_stops_after_the_parts_inactivity_limit() -> None:
    made = builder(stage_row(inactivity_s=2.0))
    begin_trial(made, 0)
    made.at(1, DialSelected(1, "mouse"), "stage-1", 1)
    made.at(6, OverlayToggled(True), "stage-1", 1)
    made.at(7, LabelEdited(1, "size"), "stage-1", 1)
    end_trial(made, 20)
    trial = one_trial(made)
    assert trial.active_s == 1 + 2 + 1 + 2
    assert trial.active_s_as_published == 0.0  # no snapshot before the end, 20 s later
    assert (trial.overlay_toggles, trial.label_edits) == (1, 1)
    assert trial.movement.selections == [0, 1, 0]


def test_slides_switches_and_reversals() -> None:
    made = builder()
    begin_trial(made, 1)
    made.at(1.5, DialSelected(1, "mouse"), "stage-1", 1)
    move(made, 2, 1, 1, 1.0, error=4)
    move(made, 2.1, 2, 1, 1.5, error=4)  # same slide
    move(made, 2.2, 3, 1, 1.2, error=4)  # reversal, same slide
    made.at(3, DialSelected(1, "mouse"), "stage-1", 1)
    move(made, 3.1, 4, 1, 1.1, error=4)  # taken hold of anew: another slide
    move(made, 4, 5, 2, 0.5, error=4, device="keyboard")  # switch
    move(made, 5, 6, 0, 4.0, error=4)  # switch
    move(made, 6, 7, 0, 2.0, error=4)  # a discrete dial has no direction
    end_trial(made, 7)
    movement = one_trial(made).movement
    assert movement.slides == [1, 2, 1]
    assert movement.selections == [0, 2, 0]
    assert (movement.dimension_switches, movement.direction_reversals, movement.n_moves) == (
        2,
        1,
        7,
    )
    assert movement.share("keyboard") == pytest.approx(1 / 7)
    assert movement.share("wheel") == 0.0


def test_shares_of_devices_are_unknown_without_a_movement() -> None:
    made = builder()
    begin_trial(made, 1)
    end_trial(made, 2)
    assert one_trial(made).movement.share("mouse") is None


def test_when_skip_was_offered() -> None:
    made = builder()
    begin_trial(made, 1)
    made.at(46, SkipOffered(45.0), "stage-1", 1)
    end_trial(made, 47)
    trial = one_trial(made)
    assert trial.since_start(trial.skip_offered_ns) == 45.0


def test_notes_after_the_end_belong_to_no_time_of_the_question() -> None:
    made = builder()
    begin_trial(made, 1)
    end_trial(made, 5)
    made.at(9, NoteAdded("late", 6), "stage-1", 1, source=Source.MODERATOR)
    assert one_trial(made).duration_s == 4.0


def test_an_attempt_without_an_end_is_kept_and_excluded() -> None:
    made = builder()
    begin_trial(made, 1)
    move(made, 3, 1, 1, 1.0, error=4)
    trial = one_trial(made)
    assert trial.outcome == "interrupted"
    assert trial.excluded_because == "interrupted before its end"
    assert trial.duration_s == 2.0
    assert {d.kind for d in records(made).deviations} == {"attempt_interrupted", "unfinished"}


def test_a_repeated_attempt_replaces_the_one_before() -> None:
    made = builder()
    begin_trial(made, 1)
    begin_trial(made, 10, attempt=2)
    made.at(12, TrialEnded("solved"), "stage-1", 1, attempt=2)
    first, second = reconstruction(records(made)).attempts
    assert (first.attempt, first.excluded_because) == (1, "repeated in a later attempt")
    assert (second.attempt, second.excluded_because, second.duration_s) == (2, None, 2.0)


def test_a_question_that_was_never_shown_has_no_times() -> None:
    made = builder()
    made.at(1, TrialDrawn(ZERO, TARGET), "stage-1", 1)
    end_trial(made, 2, "time_expired")
    trial = one_trial(made)
    assert trial.excluded_because == "never shown"
    assert (trial.duration_s, trial.active_s, trial.error_auc_sum) == (None, None, None)
    assert trial.snapshots == []


def test_a_question_cut_off_by_the_moderator_is_excluded() -> None:
    made = builder()
    begin_trial(made, 1)
    end_trial(made, 2, "stage_skipped")
    assert one_trial(made).excluded_because == "cut off when the moderator skipped the stage"


def test_a_plan_without_limits_is_refused_with_its_part() -> None:
    row = stage_row()
    del row["dimensions"]
    with pytest.raises(RecordError, match=r"cannot be read: stage-1\.dimensions: Field required"):
        records(builder(row))


@pytest.mark.parametrize(
    "dimensions",
    [
        [],
        [{}],
        [{"type": "dial", "name": "size"}],
        [{"type": "continuous", "name": "size", "low": None, "high": 1.0, "step": 0.1}],
        [{"type": "continuous", "name": "size", "low": 1.0, "high": 0.0, "step": 0.1}],
        [{"type": "discrete", "name": "class", "k": 1}],
    ],
)
def test_a_plan_with_dials_that_are_none_is_refused(dimensions: list[dict[str, Any]]) -> None:
    with pytest.raises(RecordError, match=r"cannot be read: stage-1\.dimensions"):
        records(builder(stage_row(dimensions=dimensions)))


class Done(Attempt):
    """All was said."""

    @property
    def complete(self) -> bool:
        return True


def made(kind: type[Attempt], started_ns: int | None, outcome: str | None) -> Attempt:
    attempt = kind(("stage-1", 1, 1))
    attempt.started_ns, attempt.outcome = started_ns, outcome
    return attempt


@pytest.mark.parametrize(
    ("kind", "started_ns", "outcome", "why"),
    [
        (Attempt, 5, "answered", None),
        (Attempt, 5, "time_expired", None),
        (Attempt, None, "answered", "never shown"),
        (Attempt, 5, None, "interrupted before its end"),
        (Attempt, 5, "stage_skipped", "cut off when the moderator skipped the stage"),
        (Done, 5, None, None),
        (Done, None, None, "never shown"),
    ],
)
def test_what_counts(
    kind: type[Attempt], started_ns: int | None, outcome: str | None, why: str | None
) -> None:
    assert made(kind, started_ns, outcome).excluded_because == why


def test_a_later_attempt_counts_instead() -> None:
    keys: list[Key] = [("a", 1, 1), ("a", 1, 2), ("a", 2, 1), ("b", 1, 1), ("b", 2, 2)]
    attempts = {key: Attempt(key) for key in keys}
    supersede(attempts, {"b": 2})
    assert [one.superseded for one in attempts.values()] == [
        REPEATED,
        None,
        None,
        BEGAN_AGAIN,
        None,
    ]
    finished = attempts["b", 1, 1]
    finished.started_ns, finished.outcome = 3, "answered"
    assert finished.excluded_because == BEGAN_AGAIN


def test_seconds_count_from_the_appearance() -> None:
    attempt = made(Attempt, 2_000_000_000, None)
    assert attempt.since_start(5_500_000_000) == 3.5
    assert attempt.since_start(None) is None
    assert made(Attempt, None, None).since_start(5) is None


BREAK = {"part": "break", "id": "break-1", "title": "Break", "document": "b", "at_least_s": 30.0}

TEXT = {"part": "text", "id": "text-1", "title": "Text", "document": "t", "values": {}}


def session(*, killed: bool = False) -> Stamped:
    """10 s of a text with a pause of 5 s in it, a break of 60 s, and the end 3 s later; killed: the
    program stood still from 40 to 50."""
    made: SessionBuilder = builder(TEXT, BREAK)
    made.at(1, PartStarted(0), "text-1")
    made.at(3, SessionPaused("the phone rang"))
    made.at(8, SessionResumed("on"))
    made.at(16, PartEnded(0, "completed"), "text-1")
    made.at(16, PartStarted(1), "break-1")
    made.at(16, SessionPaused("break"))
    if killed:
        made.segment(50, 2, gap_from=40)
    made.at(76, SessionResumed("break over"))
    made.at(76, PartEnded(1, "completed"), "break-1")
    made.at(79, SessionCompleted())
    return paired(made)


def tables(events: Stamped) -> Tables:
    return tables_of([SessionRecords.of(events, "test")])


def test_a_break_is_counted_apart_from_pauses() -> None:
    found = tables(session())
    (person,) = found.participants.to_dict("records")
    assert (person["n_pauses"], person["paused_s"]) == (1, 5.0)
    assert (person["n_breaks"], person["breaks_s"]) == (1, 60.0)
    assert (person["elapsed_s"], person["duration_s"]) == (79.0, 79.0 - 60 - 5)
    assert found.deviations["kind"].tolist() == ["paused"]


def test_a_kill_in_a_break_is_an_interruption_as_long_as_the_program_was_away() -> None:
    found = tables(session(killed=True))
    (person,) = found.participants.to_dict("records")
    assert (person["n_breaks"], person["breaks_s"]) == (1, 60.0)
    assert (person["n_gaps"], person["gap_s"]) == (1, 0.0), "its time is the break's"
    assert person["duration_s"] == 14.0
    parts = ("duration_s", "paused_s", "breaks_s", "gap_s")
    assert sum(person[part] for part in parts) == person["elapsed_s"]
    assert found.deviations["kind"].tolist() == ["paused", "interrupted"]
    assert found.deviations["duration_s"].tolist() == [5.0, 10.0]


def test_the_timeline_names_the_break() -> None:
    for killed in (False, True):
        rows = session_timeline(session(killed=killed)).rows
        still = [
            (row["trial_type"], row["onset"], row["duration"])
            for row in rows
            if row["trial_type"] in ("pause", "break", "gap")
        ]
        assert [kind for kind, _, _ in still] == ["pause", "break"]
        assert float(still[1][1]) == 16
        assert float(still[1][2]) == 60


PART = SingleDimensionPart(
    id="stage-1",
    title="Stage 1",
    role="stage",
    number=1,
    of=1,
    model="m/x",
    display="binary_image",
    dimensions=({"type": "continuous", "name": "z1", "low": 0.0, "high": 1.0, "step": 0.01},),
    visualisation="traversals",
    asked=(0, 0, 0, 0, 0),
    sampling="held_out",
    time_limit_s=None,
    think_aloud=False,
)


def question(number: int, seconds: int, *, right: bool) -> QuestionRecord:
    """Answered after so many seconds."""
    drawn = QuestionDrawn(0, "low", 0.1, 0, (0.1,), ((0.0, 0.2),), (((0.1,),),))
    made = QuestionRecord(PART, ("stage-1", number, 1), drawn)
    made.started_ns, made.answered_ns = 0, seconds * NS
    made.answer, made.outcome = AnswerGiven(0, right, 3, 3), "answered"
    return made


def test_the_last_answers_against_the_first_whatever_their_order() -> None:
    five = [
        question(4, 6, right=True),
        question(1, 20, right=False),
        question(3, 1000, right=False),  # the middle one is in neither group
        question(5, 4, right=True),
        question(2, 10, right=True),
    ]
    stage = QuestionStage(five)
    assert stage.size == 2
    assert stage.change("response_time_s") == pytest.approx(-10.0)
    assert stage.change("correctness_rate") == pytest.approx(0.5)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_too_few_answers_say_nothing_of_change(n: int) -> None:
    stage = QuestionStage([question(i + 1, 5, right=True) for i in range(n)])
    assert stage.size == 0
    assert stage.change("response_time_s") is stage.change("correctness_rate") is None


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


def session_properties(steps: list[tuple[int, str, int, int, int]]) -> SessionBuilder:
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


def comparable(trial: QuestionAttempt) -> tuple[object, ...]:
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
    trial = one_trial(session_properties(steps))
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
    plain = session_properties(steps)
    paused = session_properties(steps)
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


LENT, BACK = KeyboardGiven("moderator", "note"), KeyboardGiven("participant", "enter")

GONE, THERE = WindowFocus(focused=False), WindowFocus(focused=True)


def stamped(*payloads: tuple[float, Payload]) -> Stamped:
    """Events of a person's session at so many seconds."""
    return [
        (
            Event(
                seq, 1, round(at * NS), "", Source.SYSTEM, payload.kind, 1, None, None, None,
                payload.as_dict(),
            ),
            payload,
        )
        for seq, (at, payload) in enumerate(payloads, start=1)
    ]  # fmt: skip


def spans(*payloads: tuple[float, Payload]) -> list[tuple[float, float]]:
    return [(start / NS, end / NS) for start, end in spans_away(stamped(*payloads))]


def test_it_is_away_while_it_is_lent_or_the_window_has_none() -> None:
    assert spans((1, LENT), (4, BACK)) == [(1, 4)]
    # As it happens: the window is back before the keys are up.
    assert spans((1, GONE), (1, LENT), (4, THERE), (4.1, BACK), (9, GONE), (11, THERE)) == [
        (1, 4.1), (9, 11),
    ]  # fmt: skip
    assert spans((1, GONE), (3, SessionPaused("tea"))) == [(1, 3)]
    assert spans((1, SessionPaused("tea")), (2, LENT), (3, BACK), (4, SessionResumed("tea"))) == []
    assert spans(
        (1, SessionPaused("tea")), (2, LENT), (4, SessionResumed("tea")), (6, BACK)
    ) == [(4, 6)]  # fmt: skip
    assert spans((1, LENT), (7, THERE)) == [(1, 7)]


def test_a_new_run_begins_with_the_keyboard_at_the_participants() -> None:
    begun = SegmentStarted(2, "", "", "1", "0", gap_from_ns=5 * NS)
    found = spans((1, LENT), (9, begun), (12, SessionResumed("on")), (15, GONE), (16, THERE))
    assert found == [(1, 5), (15, 16)]


@given(
    st.lists(st.tuples(st.floats(0, 10), st.sampled_from([LENT, BACK, GONE, THERE])), max_size=12),
    st.floats(0, 12),
    st.floats(0, 12),
)
def test_within_agrees_with_every_moment(
    steps: list[tuple[float, Payload]], one: float, other: float
) -> None:
    steps.sort(key=lambda step: step[0])
    away = spans_away(stamped(*steps, (20, THERE), (20, BACK)))
    start, end = sorted((round(one * NS), round(other * NS)))
    lent = unfocused = False
    said = False
    for place, (at, payload) in enumerate(steps):
        lent = payload == LENT if isinstance(payload, KeyboardGiven) else lent
        unfocused = payload == GONE if isinstance(payload, WindowFocus) else unfocused
        until = steps[place + 1][0] if place + 1 < len(steps) else 20
        if (lent or unfocused) and round(at * NS) <= end and round(until * NS) >= start:
            said = True
    # Spans that touch are one.
    assert within(away, start, end) == said


def of_person(play: UnmaskingPlay, *between: tuple[int, Payload]) -> Stamped:
    """What was played, as by a person; between: payloads at session times."""
    made = of_play(play)
    events = [
        (event._replace(source=Source.PARTICIPANT if event.trial else Source.SYSTEM), payload)
        for event, payload in paired(made)
    ]
    for at_ns, payload in between:
        event = events[0][0]._replace(t_ns=at_ns, kind=payload.kind, payload=payload.as_dict(), v=1)
        place = sum(known.t_ns <= at_ns for known, _ in events)
        events.insert(place, (event._replace(part_id=None, trial=None, attempt=None), payload))
    return events


def annotations(events: Stamped) -> pd.DataFrame:
    return tables_of([SessionRecords.of(events, "test")]).annotations


def test_a_timed_trial_is_marked_when_it_fell_between_onset_and_response() -> None:
    play = UnmaskingPlay.of(sequences=3)
    times = []
    for _ in range(4):
        begun = play.now_ns
        play.respond(1, after_s=2)
        times.append((begun, play.now_ns))
    (first, _), (second, answered), (third, _), (fourth, _) = times
    rows = annotations(
        of_person(play, (second + NS // 2, LENT), (answered - NS // 2, BACK), (fourth + NS, GONE))
    )
    away = rows.set_index("trial")["keyboard_away"].to_dict()
    assert away == {1: False, 2: True, 3: False, 4: True} | {
        trial: True for trial in away if trial > 4
    }
    assert not rows[rows["trial"] == 2]["excluded"].any()  # the answer counts, the time does not
    assert first < second < third


def test_the_times_of_marked_trials_are_left_out_and_counted() -> None:
    play = UnmaskingPlay.of(sequences=3)
    play.respond(1, after_s=0.5)
    begun = play.now_ns
    play.respond(1, after_s=50)
    play.through(1)
    events = of_person(play, (begun + NS, LENT), (begun + 48 * NS, BACK))
    found = tables_of([SessionRecords.of(events, "test")])
    (group,) = groups_of(found)
    cells = AnnotationCells.of(group)
    assert len(cells.ms) == len(group.annotations)
    assert pd.isna(cells.ms).sum() == 1
    assert max(cells.ms[~pd.isna(cells.ms)]) == pytest.approx(500)
    stage = found.stages.iloc[0]
    assert stage["response_time_s"] == pytest.approx(0.5)
    assert stage["n_answered"] == len(group.annotations)
    said = " ".join(str(part) for part in timing(group))
    assert "Keyboard away, reaction time left out" in said
    trials = found.trials.set_index("trial")["keyboard_away"]
    assert trials.to_dict() == {n: n == 2 for n in trials.index}


def test_a_program_has_no_keyboard() -> None:
    play = UnmaskingPlay.of(sequences=1)
    play.respond(1)
    events = of_person(play, (0, LENT))
    assert annotations(events)["keyboard_away"].all()
    simulated = [
        (event._replace(source=Source.SIMULATED) if event.trial else event, payload)
        for event, payload in events
    ]
    assert not annotations(simulated)["keyboard_away"].any()


def test_prior_exposures_count_what_was_seen_before() -> None:
    play = UnmaskingPlay.of(sequences=1)
    play.respond(1)
    play.send(StimulusHidden())
    play.send(StimulusHidden())
    play.paints = False
    play.send(Pause("a call"))
    play.send(Resume("on"))
    play.send(Pause("another"))  # before it was painted
    play.send(Resume("on"))
    play.paints = True
    play.paint()
    play.through(1)
    rows = annotations(of_person(play))
    again = rows[rows["trial"] == 2]
    shown = again["painted_s"].notna().tolist()
    assert again["prior_exposures"].tolist() == [sum(shown[:n]) for n in range(len(shown))]
    assert again["prior_exposures"].max() >= 2
    assert rows[rows["trial"] != 2]["prior_exposures"].eq(0).all()
