"""Whether a photo and its explanation fit each other and the rest of the set, and whether the
pictures of a set are there and are what the manifest says they are."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from labapp.base.errors import StimuliError
from labapp.models.stimuli import pictures
from labapp.models.stimuli.manifest import Box, FinalSteps, Manifest, Photo, Row
from labapp.models.stimuli.sources import PLACES, Loc, ReadableSet

Fault = tuple[Loc, str]


def twice(values: Iterable[str]) -> list[str]:
    """Values that occur more than once."""
    return [value for value, count in Counter(values).items() if count > 1]


def box_fault(box: Box | None) -> str | None:
    """What is wrong with a box that lies within the picture."""
    if box is None or (box[0] < box[2] and box[1] < box[3]):
        return None
    return f"the box {list(box)} is empty; write left, top, right, bottom as shares of the picture"


def photo_faults(photo: Photo, stimulus_set: ReadableSet) -> Iterator[Fault]:
    """Faults of a photo, each with its place within the photo."""
    manifest = stimulus_set.manifest
    classes = {class_.id for class_ in manifest.classes}
    for key in ("truth", "prediction"):
        if (class_ := getattr(photo, key)) not in classes:
            yield (key,), f"{class_!r} is not among the classes"
        elif photo.options and class_ not in photo.options:
            yield (key,), f"{class_!r} is not among the options ({', '.join(photo.options)})"
    for place, option in enumerate(photo.options):
        if option not in classes:
            yield ("options", place), f"{option!r} is not among the classes"
    for option in twice(photo.options):
        yield ("options",), f"{option!r} is there twice"
    for key in ("logits", "strengths"):
        if (count := len(getattr(photo, key))) not in (0, len(photo.options)):
            yield (key,), f"found {count} values, but {len(photo.options)} options"
    match manifest.kind:
        case "heatmaps":
            yield from _heatmaps(photo)
        case "prototypes":
            yield from _prototypes(photo, manifest, stimulus_set.prototype_ids)
        case "path":
            yield from _path(photo, manifest, stimulus_set.prototype_ids)


def _heatmaps(photo: Photo) -> Iterator[Fault]:
    if len(photo.options) < 2:
        yield ("options",), f"found {len(photo.options)} classes to choose from; at least 2"
    if len(photo.heatmaps) != len(photo.options):
        fault = f"found {len(photo.heatmaps)} heatmaps, but {len(photo.options)} options"
        yield ("heatmaps",), fault
    for ref in twice(photo.heatmaps):
        yield ("heatmaps",), f"{ref!r} stands for two options"


def _prototypes(photo: Photo, manifest: Manifest, prototype_ids: frozenset[str]) -> Iterator[Fault]:
    of = {prototype.id: prototype.of for prototype in manifest.prototypes}
    groups: dict[str | None, list[tuple[int, Row]]] = {}
    for place, row in enumerate(photo.rows):
        yield from _row(row, ("rows", place), prototype_ids, region_needed=True)
        if row.prototype in of:
            groups.setdefault(of[row.prototype], []).append((place, row))
    wanted = photo.options or (photo.prediction,)
    for owner, rows in groups.items():
        if owner is not None and owner not in wanted:
            reason = f"is not {photo.prediction!r}, the prediction"
            if photo.options:
                reason = "is not among the options"
            yield ("rows", rows[0][0]), f"a prototype of {owner!r}, which {reason}"
        yield from _ranks(rows)
        for name in twice(row.prototype for _, row in rows):
            yield ("rows",), f"the prototype {name!r} is compared twice"
    if all(row.prototype in of for row in photo.rows):
        for option in wanted:
            if option not in groups:
                yield ("rows",), f"there is no row with a prototype of {option!r}"


def _ranks(rows: Sequence[tuple[int, Row]]) -> Iterator[Fault]:
    """Faults of the ranks of the rows of one class."""
    ranks = [row.rank for _, row in rows]
    if all(rank is None for rank in ranks):
        return
    place = rows[0][0]
    if any(rank is None for rank in ranks):
        yield ("rows", place), "some rows of the class have a rank and others none"
        return
    own_ranks = sorted(rank for rank in ranks if rank is not None)
    if own_ranks != list(range(1, len(rows) + 1)):
        yield ("rows", place), f"the ranks of its class are {own_ranks}; expected 1 to {len(rows)}"
        return
    ordered = sorted(rows, key=lambda placed: placed[1].rank or 0)
    for (_, better), (place, worse) in pairwise(ordered):
        if better.similarity is None or worse.similarity is None:
            continue
        if worse.similarity > better.similarity:
            said_of = f"{worse.similarity:g} at rank {worse.rank}"
            yield (
                ("rows", place, "similarity"),
                f"found {said_of}, but {better.similarity:g} at rank {better.rank}",
            )


def _path(photo: Photo, manifest: Manifest, prototype_ids: frozenset[str]) -> Iterator[Fault]:
    if not photo.rows:
        yield ("rows",), "there are no steps"
    for place, row in enumerate(photo.rows):
        yield from _step(row, ("rows", place), prototype_ids)
        if row.present is None:
            yield ("rows", place, "present"), "missing; true or false is needed at every step"
    if photo.first_wrong is not None:
        if photo.first_wrong > len(photo.rows):
            fault = f"found step {photo.first_wrong}, but {len(photo.rows)} steps"
            yield ("first_wrong",), fault
        elif photo.correct:
            yield ("first_wrong",), "a step is wrong, but the prediction is right"
    if photo.final is not None:
        yield from _final(photo.final, photo, manifest, prototype_ids)


def _final(
    final: FinalSteps, photo: Photo, manifest: Manifest, prototype_ids: frozenset[str]
) -> Iterator[Fault]:
    for key in PLACES:
        yield from _step(getattr(final, key), ("final", key), prototype_ids)
    classes = {class_.id for class_ in manifest.classes}
    for place, name in enumerate(final.classes):
        if name not in classes:
            yield ("final", "classes", place), f"{name!r} is not among the classes"
    if again := twice(final.classes):
        yield ("final", "classes"), f"{again[0]!r} is there twice; four different ones are needed"
    if photo.truth not in final.classes:
        fault = f"the true class {photo.truth!r} is not among {', '.join(final.classes)}"
        yield ("final", "classes"), fault


def _step(row: Row, loc: Loc, prototype_ids: frozenset[str]) -> Iterator[Fault]:
    yield from _row(row, loc, prototype_ids, region_needed=row.present is True)
    if row.similarity is not None and not 0 <= row.similarity <= 1:
        fault = f"found {row.similarity:g}; a tree's similarities lie between 0 and 1"
        yield (*loc, "similarity"), fault


def _row(
    row: Row, loc: Loc, prototype_ids: frozenset[str], *, region_needed: bool
) -> Iterator[Fault]:
    if row.prototype not in prototype_ids:
        yield (*loc, "prototype"), f"{row.prototype!r} is not among the prototypes"
    if fault := box_fault(row.region):
        yield (*loc, "region"), fault
    if region_needed and row.region is None and row.crop is None:
        yield loc, "neither region nor crop says which part of the photo is compared"


LARGE = 4_000_000
"""Pixels from which a picture takes a second or more to come on the screen."""
COARSE = 200
"""Pixels of the shorter side below which a picture looks coarse."""
LISTED = 5
COLOURED = 8
"""Difference of red, green and blue from which a picture is not grey: JPEG alone makes a few."""


@dataclass
class PictureFiles:
    """The pictures of a set, each read once.

    files : the bytes of picture files and score files, by name.
    flat : names of score files whose numbers are all the same.
    sizes : width and height of those that can be read, in the order they are named.
    coloured, grey : names of files in colour, and of those of one channel.
    """

    folder: Path
    files: dict[str, bytes] = field(default_factory=dict)
    flat: list[str] = field(default_factory=list)
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)
    coloured: set[str] = field(default_factory=set)
    grey: set[str] = field(default_factory=set)
    _said: dict[str, str | None] = field(default_factory=dict)
    _means: dict[str, tuple[float, ...]] = field(default_factory=dict)

    def fault(self, ref: str) -> str | None:
        """What is wrong with a picture; None if nothing is, or if it was reported before."""
        if ref in self._said:
            return None
        self._said[ref] = None
        try:
            if pictures.is_bird(ref):
                pictures.bird_of(ref)
                self.sizes[ref] = (pictures.bird_size(ref),) * 2
                return None
            content = pictures.content_of(self.folder, ref)
            pixels = pictures.native(content, ref)
        except StimuliError as error:
            self._said[ref] = f"{error.what} {error.todo}"
            return self._said[ref]
        self.files[ref] = content
        self.sizes[ref] = (pixels.shape[1], pixels.shape[0])
        self._means[ref] = _mean(pixels)
        if pixels.ndim == 2:
            self.grey.add(ref)
        elif int(np.ptp(pixels.astype(np.int16), axis=2).max()) > COLOURED:
            self.coloured.add(ref)
        return None

    def mean(self, ref: str) -> tuple[float, ...]:
        """Mean level of the pixels, from 0 to 1: of grey, or of red, green and blue."""
        if ref not in self._means and pictures.is_bird(ref):
            self._means[ref] = _mean(pictures.paint_bird(ref))
        return self._means[ref]

    def content(self, ref: str) -> str:
        """A text that is the same for the same picture under another name."""
        content = self.files.get(ref)
        return ref if content is None else hashlib.sha256(content).hexdigest()


def _mean(pixels: pictures.UInt8) -> tuple[float, ...]:
    return tuple(np.atleast_1d(pixels.mean((0, 1)) / 255).tolist())


def picture_faults(stimulus_set: ReadableSet, picture_files: PictureFiles) -> Iterator[Fault]:
    """Faults of all pictures of a set, each with its place."""
    manifest = stimulus_set.manifest
    for loc, ref in _named(stimulus_set):
        if fault := picture_files.fault(ref):
            yield loc, fault
    first_place: dict[str, str] = {}
    for loc, photo in stimulus_set.every_photo():
        place = "a worked example" if photo.set is None else f"set {photo.set}"
        content = picture_files.content(photo.photo)
        if content in first_place:
            first = first_place[content]
            where = "twice" if first == place else f"and in {first}"
            yield (*loc, "photo"), f"{photo.photo!r} is in {place} {where}"
        first_place.setdefault(content, place)
        if manifest.kind != "heatmaps":
            continue
        sizes = {picture_files.sizes.get(ref) for ref in photo.heatmaps} - {None}
        if len(sizes) > 1:
            listed = ", ".join(f"{w} × {h}" for w, h in sorted(s for s in sizes if s is not None))
            yield (*loc, "heatmaps"), f"the heatmaps differ in size: {listed}"
        if manifest.scale in ("positive", "signed"):
            for place_of, ref in enumerate(photo.heatmaps):
                if ref in picture_files.coloured:
                    fault = f"{ref!r} is coloured, but scale says {manifest.scale}: grey is needed"
                    yield (*loc, "heatmaps", place_of), f"{fault}, or scale: ready"


def picture_warnings(stimulus_set: ReadableSet, picture_files: PictureFiles) -> Iterator[str]:
    """What can be shown, but is probably a mistake."""
    for ref, (width, height) in picture_files.sizes.items():
        if width * height > LARGE:
            yield (
                f"the picture {ref!r} has {width} × {height} pixels and will come slowly; 512 to "
                "1024 a side are enough"
            )
    coarse: list[str] = []
    for _, photo in stimulus_set.every_photo():
        size = picture_files.sizes.get(photo.photo)
        if size is None:
            continue
        if min(size) < COARSE and stimulus_set.manifest.kind != "scores":
            coarse.append(f"{photo.id} ({size[0]} × {size[1]})")
        for ref in photo.heatmaps[:1]:
            heat = picture_files.sizes.get(ref)
            if heat is not None and abs(heat[0] / heat[1] - size[0] / size[1]) > 0.05:
                yield (
                    f"photo {photo.id}: heatmaps of {heat[0]} × {heat[1]} are stretched over a "
                    f"photo of {size[0]} × {size[1]}"
                )
    if coarse:
        listed = ", ".join(coarse[:LISTED]) + (", …" if len(coarse) > LISTED else "")
        yield f"less than {COARSE} pixels a side, which will look coarse: photo {listed}"


def _named(stimulus_set: ReadableSet) -> Iterator[tuple[Loc, str]]:
    """Every picture that a set names, with its place."""
    manifest = stimulus_set.manifest
    for place, prototype in zip(stimulus_set.prototypes, manifest.prototypes, strict=True):
        yield ("prototypes", place, "photo"), prototype.photo
        if prototype.crop is not None:
            yield ("prototypes", place, "crop"), prototype.crop
    for loc, photo in stimulus_set.every_photo():
        for inner, ref in _of_photo(photo):
            yield (*loc, *inner), ref
    if manifest.tree is not None:
        yield ("tree",), manifest.tree


def _of_photo(photo: Photo) -> Iterator[tuple[Loc, str]]:
    yield ("photo",), photo.photo
    for place, ref in enumerate(photo.heatmaps):
        yield ("heatmaps", place), ref
    for place, row in enumerate(photo.rows):
        yield from _of_row(row, ("rows", place))
    for key in PLACES if photo.final is not None else ():
        yield from _of_row(getattr(photo.final, key), ("final", key))


def _of_row(row: Row, loc: Loc) -> Iterator[tuple[Loc, str]]:
    if row.crop is not None:
        yield (*loc, "crop"), row.crop
