"""The model card: model.yaml of a package, checked when read and written whole by training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from labapp.representations import document
from labapp.representations.architectures import (
    ARCHITECTURES,
    Architecture,
    ClosedForm,
    Display,
)
from labapp.representations.recipe import ID_PATTERN, Data, Objective, Optimizer, Part
from labapp.representations.space import LatentSpace

CARD = "model.yaml"
SHA256_PATTERN = r"^[0-9a-f]{64}$"


class ContinuousDial(Part):
    """A slider; see `space.Continuous`."""

    type: Literal["continuous"]
    name: str = Field(min_length=1)
    low: float = Field(allow_inf_nan=False)
    high: float = Field(allow_inf_nan=False)
    step: float = Field(gt=0, allow_inf_nan=False)


class DiscreteDial(Part):
    """A choice among k; see `space.Discrete`."""

    type: Literal["discrete"]
    name: str = Field(min_length=1)
    k: int = Field(ge=2, le=1000)


Dial = Annotated[ContinuousDial | DiscreteDial, Field(discriminator="type")]


class Training(Part):
    """How the weights came about. `seconds` is time spent training, over all restarts."""

    recipe_sha256: str = Field(pattern=SHA256_PATTERN)
    optimizer: Optimizer
    iterations: int = Field(ge=1)
    seed: int = Field(ge=0)
    seconds: float = Field(ge=0)
    device: str
    threads: int = Field(ge=1)
    versions: dict[str, str]


class Origin(Part):
    """Where an imported model came from: the files read, name -> SHA-256."""

    format: Literal["tfjs"]
    files: dict[str, Annotated[str, Field(pattern=SHA256_PATTERN)]]


class HeldOutError(Part):
    """Sum of squared errors per instance, averaged over the held-out split.

    `mean` decodes the encoding (the posterior mean); `sampled` decodes one draw from the posterior,
    as the published numbers do, and is absent where there is no posterior. An imported model has
    only what was `published` with it.
    """

    unit: Literal["sum of squares per instance"] = "sum of squares per instance"
    mean: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    sampled: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    published: float | None = Field(default=None, ge=0, allow_inf_nan=False)

    @property
    def as_published(self) -> float | None:
        """The number to set beside the paper's: sampled where there is a posterior."""
        ours = self.mean if self.sampled is None else self.sampled
        return self.published if ours is None else ours


class ModelCard(Part):
    """What a package says of its model. Fields that do not apply are left out."""

    card: Literal[1]
    id: str = Field(pattern=ID_PATTERN)
    title: str = Field(min_length=1)
    notes: str = ""
    dataset: str = Field(min_length=1)
    architecture: str
    display: Display
    sampling: Literal["held-out", "prior"]
    dimensions: list[Dial] = Field(min_length=1, max_length=64)
    objective: Objective | None = None
    data: Data | None = None
    training: Training | None = None
    origin: Origin | None = None
    held_out_error: HeldOutError | None = None
    weights_sha256: str | None = Field(default=None, pattern=SHA256_PATTERN)
    latents_sha256: str | None = Field(default=None, pattern=SHA256_PATTERN)

    @field_validator("architecture")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in ARCHITECTURES:
            raise ValueError(f"allowed: {', '.join(ARCHITECTURES)}")
        return value

    @field_validator("dimensions")
    @classmethod
    def _a_space(cls, value: list[Dial]) -> list[Dial]:
        LatentSpace.from_json([dial.model_dump() for dial in value])
        return value

    @model_validator(mode="after")
    def _consistent(self) -> ModelCard:
        architecture = ARCHITECTURES[self.architecture]
        if self.display != architecture.display:
            raise ValueError(
                f"display is {self.display}, but {architecture.name} makes {architecture.display}"
            )
        source = architecture.source
        if isinstance(source, ClosedForm):
            found = [
                (dial.name, (dial.low, dial.high))
                for dial in self.dimensions
                if isinstance(dial, ContinuousDial)
            ]
            if found != list(zip(source.names, source.limits, strict=True)):
                raise ValueError(f"dimensions are not those of {architecture.name}")
        return self

    @property
    def space(self) -> LatentSpace:
        return LatentSpace.from_json([dial.model_dump() for dial in self.dimensions])

    @property
    def made_by(self) -> Architecture:
        return ARCHITECTURES[self.architecture]

    def to_json(self) -> dict[str, Any]:
        """Plain values, absent fields omitted."""
        return self.model_dump(mode="json", exclude_none=True)


def dials_over(latents: NDArray[np.float32], step: float = 0.01) -> list[Dial]:
    """Sliders z1, z2 ... from the least to the greatest value of each column of `latents`.

    The published limits: the empirical minimum and maximum over the held-out split (paper 000,
    4.3). A column that takes one value only makes a card that is refused: it is no dial.
    """
    return [
        ContinuousDial(
            type="continuous",
            name=f"z{index}",
            low=float(column.min()),
            high=float(column.max()),
            step=step,
        )
        for index, column in enumerate(latents.T, start=1)
    ]


def read(folder: Path) -> ModelCard:
    """The card of the package in `folder`. Raises ModelError (line, key, found, allowed)."""
    return document.read(folder / CARD, "model card", ModelCard)
