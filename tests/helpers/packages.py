"""Models for tests of where packages are found and what is drawn of them; none needs torch."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from labapp.base import resources
from labapp.models.representations import card
from labapp.models.representations.card import ModelCard
from labapp.models.representations.decoders import LoadedDecoder, percentiles_of
from labapp.models.representations.recipe import ARCHITECTURES
from tests.helpers.studies import ring_decoder


def copied(root: Path, model: str, *, of: str = "sinelines/gt", models: Path | None = None) -> Path:
    """A copy of a closed form under an id of its own; returns its folder. models: where `of` is
    taken from, by default the shipped ones."""
    folder = root / model
    folder.mkdir(parents=True)
    text = ((models or resources.models()) / of / card.CARD).read_text(encoding="utf-8")
    (folder / card.CARD).write_text(text.replace(f"id: {of}", f"id: {model}"), encoding="utf-8")
    return folder


def ring_model(model: str, continuous: int, discrete: int = 0) -> LoadedDecoder:
    """`ring_decoder` as a loaded model, with a card and percentiles."""
    rings = ring_decoder(model, continuous, discrete)
    assert rings.latents is not None
    architecture = {"mnist8k": "mnist-conv", "dsprites": "dsprites-conv"}[model.split("/")[0]]
    stated = ModelCard.model_validate(
        {
            "card": 1,
            "id": model,
            "title": "Rings that every dial changes",
            "dataset": {"mnist8k": "mnist", "dsprites": "dsprites"}[model.split("/")[0]],
            "architecture": architecture,
            "display": ARCHITECTURES[architecture].display,
            "sampling": "held-out",
            "dimensions": rings.space.to_json(),
        }
    )
    return LoadedDecoder(
        id=model,
        space=rings.space,
        card=stated,
        latents=rings.latents,
        percentiles=percentiles_of(rings.latents.astype(np.float32)),
        device="cpu",
        threads=1,
        forward=rings.formula,
    )
