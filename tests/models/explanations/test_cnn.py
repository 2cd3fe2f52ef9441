"""The small network: what it is made of, that it learns faces, and what its card says of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from labapp.base.errors import ModelError
from labapp.models.explanations import data as recipes
from labapp.models.explanations import evaluation, package
from labapp.models.explanations import package as cards
from labapp.models.explanations.classifier import train
from labapp.models.explanations.cnn import layers
from labapp.models.explanations.package import ClassTest, CnnChecks
from labapp.models.explanations.photos import load_photos

TINY = """
id: faces/tiny
title: Tiny
data: {dataset: faces, seed: 5, train: 4, validation: 2, test: 15, cue: 0.9}
method: {name: cnn}
schedule: {steps: 12, batch: 8, peak: 0.003, weight_decay: 0}
seed: 2
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A models folder with faces/tiny, by the real trainer."""
    root = tmp_path_factory.mktemp("models")
    recipe = root / "tiny.yaml"
    recipe.write_text(TINY, encoding="utf-8")
    train(recipe, out=root)
    return root


@pytest.mark.parametrize("size", [48, 64, 96])
@pytest.mark.parametrize("channels", [1, 3])
def test_the_network_is_of_layers_that_explanations_go_through(size: int, channels: int) -> None:
    network = layers(channels, size, 3)
    assert network(torch.zeros(2, channels, size, size)).shape == (2, 3)
    kinds = [type(layer) for layer in network]
    assert kinds == [
        nn.Conv2d, nn.ReLU, nn.Conv2d, nn.ReLU, nn.MaxPool2d,
        nn.Conv2d, nn.ReLU, nn.Conv2d, nn.ReLU, nn.MaxPool2d,
        nn.Flatten, nn.Linear,
    ]  # fmt: skip
    assert len({id(layer) for layer in network}) == len(network), "each is used once"
    assert not any(layer.padding[0] for layer in network if isinstance(layer, nn.Conv2d))


def test_a_corner_pixel_counts_as_a_pixel_and_not_as_an_edge() -> None:
    """An even picture gives the same everywhere: no zeros come in from outside."""
    network = layers(1, 48, 2)
    with torch.no_grad():
        maps = network[:10](torch.full((1, 1, 48, 48), 0.5))
    assert torch.allclose(maps, maps[:, :, :1, :1].expand_as(maps), atol=1e-6)


def test_the_card_says_how_well_each_class_is_told(trained: Path) -> None:
    classifier = package.load("faces/tiny", root=trained)
    card = classifier.card
    photos = load_photos(card.recipe.data.load().test)
    assert photos.pictures.shape == (30, 1, 48, 48)
    predicted = classifier.predicted(photos.pictures)
    test = card.test
    assert isinstance(test, ClassTest)
    assert list(test.classes) == list(classifier.names) == ["anger", "happiness"]
    assert test.accuracy == pytest.approx(np.mean(predicted == photos.labels), abs=1e-4)
    for number, name in enumerate(test.classes):
        mine = photos.labels == number
        assert test.classes[name].support == mine.sum() == 15
        assert test.classes[name].recall == pytest.approx(
            np.mean(predicted[mine] == number), abs=1e-4
        )
    assert sum(map(sum, test.confusion)) == 30
    checks = card.checks
    assert isinstance(checks, CnnChecks)
    assert checks.parameters == sum(p.numel() for p in classifier.network.parameters())
    assert checks.cues is not None
    for name, worn in (("glasses", "glasses"), ("dark hair", "dark")):
        rows = photos.rows
        angry = photos.labels == 0
        there = np.array([getattr(rows.face(row).identity, worn) for row in range(30)])
        right = predicted == photos.labels
        cue = checks.cues[name]
        assert cue.misleading_pictures == (there != angry).sum()
        assert cue.agreeing == pytest.approx(right[there == angry].mean(), abs=1e-4)
        assert cue.misleading == pytest.approx(right[there != angry].mean(), abs=1e-4)


def test_the_same_recipe_gives_the_same_weights(trained: Path, tmp_path: Path) -> None:
    train(trained / "tiny.yaml", out=tmp_path)
    weights = Path("faces", "tiny", cards.WEIGHTS)
    assert (tmp_path / weights).read_bytes() == (trained / weights).read_bytes()


def test_its_numbers_are_computed_again(trained: Path) -> None:
    result = evaluation.evaluate("faces/tiny", root=trained)
    assert result["agrees"]
    assert result["computed"] == result["card"]
    lines = evaluation.table(result)
    assert any(line.startswith("anger: precision") for line in lines)
    assert any(line.startswith("average: f1") for line in lines)


def test_a_card_whose_classes_do_not_add_up_is_refused(trained: Path) -> None:
    said = cards.read(trained / "faces" / "tiny").test.model_dump()
    said["confusion"][0][0] += 1
    with pytest.raises(ValueError, match="rows of confusion"):
        ClassTest.model_validate(said)
    said["classes"]["anger"]["support"] += 1
    with pytest.raises(ValueError, match="diagonal"):
        ClassTest.model_validate(said)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name: cnn", "name: resnet", "resnet does not learn faces"),
        ("dataset: faces, seed: 5, train: 4, validation: 2, test: 15, cue: 0.9",
         "dataset: birds, seed: 5, train: 2", "cnn does not learn birds"),
        ("cue: 0.9", "cue: 1.9", "cue"),
        ("cue: 0.9", "size: 50", "size"),
        ("dataset: faces", "dataset: fruits", "dataset"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_recipe_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "recipe.yaml"
    assert old in TINY
    path.write_text(TINY.replace(old, new), encoding="utf-8")
    with pytest.raises(ModelError, match=said) as refused:
        recipes.read(path)
    assert str(path) in refused.value.what


def test_sets_of_birds_want_a_classifier_of_birds(trained: Path) -> None:
    with pytest.raises(ModelError, match="faces, not on birds"):
        _ = cards.read(trained / "faces" / "tiny").recipe.birds
