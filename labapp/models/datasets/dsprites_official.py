"""The official pictures of dSprites, from the npz file that its authors publish.

The file is not shipped. Its pictures fill 3 GB; they are unpacked once, a block at a time, into
one bit a pixel (377 MB). Nothing pickled is opened: the `metadata` array is left alone.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import IO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from labapp.base.errors import DatasetError
from labapp.base.reading import archives, files
from labapp.models.datasets.dsprites_shapes import FULL, SIZE, FactorGrid
from labapp.models.datasets.split import Float32, Float64, Int64

NAME = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"

_BLOCK = 4096
"""Pictures unpacked at a time: 16 MB."""
_NO_HEADER = (KeyError, TypeError, ValueError, SyntaxError, TokenError, MemoryError, RecursionError)
"""What numpy and the parser that it leans on raise at a header that is none."""


@dataclass(frozen=True, slots=True)
class Official:
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

    def part(self, rows: Int64) -> Official:
        """Some of these rows, int64, shape (n,); the pictures are shared, not copied."""
        return Official(self.packed, self.grid, self.grid_rows[rows])


def read(path: Path, grid: FactorGrid = FULL) -> Official:
    """All rows of the file, in its order. Raises DatasetError: the file is missing, damaged, or
    holds other arrays than the published one: `imgs` uint8 0 or 1, `latents_classes` and
    `latents_values` with the colour (always the same) in front of the grid's factors, row by row in
    the grid's order.

    grid : what the file must hold; tests give a smaller grid than the published one.
    """
    if not files.is_file(path):
        raise _refused(f"There is no {path}.", f"Put the authors' file {NAME} there.")
    try:
        with archives.archive(path) as archive:
            _check_order(archive, path, grid)
            packed = _pictures(archive, path, grid)
    except (OSError, ValueError) as error:
        raise _refused(f"{path} cannot be read: {error}.") from error
    return Official(packed, grid, np.arange(grid.count))


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
            raise _refused(f"{name} of {path} are not those of the published grid.")


def _pictures(archive: zipfile.ZipFile, path: Path, grid: FactorGrid) -> NDArray[np.uint8]:
    """The pictures, one bit a pixel."""
    packed = np.empty((grid.count, SIZE * SIZE // 8), dtype=np.uint8)
    with _array(archive, path, "imgs", (grid.count, SIZE, SIZE), np.dtype(np.uint8)) as stream:
        for start in range(0, grid.count, _BLOCK):
            count = min(_BLOCK, grid.count - start)
            block = np.frombuffer(_exactly(stream, count * SIZE * SIZE), np.uint8)
            if block.max() > 1:
                raise _refused(f"Pictures of {path} hold other values than 0 and 1.")
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
        raise _refused(f"There is no array {name} in {path}.") from error
    with archive.open(entry) as stream:
        try:
            read_header = {
                (1, 0): npy.read_array_header_1_0,
                (2, 0): npy.read_array_header_2_0,
            }[npy.read_magic(stream)]
            own, by_columns, kind = read_header(stream)
        except _NO_HEADER as error:
            raise _refused(f"The header of {name} in {path} cannot be read.") from error
        if own != shape or by_columns or kind != dtype:
            raise _refused(
                f"{name} of {path} must be {dtype} of shape {shape}, found {kind} of shape {own}."
            )
        yield stream
        # Reading past the end makes the archive compare its checksum.
        if stream.read(1):
            raise _refused(f"{name} of {path} is longer than its header says.")


def _exactly(stream: IO[bytes], count: int) -> bytes:
    content = stream.read(count)
    if len(content) != count:
        raise EOFError("it ends too early")
    return content


def _refused(
    what: str, todo: str = f"Take a fresh copy of the authors' file {NAME}."
) -> DatasetError:
    return DatasetError(what, safe="Nothing was trained or written.", todo=todo)
