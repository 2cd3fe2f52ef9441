"""Concepts and codes made by hand, pure and impure, on which Table 1 of paper 001 rests (4.1).

A code is a soft answer to one concept: anywhere in [0.95, 1] for 1, in [0, 0.05] for 0. Where in
that interval it lies is chance for a pure code; an impure code tells by it the state of all other
concepts, so that every concept can be read from any code.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labapp.models.datasets.concepts.rows import draw_equicorrelated, generator
from labapp.models.datasets.split import Float64

ROWS, CONCEPTS_MADE, COVARIANCE = 3_000, 5, 0.25
WIDTH = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class HandMade:
    """All float64, shape (rows, k); concepts are 0 or 1."""

    concepts: Float64
    pure: Float64
    impure: Float64


def hand_made(
    *, seed: int = 0, covariance: float = COVARIANCE, rows: int = ROWS, count: int = CONCEPTS_MADE
) -> HandMade:
    """Fresh draws; pure and impure codes are of the same concepts.

    Parameters
    ----------
    covariance : of every two of the standard normal latents whose signs are the concepts, 0 to 1:
        0.25 in the paper's text. Its published table is of independent concepts, because the
        released generator puts the identity in place of the covariance that it is given.
    rows, count : how many rows and concepts (at most 20: an impure code has 2^(count - 1) places).

    Raises
    ------
    ValueError : values outside these ranges.
    """
    if rows < 1 or not 1 <= count <= 20:
        raise ValueError(f"rows must be at least 1 and count 1 to 20, found {rows} and {count}")
    random = generator(seed)
    concepts = (draw_equicorrelated(random, rows, count, covariance) >= 0).astype(np.float64)
    place = random.random((rows, count))
    powers = 2.0 ** np.arange(count - 1)[::-1]
    others = np.stack([np.delete(concepts, j, axis=1) @ powers for j in range(count)], axis=1)
    tiles = 2.0 ** (count - 1)
    on = (1.0 - WIDTH) * concepts
    return HandMade(concepts, on + WIDTH * place, on + WIDTH * (others + place) / tiles)
