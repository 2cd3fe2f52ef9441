"""`labapp models evaluate` of a classifier: its test numbers computed again, beside the card's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from labapp.explanations import measuring, package
from labapp.explanations.card import BirdTest, ClassTest
from labapp.explanations.photos import load_photos

TOLERANCE = 3
"""Pictures in each thousand whose prediction may change by rounding on another machine."""


def evaluate(
    model: str | Path, root: Path | None = None, *, data_folder: Path | None = None
) -> dict[str, Any]:
    """Classify the whole test part again.

    Parameters
    ----------
    data_folder : of the pictures of a classifier that was trained on a folder.

    Returns
    -------
    model; pictures; "computed" and "card", each what the card says under `test` without its
    pictures and hits; "agrees": whether no more pictures are judged otherwise than rounding
    explains (`TOLERANCE`).

    Raises
    ------
    ModelError : the package is refused, or it was trained on a folder and none is given.
    DatasetError : the folder's pictures are not those it was trained on.
    """
    classifier = package.load(model, root=root)
    photos = load_photos(classifier.card.recipe.data.load(data_folder).test)
    predicted = classifier.predicted(photos.pictures)
    computed = measuring.test_result(photos, predicted, classifier.names)
    stated = classifier.card.test
    return {
        "model": classifier.card.id,
        "pictures": len(photos),
        "computed": _plain(computed),
        "card": _plain(stated),
        "agrees": _agree(computed, stated),
    }


def table(result: dict[str, Any]) -> list[str]:
    """The result as lines to read: a number a line, as computed and on the card."""
    computed, stated = _flat(result["computed"]), _flat(result["card"])
    width = max(map(len, computed))
    rows = [
        f"{name:{width}}  {_cell(value):>10}  {_cell(stated[name]):>10}"
        for name, value in computed.items()
    ]
    return [
        f"{result['model']}: {result['pictures']:,} test pictures",
        f"{'':{width}}  {'computed':>10}  {'card':>10}",
        *rows,
        "agrees" if result["agrees"] else "does not agree",
    ]


def _plain(bird_test: BirdTest | ClassTest) -> dict[str, Any]:
    return bird_test.model_dump(mode="json", exclude={"pictures", "hits"})


def _flat(numbers: dict[str, Any]) -> dict[str, float]:
    """A number a line."""
    if "classes" in numbers:
        flat = {"accuracy": numbers["accuracy"], "errors": numbers["errors"]}
        for name, share in [*numbers["classes"].items(), ("average", numbers["average"])]:
            flat |= {f"{name}: {what}": value for what, value in share.items()}
        return flat
    recall = numbers["recall"]
    shown = {name.replace("_", " "): value for name, value in numbers.items() if name != "recall"}
    return shown | {"lowest recall": min(recall), "highest recall": max(recall)}


def _cell(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.4f}"


def _agree(computed: BirdTest | ClassTest, stated: BirdTest | ClassTest) -> bool:
    if computed.pictures != stated.pictures:
        return False
    allowed = max(TOLERANCE * stated.pictures / 1_000, 1)
    apart = sum(abs(a - b) for a, b in zip(computed.hits, stated.hits, strict=True))
    if isinstance(computed, ClassTest) or isinstance(stated, ClassTest):
        return (
            isinstance(computed, ClassTest)
            and isinstance(stated, ClassTest)
            and apart <= allowed
            and _moved(computed.confusion, stated.confusion) <= allowed
        )
    inside = abs(computed.usable - stated.usable)
    recalled = max(abs(a - b) for a, b in zip(computed.recall, stated.recall, strict=True))
    in_each = stated.pictures / len(stated.recall)
    return apart <= allowed and inside <= allowed and recalled * in_each <= allowed + 1e-6


def _moved(first: list[list[int]], other: list[list[int]]) -> float:
    """Number of pictures that are in another cell of the second confusion matrix."""
    return float(np.abs(np.subtract(first, other)).sum() / 2)
