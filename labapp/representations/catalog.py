"""What `labapp models` asks: list and show, as plain values for JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from labapp import resources
from labapp.errors import ModelError
from labapp.representations import card as cards
from labapp.representations import package, sheets


def models(root: Path | None = None) -> list[dict[str, Any]]:
    """Every package under `root`, by default the shipped ones and the user's.

    Returns
    -------
    Rows of id, source ("shipped" or "own"), folder, title, dataset, architecture, dimensions,
    held_out_error (None where there is none). A package that is refused has the reason under
    "problem" instead of what its card says; an id that names two has no source either.
    """
    rows: list[dict[str, Any]] = []
    for name in package.list_packages(root):
        row: dict[str, Any] = {"id": name}
        rows.append(row)
        try:
            folder = package.find(name, root)
            shipped = folder.is_relative_to(resources.models())
            row |= {"source": "shipped" if shipped else "own", "folder": str(folder)}
            card = cards.read(folder)
        except ModelError as error:
            row["problem"] = error.what
            continue
        row.update(
            {
                "title": card.title,
                "dataset": card.dataset,
                "architecture": card.architecture,
                "dimensions": len(card.dimensions),
                "held_out_error": card.held_out_error and card.held_out_error.as_published,
            }
        )
    return rows


def show(model: str | Path, root: Path | None = None) -> dict[str, Any]:
    """The model card as plain values, and the package's folder. Raises ModelError."""
    folder = package.find(model, root)
    return {**cards.read(folder).to_json(), "folder": str(folder)}


def write_sheet(model: str | Path, path: Path | None = None, root: Path | None = None) -> Path:
    """Draw a model's traversal sheet as a PNG file.

    path : by default `<id with a dash>-traversals.png` in the folder one works in.

    Raises
    ------
    ModelError : the package is refused, or another file of this name is there.
    """
    from labapp.representations import sheet_figure  # matplotlib

    decoder = package.load_package(model, root=root)
    if path is None:
        path = Path(sheet_figure.default_name(decoder.id))
    return sheet_figure.write(sheets.traversals(decoder), path)
