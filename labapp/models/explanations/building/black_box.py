"""Stimulus sets about a classifier of a lab's own, of which nothing is known but its outputs.

The classifier is an ONNX file that takes pictures, float32 (n, channels, size, size), and gives a
score a class; ONNX Runtime computes it. Methods that need its inside (gradients, LRP) cannot
explain it. Two that change what it sees can:

* `occlusion`: how much the class's score falls when a cell of the picture is set to the mean level
  (Zeiler and Fergus, 2014).
* `rise`: the class's mean score over random masks in which a cell is seen, less its mean over all
  (Petsiuk, Das and Saenko, 2018; here cells are kept or set to the mean level, without smoothing).

The set keeps what the classifier makes of every picture, masked as studies do by default: they need
neither the classifier nor ONNX Runtime.

Stimulus sets of heatmaps about a classifier of a lab's own: photos with one for each option.

Heatmaps are those of `black_box`, of every class of a photo on one scale, so that they can be
compared: white speaks for the class, black against it, the middle says nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labapp import __version__
from labapp.base.errors import StimuliError
from labapp.base.reading import files as reading
from labapp.models.datasets import folder as folders
from labapp.models.datasets.painter import average_blocks
from labapp.models.datasets.split import Float32, Int64
from labapp.models.explanations.building.pixel_score_sets import confusions, select
from labapp.models.explanations.building.sets import (
    BuiltSet,
    Candidate,
    Progress,
    ScoredSpec,
    Selection,
    SetSize,
    TooFewPhotos,
    options,
)
from labapp.models.explanations.building.sets import select as select_photos
from labapp.models.explanations.data import ids_of
from labapp.models.representations import onnx_backend
from labapp.models.representations.importing.latents import Format, graph_of
from labapp.models.stimuli import masked_pictures, score_files
from labapp.models.stimuli.manifest import (
    Class_,
    Classifier,
    Manifest,
    MaskedOutput,
    Method,
    Photo,
    ScoredMethod,
)
from labapp.models.stimuli.pictures import png
from labapp.models.training import files

UInt8 = NDArray[np.uint8]
Predict = Callable[[UInt8], Float32]
"""Pictures, uint8 (n, channels, size, size) -> scores of the classes, float32 (n, classes)."""
LEAST_SIDE = 512
"""Pictures are shown with so many pixels a side if they have them, rounded up to a whole
multiple of the model's."""
MOST_CELLS = 14
"""Cells of a side of an explanation, at most."""
MASKS = 400
_ADVICE = (
    "Check --size, --grey and --classes, which describe the classifier's input and the number "
    "of its scores."
)
CHUNK = 50
METHODS = {"occlusion": "Occlusion", "rise": "RISE"}
DIGITS = 4


@dataclass(frozen=True, slots=True)
class BlackBox:
    """What is to be known of a classifier besides its file.

    Attributes
    ----------
    file : the file that it came as.
    names : of the classes, in the order of its scores.
    size : width and height of the pictures it takes, in pixels.
    channels : 1 for grey, 3 for red, green and blue.
    mean, std : of each channel, of levels from 0 to 1, by which its inputs are normalised.
    format : of the file.
    trusted : whether a file that is a program is opened though it cannot be shut in.
    """

    file: Path
    names: tuple[str, ...]
    size: int
    channels: int = 3
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)
    format: Format = "onnx"
    trusted: bool = False

    @property
    def sha256(self) -> str:
        return files.digest(files.read_bytes(self.file))

    def card(self, pictures: int) -> Classifier:
        """What a set says of the classifier. pictures: on which its accuracy was measured."""
        return Classifier(
            file=self.file.name,
            format=self.format,
            sha256=self.sha256,
            size=self.size,
            channels=1 if self.channels == 1 else 3,
            mean=self.mean,
            std=self.std,
            pictures=pictures,
        )

    def predictor(self) -> Predict:
        """The classifier. Raises ModelError: it cannot be read, or is no such classifier."""
        shapes = (self.channels, self.size, self.size), (len(self.names),)
        graph = graph_of(self.file, self.format, *shapes, todo=_ADVICE, trusted=self.trusted)
        run = onnx_backend.graph(graph, str(self.file), *shapes, todo=_ADVICE)
        mean, std = (
            np.array(values, np.float32).reshape(-1, 1, 1) for values in (self.mean, self.std)
        )

        def predict(pictures: UInt8) -> Float32:
            starts = range(0, len(pictures), CHUNK)
            return np.concatenate(
                [
                    run(
                        (pictures[at : at + CHUNK].astype(np.float32) / np.float32(255) - mean)
                        / std
                    )
                    for at in starts
                ]
            )

        return predict


