"""The golden session against the numbers worked out by hand in tests/helpers/golden.py."""

from __future__ import annotations

import pandas as pd
import pytest

import labapp.analysis
from labapp.analysis import Tables
from tests.helpers.journals import golden_session

BY_HAND = {
    # stage, trial: outcome, response time, aligned after, AUC (sum x s), slide widths, active
    ("stage-1", 1): ("solved", 6.5, 5.0, 176.0, 0.625, 6.5),
    ("stage-1", 2): ("skipped", 9.0, None, 840.0, 0.2, 7.0),
    ("stage-2", 1): ("solved", 8.0, 6.1, 41.95, 0.5, 8.0),
    ("stage-2", 2): ("solved", 7.25, 6.25, 64.0, 1.0, 7.25),
    ("stage-3", 1): ("solved", 4.0, 3.0, 124.0, 1.1, 4.0),
    ("stage-3", 2): ("solved", 1.0, 0.0, 1.0, 0.0, 1.0),
}
AT_START = ("stage-3", 2)
"""It was solved before the first move."""
PIXELS = {"stage-1": 64, "stage-2": 64, "stage-3": 784}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    return labapp.analysis.load(golden_session(tmp_path_factory.mktemp("data")))


@pytest.fixture
def trials(tables: Tables) -> pd.DataFrame:
    chosen = tables.trials[tables.trials["role"] == "stage"]
    return chosen.set_index(["stage", "trial"])


@pytest.mark.parametrize("key", BY_HAND, ids=str)
def test_questions_by_hand(trials: pd.DataFrame, key: tuple[str, int]) -> None:
    outcome, duration, solved, auc, slides, active = BY_HAND[key]
    row = trials.loc[key]
    assert row["outcome"] == outcome
    assert row["duration_s"] == pytest.approx(duration, abs=1e-9)
    assert pd.isna(row["solved_s"]) if solved is None else row["solved_s"] == pytest.approx(solved)
    assert row["error_auc_sum"] == pytest.approx(auc, abs=1e-9)
    assert row["error_auc_mean"] == pytest.approx(auc / PIXELS[key[0]], abs=1e-9)
    assert row["slide_distance"] == pytest.approx(slides, abs=1e-9)
    assert row["active_s"] == pytest.approx(active, abs=1e-9)
    assert bool(row["excluded"]) == (key == AT_START)


def test_every_question_is_there(trials: pd.DataFrame, tables: Tables) -> None:
    assert set(trials.index) == set(BY_HAND)
    assert (tables.trials["role"] == "practice").sum() == 3


def test_one_question_in_full(trials: pd.DataFrame) -> None:
    row = trials.loc[("stage-1", 1)]
    assert row["z_start"] == [0.0, 0.0, 1.0, 1.0, 0.0]
    assert row["z_target"] == row["z_end"] == [0.5, 1.0, 1.0, 1.0, 0.0]
    assert row["slides"] == [1, 1, 0, 0, 0]
    assert row["selections"] == [1, 0, 0, 0, 0]
    assert row["slide_distance_by_dimension"] == [0.25, 0.375, 0, 0, 0]
    assert (row["dimension_switches"], row["direction_reversals"]) == (1, 1)
    assert (row["alignment_start"], row["alignment_final"]) == (0.25, 1.0)
    assert (row["moved_by_mouse"], row["moved_by_keyboard"]) == (1.0, 0.0)
    assert row["started_session_s"] == 28.0


def test_active_time_as_published_leaves_out_long_gaps(trials: pd.DataFrame) -> None:
    # Stage 1, question 2: snapshots at 0, 1, 7 and 9 s; the gap of 6 s counts nothing.
    assert trials.loc[("stage-1", 2), "active_s_as_published"] == pytest.approx(3.0)


def test_flags_of_single_questions(trials: pd.DataFrame) -> None:
    assert trials.loc[("stage-3", 2), "aligned_at_start"]
    assert trials["aligned_at_start"].sum() == 1
    assert trials.loc[AT_START, "excluded_because"] == "solved before the first move"
    assert (trials["redrawn"] == 0).all()
    assert trials.loc[("stage-1", 2), "overlay_toggles"] == 1
    assert trials.loc[("stage-1", 2), "moved_by_keyboard"] == 1.0
    assert trials.loc[("stage-3", 1), "label_edits"] == 1
    assert trials.loc[("stage-3", 1), "slide_distance_by_dimension"] == pytest.approx([1.0, 0.1])


