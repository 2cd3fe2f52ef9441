"""Small classifiers that were never trained, and recipes that train in a second."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import torch

from labapp.models.datasets import birds, faces
from labapp.models.explanations import data as recipes
from labapp.models.explanations.classifier import Classifier, approach, card_of
from labapp.models.explanations.data import ClassifierRecipe
from labapp.models.explanations.package import ClassifierCard, TrainingRecord
from labapp.models.explanations.photos import UInt8, load_photos

TINY = """
id: birds/{name}
title: Tiny
data: {{dataset: birds, seed: 5, train: 2, validation: 1, test: 3, size: 48}}
method: {{name: {name}}}
schedule: {{steps: 6, batch: 8, peak: 0.003}}
seed: 2
"""


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(autouse=True, scope="session")
def _painted_once() -> Iterator[None]:
    """The same few birds and faces are looked at again and again, and a face takes 20 ms."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (birds, faces):
            patch.setattr(module, "picture", lru_cache(1000)(module.picture))
        yield


@pytest.fixture
def recipe_of(tmp_path: Path) -> Callable[..., Path]:
    """A tiny recipe's file, with some of its text replaced."""

    def write(name: str, **replaced: str) -> Path:
        text = TINY.format(name=name)
        for old, new in replaced.items():
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def pictures() -> UInt8:
    """Ten birds in 96 pixels."""
    data = recipes.BirdsData(dataset="birds", seed=8, train=1, test=1)
    return load_photos(data.load().test, 10).pictures


def untrained(method: dict[str, object], dataset: str = "birds") -> Classifier:
    """A classifier with its first weights, whose card says so."""
    recipe = ClassifierRecipe.model_validate(
        {
            "id": f"{dataset}/{method['name']}",
            "title": "Untrained",
            "data": {"dataset": dataset, "seed": 8, "train": 1, "validation": 1, "test": 1},
            "method": method,
            "schedule": {"steps": 1, "peak": 0.001},
            "seed": 0,
        }
    ).whole()
    how = approach(recipe.method.name)
    network = how.network(recipe).eval()
    # Running statistics of 0 and 1 would leave the network all but linear.
    random = np.random.default_rng(0)
    for name, buffer in network.named_buffers():
        if name.endswith(("running_mean", "running_var")):
            values = random.uniform(0.5, 1.5, buffer.shape).astype(np.float32)
            buffer.copy_(buffer.new_tensor(values) - (0.9 if name.endswith("mean") else 0))
    made = TrainingRecord(
        recipe_sha256=recipe.digest, phases={"none": 1}, seconds=0, threads=1, versions={}
    )
    card: ClassifierCard = card_of(recipe, made, network, how, recipe.data.load())
    return Classifier(card, network)


@pytest.fixture(scope="session")
def resnet() -> Classifier:
    return untrained({"name": "resnet"})


@pytest.fixture(scope="session")
def bagnet() -> Classifier:
    return untrained({"name": "bagnet", "field": 25})


@pytest.fixture(scope="session")
def faces_cnn() -> Classifier:
    return untrained({"name": "cnn"}, "faces")
