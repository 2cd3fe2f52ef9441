"""Journals of the single-dimension task as earlier programs wrote them, kept for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.old_journals import FOLDER, tables_of

JOURNALS = sorted((FOLDER / "single").glob("*.jsonl"))

# stage, trial, outcome, response time, duration, first choice, correct, changes of choice and
# ratings, other examples: by hand. A pause of 60 s lies in stage-1's second question, a gap of
# 100 s in its third; the moderator skipped the stage in its fourth.
BY_HAND = [
    ("practice", 1, "answered", 5, 6, 4, True, 0, 0, 0),
    ("practice", 2, "answered", 3, 4, 2, True, 0, 0, 0),
    ("practice", 3, "answered", 3, 4, 2, False, 0, 0, 0),
    ("stage-1", 1, "answered", 6, 8, 2, True, 1, 1, 1),
    ("stage-1", 2, "answered", 5, 6, 2, False, 0, 0, 0),
    ("stage-1", 3, "answered", 6, 7, 2, True, 0, 0, 1),
    ("stage-1", 4, "stage_skipped", None, 3, 2, None, 0, 0, 0),
]
COLUMNS = (
    *("stage", "trial", "outcome", "response_s", "duration_s", "first_choice_s", "correct"),
    *("choice_changes", "rating_changes", "resamples"),
)


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: path.stem)
def test_an_old_journal_means_what_it_meant(path: Path) -> None:
    tables = tables_of(path)
    found = [tuple(row[name] for name in COLUMNS) for row in tables["trials"]]
    assert found == BY_HAND
    assert [row["dimension"] for row in tables["trials"]] == [2, 2, 2, 3, 3, 1, 1]
    assert tables["trials"][-1]["excluded_because"] is not None
    (stage,) = tables["stages"]
    assert (stage["outcome"], stage["n_planned"], stage["n_trials"]) == ("skipped", 4, 3)
    assert (stage["n_answered"], stage["n_correct"]) == (3, 2)
    assert stage["response_time_s"] == pytest.approx(17 / 3)
    assert (stage["confidence"], stage["understanding"]) == pytest.approx((3, 11 / 3))
    (person,) = tables["participants"]
    assert (person["practice_asked"], person["practice_correct"]) == (3, 2)