def build(
    box: BlackBox, images: Path, spec: ScoredSpec, *, seed: int, progress: Progress
) -> BuiltSet:
    """Build a set of pixel scores from pictures in folders that are called as the classes. Raises
    ModelError: the classifier cannot be used; DatasetError: the pictures cannot be read;
    StimuliError: too few are predicted right, or wrong."""
    predict = box.predictor()
    shown, labels = pictures(box, images, progress)
    seen = average_blocks(shown, box.size)
    logits = predict(seen)
    predicted = np.asarray(logits.argmax(1), np.int64)
    ids = ids_of(box.names)
    sure = np.ptp(np.sort(logits, 1)[:, -2:], axis=1) > 10.0**-DIGITS
    chosen = select(labels, predicted, sure, box.names, spec, seed)
    mean = tuple(round(float(level), 4) for level in shown[chosen[:-1]].mean((0, 2, 3)) / 255)
    cells = cells_of(box.size)
    photos: list[Photo] = []
    made: dict[str, bytes] = {}
    for place, row in enumerate(chosen.tolist()):
        progress("explaining", place, len(chosen))
        name = f"photo-{row + 1:04d}"
        picture = shown[row].transpose(1, 2, 0).squeeze()
        scores = explain(predict, seen[row], int(predicted[row]), mean, cells, seed)
        made[f"{name}.png"] = png(picture)
        for method in spec.methods:
            made[f"{name}-{method}.npy"] = score_files.encode_scores(scores[method])
        photos.append(
            Photo(
                id=name,
                set=1 if place < len(chosen) - 1 else None,
                photo=f"{name}.png",
                truth=ids[labels[row]],
                prediction=ids[predicted[row]],
                options=ids,
                logits=_round_logits(logits[row]),
                scores={method: f"{name}-{method}.npy" for method in spec.methods},
                masked=tuple(
                    output
                    for method in spec.methods
                    for output in _predict_masked(
                        box, predict, picture, method, scores[method], mean
                    )
                ),
            )
        )
    progress("explaining", len(chosen), len(chosen))
    manifest = Manifest(
        id=spec.id,
        title=spec.title,
        source=f"Pictures of the folder {images.name}",
        kind="scores",
        method=Method(
            name=spec.title, accuracy=round(100 * float((predicted == labels).mean()), 2)
        ),
        classifier=box.card(len(labels)),
        classes_are="objects",
        classes=tuple(Class_(id=id_, name=name) for id_, name in zip(ids, box.names, strict=True)),
        photos=tuple(photos[:-1]),
        correct_example=photos[-1],
        methods=tuple(ScoredMethod(id=name, name=METHODS[name]) for name in spec.methods),
        mean_level=(mean[0],) if len(mean) == 1 else (mean[0], mean[1], mean[2]),
        pool=confusions(ids, labels, predicted),
        seed=seed,
        made_with=f"labapp {__version__}, labapp stimuli explain --{box.format} "
        f"{box.file.name} (SHA-256 {box.sha256}) --seed {seed}",
    )
    return BuiltSet(manifest, made, len(labels))


def explain(
    predict: Predict, picture: UInt8, class_: int, mean: Sequence[float], cells: int, seed: int
) -> dict[str, NDArray[np.float64]]:
    """The maps of `explain_classes` for one class, by method: (cells, cells)."""
    made = explain_classes(predict, picture, mean, cells, seed)
    return {method: maps[class_] for method, maps in made.items()}


