"""What the builder of stimulus sets needs of an explainer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from labapp.models.datasets.split import Int64
from labapp.models.explanations.building.sets import Candidate
from labapp.models.explanations.classifier import Classifier
from labapp.models.explanations.photos import PictureRows, UInt8, as_bytes
from labapp.models.stimuli.manifest import Prototype

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class ExplanationJob:
    """A photo to explain. example: whether it is an example of the introduction."""

    id: str
    candidate: Candidate
    example: bool


@dataclass(frozen=True, slots=True)
class PhotoExplanation:
    """An explanation: fields of the manifest's photo, and its pictures by name."""

    fields: dict[str, Any]
    files: dict[str, bytes] = field(default_factory=dict)


class Explainer(Protocol):
    """Explains photos of one part of a data set by one model."""

    def predicted(self, model: Classifier, pictures: UInt8) -> Int64:
        """Classes the explanation leads to, from 0, of pictures uint8 (n, channels, size, size)."""

    def eligible(self, model: Classifier, pictures: UInt8) -> NDArray[np.bool_]:
        """Whether the task can show each picture, if the prediction is right."""

    def prototypes(self, model: Classifier) -> tuple[Prototype, ...]:
        """All prototypes of the model."""

    def explain(
        self, model: Classifier, rows: PictureRows, jobs: Sequence[ExplanationJob], seed: int
    ) -> list[PhotoExplanation]:
        """The explanations of photos, each the same whichever others are asked for."""

    def tree(self, model: Classifier) -> bytes | None:
        """A picture of the whole tree, where there is one, as PNG."""


def pictures_of(rows: PictureRows, jobs: Sequence[ExplanationJob]) -> UInt8:
    """Photos in the size that the model sees: uint8, shape (n, 3, size, size)."""
    return as_bytes(rows.instances(np.array([job.candidate.row for job in jobs], np.int64)))


def rounded(box: Sequence[float]) -> Box:
    """A box rounded to a thousandth of the picture's width, half a pixel."""
    left, top, right, bottom = (round(min(max(float(side), 0.0), 1.0), 3) for side in box)
    return left, top, right, bottom


def random_of(seed: int, job: ExplanationJob) -> np.random.Generator:
    """The random generator of one photo, independent of the others."""
    return np.random.default_rng([seed, 1, job.candidate.row])
