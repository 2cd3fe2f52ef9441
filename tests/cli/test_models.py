"""`labapp models list` and `show`: where models are, their cards and their sheets."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from labapp import resources
from labapp.cli.main import main
from labapp.metrics.registry import METRICS
from tests.helpers.packages import copied

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def models(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    """Runs `labapp models …` in a folder of its own: (status, standard output, standard error)."""
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path / "own"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["labapp", "models", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out, err

    return run


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


def test_show_prints_the_card_and_draws_the_sheet(models: Run, tmp_path: Path) -> None:
    status, out, _ = models("show", "circles/gt")
    assert status == 0
    assert "architecture: closed-form:circles" in out
    assert out.splitlines()[-1] == "sheet: circles-gt-traversals.png"
    drawn = (tmp_path / "here/circles-gt-traversals.png").read_bytes()
    assert drawn.startswith(b"\x89PNG")
    status, out, _ = models("show", "circles/gt", "--json", "--sheet", "other.png")
    shown = json.loads(out)
    assert (shown["id"], shown["sheet"]) == ("circles/gt", "other.png")
    assert (tmp_path / "here/other.png").read_bytes() == drawn


def test_show_never_overwrites_what_is_no_such_sheet(models: Run, tmp_path: Path) -> None:
    notes = tmp_path / "here/circles-gt-traversals.png"
    notes.write_text("notes")
    status, out, err = models("show", "circles/gt", "--json")
    assert (status, out) == (1, "")
    assert "exists and is not this sheet" in err
    assert "--sheet" in err
    assert notes.read_text() == "notes"
    assert models("show", "circles/gt", "--json", "--no-sheet")[0] == 0
    assert [path.name for path in (tmp_path / "here").iterdir()] == [notes.name]


def test_evaluate_says_what_to_do_where_a_card_flatters(models: Run, tmp_path: Path) -> None:
    card = copied(tmp_path / "own", "sinelines/lab") / "model.yaml"
    whole = card.read_text(encoding="utf-8")
    few = whole.replace("count: 50000, held_out: 5000", "count: 400, held_out: 40")
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
    assert tuple(found) == tuple(METRICS)
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
    assert (status, out) == (1, "")
    assert "scores exists" in err


def test_a_model_of_ones_own_is_shown_by_its_id(models: Run, tmp_path: Path) -> None:
    folder = copied(tmp_path / "own", "sinelines/lab")
    status, out, _ = models("show", "sinelines/lab", "--no-sheet", "--json")
    assert (status, json.loads(out)["folder"]) == (0, str(folder))
    status, _, err = models("show", "mnist/ae5")
    assert status == 1
    assert str(tmp_path / "own") in err
    assert "import-tfjs" in err
