"""A small trained package, made once by the real trainer."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from labapp.models.representations import training
from tests.models.metrics.brief import few_trees

RECIPE = """\
id: tiny/vae
title: A tiny variational autoencoder
data: {dataset: sinelines, count: 400, held_out: 40, seed: 0}
architecture: sinelines-mlp
dimensions: 3
objective: {name: vae}
optimizer: {learning_rate: 0.001, schedule: cosine, batch: 64, epochs: 4}
seed: 3
checkpoint_iterations: 5
"""


@pytest.fixture(scope="session")
def recipe_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recipe") / "tiny-vae.yaml"
    path.write_text(RECIPE, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def _trained(recipe_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    with few_trees():
        training.train(recipe_path, out=root, device="cpu")
    return root


@pytest.fixture
def root(_trained: Path, tmp_path: Path) -> Path:
    """A models folder of one's own that holds the package tiny/vae."""
    copy = tmp_path / "models"
    shutil.copytree(_trained, copy)
    return copy
