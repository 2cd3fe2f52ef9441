"""Codes and factors that several metrics are tried on, and the parts of their scores."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from labapp.models.datasets.split import Float64
from labapp.models.metrics.information import Binning
from labapp.models.metrics.inputs import Score

__all__ = ["BINNINGS", "Float64", "array", "mixed", "of_five_values", "seeds"]

BINNINGS: tuple[Binning, ...] = ("equal-width", "equal-frequency")
seeds = st.integers(0, 2**32 - 1)


def mixed(seed: int, rows: int = 200) -> tuple[Float64, Float64]:
    """Four codes that each mix three factors and noise."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(rows, 3))
    return factors @ rng.normal(size=(3, 4)) + rng.normal(size=(rows, 4)), factors


def of_five_values(seed: int, rows: int = 300) -> tuple[Float64, Float64]:
    """Four codes, each of which mixes three factors of five values with noise."""
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, 5, (rows, 3)).astype(np.float64)
    return factors @ rng.normal(size=(3, 4)) + rng.normal(size=(rows, 4)), factors


def array(score: Score, part: str) -> Float64:
    return np.asarray(score.parts[part])
