"""`labapp concepts`, and concept models among those of `labapp models`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from labapp.base import resources
from labapp.cli import own_models
from labapp.models.concepts import package, recipe, training
from tests.helpers.commands import Run
from tests.helpers.nightly import EVERYTHING
from tests.helpers.rough_fits import brief_nis as brief_nis
from tests.models.concepts.conftest import toy

VARIANTS = {
    "id": "tiny/toy",
    "title": "Toy",
    "data": {"dataset": "toy"},
    "learner": {"name": "cbm", "alpha": 0.1},
    "size": "S",
    "variants": {"a": {}, "b": {"seed": 1}},
}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A models folder with one model."""
    root = tmp_path_factory.mktemp("own")
    with pytest.MonkeyPatch.context() as patch:
        if not EVERYTHING:
            patch.setitem(recipe.SIZES, "S", replace(recipe.SIZES["S"], toy_epochs=5))
        training.train(toy(), out=root)
    return root


@pytest.fixture
def cli(labapp: Run, own: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `labapp …` with the models of that folder."""
    monkeypatch.setenv("LABAPP_MODELS", str(own))
    return labapp


def test_models_and_recipes_are_listed(cli: Run) -> None:
    status, out, _ = cli("concepts", "list", "--json")
    assert status == 0
    rows = {row["id"]: row for row in json.loads(out)}
    assert set(recipe.shipped()) <= set(rows)
    row = rows["tiny/model"]
    assert (row["learner"], row["size"], row["trained"], row["shipped"]) == (
        "cbm-logits",
        "S",
        True,
        False,
    )
    untrained = next(row for row in rows.values() if not row["trained"])
    assert untrained["learner"]
    _, told, _ = cli("concepts", "list")
    assert f"{untrained['id']} " in told
    assert "OIS" in told
    kinds = {row["id"]: row.get("kind") for row in json.loads(cli("models", "list", "--json")[1])}
    assert kinds["tiny/model"] == "concepts"


def test_a_package_that_is_refused_is_listed_with_the_reason(
    cli: Run, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tiny/model"
    folder.mkdir(parents=True)
    text = (own / "tiny/model/concepts.yaml").read_text(encoding="utf-8")
    (folder / "concepts.yaml").write_text(text.replace("alpha: 0.1", "alpha: 0.2"))
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path))
    status, out, _ = cli("concepts", "list", "--json")
    assert status == 0
    rows = {row["id"]: row for row in json.loads(out)}
    row = rows["tiny/model"]
    assert "another recipe" in row["problem"]
    assert (row["learner"], row["size"], row["trained"], row["shipped"]) == (
        None,
        None,
        True,
        False,
    )
    assert all({"id", "learner", "size", "shipped"} <= each.keys() for each in rows.values())
    assert "another recipe" in cli("concepts", "list")[1]


def test_a_card_is_shown_and_so_is_a_recipe_that_is_not_trained(cli: Run, own: Path) -> None:
    for command in ("concepts", "models"):
        _, out, _ = cli(command, "show", "tiny/model", "--json")
        assert json.loads(out)["folder"] == str(own / "tiny/model")
    name = next(each for each in recipe.shipped() if each not in package.list_packages())
    _, out, _ = cli("concepts", "show", name, "--json")
    assert json.loads(out)["recipe"]["id"] == name
    status, _, err = cli("concepts", "show", "concepts/none")
    assert status == 2
    assert "There is no model" in err
    status, _, err = cli("models", "show", "tiny/model", "--out", "dials.png")
    assert status == 2
    assert "no dials" in err


def test_a_file_of_recipes_is_trained_and_what_is_there_is_left(cli: Run, tmp_path: Path) -> None:
    path = tmp_path / "recipes.yaml"
    path.write_text(yaml.safe_dump(VARIANTS), encoding="utf-8")
    status, out, _ = cli("concepts", "train", str(path), "--out", str(tmp_path), "--json")
    assert status == 0
    assert json.loads(out) == {
        "folders": [str(tmp_path / "tiny/toy-a"), str(tmp_path / "tiny/toy-b")],
        "there": [],
    }
    codes = [np.load(tmp_path / f"tiny/toy-{name}/codes.npz")["codes"] for name in "ab"]
    assert np.abs(codes[0] - codes[1]).max() > 0.01
    status, out, err = cli("concepts", "train", str(path), "--out", str(tmp_path))
    assert (status, out) == (0, "")
    assert "there already" in err
    status, _, err = cli("models", "train", str(path))
    assert status == 2
    assert "has 2 recipes" in err


def test_numbers_are_computed_again(cli: Run, own: Path) -> None:
    for command in (("concepts", "score"), ("models", "evaluate")):
        status, out, _ = cli(*command, "tiny/model", "--json")
        result = json.loads(out)
        assert (status, result["agrees"]) == (0, True)
        assert result["computed"] == pytest.approx(result["card"], abs=1e-3)
    card = own / "tiny/model/concepts.yaml"
    text = card.read_text(encoding="utf-8")
    stated = yaml.safe_load(text)["scores"]["ois"]
    card.write_text(text.replace(f"ois: {stated}", "ois: 0.0001"), encoding="utf-8")
    try:
        status, out, err = cli("concepts", "score", "tiny/model")
        assert status == 1
        assert "0.0001" in out
        assert "not those on the card" in err
    finally:
        card.write_text(text, encoding="utf-8")


def test_interventions_are_told(cli: Run) -> None:
    _, out, _ = cli("concepts", "intervene", "tiny/model", "--json")
    result = json.loads(out)
    assert [len(result[name]) for name in ("fixed", "subsets", "wrong", "alone")] == [4, 4, 4, 3]
    assert result["fixed"][0] == result["wrong"][0] == result["subsets"][0]
    assert result["fixed"][3] == result["subsets"][3]
    _, told, _ = cli("concepts", "intervene", "tiny/model", "--order", "wrong")
    assert f"{100 * result['wrong'][3]:.1f}" in told
    assert "fixed" not in told
    assert result["score"] == "accuracy"
    _, out, _ = cli("concepts", "intervene", "tiny/model", "--auc", "--json")
    areas = json.loads(out)
    assert areas["score"] == "auc"
    assert 0.5 < areas["fixed"][0] <= 1
    assert areas["fixed"][0] != result["fixed"][0]
    assert areas["fixed"][3] == areas["subsets"][3]
    _, told, _ = cli("concepts", "intervene", "tiny/model", "--auc")
    assert f"{100 * areas['alone'][2]:.1f}" in told
    assert "area under the ROC curve" in told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("train", "concepts/toy0-cbm", "--size", "XL"), "no size"),
        (("intervene", "tiny/model", "--order", "random"), "no order"),
        (("train", "concepts/none"), "no recipe"),
        (("intervene", "birds/resnet"), "asked for is a concept model"),
    ],
)
def test_wrong_requests_are_refused(cli: Run, arguments: tuple[str, ...], said: str) -> None:
    status, _, err = cli("concepts", *arguments)
    assert status in (2, 3)
    assert said in err


def test_a_model_of_ones_own_is_removed_whole(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path))
    folder = tmp_path / "tiny/model"
    folder.mkdir(parents=True)
    for path in (own / "tiny/model").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    assert resources.user_models() == tmp_path
    assert own_models.remove("tiny/model") == ["removed: tiny/model"]
    assert not folder.exists()
