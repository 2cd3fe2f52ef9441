"""The bird pictures that classifiers learn from and are measured on.

A part is painted once and kept in memory as bytes, which is what a picture file holds: a classifier
says of a picture read from a PNG file exactly what it says of the one painted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from labapp.datasets.birds.dataset import BirdRows
from labapp.datasets.birds.species import SISTERS
from labapp.datasets.split import CHUNK, Int64

UInt8 = NDArray[np.uint8]

SHIFT = 6
"""Pixels by which a training picture is moved at most, each way."""
GAIN, CAST = 0.15, 0.05
"""How much lighter or darker a training picture becomes, as a whole and in each channel."""


@dataclass(frozen=True, slots=True, eq=False)
class Photos:
    """Rows of one part, painted: `pictures` uint8 (n, 3, size, size), `species` int64 (n,)."""

    rows: BirdRows
    pictures: UInt8
    species: Int64

    def __len__(self) -> int:
        return len(self.species)

    @property
    def genus(self) -> Int64:
        return self.species // SISTERS


@lru_cache(maxsize=8)
def painted(rows: BirdRows, count: int | None = None) -> Photos:
    """The first `count` pictures of a part, by default all: 400 pictures a second at 96 px."""
    chosen = np.arange(len(rows) if count is None else min(count, len(rows)))
    pictures = np.empty((len(chosen), 3, rows.size, rows.size), np.uint8)
    for start in range(0, len(chosen), CHUNK):
        part = slice(start, start + CHUNK)
        pictures[part] = as_bytes(rows.instances(chosen[part]))
    pictures.flags.writeable = False
    return Photos(rows, pictures, rows.species(chosen))


def as_bytes(pictures: NDArray[np.float32]) -> UInt8:
    """Pictures from 0 to 1 as a picture file holds them: uint8, rounded."""
    whole: UInt8 = np.rint(pictures * np.float32(255)).astype(np.uint8)
    return whole


def as_input(pictures: UInt8) -> Tensor:
    """What every classifier takes: float32 from 0 to 1, shape (n, 3, size, size)."""
    return torch.from_numpy(pictures.astype(np.float32) / np.float32(255))


class Batches:
    """Batches of a part in a new random order each time round, always whole.

    Which pictures make a batch is a function of the seed and the number of the batch.
    """

    def __init__(self, photos: Photos, batch: int, seed: int, *, augmented: bool = True) -> None:
        self.photos = photos
        self.batch = batch
        self._seed = seed
        self._augmented = augmented
        self._orders: dict[int, Int64] = {}

    def rows(self, number: int) -> Int64:
        """Row numbers of a batch: int64, shape (batch,)."""
        stream = np.arange(number * self.batch, (number + 1) * self.batch)
        rounds, places = np.divmod(stream, len(self.photos))
        return np.array([self._order(r)[p] for r, p in zip(rounds.tolist(), places, strict=True)])

    def take(self, number: int, random: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Pictures (batch, 3, size, size), float32 from 0 to about 1, and species (batch,)."""
        rows = self.rows(number)
        pictures = self.photos.pictures[rows]
        inputs = augment(pictures, random) if self._augmented else as_input(pictures)
        # Convolutions on a CPU are faster by a third in this order of memory.
        inputs = inputs.contiguous(memory_format=torch.channels_last)
        return inputs, torch.from_numpy(self.photos.species[rows])

    def _order(self, number: int) -> Int64:
        if number not in self._orders:
            random = np.random.default_rng([self._seed, number])
            self._orders = {k: v for k, v in self._orders.items() if k >= number - 1}
            self._orders[number] = random.permutation(len(self.photos))
        return self._orders[number]


def augment(pictures: UInt8, random: np.random.Generator) -> Tensor:
    """Each picture mirrored or not, moved, lighter or darker and tinted, by chance.

    What moves in at an edge repeats the edge. float32 from 0 to at most 1, shape as `pictures`.
    """
    n, _, height, width = pictures.shape
    mirrored = np.less(random.random((n, 1)), 0.5)
    dy, dx = random.integers(-SHIFT, SHIFT, (2, n, 1), endpoint=True)
    gain = random.uniform(1 - GAIN, 1 + GAIN, (n, 1)) * random.uniform(1 - CAST, 1 + CAST, (n, 3))
    y = (np.arange(height) + dy).clip(0, height - 1)
    x = (np.arange(width) + dx).clip(0, width - 1)
    x = np.where(mirrored, width - 1 - x, x)
    at = np.arange(n).reshape(n, 1, 1, 1)
    channel = np.arange(3).reshape(1, 3, 1, 1)
    moved = pictures[at, channel, y.reshape(n, 1, height, 1), x.reshape(n, 1, 1, width)]
    lit = torch.from_numpy(moved.astype(np.float32))
    lit *= torch.from_numpy((gain / 255).astype(np.float32))[:, :, None, None]
    return lit.clamp_(max=1.0)
