"""Journals of judged explanations as earlier programs wrote them, kept for ever.

Each has the warm-up (right, then wrong about a prediction that is right) and a stage of four
photos; the model has the second and the fourth wrong where the task has such.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from labapp.base.errors import RecordError
from labapp.study.plugins import registry
from tests.helpers.old_journals import FOLDER, read, tables_of

JUDGING = FOLDER / "judging"
WARM_UP = [(True, True, 3), (False, False, 3)]
COLUMNS = (
    *("outcome", "chosen", "right_output", "right_distinction", "right_agreement"),
    *("first_step_error", "duration_s", "elapsed_s", "n_changes", "n_rated"),
)
NO = None

# By hand. heatmaps: the description is open for 3 s in the first photo, a pause of 60 s lies in the
# second, a gap of 100 s in the third, and the moderator skipped the stage in the fourth.
# path-distinction: the second step of the first photo was taken back once.
PHOTOS = {
    "heatmaps": [
        ("judged", "gull", True, True, NO, NO, 9, 9, 1, 0),
        ("judged", "finch", True, False, NO, NO, 5, 65, 0, 0),
        ("judged", "ibis", False, True, NO, NO, 5, 105, 0, 0),
        ("stage_skipped", NO, False, NO, NO, NO, NO, NO, 0, 0),
    ],
    "prototype-distinction": [
        ("judged", chosen, NO, False, NO, NO, 11, 11, 0, 8)
        for chosen in ("finch", "gull", "heron", "ibis")
    ],
    "prototype-agreement": [
        ("judged", NO, NO, NO, right, NO, 5, 5, 0, 3) for right in (True, False, True, True)
    ],
    "path-distinction": [
        ("judged", "gull", NO, True, NO, NO, 6, 6, 1, 0),
        ("judged", "ibis", NO, False, NO, NO, 4, 4, 0, 0),
        ("judged", "ibis", NO, True, NO, NO, 4, 4, 0, 0),
        ("judged", "finch", NO, True, NO, NO, 4, 4, 0, 0),
    ],
    "path-agreement": [
        ("judged", NO, NO, NO, right, NO, 5, 5, 0, 3) for right in (False, True, True, False)
    ],
    "path-first-step": [
        ("judged", NO, NO, NO, True, "exact", 5, 5, 0, 0),
        ("judged", NO, NO, NO, True, "too_early", 3, 3, 0, 0),
        ("judged", NO, NO, NO, False, "too_early", 3, 3, 0, 0),
        ("judged", NO, NO, NO, True, "exact", 3, 3, 0, 0),
    ],
}
# Outcome, photos judged, right, hits as told, hits without the lot, ties.
STAGES = {
    "heatmaps": ("skipped", 3, 2, NO, NO, NO),
    "prototype-distinction": ("completed", 4, 0, NO, NO, NO),
    "prototype-agreement": ("completed", 4, 3, 4, 3, 2),
    "path-distinction": ("completed", 4, 3, NO, NO, NO),
    "path-agreement": ("completed", 4, 2, 2, 2, 0),
    "path-first-step": ("completed", 4, 3, 2, 2, 0),
}


@pytest.mark.parametrize("name", PHOTOS)
def test_an_old_journal_means_what_it_meant(name: str) -> None:
    tables = tables_of(JUDGING / f"{name}.jsonl")
    rows = tables["judgements"]
    exercises = [row for row in rows if row["task"] == "warm-up"]
    found = [(row["right_verdict"], row["right_mistake"], row["duration_s"]) for row in exercises]
    assert found == WARM_UP
    photos = [row for row in rows if row["task"] != "warm-up"]
    assert [tuple(row[column] for column in COLUMNS) for row in photos] == PHOTOS[name]
    (stage,) = tables["stages"]
    columns = ("outcome", "n_answered", "n_correct", "hits", "expected_hits", "n_ties")
    assert tuple(stage[column] for column in columns) == STAGES[name]


def test_ratings_stay_with_their_rows() -> None:
    rows = tables_of(JUDGING / "prototype-distinction.jsonl")["similarities"]
    first = [row for row in rows if row["trial"] == 1]
    assert [row["rating"] for row in first] == [2, 3, 4, 1, 2, 3, 4, 1]
    assert [row["of_chosen"] for row in first] == [True] * 2 + [False] * 6
    assert [row["rank"] for row in first] == [2, 1] * 4
    assert [row["similarity"] for row in first] == [0.3, 0.3, 0.9, 0.9, 0.3, 0.3, 0.3, 0.3]


def test_descriptions_and_trees_were_opened() -> None:
    rows = tables_of(JUDGING / "heatmaps.jsonl")["judgements"]
    first = next(row for row in rows if row["stage"] == "stage-1")
    assert (first["n_description_opened"], first["description_s"]) == (1, 3)
    tree = tables_of(JUDGING / "path-first-step.jsonl")["judgements"][2]
    assert (tree["n_tree_opened"], tree["description_s"]) == (1, 0)


@pytest.mark.parametrize("changes", [{"first_wrong": 9}, {"attributes": ["none"]}])
def test_an_exercise_whose_mistake_is_none_that_is_asked_about_is_refused(
    changes: dict[str, Any],
) -> None:
    plan = json.loads(read(JUDGING / "heatmaps.jsonl")[0].payload)["plan"]
    row = next(row for row in plan if row["part"] == "warm_up")
    exercise = next(one for one in row["exercises"] if one["first_wrong"] is not None)
    assert registry.read_part(row).id == row["id"]
    exercise |= changes
    with pytest.raises(RecordError, match="not among those that are asked about"):
        registry.read_part(row)
