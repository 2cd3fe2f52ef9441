"""Whether a set of pixel scores fits together, and whether its files can rank its pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from labapp.base.errors import StimuliError
from labapp.models.stimuli import pictures, score_files
from labapp.models.stimuli.check_photos import Fault, PictureFiles, twice
from labapp.models.stimuli.manifest import Manifest, Photo
from labapp.models.stimuli.sources import Loc, ReadableSet

OFF = 0.5
"""Percentage points by which an accuracy may be rounded."""


def score_set_faults(manifest: Manifest) -> Iterator[Fault]:
    """Faults of what a set of scores says of itself."""
    if not manifest.methods:
        yield ("methods",), "missing; the methods whose scores the photos have are needed"
    for key in ("id", "name"):
        for text in twice(getattr(method, key) for method in manifest.methods):
            yield ("methods",), f"two methods have the {key} {text!r}"
    classes = [class_.id for class_ in manifest.classes]
    counted: set[tuple[str, str]] = set()
    for place, cell in enumerate(manifest.pool):
        for key in ("truth", "prediction"):
            if (class_ := getattr(cell, key)) not in classes:
                yield ("pool", place, key), f"{class_!r} is not among the classes"
        if (cell.truth, cell.prediction) in counted:
            yield ("pool", place), f"{cell.truth} predicted as {cell.prediction} is counted already"
        counted.add((cell.truth, cell.prediction))


def score_photo_faults(photo: Photo, manifest: Manifest) -> Iterator[Fault]:
    """Faults of a photo, each with its place within the photo."""
    classes = tuple(class_.id for class_ in manifest.classes)
    if photo.options != classes:
        options = ", ".join(photo.options) or "none"
        needed = ", ".join(classes)
        yield ("options",), f"found {options}; all classes are needed, in their order ({needed})"
    elif not photo.logits:
        yield ("logits",), "missing; the model's scores of all classes are needed"
    elif len(photo.logits) == len(classes):
        most = max(photo.logits)
        best = [name for name, logit in zip(classes, photo.logits, strict=True) if logit == most]
        if photo.prediction in classes and photo.prediction not in best:
            fault = f"found {photo.prediction!r}, but {best[0]!r} has the greatest logit"
            yield ("prediction",), fault
    methods = [method.id for method in manifest.methods]
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
    keys: set[tuple[str, float, str, str]] = set()
    for place, masked in enumerate(photo.masked):
        loc: Loc = ("masked", place)
        if masked.method not in methods:
            yield (*loc, "method"), f"{masked.method!r} is not among the methods"
        if len(masked.logits) != classes:
            yield (*loc, "logits"), f"found {len(masked.logits)} values, but {classes} classes"
        key = (masked.method, masked.percent, masked.fill, masked.sign)
        if key in keys:
            masking = f"{masked.method}, {masked.percent:g} %, {masked.fill}, {masked.sign}"
            yield loc, f"the photo masked by {masking} is there already"
        keys.add(key)


def score_file_faults(stimulus_set: ReadableSet, picture_files: PictureFiles) -> Iterator[Fault]:
    """Faults of score files, each with its place; what can be read joins the files of the set."""
    grid: tuple[int, ...] | None = None
    for loc, photo in stimulus_set.every_photo():
        size = picture_files.sizes.get(photo.photo)
        if (
            size is not None
            and photo.photo in picture_files.grey
            and len(stimulus_set.manifest.mean_level or ()) > 1
        ):
            fault = f"{photo.photo!r} is grey, but mean_level has red, green and blue"
            yield (*loc, "photo"), fault
        for method, ref in photo.scores.items():
            place: Loc = (*loc, "scores", method)
            try:
                content = pictures.content_of(picture_files.folder, ref, score_files.SCORES)
                scores = score_files.decode_scores(content, ref)
            except StimuliError as error:
                yield place, f"{error.what} {error.todo}"
                continue
            picture_files.files[ref] = content
            if grid is None:
                grid = scores.shape
            if scores.shape != grid:
                fault = f"{ref!r} is of {_grid(scores.shape)} cells, others of {_grid(grid)}"
                yield place, f"{fault}; one grid for all is needed"
            elif size is not None and (size[0] % grid[1] or size[1] % grid[0]):
                text = f"a photo of {size[0]} × {size[1]} pixels has no whole blocks for "
                yield place, f"{text}{_grid(grid)} cells"
            if float(np.ptp(scores)) == 0:
                picture_files.flat.append(ref)


def _grid(grid: tuple[int, ...]) -> str:
    return f"{grid[1]} × {grid[0]}"


def score_warnings(manifest: Manifest, picture_files: PictureFiles) -> Iterator[str]:
    """What can be shown, but is probably a mistake."""
    for ref in picture_files.flat:
        yield f"all scores in {ref!r} are equal: its pixels are shown in an order by chance"
    if manifest.mean_level is None:
        fault = "mean_level is missing: masked pixels cannot become the mean of the pictures"
        levels = [picture_files.mean(photo.photo) for photo in manifest.photos]
        mean = [round(float(level), 4) for level in np.mean(np.broadcast_arrays(*levels), 0)]
        yield f"{fault}, as they do where a study says nothing else; of these photos it is {mean}"
    if all(photo.correct for photo in manifest.photos):
        yield "the model is right in all photos: nobody can follow its errors"
    if manifest.pool:
        count = sum(cell.count for cell in manifest.pool)
        right = sum(cell.count for cell in manifest.pool if cell.truth == cell.prediction)
        if count == 0 or abs(100 * right / count - manifest.method.accuracy) > OFF:
            yield (
                f"pool counts {right} of {count} photos as right, but the accuracy of the model is "
                f"{manifest.method.accuracy:g} %"
            )
    photos_of = Counter(
        (masked.method, masked.percent, masked.fill, masked.sign)
        for photo in manifest.photos
        for masked in photo.masked
    )
    missing = [key for key, count in photos_of.items() if count < len(manifest.photos)]
    if missing:
        method, percent, fill, sign = missing[0]
        yield (
            f"the model's output for masked photos is missing for some photos: e.g. {method}, "
            f"{percent:g} %, {fill}, {sign} for {photos_of[missing[0]]} of {len(manifest.photos)}"
        )
