"""What a card states, measured on data in the order in which data sets keep their rows."""

from __future__ import annotations

import numpy as np
import pytest

from labapp.models.datasets import dsprites
from labapp.models.datasets.split import Float32, Split
from labapp.models.representations import measuring
from labapp.models.representations.card import ModelCard, slider
from labapp.models.representations.recipe import ARCHITECTURES, PublishedScores
from tests.models.metrics.brief import few_trees

HELD, MEASURED = 3_000, 1_000
CARD = ModelCard.model_validate(
    {
        "card": 1,
        "id": "dsprites/true",
        "title": "The factors themselves",
        "dataset": "dsprites",
        "architecture": "dsprites-conv",
        "display": ARCHITECTURES["dsprites-conv"].display,
        "sampling": "held-out",
        "dimensions": [
            slider(name, low, high).model_dump()
            for name, (low, high) in zip(dsprites.NAMES, dsprites.LIMITS, strict=True)
        ],
    }
)


def a_split() -> Split:
    """More held-out rows than are measured, in the grid's order, as `dsprites.split` has them."""
    rows = np.arange(0, dsprites.COUNT, dsprites.COUNT // HELD)[:HELD]
    held = dsprites.RenderedRows(rows)
    return Split(train=held, held=held, factor_names=dsprites.NAMES, generative=True)


def test_the_rows_that_are_measured_show_every_value_of_the_factors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measuring, "INSTANCES", MEASURED)
    data = a_split()
    latents = data.held.factors(np.arange(HELD)).astype(np.float32)

    def decode(z: Float32) -> Float32:
        return dsprites.pictures(np.clip(z, *np.array(dsprites.LIMITS, np.float32).T))

    with few_trees():
        found = measuring.measure(CARD, decode, latents, None, data, published=PublishedScores())
    assert found.disentanglement is not None
    assert found.disentanglement.instances == MEASURED
    assert found.disentanglement.mig > 0.9
    assert found.disentanglement.dci.disentanglement > 0.98
