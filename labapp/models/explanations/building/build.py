"""Building a stimulus set: paint, predict, choose, explain, write.

The photos come from the test part of the data that the model was measured on. Of painted birds
there are as many as anybody asks for: where a task finds too few it looks at more of them. The same
model, seed and set give the same folder.

What the builder of stimulus sets needs of an explainer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from labapp import __version__
from labapp.base.errors import ModelError, StimuliError, UsageError
from labapp.models.datasets.split import CHUNK, Int64
from labapp.models.explanations import package
from labapp.models.explanations.building.sets import (
    Candidate,
    Selection,
    SetPhotos,
    Spec,
    TooFewPhotos,
    explainer_of,
    photos_of,
    select,
)
from labapp.models.explanations.card import VISIBLE
from labapp.models.explanations.classifier import Classifier
from labapp.models.explanations.data import FolderData
from labapp.models.explanations.photos import PictureRows, UInt8, as_bytes
from labapp.models.stimuli import importing
from labapp.models.stimuli.manifest import Manifest, Method, Photo, Prototype

MOST = 400
"""Test photos of a species that are looked at before building a set fails."""
TREE = "tree.png"

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and of how much."""


@dataclass(frozen=True, slots=True)
class BuiltSet:
    """A set that was built. looked_at: test photos that were painted to choose from."""

    manifest: Manifest
    files: dict[str, bytes]
    looked_at: int


def build(
    spec: Spec,
    *,
    seed: int,
    model: str | Path | None = None,
    data_folder: Path | None = None,
    progress: Progress | None = None,
) -> BuiltSet:
    """Build a set, in memory. model: id or folder of another classifier of the same method;
    data_folder: of the pictures of a model trained on a folder. Raises ModelError where that is
    missing or damaged, and what `built_of` raises."""
    classifier = package.load(spec.model if model is None else model)
    return built_of(classifier, spec, seed=seed, data_folder=data_folder, progress=progress)


def built_of(
    classifier: Classifier,
    spec: Spec,
    *,
    seed: int,
    data_folder: Path | None = None,
    progress: Progress | None = None,
) -> BuiltSet:
    """Build a set from a classifier.

    Raises
    ------
    ModelError : the model is of another method.
    StimuliError : too few photos meet the rules.
    """
    method = classifier.card.recipe.method.name
    if method != spec.needs:
        raise ModelError(
            f"{spec.id} is built from a {spec.needs}; {classifier.card.id} is a {method}.",
            todo=f"Name a model whose method is {spec.needs}.",
        )
    report = progress or (lambda *_: None)
    explainer: Explainer = explainer_of(spec)
    rows = held_rows(classifier, data_folder)
    most = photos_of(classifier, rows).most_of_a_class(spec.wanted.right + spec.wanted.wrong)
    looked_at: list[Candidate] = []
    while True:
        looked_at += candidates(explainer, classifier, rows, len(looked_at), report)
        try:
            chosen = select(looked_at, spec.wanted, seed, most)
        except TooFewPhotos as few:
            wider = photos_of(classifier, rows).wider(MOST)
            if wider is None:
                raise _given_up(spec, looked_at, few) from few
            rows = wider
        else:
            break
    photos = photos_of(classifier, rows)
    in_sets = [
        ExplanationJob(photos.photo_id(c.row), c, example=False)
        for dealt in chosen.sets
        for c in dealt
    ]
    examples = (chosen.right_example, chosen.wrong_example)
    jobs = in_sets + [ExplanationJob(photos.photo_id(c.row), c, example=True) for c in examples]
    explained: list[PhotoExplanation] = []
    for start in range(0, len(jobs), CHUNK):
        report("explaining", start, len(jobs))
        explained += explainer.explain(classifier, rows, jobs[start : start + CHUNK], seed)
    report("explaining", len(jobs), len(jobs))
    manifest, files = _assembled(spec, seed, classifier, explainer, photos, chosen, jobs, explained)
    return BuiltSet(manifest, files, len(looked_at))


def write(built: BuiltSet, folder: Path) -> Path:
    """Write a set into a new folder, whole or not at all. Raises StimuliError."""
    return importing.write(folder, built.manifest, built.files)


