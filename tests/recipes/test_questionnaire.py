"""The recipe "add a questionnaire"."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from statistics import fmean

from labapp.session.bids.verify import verify
from tests.helpers.recipes import Recipe
from tests.recipes.conftest import Follow


def test_a_questionnaire_is_asked_as_the_page_says(follow: Follow, tmp_path: Path) -> None:
    with follow("questionnaire") as recipe:
        assert "Questionnaire trust" in recipe.outputs["studies show trust-study.yaml"]
        _check_what_a_package_brings(recipe, tmp_path)
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


def _check_what_a_package_brings(recipe: Recipe, tmp_path: Path) -> None:
    """The affect grid in tables and bundle, as the end of the page says."""
    assert "mean_arousal" in recipe.outputs["plugins list"]
    with (tmp_path / "feelings/answers.csv").open() as stream:
        answers = [row for row in csv.DictReader(stream) if row["instrument"] == "feeling"]
    squares = {(row["participant"], row["item"]): json.loads(row["value_text"]) for row in answers}
    assert len(squares) == 4
    assert {row["kind"] for row in answers} == {"affect_grid"}
    for row in answers:
        pleasure = squares[row["participant"], row["item"]]["pleasure"]
        assert float(row["value"]) == pleasure
    with (tmp_path / "feelings/scores.csv").open() as stream:
        scores = {row["participant"]: row for row in csv.DictReader(stream)}
    for participant, row in scores.items():
        own = [squares[participant, item]["arousal"] for item in ("now", "model")]
        assert (row["score"], float(row["value"])) == ("arousal", fmean(own))
        assert (row["low"], row["high"]) == ("", "")
    table = tmp_path / "felt-bundle/phenotype/feeling.tsv"
    header, *rows = [line.split("\t") for line in table.read_text().splitlines()]
    for cells in rows:
        row = dict(zip(header, cells, strict=True))
        participant = row["participant_id"].removeprefix("sub-")
        square = squares[participant, "now"]
        (arousal,) = [name for name in row if name.endswith("_now_arousal")]
        assert int(row[arousal]) == square["arousal"]
        assert int(row[arousal.removesuffix("_arousal")]) == square["pleasure"]
    described = json.loads(table.with_suffix(".json").read_text())
    assert described[arousal]["Description"].startswith("How arousing, 1 to 9: How do you feel")
    assert verify(tmp_path / "felt-bundle").ok
