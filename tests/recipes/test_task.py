"""The recipe "add a task"."""

from __future__ import annotations

import csv
from pathlib import Path

from tests.recipes.conftest import Follow


def test_a_task_is_added_as_the_page_says(follow: Follow, tmp_path: Path) -> None:
    with follow("task") as recipe:
        assert "picture-rating" in recipe.outputs["plugins list"]
        with (tmp_path / "results/ratings.csv").open() as stream:
            ratings = list(csv.DictReader(stream))
        assert len(ratings) == 10
        assert {int(row["rating"]) for row in ratings} <= set(range(1, 8))
