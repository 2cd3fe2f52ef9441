"""How long decodes take here and now: one dial state at a time, as on the slider path, and in the
batches of sheets."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labapp.representations.decoders import Forward, LoadedDecoder
from labapp.representations.space import Continuous, Dimension, LatentSpace

Float32 = NDArray[np.float32]

FIRST = 5
"""Decodes before the clock starts: the first ones allocate memory and choose kernels."""
FRAME_BUDGET_MS = 16.7
"""A frame at 60 Hz: the dial's event, the decode and the painting share it."""

BATCHES = (24, 35)
"""Sheets are decoded at once: 24 exemplars (4 x 6), a traversal of 5 dials (5 x 7)."""

REPEATS = 20


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


def warm_up(decoder: LoadedDecoder, n: int = 50) -> WarmUp:
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
        times[index] = _decode_ms(decoder, z)
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


def bench(decoder: LoadedDecoder, n: int = 1_000) -> dict[str, Any]:
    """Single decodes and the batches of the sheets, timed here and now.

    Returns
    -------
    model, device, threads; n single decodes: median_ms, p95_ms, p99_ms; frame_budget_ms and
    budget_share, the part of it that the median takes; batch_24_ms and batch_35_ms, medians;
    backend with its version; arithmetic, in words.
    """
    times = warm_up(decoder, n)
    forward = decoder.forward
    return {
        "model": decoder.id,
        **times.to_json(),
        "frame_budget_ms": FRAME_BUDGET_MS,
        "budget_share": round(times.median_ms / FRAME_BUDGET_MS, 4),
        **{f"batch_{size}_ms": batch_ms(decoder, size) for size in BATCHES},
        "backend": " ".join(decoder.backend),
        "arithmetic": forward.how if isinstance(forward, Forward) else "closed form",
    }


def batch_ms(decoder: LoadedDecoder, size: int) -> float:
    """Median time of decoding `size` states at once, milliseconds."""
    z = random_states(decoder.space, size)
    decoder.decode(z)
    times = np.empty(REPEATS)
    for index in range(REPEATS):
        times[index] = _decode_ms(decoder, z)
    return round(float(np.median(times)), 4)


def _decode_ms(decoder: LoadedDecoder, z: Float32) -> float:
    """Time of one call of `decode`, in milliseconds."""
    start = time.perf_counter_ns()
    decoder.decode(z)
    return (time.perf_counter_ns() - start) / 1e6
