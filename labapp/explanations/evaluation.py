"""`labapp models evaluate` of a classifier: its test numbers computed again, beside the card's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from labapp.explanations import measuring, package
from labapp.explanations.card import Tested
from labapp.explanations.photos import painted

TOLERANCE = 3
"""Pictures in each thousand whose prediction rounding on another machine may turn."""


def evaluate(model: str | Path, root: Path | None = None) -> dict[str, Any]:
    """The whole test part painted and classified again.

    Returns
    -------
    model; pictures; "computed" and "card", each with accuracy, genus_accuracy, recall (by species),
    errors, inside_genus, usable, decidable; "agrees": whether no more pictures are judged otherwise
    than rounding explains (`TOLERANCE`).

    Raises ModelError when the package is refused.
    """
    classifier = package.load(model, root=root)
    photos = painted(classifier.card.recipe.data.load().test)
    computed = measuring.tested(photos, classifier.predicted(photos.pictures))
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


def _plain(tested: Tested) -> dict[str, Any]:
    return tested.model_dump(mode="json", exclude={"pictures", "hits"})


def _flat(numbers: dict[str, Any]) -> dict[str, float]:
    recall = numbers["recall"]
    shown = {name.replace("_", " "): value for name, value in numbers.items() if name != "recall"}
    return shown | {"lowest recall": min(recall), "highest recall": max(recall)}


def _cell(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.4f}"


def _agree(computed: Tested, stated: Tested) -> bool:
    if computed.pictures != stated.pictures:
        return False
    allowed = TOLERANCE * stated.pictures / 1_000
    apart = sum(abs(a - b) for a, b in zip(computed.hits, stated.hits, strict=True))
    inside = abs(computed.usable - stated.usable)
    recalled = max(abs(a - b) for a, b in zip(computed.recall, stated.recall, strict=True))
    in_each = stated.pictures / len(stated.recall)
    return apart <= allowed and inside <= allowed and recalled * in_each <= allowed + 1e-6