def explain_classes(
    predict: Predict, picture: UInt8, mean: Sequence[float], cells: int, seed: int
) -> dict[str, NDArray[np.float64]]:
    """How much each cell of a picture speaks for each class, by every method: float64, shape
    (classes, cells, cells). picture: uint8 (channels, size, size); mean: level of what is hidden,
    from 0 to 1."""
    size = picture.shape[-1] // cells
    hidden = np.rint(np.array(mean).reshape(-1, 1, 1) * 255).astype(np.uint8)

    def scores(keep: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Of the classes, (classes, n), where cells (n, cells, cells) are kept, others hidden."""
        pixels = keep.repeat(size, 1).repeat(size, 2)[:, None]
        parts = [
            predict(np.where(pixels[at : at + CHUNK], picture, hidden))
            for at in range(0, len(keep), CHUNK)
        ]
        return np.concatenate(parts).T.astype(np.float64)

    whole = predict(picture[None])[0].astype(np.float64)
    one_less = ~np.eye(cells * cells, dtype=np.bool_).reshape(-1, cells, cells)
    random = np.random.default_rng([seed, 1]).random((MASKS, cells, cells)) < 0.5
    of_masks = scores(random)
    seen = random.sum(0).clip(1)
    return {
        "occlusion": (whole[:, None] - scores(one_less)).reshape(-1, cells, cells),
        "rise": np.tensordot(of_masks - of_masks.mean(1, keepdims=True), random, 1) / seen,
    }


def _predict_masked(
    box: BlackBox,
    predict: Predict,
    picture: UInt8,
    method: str,
    scores: NDArray[np.float64],
    mean: Sequence[float],
) -> list[MaskedOutput]:
    """What the classifier makes of the picture masked as studies do by default, by either sign."""
    stored = score_files.decode_scores(score_files.encode_scores(scores), method)
    level, percents = masked_pictures.level("mean", mean), masked_pictures.sizes()
    rankings = {
        sign: masked_pictures.ranking(stored, sign) for sign in masked_pictures.SIGNS.values()
    }
    shown = [(sign, percent) for sign in rankings for percent in percents]
    pictures = np.stack(
        [
            masked_pictures.apply_mask(
                picture, masked_pictures.first(rankings[sign], percent, scores.shape), level
            )
            for sign, percent in shown
        ]
    )
    planes = pictures[:, None] if pictures.ndim == 3 else pictures.transpose(0, 3, 1, 2)
    logits = predict(average_blocks(planes, box.size))
    return [
        MaskedOutput(
            method=method, percent=percent, fill="mean", sign=sign, logits=_round_logits(of)
        )
        for (sign, percent), of in zip(shown, logits, strict=True)
    ]


def pictures(box: BlackBox, images: Path, progress: Progress) -> tuple[UInt8, Int64]:
    """The pictures as people see them, uint8 (n, channels, side, side), and their classes."""
    of_class = folders.files_of(images, box.names)
    paths = [(number, path) for number, name in enumerate(of_class) for path in of_class[name]]
    side = box.size * _times(box.size, [path for _, path in paths])
    made = []
    for place, (_, path) in enumerate(paths):
        progress("looking at pictures", place, len(paths))
        made.append(folders.pixels(path, size=side, channels=box.channels)[1])
    progress("looking at pictures", len(paths), len(paths))
    return np.stack(made), np.array([number for number, _ in paths], np.int64)


def _times(size: int, paths: Sequence[Path]) -> int:
    """How many pixels of a side people see for one of the model's: as many as the smallest picture
    has, and no more than `LEAST_SIDE` needs."""
    from PIL import Image, UnidentifiedImageError

    times = -(-LEAST_SIDE // size)
    for path in paths:
        try:
            with reading.open_file(path) as stream, Image.open(stream) as image:
                times = min(times, min(image.size) // size)
        except (OSError, UnidentifiedImageError, Image.DecompressionBombError):
            continue  # told when it is read
    return max(times, 1)


def cells_of(size: int) -> int:
    """Cells of a side, a divisor of the model's size. Raises StimuliError if there is none."""
    cells = max(n for n in range(1, MOST_CELLS + 1) if size % n == 0)
    if cells < 4:
        raise StimuliError(
            f"Pictures of {size} pixels a side cannot be divided into 4 to {MOST_CELLS} cells.",
            todo="Use a classifier with another picture size, such as 224.",
        )
    return cells


def _round_logits(logits: Float32) -> tuple[float, ...]:
    return tuple(round(float(logit), DIGITS) for logit in logits)


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
    shown, labels = pictures(box, images, progress)
    seen = average_blocks(shown, box.size)
    logits = predict(seen)
    predicted = logits.argmax(1)
    candidates = [
        Candidate(row, truth, guess, group=truth, mistake=0 if truth == guess else guess + 1)
        for row, (truth, guess) in enumerate(zip(labels.tolist(), predicted.tolist(), strict=True))
    ]
    chosen = _choose_photos(candidates, wanted, seed, box)
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
        cells = cells_of(box.size)
        maps = explain_classes(predict, seen[row], mean, cells, seed)[method]
        name = f"photo-{row + 1:04d}"
        files[f"{name}.png"] = png(shown[row].transpose(1, 2, 0).squeeze())
        heatmaps = tuple(f"{name}-{number}.png" for number in range(1, len(places) + 1))
        for heatmap, class_ in zip(heatmaps, places, strict=True):
            files[heatmap] = png(_draw_heatmap(maps, class_))
        photos.append(
            Photo(
                id=name,
                set=number,
                photo=f"{name}.png",
                truth=ids[candidate.truth],
                prediction=ids[candidate.prediction],
                options=tuple(ids[class_] for class_ in places),
                heatmaps=heatmaps,
                logits=tuple(round(float(logits[row, k]), DIGITS) for k in places),
                strengths=tuple(round(float(maps[k].max()), DIGITS) for k in places),
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


def _choose_photos(
    candidates: list[Candidate], wanted: SetSize, seed: int, box: BlackBox
) -> Selection:
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
            f"There are too few pictures for {wanted.sets} sets of {wanted.right} right and "
            f"{wanted.wrong} wrong predictions and an example of each ({few}). {classes}.",
            todo="Ask for fewer with --sets, --right-per-set and --wrong-per-set, or give more "
            "pictures.",
        ) from few


def _draw_heatmap(maps: NDArray[np.float64], class_: int) -> UInt8:
    """The heatmap of a class in grey: 0.5 says nothing, 1 is the most that any class has."""
    most = float(np.abs(maps).max()) or 1.0
    grey: UInt8 = np.rint((maps[class_] / most / 2 + 0.5) * 255).astype(np.uint8)
    return np.kron(grey, np.ones((ENLARGED, ENLARGED), np.uint8))
