"""3dshapes(lambda): six binary concepts of a room and the shape in it, and twelve classes.

Paper 001, A.6; the data set is Burgess and Kim (2018): 480,000 pictures, 64 x 64, in colour. By
the paper's rule a task has 16,000 of them without correlations (14,000 with five where halves are
rounded down, and more where the shape, which decides itself what is allowed, is drawn upon). The
pictures are drawn by labapp, unless the official file is given; results on drawn ones are no
repetition of published results.

The released code departs from the text in this: without correlations it keeps every other hue, all
scales and shapes, and every fourth orientation (16,000 rows, too); classes are [c1 c2] where c5 is
0, else 4 + [c3 c4 c6]; and a correlation of factors i and i + 1 is decided by concept i in place of
the shape's, orientations drawn from 9 in place of 11 values. `reading="released"` does so too.

The official pictures of 3dshapes, from the HDF5 file that its authors publish.

The file is not shipped, and neither is h5py, which reads it: `pip install h5py`.
"""

from __future__ import annotations

import colorsys
import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from labapp.base.errors import DatasetError
from labapp.base.reading import files
from labapp.models.datasets.concepts import scene
from labapp.models.datasets.concepts.rows import (
    ConceptRows,
    ConceptSplit,
    ConceptWords,
    Origin,
    Reading,
    UInt8,
    Words,
    binary,
    check_reading,
    correlated,
    divide,
    rules_of,
)
from labapp.models.datasets.split import Float32, Float64, Int64, Rows

NAME = "3dshapes.h5"

