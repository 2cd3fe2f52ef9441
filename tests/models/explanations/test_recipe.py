"""Recipes of classifiers are read whole or refused with line, key, found and allowed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from labapp.base import resources
from labapp.base.errors import ModelError
from labapp.models.explanations import data as recipes
from labapp.models.explanations import package as cards
from labapp.models.explanations.data import ClassifierRecipe, Schedule

SHIPPED = sorted((resources.models() / "recipes").glob("birds-*.yaml"))
FACES = resources.models() / "recipes" / "faces-cnn.yaml"
CARDS = sorted(path.parent for path in (resources.models() / "birds").glob(f"*/{cards.CARD}"))
OTHER = resources.models() / "recipes" / "sinelines-vae.yaml"


def test_a_recipe_is_read_with_its_defaults(recipe_of: Callable[..., Path]) -> None:
    recipe = recipes.read(recipe_of("bagnet"))
    assert recipe.method.model_dump() == {"name": "bagnet", "field": 33}
    assert recipe.schedule.weight_decay == 0.05
    data = recipe.data.load()
    assert (len(data.train), len(data.validation), len(data.test)) == (40, 20, 60)
    assert data.test.size == 48
    assert data.test.seed == 5


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name: resnet", "name: forest", "method"),
        ("size: 48", "size: 50", "multiple of 8"),
        ("train: 2", "train: 0", "train"),
        ("peak: 0.003", "peak: .inf", "peak"),
        ("batch: 8", "batch: 1", "batch"),
        ("seed: 2", "seed: -1", "seed"),
        ("title: Tiny", "titel: Tiny", "titel"),
        ("id: birds/resnet", "id: ../resnet", "id"),
    ],
)
def test_what_is_wrong_is_named(
    recipe_of: Callable[..., Path], old: str, new: str, said: str
) -> None:
    path = recipe_of("resnet", **{old: new})
    with pytest.raises(ModelError, match=said) as refused:
        recipes.read(path)
    assert str(path) in refused.value.what
    assert refused.value.todo


def test_the_digest_is_of_what_decides_the_weights(recipe_of: Callable[..., Path]) -> None:
    base = recipes.read(recipe_of("resnet")).digest
    assert recipes.read(recipe_of("resnet", Tiny="Other")).digest == base
    for old, new in (("seed: 2", "seed: 3"), ("train: 2", "train: 3"), ("steps: 6", "steps: 7")):
        assert recipes.read(recipe_of("resnet", **{old: new})).digest != base


class LaterSchedule(Schedule):
    """A setting that recipes learned later, and a default that is another now."""

    momentum: float = 0.9
    weight_decay: float = 0.1


class LaterRecipe(ClassifierRecipe):
    schedule: LaterSchedule


@pytest.mark.parametrize("folder", CARDS, ids=lambda folder: folder.name)
def test_later_settings_and_defaults_leave_shipped_cards_valid(folder: Path) -> None:
    card = cards.read(folder)
    said = card.recipe.model_dump()
    later = LaterRecipe.model_validate(said)
    assert later.schedule.model_fields_set < set(LaterSchedule.model_fields)
    assert later.digest == card.training.recipe_sha256
    said["schedule"]["momentum"] = 0.9
    assert LaterRecipe.model_validate(said).digest != card.training.recipe_sha256


def test_a_default_is_the_same_said_or_not(recipe_of: Callable[..., Path]) -> None:
    base = recipes.read(recipe_of("bagnet"))
    said = recipes.read(recipe_of("bagnet", **{"name: bagnet": "name: bagnet, field: 33"}))
    assert said.digest == base.digest
    assert said == base


def test_recipes_of_classifiers_are_told_from_others(tmp_path: Path) -> None:
    assert SHIPPED
    assert all(recipes.is_classifier_recipe(path) for path in [*SHIPPED, FACES])
    assert not recipes.is_classifier_recipe(OTHER)
    assert not recipes.is_classifier_recipe(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_text("method: [", encoding="utf-8")
    assert not recipes.is_classifier_recipe(tmp_path / "bad.yaml")


@pytest.mark.parametrize("path", [*SHIPPED, FACES], ids=lambda path: path.stem)
def test_a_shipped_recipe_is_named_after_its_model(path: Path) -> None:
    assert recipes.read(path).id.replace("/", "-") == path.stem


def test_shipped_classifiers_see_the_same_test_pictures() -> None:
    parts = {recipes.read(path).birds.load().test for path in SHIPPED}
    assert len(parts) == 1