def held_rows(model: Classifier, data_folder: Path | None = None) -> PictureRows:
    """The pictures that a model was tested on. Raises ModelError where manifests cannot name them,
    or no folder is given for a model that was trained on one; UsageError where one is given for
    another."""
    data = model.card.recipe.data
    if data_folder is not None and not isinstance(data, FolderData):
        raise UsageError(
            f"{model.card.id} was trained on {data.dataset}, which need no folder.",
            todo="Leave out --data.",
        )
    rows: PictureRows = data.load(data_folder).test
    photos_of(model, rows)
    return rows


def candidates(
    explainer: Explainer,
    model: Classifier,
    rows: PictureRows,
    first: int,
    progress: Progress,
    *,
    last: int | None = None,
) -> list[Candidate]:
    """The candidates among the rows from `first` to before `last`."""
    result = []
    photos = photos_of(model, rows)
    end = len(rows) if last is None else last
    for start in range(first, end, CHUNK):
        progress("looking at photos", start, end)
        numbers = np.arange(start, min(start + CHUNK, end))
        pictures = as_bytes(rows.instances(numbers))
        predicted = explainer.predicted(model, pictures)
        fit = explainer.eligible(model, pictures)
        result += [
            photos.candidate(row, predicted_class, eligible=suits)
            for row, predicted_class, suits in zip(
                numbers.tolist(), predicted.tolist(), fit.tolist(), strict=True
            )
        ]
    progress("looking at photos", end, end)
    return result


def _given_up(spec: Spec, looked_at: Sequence[Candidate], few: TooFewPhotos) -> StimuliError:
    seen = [c for c in looked_at if c.visible >= VISIBLE]
    right = sum(c.right and c.eligible for c in seen)
    wrong = sum(not c.right for c in seen)
    return StimuliError(
        f"There are too few photos for {spec.id}: of {len(looked_at)} looked at, {right} are right "
        f"and suit the task and {wrong} are wrong ({few}).",
        todo="Use a model that is right in 75 to 90 % of its test photos.",
    )


def _assembled(
    spec: Spec,
    seed: int,
    model: Classifier,
    explainer: Explainer,
    set_photos: SetPhotos,
    chosen: Selection,
    jobs: Sequence[ExplanationJob],
    explained: Sequence[PhotoExplanation],
) -> tuple[Manifest, dict[str, bytes]]:
    numbers: list[int | None] = [n for n, photos in enumerate(chosen.sets, start=1) for _ in photos]
    photos = [
        photo(job, number, set_photos, explanation)
        for job, number, explanation in zip(jobs, [*numbers, None, None], explained, strict=True)
    ]
    files = {name: content for e in explained for name, content in e.files.items()}
    for job in jobs:
        files |= set_photos.picture(job.candidate.row)[1]
    tree = explainer.tree(model)
    if tree is not None:
        files[TREE] = tree
    card = model.card
    manifest = Manifest(
        id=spec.id,
        title=spec.title,
        source=set_photos.source,
        licence=set_photos.licence,
        kind=spec.kind,
        method=Method(
            name=spec.method,
            accuracy=round(100 * card.test.accuracy, 2),
            classifier=card.id,
            sha256=card.weights_sha256,
        ),
        classes_are=set_photos.classes_are,
        invented=set_photos.invented,
        scale=spec.scale,
        classes=set_photos.classes(),
        prototypes=explainer.prototypes(model),
        photos=tuple(photos[:-2]),
        correct_example=photos[-2],
        incorrect_example=photos[-1],
        tree=None if tree is None else TREE,
        seed=seed,
        made_with=f"labapp {__version__}, labapp stimuli build {spec.id} --seed {seed}",
    )
    return manifest, files


def photo(
    job: ExplanationJob, number: int | None, set_photos: SetPhotos, explained: PhotoExplanation
) -> Photo:
    """A photo of the manifest. number: of its set, none for a worked example."""
    candidate = job.candidate
    fields = dict(explained.fields)
    return Photo(
        id=job.id,
        set=number,
        photo=set_photos.picture(candidate.row)[0],
        truth=set_photos.ids[candidate.truth],
        prediction=set_photos.ids[candidate.prediction],
        facts=set_photos.facts(candidate) | fields.pop("facts", {}),
        **fields,
    )


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
