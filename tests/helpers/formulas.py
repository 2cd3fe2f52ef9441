"""The decoders of the shipped studies in closed form: no model file, no torch, no waiting."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from labapp.models.datasets import circles, sinelines
from labapp.models.representations.decoding import Decoder
from labapp.study.overview import space_of
from tests.helpers.rooms import FormulaDecoder

Array = NDArray[np.float32]
MODELS = ("circles/gt", "sinelines/gt", "sinelines/vae", "sinelines/ae")
_MIX = np.linalg.qr(np.random.default_rng(5).standard_normal((5, 5)))[0].astype(np.float32)


def _entangled(z: Array) -> Array:
    return sinelines.series(z @ _MIX.T)


@cache
def formula_decoder(model: str) -> Decoder:
    """A decoder with the model's own dials; the trained ones turn all sine parameters at once."""
    space = space_of(model)
    draws = np.random.default_rng(1).uniform(0.2, 0.8, (200, len(space)))
    low = np.array([getattr(d, "low", 0.0) for d in space.dimensions])
    high = np.array([getattr(d, "high", 1.0) for d in space.dimensions])
    latents = (low + draws * (high - low)).astype(np.float32)
    formula = {"circles/gt": circles.pictures, "sinelines/gt": sinelines.series}
    return FormulaDecoder(model, space, latents, formula.get(model, _entangled))


def formula_decoders() -> dict[str, Decoder]:
    return {model: formula_decoder(model) for model in MODELS}
