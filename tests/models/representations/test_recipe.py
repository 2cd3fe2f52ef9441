"""Recipes and cards are refused by line, key, what was found and what is allowed."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from labapp.base import resources
from labapp.base.errors import ModelError
from labapp.models.concepts import recipe as concepts
from labapp.models.datasets import dsprites
from labapp.models.explanations import data as classifiers
from labapp.models.representations import card, recipe
from labapp.models.representations.recipe import DspritesData, MnistData

GOOD = """\
id: sinelines/test
title: A test
data: {dataset: sinelines, count: 400, held_out: 40, seed: 0}
architecture: sinelines-mlp
dimensions: 3
objective: {name: vae}
optimizer: {learning_rate: 0.001, batch: 64, epochs: 2}
seed: 3
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "recipe.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(ModelError) as caught:
        recipe.read(write(folder, text))
    assert caught.value.safe
    assert caught.value.todo
    return caught.value.what


def test_a_good_recipe_is_read_with_the_published_defaults(tmp_path: Path) -> None:
    found = recipe.read(write(tmp_path, GOOD))
    assert found.optimizer.schedule == "constant"
    assert found.objective == recipe.Vae(name="vae", reconstruction=1.0, kl=1.0)


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("dimensions: 3", "dimensions: zero", ["line 5", "dimensions", "'zero'", "whole number"]),
        ("dimensions: 3", "dimensions: 0", ["line 5", "dimensions", "found 0", "greater"]),
        ("seed: 3", "seed: -1", ["line 8", "seed", "-1"]),
        ("seed: 3", "sed: 3", ["line 8, sed: unknown key", "did you mean 'seed'"]),
        ("epochs: 2", "epochs: 2, lr: 1", ["line 7", "optimizer.lr: unknown key"]),
        ("name: vae", "name: gan", ["line 6", "objective.name", "'gan'", "'ae' or 'gt' or 'vae'"]),
        ("name: vae", "name: vae, kl: .inf", ["line 6", "objective.kl", "inf", "finite"]),
        (
            "sinelines,",
            "moons,",
            ["line 3", "data.dataset", "'moons'", "'sinelines' or 'dsprites'"],
        ),
        ("held_out: 40", "held_out: 400", ["line 3", "data.held_out", "1 to 399"]),
        (
            "sinelines-mlp",
            "closed-form:sinelines",
            ["line 4", "architecture", "allowed: sinelines-mlp"],
        ),
        ("sinelines/test", "../escape", ["line 1", "id", "'../escape'"]),
        ("sinelines/test", "Sinelines/AE", ["line 1", "id"]),
        ("seed: 3", "seed: 3\nseed: 4", ["line 9", "'seed' is given twice"]),
        ("title: A test", "title: &a A\nnotes: *a", ["line 3", "aliases"]),
        ("title: A test", "title: !!python/object/apply:os.system [x]", ["line 2", "the tag"]),
        ("title: A test", "title: [unclosed", ["line 2"]),
    ],
)
def test_a_wrong_recipe_is_refused_where_it_is_wrong(
    tmp_path: Path, old: str, new: str, parts: list[str]
) -> None:
    assert old in GOOD
    message = refusal(tmp_path, GOOD.replace(old, new, 1))
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    ("data", "architecture", "rest", "part"),
    [
        ("dsprites, held_out: 9", "dsprites-conv", "{name: gt}", "dimensions must be 5, found 3"),
        ("mnist, digits: t10k, held_out: 2000", "mnist-conv", "{name: gt}", "mnist does not have"),
        (
            "mnist, digits: t10k, held_out: 2000",
            "mnist-conv",
            "{name: ss-tcvae, classes: 9}",
            "classes must be 10, as the digits, found 9",
        ),
        (
            "mnist, digits: t10k, held_out: 2000",
            "mnist-infogan",
            "{name: infogan, classes: 11}",
            "classes must be at most 10, found 11",
        ),
        (
            "mnist, digits: t10k, held_out: 1999",
            "mnist-conv",
            "{name: ae}",
            "8,001 digits in batches of 64 leave a batch of one digit",
        ),
        (
            "sinelines, count: 400, held_out: 40",
            "sinelines-mlp",
            "{name: ss-tcvae}",
            "its data must be mnist",
        ),
        (
            "mnist, digits: t10k, held_out: 2000",
            "mnist-conv",
            "{name: infogan}",
            "infogan and the architecture mnist-infogan can be used only together",
        ),
    ],
)
def test_parts_that_do_not_go_together_are_refused_before_anything_is_trained(
    tmp_path: Path, data: str, architecture: str, rest: str, part: str
) -> None:
    text = GOOD.replace("sinelines, count: 400, held_out: 40", data)
    text = text.replace("sinelines-mlp", architecture).replace("{name: vae}", rest)
    assert part in refusal(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "found no keys"),
        ("- a\n- b\n", "found no keys"),
        ("just text", "found no keys"),
        ("a: " + "[" * 5_000, "not readable"),
        ("#" * 300_000, "more than the 262144 bytes"),
    ],
)
def test_what_is_no_recipe_at_all_is_refused(tmp_path: Path, text: str, part: str) -> None:
    assert part in refusal(tmp_path, text)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(ModelError, match="not UTF-8 text"):
        recipe.read(path)


