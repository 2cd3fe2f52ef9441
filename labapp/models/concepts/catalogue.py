"""Concept models for `labapp concepts`: those that are there, the recipes of those that are not,
and what they are worth, as plain values for JSON."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from labapp.base import resources
from labapp.base.errors import ModelError
from labapp.models.concepts import card as cards
from labapp.models.concepts import package, recipe
from labapp.models.concepts.card import Accuracy, ConceptCard
from labapp.models.metrics.roc import class_accuracy, class_auc
from labapp.models.representations import card as decoders

TOLERANCE = 0.005
"""By how much a number that is computed again may differ from the card's: another version of torch
rounds otherwise, and the networks that measure purity learn from that."""


def rows(root: Path | None = None) -> list[dict[str, Any]]:
    """Every package under `root` (by default the shipped and the user's), then every shipped recipe
    of which there is none, by id.

    Returns
    -------
    A row each: id, title, learner, data, size, trained, shipped (whether the package comes with
    labapp); of packages also folder, task and concepts (the accuracy on test rows, null where
    nothing of that kind is learned), ois, ois_standardised (in coordinates in which codes of
    different kinds can be compared) and nis. Of a package that is refused, what its card says
    is null, and the reason stands under "problem".
    """
    packages = [_package(name, root) for name in package.list_packages(root)]
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
        for each in recipe.shipped().values()
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
        folder = package.find(name, root)
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
    known = package.list_packages(root)
    if str(model) not in known and not (Path(model) / cards.CARD).is_file():
        untrained = recipe.shipped()
        if str(model) in untrained:
            return {
                "id": str(model),
                "trained": False,
                "recipe": untrained[str(model)].model_dump(mode="json"),
            }
    folder = package.find(model, root)
    card = cards.read(folder)
    values = card.model_dump(mode="json", exclude_none=True)
    title = decoders.title_of(folder) or card.title
    return {"id": card.id, "title": title, "trained": True, **values, "folder": str(folder)}


def score(
    model: str | Path, *, data_folder: Path | None = None, root: Path | None = None
) -> dict[str, Any]:
    """Compute the numbers of a card again, from weights and data.

    Returns
    -------
    model, computed and card (both with test, validation and scores), agrees: whether every number
    is the card's within `TOLERANCE`.

    Raises
    ------
    ModelError, DatasetError : the package or the official files are missing or refused.
    """
    from labapp.models.concepts import measuring  # torch

    loaded = package.load(model, root=root)
    card = loaded.card
    data = package.task_of(card, data_folder)
    trained = loaded.codes(data.split.train) if isinstance(card, ConceptCard) else None
    measured = measuring.measure(loaded, data, trained)
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


def intervened(
    model: str | Path,
    *,
    auc: bool = False,
    data_folder: Path | None = None,
    root: Path | None = None,
) -> dict[str, Any]:
    """What setting concepts of the test rows to what is true does to the accuracy of the task.

    Parameters
    ----------
    auc : in place of the accuracy, take the mean area under the ROC curve of each class against
        the others.

    Returns
    -------
    model, concepts (names), rows, score ("accuracy" or "auc"), values (what a code is set to, off
    and on), and the curves `fixed`, `subsets` and `wrong` (after 0 to k concepts) and `alone` (of
    each concept): see `intervention.Interventions`.

    Raises
    ------
    ModelError : no concept of the model can be set; or, with `auc`, no test row is of some class,
        which then has no curve. DatasetError : as `score`.
    """
    from labapp.models.concepts import measuring  # torch

    loaded = package.load(model, root=root)
    card = loaded.card
    data = package.task_of(card, data_folder)
    missing = sorted(set(range(data.split.classes)) - set(data.split.test.labels_of.tolist()))
    if auc and missing:
        raise ModelError(
            f"Of {card.id} no test row is of class {', '.join(map(str, missing))} (counted from "
            "0), so that there is no ROC curve of it.",
            safe="Nothing was changed.",
            todo="Ask without --auc how often the class is right, or import the model with test "
            "pictures of every class.",
        )
    curves = measuring.curves(loaded, data.split.test, class_auc if auc else class_accuracy)
    return {
        "model": card.id,
        "concepts": list(cards.concept_names(card)),
        "rows": len(data.split.test),
        "score": "auc" if auc else "accuracy",
        **{
            name: values.astype(float).round(measuring.DIGITS).tolist()
            for name, values in curves.items()
        },
    }
