"""Trains a classifier from its recipe into a package, on the CPU; a killed run can be resumed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
from torch import nn

from labapp.base import resources
from labapp.models.datasets.folder import Folder
from labapp.models.explanations import classifier, evaluation, package
from labapp.models.explanations import data as recipes
from labapp.models.explanations.card import ClassifierCard, TrainingRecord
from labapp.models.explanations.classifier import Approach, approach, scores
from labapp.models.explanations.data import ClassifierRecipe, FolderData
from labapp.models.explanations.photos import DataParts, load_photos
from labapp.models.representations.torch_backend import weights_of
from labapp.models.training import loop
from labapp.models.training.loop import Progress, Provenance, versions


def train(
    recipe_path: Path,
    *,
    out: Path | None = None,
    data_folder: Path | None = None,
    resume: bool = True,
    progress: Callable[[Progress], None] | None = None,
    threads: int = 1,
    checkpoint_s: float = classifier.CHECKPOINT_S,
) -> Path:
    """Train the recipe's classifier, measure it and write its package.

    Parameters
    ----------
    data_folder : of a lab's own pictures, instead of the one that the recipe names.
    checkpoint_s : seconds between two checkpoints.

    The other parameters, the result and the errors are those of `representations.training.train`,
    on the CPU.
    """
    recipe = recipes.read(recipe_path)
    out = resources.user_models() if out is None else out
    folder = out / recipe.id
    package.refuse_existing(folder)
    torch.set_num_threads(threads)
    state = out / ".training" / recipe.id
    if not resume:
        loop.clear(state)

    if data_folder is None and isinstance(recipe.data, FolderData):
        data_folder = recipe_path.parent / recipe.data.folder
    data = recipe.data.load(data_folder)
    recipe = recipe.of(data)
    method = approach(recipe.method.name)
    network = method.network(recipe)
    phases = method.phases(recipe, network, data)
    seconds = classifier.fit(
        network,
        phases,
        seed=recipe.seed,
        provenance=Provenance(recipe.digest, "cpu", threads),
        state=state,
        progress=progress,
        checkpoint_s=checkpoint_s,
    )
    made = TrainingRecord(
        recipe_sha256=recipe.digest,
        phases={phase.name: phase.steps for phase in phases},
        seconds=round(seconds, 3),
        threads=threads,
        versions={**versions(), "captum": metadata.version("captum")},
    )
    package.write(folder, card_of(recipe, made, network, method, data), weights_of(network))
    loop.clear(state)
    return folder


def card_of(
    recipe: ClassifierRecipe,
    made: TrainingRecord,
    network: nn.Module,
    method: Approach[Any],
    data: DataParts,
) -> ClassifierCard:
    """The card, all of it measured; the hash of the weights is set when they are written."""
    validation, test = load_photos(data.validation), load_photos(data.test)
    right = scores(network, validation.pictures).argmax(1) == validation.labels
    predicted = scores(network, test.pictures).argmax(1)
    return ClassifierCard(
        card=1,
        recipe=recipe,
        training=made,
        parts=data.counts if isinstance(data, Folder) else None,
        validation_accuracy=round(float(right.mean()), 4),
        test=evaluation.test_result(test, predicted, recipe.data.names),
        checks=method.checks(recipe, network, data),
        weights_sha256="0" * 64,
    )
