"""dSprites: white squares, ellipses and hearts on black, made from their five factors.

The full grid holds 737,280 binary pictures of 64 x 64 pixels: 3 shapes x 6 scales x 40 rotations x
32 columns x 32 rows (paper 000, 4.1; the data set is Matthey et al. 2017). None of them is stored:
a picture is drawn from its row number when it is asked for, faster than a network learns from it.
Where a user has the official file, its pictures take the place of the drawn ones.

The official pictures of dSprites, from the npz file that its authors publish.

The file is not shipped. Its pictures fill 3 GB; they are unpacked once, a block at a time, into
one bit a pixel (377 MB). Nothing pickled is opened: the `metadata` array is left alone.

The three shapes of dSprites and how they are drawn.

A pixel is white when its centre lies inside the shape. Only the pixels that a shape of full size
can reach, a window round its centre, are looked at, many pictures at a time.

The measures were fitted to the published decoder of the true factors, which had learned the
official pictures. Its output for 6,000 random rotations and positions at scale 1, turned and moved
back into the shape's own frame, gives a mean picture of each shape at a quarter of a pixel. The
heart's points are those whose outline, blurred (by 0.49 pixels, fitted too), comes nearest to it;
side and semi-axes are those whose drawn pictures differ least. Sizes were found proportional to
scale; moving or turning all shapes a little further brings the difference down by 0.3 % at most.

The grid of dSprites' factors: which row of the data set shows what.
"""

from __future__ import annotations

import hashlib
import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tokenize import TokenError
from typing import IO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from labapp.base.errors import DatasetError
from labapp.base.reading import archives, files
from labapp.base.reading import files as reading
from labapp.models.datasets.split import Float32, Float64, Int64, Rows, Split, divide

SIZE = 64

SQUARE_HALF = 9.53
"""Half the side of the square at scale 1, in pixels, as all that follow."""
ELLIPSE_LONG, ELLIPSE_SHORT = 12.68, 7.22
"""The semi-axes of the ellipse; the long one lies level at rotation 0."""
HEART = (
    (0.0, -7.1), (2.0, -8.39), (4.8, -9.19), (6.83, -8.76), (8.48, -7.49), (9.38, -5.63),
    (9.5, -3.57), (8.96, -1.8), (8.31, -0.22), (1.81, 6.93), (0.0, 8.02),
)  # fmt: skip
"""The right half of the heart's outline from notch to tip, convex; (right, down) of the centre."""
NEAREST, TRAVEL = 15.5, 32.0
"""A shape's centre is at NEAREST + TRAVEL times its position, in pixels, along both axes."""
_REACH = SQUARE_HALF * math.sqrt(2.0)
_WINDOW = math.floor(2.0 * _REACH) + 1


