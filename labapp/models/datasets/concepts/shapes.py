"""3dshapes(lambda): six binary concepts of a room and the shape in it, and twelve classes.

Paper 001, A.6; the data set is Burgess and Kim (2018): 480,000 pictures, 64 x 64, in colour. By
the paper's rule a task has 16,000 of them without correlations (14,000 with five where halves are
rounded down, and more if the shape, which decides itself what is allowed, is drawn upon). The
pictures are drawn by labapp, unless the official file is given; results on drawn ones are no
repetition of published results.

The released code departs from the text in this: without correlations it keeps every other hue, all
scales and shapes, and every fourth orientation (16,000 rows, too); classes are [c1 c2] where c5 is
0, else 4 + [c3 c4 c6]; and a correlation of factors i and i + 1 is decided by concept i in place of
the shape's, orientations drawn from 9 in place of 11 values. `reading="released"` does so too.

The official pictures of 3dshapes, from the HDF5 file that its authors publish.

The file is not shipped, and neither is h5py, which reads it: `pip install h5py`.

The room of 3dshapes, drawn by casting rays: a floor, two walls and one shape in the middle.

What a pixel shows (floor, wall or object) and how bright it is depends on scale, shape and
orientation alone; the hues only colour it. So a view is cast once, and pictures of all hues are
mixed from it. The room is like that of the published pictures, but not the same to the pixel.

Lengths are in units of the object's width at scale 1; x to the right, y up, z towards the viewer.
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
from numpy.typing import NDArray

from labapp.base.errors import DatasetError
from labapp.base.reading import files
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
    divide,
    make_correlation_rule,
    rules_of,
)
from labapp.models.datasets.split import Float32, Float64, Int64, Rows

SIZE = 64
FINE = 3
"""Rays a pixel along each axis: edges are smooth."""
RAYS = 40_000
"""Rays that are cast at a time."""
SHAPES = ("cube", "cylinder", "sphere", "capsule")

_CAMERA_HEIGHT, _CAMERA_AWAY, _LOOK_AT = 1.7, 3.6, 0.62
_OPENING = np.tan(np.deg2rad(42.0) / 2)
_WALL = 2.6
"""The two walls behind the object, a right angle between them, are this far from the middle."""
_LIGHT = np.array([-0.35, 0.85, 0.6]) / np.linalg.norm([-0.35, 0.85, 0.6])
_UP = np.array([0.0, 1.0, 0.0])
_AMBIENT, _SHADOW = 0.42, 0.55
_SHINE, _SHARP = 0.35, 24

_CUBE_HALF = 0.5
_CYLINDER_RADIUS, _CYLINDER_HEIGHT = 0.5, 1.0
_SPHERE_RADIUS = 0.58
_CAPSULE_RADIUS, _CAPSULE_HEIGHT = 0.38, 1.4

Bool = NDArray[np.bool_]
Hit = tuple[Float64, Float64]
"""Distances along the rays (m,), infinite where they miss, and normals (m, 3)."""


@dataclass(frozen=True, slots=True, eq=False)
class ShadedView:
    """One view, float32. `light`, shape (3, size, size): how much light of the floor, the wall and
    the object a pixel gets, to be coloured; `shine`, shape (size, size): white light on top."""

    light: Float32
    shine: Float32

    def coloured(self, colours: Float32) -> Float32:
        """Pictures (n, 3, size, size), 0 to 1, in colours of shape (n, 3 parts, 3 channels)."""
        mixed: Float32 = np.einsum("npc,pyx->ncyx", colours, self.light)
        return np.asarray(np.minimum(mixed + self.shine, np.float32(1.0)))


def view(
    scale: float, shape: int, orientation: float, *, size: int = SIZE, fine: int = FINE
) -> ShadedView:
    """The view of a shape (a number in `SHAPES`), `scale` times its size, from `orientation`
    degrees round the room, as a viewer who walks to the right; `size` pixels wide, of `fine` rays
    along each axis."""
    turn = np.deg2rad(orientation)
    eye = np.array([_CAMERA_AWAY * np.sin(turn), _CAMERA_HEIGHT, _CAMERA_AWAY * np.cos(turn)])
    rays = _rays(eye, size * fine)
    # Some at a time: what is worked out of them then stays near the processor.
    blocks = np.array_split(rays, -(-len(rays) // RAYS))
    seen = [_trace_rays(eye, block, scale, shape) for block in blocks]
    part, bright, shine = (np.concatenate(values) for values in zip(*seen, strict=True))
    light = np.stack([_pixels(bright * (part == number), size) for number in range(3)])
    return ShadedView(light.astype(np.float32), _pixels(shine, size).astype(np.float32))


def _trace_rays(
    eye: Float64, rays: Float64, scale: float, shape: int
) -> tuple[NDArray[np.int64], Float64, Float64]:
    """What rays from the eye, shape (m, 3), meet: floor, wall or object (0 to 2), how bright it is
    and how it shines, each of shape (m,)."""
    distance, normal = _object(eye, rays, shape, scale)
    # The corner lies straight behind the object, as seen from orientation 0.
    side = np.sqrt(0.5)
    planes = [(_UP, 0.0)] + [(np.array([x, 0.0, side]), -_WALL) for x in (side, -side)]
    flat = [_plane(eye, rays, upright, offset) for upright, offset in planes]
    distances = np.stack([*flat, distance])
    first = distances.argmin(axis=0)
    nearest = distances.min(axis=0)
    sides = [np.broadcast_to(upright, rays.shape) for upright, _ in planes]
    normals = np.stack([*sides, normal])
    facing = np.take_along_axis(normals, first[None, :, None], axis=0)[0]

    lambert = np.clip(facing @ _LIGHT, 0.0, None)
    points = eye + nearest[:, None] * rays
    on_object = first == 3
    dark = np.zeros(len(rays), dtype=np.bool_)
    behind = np.flatnonzero(~on_object)
    toward = np.broadcast_to(_LIGHT, (len(behind), 3))
    dark[behind] = np.isfinite(
        _object(points[behind] + 1e-4 * facing[behind], toward, shape, scale)[0]
    )
    bright = _AMBIENT + (1.0 - _AMBIENT) * lambert * np.where(dark, 1.0 - _SHADOW, 1.0)
    half = _LIGHT - rays
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    shine = _SHINE * np.clip((facing * half).sum(axis=1), 0.0, 1.0) ** _SHARP * on_object

    return np.array([0, 1, 1, 2])[first], bright, shine


def _rays(eye: Float64, fine: int) -> Float64:
    """Directions of length 1 from the eye, row by row, shape (fine^2, 3)."""
    ahead = np.array([0.0, _LOOK_AT, 0.0]) - eye
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, _UP)
    right /= np.linalg.norm(right)
    up = np.cross(right, ahead)
    across = _OPENING * (2.0 * (np.arange(fine) + 0.5) / fine - 1.0)
    rays = ahead + across[None, :, None] * right - across[:, None, None] * up
    rays = rays.reshape(-1, 3)
    return np.asarray(rays / np.linalg.norm(rays, axis=1, keepdims=True))


def _pixels(values: Float64, size: int) -> Float64:
    """The mean over the rays of each pixel, shape (size, size)."""
    rays = math.isqrt(values.size) // size
    return np.asarray(values.reshape(size, rays, size, rays).mean(axis=(1, 3)))


def _plane(start: Float64, rays: Float64, normal: Float64, offset: float) -> Float64:
    """Distances to the points p with p . normal = offset, infinite where a ray leaves it."""
    with np.errstate(divide="ignore"):
        distance = (offset - start @ normal) / (rays @ normal)
    return np.where(distance > 0, distance, np.inf)


def _object(start: Float64, rays: Float64, shape: int, scale: float) -> Hit:
    """Where rays from one point (3,), or from many (m, 3), meet the shape that stands on the floor.

    Worked out for the shape of scale 1; distances are brought back.
    """
    distance, normal = (_cube, _cylinder, _sphere, _capsule)[shape](start / scale, rays)
    return distance * scale, normal


def _cube(start: Float64, rays: Float64) -> Hit:
    centre = np.array([0.0, _CUBE_HALF, 0.0])
    with np.errstate(divide="ignore", invalid="ignore"):
        a = (-_CUBE_HALF - (start - centre)) / rays
        b = (_CUBE_HALF - (start - centre)) / rays
    near, far = np.fmin(a, b), np.fmax(a, b)
    enter, leave = near.max(axis=1), far.min(axis=1)
    axis = near.argmax(axis=1)
    normal = np.zeros_like(rays)
    rows = np.arange(len(rays))
    normal[rows, axis] = -np.sign(rays[rows, axis])
    return np.where((enter < leave) & (enter > 0), enter, np.inf), normal


def _sphere(start: Float64, rays: Float64) -> Hit:
    return _ball(start, rays, _SPHERE_RADIUS, _SPHERE_RADIUS)


def _ball(start: Float64, rays: Float64, height: float, radius: float) -> Hit:
    """A ball whose centre is at a height above the middle of the floor."""
    away = np.broadcast_to(start - np.array([0.0, height, 0.0]), rays.shape)
    distance = _root(
        (rays * rays).sum(axis=1), (rays * away).sum(axis=1), (away * away).sum(axis=1) - radius**2
    )
    normal = (away + np.where(np.isfinite(distance), distance, 0.0)[:, None] * rays) / radius
    return distance, normal


def _tube(start: Float64, rays: Float64, radius: float, low: float, high: float) -> Hit:
    """The side of an upright cylinder between two heights."""
    away = np.broadcast_to(start, rays.shape)
    flat, off = rays[:, [0, 2]], away[:, [0, 2]]
    distance = _root(
        (flat * flat).sum(axis=1), (flat * off).sum(axis=1), (off * off).sum(axis=1) - radius**2
    )
    met = np.isfinite(distance)
    where = away + np.where(met, distance, 0.0)[:, None] * rays
    inside = met & (where[:, 1] >= low) & (where[:, 1] <= high)
    normal = where * np.array([1.0, 0.0, 1.0]) / radius
    return np.where(inside, distance, np.inf), normal


def _root(a: Float64, b: Float64, c: Float64) -> Float64:
    """The smaller root of a t^2 + 2 b t + c = 0 if it is positive, else infinite."""
    square = b * b - a * c
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = (-b - np.sqrt(np.maximum(square, 0.0))) / a
    return np.where((square >= 0) & (distance > 0), distance, np.inf)


def _cylinder(start: Float64, rays: Float64) -> Hit:
    side = _tube(start, rays, _CYLINDER_RADIUS, 0.0, _CYLINDER_HEIGHT)
    distance = _plane(start, rays, _UP, _CYLINDER_HEIGHT)
    met = np.where(np.isfinite(distance), distance, 0.0)
    where = start + met[:, None] * rays
    on = np.isfinite(distance) & (np.hypot(where[:, 0], where[:, 2]) <= _CYLINDER_RADIUS)
    return _nearest(side, (np.where(on, distance, np.inf), np.broadcast_to(_UP, rays.shape)))


def _capsule(start: Float64, rays: Float64) -> Hit:
    low, high = _CAPSULE_RADIUS, _CAPSULE_HEIGHT - _CAPSULE_RADIUS
    hit = _tube(start, rays, _CAPSULE_RADIUS, low, high)
    for height in (low, high):
        hit = _nearest(hit, _ball(start, rays, height, _CAPSULE_RADIUS))
    return hit


def _nearest(hit: Hit, other: Hit) -> Hit:
    nearer = hit[0] <= other[0]
    return np.where(nearer, hit[0], other[0]), np.where(nearer[:, None], hit[1], other[1])


NAME = "3dshapes.h5"

_BLOCK = 2_000
"""Pictures unpacked at a time: 25 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class ShapesFile:
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
        raise _make_error(f"There is no {path}.", f"Put the authors' file {NAME} there.")
    try:
        import h5py
    except ImportError as error:
        raise _make_error(
            f"{path} cannot be read without the package h5py.", "Install it: pip install h5py."
        ) from error
    try:
        with h5py.File(path, "r") as file:
            _check(file, path, indices)
            pictures = _pictures(file["images"], rows)
    # RuntimeError: a compression that this HDF5 does not know.
    except (OSError, RuntimeError) as error:
        raise _make_error(f"{path} cannot be read: {error}.") from error
    with files.open_file(path) as stream:
        return pictures, hashlib.file_digest(stream, "sha256").hexdigest()


