"""A lab's own pictures from the command to the card: what is kept of them, and what is refused."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from labapp.base.errors import DatasetError, ModelError
from labapp.cli.main import app
from labapp.models.explanations import evaluation, package
from labapp.models.explanations import package as cards
from labapp.models.explanations.classifier import train
from labapp.models.explanations.package import ClassTest
from tests.helpers import picture_folder

RECIPE = """
id: own/expressions
title: Our pictures
data: {dataset: folder, folder: pictures, group_by: prefix, seed: 1}
method: {name: cnn}
schedule: {steps: 6, batch: 8, peak: 0.001}
seed: 1
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recipe, the pictures beside it, and the model that was trained on them."""
    root = tmp_path_factory.mktemp("lab")
    picture_folder.make(root / "pictures")
    (root / "recipe.yaml").write_text(RECIPE, encoding="utf-8")
    train(root / "recipe.yaml", out=root / "models")
    return root


def test_the_card_pins_the_pictures_and_not_where_they_lie(lab: Path) -> None:
    folder = lab / "models" / "own" / "expressions"
    text = (folder / cards.CARD).read_text(encoding="utf-8")
    assert str(lab) not in text
    card = cards.read(folder)
    assert card.recipe.data.dataset == "folder"
    assert card.recipe.data.folder == "pictures"
    assert card.recipe.data.names == ("anger", "happiness")
    assert re.fullmatch("[0-9a-f]{64}", card.recipe.data.sha256 or "")
    assert card.parts is not None
    assert set(card.parts) == {"train", "validation", "test"}
    assert sum(sum(part.values()) for part in card.parts.values()) == 48
    assert isinstance(card.test, ClassTest)
    assert {n: one.support for n, one in card.test.classes.items()} == card.parts["test"]
    classifier = package.load("own/expressions", root=lab / "models")
    assert classifier.names == ("anger", "happiness")
    assert classifier.size == 48


def test_its_numbers_are_computed_again_from_the_same_pictures_alone(
    lab: Path, tmp_path: Path
) -> None:
    root = lab / "models"
    with pytest.raises(ModelError, match="trained on a folder of pictures") as refused:
        evaluation.evaluate("own/expressions", root=root)
    assert "--data" in refused.value.todo
    assert evaluation.evaluate("own/expressions", root=root, data_folder=lab / "pictures")["agrees"]
    other = tmp_path / "pictures"
    shutil.copytree(lab / "pictures", other)
    Image.new("L", (96, 96), 50).save(next((other / "anger").iterdir()))
    with pytest.raises(DatasetError, match="are not those"):
        evaluation.evaluate("own/expressions", root=root, data_folder=other)


def test_where_the_pictures_lie_changes_nothing(lab: Path, tmp_path: Path) -> None:
    """A recipe elsewhere that names them by their whole path, or not at all but by --data."""
    text = RECIPE.replace("folder: pictures", f"folder: {lab / 'pictures'}")
    (tmp_path / "recipe.yaml").write_text(text, encoding="utf-8")
    train(tmp_path / "recipe.yaml", out=tmp_path / "models")
    shutil.copytree(lab / "pictures", tmp_path / "else")
    train(lab / "recipe.yaml", out=tmp_path / "again", data_folder=tmp_path / "else")
    weights = Path("own", "expressions", cards.WEIGHTS)
    for out in ("models", "again"):
        assert (tmp_path / out / weights).read_bytes() == (lab / "models" / weights).read_bytes()
        card = cards.read(tmp_path / out / "own" / "expressions")
        assert card.recipe == cards.read(lab / "models" / "own" / "expressions").recipe


def test_a_recipe_can_pin_its_pictures(lab: Path, tmp_path: Path) -> None:
    wrong = RECIPE.replace("seed: 1}", f"seed: 1, sha256: '{'0' * 64}'}}")
    path = lab / "pinned.yaml"
    path.write_text(wrong, encoding="utf-8")
    with pytest.raises(DatasetError, match="not those that `sha256`"):
        train(path, out=tmp_path)
    found = cards.read(lab / "models" / "own" / "expressions").recipe.data
    assert found.dataset == "folder"
    path.write_text(wrong.replace("0" * 64, str(found.sha256)), encoding="utf-8")
    train(path, out=tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("folder: pictures", "folder: elsewhere", "cannot be read"),
        ("seed: 1}", "seed: 1, classes: [anger, joy]}", "no folder joy"),
        ("seed: 1}", "seed: 1, size: 96}", ""),
    ],
)
def test_faults_come_before_anything_is_learned(
    lab: Path, tmp_path: Path, old: str, new: str, said: str
) -> None:
    path = lab / "other.yaml"
    path.write_text(RECIPE.replace(old, new), encoding="utf-8")
    if not said:
        train(path, out=tmp_path)
        assert package.load("own/expressions", root=tmp_path).size == 96
        return
    with pytest.raises(DatasetError, match=said):
        train(path, out=tmp_path)
    assert not (tmp_path / "own").exists()


def test_the_commands_train_list_show_and_evaluate(
    lab: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path))
    run = CliRunner().invoke
    assert run(app, ["models", "train", str(lab / "recipe.yaml")]).exit_code == 0
    listed = json.loads(run(app, ["models", "list", "--json"]).stdout)
    (row,) = [one for one in listed if one["id"] == "own/expressions"]
    assert row["source"] == "own"
    assert row["dataset"] == "folder"
    shown = run(app, ["models", "show", "own/expressions"])
    assert "confusion:" in shown.stdout
    again = run(app, ["models", "evaluate", "own/expressions", "--data", str(lab / "pictures")])
    assert again.exit_code == 0
    assert again.stdout.splitlines()[-1] == "agrees"
