"""The recipe "add a questionnaire"."""

from __future__ import annotations

import csv
from pathlib import Path

from tests.recipes.conftest import Follow


def test_a_questionnaire_is_asked_as_the_page_says(follow: Follow, tmp_path: Path) -> None:
    with follow("questionnaire") as recipe:
        assert "Questionnaire trust" in recipe.outputs["studies show trust-study.yaml"]
    with (tmp_path / "results/answers.csv").open() as stream:
        answers = [row for row in csv.DictReader(stream) if row["instrument"] == "trust"]
    assert {row["item"] for row in answers} == {"trust_rely", "trust_wary", "trust_why"}
    assert {row["stage"] for row in answers} == {"stage-1-trust"}
    rated = [float(row["value"]) for row in answers if row["item"] != "trust_why"]
    assert len(rated) == 4
    assert all(1 <= value <= 7 for value in rated)
    with (tmp_path / "results/scores.csv").open() as stream:
        scores = [row for row in csv.DictReader(stream) if row["instrument"] == "trust"]
    by_person = {row["participant"]: row for row in answers if row["item"] == "trust_rely"}
    wary = {row["participant"]: row for row in answers if row["item"] == "trust_wary"}
    for row in scores:
        rely, other = (float(found[row["participant"]]["value"]) for found in (by_person, wary))
        assert float(row["value"]) == (rely + 8 - other) / 2
        assert (row["score"], row["low"], row["high"]) == ("trust", "1.0", "7.0")
    assert len(scores) == 2
