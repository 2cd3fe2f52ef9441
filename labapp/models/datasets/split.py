"""A data set divided once into the part that models learn from and the part held out.

Rows are asked for by number, because not every data set fits into memory as pictures: dSprites are
drawn when they are needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

PartName = Literal["train", "validation", "test"]
PARTS: tuple[PartName, ...] = get_args(PartName)
"""Parts of a data set that is divided in three, by name."""
CHUNK = 500
"""Rows that are computed at a time."""


class Rows(Protocol):
    """Instances x and the factors that made them, by row number."""

    def __len__(self) -> int: ...

    def instances(self, rows: Int64) -> Float32:
        """Instances of the rows, float32, shape (n, *shape)."""
        ...

    def factors(self, rows: Int64) -> Float64:
        """Factors of the rows, float64, shape (n, k)."""
        ...


@dataclass(frozen=True, slots=True)
class ArrayRows:
    """Rows that are in memory: `x` float32 of shape (n, *shape), `f` float64 of shape (n, k)."""

    x: Float32
    f: Float64

    def __len__(self) -> int:
        return len(self.x)

    def instances(self, rows: Int64) -> Float32:
        return self.x[rows]

    def factors(self, rows: Int64) -> Float64:
        return self.f[rows]


@dataclass(frozen=True, slots=True)
class Split:
    """A data set, divided.

    Attributes
    ----------
    factor_names : names of the columns of the factors.
    generative : whether the instances are a function of the factors, so that representations can be
        measured against them; the digits of MNIST are labels only.
    files : SHA-256 of the files that were read, by their published names; empty if the data set is
        computed.
    """

    train: Rows
    held: Rows
    factor_names: tuple[str, ...]
    generative: bool
    files: Mapping[str, str] = field(default_factory=dict)


def chunks(count: int, size: int = CHUNK) -> Iterator[Int64]:
    """The row numbers 0 to count - 1, `size` at a time."""
    for start in range(0, count, size):
        yield np.arange(start, min(start + size, count))


def divide(count: int, held_out: int, seed: int) -> tuple[Int64, Int64]:
    """Numbers of the rows to train on and of those held out, both ascending.

    Only uniform numbers are taken from the generator and sorted here, because numpy may change how
    it shuffles and a division of data must not change. Raises ValueError: `held_out` leaves nothing
    to learn from, or nothing held out.
    """
    check(count, held_out)
    draws = np.random.Generator(np.random.PCG64(seed)).random(count)
    order = np.argsort(draws, kind="stable")
    return np.sort(order[held_out:]), np.sort(order[:held_out])


def check(count: int, held_out: int) -> None:
    """Raises ValueError when `held_out` of `count` rows leave nothing on one side."""
    if not 0 < held_out < count:
        raise ValueError(f"held_out must be between 1 and {count - 1}, found {held_out}")


def part_sizes(
    train: int, validation: int, test: int, *, seed: int, of: str
) -> dict[PartName, int]:
    """Numbers of pictures in the three parts of a painted data set, for each of its `of`. Raises
    ValueError: a part would be empty, or the seed is negative."""
    counts: dict[PartName, int] = {"train": train, "validation": validation, "test": test}
    for name, count in counts.items():
        if count < 1:
            raise ValueError(f"{name} must have a picture of each {of} or more, found {count}")
    if seed < 0:
        raise ValueError(f"seed must not be negative, found {seed}")
    return counts
