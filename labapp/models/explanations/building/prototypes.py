"""Rows that compare regions of a photo with the prototypes of a species (ProtoPNet).

Explains photos by the steps of their paths through a tree of prototypes (ProtoTree).

The picture of a whole tree goes from the root at the left to the species at the right. It has no
words, so that it is the same in every language: a green line with a tick leads on where the
prototype is present, a grey one with a cross where it is absent; a leaf has the number that its
species has in the study.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from labapp.models.datasets.split import Int64
from labapp.models.explanations import protopnet, prototree
from labapp.models.explanations.building.sets import (
    Candidate,
    ExplanationJob,
    PhotoExplanation,
    Spec,
    class_id,
    options,
    pictures_of,
    random_of,
    ref_of,
    round_box,
)
from labapp.models.explanations.classifier import Classifier
from labapp.models.explanations.photos import PictureRows, UInt8
from labapp.models.explanations.prototree import DecisionTree, PathStep, TreeExplanation
from labapp.models.stimuli.manifest import Prototype
from labapp.models.stimuli.pictures import paint_bird


@dataclass(frozen=True, slots=True)
class PrototypeExplainer:
    """Explains photos by prototypes. `spec.distinction`: whether rows are of the four species with
    the highest scores, and not of the predicted species."""

    spec: Spec

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
                box=round_box(prototype.box),
            )
            for prototype in protopnet.prototypes(model)
        )

    def explain(
        self, model: Classifier, rows: PictureRows, jobs: Sequence[ExplanationJob], seed: int
    ) -> list[PhotoExplanation]:
        prototypes = protopnet.prototypes(model)
        explained = []
        explanation = protopnet.explain(model, pictures_of(rows, jobs))
        for n, job in enumerate(jobs):
            fields: dict[str, Any] = {}
            species: tuple[int, ...] = (job.candidate.prediction,)
            if self.spec.distinction:
                scores = explanation.scores[n].tolist()
                species = options(scores, job.candidate.truth, random=random_of(seed, job))
                fields["options"] = tuple(class_id(k) for k in species)
                fields["logits"] = tuple(round(scores[k], 3) for k in species)
            fields["rows"] = tuple(
                row
                for k in species
                for row in _rank_rows(
                    explanation, n, [p.number for p in prototypes if p.species == k]
                )
            )
            explained.append(PhotoExplanation(fields))
        return explained


def _id(number: int) -> str:
    return f"p{number + 1:03}"


def _rank_rows(
    explanation: protopnet.ClassExplanation, n: int, numbers: list[int]
) -> list[dict[str, Any]]:
    """The rows of one species, the most similar first."""
    similarities = explanation.similarities[n]
    ordered = np.array(sorted(numbers, key=lambda number: -similarities[number]), np.int64)
    boxes = explanation.boxes(n, ordered)
    return [
        {
            "prototype": _id(number),
            "region": round_box(box.tolist()),
            "similarity": round(float(similarities[number]), 3),
            "rank": rank,
        }
        for rank, (number, box) in enumerate(zip(ordered.tolist(), boxes, strict=True), start=1)
    ]


@dataclass(frozen=True, slots=True)
class PathExplainer:
    """Explains photos by paths. `spec.distinction`: whether the last two steps are left to the
    participant; then only photos are eligible in which these steps decide between four species."""

    spec: Spec

    def predicted(self, model: Classifier, pictures: UInt8) -> Int64:
        return prototree.explain(model, pictures).predicted

    def eligible(self, model: Classifier, pictures: UInt8) -> NDArray[np.bool_]:
        fit = np.ones(len(pictures), bool)
        if self.spec.distinction:
            fit[:] = False
            shown = prototree.explain(model, pictures)
            fit[[steps.picture for steps in prototree.final_twos(shown)]] = True
        return fit

    def prototypes(self, model: Classifier) -> tuple[Prototype, ...]:
        train = model.card.recipe.birds.load().train
        return tuple(
            Prototype(id=_node_id(p.number), photo=ref_of(train, p.row), box=round_box(p.box))
            for p in prototree.prototypes(model)
        )

    def tree(self, model: Classifier) -> bytes:
        train = model.card.recipe.birds.load().train
        crops = {p.node: _crop(ref_of(train, p.row), p) for p in prototree.prototypes(model)}
        # The tree and its leaves are the same whatever picture is explained.
        any_picture = pictures_of(
            train, [ExplanationJob("", Candidate(0, 0, 0, 1.0), example=True)]
        )
        explanation = prototree.explain(model, any_picture)
        return draw_tree(explanation.tree, crops, explanation.leaf_species.tolist())

    def explain(
        self, model: Classifier, rows: PictureRows, jobs: Sequence[ExplanationJob], seed: int
    ) -> list[PhotoExplanation]:
        explanation = prototree.explain(model, pictures_of(rows, jobs))
        finals = {steps.picture: steps for steps in prototree.final_twos(explanation)}
        explained = []
        for n, job in enumerate(jobs):
            steps = [_row(step) for step in explanation.path(n)]
            fields: dict[str, Any] = {"rows": tuple(steps)}
            wrong = first_wrong(explanation, n, job.candidate.truth)
            if not job.candidate.right and wrong is not None:
                fields["first_wrong"] = wrong
            if self.spec.distinction and job.candidate.right:
                final = finals[n]
                first, absent, present = (
                    _row(s) for s in explanation.steps(final.picture, final.nodes)
                )
                fields["final"] = {
                    "first": first,
                    "absent": absent,
                    "present": present,
                    "classes": tuple(class_id(species) for species in final.species),
                }
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


def _crop(ref: str, prototype: prototree.NodePrototype) -> Image.Image:
    """The prototype's part of its photo."""
    photo = Image.fromarray(paint_bird(ref))
    left, top, right, bottom = (round(side * photo.width) for side in prototype.box)
    return photo.crop((left, top, right, bottom))