def test_stages_by_hand(tables: Tables) -> None:
    stages = tables.stages.set_index("stage")
    assert list(stages["model"]) == ["sinelines/gt", "sinelines/vae", "mnist8k/ss2"]
    assert list(stages["completion_rate"]) == [0.5, 1.0, 1.0]
    assert list(stages["response_time_s"]) == pytest.approx([7.75, 7.625, 4.0])
    assert list(stages["slide_distance"]) == pytest.approx([0.4125, 0.75, 1.1])
    assert list(stages["error_auc_sum"]) == pytest.approx([1016.0, 105.95, 124.0])
    assert list(stages["error_auc_mean"]) == pytest.approx([1016 / 64, 105.95 / 64, 124 / 784])
    assert list(stages["duration_s"]) == pytest.approx([16.0, 16.25, 6.0])
    assert list(stages["seq"][:2]) == [4.0, 5.0]
    assert pd.isna(stages["seq"].iloc[2])
    assert list(stages["n_trials"]) == [2, 2, 1]


def test_answers_keep_the_first_response_and_the_one_that_counts(tables: Tables) -> None:
    answers = tables.answers.set_index("stage")
    changed = answers.loc["stage-1-seq"]
    assert (changed["first_value"], changed["value"], changed["changes"]) == (3.0, 4.0, 1)
    assert (changed["first_s"], changed["last_s"], changed["submitted_s"]) == (2.0, 3.0, 4.0)
    assert changed["response_s"] == 2.0
    assert (changed["about"], changed["model"]) == ("stage-1", "sinelines/gt")
    assert changed["instrument_version"] == 1
    skipped = answers.loc["stage-3-seq"]
    assert skipped["value"] == 6.0
    assert not skipped["submitted"]


def test_labels(tables: Tables) -> None:
    (row,) = tables.labels.to_dict("records")
    assert (row["stage"], row["dimension"], row["text"]) == ("stage-3", 2, "slant")
    assert (row["trial"], row["session_s"], row["final"]) == (1, 113.0, True)


def test_the_participant(tables: Tables) -> None:
    (row,) = tables.participants.to_dict("records")
    assert (row["study"], row["participant"], row["session"]) == ("golden", "P01", "1")
    assert row["outcome"] == "completed"
    assert row["complete"]
    assert not row["simulated"]
    assert row["models"] == "sinelines/gt, sinelines/vae, mnist8k/ss2"
    assert (row["elapsed_s"], row["duration_s"]) == (124.0, 81.0)
    assert (row["n_pauses"], row["paused_s"], row["n_gaps"], row["gap_s"]) == (1, 10.0, 1, 32.0)
    assert (row["sound_s"], row["sound_lost_s"]) == (91.0, 0.5)
    assert row["focus_losses"] == 1
    assert row["n_deviations"] == len(tables.deviations)


def test_deviations(tables: Tables) -> None:
    found = {(row["kind"], row["session_s"]): row for row in tables.deviations.to_dict("records")}
    assert set(found) == {
        ("paused", 32.0),
        ("focus_lost", 72.25),
        ("interrupted", 72.25),
        ("sound_lost", 113.0),
        ("alarm", 116.0),
        ("aligned_at_start", 117.0),
        ("part_skipped", 120.0),
    }
    assert found["paused", 32.0]["duration_s"] == 10.0
    assert found["paused", 32.0]["detail"] == "The participant asked for water."
    assert found["interrupted", 72.25]["duration_s"] == 32.0
    assert found["interrupted", 72.25]["stage"] == "stage-2"
    assert found["alarm", 116.0]["duration_s"] == 1.5
    assert found["sound_lost", 113.0]["duration_s"] == 0.5
    assert found["aligned_at_start", 117.0]["trial"] == 2


def test_snapshots(tables: Tables) -> None:
    chosen = tables.snapshots[
        (tables.snapshots["stage"] == "stage-2") & (tables.snapshots["trial"] == 2)
    ]
    # The gap of 32 s after the kill is taken out of the times.
    assert list(chosen["t_s"]) == pytest.approx([0.0, 1.0, 3.0, 5.25, 6.25, 7.25])
    assert list(chosen["error_sum"]) == [20.0, 12.0, 8.0, 2.0, 0.0, 0.0]
    assert [None if pd.isna(d) else d for d in chosen["dimension"]] == [None, 1, 1, 2, 1, 1]
    assert list(chosen["z"].iloc[-1]) == [1.0, 2.0]
