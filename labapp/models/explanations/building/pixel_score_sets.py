"""Building a set of pixel scores: predict the test part, choose images, score their pixels, write.

Every image is explained for the class that the model predicts, as in paper 004. The images are from
the model's own test part, in the size that the model sees. Painted faces that it sees in half their
size are shown in full size; masks are made of the model's pixels all the same. The same model,
pictures and seed give the same folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from labapp import __version__
from labapp.base.errors import StimuliError
from labapp.models.datasets.split import Float32, Int64
from labapp.models.explanations import package
from labapp.models.explanations.building.sets import (
    SCORED_SPECS,
    BuiltSet,
    Progress,
    ScoredSpec,
    SetPhotos,
    photos_of,
    pixels,
)
from labapp.models.explanations.data import METHODS, SCORINGS, score_pixels
from labapp.models.explanations.photos import DataParts, UInt8, as_bytes, load_photos
from labapp.models.stimuli import score_files
from labapp.models.stimuli.manifest import Confusion, Manifest, Method, Photo, ScoredMethod
from labapp.models.stimuli.pictures import png

if TYPE_CHECKING:
    from labapp.models.explanations.classifier import Classifier

MARGIN = 0.1
"""Least difference between the two greatest logits of images that are shown: rounding on another
machine then changes no prediction."""


def build_scored(
    spec: ScoredSpec,
    *,
    seed: int,
    data_folder: Path | None = None,
    progress: Progress | None = None,
) -> BuiltSet:
    """Build a set, in memory. data_folder: of the pictures of a model trained on a folder. Raises
    ModelError: the model is missing, damaged, or its pixels cannot be scored; no folder is given.
    DatasetError: the folder's pictures are not those it was trained on. StimuliError: too few
    images are predicted right, or wrong."""
    classifier = package.load(spec.model)
    parts = classifier.card.recipe.data.load(data_folder)
    return build_scored_from(classifier, parts, spec, seed=seed, progress=progress)


def build_scored_from(
    classifier: Classifier,
    parts: DataParts,
    spec: ScoredSpec,
    *,
    seed: int,
    progress: Progress | None = None,
) -> BuiltSet:
    """Build a set from a classifier and the data that its card tells of; see `build_scored`."""
    report = progress or (lambda *_: None)
    first = as_bytes(parts.test.instances(np.arange(1)))
    for method in spec.methods:  # a model that one of them cannot explain is refused at once
        score_pixels(method, classifier, first, np.zeros(1, np.int64))
    report("looking at pictures", 0, len(parts.test))
    test = load_photos(parts.test)
    logits = classifier.scores(test.pictures)
    report("looking at pictures", len(test), len(test))
    predicted = np.asarray(logits.argmax(1), np.int64)
    best = np.sort(logits, 1)
    sure = best[:, -1] - best[:, -2] >= MARGIN
    chosen = select(test.labels, predicted, sure, classifier.names, spec, seed)
    report("explaining", 0, len(chosen))
    set_photos = photos_of(classifier, parts.test)
    photos, files, levels = _photos(
        classifier, set_photos, chosen, test.labels, predicted, logits, spec.methods
    )
    report("explaining", len(chosen), len(chosen))
    ids = set_photos.ids
    card = classifier.card
    manifest = Manifest(
        id=spec.id,
        title=spec.title,
        source=set_photos.source,
        licence=set_photos.licence,
        kind="scores",
        method=Method(
            name=card.recipe.title,
            accuracy=round(100 * card.test.accuracy, 2),
            classifier=card.id,
            sha256=card.weights_sha256,
        ),
        classes_are=set_photos.classes_are,
        invented=set_photos.invented,
        classes=set_photos.classes(),
        photos=photos[:-1],
        correct_example=photos[-1],
        methods=tuple(ScoredMethod(id=name, name=METHODS[name].label) for name in spec.methods),
        mean_level=_mean(levels[:-1]),
        pool=confusions(ids, test.labels, predicted),
        seed=seed,
        made_with=f"labapp {__version__}, {_command(spec, seed)}",
    )
    return BuiltSet(manifest, files, len(test))


def confusions(ids: Sequence[str], labels: Int64, predicted: Int64) -> tuple[Confusion, ...]:
    """How many photos of each class the model takes for each, classes in the order of `ids`."""
    return tuple(
        Confusion(
            truth=ids[truth],
            prediction=ids[prediction],
            count=int(((labels == truth) & (predicted == prediction)).sum()),
        )
        for truth, prediction in product(range(len(ids)), repeat=2)
    )


def select(
    labels: Int64,
    predicted: Int64,
    sure: NDArray[np.bool_],
    names: Sequence[str],
    spec: ScoredSpec,
    seed: int,
) -> Int64:
    """Rows of the images in the order they are listed, the last one for the example, which is
    predicted right: int64. Raises StimuliError if there are too few. `labels`, `predicted`:
    classes, int64, shape (n,); `sure`: of predictions that can be shown."""
    random = np.random.default_rng([seed, 0])
    order = random.permutation(len(labels))
    seen = order[sure[order]]
    images: list[int] = []
    spare: list[int] = []
    for label, name in enumerate(names):
        of_class = seen[labels[seen] == label]
        right = of_class[predicted[of_class] == label].tolist()
        wrong = of_class[predicted[of_class] != label].tolist()
        if len(wrong) < spec.wrong or len(right) < spec.each - spec.wrong:
            raise StimuliError(
                f"There are too few images of {name!r} for {spec.id}: of {len(of_class)} in the "
                f"test part that the model is sure about, {len(right)} are predicted right and "
                f"{len(wrong)} wrong, but {spec.each - spec.wrong} and {spec.wrong} are needed.",
                todo="Ask for fewer images per class, or fewer wrong ones, or use a model with "
                "a larger test part.",
            )
        images += right[: spec.each - spec.wrong] + wrong[: spec.wrong]
        spare += right[spec.each - spec.wrong :][:1]
    if not spare:
        raise StimuliError(
            f"All images that the model predicts correctly are in {spec.id}, so none is left for "
            "the example.",
            todo="Ask for fewer images per class.",
        )
    mixed = [images[n] for n in random.permutation(len(images))]
    return np.array([*mixed, spare[int(random.integers(len(spare)))]], np.int64)


def _photos(
    classifier: Classifier,
    set_photos: SetPhotos,
    chosen: Int64,
    labels: Int64,
    predicted: Int64,
    logits: Float32,
    methods: Sequence[str],
) -> tuple[tuple[Photo, ...], dict[str, bytes], list[UInt8]]:
    """Photos of the manifest, the last one in no set; their files; their pixels."""
    ids = set_photos.ids
    network_sees = as_bytes(set_photos.rows.instances(chosen))
    images = set_photos.shown(chosen)
    maps = {
        method: score_pixels(method, classifier, network_sees, predicted[chosen])
        for method in methods
    }
    photos, files, levels = [], {}, []
    for place, row in enumerate(chosen.tolist()):
        guess = int(predicted[row])
        name = set_photos.photo_id(row)
        files[f"{name}.png"] = png(pixels(images[place]))
        levels.append(images[place])
        for method in methods:
            files[f"{name}-{method}.npy"] = score_files.encode_scores(maps[method][place])
        photos.append(
            Photo(
                id=name,
                set=1 if place < len(chosen) - 1 else None,
                photo=f"{name}.png",
                truth=ids[int(labels[row])],
                prediction=ids[guess],
                options=ids,
                logits=tuple(round(float(logit), 4) for logit in logits[row]),
                facts=set_photos.facts(set_photos.candidate(row, guess, eligible=True)),
                scores={method: f"{name}-{method}.npy" for method in methods},
            )
        )
    return tuple(photos), files, levels


def _mean(levels: Sequence[UInt8]) -> tuple[float] | tuple[float, float, float]:
    """Mean of grey, or of red, green and blue, 0 to 1."""
    means = [round(float(level), 4) for level in np.stack(levels).mean((0, 2, 3)) / 255]
    return (means[0],) if len(means) == 1 else (means[0], means[1], means[2])


def _command(spec: ScoredSpec, seed: int) -> str:
    shipped = spec == SCORED_SPECS.get(spec.id)
    what = spec.id if shipped else f"--model {spec.model} --id {spec.id}"
    numbers = "" if shipped else f" --images-per-class {spec.each} --wrong-per-class {spec.wrong}"
    if spec.methods != SCORINGS:
        numbers += f" --methods {','.join(spec.methods)}"
    return f"labapp stimuli build {what} --seed {seed}{numbers}"
