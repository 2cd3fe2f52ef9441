"""Rows that compare regions of a photo with the prototypes of a species (ProtoPNet)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labapp.models.datasets.split import Int64
from labapp.models.explanations.building.build import (
    ExplanationJob,
    PhotoExplanation,
    pictures_of,
    random_of,
    rounded,
)
from labapp.models.explanations.building.sets import Spec, class_id, options, ref_of
from labapp.models.explanations.classifier import Classifier
from labapp.models.explanations.photos import PictureRows, UInt8
from labapp.models.explanations.protopnet import training
from labapp.models.stimuli.manifest import Prototype


@dataclass(frozen=True, slots=True)
class PrototypeExplainer:
    """Explains photos by prototypes. `distinction`: whether rows are of the four species with the
    highest scores; otherwise they are of the predicted species."""

    distinction: bool

    def predicted(self, model: Classifier, pictures: UInt8) -> Int64:
        return model.predicted(pictures)

    def eligible(self, model: Classifier, pictures: UInt8) -> NDArray[np.bool_]:
        return np.ones(len(pictures), bool)

    def tree(self, model: Classifier) -> None:
        return None

    def prototypes(self, model: Classifier) -> tuple[Prototype, ...]:
        train = model.card.recipe.birds.load().train
        return tuple(
            Prototype(
                id=_id(prototype.number),
                of=class_id(prototype.species),
                photo=ref_of(train, prototype.row),
                box=rounded(prototype.box),
            )
            for prototype in training.prototypes(model)
        )

    def explain(
        self, model: Classifier, rows: PictureRows, jobs: Sequence[ExplanationJob], seed: int
    ) -> list[PhotoExplanation]:
        prototypes = training.prototypes(model)
        explained = []
        explanation = training.explain(model, pictures_of(rows, jobs))
        for n, job in enumerate(jobs):
            fields: dict[str, Any] = {}
            species: tuple[int, ...] = (job.candidate.prediction,)
            if self.distinction:
                scores = explanation.scores[n].tolist()
                species = options(scores, job.candidate.truth, random=random_of(seed, job))
                fields["options"] = tuple(class_id(k) for k in species)
                fields["logits"] = tuple(round(scores[k], 3) for k in species)
            fields["rows"] = tuple(
                row
                for k in species
                for row in _ranked(explanation, n, [p.number for p in prototypes if p.species == k])
            )
            explained.append(PhotoExplanation(fields))
        return explained


def _id(number: int) -> str:
    return f"p{number + 1:03}"


def _ranked(
    explanation: training.ClassExplanation, n: int, numbers: list[int]
) -> list[dict[str, Any]]:
    """The rows of one species, the most similar first."""
    similarities = explanation.similarities[n]
    ordered = np.array(sorted(numbers, key=lambda number: -similarities[number]), np.int64)
    boxes = explanation.boxes(n, ordered)
    return [
        {
            "prototype": _id(number),
            "region": rounded(box.tolist()),
            "similarity": round(float(similarities[number]), 3),
            "rank": rank,
        }
        for rank, (number, box) in enumerate(zip(ordered.tolist(), boxes, strict=True), start=1)
    ]


def by_prototypes(spec: Spec) -> PrototypeExplainer:
    return PrototypeExplainer(spec.distinction)
