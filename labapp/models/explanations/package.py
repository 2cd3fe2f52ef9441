"""Classifier packages: folders `<dataset>/<name>/` with a card and weights.

    classifier.yaml       what it is, how it was made, how good it is, the hash of the weights
    weights.safetensors   parameters and statistics, float32

Listing packages and reading cards leave torch alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from labapp.base.errors import ModelError
from labapp.models.datasets.split import Float32
from labapp.models.explanations import card as cards
from labapp.models.explanations.card import CARD, WEIGHTS, ClassifierCard
from labapp.models.representations import package
from labapp.models.training import files

if TYPE_CHECKING:
    from labapp.models.explanations.classifier import Classifier


def find(reference: str | Path, root: Path | None = None) -> Path:
    """The folder of a package, by id or path; see `representations.package.find`."""
    return package.find(reference, root, card=CARD)


def list_packages(root: Path | None = None) -> list[str]:
    """Ids of the classifiers under `root` (by default the shipped and the user's), sorted."""
    return package.list_packages(root, card=CARD)


def load(path_or_id: str | Path, threads: int = 1, *, root: Path | None = None) -> Classifier:
    """A classifier, checked and ready. Raises ModelError: missing, foreign, damaged, pickled,
    mislabelled: the message says which. `threads`: CPU threads of torch, set for the *whole
    process*."""
    folder = find(path_or_id, root)
    card = cards.read(folder)
    if not Path(path_or_id).is_absolute() and folder != Path(path_or_id) and card.id != path_or_id:
        raise ModelError(
            f"The package {folder} calls itself {card.id!r}, not {str(path_or_id)!r}.",
            safe="No model was loaded.",
            todo="Put the package back under its own id.",
        )
    weights = files.read_weights(folder / WEIGHTS, card.weights_sha256)
    import torch

    from labapp.models.explanations.classifier import Classifier, approach
    from labapp.models.representations.torch_backend import load_weights

    torch.set_num_threads(threads)
    network = approach(card.recipe.method.name).network(card.recipe)
    load_weights(network, weights, folder / WEIGHTS)
    return Classifier(card, network.eval())


def write(folder: Path, card: ClassifierCard, weights: Mapping[str, Float32]) -> Path:
    """Write a package, whole or not at all; the hash of the weights is set here.

    Raises
    ------
    ModelError : `folder` exists (a package is never overwritten) or cannot be written.
    """
    refuse_existing(folder)
    content = files.pack_weights(weights)
    card = card.model_copy(update={"weights_sha256": files.digest(content)})
    return package.write_whole(folder, {WEIGHTS: content}, CARD, card)


def refuse_existing(folder: Path) -> None:
    """Raises ModelError when there is something at `folder`, or when its id is taken."""
    package.refuse_existing(folder, card=CARD)
