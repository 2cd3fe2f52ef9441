"""Whether a set of pixel scores fits together, and whether its files can rank its pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from labapp.errors import StimuliError
from labapp.stimuli import pictures, score_files
from labapp.stimuli.check_photos import Fault, twice
from labapp.stimuli.check_pictures import Pictures
from labapp.stimuli.manifest import Manifest, Photo
from labapp.stimuli.readable import Readable
from labapp.stimuli.sources import Loc

OFF = 0.5
"""Percentage points by which an accuracy may be rounded."""


def set_faults(manifest: Manifest) -> Iterator[Fault]:
    """Faults of what a set of scores says of itself."""
    if not manifest.methods:
        yield ("methods",), "missing; the methods whose scores the photos have are needed"
    for key in ("id", "name"):
        for said in twice(getattr(one, key) for one in manifest.methods):
            yield ("methods",), f"two methods have the {key} {said!r}"
    classes = [one.id for one in manifest.classes]
    known: set[tuple[str, str]] = set()
    for place, one in enumerate(manifest.pool):
        for key in ("truth", "prediction"):
            if (said := getattr(one, key)) not in classes:
                yield ("pool", place, key), f"{said!r} is not among the classes"
        if (one.truth, one.prediction) in known:
            yield ("pool", place), f"{one.truth} predicted as {one.prediction} is counted already"
        known.add((one.truth, one.prediction))


def photo_faults(photo: Photo, manifest: Manifest) -> Iterator[Fault]:
    """Faults of a photo, each with its place within the photo."""
    classes = tuple(one.id for one in manifest.classes)
    if photo.options != classes:
        found = ", ".join(photo.options) or "none"
        needed = ", ".join(classes)
        yield ("options",), f"found {found}; all classes are needed, in their order ({needed})"
    elif not photo.logits:
        yield ("logits",), "missing; the model's scores of all classes are needed"
    elif len(photo.logits) == len(classes):
        most = max(photo.logits)
        best = [name for name, logit in zip(classes, photo.logits, strict=True) if logit == most]
        if photo.prediction in classes and photo.prediction not in best:
            said = f"found {photo.prediction!r}, but {best[0]!r} has the greatest logit"
            yield ("prediction",), said
    methods = [one.id for one in manifest.methods]
    for method in methods:
        if method not in photo.scores:
            yield ("scores",), f"there are no scores of the method {method!r}"
    for method in photo.scores:
        if method not in methods:
            yield ("scores", method), f"{method!r} is not among the methods"
    for ref in twice(photo.scores.values()):
        yield ("scores",), f"{ref!r} stands for two methods"
    yield from _masked(photo, methods, len(classes))


def _masked(photo: Photo, methods: Sequence[str], classes: int) -> Iterator[Fault]:
    known: set[tuple[str, float, str, str]] = set()
    for place, one in enumerate(photo.masked):
        loc: Loc = ("masked", place)
        if one.method not in methods:
            yield (*loc, "method"), f"{one.method!r} is not among the methods"
        if len(one.logits) != classes:
            yield (*loc, "logits"), f"found {len(one.logits)} values, but {classes} classes"
        key = (one.method, one.percent, one.fill, one.sign)
        if key in known:
            said = f"{one.method}, {one.percent:g} %, {one.fill}, {one.sign}"
            yield loc, f"the photo masked by {said} is there already"
        known.add(key)


def file_faults(found: Readable, known: Pictures) -> Iterator[Fault]:
    """Faults of score files, each with its place; what can be read joins the files of the set."""
    grid: tuple[int, ...] | None = None
    for loc, photo in found.every_photo():
        size = known.size(photo.photo)
        if (
            size is not None
            and known.grey(photo.photo)
            and len(found.manifest.mean_level or ()) > 1
        ):
            said = f"{photo.photo!r} is grey, but mean_level has red, green and blue"
            yield (*loc, "photo"), said
        for method, ref in photo.scores.items():
            place: Loc = (*loc, "scores", method)
            try:
                content = pictures.content_of(known.folder, ref, score_files.SCORES)
                scores = score_files.decoded(content, ref)
            except StimuliError as error:
                yield place, f"{error.what} {error.todo}"
                continue
            known.files[ref] = content
            if grid is None:
                grid = scores.shape
            if scores.shape != grid:
                said = f"{ref!r} is of {_shape(scores.shape)} cells, others of {_shape(grid)}"
                yield place, f"{said}; one grid for all is needed"
            elif size is not None and (size[0] % grid[1] or size[1] % grid[0]):
                said = f"a photo of {size[0]} × {size[1]} pixels has no whole blocks for "
                yield place, f"{said}{_shape(grid)} cells"
            if float(np.ptp(scores)) == 0:
                known.flat.append(ref)


def _shape(grid: tuple[int, ...]) -> str:
    return f"{grid[1]} × {grid[0]}"


def warnings(manifest: Manifest, known: Pictures) -> Iterator[str]:
    """What can be shown, but is hardly meant."""
    for ref in known.flat:
        yield f"all scores in {ref!r} are equal: its pixels are shown in an order by chance"
    if manifest.mean_level is None:
        said = "mean_level is missing: masked pixels cannot become the mean of the pictures"
        levels = [known.mean(photo.photo) for photo in manifest.photos]
        mean = [round(float(one), 4) for one in np.mean(np.broadcast_arrays(*levels), 0)]
        yield f"{said}, as they do where a study says nothing else; of these photos it is {mean}"
    if all(photo.correct for photo in manifest.photos):
        yield "the model is right in all photos: nobody can be found to follow its errors"
    if manifest.pool:
        count = sum(one.count for one in manifest.pool)
        right = sum(one.count for one in manifest.pool if one.truth == one.prediction)
        if count == 0 or abs(100 * right / count - manifest.method.accuracy) > OFF:
            yield (
                f"pool counts {right} of {count} photos as right, but the accuracy of the model is "
                f"{manifest.method.accuracy:g} %"
            )
    asked = Counter(
        (one.method, one.percent, one.fill, one.sign)
        for photo in manifest.photos
        for one in photo.masked
    )
    missing = [key for key, count in asked.items() if count < len(manifest.photos)]
    if missing:
        method, percent, fill, sign = missing[0]
        yield (
            f"what the model makes of masked photos is not there for every photo: e.g. {method}, "
            f"{percent:g} %, {fill}, {sign} for {asked[missing[0]]} of {len(manifest.photos)}"
        )
