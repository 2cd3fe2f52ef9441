"""A study's own labels: in its report, by language; not in the tables."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from labapp.analysis import analyze
from labapp.analysis.declared import labels_of
from labapp.analysis.tables import load
from labapp.analysis.wording import titles_of_models
from labapp.base import resources
from labapp.session.simulation.simulation_job import simulate_study
from tests.helpers.beside import put_beside

STUDY = """\
id: labelled
title: Labelled
version: 1
languages: [en, de]
recording: {audio: "off"}
design: {within: [model], per_cell: 4}
labels:
  completion_rate: {en: Questions solved, de: Gelöste Fragen}
  sinelines/gt: True dials
analysis:
  outcomes: {primary: [completion_rate], secondary: [response_time_s]}
  contrasts: [{name: sinelines/gt first, weights: {model: {sinelines/gt: 1, sinelines/ae: -1}}}]
  smallest_effect: {completion_rate: {contrast: sinelines/gt first, raw: 0.2}}
hypotheses:
  - {text: More., outcome: completion_rate, contrast: sinelines/gt first, direction: greater}
  - {text: As many., outcome: completion_rate, contrast: sinelines/gt first, direction: equivalent}
flow:
  - consent: texts/{language}/consent.md
  - stages: {task: reconstruction, models: [sinelines/gt, sinelines/ae], trials: 1, skip: always}
  - debrief: texts/{language}/debrief.md
"""


def test_a_report_shows_labels_and_tables_keep_names(tmp_path: Path) -> None:
    study = put_beside(tmp_path / "study") / "own.yaml"
    study.write_text(STUDY)
    simulate_study(str(study), 4, "understanding", tmp_path / "data")
    people = load(tmp_path / "data").participants
    assert labels_of(people, "de")["completion_rate"] == "Gelöste Fragen"
    assert labels_of(people, "en") == {
        "completion_rate": "Questions solved",
        "sinelines/gt": "True dials",
    }
    report = analyze.analyze([tmp_path / "data"], tmp_path / "out")
    words = re.sub(
        r"<(style|script|svg).*?</\1>|<[^>]+>", "\n", report.read_text(), flags=re.DOTALL
    )
    assert "Questions solved" in words
    assert "True dials" in words
    assert "Sinelines autoencoder" in words, "it has no label"
    assert "sinelines/ae" not in words
    assert "completion_rate" not in words
    said = words.partition("Results in sentences")[2]
    assert "Questions solved." in said
    assert "True dials" in said
    assert "sinelines/gt" not in words, "also in names of contrasts"
    assert words.count("True dials first (one-sided, greater)") >= 1
    assert words.count("True dials first (smaller than ± 20.00 percentage points") >= 1
    assert "response_time_s" not in words, "labapp's own outcomes have labels"
    assert "Time on question, solved or skipped." in said
    assert "Completion rate" not in words, "one name for one measure"
    assert "M (SD), s" in said
    assert "The study planned 4 participants who are not excluded." in words
    assert "the reason for the sample size" in words
    short = words.partition("Summary")[2].partition("Methods")[0]
    assert "F(1, 3) = " in short, "the tests of the primary outcome"
    assert "Means, %" in short
    assert "percentage points, 95 % interval" in short
    stages = (tmp_path / "out" / "stages.csv").read_text()
    assert "completion_rate" in stages
    assert "sinelines/gt" in stages


def test_models_of_a_study_without_a_design_are_called_by_their_titles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = put_beside(tmp_path / "study") / "own.yaml"
    plain = STUDY.partition("design:")[0] + "flow:" + STUDY.partition("flow:")[2]
    study.write_text(plain.replace("sinelines/gt, sinelines/ae", "dsprites/gt, sinelines/ae"))
    simulate_study(str(study), 3, "understanding", tmp_path / "data")
    report = analyze.analyze([tmp_path / "data"], tmp_path / "out", language="de").read_text()
    words = re.sub(r"<(style|script|svg).*?</\1>|<[^>]+>", "\n", report, flags=re.DOTALL)
    assert "dSprites ground truth" in words
    assert "Sinelines autoencoder" in words
    assert not re.search("(sinelines|dsprites)/", words)
    people = pd.DataFrame({"models": ["sinelines/ae, faces/cnn", "concepts/dsprites0-vae, a/b"]})
    assert titles_of_models(people) == {
        "sinelines/ae": "Sinelines autoencoder",
        "faces/cnn": "Schematic faces",
        "concepts/dsprites0-vae": "dSprites(0): VAE",
    }
    shutil.copytree(resources.models() / "faces" / "cnn", tmp_path / "own" / "faces" / "cnn")
    (tmp_path / "own" / "faces" / "cnn" / "title.txt").write_text("Our own faces")
    monkeypatch.setattr(resources, "model_roots", lambda: (tmp_path / "own",))
    assert titles_of_models(people) == {"faces/cnn": "Our own faces"}
