"""The data that a model learns from, and what is held out, as recipes and cards state them.

Model cards and recipes: documents that are refused with a ModelError.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from labapp.base.documents import LARGEST, parse_yaml, refusal
from labapp.base.errors import DatasetError, LabappError, ModelError
from labapp.base.reading import files
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


Document = TypeVar("Document", bound=BaseModel)


def read(path: Path, kind: str, model: type[Document]) -> Document:
    """The document in `path`. Raises ModelError: the file is missing, too large, not YAML, or not
    what `model` declares; the message names line, key, what was found and what is allowed. `kind`:
    what a person calls such a file, for example "model card"."""
    try:
        content = files.content(path, LARGEST)
    except OSError as error:
        raise ModelError(
            f"The {kind} {path} cannot be read: {error.strerror}.",
            todo="Check the path and its permissions.",
        ) from error
    located = parse_yaml(path, content, ModelError)
    try:
        return model.model_validate(located.value)
    except ValidationError as error:
        raise refusal(path, located, error, kind, model, ModelError) from error


def keys(path: Path) -> set[str]:
    """The keys of the document in `path`, right or wrong; none where it cannot be read."""
    try:
        value = parse_yaml(path, files.content(path, LARGEST), ModelError).value
    except (OSError, LabappError):
        return set()
    return set(value) if isinstance(value, dict) else set()


def dump(document: BaseModel) -> str:
    """The document as YAML, keys in their declared order, fields left at None omitted."""
    values = document.model_dump(mode="json", exclude_none=True)
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=100)