_BLOCK = 2_000
"""Pictures unpacked at a time: 25 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class Official:
    """Rows of the file: `pictures` uint8, shape (n, 64, 64, 3); `f` float64, shape (n, 6)."""

    pictures: UInt8
    f: Float64

    def __len__(self) -> int:
        return len(self.pictures)

    def instances(self, rows: Int64) -> Float32:
        """Pictures of the rows, float32 0 to 1, shape (n, 3, 64, 64)."""
        chosen = self.pictures[rows].transpose(0, 3, 1, 2)
        return np.ascontiguousarray(chosen, dtype=np.float32) / np.float32(255)

    def factors(self, rows: Int64) -> Float64:
        return self.f[rows]


def read(path: Path, rows: Int64, indices: Int64) -> tuple[UInt8, str]:
    """Pictures of some rows, uint8, shape (n, 64, 64, 3), and the file's SHA-256. Raises
    DatasetError: h5py is not installed; the file is missing, damaged, or holds something else than
    the published one: `images` uint8 (all rows, 64, 64, 3) and `labels` (all rows, 6), whose values
    run through the grid in the order of `indices`.

    rows : numbers of the rows that are wanted, shape (n,), in any order.
    indices : numbers of the factors' values of all rows of the file, shape (all rows, 6).
    """
    if not files.is_file(path):
        raise _refused(f"There is no {path}.", f"Put the authors' file {NAME} there.")
    try:
        import h5py
    except ImportError as error:
        raise _refused(
            f"{path} cannot be read without the package h5py.",
            "Install it: pip install h5py.",
        ) from error
    try:
        with h5py.File(path, "r") as file:
            _check(file, path, indices)
            pictures = _pictures(file["images"], rows)
    # RuntimeError: a compression that this HDF5 does not know.
    except (OSError, RuntimeError) as error:
        raise _refused(f"{path} cannot be read: {error}.") from error
    with files.open_file(path) as stream:
        return pictures, hashlib.file_digest(stream, "sha256").hexdigest()


def _check(file: Any, path: Path, indices: Int64) -> None:
    count, factors = indices.shape
    for name, shape in (
        ("images", (count, scene.SIZE, scene.SIZE, 3)),
        ("labels", (count, factors)),
    ):
        own_shape = getattr(file.get(name), "shape", None)
        if own_shape != shape:
            raise _refused(f"{name} of {path} must have shape {shape}, found {own_shape}.")
    if file["images"].dtype != np.uint8:
        raise _refused(f"images of {path} must be uint8, found {file['images'].dtype}.")
    labels = file["labels"][:]
    for column, expected in zip(labels.T, indices.T, strict=True):
        # By rank: what a value is called does not matter, which row has which does.
        if not np.array_equal(np.unique(column, return_inverse=True)[1], expected):
            raise _refused(f"labels of {path} are not those of the published grid.")


def _pictures(images: Any, rows: Int64) -> UInt8:
    pictures = np.empty((len(rows), scene.SIZE, scene.SIZE, 3), dtype=np.uint8)
    order = np.argsort(rows, kind="stable")
    for block in np.unique(rows // _BLOCK):
        start = int(block) * _BLOCK
        chosen = order[slice(*np.searchsorted(rows[order], (start, start + _BLOCK)))]
        pictures[chosen] = images[start : start + _BLOCK][rows[chosen] - start]
    return pictures


def _refused(
    what: str, todo: str = f"Take a fresh copy of the authors' file {NAME}."
) -> DatasetError:
    return DatasetError(what, safe="Nothing was trained or written.", todo=todo)


NAMES = ("floor hue", "wall hue", "object hue", "scale", "shape", "orientation")
SIZES = (10, 10, 10, 8, 4, 15)
COUNT = math.prod(SIZES)
OFFICIAL = NAME

BELOW = (5, 5, 5, 4, 2, 7)
"""Concept i is 1 where the number of factor i's value is below this."""
CONCEPTS = (
    "floor red to green", "walls red to green", "object red to green", "small",
    "cube or cylinder", "from the left",
)  # fmt: skip
_HALVES, _GERMAN_HALVES = ("blue to pink", "red to green"), ("blau bis rosa", "rot bis grün")
WORDS = (
    ConceptWords("floor", "Floor", *_HALVES, {"de": Words("Boden", *_GERMAN_HALVES)}),
    ConceptWords("walls", "Walls", *_HALVES, {"de": Words("Wände", *_GERMAN_HALVES)}),
    ConceptWords("object", "Object", *_HALVES, {"de": Words("Körper", *_GERMAN_HALVES)}),
    ConceptWords("size", "Size", "large", "small", {"de": Words("Größe", "groß", "klein")}, "off"),
    ConceptWords(
        "shape", "Shape", "round top", "flat top", {"de": Words("Form", "oben rund", "oben flach")}
    ),
    ConceptWords(
        "side", "Seen from", "right", "left", {"de": Words("Gesehen von", "rechts", "links")}, "off"
    ),
)
UNCLEAR = {0: (0.35, 0.55), 1: (0.35, 0.55), 2: (0.35, 0.55), 3: (0.9, 1.1), 5: (-9.0, 9.0)}
"""By factor, values that are too near to where its concept ends for people to tell it by eye: hues
between green and blue, middling sizes, and views nearly from the front."""
CLASSES = 12
LARGE_FINE = 2
"""As `scene.FINE`, of large pictures."""
MOST = len(BELOW) - 1
"""The most correlations there can be."""
DECIDES = 4
"""The concept, from 0, that decides from which values a factor's are drawn: the shape's."""
RELEASED_STEPS = (
    (2, 2, 2, 1, 1, 4), (1, 2, 2, 1, 1, 4), (1, 1, 2, 1, 1, 4),
    (1, 1, 1, 1, 1, 4), (1, 1, 1, 1, 1, 2), (1, 1, 1, 1, 1, 1),
)  # fmt: skip
"""By lambda, the values of each factor that the released code keeps: every so many."""
RELEASED_HALVES = (None, None, None, None, None, (9, 7))
"""Of each factor: of how many lower or upper values how many are allowed, where that is not half of
three quarters."""
_HUES = np.array([colorsys.hsv_to_rgb(i / 10, 1.0, 1.0) for i in range(10)], dtype=np.float32)
VALUES = (
    *(np.arange(10) / 10,) * 3,
    np.linspace(0.75, 1.25, 8),
    np.arange(4.0),
    np.linspace(-30.0, 30.0, 15),
)
"""The values of each factor, in the order of their numbers."""


def grid_indices(rows: Int64) -> Int64:
    """Numbers of the factor values of rows, shape (n,), of the official order, from 0: int64, shape
    (n, 6). The last factor, orientation, runs fastest."""
    return np.stack(np.unravel_index(rows, SIZES), axis=1).astype(np.int64)


