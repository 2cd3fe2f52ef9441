"""The recipe "add a task"."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from labapp.study.plugins import registry
from labapp.testing import problems_of
from tests.helpers.installed import on_path
from tests.helpers.recipes import Recipe
from tests.recipes.conftest import Follow


def test_a_task_is_added_as_the_page_says(follow: Follow, tmp_path: Path) -> None:
    with follow("task") as recipe:
        assert "picture-rating" in recipe.outputs["plugins list"]
        with (tmp_path / "results/ratings.csv").open() as stream:
            ratings = list(csv.DictReader(stream))
        assert len(ratings) == 10
        assert {int(row["rating"]) for row in ratings} <= set(range(1, 8))
        report = (tmp_path / "results/report.html").read_text()
        assert ">Ratings</h3>" in report
        assert all(row["picture"] in report for row in ratings)


LEFT_OUT = {
    "what the tables call it": (
        '    @property\n    def task(self) -> str:\n        return "picture-rating"\n',
        "RatingPart does not say its `task`: give it a field or a property",
    ),
    "what shows a trial": ("    shown = (RatingShown.kind,)\n", "name their kinds in `shown`"),
    "what begins a trial": (
        "return QuestionPictures(part, context)  # files, there at once",
        "its `pictures` ask for what begins a trial",
    ),
}
"""What somebody who follows the page can leave out, and what the kit says then."""


@pytest.mark.parametrize("what", LEFT_OUT)
def test_what_is_left_out_is_named(tmp_path: Path, what: str) -> None:
    left_out, sentence = LEFT_OUT[what]
    recipe = Recipe("task", tmp_path, run=lambda arguments: "")
    recipe.write_files()
    path = tmp_path / "picture-rating/picture_rating/task.py"
    content = path.read_text()
    assert content.count(left_out) == 1
    instead = "return super().pictures(part, context)" if "return " in left_out[:8] else ""
    path.write_text(content.replace(left_out, instead))
    with on_path(recipe.install("picture-rating")):
        sentences = problems_of(registry.task_types()[-1], "picture-rating", examples=1)
    assert sentence in sentences[0]
