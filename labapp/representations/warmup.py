"""How long a decode takes here and now, one dial state at a time as on the slider path."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from labapp.representations.decoders import Decoder
from labapp.representations.space import Continuous, Dimension, LatentSpace

Float32 = NDArray[np.float32]

FIRST = 5
"""Decodes before the clock starts: the first ones allocate and choose kernels."""


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Times of `n` single decodes in milliseconds, on `device` with `threads` CPU threads."""

    device: str
    threads: int
    n: int
    median_ms: float
    p95_ms: float
    p99_ms: float

    def to_json(self) -> dict[str, str | int | float]:
        return asdict(self)


def warm_up(decoder: Decoder, n: int = 50) -> WarmUp:
    """Decode `n` random dial states, one by one, and time them.

    Raises ValueError when n is below 1.
    """
    if n < 1:
        raise ValueError(f"n must be 1 or more, found {n}")
    states = list(random_states(decoder.space, FIRST + n)[:, None])
    for z in states[:FIRST]:
        decoder.decode(z)
    times = np.empty(n)
    for index, z in enumerate(states[FIRST:]):
        began = time.perf_counter_ns()
        decoder.decode(z)
        times[index] = (time.perf_counter_ns() - began) / 1e6
    median, p95, p99 = (round(float(t), 4) for t in np.percentile(times, (50, 95, 99)))
    return WarmUp(decoder.device, decoder.threads, n, median, p95, p99)


def random_states(space: LatentSpace, count: int, seed: int = 0) -> Float32:
    """`count` encoded dial states, uniform within the dials' limits, float32 (count, width)."""
    generator = np.random.default_rng(seed)
    dials = space.dimensions
    return np.stack([space.encode([_any_value(d, generator) for d in dials]) for _ in range(count)])


def _any_value(dimension: Dimension, generator: np.random.Generator) -> float:
    if isinstance(dimension, Continuous):
        return float(generator.uniform(dimension.low, dimension.high))
    return float(generator.integers(dimension.k))
