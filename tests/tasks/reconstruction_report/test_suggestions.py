"""What a calibration's marks and times say: worked by hand, and against a plain search."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.analysis.analyze import report
from labapp.analysis.calibration import separation, skip_after_s
from labapp.analysis.rows import SessionRecords
from labapp.analysis.tables import Tables, tables_of
from labapp.models.representations.card import UNKNOWN
from labapp.record.events.lifecycle import (
    InclusionDecided,
    PartEnded,
    PartStarted,
    SessionPaused,
    SessionResumed,
)
from labapp.tasks.reconstruction.events import AlignmentMarked
from labapp.tasks.reconstruction.report.contents import suggestions
from tests.analysis.sessions import begin_trial, builder, end_trial, move, paired, stage_row
from tests.helpers.journals import SessionBuilder

DRAWN = True


def test_marks_that_do_not_overlap_are_separated_in_the_middle() -> None:
    found = separation([0.1, 0.4, 0.6], [0.8, 0.9])
    assert found is not None
    assert (found.low, found.high, found.balanced_accuracy) == (0.6, 0.8, 1.0)
    assert found.target == pytest.approx(0.7)
    assert found.epsilon == pytest.approx(0.3)


def test_one_mark_on_the_wrong_side_counts_by_its_kind() -> None:
    # Above 0.6: 3 of 4 far marks are below, all close marks above: (3/4 + 1) / 2.
    # Above 0.85: all far marks below, 1 of 2 close marks above: (1 + 1/2) / 2 = 0.75 < 0.875.
    found = separation([0.1, 0.4, 0.6, 0.85], [0.8, 0.9])
    assert found is not None
    assert (found.low, found.high) == (0.6, 0.8)
    assert found.balanced_accuracy == 0.875


def test_of_equally_good_intervals_the_widest_counts_then_the_highest() -> None:
    # (0.1, 0.2) and (0.3, 0.7) separate with 3/4 each.
    found = separation([0.1, 0.3], [0.2, 0.7])
    assert found is not None
    assert (found.low, found.high, found.balanced_accuracy) == (0.3, 0.7, 0.75)
    found = separation([0.125, 0.375], [0.25, 0.5])
    assert found is not None
    assert (found.low, found.high) == (0.375, 0.5)


@pytest.mark.parametrize(
    ("far", "close"),
    [([], [0.9]), ([0.1], []), ([0.5, 0.5], [0.5]), ([0.9, 0.8], [0.1]), ([0.2, 0.4], [0.2, 0.4])],
)
def test_nothing_is_suggested_where_nothing_separates(far: list[float], close: list[float]) -> None:
    assert separation(far, close) is None


ALIGNMENTS = st.lists(st.integers(0, 40).map(lambda n: n / 40), min_size=1, max_size=12)


@given(ALIGNMENTS, ALIGNMENTS)
def test_no_other_alignment_separates_better(far: list[float], close: list[float]) -> None:
    def accuracy(target: float) -> float:
        below = sum(value < target for value in far) / len(far)
        return (below + sum(value > target for value in close) / len(close)) / 2

    most = max(accuracy(n / 80 + 1 / 160) for n in range(-1, 82))
    found = separation(far, close)
    if found is None:
        assert most <= 0.5
        return
    assert accuracy(found.target) == pytest.approx(found.balanced_accuracy)
    assert found.balanced_accuracy == pytest.approx(most)
    assert found.low < found.target < found.high
    assert not any(found.low < value < found.high for value in [*far, *close])


@pytest.mark.parametrize(
    ("active_s", "expected"),
    [([], None), ([0.2], 5), ([14.0, 15.5, 40.0], 30), ([22.0, 24.0], 45), ([16.25], 35)],
)
def test_t_is_a_round_number_near_twice_the_median(
    active_s: list[float], expected: int | None
) -> None:
    assert skip_after_s(active_s) == expected


def mark(made: SessionBuilder, t: float, kind: str, alignment: float, trial: int = 1) -> None:
    made.at(t, AlignmentMarked(kind, 1, alignment), "stage-1", trial)


def session() -> Tables:
    """Two questions marked, with a pause in the first; a third is skipped, a fourth cut off."""
    made = builder(stage_row(marks=True, trials=4))
    made.at(1, PartStarted(0), "stage-1")
    begin_trial(made, 10)
    mark(made, 12, "far", 0.25)
    made.at(13, SessionPaused("x"))
    made.at(113, SessionResumed("x"))
    move(made, 114, 1, 1, 0.5, error=4)
    mark(made, 115, "close", 0.8)
    end_trial(made, 116, "marked")
    begin_trial(made, 120, trial=2)
    mark(made, 121, "far", 0.4, trial=2)
    mark(made, 130, "close", 0.9, trial=2)
    end_trial(made, 131, "marked", trial=2)
    begin_trial(made, 140, trial=3)
    mark(made, 141, "far", 0.6, trial=3)
    end_trial(made, 150, "skipped", trial=3)
    begin_trial(made, 160, trial=4)
    mark(made, 161, "far", 0.99, trial=4)
    end_trial(made, 162, "stage_skipped", trial=4)
    made.at(163, PartEnded(0, "skipped"), "stage-1")
    made.at(164, InclusionDecided(True, (), {}))
    return tables_of([SessionRecords.of(paired(made), "test")])


def test_the_table_of_marks() -> None:
    marks = session().marks
    assert marks["mark"].tolist() == ["far", "close", "far", "close", "far", "far"]
    assert marks["alignment"].tolist() == [0.25, 0.8, 0.4, 0.9, 0.6, 0.99]
    assert marks["trial_s"].tolist() == [2, 5, 1, 10, 1, 1]  # the pause is taken out
    assert marks["trial"].tolist() == [1, 1, 2, 2, 3, 4]
    assert marks["excluded"].tolist() == [False] * 5 + [True]
    assert set(marks["model"]) == {"mnist8k/ss2"}


def test_a_calibration_is_not_completed_in_the_tables() -> None:
    tables = session()
    (stage,) = tables.stages.to_dict("records")
    assert stage["task"] == "calibration"
    assert pd.isna(stage["completion_rate"])
    assert pd.isna(stage["n_solved"])
    assert pd.isna(stage["change_completion_rate"])
    assert stage["n_trials"] == 3
    assert stage["response_time_s"] == pytest.approx((6 + 11 + 10) / 3)
    assert tables.trials["outcome"].tolist() == ["marked", "marked", "skipped", "stage_skipped"]
    assert tables.trials["target_alignment"].isna().all()


def test_suggestions_use_what_counts() -> None:
    tables = session()
    (found,) = suggestions(tables.trials, tables.marks)
    assert found.dataset == UNKNOWN, "the model has no card here"
    assert found.far == (0.25, 0.4, 0.6)
    assert found.close == (0.8, 0.9)
    assert found.separation is not None
    assert found.separation.target == pytest.approx(0.7)
    # First: 2 s to the mark, 2 s to the move, 1 to the mark, 1 to Next. Second: 1 + 3 of 9 + 1.
    assert (found.questions, found.median_duration_s) == (2, 8.5)
    assert found.median_active_s == pytest.approx((6 + 5) / 2)
    assert found.skip_after_s == 10


def test_the_report_says_what_is_suggested() -> None:
    page = report(session())
    assert "how close is close enough" in page
    assert "70.0" in page
    assert "60.0 to 80.0" in page
    assert "-marks-" in page
    assert "Completion rate</text>" not in page
