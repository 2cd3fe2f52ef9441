"""Latent spaces: what the dials of a representation can be set to, how questions are drawn from
them, and how an instance of a model is drawn.

Throughout labapp a *dial state* `z` holds one number per dimension, in the order of the dials: the
value of a continuous dimension, the index of a discrete one. `encode` turns it into the decoder's
input, where a discrete dimension with k values becomes a one-hot of width k: discrete one-hots
first, then the continuous dimensions, as in the packages released with paper 000.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]


def snap_to_step(value: float, low: float, high: float, step: float) -> float:
    """The nearest multiple of a step inside of limits."""
    if value <= low:  # limits are data: they need not lie on a step
        return low
    if value >= high:
        return high
    stepped = round(round(value / step) * step, 10)
    return float(low if stepped < low else high if stepped > high else stepped)


@dataclass(frozen=True, slots=True)
class Continuous:
    """A slider from low to high in steps of `step` (0.01 in the published studies)."""

    name: str
    low: float
    high: float
    step: float = 0.01

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"dimension {self.name!r}: low {self.low} is not below {self.high}")
        if not self.step > 0:
            raise ValueError(f"dimension {self.name!r}: step must be above 0, found {self.step}")

    @property
    def width(self) -> int:
        return 1

    def snap(self, value: float) -> float:
        """The nearest multiple of the step inside the limits; the limits themselves are allowed."""
        if not isfinite(value):
            raise ValueError(f"dimension {self.name!r}: {value} is not a value of the slider")
        return snap_to_step(value, self.low, self.high, self.step)


@dataclass(frozen=True, slots=True)
class Discrete:
    """A choice among k unordered values, shown as unlabelled radio buttons."""

    name: str
    k: int

    def __post_init__(self) -> None:
        if self.k < 2:
            raise ValueError(f"dimension {self.name!r}: k must be 2 or more, found {self.k}")

    @property
    def width(self) -> int:
        return self.k

    def snap(self, value: float) -> float:
        if not isfinite(value):
            raise ValueError(f"dimension {self.name!r}: {value} is not an index")
        return float(min(max(round(value), 0), self.k - 1))


Dimension = Continuous | Discrete


@dataclass(frozen=True, slots=True)
class LatentSpace:
    """Ordered dimensions of a representation: discrete ones first, then continuous ones."""

    dimensions: tuple[Dimension, ...]
    width: int = field(init=False, repr=False, compare=False)
    """Width of the decoder's input."""

    def __post_init__(self) -> None:
        if not self.dimensions:
            raise ValueError("a latent space needs at least one dimension")
        kinds = [isinstance(d, Continuous) for d in self.dimensions]
        if kinds != sorted(kinds):
            raise ValueError("discrete dimensions come before continuous ones")
        object.__setattr__(self, "width", sum(d.width for d in self.dimensions))

    def __len__(self) -> int:
        return len(self.dimensions)

    def snap(self, z: Sequence[float]) -> tuple[float, ...]:
        """Each value on its step and inside its limits. Raises ValueError on a wrong length."""
        if len(z) != len(self):
            raise ValueError(f"expected {len(self)} values, found {len(z)}")
        return tuple(d.snap(float(v)) for d, v in zip(self.dimensions, z, strict=True))

    def encode(self, z: Sequence[float]) -> Float32:
        """The decoder's input of a dial state, shape (width,), float32."""
        if len(z) != len(self):
            raise ValueError(f"expected {len(self)} values, found {len(z)}")
        if self.width == len(z):  # sliders alone
            return np.array(z, dtype=np.float32)
        out = np.zeros(self.width, dtype=np.float32)
        at = 0
        for dimension, value in zip(self.dimensions, z, strict=True):
            if isinstance(dimension, Discrete):
                out[at + int(value)] = 1.0
            else:
                out[at] = value
            at += dimension.width
        return out

    def encode_rows(self, rows: Float32) -> Float32:
        """The decoder's inputs (n, width) of many dial states (n, dimensions), both float32."""
        if self.width == len(self):  # sliders alone
            return rows
        parts = [
            np.eye(dimension.k, dtype=np.float32)[column.astype(np.int64)]
            if isinstance(dimension, Discrete)
            else column[:, None]
            for dimension, column in zip(self.dimensions, rows.T, strict=True)
        ]
        return np.concatenate(parts, axis=1)

    def to_json(self) -> list[dict[str, Any]]:
        """Plain values for the journal and model card."""
        return [
            {"type": "continuous", "name": d.name, "low": d.low, "high": d.high, "step": d.step}
            if isinstance(d, Continuous)
            else {"type": "discrete", "name": d.name, "k": d.k}
            for d in self.dimensions
        ]

    @classmethod
    def from_json(cls, rows: Sequence[Mapping[str, Any]]) -> LatentSpace:
        """The inverse of `to_json`. Raises ValueError or KeyError on anything else."""
        dimensions: list[Dimension] = []
        for row in rows:
            if row["type"] == "continuous":
                dimensions.append(
                    Continuous(
                        str(row["name"]), float(row["low"]), float(row["high"]), float(row["step"])
                    )
                )
            elif row["type"] == "discrete":
                dimensions.append(Discrete(str(row["name"]), int(row["k"])))
            else:
                raise ValueError(f"unknown dimension type {row['type']!r}")
        return cls(tuple(dimensions))


BaseSampling = Literal["held_out", "prior", "uniform"]
"""How a dial state is drawn: from the sample in the model's package, from its prior, or uniformly
within the dials' limits."""


def sinelines(rng: np.random.Generator) -> tuple[float, ...]:
    """Slope U(-1, 1), intercept N(0, 1), amplitude Exp(1), frequency Exp(1), phase U(0, 2 pi)."""
    return (
        float(rng.uniform(-1, 1)),
        float(rng.normal()),
        float(rng.exponential()),
        float(rng.exponential()),
        float(rng.uniform(0, 2 * np.pi)),
    )


Draw = Callable[[np.random.Generator], tuple[float, ...]]


def prior_of(space: LatentSpace) -> Draw | None:
    """The prior over dials of these names, which a model in closed form has; None without one."""
    names = tuple(dimension.name for dimension in space.dimensions)
    own = ("slope", "intercept", "amplitude", "frequency", "phase")
    return sinelines if names == own else None


Display = Literal["series", "image", "binary_image", "colour"]
"""A chart of (points,); a grey picture of (rows, columns), as it is or rounded to black and white;
a picture of red, green and blue, (rows, columns, 3)."""


class Chart(NamedTuple):
    """The limits of the y axis of a series; by default the published ones (paper 000, 4.3)."""

    low: float = -10.0
    high: float = 10.0

    def above_middle(self, y: NDArray[np.float32], half: float) -> NDArray[np.floating]:
        """How far above the middle of a chart values are drawn, in the unit of `half`, half its
        height. Far outside they are cut off."""
        middle, reach = (self.low + self.high) / 2, (self.high - self.low) / 2
        inside = np.clip(y, middle - 3 * reach, middle + 3 * reach)
        return (inside - np.float32(middle)) * (half / reach)

    @property
    def zero(self) -> float | None:
        """Where 0 is: its share of half the height above the middle; None outside the chart."""
        middle, reach = (self.low + self.high) / 2, (self.high - self.low) / 2
        return -middle / reach if self.low < 0 < self.high else None


PUBLISHED_CHART = Chart()
