"""A model's encodings beside the true factors, for every metric of `labapp.metrics`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labapp.representations import evaluation, measuring, package
from labapp.representations.recipe import InfoGan

Float64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Held-out rows of a model: `codes`, float64 (n, C), and `factors`, float64 (n, K), with the
    names of their columns."""

    codes: Float64
    factors: Float64
    code_names: tuple[str, ...]
    factor_names: tuple[str, ...]


def encoded(
    model: str | Path, root: Path | None = None, data_folder: Path | None = None
) -> Encoded | None:
    """The rows that the card's disentanglement was measured on; None where the data have no true
    factors, or the model no encodings.

    Raises
    ------
    ModelError, DatasetError : see `evaluation.evaluate`.
    """
    decoder = package.load_package(model, "cpu", root=root)
    card = decoder.card
    data = evaluation.held_data(card, data_folder)
    if not data.generative or isinstance(card.objective, InfoGan):
        return None
    rows = measuring.measured_rows(data.held)
    return Encoded(
        codes=evaluation.encodings(decoder, data)[rows].astype(np.float64),
        factors=data.held.factors(rows),
        code_names=tuple(dial.name for dial in card.dimensions),
        factor_names=data.factor_names,
    )