def grid_factors(rows: Int64) -> Float64:
    """Factor values of rows, float64, shape (n, 6): hues from 0 to 0.9 of a turn, scale 0.75 to
    1.25, shape a number in `scene.SHAPES`, orientation -30 to 30 degrees."""
    columns = zip(VALUES, grid_indices(rows).T, strict=True)
    return np.stack([values[indices] for values, indices in columns], axis=1).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class RenderedRows:
    """Rows of the full grid, drawn when they are asked for; `grid_rows` int64, shape (n,).

    A view (scale, shape, orientation) is cast when it is first seen, which takes about 50 ms, and
    kept: 64 KB each, 480 at most.
    """

    grid_rows: Int64
    _views: dict[tuple[int, int, int], scene.View] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.grid_rows)

    def instances(self, rows: Int64) -> Float32:
        """Pictures of the rows, float32, shape (n, 3, 64, 64), in steps of 1/255 as in the file."""
        indices = grid_indices(self.grid_rows[rows])
        pictures = np.empty((len(rows), 3, scene.SIZE, scene.SIZE), dtype=np.float32)
        views, which = np.unique(indices[:, 3:], axis=0, return_inverse=True)
        for number, (scale, shape, orientation) in enumerate(views.tolist()):
            chosen = np.flatnonzero(which == number)
            seen = self._view(scale, shape, orientation)
            pictures[chosen] = seen.coloured(_HUES[indices[chosen, :3]])
        np.rint(pictures * np.float32(255), out=pictures)
        return pictures / np.float32(255)

    def factors(self, rows: Int64) -> Float64:
        return grid_factors(self.grid_rows[rows])

    def _view(self, scale: int, shape: int, orientation: int) -> scene.View:
        key = (scale, shape, orientation)
        if key not in self._views:
            self._views[key] = scene.view(
                float(VALUES[3][scale]), shape, float(VALUES[5][orientation])
            )
        return self._views[key]


def concepts(indices: Int64) -> Int64:
    """Of numbers of factor values, shape (n, 6): 0 or 1, int64, shape (n, 6)."""
    return (indices < np.array(BELOW)).astype(np.int64)


def labels(c: Int64) -> Int64:
    """Of concepts, shape (n, 6): [c1 c2 c3] in binary where c5 is 1, else 8 + [c4 c6]; (n,)."""
    c1, c2, c3, c4, c5, c6 = c.T
    return np.where(c5 == 1, binary(c1, c2, c3), 8 + binary(c4, c6))


def released_labels(c: Int64) -> Int64:
    """As the released code has them: [c1 c2] where c5 is 0, else 4 + [c3 c4 c6]; int64, (n,)."""
    c1, c2, c3, c4, c5, c6 = c.T
    return np.where(c5 == 0, binary(c1, c2), 4 + binary(c3, c4, c6))


def shapes(
    correlations: int = 0,
    *,
    seed: int = 0,
    official: Path | None = None,
    reading: Reading = "text",
) -> ConceptSplit:
    """The task, four fifths of its rows to train on. Raises ValueError: correlations outside 0 to
    5, or another reading. Raises DatasetError: `official` is missing, damaged, or not the published
    file, or h5py, which reads it, is not installed.

    correlations : lambda, 0 to 5: as many factors depend on the one before.
    seed : of the values that are allowed, and of the division.
    official : the published file 3dshapes.h5; its pictures take the place of drawn ones. It is
        read through once, about a minute.
    """
    every = np.arange(COUNT)
    indices = grid_indices(every)
    check_reading(reading)
    annotated = concepts(indices)
    if reading == "text":
        rule = correlated(SIZES, correlations, seed)
        decides, classes = annotated[:, DECIDES], labels(annotated)
    else:
        rule = correlated(
            SIZES,
            correlations,
            seed,
            steps=RELEASED_STEPS[max(0, min(correlations, MOST))],
            halves=RELEASED_HALVES,
        )
        decides, classes = annotated, released_labels(annotated)
    train, test = divide(every[rule.keeps(indices, decides)], seed)
    origin: Origin = "rendered"
    parts: tuple[Rows, Rows] = RenderedRows(train), RenderedRows(test)
    files: Mapping[str, str] = {}
    if official is not None:
        wanted = np.concatenate([train, test])
        pictures, sha256 = read(official, wanted, indices)
        parts = (
            Official(pictures[: len(train)], grid_factors(train)),
            Official(pictures[len(train) :], grid_factors(test)),
        )
        files, origin = {OFFICIAL: sha256}, "official"
    return ConceptSplit(
        name=f"3dshapes({correlations})" + (", released reading" if reading == "released" else ""),
        train=ConceptRows(parts[0], annotated[train], classes[train]),
        test=ConceptRows(parts[1], annotated[test], classes[test]),
        factor_names=NAMES,
        concept_names=CONCEPTS,
        classes=CLASSES,
        origin=origin,
        files=files,
        words=WORDS,
        rules=rules_of(labels if reading == "text" else released_labels, len(CONCEPTS)),
        draw=_drawn,
        unclear=UNCLEAR,
    )


def _drawn(factors: Float64, pixels: int) -> UInt8:
    *hues, scale, shape, orientation = factors.tolist()
    seen = scene.view(scale, round(shape), orientation, size=pixels, fine=LARGE_FINE)
    colours = np.stack([_HUES[round(10 * hue)] for hue in hues])
    picture = seen.coloured(colours[None])[0].transpose(1, 2, 0)
    return np.asarray(np.rint(255 * picture), dtype=np.uint8)
