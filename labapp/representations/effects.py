"""How much each dial of a model changes what the decoder draws.

Some dials of a model change almost nothing: a penalty on the total correlation switches dimensions
off (paper 000, Table A.4, where they are grey). The paper does not say how it identified them. Here
each dial is turned from its low to its high end while the others keep the values of held-out
instances, and the two pictures are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labapp.datasets.split import divide
from labapp.representations.decoders import LoadedDecoder
from labapp.representations.distance import named
from labapp.representations.space import Continuous
from labapp.representations.task import in_tasks

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]

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

    name : the representation's own name of the dimension.
    distance : mean of the study's distance d between the two pictures, 0-1; None where the card
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
        return {
            "name": self.name,
            "distance": self.distance,
            "change": self.change,
            "squares": self.squares,
            "share": self.share,
            "little": self.little,
        }


def effects(decoder: LoadedDecoder, distance: str | None = None) -> tuple[DialEffect, ...]:
    """The effect of each dial, in the order of the dials.

    A slider is turned from percentile `LOW` to `HIGH` of the held-out split; of a choice every pair
    of values is compared, and the mean is over the pairs.

    Parameters
    ----------
    distance : its name, see `labapp.representations.distance`; by default that of the model's card.

    Raises
    ------
    ValueError : there is no such distance.
    """
    if distance is None and (task := in_tasks(decoder.card).task) is not None:
        distance = task.distance
    measure = None if distance is None else named(distance)
    latents = decoder.latents
    rows = latents if len(latents) <= ROWS else latents[divide(len(latents), ROWS, ROWS_SEED)[1]]
    means = [_mean_of(_compared(decoder, rows, n, measure)) for n in range(len(decoder.space))]
    sizes = [change if far is None else far for far, change, _ in means]
    most = max(sizes) or 1.0
    return tuple(
        DialEffect(dial.name, far, change, squares, size / most)
        for dial, (far, change, squares), size in zip(
            decoder.space.dimensions, means, sizes, strict=True
        )
    )


def _turned(decoder: LoadedDecoder, rows: Float32, number: int) -> list[tuple[Float32, Float32]]:
    """Pairs of instances (n, *shape) between which one dial is turned."""
    dial = decoder.space.dimensions[number]
    if isinstance(dial, Continuous):
        ends = [float(decoder.percentiles[at][number]) for at in (LOW, HIGH)]
    else:
        ends = [float(value) for value in range(dial.k)]

    def at(value: float) -> Float32:
        moved = rows.copy()
        moved[:, number] = value
        return decoder.decode(decoder.space.encode_rows(moved).astype(np.float32))

    return list(combinations([at(value) for value in ends], 2))


_Means = tuple[float | None, float, float]
Measure = Callable[[Float32, Float32], float]


def _compared(
    decoder: LoadedDecoder, rows: Float32, number: int, measure: Measure | None
) -> list[_Means]:
    """What turning one dial changes, of a slider between its ends and of a choice between each pair
    of its values: means over instances of the distance, the absolute and the squared differences.
    """
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
    """Of each instance the distance (0 without one), the absolute and the squared differences,
    float64 (3, n)."""
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
