"""From a classifier's recipe to its package, on the CPU: killed at any moment, it goes on."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
from torch import nn

from labapp import resources
from labapp.datasets.folder import Folder
from labapp.explanations import fitting, measuring, package
from labapp.explanations import recipe as recipes
from labapp.explanations.approach import Approach, approach
from labapp.explanations.card import ClassifierCard, Made
from labapp.explanations.classifier import scores
from labapp.explanations.data import FolderData
from labapp.explanations.photos import Parts, painted
from labapp.explanations.recipe import ClassifierRecipe
from labapp.representations.torch_backend import weights_of
from labapp.training import checkpoint
from labapp.training.checkpoint import Provenance
from labapp.training.loop import Progress, versions


def train(
    recipe_path: Path,
    *,
    out: Path | None = None,
    data_folder: Path | None = None,
    resume: bool = True,
    progress: Callable[[Progress], None] | None = None,
    threads: int = 1,
    checkpoint_s: float = fitting.CHECKPOINT_S,
) -> Path:
    """Train the recipe's classifier, measure it and write its package.

    Parameters
    ----------
    out : where `<dataset>/<name>/` is written, and checkpoints under `.training/<dataset>/<name>/`
        meanwhile; the user's models folder by default.
    data_folder : of a lab's own pictures, instead of the one that the recipe names.
    resume : go on from a checkpoint of the same recipe; otherwise start afresh.
    progress : see `fitting.fit`.
    threads : CPU threads of torch, process-wide. Another number of threads rounds differently.
    checkpoint_s : seconds between two checkpoints.

    Returns
    -------
    The package's folder.

    Raises
    ------
    ModelError : the recipe is refused, the package exists, the checkpoint does not fit, the loss
        is no longer finite, the disk refuses.
    DatasetError : the lab's own pictures cannot be used; see `datasets.folder.read`.
    """
    recipe = recipes.read(recipe_path)
    out = resources.user_models() if out is None else out
    folder = out / recipe.id
    package.refuse_existing(folder)
    torch.set_num_threads(threads)
    state = out / ".training" / recipe.id
    if not resume:
        checkpoint.clear(state)

    data = recipe.data.load(_folder(recipe, recipe_path, data_folder))
    recipe = recipe.of(data)
    method = approach(recipe.method.name)
    network = method.network(recipe)
    phases = method.phases(recipe, network, data)
    seconds = fitting.fit(
        network,
        phases,
        seed=recipe.seed,
        provenance=Provenance(recipe.digest, "cpu", threads),
        state=state,
        progress=progress,
        checkpoint_s=checkpoint_s,
    )
    made = Made(
        recipe_sha256=recipe.digest,
        phases={phase.name: phase.steps for phase in phases},
        seconds=round(seconds, 1),
        threads=threads,
        versions={**versions(), "captum": metadata.version("captum")},
    )
    package.write(folder, card_of(recipe, made, network, method, data), weights_of(network))
    checkpoint.clear(state)
    return folder


def _folder(recipe: ClassifierRecipe, path: Path, given: Path | None) -> Path | None:
    """Where a lab's own pictures lie: as given, or from the folder of the recipe."""
    if given is not None or not isinstance(recipe.data, FolderData):
        return given
    return path.parent / recipe.data.folder


def card_of(
    recipe: ClassifierRecipe, made: Made, network: nn.Module, method: Approach[Any], data: Parts
) -> ClassifierCard:
    """The card, all of it measured; the hash of the weights is set when they are written."""
    validation, test = painted(data.validation), painted(data.test)
    right = scores(network, validation.pictures).argmax(1) == validation.labels
    predicted = scores(network, test.pictures).argmax(1)
    return ClassifierCard(
        card=1,
        recipe=recipe,
        training=made,
        parts=data.counts if isinstance(data, Folder) else None,
        validation_accuracy=round(float(right.mean()), 4),
        test=measuring.measured(test, predicted, recipe.data.names),
        checks=method.checks(recipe, network, data),
        weights_sha256="0" * 64,
    )
