"""`labapp models list` and `show`: where models are, their cards and their sheets."""

from __future__ import annotations

import io
import json
from functools import partial
from pathlib import Path

import pytest

from labapp.base import resources
from labapp.models.metrics import dci
from labapp.models.metrics.evaluation.scores import without_labels
from labapp.models.representations import card as cards
from labapp.models.representations.package import load_package
from labapp.session.simulation.simulation_job import simulate_study
from tests.helpers.commands import Run
from tests.helpers.nightly import EVERYTHING
from tests.helpers.packages import copied


@pytest.fixture
def models(labapp: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs `labapp models …` in a folder of its own."""
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path / "own"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return partial(labapp, "models")


def test_list_says_which_models_are_shipped_and_which_ones_own(models: Run, tmp_path: Path) -> None:
    copied(tmp_path / "own", "sinelines/a-rather-long-name")
    copied(tmp_path / "own", "circles/gt", of="circles/gt")
    status, out, _ = models("list")
    assert status == 0
    said = {line.split()[0]: line.split()[1] for line in out.splitlines() if "/" in line}
    assert said["sinelines/a-rather-long-name"] == "own"
    assert said["sinelines/gt"] == "shipped"
    (twice,) = [line for line in out.splitlines() if line.startswith("circles/gt")]
    assert "names two models" in twice
    assert out.splitlines()[-2:] == [
        f"shipped: {resources.models()}",
        f"own:     {tmp_path / 'own'}",
    ]


def test_show_prints_the_card_and_draws_a_sheet_where_it_is_asked_to(
    models: Run, tmp_path: Path
) -> None:
    status, out, _ = models("show", "circles/gt")
    assert status == 0
    assert "architecture: closed-form:circles" in out
    assert "sheet" not in json.loads(models("show", "circles/gt", "--json")[1])
    assert list((tmp_path / "here").iterdir()) == []
    status, out, _ = models("show", "circles/gt", "--out", "dials.png")
    assert out.splitlines()[-1] == "sheet: dials.png"
    drawn = (tmp_path / "here/dials.png").read_bytes()
    assert drawn.startswith(b"\x89PNG")
    status, out, _ = models("show", "circles/gt", "--json", "--out", "other.png")
    shown = json.loads(out)
    assert (shown["id"], shown["sheet"]) == ("circles/gt", "other.png")
    assert (tmp_path / "here/other.png").read_bytes() == drawn
    status, _, err = models("show", "faces/cnn", "--out", "none.png")
    assert status == 2
    assert "no dials to draw" in err


def test_show_never_overwrites_what_is_no_such_sheet(models: Run, tmp_path: Path) -> None:
    notes = tmp_path / "here/circles-gt-traversals.png"
    notes.write_text("notes")
    status, out, err = models("show", "circles/gt", "--json", "--out", notes.name)
    assert (status, out) == (3, "")
    assert "exists and is not this sheet" in err
    assert "--out" in err
    assert notes.read_text() == "notes"
    assert [path.name for path in (tmp_path / "here").iterdir()] == [notes.name]


def test_evaluate_says_what_to_do_where_a_card_flatters(
    models: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not EVERYTHING:  # which numbers it gets is not the point
        few = partial(dci.GradientBoostingRegressor, n_estimators=10)
        monkeypatch.setattr(dci, "GradientBoostingRegressor", few)
    card = copied(tmp_path / "own", "sinelines/lab") / "model.yaml"
    whole = card.read_text(encoding="utf-8")
    few = whole.replace("count: 50000, held_out: 5000", "count: 150, held_out: 20")
    few = few.partition("\ndisentanglement:")[0]
    card.write_text(few, encoding="utf-8")
    status, out, err = models("evaluate", "sinelines/lab", "--no-metrics", "--json")
    assert (status, json.loads(out)["agrees"], err) == (0, True, "")
    assert "metrics" not in json.loads(out)
    card.write_text(few.replace("mean: 36.6", "mean: 35.6"), encoding="utf-8")
    status, out, err = models("evaluate", "sinelines/lab", "--out", "scores")
    assert (status, out.splitlines()[-1]) == (1, "does not agree")
    assert "not those on the card of sinelines/lab" in err
    assert "--data" in err
    assert list((tmp_path / "here").iterdir()) == []


def test_evaluate_gives_every_metric_where_the_data_have_true_factors(
    models: Run, tmp_path: Path
) -> None:
    card = copied(tmp_path / "own", "sinelines/lab") / "model.yaml"
    few = card.read_text(encoding="utf-8").partition("\ndisentanglement:")[0]
    few = few.replace("count: 50000, held_out: 5000", "count: 400, held_out: 40")
    card.write_text(few, encoding="utf-8")
    status, out, _ = models("evaluate", "sinelines/lab", "--json", "--out", "scores")
    assert status == 0
    found = {one["metric"]: one for one in json.loads(out)["metrics"]}
    # Those of a task need labels, which the data have not.
    assert tuple(found) == without_labels()
    assert not {"task-probe", "completeness", "ctl"} & found.keys()
    assert found["ois"]["settings"]["codes"] == "aligned greedily"
    assert found["nis"]["settings"]["factors_are"] == "above the median"
    whole = json.loads((tmp_path / "here/scores/scores.json").read_text(encoding="utf-8"))
    assert whole["scores"] == list(found.values())
    assert whole["factors"] == ["slope", "intercept", "amplitude", "frequency", "phase"]
    assert (tmp_path / "here/scores/mi-mutual_information.svg").is_file()


def test_evaluate_writes_no_folder_that_would_stay_empty(models: Run, tmp_path: Path) -> None:
    for arguments in (("sinelines/gt", "--no-metrics"), ("faces/cnn",)):
        status, out, err = models("evaluate", *arguments, "--out", "scores")
        assert (status, out) == (2, "")
        assert "--out" in err
    assert list((tmp_path / "here").iterdir()) == []


def test_evaluate_computes_nothing_for_a_folder_that_is_there(models: Run, tmp_path: Path) -> None:
    (tmp_path / "here/scores").mkdir()
    status, out, err = models("evaluate", "sinelines/gt", "--out", "scores")
    assert (status, out) == (3, "")
    assert "scores exists" in err


def test_a_model_of_ones_own_is_shown_by_its_id(models: Run, tmp_path: Path) -> None:
    folder = copied(tmp_path / "own", "sinelines/lab")
    status, out, _ = models("show", "sinelines/lab", "--json")
    assert (status, json.loads(out)["folder"]) == (0, str(folder))
    status, _, err = models("show", "mnist/ae5")
    assert status == 2
    assert str(tmp_path / "own") in err
    assert "import-tfjs" in err


def test_a_model_is_called_otherwise_and_its_hash_stays(models: Run, tmp_path: Path) -> None:
    folder = copied(tmp_path / "own", "sinelines/lab")
    card = (folder / "model.yaml").read_bytes()
    status, out, _ = models("title", "sinelines/lab", "Waves  of ours")
    assert (status, out) == (0, "title: Waves of ours\n")
    assert (folder / "model.yaml").read_bytes() == card
    (line,) = [row for row in models("list")[1].splitlines() if row.startswith("sinelines/lab ")]
    assert "Waves of ours" in line
    assert json.loads(models("show", "sinelines/lab", "--json")[1])["title"] == "Waves of ours"
    assert cards.read(folder).title == "Waves of ours"
    assert load_package("sinelines/lab").card.title == "Waves of ours"
    for title in ("", "a" * 201, "a\u202eb"):
        assert models("title", "sinelines/lab", title)[0] == 2
    status, _, err = models("title", "circles/gt", "Mine")
    assert status == 2
    assert "comes with labapp" in err


def test_classifiers_are_listed_as_such(models: Run) -> None:
    rows = [line.split()[:3] for line in models("list")[1].splitlines() if "/" in line]
    assert ["faces/cnn", "shipped", "classifier"] in rows
    assert ["circles/gt", "shipped", "dials"] in rows


def test_a_model_of_ones_own_is_removed_and_no_other(
    models: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABAPP_DATA", str(tmp_path / "data"))
    folder = copied(tmp_path / "own", "sinelines/lab")
    study = tmp_path / "mine.yaml"
    study.write_text(STUDY, "utf-8")
    simulate_study(study, 1, "understanding", tmp_path / "data")
    (session,) = (tmp_path / "data/mine").glob("sub-*")
    broken = session.with_name("sub-P9_ses-1_20260102T030405Z")
    broken.mkdir()
    (broken / "journal.sqlite").write_bytes(b"nothing")
    models("title", "sinelines/lab", "Waves")
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    status, out, err = models("remove", "sinelines/lab")
    assert (status, out.strip()) == (1, "Nothing was deleted.")
    assert "The study mine uses it in sessions" in err
    assert session.name in err
    assert f"cannot be read: mine/{broken.name}" in err
    assert (folder / "model.yaml").is_file()
    (folder / "notes.txt").write_text("mine", "utf-8")
    status, out, _ = models("remove", "sinelines/lab", "--yes")
    assert status == 0
    assert [path.name for path in folder.iterdir()] == ["notes.txt"], "nothing of anybody else's"
    assert "it also holds notes.txt" in out
    assert models("show", "sinelines/lab")[0] == 2
    for refused in ("circles/gt", "faces/cnn", "sinelines/lab", "../own", "sinelines"):
        assert models("remove", refused, "--yes")[0] == 2
    assert (resources.models() / "circles/gt/model.yaml").is_file()


STUDY = """\
id: mine
title: Mine
version: 1
unnamed_texts: shipped
flow:
  - stages: {task: reconstruction, models: [sinelines/lab], trials: 1, target_alignment: 0.5}
"""
