"""What models/README.md and the recipes say of the shipped models is what their cards say."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp import resources
from labapp.explanations import recipe as classifiers
from labapp.representations import card, package, recipe
from scripts.models_table import classifiers_table, faces_table, faces_told, table

ROOT = Path(__file__).resolve().parents[1]
TRAINED = [
    name
    for name in package.list_packages(resources.models())
    if card.read(resources.models() / name).training is not None
]


def test_the_tables_of_the_models_are_those_of_the_cards() -> None:
    readme = (ROOT / "models" / "README.md").read_text(encoding="utf-8")
    assert table() in readme
    assert classifiers_table() in readme
    assert faces_table() in readme
    assert faces_told() in readme


def test_the_recipe_for_ones_own_pictures_is_one(tmp_path: Path) -> None:
    readme = (ROOT / "models" / "README.md").read_text(encoding="utf-8")
    path = tmp_path / "recipe.yaml"
    path.write_text(readme.split("```yaml\n")[1].split("```")[0], encoding="utf-8")
    found = classifiers.read(path)
    assert found.data.dataset == "folder"
    assert found.data.names == ("anger", "happiness")
    shipped = classifiers.read(resources.models() / "recipes" / "faces-cnn.yaml")
    assert found.schedule == shipped.schedule


@pytest.mark.parametrize("name", TRAINED)
def test_a_shipped_model_was_made_by_the_recipe_of_its_name(name: str) -> None:
    found = card.read(resources.models() / name)
    made_by = recipe.read(resources.models() / "recipes" / f"{name.replace('/', '-')}.yaml")
    assert found.training is not None
    assert found.training.recipe_sha256 == made_by.digest
    assert (found.title, found.notes) == (made_by.title, made_by.notes)
    assert found.data == made_by.data


def test_the_shipped_weights_are_small_enough_to_ship() -> None:
    size = sum(path.stat().st_size for path in resources.models().glob("*/*/*"))
    assert size < 130e6
