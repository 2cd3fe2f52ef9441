"""The folder of scores: made first, whole or not there, never over anything."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from labapp.base.errors import MetricError
from labapp.models.metrics.evaluation import scores
from labapp.models.metrics.evaluation.scores import MetricOutcome
from labapp.models.metrics.inputs import Score
from labapp.models.metrics.registry import METRICS

NAMES = ("c1", "c2"), ("z1", "z2")


def outcomes() -> list[MetricOutcome]:
    parts = {"importance": np.eye(2), "r2_test": np.array([0.5, np.nan])}
    return [
        MetricOutcome(METRICS["dci"], Score("dci", 0.5, parts, {"seed": 0})),
        MetricOutcome(METRICS["ois"], reason="no classes"),
    ]


def broken_off(path: Path) -> None:
    path.write_text("{}")
    raise FileNotFoundError


def test_every_outcome_is_kept_and_what_is_undefined_is_null(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "scores"
    with scores.new_folder(out):
        written = scores.write(outcomes(), *NAMES, out)
    assert sorted(written) == sorted(out.iterdir())
    whole = json.loads((out / "scores.json").read_text(encoding="utf-8"))
    assert whole["scores"][0]["parts"]["r2_test"] == [0.5, None]
    assert whole["scores"][1] == {"metric": "ois", "score": None, "reason": "no classes"}
    lines = (out / "scores.csv").read_text(encoding="utf-8").splitlines()
    assert lines[1].startswith("dci,")
    assert ",0.5,higher," in lines[1]
    assert lines[2] == "ois,Oracle impurity score,,lower,no classes"


def test_without_a_score_there_is_no_figure(tmp_path: Path) -> None:
    with scores.new_folder(tmp_path / "scores"):
        scores.write(outcomes()[1:], *NAMES, tmp_path / "scores")
    assert {path.name for path in (tmp_path / "scores").iterdir()} == {"scores.json", "scores.csv"}


def test_a_folder_that_came_to_nothing_is_taken_away_again(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), scores.new_folder(tmp_path / "scores"):
        raise KeyboardInterrupt
    assert not (tmp_path / "scores").exists()
    with pytest.raises(FileNotFoundError), scores.new_folder(tmp_path / "kept"):
        broken_off(tmp_path / "kept/scores.json")
    assert (tmp_path / "kept" / "scores.json").is_file()


def test_what_is_there_is_never_written_over(tmp_path: Path) -> None:
    with pytest.raises(MetricError, match="exists"), scores.new_folder(tmp_path):
        pytest.fail("the folder was taken for a new one")
    (tmp_path / "scores.json").write_text("mine")
    with pytest.raises(MetricError, match="cannot be written"):
        scores.write(outcomes(), *NAMES, tmp_path)
    assert (tmp_path / "scores.json").read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(MetricError, match="cannot be made"),
        scores.new_folder(tmp_path / "file/in"),
    ):
        pytest.fail("there is no such folder")
