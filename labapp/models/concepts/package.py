"""Packages of concept models: folders `<dataset>/<name>/` with a card, weights and codes.

    concepts.yaml         what it is, how it was made, how good it is, the hashes of the others
    weights.safetensors   parameters and statistics, float32
    codes.npz             `codes`, `concepts` and `labels` of the test rows
    intervention.npz      `values` that codes are set to, and what setting them does: `fixed`,
                          `subsets`, `wrong`, `alone`; only where concepts can be set
    encoder.onnx, predictor.onnx   of a lab's own model, in place of weights

Listing packages and reading cards leave torch alone.

Concept models for `labapp concepts`: those that are there, the recipes of those that are not, and
what they are worth, as plain values for JSON.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labapp.base import resources
from labapp.base.errors import DatasetError, ModelError, ModelNotFound
from labapp.models.concepts import card as cards
from labapp.models.concepts import recipe
from labapp.models.concepts.card import (
    CARD,
    CODES,
    INTERVENTION,
    WEIGHTS,
    Accuracy,
    Card,
    ConceptCard,
    ImportedCard,
    pictures,
    read_description,
)
from labapp.models.concepts.recipe import ConceptData
from labapp.models.datasets.split import Float32, Float64
from labapp.models.metrics.roc import class_accuracy, class_auc
from labapp.models.representations import card as decoders
from labapp.models.representations import package
from labapp.models.training import files

if TYPE_CHECKING:
    from labapp.models.concepts.learner import ConceptModel


list_packages = partial(package.list_packages, card=CARD)
refuse_existing = partial(package.refuse_existing, card=CARD)


def find(reference: str | Path, root: Path | None = None) -> Path:
    """The folder of a package, by id or path; see `representations.package.find`. Raises
    ModelError, also if labapp has only the recipe."""
    name = str(reference)
    there = (Path(reference) / CARD).is_file() or name in list_packages(root)
    if not there and name in recipe.read_shipped():
        raise ModelNotFound(
            f"The model {name!r} is not trained here: labapp has only its recipe.",
            safe="No model was loaded.",
            todo=f"Train it: labapp concepts train {name}",
        )
    return package.find(reference, root, card=CARD)


def load(path_or_id: str | Path, threads: int = 1, *, root: Path | None = None) -> ConceptModel:
    """A concept model, checked and ready. Raises ModelError: missing, foreign, damaged, pickled,
    mislabelled: the message says which. `threads`: CPU threads of torch, set for the *whole
    process*."""
    folder = find(path_or_id, root)
    card = cards.read(folder)
    package.refuse_other_id(folder, card.id, path_or_id)
    if isinstance(card, ImportedCard):
        from labapp.models.concepts import imported

        return imported.load(folder, card, _values(folder, card))
    weights = files.read_weights(folder / WEIGHTS, card.weights_sha256)
    values = None if card.intervention_sha256 is None else _values(folder, card)
    import torch

    from labapp.models.concepts.learner import ConceptModel, Setup, build
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
    card's. ModelError: `data` is no description. `data`: the folder of official files, if it
    learned from them; of a lab's own model, a description that names its test pictures."""
    if isinstance(card, ConceptCard):
        return card.recipe.data.load(card.recipe.measures, data)
    if data is None or not data.is_file():
        raise DatasetError(
            f"The test pictures of {card.id} are not stored with it.",
            safe="Nothing was computed.",
            todo="Give the description that it was imported with, using --data.",
        )
    given = read_description(data)
    # What the concepts are is the card's; where the pictures are now, the description says.
    description = card.description.model_copy(update={"pictures": given.pictures})
    own = pictures(description, data)
    if own.sha256 != card.imported.pictures_sha256:
        raise DatasetError(
            f"The pictures of {data} are not the ones with which {card.id} was imported.",
            safe="Nothing was computed.",
            todo="Give the original ones, or import the model again under another id.",
        )
    return own.data


def _values(folder: Path, card: Card) -> Float64:
    values = curves(folder, card).get("values")
    if values is None or values.shape != (len(cards.concept_names(card)), 2):
        raise ModelError(
            f"{folder / INTERVENTION} does not contain the values to which the codes of its card "
            "are set.",
            safe="No model was loaded.",
            todo="Get a fresh copy of the package.",
        )
    return values.astype("float64")


def codes(folder: Path, card: Card) -> dict[str, Float32]:
    """The arrays of codes.npz. Raises ModelError."""
    return files.read_arrays(folder / CODES, card.codes_sha256)


def curves(folder: Path, card: Card) -> dict[str, Float32]:
    """The arrays of intervention.npz; none if there is no such file. Raises ModelError."""
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
    """Write a package, whole or not at all; the hashes are set here. Raises ModelError: `folder`
    exists (a package is never overwritten) or cannot be written."""
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


TOLERANCE = 0.005
"""By how much a number that is computed again may differ from the card's: another version of torch
rounds otherwise, and the networks that measure purity learn from that."""


def rows(root: Path | None = None) -> list[dict[str, Any]]:
    """Every package under `root` (by default the shipped and the user's), then every shipped recipe
    of which there is none, by id.

    Returns
    -------
    A row each: id, title, learner, data, size, trained, shipped (whether the package comes with
    labapp); of packages also folder, task and concepts (the accuracy on test rows, null if
    nothing of that kind is learned), ois, ois_standardised (in coordinates in which codes of
    different kinds can be compared) and nis. Of a package that is refused, what its card says
    is null, and the reason stands under "problem".
    """
    packages = [_package(name, root) for name in list_packages(root)]
    trained = {row["id"] for row in packages}
    untrained = [
        {
            "id": each.id,
            "title": each.title,
            "learner": each.learner.name,
            "data": each.data.dataset,
            "size": each.size,
            "trained": False,
            "shipped": False,
        }
        for each in recipe.read_shipped().values()
        if each.id not in trained
    ]
    return [*packages, *untrained]


