"""Recipes that train in a second, and models of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from labapp.concepts import package, training
from labapp.concepts.model import ConceptModel
from labapp.concepts.recipe import ConceptRecipe


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    torch.set_num_threads(1)


def toy(name: str = "cbm-logits", **learner: Any) -> ConceptRecipe:
    """TabularToy in the size for tests."""
    settings = {"alpha": 0.1, "predictor": [128, 64], **learner, "name": name}
    return recipe({"dataset": "toy"}, settings)


def sprites(name: str = "cbm", **learner: Any) -> ConceptRecipe:
    """dSprites in the size for tests."""
    data = {"dataset": "dsprites", "concepts": 4, "pixels": 32, "noise": 0.1}
    return recipe(data, {**learner, "name": name})


def recipe(data: dict[str, Any], learner: dict[str, Any]) -> ConceptRecipe:
    whole = ConceptRecipe.model_validate(
        {"id": "tiny/model", "title": "Tiny", "data": data, "learner": learner, "size": "S"}
    )
    return ConceptRecipe.model_validate(whole.model_dump())


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The packages of both bottlenecks of TabularToy, by the learner's name."""
    root = tmp_path_factory.mktemp("concepts")
    return {name: training.train(toy(name), out=root / name) for name in ("cbm", "cbm-logits")}


@pytest.fixture(scope="session")
def models(folders: dict[str, Path]) -> dict[str, ConceptModel]:
    return {name: package.load(folder) for name, folder in folders.items()}