def draw(factors: NDArray[np.floating]) -> Float32:
    """Pictures of the factors. Returns float32, shape (n, 64, 64), rows downwards, 0 black and 1
    white. Raises ValueError: another shape of array, or values outside the limits (any rotation
    will do). `factors`: shape (n, 5): shape (rounded to 1, 2 or 3), scale, rotation, x, y in the
    units of `dsprites_grid.LIMITS`, not only those of the grid."""
    values = np.asarray(factors, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != 5:
        raise ValueError(f"dSprites need factors of shape (n, 5), found {values.shape}")
    kind, scale, rotation = np.rint(values[:, 0]), values[:, 1], values[:, 2]
    place = values[:, 3:]
    within = (kind >= 1) & (kind <= 3) & (scale > 0) & (scale <= 1) & np.isfinite(rotation)
    if not (within.all() and ((place >= 0) & (place <= 1)).all()):
        raise ValueError("dSprites need shape in 1..3, scale in (0, 1] and positions in 0..1")

    centre = NEAREST + TRAVEL * place
    corner = np.ceil(centre - _REACH).astype(np.int64)
    offset = corner[:, :, None] + np.arange(_WINDOW) - centre[:, :, None]
    right, down = (offset / scale[:, None, None]).transpose(1, 0, 2)
    cos, sin = np.cos(rotation)[:, None], np.sin(rotation)[:, None]
    # The turn anticlockwise is undone: (along, across) are a pixel's coordinates in the shape.
    along = (cos * right).astype(np.float32), (-sin * down).astype(np.float32)
    across = (sin * right).astype(np.float32), (cos * down).astype(np.float32)

    window = np.empty((len(values), _WINDOW, _WINDOW), dtype=np.bool_)
    for number, inside in enumerate((_in_square, _in_ellipse, _in_heart), start=1):
        chosen = np.flatnonzero(kind == number)
        if len(chosen):
            u = along[0][chosen, None, :] + along[1][chosen, :, None]
            v = across[0][chosen, None, :] + across[1][chosen, :, None]
            window[chosen] = inside(u, v)

    pictures = np.zeros((len(values), SIZE, SIZE), dtype=np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(
        pictures, (_WINDOW, _WINDOW), axis=(1, 2), writeable=True
    )
    windows[np.arange(len(values)), corner[:, 1], corner[:, 0]] = window
    return pictures


LARGE_FINE = 3
"""Points a pixel along each axis of a large picture: its edges are smooth."""


def draw_large(factors: NDArray[np.floating], pixels: int) -> Float32:
    """A picture of one row of factors for people, with smooth edges: float32 from 0 to 1, shape
    (pixels, pixels). factors: shape (5,), as for `draw`."""
    kind, scale, rotation, *place = np.asarray(factors, dtype=np.float64).tolist()
    fine = pixels * LARGE_FINE
    # In the pixels of the small picture, whose centres lie at whole numbers.
    at = (np.arange(fine) + 0.5) * SIZE / fine - 0.5
    right, down = ((at - NEAREST - TRAVEL * place[axis]) / scale for axis in (0, 1))
    cos, sin = math.cos(rotation), math.sin(rotation)
    u = (cos * right[None, :] - sin * down[:, None]).astype(np.float32)
    v = (sin * right[None, :] + cos * down[:, None]).astype(np.float32)
    inside = (_in_square, _in_ellipse, _in_heart)[round(kind) - 1](u, v)
    points = inside.reshape(pixels, LARGE_FINE, pixels, LARGE_FINE)
    return np.asarray(points.mean(axis=(1, 3), dtype=np.float32))


def _in_square(u: Float32, v: Float32) -> NDArray[np.bool_]:
    return np.maximum(np.abs(u), np.abs(v)) < np.float32(SQUARE_HALF)


def _in_ellipse(u: Float32, v: Float32) -> NDArray[np.bool_]:
    u = u * np.float32(1.0 / ELLIPSE_LONG)
    v = v * np.float32(1.0 / ELLIPSE_SHORT)
    return u * u + v * v < np.float32(1.0)


def _edges() -> tuple[tuple[np.float32, np.float32, np.float32], ...]:
    """Each edge of the half heart as (a, b, c): a pixel is inside where a |u| + b v < c."""
    edges = []
    for (u0, v0), (u1, v1) in pairwise(HEART):
        a, b = v1 - v0, u0 - u1
        edges.append((np.float32(a), np.float32(b), np.float32(a * u0 + b * v0)))
    return tuple(edges)


_HEART_EDGES = _edges()


def _in_heart(u: Float32, v: Float32) -> NDArray[np.bool_]:
    u = np.abs(u)
    inside = np.ones(u.shape, dtype=np.bool_)
    for a, b, c in _HEART_EDGES:
        inside &= a * u + b * v < c
    return inside


NAMES = ("shape", "scale", "rotation", "x", "y")
SIZES = (3, 6, 40, 32, 32)
LIMITS = ((1.0, 3.0), (0.5, 1.0), (0.0, 2.0 * math.pi), (0.0, 1.0), (0.0, 1.0))
"""Ranges of the factors. Shape: 1 square, 2 ellipse, 3 heart; scale: part of the full size;
rotation: radians, anticlockwise as seen on the screen; x to the right and y down, 0 and 1 the
outermost positions of the centre."""


@dataclass(frozen=True, slots=True)
class FactorGrid:
    """Every combination of evenly spaced factor values, the last factor running fastest.

    `sizes` are the numbers of values of the five factors, first and last at their `LIMITS`.
    """

    sizes: tuple[int, ...] = SIZES

    @property
    def count(self) -> int:
        return math.prod(self.sizes)

    def indices(self, rows: Int64) -> Int64:
        """Numbers of the factors' values, from 0, int64, shape (n, 5), of the rows, shape (n,).
        Raises ValueError if there is no such row."""
        return np.stack(np.unravel_index(rows, self.sizes), axis=1).astype(np.int64)

    def factors(self, rows: Int64) -> Float64:
        """Factor values of the rows, shape (n,), in the units of `LIMITS`: float64, shape (n, 5).
        Raises ValueError if there is no such row."""
        low, high = np.array(LIMITS, dtype=np.float64).T
        steps = self.indices(rows) / (np.array(self.sizes, dtype=np.float64) - 1.0)
        return np.asarray(low + (high - low) * steps, dtype=np.float64)


FULL = FactorGrid()
"""The grid of the published data set: 737,280 rows."""


NAME = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"

_BLOCK = 4096
"""Pictures unpacked at a time: 16 MB."""
_NO_HEADER = (KeyError, TypeError, ValueError, SyntaxError, TokenError, MemoryError, RecursionError)
"""What numpy and the parser that it leans on raise at a header that is none."""


@dataclass(frozen=True, slots=True)
class SpritesFile:
    """Rows of the file: `packed` uint8, shape (rows of the grid, 512), one bit a pixel.

    `grid_rows`, int64, shape (n,), says which of them these rows are.
    """

    packed: NDArray[np.uint8]
    grid: FactorGrid
    grid_rows: Int64

    def __len__(self) -> int:
        return len(self.grid_rows)

    def instances(self, rows: Int64) -> Float32:
        """Pictures of the rows, float32 0 or 1, shape (n, 64, 64)."""
        bits = np.unpackbits(self.packed[self.grid_rows[rows]], axis=1)
        return bits.reshape(-1, SIZE, SIZE).astype(np.float32)

    def factors(self, rows: Int64) -> Float64:
        return self.grid.factors(self.grid_rows[rows])

    def part(self, rows: Int64) -> SpritesFile:
        """Some of these rows, int64, shape (n,); the pictures are shared, not copied."""
        return SpritesFile(self.packed, self.grid, self.grid_rows[rows])


def read(path: Path, grid: FactorGrid = FULL) -> SpritesFile:
    """All rows of the file, in its order. Raises DatasetError: the file is missing, damaged, or
    holds other arrays than the published one: `imgs` uint8 0 or 1, `latents_classes` and
    `latents_values` with the colour (always the same) in front of the grid's factors, row by row in
    the grid's order.

    grid : what the file must hold; tests give a smaller grid than the published one.
    """
    if not files.is_file(path):
        raise _make_error(f"There is no {path}.", f"Put the authors' file {NAME} there.")
    try:
        with archives.archive(path) as archive:
            _check_order(archive, path, grid)
            packed = _pictures(archive, path, grid)
    except (OSError, ValueError) as error:
        raise _make_error(f"{path} cannot be read: {error}.") from error
    return SpritesFile(packed, grid, np.arange(grid.count))


def _check_order(archive: zipfile.ZipFile, path: Path, grid: FactorGrid) -> None:
    """Raise DatasetError unless the factors of the file's rows are those of the grid."""
    rows = np.arange(grid.count)
    shape = (grid.count, 1 + len(grid.sizes))
    for name, dtype, expected in (
        ("latents_classes", np.dtype(np.int64), grid.indices(rows)),
        ("latents_values", np.dtype(np.float64), grid.factors(rows)),
    ):
        with _array(archive, path, name, shape, dtype) as stream:
            content = _exactly(stream, dtype.itemsize * shape[0] * shape[1])
        factors = np.frombuffer(content, dtype).reshape(shape)
        if not np.allclose(factors[:, 1:], expected, rtol=0.0, atol=1e-6):
            raise _make_error(f"{name} of {path} do not match the published grid.")


def _pictures(archive: zipfile.ZipFile, path: Path, grid: FactorGrid) -> NDArray[np.uint8]:
    """The pictures, one bit a pixel."""
    packed = np.empty((grid.count, SIZE * SIZE // 8), dtype=np.uint8)
    with _array(archive, path, "imgs", (grid.count, SIZE, SIZE), np.dtype(np.uint8)) as stream:
        for start in range(0, grid.count, _BLOCK):
            count = min(_BLOCK, grid.count - start)
            block = np.frombuffer(_exactly(stream, count * SIZE * SIZE), np.uint8)
            if block.max() > 1:
                raise _make_error(f"Pictures of {path} have values other than 0 and 1.")
            packed[start : start + count] = np.packbits(block.reshape(count, -1), axis=1)
    return packed


@contextmanager
def _array(
    archive: zipfile.ZipFile, path: Path, name: str, shape: tuple[int, ...], dtype: np.dtype
) -> Iterator[IO[bytes]]:
    """One array of the file, its header read and compared, ready to read its values from."""
    try:
        entry = archive.getinfo(f"{name}.npy")
    except KeyError as error:
        raise _make_error(f"There is no array {name} in {path}.") from error
    with archive.open(entry) as stream:
        try:
            read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[
                npy.read_magic(stream)
            ]
            own, by_columns, kind = read_header(stream)
        except _NO_HEADER as error:
            raise _make_error(f"The header of {name} in {path} cannot be read.") from error
        if own != shape or by_columns or kind != dtype:
            raise _make_error(
                f"{name} of {path} must be {dtype} of shape {shape}, found {kind} of shape {own}."
            )
        yield stream
        # Reading past the end makes the archive compare its checksum.
        if stream.read(1):
            raise _make_error(f"{name} of {path} is longer than its header says.")


def _exactly(stream: IO[bytes], count: int) -> bytes:
    content = stream.read(count)
    if len(content) != count:
        raise EOFError("it ends too early")
    return content


def _make_error(
    what: str, todo: str = f"Get a fresh copy of the authors' file {NAME}."
) -> DatasetError:
    return DatasetError(what, safe="Nothing was trained or written.", todo=todo)


__all__ = [
    "COUNT",
    "LIMITS",
    "NAMES",
    "OFFICIAL",
    "SIZE",
    "SIZES",
    "RenderedSprites",
    "grid_factors",
    "grid_indices",
    "pictures",
    "split",
]

COUNT = FULL.count
OFFICIAL = NAME


def grid_indices(rows: Int64) -> Int64:
    """Numbers of the factor values of rows of the full grid, from 0: int64, shape (n, 5)."""
    return FULL.indices(rows)


def grid_factors(rows: Int64) -> Float64:
    """Factor values of rows of the full grid, shape (n,), in the units of `LIMITS`.

    Rows are in the official order: the last factor, y, runs fastest. float64, shape (n, 5).
    """
    return FULL.factors(rows)


def pictures(factors: NDArray[np.floating]) -> Float32:
    """Pictures of the factors, shape (n, 5): float32 0 or 1, shape (n, 64, 64).

    Any values inside `LIMITS` will do, not only those of the grid; shape is rounded.
    Raises ValueError as `dsprites_shapes.draw`.
    """
    return draw(factors)


@dataclass(frozen=True, slots=True)
class RenderedSprites:
    """Rows of the full grid, drawn when they are asked for; `grid_rows` int64, shape (n,)."""

    grid_rows: Int64

    def __len__(self) -> int:
        return len(self.grid_rows)

    def instances(self, rows: Int64) -> Float32:
        """Pictures of the rows, float32 0 or 1, shape (n, 64, 64)."""
        return draw(self.factors(rows))

    def factors(self, rows: Int64) -> Float64:
        return FULL.factors(self.grid_rows[rows])


def split(*, held_out: int, seed: int, official: Path | None = None) -> Split:
    """The full grid, divided: `held_out` rows by the luck of `seed` are kept from training. Raises
    ValueError: `held_out` leaves nothing to learn from, or nothing held out. Raises DatasetError:
    `official` is missing, damaged, or not the published file.

    official : the published file; its pictures are used in place of drawn ones. It is unpacked
        into memory at once, which takes some seconds and about 400 MB.
    """
    train, held = divide(COUNT, held_out, seed)
    rows: tuple[Rows, Rows]
    files: dict[str, str] = {}
    if official is None:
        rows = RenderedSprites(train), RenderedSprites(held)
    else:
        whole = read(official)
        rows = whole.part(train), whole.part(held)
        with reading.open_file(official) as stream:
            files[OFFICIAL] = hashlib.file_digest(stream, "sha256").hexdigest()
    return Split(train=rows[0], held=rows[1], factor_names=NAMES, generative=True, files=files)
