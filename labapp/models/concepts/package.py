"""Packages of concept models: folders `<dataset>/<name>/` with a card, weights and codes.

    concepts.yaml         what it is, how it was made, how good it is, the hashes of the others
    weights.safetensors   parameters and statistics, float32
    codes.npz             `codes`, `concepts` and `labels` of the test rows
    intervention.npz      `values` that codes are set to, and what setting them does: `fixed`,
                          `subsets`, `wrong`, `alone`; only where concepts can be set
    encoder.onnx, predictor.onnx   of a lab's own model, in place of weights

Listing packages and reading cards leave torch alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from labapp.base.errors import DatasetError, ModelError
from labapp.models.concepts import card as cards
from labapp.models.concepts import own_pictures, recipe
from labapp.models.concepts.card import (
    CARD,
    CODES,
    INTERVENTION,
    WEIGHTS,
    Card,
    ConceptCard,
    ImportedCard,
)
from labapp.models.concepts.data import ConceptData
from labapp.models.datasets.split import Float32, Float64
from labapp.models.representations import package
from labapp.models.representations.recipe import ID_PATTERN
from labapp.models.training import files

if TYPE_CHECKING:
    from labapp.models.concepts.model import ConceptModel


def find(reference: str | Path, root: Path | None = None) -> Path:
    """The folder of a package, by id or path; see `representations.package.find`. Raises
    ModelError, also where labapp has the recipe alone."""
    name = str(reference)
    there = (Path(reference) / CARD).is_file() or name in list_packages(root)
    if not there and name in recipe.shipped():
        raise ModelError(
            f"The model {name!r} is not trained here: labapp has its recipe alone.",
            safe="No model was loaded.",
            todo=f"Train it: labapp concepts train {name}",
        )
    return package.find(reference, root, card=CARD)


def list_packages(root: Path | None = None) -> list[str]:
    """Ids of the concept models under `root` (by default the shipped and the user's), sorted."""
    return package.list_packages(root, card=CARD)


def refuse_existing(folder: Path) -> None:
    """Raises ModelError when there is something at `folder`, or when its id is taken."""
    package.refuse_existing(folder, card=CARD)


def load(path_or_id: str | Path, threads: int = 1, *, root: Path | None = None) -> ConceptModel:
    """A concept model, checked and ready. Raises ModelError: missing, foreign, damaged, pickled,
    mislabelled: the message says which. `threads`: CPU threads of torch, set for the *whole
    process*."""
    folder = find(path_or_id, root)
    card = cards.read(folder)
    by_id = isinstance(path_or_id, str) and re.fullmatch(ID_PATTERN, path_or_id)
    if by_id and card.id != path_or_id:
        raise ModelError(
            f"The package {folder} calls itself {card.id!r}, not {path_or_id!r}.",
            safe="No model was loaded.",
            todo="Put the package back under its own id.",
        )
    if isinstance(card, ImportedCard):
        from labapp.models.concepts import imported

        return imported.load(folder, card, _values(folder, card))
    weights = files.read_weights(folder / WEIGHTS, card.weights_sha256)
    values = None if card.intervention_sha256 is None else _values(folder, card)
    import torch

    from labapp.models.concepts.learner import Setup, build
    from labapp.models.concepts.model import ConceptModel
    from labapp.models.representations.torch_backend import load_weights

    torch.set_num_threads(threads)
    asked = card.recipe
    learner = build(
        asked.learner,
        Setup(
            asked.data.shape(asked.measures),
            len(card.data.concepts),
            card.data.classes,
            asked.measures,
            asked.seed,
        ),
    )
    load_weights(learner.networks, weights, folder / WEIGHTS)
    return ConceptModel(learner, values, card)


def task_of(card: Card, data: Path | None = None) -> ConceptData:
    """The task of a model. Raises DatasetError: they are missing, damaged, or others than the
    card's. ModelError: `data` is no description. `data`: the folder of official files, where it
    learned from them; of a lab's own model, a description that names its test pictures."""
    if isinstance(card, ConceptCard):
        return card.recipe.data.load(card.recipe.measures, data)
    if data is None or not data.is_file():
        raise DatasetError(
            f"The test pictures of {card.id} are not kept with it.",
            safe="Nothing was computed.",
            todo="Give the description that it was imported with, by --data.",
        )
    given = own_pictures.read(data)
    # What the concepts are is the card's; where the pictures are now, the description says.
    description = card.description.model_copy(update={"pictures": given.pictures})
    own = own_pictures.pictures(description, data)
    if own.sha256 != card.imported.pictures_sha256:
        raise DatasetError(
            f"The pictures of {data} are not those that {card.id} was imported with.",
            safe="Nothing was computed.",
            todo="Give those, or import the model anew under another id.",
        )
    return own.data


def _values(folder: Path, card: Card) -> Float64:
    values = curves(folder, card).get("values")
    if values is None or values.shape != (len(cards.concept_names(card)), 2):
        raise ModelError(
            f"{folder / INTERVENTION} does not hold what the codes of its card are set to.",
            safe="No model was loaded.",
            todo="Take a fresh copy of the package.",
        )
    return values.astype("float64")


def codes(folder: Path, card: Card) -> dict[str, Float32]:
    """The arrays of codes.npz. Raises ModelError."""
    return files.read_arrays(folder / CODES, card.codes_sha256)


def curves(folder: Path, card: Card) -> dict[str, Float32]:
    """The arrays of intervention.npz; none where there is no such file. Raises ModelError."""
    if card.intervention_sha256 is None:
        return {}
    return files.read_arrays(folder / INTERVENTION, card.intervention_sha256)


def write(
    folder: Path,
    card: ConceptCard,
    weights: Mapping[str, Float32],
    test_codes: dict[str, Float32],
    intervention: dict[str, Float32],
) -> Path:
    """Write a package, whole or not at all; the hashes are set here.

    Raises
    ------
    ModelError : `folder` exists (a package is never overwritten) or cannot be written.
    """
    refuse_existing(folder)
    contents = {WEIGHTS: files.pack_weights(weights), CODES: files.pack_arrays(test_codes)}
    hashes = {
        "weights_sha256": files.digest(contents[WEIGHTS]),
        "codes_sha256": files.digest(contents[CODES]),
    }
    if intervention:
        contents[INTERVENTION] = files.pack_arrays(intervention)
        hashes["intervention_sha256"] = files.digest(contents[INTERVENTION])
    card = card.model_copy(update=hashes)
    return package.write_whole(folder, contents, CARD, card)
