"""The official pictures of 3dshapes, from the HDF5 file that its authors publish.

The file is not shipped, and neither is h5py, which reads it: `pip install h5py`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labapp.datasets.split import Float32, Float64, Int64
from labapp.errors import DatasetError
from labapp.reading import files

NAME = "3dshapes.h5"
SIZE = 64

UInt8 = NDArray[np.uint8]

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
        """Factor values of the rows, float64, shape (n, 6)."""
        return self.f[rows]


def read(path: Path, rows: Int64, indices: Int64) -> tuple[UInt8, str]:
    """Pictures of some rows, uint8, shape (n, 64, 64, 3), and the file's SHA-256.

    Parameters
    ----------
    rows : numbers of the rows that are wanted, shape (n,), in any order.
    indices : numbers of the factors' values of all rows of the file, shape (all rows, 6).

    Raises
    ------
    DatasetError : h5py is not installed; the file is missing, damaged, or holds something else
        than the published one: `images` uint8 (all rows, 64, 64, 3) and `labels` (all rows, 6),
        whose values run through the grid in the order of `indices`.
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
    for name, shape in (("images", (count, SIZE, SIZE, 3)), ("labels", (count, factors))):
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
    pictures = np.empty((len(rows), SIZE, SIZE, 3), dtype=np.uint8)
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
