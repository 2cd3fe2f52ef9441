"""`labapp models evaluate` of a classifier: its test numbers computed again, beside the card's, and
where its explanations point."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from labapp.models.datasets.birds import (
    GENERA,
    SISTERS,
    SPECIES,
    Bird,
    BirdRows,
    BodyPart,
    deciding_visibility,
    mark_places,
    part_map,
)
from labapp.models.datasets.split import Float32, Float64, Int64
from labapp.models.explanations import package
from labapp.models.explanations.package import (
    HUNDRED,
    VISIBLE,
    BirdTest,
    ClassNumbers,
    ClassTest,
    Pointing,
)
from labapp.models.explanations.photos import Photos, load_photos

TOLERANCE = 3
"""Pictures in each thousand whose prediction may change by rounding on another machine."""


def evaluate(
    model: str | Path, root: Path | None = None, *, data_folder: Path | None = None
) -> dict[str, Any]:
    """Classify the whole test part again; `data_folder`: of the pictures of a classifier that was
    trained on a folder. Returns "computed" and "card", what the card says under `test` without
    pictures and hits, and "agrees": whether no more pictures are judged otherwise than rounding
    explains (`TOLERANCE`). Raises ModelError and DatasetError: the package, or the folder, is
    refused."""
    classifier = package.load(model, root=root)
    photos = load_photos(classifier.card.recipe.data.load(data_folder).test)
    predicted = classifier.predicted(photos.pictures)
    computed = test_result(photos, predicted, classifier.names)
    stated = classifier.card.test
    return {
        "model": classifier.card.id,
        "pictures": len(photos),
        "computed": _plain(computed),
        "card": _plain(stated),
        "agrees": _agree(computed, stated),
    }


def table(result: dict[str, Any]) -> list[str]:
    """The result as lines to read: one number per line, as computed and on the card."""
    computed, stated = _flat(result["computed"]), _flat(result["card"])
    width = max(map(len, computed))
    rows = [
        f"{name:{width}}  {_cell(value):>10}  {_cell(stated[name]):>10}"
        for name, value in computed.items()
    ]
    return [
        f"{result['model']}: {result['pictures']:,} test pictures",
        f"{'':{width}}  {'computed':>10}  {'card':>10}",
        *rows,
        "agrees" if result["agrees"] else "does not agree",
    ]


def _plain(bird_test: BirdTest | ClassTest) -> dict[str, Any]:
    return bird_test.model_dump(mode="json", exclude={"pictures", "hits"})


def _flat(numbers: dict[str, Any]) -> dict[str, float]:
    if "classes" in numbers:
        flat = {"accuracy": numbers["accuracy"], "errors": numbers["errors"]}
        for name, share in [*numbers["classes"].items(), ("average", numbers["average"])]:
            flat |= {f"{name}: {what}": value for what, value in share.items()}
        return flat
    recall = numbers["recall"]
    shown = {name.replace("_", " "): value for name, value in numbers.items() if name != "recall"}
    return shown | {"lowest recall": min(recall), "highest recall": max(recall)}


def _cell(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.4f}"


def _agree(computed: BirdTest | ClassTest, stated: BirdTest | ClassTest) -> bool:
    if computed.pictures != stated.pictures:
        return False
    allowed = max(TOLERANCE * stated.pictures / 1_000, 1)
    apart = sum(abs(a - b) for a, b in zip(computed.hits, stated.hits, strict=True))
    if isinstance(computed, ClassTest) or isinstance(stated, ClassTest):
        return (
            isinstance(computed, ClassTest)
            and isinstance(stated, ClassTest)
            and apart <= allowed
            # Half of all differences: a picture that moved is in two cells.
            and np.abs(np.subtract(computed.confusion, stated.confusion)).sum() / 2 <= allowed
        )
    inside = abs(computed.usable - stated.usable)
    recalled = max(abs(a - b) for a, b in zip(computed.recall, stated.recall, strict=True))
    in_each = stated.pictures / len(stated.recall)
    return apart <= allowed and inside <= allowed and recalled * in_each <= allowed + 1e-6


POINTED = 200
"""Test pictures on which the explanations of a method are measured."""
CELL = 1 / 12
"""How near to a mark a peak must be, as a share of the picture: a cell of a 12 x 12 map."""


def test_result(
    photos: Photos[Any], predicted: Int64, names: Sequence[str]
) -> BirdTest | ClassTest:
    """The card's numbers: of birds with genera and marks, of others by class. `names`: of all
    classes, in the order of their numbers."""
    if isinstance(photos.rows, BirdRows):
        return bird_test(photos, predicted)
    return class_test(photos.labels, predicted, names)


def bird_test(photos: Photos[BirdRows], predicted: Int64) -> BirdTest:
    """The card's numbers from what was predicted of each picture."""
    right = predicted == photos.species
    genus_right = predicted // SISTERS == photos.genus
    errors = int((~right).sum())
    usable = np.flatnonzero(~right & genus_right)
    visible = [deciding_visibility(photos.rows.bird(int(row))) >= VISIBLE for row in usable]
    return BirdTest(
        pictures=len(photos),
        accuracy=_share(right),
        genus_accuracy=_share(genus_right),
        recall=[_share(right[photos.species == species]) for species in range(SPECIES)],
        hits=hits(right),
        errors=errors,
        inside_genus=round(len(usable) / max(errors, 1), 4),
        usable=len(usable),
        decidable=_share(np.array(visible, bool)),
    )


