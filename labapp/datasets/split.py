"""A data set divided once into the part that models learn from and the part held out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labapp.datasets import sinelines

Float32 = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Split:
    """Instances x and the factors that made them, row for row.

    `train_x` is float32 of shape (n, *shape), `train_factors` float64 of shape (n, k); `held_x`
    and `held_factors` likewise for the held-out rows.
    """

    train_x: Float32
    train_factors: NDArray[np.float64]
    held_x: Float32
    held_factors: NDArray[np.float64]


def _sinelines(count: int, held_out: int, seed: int) -> Split:
    x, factors = sinelines.generate(count, seed)
    cut = count - held_out
    return Split(x[:cut], factors[:cut], x[cut:], factors[cut:])


_SOURCES: dict[str, Callable[[int, int, int], Split]] = {"sinelines": _sinelines}

NAMES = tuple(_SOURCES)
"""Data sets that a recipe can name."""


def load(dataset: str, *, count: int, held_out: int, seed: int) -> Split:
    """The named data set, divided.

    Rows are independent draws, so the last `held_out` of the `count` rows are the held-out part:
    the same seed gives the same division for ever, whatever is trained on it.

    Raises
    ------
    KeyError : no such data set.
    ValueError : `held_out` leaves nothing to learn from, or nothing held out.
    """
    if not 0 < held_out < count:
        raise ValueError(f"held_out must lie between 1 and {count - 1}, found {held_out}")
    return _SOURCES[dataset](count, held_out, seed)
