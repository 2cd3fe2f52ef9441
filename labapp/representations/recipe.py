"""Recipes of models for `labapp models train`, as YAML (models/recipes/*.yaml).

Nothing here needs torch, so that recipes and cards are read and refused at once.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from labapp.datasets import mnist
from labapp.documents import MODEL
from labapp.naming import NotReserved
from labapp.representations import document
from labapp.representations.architectures import ARCHITECTURES, TrainedNetwork
from labapp.representations.data import Data, MnistData, Part

ID_PATTERN = MODEL
"""`<dataset>/<name>`, lower case: no dot, no slash beyond the one, hence no way out of a folder."""


class Ae(Part):
    """Autoencoder: the reconstruction error of decode(encode(x))."""

    name: Literal["ae"]
    reconstruction: float = Field(default=1.0, gt=0, allow_inf_nan=False)


class Gt(Part):
    """Ground truth: a decoder alone, which learns x from the true factors."""

    name: Literal["gt"]
    reconstruction: float = Field(default=1.0, gt=0, allow_inf_nan=False)


class Vae(Part):
    """Variational autoencoder: reconstruction * error + kl * KL(q(z|x) || N(0, I))."""

    name: Literal["vae"]
    reconstruction: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    kl: float = Field(default=1.0, ge=0, allow_inf_nan=False)


class TcVae(Part):
    """beta-TCVAE: the variational autoencoder's loss + (beta - 1) * total correlation of q(z)."""

    name: Literal["tcvae"]
    beta: float = Field(default=10.0, ge=1, allow_inf_nan=False)


class SsTcVae(Part):
    """beta-TCVAE whose decoder is told the label, a one-hot of `classes` in front of z."""

    name: Literal["ss-tcvae"]
    beta: float = Field(default=10.0, ge=1, allow_inf_nan=False)
    classes: int = Field(default=10, ge=2, le=1000)


class InfoGan(Part):
    """InfoGAN: a generator of a discrete code and continuous codes in (-1, 1), no further noise.

    `discrete` and `continuous` weigh the two parts of the mutual-information bound;
    `generator_rate` multiplies the learning rate of the generator; the recogniser's heads learn at
    the discriminator's.
    """

    name: Literal["infogan"]
    classes: int = Field(default=10, ge=2, le=1000)
    discrete: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    continuous: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    generator_rate: float = Field(default=5.0, gt=0, allow_inf_nan=False)


Objective = Annotated[
    Ae | Gt | Vae | TcVae | SsTcVae | InfoGan,
    Field(discriminator="name"),
]


def classes_of(objective: Objective) -> int:
    """Width of the one-hot in front of z: 0 where there is none."""
    return objective.classes if isinstance(objective, SsTcVae | InfoGan) else 0


class Optimizer(Part):
    """Adam with TensorFlow's and the paper's constants but for the learning rate.

    `schedule`: "constant" as in the paper; "cosine" from the learning rate down to 0; or
    "late-cosine", constant for four fifths of the iterations and then a cosine down to 0.
    `beta1`: how long the first moment remembers. `precision`: "bfloat16" multiplies matrices at
    half the width and keeps weights, moments and losses in float32.
    """

    name: Literal["adam"] = "adam"
    learning_rate: float = Field(gt=0, allow_inf_nan=False)
    schedule: Literal["constant", "cosine", "late-cosine"] = "constant"
    batch: int = Field(ge=1)
    epochs: int = Field(ge=1)
    beta1: float = Field(default=0.9, ge=0, lt=1)
    precision: Literal["float32", "bfloat16"] = "float32"


class PublishedScores(Part):
    """What Table 2 of paper 000 says of the model that this recipe follows.

    `error` is the sum of squared errors, sampled from the posterior where there is one.
    """

    error: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    mig: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    dci: float | None = Field(default=None, ge=0, allow_inf_nan=False)


class Recipe(Part):
    """A model to train. The same recipe on the same device gives the same weights.

    `dimensions`: number of continuous dimensions. `weights`: type in which the package stores them;
    the errors on the card are measured with the stored weights.
    """

    id: Annotated[str, NotReserved] = Field(pattern=ID_PATTERN)
    title: str = Field(min_length=1)
    notes: str = ""
    data: Data
    architecture: str
    dimensions: int = Field(ge=1, le=64)
    objective: Objective
    optimizer: Optimizer
    weights: Literal["float32", "float16"] = "float32"
    seed: int = Field(ge=0)
    checkpoint_iterations: int = Field(default=5_000, ge=1)
    published: PublishedScores = PublishedScores()

    @field_validator("architecture")
    @classmethod
    def _trainable(cls, value: str, info: ValidationInfo) -> str:
        able = [
            name
            for name, architecture in ARCHITECTURES.items()
            if isinstance(architecture.source, TrainedNetwork)
        ]
        data = info.data.get("data")
        if data is not None:
            able = [name for name in able if name.startswith(f"{data.dataset}-")]
        if value not in able:
            raise ValueError(f"allowed: {', '.join(able)}")
        return value

    @model_validator(mode="after")
    def _go_together(self) -> Recipe:
        source = ARCHITECTURES[self.architecture].source
        assert isinstance(source, TrainedNetwork)
        adversarial = isinstance(self.objective, InfoGan)
        if adversarial != (source.encoder is None):
            raise ValueError("the objective infogan and the architecture mnist-infogan go together")
        if isinstance(self.objective, SsTcVae) and not isinstance(self.data, MnistData):
            raise ValueError("ss-tcvae needs labels: its data must be mnist")
        if isinstance(self.data, MnistData):
            self._fits_digits(self.data)
        elif isinstance(self.objective, Gt) and self.dimensions != self.data.factors:
            raise ValueError(
                f"gt decodes the {self.data.factors} factors of {self.data.dataset}: dimensions "
                f"must be {self.data.factors}, found {self.dimensions}"
            )
        return self

    def _fits_digits(self, data: MnistData) -> None:
        if isinstance(self.objective, Gt):
            raise ValueError("gt needs the factors that made the data, which mnist has not")
        classes = classes_of(self.objective)
        if isinstance(self.objective, SsTcVae) and classes != mnist.CLASSES:
            raise ValueError(f"classes must be {mnist.CLASSES}, as the digits, found {classes}")
        if isinstance(self.objective, InfoGan) and classes > mnist.CLASSES:
            raise ValueError(f"classes must be at most {mnist.CLASSES}, found {classes}")
        batch = self.optimizer.batch
        if batch == 1 or data.trained_on % batch == 1:
            raise ValueError(
                f"{data.trained_on:,} digits in batches of {batch} make a batch of one digit, "
                "which cannot be normalised: take another batch or held_out"
            )

    @property
    def digest(self) -> str:
        """SHA-256 of everything that decides the weights (not of titles and notes)."""
        deciding = self.model_dump_json(
            exclude={"id", "title", "notes", "checkpoint_iterations", "published"}
        )
        return hashlib.sha256(deciding.encode()).hexdigest()


def read(path: Path) -> Recipe:
    """The recipe in `path`. Raises ModelError with line, key, found and allowed."""
    return document.read(path, "recipe", Recipe)