def class_test(labels: Int64, predicted: Int64, names: Sequence[str]) -> ClassTest:
    """The card's numbers of classes that are distinguished only by their names. `labels`,
    `predicted`: classes from 0, shape (n,); `names`: of all classes, in that order."""
    right = predicted == labels
    every = np.arange(len(names))
    scored = np.array(
        precision_recall_fscore_support(labels, predicted, labels=every, zero_division=0)
    )
    averaged = precision_recall_fscore_support(
        labels, predicted, labels=every, average="weighted", zero_division=0
    )
    return ClassTest(
        pictures=len(labels),
        accuracy=_share(right),
        classes={name: _numbers(*column) for name, column in zip(names, scored.T, strict=True)},
        average=_numbers(averaged[0], averaged[1], averaged[2], len(labels)),
        confusion=confusion_matrix(labels, predicted, labels=every).tolist(),
        hits=hits(right),
        errors=int((~right).sum()),
    )


def _numbers(precision: float, recall: float, f1: float, support: float) -> ClassNumbers:
    return ClassNumbers(
        precision=round(float(precision), 4),
        recall=round(float(recall), 4),
        f1=round(float(f1), 4),
        support=int(support),
    )


def hits(right: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[int]:
    """Right answers in each hundred pictures in turn."""
    return [int(right[at : at + HUNDRED].sum()) for at in range(0, len(right), HUNDRED)]


def pointing(peaks: Float32, birds: Sequence[Bird], size: int) -> Pointing:
    """Where the peaks of explanations lie. peaks: y and x of each, in pixels of a picture of
    `size`: shape (n, 2); birds: of the same pictures."""
    marked, on_bird, area = _hits(peaks, birds, size)
    return Pointing(
        pictures=len(birds),
        on_mark=_share(marked),
        by_chance=round(float(area.mean()), 4),
        on_bird=_share(on_bird),
    )


def on_parts(peaks: Float32, birds: Sequence[Bird], size: int) -> float:
    """Share of the peaks that lie on the bird or within a cell of a mark that tells its species.

    Parameters as for `pointing`.
    """
    marked, on_bird, _ = _hits(peaks, birds, size)
    return _share(marked | on_bird)


def _hits(
    peaks: Float32, birds: Sequence[Bird], size: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Float64]:
    """Which peaks are near a deciding mark, which on the bird, and what area counts as near."""
    marked, on_bird, area = [], [], []
    for peak, bird in zip(peaks, birds, strict=True):
        y, x = np.rint(peak).astype(int).clip(0, size - 1)
        first, second = GENERA[bird.genus].deciding
        places = mark_places(bird, size)
        near = _distance(places[first] | places[second]) <= CELL * size
        part = part_map(bird, size)[y, x]
        marked.append(bool(near[y, x]))
        area.append(float(near.mean()))
        on_bird.append(bool(BodyPart.TAIL <= part <= BodyPart.EYE))
    return np.array(marked), np.array(on_bird), np.array(area)


def peaks(maps: Float32, stride: float) -> Float32:
    """Pixels (y, x) at which maps (n, h, w) are greatest: float32, shape (n, 2).

    Position i of the networks' maps sees pixels around `stride` times i.
    """
    flat = maps.reshape(len(maps), -1).argmax(1)
    places = np.stack(np.unravel_index(flat, maps.shape[1:]), axis=1)
    return (places * stride).astype(np.float32)


def sisters(maps: Float32, species: Int64) -> float:
    """Mean correlation of a species' map with its sisters': `maps` (n, 20, h, w).

    Maps that are flat agree with nothing and count as 0.
    """
    result = []
    for all_maps, number in zip(maps.reshape(len(maps), SPECIES, -1), species, strict=True):
        first = number - number % SISTERS
        centred = all_maps - all_maps.mean(1, keepdims=True)
        length = np.linalg.norm(centred, axis=1)
        for other in range(first, first + SISTERS):
            if other != number:
                both = length[number] * length[other]
                result.append(float(centred[number] @ centred[other] / both) if both > 0 else 0.0)
    return round(float(np.mean(result)), 4)


def _distance(there: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Float32:
    """Pixels from each pixel to the nearest one that is `there`; far where there is none."""
    if not there.any():
        return np.full(there.shape, np.inf, np.float32)
    return np.asarray(ndimage.distance_transform_edt(~there), np.float32)


def _share(values: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> float:
    return round(float(values.mean()), 4) if values.size else 0.0
