"""What `labapp models` asks: list, show and evaluate, as plain values for JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from labapp import resources
from labapp.errors import ModelError
from labapp.representations import card as cards
from labapp.representations import heldout, package
from labapp.representations.architectures import ClosedForm

TOLERANCE = 0.001
"""Relative difference from the card that rounding on another device or build explains."""


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


def evaluate(
    model: str | Path, device: str | None = None, root: Path | None = None
) -> dict[str, Any]:
    """The held-out error computed again from the recipe's data, beside the card's.

    Returns
    -------
    model, device, instances, unit; "computed" and "card", each with mean and sampled (None where
    there is no posterior); published; "agrees": whether they differ by less than a thousandth.

    Raises
    ------
    ModelError : the package is refused, or states no data to evaluate on.
    """
    decoder = package.load_package(model, device, root=root)
    card = decoder.card
    if card.data is None or card.held_out_error is None:
        raise ModelError(
            f"{card.id} has no held-out data: there is nothing to evaluate.",
            safe="The model is in order.",
            todo="Evaluate a model of a data set.",
        )
    data = card.data.load()
    sampled = None
    if isinstance(card.made_by.source, ClosedForm):
        mean = heldout.error(decoder.decode, data.held_factors.astype("float32"), data.held_x)
    else:
        if len(decoder.latents) != len(data.held_x):
            raise ModelError(
                f"{card.id} holds {len(decoder.latents)} encodings for {len(data.held_x)} "
                "held-out instances: its latents and its card do not belong together.",
                todo="Take a fresh copy of the package.",
            )
        mean = heldout.error(decoder.decode, decoder.latents, data.held_x)
        spread = package.read_arrays(package.find(model, root), card).get("spread")
        if spread is not None:
            z = heldout.draw(decoder.latents, spread)
            sampled = heldout.error(decoder.decode, z, data.held_x)
    stated = card.held_out_error
    return {
        "model": card.id,
        "device": decoder.device,
        "instances": len(data.held_x),
        "unit": stated.unit,
        "computed": {"mean": mean, "sampled": sampled},
        "card": {"mean": stated.mean, "sampled": stated.sampled},
        "published": stated.published,
        "agrees": _near(mean, stated.mean) and _near(sampled, stated.sampled),
    }


def _near(found: float | None, stated: float | None) -> bool:
    if found is None or stated is None:
        return found is stated
    return abs(found - stated) <= TOLERANCE * max(stated, TOLERANCE)
