"""Building a stimulus set: paint, predict, choose, explain, write.

The photos come from the test part of the birds that the model was measured on, of which there are
as many as anybody asks for: where a task finds too few it looks at more of them. The same model,
seed and set give the same folder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from labapp import __version__
from labapp.datasets.birds.chance import OCCLUSION
from labapp.datasets.birds.dataset import BirdRows
from labapp.datasets.birds.picture import deciding_visibility
from labapp.datasets.birds.species import SPECIES, guide, name_of
from labapp.datasets.split import CHUNK
from labapp.errors import ModelError, StimuliError
from labapp.explanations import package
from labapp.explanations.building.explainer import (
    Explainer,
    Job,
    PhotoExplanation,
    class_id,
    photo_id,
    ref_of,
)
from labapp.explanations.building.selection import Candidate, Selection, TooFew, select
from labapp.explanations.building.sets import Spec, explainer_of
from labapp.explanations.card import VISIBLE
from labapp.explanations.classifier import Classifier
from labapp.explanations.photos import as_bytes
from labapp.stimuli import importing
from labapp.stimuli.manifest import Class_, Manifest, Method, Photo

MOST = 400
"""Test photos of a species that are looked at before a set is given up."""
TREE = "tree.png"

Progress = Callable[[str, int, int], None]
"""Is told what is being done, and how much of it is, of how much."""


@dataclass(frozen=True, slots=True)
class BuiltSet:
    """A set that was built. looked_at: test photos that were painted to choose from."""

    manifest: Manifest
    files: dict[str, bytes]
    looked_at: int


def build(
    spec: Spec, *, seed: int, model: str | Path | None = None, progress: Progress | None = None
) -> BuiltSet:
    """Build a set, in memory. model: id or folder of another classifier of the same method.

    Raises ModelError where that is missing or damaged, and what `built_of` raises.
    """
    classifier = package.load(spec.model if model is None else model)
    return built_of(classifier, spec, seed=seed, progress=progress)


def built_of(
    classifier: Classifier, spec: Spec, *, seed: int, progress: Progress | None = None
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
    rows = test_rows(classifier)
    looked_at: list[Candidate] = []
    while True:
        looked_at += candidates(explainer, classifier, rows, len(looked_at), report)
        try:
            chosen = select(looked_at, spec.wanted, seed)
        except TooFew as few:
            if rows.per_species >= MOST:
                raise _given_up(spec, looked_at, few) from few
            rows = replace(rows, per_species=min(2 * rows.per_species, MOST))
        else:
            break
    jobs = _jobs(chosen)
    explained: list[PhotoExplanation] = []
    for start in range(0, len(jobs), CHUNK):
        report("explaining", start, len(jobs))
        explained += explainer.explain(classifier, rows, jobs[start : start + CHUNK], seed)
    report("explaining", len(jobs), len(jobs))
    manifest, files = _assembled(spec, seed, classifier, explainer, rows, chosen, jobs, explained)
    return BuiltSet(manifest, files, len(looked_at))


def write(built: BuiltSet, folder: Path) -> Path:
    """Write a set into a new folder, whole or not at all. Raises StimuliError."""
    return importing.write(folder, built.manifest, built.files)


def test_rows(model: Classifier) -> BirdRows:
    """The birds that a model was tested on. Raises ModelError where manifests cannot name them."""
    rows = model.card.recipe.birds.load().test
    if rows.occlusion != OCCLUSION:
        raise ModelError(
            f"{model.card.id} knows birds with leaves over {rows.occlusion:.0%} of the marks.",
            todo=f"Train one with occlusion: {OCCLUSION}, the one that stimulus sets can name.",
        )
    return rows


def candidates(
    explainer: Explainer,
    model: Classifier,
    rows: BirdRows,
    first: int,
    progress: Progress,
    *,
    last: int | None = None,
) -> list[Candidate]:
    """What can be chosen from, of the rows from `first` on, before `last`."""
    result = []
    end = len(rows) if last is None else last
    for start in range(first, end, CHUNK):
        progress("looking at photos", start, end)
        numbers = np.arange(start, min(start + CHUNK, end))
        pictures = as_bytes(rows.instances(numbers))
        predicted = explainer.predicted(model, pictures)
        fit = explainer.eligible(model, pictures)
        result += [
            Candidate(row, row % SPECIES, species, deciding_visibility(rows.bird(row)), suits)
            for row, species, suits in zip(
                numbers.tolist(), predicted.tolist(), fit.tolist(), strict=True
            )
        ]
    progress("looking at photos", end, end)
    return result


def _given_up(spec: Spec, looked_at: Sequence[Candidate], few: TooFew) -> StimuliError:
    seen = [c for c in looked_at if c.visible >= VISIBLE]
    right = sum(c.right and c.eligible for c in seen)
    wrong = sum(not c.right for c in seen)
    return StimuliError(
        f"There are too few photos for {spec.id}: of {len(looked_at)} looked at, {right} are right "
        f"and suit the task and {wrong} are wrong ({few}).",
        todo="Use a model that is right in 75 to 90 % of its test photos.",
    )


def _jobs(chosen: Selection) -> list[Job]:
    in_sets = [Job(photo_id(c.row), c, example=False) for photos in chosen.sets for c in photos]
    examples = (chosen.right_example, chosen.wrong_example)
    return in_sets + [Job(photo_id(c.row), c, example=True) for c in examples]


def _assembled(
    spec: Spec,
    seed: int,
    model: Classifier,
    explainer: Explainer,
    rows: BirdRows,
    chosen: Selection,
    jobs: Sequence[Job],
    explained: Sequence[PhotoExplanation],
) -> tuple[Manifest, dict[str, bytes]]:
    numbers: list[int | None] = [n for n, photos in enumerate(chosen.sets, start=1) for _ in photos]
    photos = [
        photo(job, number, rows, explanation)
        for job, number, explanation in zip(jobs, [*numbers, None, None], explained, strict=True)
    ]
    files = {name: content for e in explained for name, content in e.files.items()}
    tree = explainer.tree(model)
    if tree is not None:
        files[TREE] = tree
    card = model.card
    manifest = Manifest(
        id=spec.id,
        title=spec.title,
        source=f"Birds painted from seed {rows.seed} (labapp.datasets.birds), their test part",
        licence="MIT",
        kind=spec.kind,
        method=Method(
            name=spec.method,
            accuracy=round(100 * card.test.accuracy, 2),
            classifier=card.id,
            sha256=card.weights_sha256,
        ),
        classes_are="species",
        invented=True,
        scale=spec.scale,
        classes=tuple(
            Class_(id=class_id(n), name=name_of(n), marks=", ".join(guide(n)))
            for n in range(SPECIES)
        ),
        prototypes=explainer.prototypes(model),
        photos=tuple(photos[:-2]),
        correct_example=photos[-2],
        incorrect_example=photos[-1],
        tree=None if tree is None else TREE,
        seed=seed,
        made_with=f"labapp {__version__}, labapp stimuli build {spec.id} --seed {seed}",
    )
    return manifest, files


def photo(job: Job, number: int | None, rows: BirdRows, explained: PhotoExplanation) -> Photo:
    """A photo of the manifest. number: of its set, none for a worked example."""
    candidate = job.candidate
    facts = {"visible": round(candidate.visible, 3), "missed": float(candidate.missed)}
    fields = dict(explained.fields)
    return Photo(
        id=job.id,
        set=number,
        photo=ref_of(rows, candidate.row),
        truth=class_id(candidate.truth),
        prediction=class_id(candidate.prediction),
        facts=facts | fields.pop("facts", {}),
        **fields,
    )
