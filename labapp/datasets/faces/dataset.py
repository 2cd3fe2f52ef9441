"""Faces by row number, painted when they are asked for: rows go through the classes in turn.

The parts draw from seeds of their own, so that no face of one is in another, and taking more rows
of a part leaves the first ones as they were.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labapp.datasets.averaging import average_blocks
from labapp.datasets.faces.chance import CUE, NOISE, face
from labapp.datasets.faces.parameters import CLASSES, Face
from labapp.datasets.faces.picture import SIZE, picture
from labapp.datasets.split import Float32, Int64, PartName, part_sizes


@dataclass(frozen=True, slots=True)
class FaceRows:
    """`per_class` pictures of each class of one part; row i is of class i modulo 2.

    A face is painted at 96 pixels, as people see it, and brought to `size` by averaging areas.
    """

    part: PartName
    per_class: int
    seed: int
    size: int = SIZE
    noise: float = NOISE
    cue: float = CUE

    def __len__(self) -> int:
        return self.per_class * len(CLASSES)

    def face(self, row: int) -> Face:
        """What the picture of a row is made of. IndexError: there is no such row."""
        if not 0 <= row < len(self):
            raise IndexError(f"row must lie between 0 and {len(self) - 1}, found {row}")
        number, label = divmod(int(row), len(CLASSES))
        return face(self.seed, self.part, label, number, noise=self.noise, cue=self.cue)

    def instances(self, rows: Int64) -> Float32:
        """Pictures of the rows, float32 0 to 1, shape (n, 1, size, size)."""
        painted = np.stack([picture(self.face(row), SIZE) for row in rows])
        whole = np.rint(painted * np.float32(255)).astype(np.uint8)
        pixels: Float32 = average_blocks(whole[:, None], self.size).astype(np.float32) / np.float32(
            255
        )
        return pixels

    def labels(self, rows: Int64) -> Int64:
        """Classes of the rows, from 0, without painting anything: int64, shape (n,)."""
        return np.asarray(rows, np.int64) % len(CLASSES)


@dataclass(frozen=True, slots=True)
class Faces:
    """The three parts of a data set of faces."""

    train: FaceRows
    validation: FaceRows
    test: FaceRows


def faces(
    *,
    seed: int,
    train: int = 300,
    validation: int = 100,
    test: int = 300,
    size: int = SIZE,
    noise: float = NOISE,
    cue: float = CUE,
) -> Faces:
    """A data set with these numbers of pictures of each class in its parts.

    Raises ValueError where a part would be empty or the seed is negative.
    """
    counts = part_sizes(train, validation, test, seed=seed, of="class")

    def part(name: PartName) -> FaceRows:
        return FaceRows(name, counts[name], seed, size, noise, cue)

    return Faces(part("train"), part("validation"), part("test"))