def _package(name: str, root: Path | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": name,
        **dict.fromkeys(("title", "learner", "data", "size")),
        "trained": True,
        "shipped": False,
    }
    try:
        folder = find(name, root)
        row |= {"folder": str(folder), "shipped": folder.is_relative_to(resources.models())}
        card = cards.read(folder)
    except ModelError as error:
        return {**row, "problem": error.what}
    return {
        **row,
        "title": decoders.title_of(folder) or card.title,
        "learner": card.learner,
        "data": card.dataset,
        "size": card.size,
        "task": card.test.task,
        "concepts": card.test.concepts,
        "ois": card.scores["ois"],
        "ois_standardised": card.scores["ois_standardised"],
        "nis": card.scores["nis"],
    }


def show(model: str | Path, root: Path | None = None) -> dict[str, Any]:
    """A model's card, or the recipe of an untrained one, as plain values. Raises ModelError."""
    known = list_packages(root)
    if str(model) not in known and not (Path(model) / cards.CARD).is_file():
        untrained = recipe.read_shipped()
        if str(model) in untrained:
            return {
                "id": str(model),
                "trained": False,
                "recipe": untrained[str(model)].model_dump(mode="json"),
            }
    folder = find(model, root)
    card = cards.read(folder)
    values = card.model_dump(mode="json", exclude_none=True)
    title = decoders.title_of(folder) or card.title
    return {"id": card.id, "title": title, "trained": True, **values, "folder": str(folder)}


def score(
    model: str | Path, *, data_folder: Path | None = None, root: Path | None = None
) -> dict[str, Any]:
    """Compute the numbers of a card again, from weights and data. Raises ModelError, DatasetError:
    the package or the official files are missing or refused. Returns model, computed and card (both
    with test, validation and scores), agrees: whether every number is the card's within
    `TOLERANCE`."""
    from labapp.models.concepts import training  # torch

    loaded = load(model, root=root)
    card = loaded.card
    data = task_of(card, data_folder)
    trained = loaded.codes(data.split.train) if isinstance(card, ConceptCard) else None
    measured = training.measure(loaded, data, trained)
    computed = _numbers(measured.test, measured.validation, measured.scores)
    stated = _numbers(card.test, card.validation, card.scores)
    return {
        "model": card.id,
        "computed": computed,
        "card": stated,
        "agrees": computed.keys() == stated.keys()
        and all(abs(computed[name] - stated[name]) <= TOLERANCE for name in computed),
    }


def table(result: dict[str, Any]) -> list[str]:
    """What `score` gave, as lines for people."""
    wide = max(map(len, result["computed"]))
    return [
        f"{'':{wide}}  computed    card",
        *(
            f"{name:{wide}}  {value:8.4f}  {result['card'].get(name, math.nan):6.4f}"
            for name, value in result["computed"].items()
        ),
    ]


def _numbers(
    test: Accuracy, validation: Accuracy | None, scores: dict[str, float]
) -> dict[str, float]:
    numbers = {}
    for part, accuracy in (("test", test), ("validation", validation)):
        if accuracy is None:
            continue
        if accuracy.task is not None:
            numbers[f"{part} task"] = accuracy.task
        if accuracy.concepts is not None:
            numbers[f"{part} concepts"] = accuracy.concepts
        numbers |= {f"{part} {name}": share for name, share in (accuracy.each or {}).items()}
    return numbers | scores


def measure_interventions(
    model: str | Path,
    *,
    auc: bool = False,
    data_folder: Path | None = None,
    root: Path | None = None,
) -> dict[str, Any]:
    """How the accuracy of the task changes when concepts of the test rows are set to their true
    values. Raises ModelError: no concept of the model can be set; or, with `auc`, no test row is of
    some class, which then has no curve. DatasetError : as `score`.

    Parameters
    ----------
    auc : in place of the accuracy, take the mean area under the ROC curve of each class against
        the others.

    Returns
    -------
    model, concepts (names), rows, score ("accuracy" or "auc"), values (what a code is set to, off
    and on), and the curves `fixed`, `subsets` and `wrong` (after 0 to k concepts) and `alone` (of
    each concept): see `intervention.Interventions`.
    """
    from labapp.models.concepts import training  # torch

    loaded = load(model, root=root)
    card = loaded.card
    data = task_of(card, data_folder)
    missing = sorted(set(range(data.split.classes)) - set(data.split.test.labels_of.tolist()))
    if auc and missing:
        raise ModelError(
            f"No test row of {card.id} has the class {', '.join(map(str, missing))} (counted "
            "from 0), so it has no ROC curve.",
            todo="Leave out --auc to get the accuracy, or import the model with test pictures "
            "of every class.",
        )
    curves = training.curves(loaded, data.split.test, class_auc if auc else class_accuracy)
    return {
        "model": card.id,
        "concepts": list(cards.concept_names(card)),
        "rows": len(data.split.test),
        "score": "auc" if auc else "accuracy",
        **{
            name: values.astype(float).round(training.DIGITS).tolist()
            for name, values in curves.items()
        },
    }
