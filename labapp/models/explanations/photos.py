"""The pictures that classifiers learn from and are measured on.

A part is painted once and kept in memory as bytes, like the pixels of a picture file: a classifier
gives the same scores for a painted picture and for the same picture read from a PNG file.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from labapp.models.datasets.birds import SISTERS
from labapp.models.datasets.split import CHUNK, Float32, Int64

if TYPE_CHECKING:
    from torch import Tensor

UInt8 = NDArray[np.uint8]

SHIFT = 6
"""Pixels by which a training picture is moved at most, each way."""
GAIN, CAST = 0.15, 0.05
"""How much lighter or darker a training picture becomes, as a whole and in each channel."""


class PictureRows(Protocol):
    """Pictures of one part and their classes, by row number; it can be hashed."""

    @property
    def size(self) -> int: ...

    def __len__(self) -> int: ...

    def instances(self, rows: Int64) -> Float32:
        """float32 from 0 to 1, shape (n, channels, size, size)."""
        ...

    def labels(self, rows: Int64) -> Int64:
        """Classes from 0: int64, shape (n,)."""
        ...


class DataParts(Protocol):
    """The three parts of a data set."""

    @property
    def train(self) -> PictureRows: ...

    @property
    def validation(self) -> PictureRows: ...

    @property
    def test(self) -> PictureRows: ...


RowsT = TypeVar("RowsT", bound=PictureRows)


@dataclass(frozen=True, slots=True, eq=False)
class Photos(Generic[RowsT]):
    """Rows of one part, painted: `pictures` uint8 (n, channels, size, size), `labels` int64 (n,)
    from 0. Of birds, `labels` are species."""

    rows: RowsT
    pictures: UInt8
    labels: Int64

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def species(self) -> Int64:
        return self.labels

    @property
    def genus(self) -> Int64:
        return self.labels // SISTERS


def load_photos(rows: RowsT, count: int | None = None) -> Photos[RowsT]:
    """The first `count` pictures of a part, by default all: 400 birds a second at 96 px.

    They are kept: the next call for the same rows gives the same pictures.
    """
    return cast(Photos[RowsT], _paint_photos(cast(Hashable, rows), count))


@lru_cache(maxsize=8)
def _paint_photos(rows: Any, count: int | None) -> Photos[Any]:
    chosen = np.arange(len(rows) if count is None else min(count, len(rows)))
    made = [
        as_bytes(rows.instances(chosen[start : start + CHUNK]))
        for start in range(0, len(chosen), CHUNK)
    ]
    pictures = np.concatenate(made)
    pictures.flags.writeable = False
    return Photos(rows, pictures, rows.labels(chosen))


def as_bytes(pictures: NDArray[np.float32]) -> UInt8:
    """Pictures from 0 to 1 as a picture file holds them: uint8, rounded."""
    return np.asarray(np.rint(pictures * np.float32(255)).astype(np.uint8))


def as_input(pictures: UInt8) -> Tensor:
    """What every classifier takes: float32 from 0 to 1, shape as `pictures`."""
    import torch

    return torch.from_numpy(pictures.astype(np.float32) / np.float32(255))


class Batches:
    """Batches of a part in a new random order each time round, always whole.

    Which pictures make a batch is a function of the seed and the number of the batch.
    """

    def __init__(
        self,
        photos: Photos[Any],
        batch: int,
        seed: int,
        *,
        augmented: bool = True,
        shift: int = SHIFT,
    ) -> None:
        self.photos = photos
        self.batch = batch
        self._seed = seed
        self._augmented = augmented
        self._shift = shift
        self._orders: dict[int, Int64] = {}

    def rows(self, number: int) -> Int64:
        """Row numbers of a batch: int64, shape (batch,)."""
        stream = np.arange(number * self.batch, (number + 1) * self.batch)
        rounds, places = np.divmod(stream, len(self.photos))
        return np.array([self._order(r)[p] for r, p in zip(rounds.tolist(), places, strict=True)])

    def take(self, number: int, random: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Pictures (batch, channels, size, size), float32 from 0 to 1, and classes (batch,)."""
        import torch

        rows = self.rows(number)
        pictures = self.photos.pictures[rows]
        inputs = augment(pictures, random, self._shift) if self._augmented else as_input(pictures)
        # Convolutions on a CPU are faster by a third in this order of memory.
        inputs = inputs.contiguous(memory_format=torch.channels_last)
        return inputs, torch.from_numpy(self.photos.labels[rows])

    def _order(self, number: int) -> Int64:
        if number not in self._orders:
            random = np.random.default_rng([self._seed, number])
            self._orders = {k: v for k, v in self._orders.items() if k >= number - 1}
            self._orders[number] = random.permutation(len(self.photos))
        return self._orders[number]


def augment(pictures: UInt8, random: np.random.Generator, shift: int = SHIFT) -> Tensor:
    """Each picture mirrored or not, moved, lighter or darker and tinted, by chance.

    shift : pixels by which it is moved at most, each way. What moves in at an edge repeats the
        edge.

    float32 from 0 to at most 1, shape as `pictures`.
    """
    import torch

    n, channels, height, width = pictures.shape
    mirrored = np.less(random.random((n, 1)), 0.5)
    dy, dx = random.integers(-shift, shift, (2, n, 1), endpoint=True)
    gain = random.uniform(1 - GAIN, 1 + GAIN, (n, 1)) * random.uniform(
        1 - CAST, 1 + CAST, (n, channels)
    )
    y = (np.arange(height) + dy).clip(0, height - 1)
    x = (np.arange(width) + dx).clip(0, width - 1)
    x = np.where(mirrored, width - 1 - x, x)
    at = np.arange(n).reshape(n, 1, 1, 1)
    channel = np.arange(channels).reshape(1, channels, 1, 1)
    moved = pictures[at, channel, y.reshape(n, 1, height, 1), x.reshape(n, 1, 1, width)]
    lit = torch.from_numpy(moved.astype(np.float32))
    lit *= torch.from_numpy((gain / 255).astype(np.float32))[:, :, None, None]
    return lit.clamp_(max=1.0)
