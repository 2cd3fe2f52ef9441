"""Random numbers for the painted data sets, made of uniform numbers alone: those are the same in
every version of numpy."""

from __future__ import annotations

import math

import numpy as np

from labapp.models.datasets.split import Float32


class Draws:
    """Numbers drawn one after the other; the same entropy gives the same numbers."""

    def __init__(self, *entropy: int) -> None:
        self._random = np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy))).random

    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        return low + (high - low) * float(self._random())

    def normal(self, mean: float, sd: float) -> float:
        """A normal number, limited to 3 SD (Box and Muller)."""
        radius = math.sqrt(-2 * math.log(1 - self.uniform()))
        value = radius * math.cos(2 * math.pi * self.uniform())
        return mean + sd * min(max(value, -3.0), 3.0)

    def chance(self, probability: float) -> bool:
        return self.uniform() < probability


def grain(seed: tuple[int, ...], count: int) -> Float32:
    """Normal numbers from uniform ones (Box and Muller): float32, shape (count,)."""
    random = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
    half = (count + 1) // 2
    uniform = random.random((2, half), dtype=np.float32)
    radius = np.sqrt(-2 * np.log1p(-uniform[0]))
    turn = np.float32(2 * math.pi) * uniform[1]
    return np.concatenate((radius * np.cos(turn), radius * np.sin(turn)))[:count]
