"""What `labapp models list` and `show` say of classifiers, as plain values for JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from labapp import resources
from labapp.errors import ModelError
from labapp.explanations import card as cards
from labapp.explanations import package


def models(root: Path | None = None) -> list[dict[str, Any]]:
    """Every classifier under `root`, by default the shipped ones and the user's.

    Returns
    -------
    Rows of id, kind ("classifier"), source ("shipped" or "own"), folder, title, dataset, method,
    test_accuracy. A package that is refused has the reason under "problem" instead.
    """
    rows: list[dict[str, Any]] = []
    for name in package.list_packages(root):
        row: dict[str, Any] = {"id": name, "kind": "classifier"}
        rows.append(row)
        try:
            folder = package.find(name, root)
            shipped = folder.is_relative_to(resources.models())
            row |= {"source": "shipped" if shipped else "own", "folder": str(folder)}
            card = cards.read(folder)
        except ModelError as error:
            row["problem"] = error.what
            continue
        row |= {
            "title": card.recipe.title,
            "dataset": card.recipe.data.dataset,
            "method": card.recipe.method.name,
            "test_accuracy": card.test.accuracy,
        }
    return rows


def is_one(model: str | Path, root: Path | None = None) -> bool:
    """Whether an id or folder is a classifier's; no, also where there is nothing."""
    folder = Path(model)
    if (folder / cards.CARD).is_file():
        return True
    return str(model) in package.list_packages(root)


def show(model: str | Path, root: Path | None = None) -> dict[str, Any]:
    """The card as plain values, and the package's folder. Raises ModelError."""
    folder = package.find(model, root)
    card = cards.read(folder).model_dump(mode="json", exclude_none=True)
    return {"id": card["recipe"]["id"], **card, "folder": str(folder)}
