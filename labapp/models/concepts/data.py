"""The data that concept learners learn from, as recipes and cards state them.

Nothing here needs torch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from labapp.base.errors import DatasetError
from labapp.models.concepts.settings import Size
from labapp.models.datasets import dsprites
from labapp.models.datasets.concepts import marked_birds, rows, shapes, sprites
from labapp.models.datasets.concepts.rows import (
    ChangedRows,
    ConceptRows,
    ConceptSplit,
    Reading,
    drawn,
    generator,
    validation,
)
from labapp.models.datasets.split import Float32, Int64
from labapp.models.representations.data import Part

_NOISE = 5
"""Stream of the seed that noise comes from; rows, backgrounds and divisions have others."""


@dataclass(frozen=True, slots=True, eq=False)
class ConceptData:
    """A task as a learner sees it: pictures of shape (channels, pixels, pixels) in steps of 1/255,
    or rows of numbers.

    Attributes
    ----------
    split : rows to train on and to test on. `validation`: rows kept from training besides.
    shape : of an instance.
    """

    split: ConceptSplit
    validation: ConceptRows | None
    shape: tuple[int, ...]

    @property
    def tabular(self) -> bool:
        return len(self.shape) == 1


class ToyData(Part):
    """TabularToy(`correlation`), 2,000 rows to train on and 1,000 to test on."""

    dataset: Literal["toy"]
    correlation: float = Field(default=0.0, ge=0, le=1)
    seed: int = Field(default=0, ge=0)

    def shape(self, size: Size) -> tuple[int, ...]:
        return (7,)

    def load(self, size: Size, folder: Path | None = None) -> ConceptData:
        """The task; it needs no folder."""
        split = rows.tabular_toy(self.correlation, seed=self.seed)
        return ConceptData(_sized(split, size, self.seed), None, self.shape(size))


class PictureData(Part):
    """What tasks of pictures have in common.

    Attributes
    ----------
    reading : "released" for the task of the released code, on which the figures of paper 001 rest,
        or "text".
    seed : of the rows, of their division and of noise.
    pictures : "rendered" by labapp, or "official": read from the published file.
    pixels : the width that learners see.
    noise : share of the pixels that are of a random grey or colour.
    held_back : share of the training rows that are kept for validation.
    """

    channels: ClassVar[int]

    reading: Reading = "released"
    seed: int = Field(default=0, ge=0)
    pictures: Literal["rendered", "official"] = "rendered"
    pixels: Literal[32, 64] = 64
    noise: float = Field(default=0.0, ge=0, lt=1)
    held_back: float = Field(default=0.1, gt=0, lt=0.5)

    def shape(self, size: Size) -> tuple[int, int, int]:
        pixels = min(self.pixels, size.pixels)
        return self.channels, pixels, pixels


class SpritesData(PictureData):
    """dSprites(`correlations`), five concepts; or with four that people can see, which are of the
    task without correlations in the released reading.

    `spurious`: three quarters of the training pictures have a background that gives the label
    away (paper 001, A.8); those for validation are of the same kind, test pictures are not.
    """

    channels: ClassVar[int] = 1

    dataset: Literal["dsprites"]
    correlations: int = Field(default=0, ge=0, le=sprites.MOST)
    concepts: Literal[4, 5] = 5
    spurious: bool = False

    @model_validator(mode="after")
    def _four_are_of_one_task(self) -> SpritesData:
        if self.concepts == 4 and (self.correlations or self.reading != "released"):
            raise ValueError(
                "four concepts are of the task with correlations 0 and the reading released alone"
            )
        return self

    def load(self, size: Size, folder: Path | None = None) -> ConceptData:
        """The task. Raises DatasetError: `official` without its file in `folder`."""
        official = _official(self.pictures, folder, dsprites.OFFICIAL)
        if self.concepts == 4:
            split = sprites.four_sprites(seed=self.seed, official=official)
        else:
            split = sprites.sprites(
                self.correlations, seed=self.seed, official=official, reading=self.reading
            )
        if self.spurious:
            split = sprites.spurious(split, seed=self.seed)
        return _seen(self, split, size)


class ShapesData(PictureData):
    """3dshapes(`correlations`), six concepts."""

    channels: ClassVar[int] = 3

    dataset: Literal["3dshapes"]
    correlations: int = Field(default=0, ge=0, le=shapes.MOST)

    def load(self, size: Size, folder: Path | None = None) -> ConceptData:
        """The task. Raises DatasetError: `official` without its file in `folder`."""
        official = _official(self.pictures, folder, shapes.OFFICIAL)
        split = shapes.shapes(
            self.correlations, seed=self.seed, official=official, reading=self.reading
        )
        return _seen(self, split, size)


class BirdsData(Part):
    """Painted birds, six marks; `train` and `test` of each of 16 species. See `PictureData`."""

    channels: ClassVar[int] = 3

    dataset: Literal["birds"]
    train: int = Field(default=200, ge=1, le=1_000)
    test: int = Field(default=60, ge=1, le=1_000)
    seed: int = Field(default=0, ge=0)
    pixels: Literal[32, 64] = 64
    noise: float = Field(default=0.0, ge=0, lt=1)
    held_back: float = Field(default=0.1, gt=0, lt=0.5)

    def shape(self, size: Size) -> tuple[int, int, int]:
        pixels = min(self.pixels, size.pixels)
        return self.channels, pixels, pixels

    def load(self, size: Size, folder: Path | None = None) -> ConceptData:
        """The task; it needs no folder."""
        split = marked_birds.marked_birds(seed=self.seed, train=self.train, test=self.test)
        return _seen(self, split, size)


Data = Annotated[ToyData | SpritesData | ShapesData | BirdsData, Field(discriminator="dataset")]


def _seen(data: PictureData | BirdsData, split: ConceptSplit, size: Size) -> ConceptData:
    """The task as learners of a size see it."""
    shape = data.shape(size)

    def prepare(rows: ConceptRows, part: int) -> ConceptRows:
        change = _preparing(shape, data.noise, (data.seed, _NOISE, part))
        return ConceptRows(ChangedRows(rows.rows, change), rows.concepts_of, rows.labels_of)

    prepared = replace(split, train=prepare(split.train, 0), test=prepare(split.test, 1))
    train, held = validation(prepared.train, seed=data.seed, share=data.held_back)
    return ConceptData(
        _sized(replace(prepared, train=train), size, data.seed),
        held if size.test is None else drawn(held, size.test, data.seed),
        shape,
    )


def _sized(split: ConceptSplit, size: Size, seed: int) -> ConceptSplit:
    """The task with no more rows than the size has."""
    if size.train is not None:
        split = replace(split, train=drawn(split.train, size.train, seed))
    if size.test is not None:
        split = replace(split, test=drawn(split.test, size.test, seed))
    return split


def _preparing(
    shape: tuple[int, int, int], noise: float, entropy: tuple[int, ...]
) -> Callable[[Float32, Int64], Float32]:
    """Pictures as learners see them: averaged to `shape`, with noise, in steps of 1/255; the noise
    of a row follows from its number."""
    channels, pixels, _ = shape

    def change(pictures: Float32, rows: Int64) -> Float32:
        side = pictures.shape[-1]
        x = pictures.reshape(len(pictures), channels, side, side)
        if pixels < side:
            each = side // pixels
            x = x.reshape(len(x), channels, pixels, each, pixels, each).mean(axis=(3, 5))
        if noise:
            for picture, row in zip(x, rows.tolist(), strict=True):
                u = generator(*entropy, row).random((1 + channels, pixels, pixels))
                picture[:] = np.where(u[0] < noise, u[1:], picture)
        levels: Float32 = np.rint(x * np.float32(255))
        return levels / np.float32(255)

    return change


def _official(pictures: str, folder: Path | None, name: str) -> Path | None:
    if pictures == "rendered":
        return None
    if folder is None:
        raise DatasetError(
            f"The file {name}, which the model learns from, does not come with labapp.",
            safe="Nothing was changed.",
            todo="Give the folder that holds it with --data.",
        )
    return folder / name
