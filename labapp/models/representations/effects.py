"""How much each dial of a model changes what the decoder draws, and how long decodes take here and
now.

Some dials of a model change almost nothing: a penalty on the total correlation switches dimensions
off (paper 000, Table A.4, where they are grey). The paper does not say how it identified them. Here
each dial is turned from its low to its high end while the others keep the values of held-out
instances, and the two pictures are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from labapp.models.datasets.split import Float32, Float64, divide
from labapp.models.representations.decoders import Forward, LoadedDecoder
from labapp.models.representations.distance import get_distance
from labapp.models.representations.recipe import in_tasks
from labapp.models.representations.space import Continuous, Dimension, LatentSpace

LOW, HIGH = 5, 95
"""Percentiles of a slider between which it is turned: the inner ends of Low and High (4.5)."""
ROWS = 200
"""Held-out instances, at most, on which the dials are turned."""
ROWS_SEED = 0
LITTLE = 0.05
"""A dial has little effect if it changes less than this share of what the model's strongest dial
changes. The threshold is not published: in the shipped models, dials that the penalty switched off
are at 0.013 or less and the weakest other dial is at 0.14, so any value in between selects the same
dials."""


@dataclass(frozen=True, slots=True)
class DialEffect:
    """What one dial changes, on average over held-out instances.

    distance : mean of the study's distance d between the two pictures, 0-1; None if the card
        names none.
    change : mean of the sum over pixels (points of a series) of absolute differences.
    squares : mean of the sum over pixels of squared differences.
    share : `distance`, or without one `change`, over that of the model's strongest dial, 0-1.
    """

    name: str
    distance: float | None
    change: float
    squares: float
    share: float

    @property
    def little(self) -> bool:
        """Whether it has little effect, see `LITTLE`."""
        return self.share < LITTLE

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"little": self.little}


def effects(decoder: LoadedDecoder, distance: str | None = None) -> tuple[DialEffect, ...]:
    """The effect of each dial, in the order of the dials.

    A slider is turned from percentile `LOW` to `HIGH` of the held-out split; of a choice every pair
    of values is compared, and the mean is over the pairs. Raises ValueError: there is no such
    distance.

    Parameters
    ----------
    distance : its name, see `labapp.models.representations.distance`; by default that of the
        model's card.
    """
    if distance is None and (task := in_tasks(decoder.card).task) is not None:
        distance = task.distance
    measure = None if distance is None else get_distance(distance)
    latents = decoder.latents
    rows = latents if len(latents) <= ROWS else latents[divide(len(latents), ROWS, ROWS_SEED)[1]]
    means = [
        _mean_of(_measure_change(decoder, rows, n, measure)) for n in range(len(decoder.space))
    ]
    sizes = [change if far is None else far for far, change, _ in means]
    most = max(sizes) or 1.0
    return tuple(
        DialEffect(dial.name, far, change, squares, size / most)
        for dial, (far, change, squares), size in zip(
            decoder.space.dimensions, means, sizes, strict=True
        )
    )


_Means = tuple[float | None, float, float]
Measure = Callable[[Float32, Float32], float]


def _measure_change(
    decoder: LoadedDecoder, rows: Float32, number: int, measure: Measure | None
) -> list[_Means]:
    """What turning one dial changes, between each pair of its ends or values: means over instances
    of the distance, the absolute and the squared differences."""
    dial = decoder.space.dimensions[number]
    if isinstance(dial, Continuous):
        ends = [float(decoder.percentiles[at][number]) for at in (LOW, HIGH)]
    else:
        ends = [float(value) for value in range(dial.k)]

    def at(value: float, some: Float32) -> Float32:
        moved = some.copy()
        moved[:, number] = value
        return decoder.decode(decoder.space.encode_rows(moved).astype(np.float32))

    pairs: list[list[Float64]] = [[] for _ in combinations(ends, 2)]
    for first in range(0, len(rows), decoder.at_once):
        some = rows[first : first + decoder.at_once]
        turned = combinations([at(value, some) for value in ends], 2)
        for differences, (values, other) in zip(pairs, turned, strict=True):
            differences.append(_differences(values, other, measure))
    means = [np.concatenate(differences, axis=1).mean(axis=1).tolist() for differences in pairs]
    return [(None if measure is None else far, change, squares) for far, change, squares in means]


def _differences(values: Float32, other: Float32, measure: Measure | None) -> Float64:
    """Per instance the distance (or 0), absolute and squared differences, float64 (3, n)."""
    difference = (values.astype(np.float64) - other).reshape(len(values), -1)
    far = [measure(a, b) if measure else 0.0 for a, b in zip(values, other, strict=True)]
    return np.array([far, np.abs(difference).sum(axis=1), np.square(difference).sum(axis=1)])


def _mean_of(pairs: Sequence[_Means]) -> _Means:
    """Means over pairs of values, of which all have a distance or none has."""
    far = [pair for pair, _, _ in pairs if pair is not None]
    return (
        float(np.mean(far)) if far else None,
        float(np.mean([change for _, change, _ in pairs])),
        float(np.mean([squares for _, _, squares in pairs])),
    )


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
    """Decode `n` random dial states, one by one, and time them. Raises ValueError: n below 1."""
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
    """Single decodes and the batches of the sheets, timed here and now, in milliseconds: the fields
    of a `WarmUp`, the median's share of a frame, the medians of batches, backend with its version,
    and the arithmetic in words."""
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
