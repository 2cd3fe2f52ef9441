"""Recipes of the documentation, followed from their first line to the last."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from labapp.models.explanations.building import sets
from labapp.models.metrics.registry import METRICS
from labapp.models.stimuli import library
from labapp.session.bids.verify import verify
from labapp.session.resuming import is_finished, read_verified_events
from labapp.study.loading import load
from labapp.study.plugins import registry
from labapp.testing import problems_of
from labapp.ui.strings import strings_of
from tests.helpers.installed import on_path
from tests.helpers.recipes import Recipe
from tests.recipes.conftest import Follow


def test_pictures_become_a_study_as_the_page_says(follow: Follow, tmp_path: Path) -> None:
    with follow("data-set") as recipe:
        assert "Discs and squares" in recipe.outputs["models show own/shapes"]
    (session,) = (tmp_path / "simulated" / "shapes-study").glob("sub-*")
    events = read_verified_events(session)
    assert is_finished(events)
    drawn = [event.payload for event in events if event.kind == "stimulus.drawn"]
    assert {stimulus["truth"] for stimulus in drawn} == {"disc", "square"}


def test_sessions_leave_in_another_format_as_the_page_says(follow: Follow, tmp_path: Path) -> None:
    with follow("exporter"):
        pass
    (path,) = (tmp_path / "answers").iterdir()
    answers = [json.loads(line) for line in path.read_text().splitlines()]
    assert path.name == "P01-1.jsonl"
    assert {"seq"} <= {answer["item"] for answer in answers}
    assert [path.name for path in (tmp_path / "shared").iterdir()] == ["P01-1.jsonl"]


def test_a_study_speaks_another_language_as_the_page_says(follow: Follow, tmp_path: Path) -> None:
    with follow("language"):
        assert list((tmp_path / "screens").glob("*.png"))
        words = strings_of(load(tmp_path / "studie.yaml"))
    assert words("question_of", number=1, of=2) == "Vraag 1 van 2"
    assert words.number("1.5") == "1,5"


def test_a_metric_is_computed_as_the_page_says(follow: Follow) -> None:
    with follow("metric") as recipe:
        assert "usage" in METRICS
        told, strict = (out for command, out in recipe.outputs.items() if "usage" in command)
    assert "0.5" in told
    score = json.loads(strict)
    assert (score["metric"], score["score"]) == ("usage", 0.5)
    assert score["settings"]["threshold"] == 0.99
    assert len(score["parts"]["per_code"]) == 2
    assert "usage" not in METRICS


def test_a_method_explains_birds_as_the_page_says(
    follow: Follow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = sets.load_test_rows
    # As many photos as one set needs; painting two thousand takes most of the time.
    monkeypatch.setattr(sets, "load_test_rows", lambda *of: replace(whole(*of), per_species=9))
    with follow("explanation") as recipe:
        assert "bird-occlusion" in recipe.outputs["plugins list"]
        assert "birds-occlusion" in recipe.outputs["stimuli list"]
        manifest = library.load("birds-occlusion").manifest
    assert manifest.method.name == "Occlusion"
    assert [len(photo.heatmaps) for photo in manifest.photos] == [4] * 10
    (session,) = (tmp_path / "simulated" / "occlusion-study").glob("sub-*")
    assert is_finished(read_verified_events(session))


def test_a_kind_of_items_is_added_as_the_page_says(follow: Follow, tmp_path: Path) -> None:
    with follow("questionnaire") as recipe:
        assert "mean_arousal" in recipe.outputs["plugins list"]
        with (tmp_path / "feelings/answers.csv").open() as stream:
            answers = [row for row in csv.DictReader(stream) if row["instrument"] == "feeling"]
        squares = {
            (row["participant"], row["item"]): json.loads(row["value_text"]) for row in answers
        }
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
