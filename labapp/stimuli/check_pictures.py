"""Whether the pictures of a set are there and are what the manifest says they are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from labapp.errors import StimuliError
from labapp.stimuli import pictures
from labapp.stimuli.manifest import FinalSteps, Photo, Row
from labapp.stimuli.readable import ReadableSet
from labapp.stimuli.sources import PLACES, Loc

Fault = tuple[Loc, str]
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

    Attributes
    ----------
    files : the bytes of picture files and score files, by name.
    flat : names of score files whose numbers are all the same.
    """

    folder: Path
    files: dict[str, bytes] = field(default_factory=dict)
    flat: list[str] = field(default_factory=list)
    _said: dict[str, str | None] = field(default_factory=dict)
    _sizes: dict[str, tuple[int, int]] = field(default_factory=dict)
    _coloured: set[str] = field(default_factory=set)
    _grey: set[str] = field(default_factory=set)
    _means: dict[str, tuple[float, ...]] = field(default_factory=dict)

    def fault(self, ref: str) -> str | None:
        """What is wrong with a picture; None if nothing is, or if it was reported before."""
        if ref in self._said:
            return None
        self._said[ref] = None
        try:
            if pictures.is_bird(ref):
                pictures.bird_of(ref)
                self._sizes[ref] = (pictures.bird_size(ref),) * 2
                return None
            content = pictures.content_of(self.folder, ref)
            pixels = pictures.native(content, ref)
        except StimuliError as error:
            self._said[ref] = f"{error.what} {error.todo}"
            return self._said[ref]
        self.files[ref] = content
        self._sizes[ref] = (pixels.shape[1], pixels.shape[0])
        self._means[ref] = _mean(pixels)
        if pixels.ndim == 2:
            self._grey.add(ref)
        elif int(np.ptp(pixels.astype(np.int16), axis=2).max()) > COLOURED:
            self._coloured.add(ref)
        return None

    def size(self, ref: str) -> tuple[int, int] | None:
        """Width and height; None where it cannot be read."""
        return self._sizes.get(ref)

    def sizes(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """Width and height of all pictures, in the order they are named."""
        yield from self._sizes.items()

    def coloured(self, ref: str) -> bool:
        return ref in self._coloured

    def grey(self, ref: str) -> bool:
        """Whether the file has one channel."""
        return ref in self._grey

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


def faults(stimulus_set: ReadableSet, picture_files: PictureFiles) -> Iterator[Fault]:
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
        sizes = {picture_files.size(ref) for ref in photo.heatmaps} - {None}
        if len(sizes) > 1:
            listed = ", ".join(f"{w} × {h}" for w, h in sorted(s for s in sizes if s is not None))
            yield (*loc, "heatmaps"), f"the heatmaps differ in size: {listed}"
        if manifest.scale in ("positive", "signed"):
            for place_of, ref in enumerate(photo.heatmaps):
                if picture_files.coloured(ref):
                    fault = f"{ref!r} is coloured, but scale says {manifest.scale}: grey is needed"
                    yield (*loc, "heatmaps", place_of), f"{fault}, or scale: ready"


def warnings(stimulus_set: ReadableSet, picture_files: PictureFiles) -> Iterator[str]:
    """What can be shown, but is probably a mistake."""
    for ref, (width, height) in picture_files.sizes():
        if width * height > LARGE:
            yield (
                f"the picture {ref!r} has {width} × {height} pixels and will come slowly; 512 to "
                "1024 a side are enough"
            )
    coarse: list[str] = []
    for _, photo in stimulus_set.every_photo():
        size = picture_files.size(photo.photo)
        if size is None:
            continue
        if min(size) < COARSE and stimulus_set.manifest.kind != "scores":
            coarse.append(f"{photo.id} ({size[0]} × {size[1]})")
        for ref in photo.heatmaps[:1]:
            heat = picture_files.size(ref)
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
    if photo.final is not None:
        yield from _of_final(photo.final)


def _of_final(final: FinalSteps) -> Iterator[tuple[Loc, str]]:
    for key in PLACES:
        yield from _of_row(getattr(final, key), ("final", key))


def _of_row(row: Row, loc: Loc) -> Iterator[tuple[Loc, str]]:
    if row.crop is not None:
        yield (*loc, "crop"), row.crop