def _node_id(number: int) -> str:
    return f"n{number + 1:02}"


def _row(step: PathStep) -> dict[str, Any]:
    return {
        "prototype": _node_id(step.prototype),
        "region": round_box(step.box),
        "similarity": round(step.probability, 4),
        "present": step.present,
    }


ROW, COLUMN, MARGIN = 44, 190, 30
"""Pixels from leaf to leaf, from question to question, and around all."""
CROP, LEAF = 76, 17
"""Side of a prototype's picture, and radius of a leaf, in pixels."""
INK, ABSENT, PRESENT = "#222222", "#8a8a8a", "#1a7f4b"


@dataclass(frozen=True, slots=True)
class _Point:
    x: int
    y: int


def draw_tree(
    tree: DecisionTree, crops: Mapping[int, Image.Image], species: Sequence[int]
) -> bytes:
    """The tree as PNG with 256 colours.

    Parameters
    ----------
    crops : a picture of the prototype of each inner node.
    species : of each leaf, from 0, in the order of the leaves; shown counted from 1.
    """
    places = _places(tree)
    width = max(place.x for place in places.values()) + LEAF + MARGIN
    height = max(place.y for place in places.values()) + LEAF + MARGIN
    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)
    for node in tree.inner.tolist():
        for child, present in zip(tree.children[node].tolist(), (False, True), strict=True):
            _line(draw, places[node], places[child], present)
    for node in tree.inner.tolist():
        at = places[node]
        crop = crops[node].resize((CROP, CROP), Image.Resampling.LANCZOS)
        image.paste(crop, (at.x - CROP // 2, at.y - CROP // 2))
        box = (at.x - CROP // 2 - 1, at.y - CROP // 2 - 1, at.x + CROP // 2, at.y + CROP // 2)
        draw.rectangle(box, outline=INK, width=1)
    font = ImageFont.load_default(18)
    for node, number in zip(tree.leaves.tolist(), species, strict=True):
        at = places[node]
        draw.ellipse((at.x - LEAF, at.y - LEAF, at.x + LEAF, at.y + LEAF), "white", INK, 2)
        draw.text((at.x, at.y), str(number + 1), INK, font, anchor="mm")
    out = io.BytesIO()
    image.quantize(256).save(out, "PNG", optimize=True)
    return out.getvalue()


def _places(tree: DecisionTree) -> dict[int, _Point]:
    """The middle of every node: leaves one below the other, a question between its answers."""
    depth = {0: 0}
    for node in tree.inner.tolist():
        for child in tree.children[node].tolist():
            depth[child] = depth[node] + 1
    order: list[int] = []
    ahead = [0]
    while ahead:
        node = ahead.pop()
        order.append(node)
        if tree.children[node, 0] >= 0:
            absent, present = tree.children[node].tolist()
            ahead += [present, absent]
    leaves = [node for node in order if tree.children[node, 0] < 0]
    y = {node: place * ROW for place, node in enumerate(leaves)}
    for node in reversed(tree.inner.tolist()):
        absent, present = tree.children[node].tolist()
        y[node] = (y[absent] + y[present]) // 2
    left = MARGIN + CROP // 2
    return {node: _Point(left + COLUMN * depth[node], MARGIN + CROP // 2 + y[node]) for node in y}


def _line(draw: ImageDraw.ImageDraw, start: _Point, end: _Point, present: bool) -> None:
    """From a question to what follows, its sign in the middle."""
    colour = PRESENT if present else ABSENT
    x = start.x + COLUMN // 2 + 12
    draw.line([(start.x, start.y), (x, end.y), (end.x, end.y)], colour, 3)
    m = (x + 14, end.y)
    draw.ellipse((m[0] - 9, m[1] - 9, m[0] + 9, m[1] + 9), "white", colour, 2)
    if present:
        draw.line([(m[0] - 4, m[1]), (m[0] - 1, m[1] + 4), (m[0] + 5, m[1] - 4)], colour, 2)
    else:
        draw.line([(m[0] - 4, m[1] - 4), (m[0] + 4, m[1] + 4)], colour, 2)
        draw.line([(m[0] - 4, m[1] + 4), (m[0] + 4, m[1] - 4)], colour, 2)