def _check(file: Any, path: Path, indices: Int64) -> None:
    count, factors = indices.shape
    for name, shape in (("images", (count, SIZE, SIZE, 3)), ("labels", (count, factors))):
        own_shape = getattr(file.get(name), "shape", None)
        if own_shape != shape:
            raise _make_error(f"{name} of {path} must have shape {shape}, found {own_shape}.")
    if file["images"].dtype != np.uint8:
        raise _make_error(f"images of {path} must be uint8, found {file['images'].dtype}.")
    labels = file["labels"][:]
    for column, expected in zip(labels.T, indices.T, strict=True):
        # By rank: what a value is called does not matter, which row has which does.
        if not np.array_equal(np.unique(column, return_inverse=True)[1], expected):
            raise _make_error(f"labels of {path} do not match the published grid.")


def _pictures(images: Any, rows: Int64) -> UInt8:
    pictures = np.empty((len(rows), SIZE, SIZE, 3), dtype=np.uint8)
    order = np.argsort(rows, kind="stable")
    for block in np.unique(rows // _BLOCK):
        start = int(block) * _BLOCK
        chosen = order[slice(*np.searchsorted(rows[order], (start, start + _BLOCK)))]
        pictures[chosen] = images[start : start + _BLOCK][rows[chosen] - start]
    return pictures


def _make_error(
    what: str, todo: str = f"Get a fresh copy of the authors' file {NAME}."
) -> DatasetError:
    return DatasetError(what, safe="Nothing was trained or written.", todo=todo)


NAMES = ("floor hue", "wall hue", "object hue", "scale", "shape", "orientation")
SIZES = (10, 10, 10, 8, 4, 15)
COUNT = math.prod(SIZES)
OFFICIAL = NAME

BELOW = (5, 5, 5, 4, 2, 7)
"""Concept i is 1 if the number of factor i's value is below this."""
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
"""Of each factor: of how many lower or upper values how many are allowed, if that is not half of
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
class RenderedShapes:
    """Rows of the full grid, drawn when they are asked for; `grid_rows` int64, shape (n,).

    A view (scale, shape, orientation) is cast when it is first seen, which takes about 50 ms, and
    kept: 64 KB each, 480 at most.
    """

    grid_rows: Int64
    _views: dict[tuple[int, int, int], ShadedView] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.grid_rows)

    def instances(self, rows: Int64) -> Float32:
        """Pictures of the rows, float32, shape (n, 3, 64, 64), in steps of 1/255 as in the file."""
        indices = grid_indices(self.grid_rows[rows])
        pictures = np.empty((len(rows), 3, SIZE, SIZE), dtype=np.float32)
        views, which = np.unique(indices[:, 3:], axis=0, return_inverse=True)
        for number, (scale, shape, orientation) in enumerate(views.tolist()):
            chosen = np.flatnonzero(which == number)
            seen = self._view(scale, shape, orientation)
            pictures[chosen] = seen.coloured(_HUES[indices[chosen, :3]])
        np.rint(pictures * np.float32(255), out=pictures)
        return pictures / np.float32(255)

    def factors(self, rows: Int64) -> Float64:
        return grid_factors(self.grid_rows[rows])

    def _view(self, scale: int, shape: int, orientation: int) -> ShadedView:
        key = (scale, shape, orientation)
        if key not in self._views:
            self._views[key] = view(float(VALUES[3][scale]), shape, float(VALUES[5][orientation]))
        return self._views[key]


def concepts(indices: Int64) -> Int64:
    """Of numbers of factor values, shape (n, 6): 0 or 1, int64, shape (n, 6)."""
    return (indices < np.array(BELOW)).astype(np.int64)


def labels(c: Int64) -> Int64:
    """Of concepts, shape (n, 6): [c1 c2 c3] in binary where c5 is 1, else 8 + [c4 c6]; (n,)."""
    c1, c2, c3, c4, c5, c6 = c.T
    return np.where(c5 == 1, binary(c1, c2, c3), 8 + binary(c4, c6))


def label_as_released(c: Int64) -> Int64:
    """The labels of the released code: [c1 c2] where c5 is 0, else 4 + [c3 c4 c6]; int64, (n,)."""
    c1, c2, c3, c4, c5, c6 = c.T
    return np.where(c5 == 0, binary(c1, c2), 4 + binary(c3, c4, c6))


def shapes(
    correlations: int = 0, *, seed: int = 0, official: Path | None = None, reading: Reading = "text"
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
        rule = make_correlation_rule(SIZES, correlations, seed)
        decides, classes = annotated[:, DECIDES], labels(annotated)
    else:
        rule = make_correlation_rule(
            SIZES,
            correlations,
            seed,
            steps=RELEASED_STEPS[max(0, min(correlations, MOST))],
            halves=RELEASED_HALVES,
        )
        decides, classes = annotated, label_as_released(annotated)
    train, test = divide(every[rule.keeps(indices, decides)], seed)
    origin: Origin = "rendered"
    parts: tuple[Rows, Rows] = RenderedShapes(train), RenderedShapes(test)
    files: Mapping[str, str] = {}
    if official is not None:
        wanted = np.concatenate([train, test])
        pictures, sha256 = read(official, wanted, indices)
        parts = (
            ShapesFile(pictures[: len(train)], grid_factors(train)),
            ShapesFile(pictures[len(train) :], grid_factors(test)),
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
        rules=rules_of(labels if reading == "text" else label_as_released, len(CONCEPTS)),
        draw=_draw_picture,
        unclear=UNCLEAR,
    )


def _draw_picture(factors: Float64, pixels: int) -> UInt8:
    *hues, scale, shape, orientation = factors.tolist()
    seen = view(scale, round(shape), orientation, size=pixels, fine=LARGE_FINE)
    colours = np.stack([_HUES[round(10 * hue)] for hue in hues])
    picture = seen.coloured(colours[None])[0].transpose(1, 2, 0)
    return np.asarray(np.rint(255 * picture), dtype=np.uint8)
