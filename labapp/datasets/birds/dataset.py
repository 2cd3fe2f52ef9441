"""Birds by row number, painted when they are asked for: rows go through the species in turn.

The parts draw from seeds of their own, so that no picture of one is in another, and taking more
rows of a part leaves the first ones as they were.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labapp.datasets.birds.chance import OCCLUSION, bird
from labapp.datasets.birds.picture import picture, visibility
from labapp.datasets.birds.species import SPECIES, Bird, FieldMark
from labapp.datasets.split import Float32, Float64, Int64, PartName, Split, part_sizes

SIZE = 96
"""Width and height of what a network sees, in pixels."""

FACTORS: tuple[str, ...] = (
    "species",
    "genus",
    *(mark.name.lower() for mark in FieldMark),
    *(f"{mark.name.lower()}_visible" for mark in FieldMark),
)
"""Species and genus from 0, the way of each mark (0 or 1), its share that can be seen (0 to 1)."""


@dataclass(frozen=True, slots=True)
class BirdRows:
    """`per_species` pictures of each species of one part; row i is of species i modulo 20."""

    part: PartName
    per_species: int
    seed: int
    size: int = SIZE
    occlusion: float = OCCLUSION

    def __len__(self) -> int:
        return self.per_species * SPECIES

    def bird(self, row: int) -> Bird:
        """What the picture of a row is made of. IndexError: there is no such row."""
        if not 0 <= row < len(self):
            raise IndexError(f"row must lie between 0 and {len(self) - 1}, found {row}")
        number, species = divmod(int(row), SPECIES)
        return bird(self.seed, self.part, species, number, occlusion=self.occlusion)

    def instances(self, rows: Int64) -> Float32:
        """Pictures of the rows, float32 0 to 1, shape (n, 3, size, size)."""
        pictures = np.empty((len(rows), 3, self.size, self.size), np.float32)
        for i, row in enumerate(rows):
            pictures[i] = picture(self.bird(row), self.size)
        return pictures

    def factors(self, rows: Int64) -> Float64:
        """The `FACTORS` of the rows, float64, shape (n, 14)."""
        values = np.empty((len(rows), len(FACTORS)))
        for i, row in enumerate(rows):
            bird = self.bird(row)
            values[i] = (bird.species, bird.genus, *bird.marks, *visibility(bird))
        return values

    def labels(self, rows: Int64) -> Int64:
        """Species of the rows, from 0, without painting anything: int64, shape (n,)."""
        return np.asarray(rows, np.int64) % SPECIES


@dataclass(frozen=True, slots=True)
class Birds:
    """The three parts of a data set of birds."""

    train: BirdRows
    validation: BirdRows
    test: BirdRows

    def split(self, held: PartName = "test") -> Split:
        """Training pictures against those of another part, as the other data sets have it."""
        rows = {"train": self.train, "validation": self.validation, "test": self.test}[held]
        return Split(train=self.train, held=rows, factor_names=FACTORS, generative=False)


def birds(
    *,
    seed: int,
    train: int = 28,
    validation: int = 20,
    test: int = 100,
    size: int = SIZE,
    occlusion: float = OCCLUSION,
) -> Birds:
    """A data set with these numbers of pictures of each species in its parts.

    Raises ValueError where a part would be empty or the seed is negative.
    """
    counts = part_sizes(train, validation, test, seed=seed, of="species")

    def part(name: PartName) -> BirdRows:
        return BirdRows(name, counts[name], seed, size, occlusion)

    return Birds(part("train"), part("validation"), part("test"))
