"""The data that a model learns from, and what is held out, as recipes and cards state them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from labapp.base.errors import DatasetError
from labapp.models.datasets import dsprites, mnist, sinelines
from labapp.models.datasets.split import Split


class Part(BaseModel):
    """Base of the parts of recipes and cards: frozen, and without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SinelinesData(Part):
    """`held_out` of `count` draws from the prior are kept from training."""

    factors: ClassVar[int] = len(sinelines.NAMES)

    dataset: Literal["sinelines"]
    count: int = Field(ge=2)
    held_out: int = Field(ge=1)
    seed: int = Field(ge=0)

    @field_validator("held_out")
    @classmethod
    def _leaves_some(cls, value: int, info: ValidationInfo) -> int:
        count = info.data.get("count")
        if count is not None and value >= count:
            raise ValueError(f"allowed: 1 to {count - 1}, below count")
        return value

    def load(self, folder: Path | None = None) -> Split:
        """The series, divided; they need no folder."""
        return sinelines.split(count=self.count, held_out=self.held_out, seed=self.seed)


class DspritesData(Part):
    """`held_out` of the 737,280 pictures are kept from training.

    `pictures`: "rendered" by labapp, or "official": read from the published npz file.
    """

    factors: ClassVar[int] = len(dsprites.NAMES)

    dataset: Literal["dsprites"]
    pictures: Literal["rendered", "official"] = "rendered"
    held_out: int = Field(ge=1, lt=dsprites.COUNT)
    seed: int = Field(ge=0)

    def load(self, folder: Path | None = None) -> Split:
        """The pictures, divided. Raises DatasetError: `official` without its file in `folder`."""
        if self.pictures == "rendered":
            return dsprites.split(held_out=self.held_out, seed=self.seed)
        path = _needed(folder, "dSprites") / dsprites.OFFICIAL
        return dsprites.split(held_out=self.held_out, seed=self.seed, official=path)


class MnistData(Part):
    """`digits`: "t10k" divides the 10,000 test digits; "all" holds them out, as published."""

    dataset: Literal["mnist"]
    digits: Literal["t10k", "all"]
    held_out: int = Field(ge=1, le=mnist.COUNTS["t10k"])
    seed: int = Field(default=0, ge=0)

    @field_validator("held_out")
    @classmethod
    def _leaves_some(cls, value: int, info: ValidationInfo) -> int:
        whole = mnist.COUNTS["t10k"]
        if info.data.get("digits") == "all" and value != whole:
            raise ValueError(f"allowed: {whole} where all digits are used")
        if info.data.get("digits") == "t10k" and value == whole:
            raise ValueError(f"allowed: 1 to {whole - 1}")
        return value

    @property
    def trained_on(self) -> int:
        """How many digits are not held out."""
        if self.digits == "all":
            return mnist.COUNTS["train"]
        return mnist.COUNTS["t10k"] - self.held_out

    def load(self, folder: Path | None = None) -> Split:
        """The digits, divided. Raises DatasetError: no folder, or not MNIST in it."""
        where = _needed(folder, "MNIST")
        if self.digits == "all":
            return mnist.split_all(where)
        return mnist.split_test_digits(where, held_out=self.held_out, seed=self.seed)


Data = Annotated[SinelinesData | DspritesData | MnistData, Field(discriminator="dataset")]


def _needed(folder: Path | None, name: str) -> Path:
    if folder is None:
        raise DatasetError(
            f"The files of {name}, which the model learns from, do not come with labapp.",
            safe="Nothing was changed.",
            todo="Give the folder that holds them with --data.",
        )
    return folder
