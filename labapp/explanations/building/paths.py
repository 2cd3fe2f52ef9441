"""Explains photos by the steps of their paths through a tree of prototypes (ProtoTree)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from labapp.datasets.split import Int64
from labapp.explanations.building import tree_picture
from labapp.explanations.building.explainer import (
    ExplanationJob,
    PhotoExplanation,
    pictures_of,
    rounded,
)
from labapp.explanations.building.selection import Candidate
from labapp.explanations.building.set_photos import class_id, ref_of
from labapp.explanations.building.sets import Spec
from labapp.explanations.classifier import Classifier
from labapp.explanations.photos import PictureRows, UInt8
from labapp.explanations.prototree import explaining
from labapp.explanations.prototree.explaining import FinalTwo, PathStep, TreeExplanation
from labapp.stimuli.manifest import Prototype
from labapp.stimuli.pictures import paint_bird


@dataclass(frozen=True, slots=True)
class PathExplainer:
    """Explains photos by paths.

    distinction : whether the last two steps are left to the participant; then only photos are
        eligible in which these steps decide between four species.
    """

    distinction: bool

    def predicted(self, model: Classifier, pictures: UInt8) -> Int64:
        return explaining.explain(model, pictures).predicted

    def eligible(self, model: Classifier, pictures: UInt8) -> NDArray[np.bool_]:
        fit = np.ones(len(pictures), bool)
        if self.distinction:
            fit[:] = False
            fit[[steps.picture for steps in explaining.final_two(model, pictures)]] = True
        return fit

    def prototypes(self, model: Classifier) -> tuple[Prototype, ...]:
        train = model.card.recipe.birds.load().train
        return tuple(
            Prototype(id=_id(p.number), photo=ref_of(train, p.row), box=rounded(p.box))
            for p in explaining.prototypes(model)
        )

    def tree(self, model: Classifier) -> bytes:
        train = model.card.recipe.birds.load().train
        crops = {p.node: _crop(ref_of(train, p.row), p) for p in explaining.prototypes(model)}
        # The tree and its leaves are the same whatever picture is explained.
        any_picture = pictures_of(
            train, [ExplanationJob("", Candidate(0, 0, 0, 1.0), example=True)]
        )
        explanation = explaining.explain(model, any_picture)
        return tree_picture.draw_tree(explanation.tree, crops, explanation.leaf_species.tolist())

    def explain(
        self, model: Classifier, rows: PictureRows, jobs: Sequence[ExplanationJob], seed: int
    ) -> list[PhotoExplanation]:
        explanation = explaining.explain(model, pictures_of(rows, jobs))
        finals = {steps.picture: steps for steps in explaining.final_twos(explanation)}
        explained = []
        for n, job in enumerate(jobs):
            steps = [_row(step) for step in explanation.path(n)]
            fields: dict[str, Any] = {"rows": tuple(steps)}
            wrong = first_wrong(explanation, n, job.candidate.truth)
            if not job.candidate.right and wrong is not None:
                fields["first_wrong"] = wrong
            if self.distinction and job.candidate.right:
                final = finals[n]
                fields["final"] = _final(explanation, final)
                if not job.example:
                    fields["rows"] = tuple(steps[:-2])
            explained.append(PhotoExplanation(fields))
        return explained


def first_wrong(explanation: TreeExplanation, picture: int, truth: int) -> int | None:
    """The first step, from 1, after which no leaf of the true species can be reached.

    None if the path ends at such a leaf. For a species that no leaf predicts it is the first step.
    """
    tree, species = explanation.tree, explanation.leaf_species
    for number, step in enumerate(explanation.path(picture), start=1):
        child = int(tree.children[step.node, int(step.present)])
        if truth not in species[tree.below(child)]:
            return number
    return None


def _crop(ref: str, prototype: explaining.NodePrototype) -> Image.Image:
    """The prototype's part of its photo."""
    photo = Image.fromarray(paint_bird(ref))
    left, top, right, bottom = (round(side * photo.width) for side in prototype.box)
    return photo.crop((left, top, right, bottom))


def _id(number: int) -> str:
    return f"n{number + 1:02}"


def _row(step: PathStep) -> dict[str, Any]:
    return {
        "prototype": _id(step.prototype),
        "region": rounded(step.box),
        "similarity": round(step.probability, 4),
        "present": step.present,
    }


def _final(explanation: TreeExplanation, final: FinalTwo) -> dict[str, Any]:
    first, absent, present = (_row(s) for s in explanation.steps(final.picture, final.nodes))
    return {
        "first": first,
        "absent": absent,
        "present": present,
        "classes": tuple(class_id(species) for species in final.species),
    }


def by_paths(spec: Spec) -> PathExplainer:
    """The explainer of a set's photos."""
    return PathExplainer(spec.distinction)