def test_a_missing_recipe_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read: No such file"):
        recipe.read(tmp_path / "absent.yaml")


def test_the_digest_is_of_what_decides_the_weights(tmp_path: Path) -> None:
    base = recipe.read(write(tmp_path, GOOD))
    renamed = recipe.read(write(tmp_path, GOOD.replace("A test", "Another title")))
    reseeded = recipe.read(write(tmp_path, GOOD.replace("seed: 3", "seed: 4")))
    assert renamed.digest == base.digest
    assert reseeded.digest != base.digest


SHIPPED = sorted(
    path
    for path in (resources.models() / "recipes").glob("*.yaml")
    if not classifiers.is_classifier_recipe(path) and not concepts.is_concept_recipe(path)
)
FULL = [path for path in SHIPPED if path.stem.endswith("-full") or path.stem.startswith("mnist-")]


def iterations(found: recipe.Recipe) -> tuple[int, int]:
    """Of an epoch, and of the whole training."""
    data = found.data
    if isinstance(data, MnistData):
        rows = data.trained_on
    else:
        whole = dsprites.COUNT if isinstance(data, DspritesData) else data.count
        rows = whole - data.held_out
    per_epoch = math.ceil(rows / found.optimizer.batch)
    return per_epoch, per_epoch * found.optimizer.epochs


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_recipe_is_valid_and_its_notes_count_its_iterations(path: Path) -> None:
    found = recipe.read(path)
    assert found.id.replace("/", "-") == path.stem
    for said in re.findall(r"for ([\d,]+) iterations", found.notes, re.IGNORECASE):
        assert int(said.replace(",", "")) == iterations(found)[1]


@pytest.mark.parametrize("path", FULL, ids=lambda path: path.stem)
def test_a_full_length_recipe_just_surpasses_100_000_iterations(path: Path) -> None:
    # Paper 000, A.1.2: the least number of epochs that does.
    found = recipe.read(path)
    per_epoch, whole = iterations(found)
    assert whole - per_epoch <= 100_000 < whole
    assert found.optimizer.schedule == "constant"
    assert found.optimizer.precision == "float32"


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("display: image", "display: series", "display is series"),
        (
            "low: 0.0, high: 1.0, step: 0.01}\n  -",
            "low: 0.0, high: 2.0, step: 0.01}\n  -",
            "not match those of closed-form:circles",
        ),
        ("high: 1.0", "high: -1.0", "not below"),
        ("high: 1.0", "high: .nan", "line 18, dimensions[0].high: found nan"),
        ("closed-form:circles", "torch:pickle", "line 8, architecture: found 'torch:pickle'"),
        ("card: 1", "card: 2", "line 1, card: found 2"),
    ],
)
def test_a_wrong_card_is_refused(tmp_path: Path, old: str, new: str, part: str) -> None:
    text = (resources.models() / "circles/gt/model.yaml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "model.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        card.read(tmp_path)
    assert part in caught.value.what
