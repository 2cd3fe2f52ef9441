"""Recipes: shipped ones, variants, sizes, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labapp.base import resources
from labapp.base.errors import ModelError, UsageError
from labapp.models.concepts import recipe
from labapp.models.concepts.learner import Setup, build
from labapp.models.concepts.recipe import SIZES

VARIANTS = """
id: tiny/toy
title: Toy
data: {dataset: toy}
learner: {name: cbm, alpha: 0.1}
variants:
  small: {learner: {predictor: [4, 2]}}
  correlated: {data: {correlation: 0.9}, learner: {name: cbm-logits}, seed: 7}
"""


def test_variants_are_recipes_that_have_the_rest_in_common(tmp_path: Path) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text(VARIANTS, encoding="utf-8")
    small, correlated = recipe.read(path)
    assert (small.id, correlated.id) == ("tiny/toy-small", "tiny/toy-correlated")
    assert small.learner.predictor == (4, 2)
    assert (correlated.learner.alpha, correlated.learner.name) == (0.1, "cbm-logits")
    assert correlated.data.correlation == 0.9
    assert (small.seed, correlated.seed) == (0, 7)
    assert small.digest != correlated.digest
    assert recipe.is_concept_recipe(path)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[4, 2]", "[0]", "variants, small: learner.cbm.predictor.0"),
        ("alpha", "alhpa", "alhpa"),
        ("dataset: toy", "dataset: tiny", "dataset"),
        ("tiny/toy", "toy", "id"),
        (
            "dataset: toy",
            "dataset: dsprites, concepts: 4, correlations: 4",
            "four concepts are possible only",
        ),
        (
            "dataset: toy",
            "dataset: dsprites, concepts: 4, reading: text",
            "four concepts are possible only",
        ),
    ],
)
def test_a_wrong_recipe_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text(VARIANTS.replace(old, new), encoding="utf-8")
    with pytest.raises(ModelError, match=said):
        recipe.read(path)


@pytest.mark.parametrize("seed", [-1, recipe.SEEDS])
def test_a_seed_that_torch_does_not_take_is_refused(seed: int) -> None:
    toy = recipe.find("concepts/toy0-cbm")[0]
    with pytest.raises(UsageError, match=str(seed)):
        toy.of(seed=seed)
    assert build(toy.learner, Setup((7,), 3, 2, SIZES["S"], toy.of(seed=recipe.SEEDS - 1).seed))


def test_a_setting_that_says_nothing_does_not_count() -> None:
    """A card leaves it out."""
    recipes = [
        recipe.ConceptRecipe.model_validate(
            {"id": "tiny/ccd", "title": "Tiny", "data": {"dataset": "toy"}, "learner": learner}
        )
        for learner in ({"name": "ccd"}, {"name": "ccd", "directions": None})
    ]
    assert recipes[0].digest == recipes[1].digest
    more = recipes[0].model_copy(
        update={"learner": recipes[0].learner.model_copy(update={"directions": 4})}
    )
    assert more.digest != recipes[0].digest


def test_shipped_recipes_can_be_built_and_are_told_from_others() -> None:
    shipped = recipe.read_shipped()
    assert shipped
    for name, each in shipped.items():
        assert recipe.find(name) == (each,)
        classes = 2 if each.data.dataset == "toy" else 8
        learner = build(each.learner, Setup(each.data.shape(SIZES["S"]), 4, classes, SIZES["S"], 0))
        assert learner.phases
    others = set(resources.models().glob("recipes/*.yaml")) - set(
        resources.models().glob(f"recipes/{recipe.PATTERN}")
    )
    assert others
    assert not any(recipe.is_concept_recipe(path) for path in others)
    with pytest.raises(ModelError, match="no recipe"):
        recipe.find("concepts/none")


def test_pictures_are_as_the_recipe_says() -> None:
    values = {"dataset": "dsprites", "concepts": 4}
    data = recipe.ConceptRecipe.model_validate(
        {"id": "a/b", "title": "t", "data": values, "learner": {"name": "cbm"}}
    ).data
    rows = np.arange(50)
    plain = data.load(SIZES["M"]).split.test.instances(rows)
    assert plain.shape == (50, 1, 64, 64)
    noisy = data.model_copy(update={"noise": 0.3, "pixels": 32}).load(SIZES["M"])
    assert noisy.shape == (1, 32, 32)
    x = noisy.split.test.instances(rows)
    np.testing.assert_allclose(x * 255, np.rint(x * 255), atol=1e-3)
    small = plain.reshape(50, 1, 32, 2, 32, 2).mean(axis=(3, 5))
    changed = np.abs(x - small) > 1 / 255
    assert changed.mean() == pytest.approx(0.3, abs=0.01)
    np.testing.assert_array_equal(noisy.split.test.instances(rows[7:9]), x[7:9])
    assert noisy.validation is not None
    assert (len(noisy.split.train), len(noisy.validation)) == (16_589, 1_843)
