"""Single questions, each with its numbers worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from labapp.base.errors import RecordError
from labapp.record.events import Source
from labapp.record.events.lifecycle import NoteAdded, SessionPaused, SessionResumed
from labapp.record.events.trials import TrialEnded
from labapp.tasks.reconstruction.events import (
    DialSelected,
    LabelEdited,
    OverlayToggled,
    PictureDecoded,
    SkipOffered,
    TrialDrawn,
    TrialSolved,
)
from tests.analysis.sessions import (
    TARGET,
    ZERO,
    begin_trial,
    builder,
    end_trial,
    move,
    one_trial,
    reconstruction,
    records,
    seconds,
    stage_row,
)


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
