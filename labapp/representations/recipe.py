"""Recipes: what `labapp models train` is told, as YAML (models/recipes/*.yaml).

Nothing here needs torch, so that recipes and cards are read and refused at once.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from labapp.datasets import split
from labapp.representations import document
from labapp.representations.architectures import ARCHITECTURES, Trained

ID_PATTERN = r"^[a-z0-9]+(-[a-z0-9]+)*/[a-z0-9]+(-[a-z0-9]+)*$"
"""`<dataset>/<name>`, lower case: no dot, no slash beyond the one, hence no way out of a folder."""


class Part(BaseModel):
    """A value that does not change and refuses keys that it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Ae(Part):
    """Autoencoder: the sum of squared errors of decode(encode(x))."""

    name: Literal["ae"]
    squared_error: float = Field(default=1.0, gt=0, allow_inf_nan=False)


class Vae(Part):
    """Variational autoencoder: squared_error * sum of squares + kl * KL(q(z|x) || N(0, I))."""

    name: Literal["vae"]
    squared_error: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    kl: float = Field(default=1.0, ge=0, allow_inf_nan=False)


Objective = Annotated[Ae | Vae, Field(discriminator="name")]


class Data(Part):
    """Which instances: `held_out` of `count` rows are kept from training."""

    dataset: str
    count: int = Field(ge=2)
    held_out: int = Field(ge=1)
    seed: int = Field(ge=0)

    @field_validator("dataset")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in split.NAMES:
            raise ValueError(f"allowed: {', '.join(split.NAMES)}")
        return value

    @field_validator("held_out")
    @classmethod
    def _leaves_some(cls, value: int, info: ValidationInfo) -> int:
        count = info.data.get("count")
        if count is not None and value >= count:
            raise ValueError(f"allowed: 1 to {count - 1}, below count")
        return value

    def load(self) -> split.Split:
        """The instances, divided."""
        return split.load(self.dataset, count=self.count, held_out=self.held_out, seed=self.seed)


class Optimizer(Part):
    """Adam with TensorFlow's and the paper's constants but for the learning rate.

    `schedule`: "constant" as in the paper, or "cosine" from the learning rate down to 0.
    """

    name: Literal["adam"] = "adam"
    learning_rate: float = Field(gt=0, allow_inf_nan=False)
    schedule: Literal["constant", "cosine"] = "constant"
    batch: int = Field(ge=1)
    epochs: int = Field(ge=1)


class Recipe(Part):
    """A model to train, whole: the same recipe on the same device gives the same weights."""

    id: str = Field(pattern=ID_PATTERN)
    title: str = Field(min_length=1)
    notes: str = ""
    data: Data
    architecture: str
    dimensions: int = Field(ge=1, le=64)
    objective: Objective
    optimizer: Optimizer
    seed: int = Field(ge=0)
    checkpoint_iterations: int = Field(default=5_000, ge=1)
    published_error: float | None = Field(default=None, ge=0)

    @field_validator("architecture")
    @classmethod
    def _trainable(cls, value: str) -> str:
        able = [
            name
            for name, one in ARCHITECTURES.items()
            if isinstance(one.source, Trained) and one.source.encoder is not None
        ]
        if value not in able:
            raise ValueError(f"allowed: {', '.join(able)}")
        return value

    @property
    def digest(self) -> str:
        """SHA-256 of everything that decides the weights (not of titles and notes)."""
        deciding = self.model_dump_json(
            include={"data", "architecture", "dimensions", "objective", "optimizer", "seed"}
        )
        return hashlib.sha256(deciding.encode()).hexdigest()


def read(path: Path) -> Recipe:
    """The recipe in `path`. Raises ModelError with line, key, found and allowed."""
    return document.read(path, "recipe", Recipe)
