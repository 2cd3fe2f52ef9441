"""Stimulus sets of heatmaps about a classifier of a lab's own: photos with one for each option.

Heatmaps are those of `black_box`, of every class of a photo on one scale, so that they can be
compared: white speaks for the class, black against it, the middle says nothing.
"""

from __future__ import annotations

from collections import Counter
from math import ceil
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labapp import __version__
from labapp.base.errors import StimuliError
from labapp.models.datasets.painter import average_blocks
from labapp.models.explanations.building import black_box
from labapp.models.explanations.building.black_box import METHODS, BlackBox, UInt8
from labapp.models.explanations.building.build import BuiltSet, Progress
from labapp.models.explanations.building.sets import (
    Candidate,
    Selection,
    SetSize,
    TooFewPhotos,
    options,
)
from labapp.models.explanations.building.sets import (
    select as select_photos,
)
from labapp.models.explanations.data import ids_of
from labapp.models.stimuli.manifest import Class_, Manifest, Method, Photo
from labapp.models.stimuli.pictures import png

ENLARGED = 8
"""Pixels of a side that a cell has in the stored heatmaps."""


def build_heatmaps(
    box: BlackBox,
    images: Path,
    *,
    set_id: str,
    title: str,
    method: str,
    wanted: SetSize,
    seed: int,
    progress: Progress,
) -> BuiltSet:
    """Build a set of heatmaps from pictures in folders that are called as the classes. Raises
    ModelError: the classifier cannot be used. Raises DatasetError: the pictures cannot be read.
    Raises StimuliError: too few are predicted right, or wrong. `method`: "occlusion" or "rise".
    `wanted`: photos in a set that are predicted right and wrong, and the number of sets."""
    predict = box.predictor()
    shown, labels = black_box.pictures(box, images, progress)
    seen = average_blocks(shown, box.size)
    logits = predict(seen)
    predicted = logits.argmax(1)
    candidates = [
        Candidate(row, truth, guess, group=truth, mistake=0 if truth == guess else guess + 1)
        for row, (truth, guess) in enumerate(zip(labels.tolist(), predicted.tolist(), strict=True))
    ]
    chosen = _chosen(candidates, wanted, seed, box)
    ids = ids_of(box.names)
    mean = tuple(float(level) for level in shown.mean((0, 2, 3)) / 255)
    numbers = [number for number, photos in enumerate(chosen.sets, start=1) for _ in photos]
    photos: list[Photo] = []
    files: dict[str, bytes] = {}
    everything = chosen.all()
    for place, (candidate, number) in enumerate(
        zip(everything, [*numbers, None, None], strict=True)
    ):
        progress("explaining", place, len(everything))
        row = candidate.row
        random = np.random.default_rng([seed, 2, row])
        places = options(logits[row].tolist(), candidate.truth, random=random)
        cells = black_box.cells_of(box.size)
        maps = black_box.explain_classes(predict, seen[row], mean, cells, seed)[method]
        name = f"photo-{row + 1:04d}"
        files[f"{name}.png"] = png(shown[row].transpose(1, 2, 0).squeeze())
        heatmaps = tuple(f"{name}-{number}.png" for number in range(1, len(places) + 1))
        for heatmap, class_ in zip(heatmaps, places, strict=True):
            files[heatmap] = png(_shown(maps, class_))
        photos.append(
            Photo(
                id=name,
                set=number,
                photo=f"{name}.png",
                truth=ids[candidate.truth],
                prediction=ids[candidate.prediction],
                options=tuple(ids[class_] for class_ in places),
                heatmaps=heatmaps,
                logits=tuple(round(float(logits[row, k]), black_box.DIGITS) for k in places),
                strengths=tuple(round(float(maps[k].max()), black_box.DIGITS) for k in places),
            )
        )
    progress("explaining", len(everything), len(everything))
    manifest = Manifest(
        id=set_id,
        title=title,
        source=f"Pictures of the folder {images.name}",
        kind="heatmaps",
        method=Method(
            name=METHODS[method],
            accuracy=round(100 * float((predicted == labels).mean()), 2),
            sha256=box.sha256,
        ),
        classifier=box.card(len(labels)),
        classes_are="objects",
        scale="signed",
        classes=tuple(Class_(id=id_, name=name) for id_, name in zip(ids, box.names, strict=True)),
        photos=tuple(photos[:-2]),
        correct_example=photos[-2],
        incorrect_example=photos[-1],
        seed=seed,
        made_with=f"labapp {__version__}, labapp stimuli explain --kind heatmaps --{box.format} "
        f"{box.file.name} (SHA-256 {box.sha256}) --method {method} --seed {seed}",
    )
    return BuiltSet(manifest, files, len(labels))


def _chosen(candidates: list[Candidate], wanted: SetSize, seed: int, box: BlackBox) -> Selection:
    most = max(2, ceil(2 * (wanted.right + wanted.wrong) / len(box.names)))
    try:
        return select_photos(candidates, wanted, seed, most)
    except TooFewPhotos as few:
        right = Counter(box.names[c.truth] for c in candidates if c.right)
        wrong = Counter(box.names[c.truth] for c in candidates if not c.right)
        classes = "; ".join(
            f"{name}: {right[name]} right, {wrong[name]} wrong" for name in box.names
        )
        raise StimuliError(
            f"There are too few pictures for {wanted.sets} sets of {wanted.right} that are "
            f"predicted right and {wanted.wrong} wrong, and an example of each ({few}). "
            f"{classes}.",
            safe="Nothing was written.",
            todo="Ask for fewer with --sets, --right-per-set and --wrong-per-set, or give more "
            "pictures.",
        ) from few


def _shown(maps: NDArray[np.float64], class_: int) -> UInt8:
    """The heatmap of a class in grey: 0.5 says nothing, 1 is the most that any class has."""
    most = float(np.abs(maps).max()) or 1.0
    grey: UInt8 = np.rint((maps[class_] / most / 2 + 0.5) * 255).astype(np.uint8)
    return np.kron(grey, np.ones((ENLARGED, ENLARGED), np.uint8))
