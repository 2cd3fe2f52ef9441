"""dSprites: white squares, ellipses and hearts on black, made from their five factors.

The full grid holds 737,280 binary pictures of 64 x 64 pixels: 3 shapes x 6 scales x 40 rotations x
32 columns x 32 rows (paper 000, 4.1; the data set is Matthey et al. 2017). None of them is stored:
a picture is drawn from its row number when it is asked for, faster than a network learns from it.
Where a user has the official file, its pictures take the place of the drawn ones.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labapp.base.reading import files as reading
from labapp.models.datasets import dsprites_official
from labapp.models.datasets.dsprites_shapes import FULL, LIMITS, NAMES, SIZE, SIZES, draw
from labapp.models.datasets.split import Float32, Float64, Int64, Rows, Split, divide

__all__ = [
    "COUNT",
    "LIMITS",
    "NAMES",
    "OFFICIAL",
    "SIZE",
    "SIZES",
    "RenderedRows",
    "grid_factors",
    "grid_indices",
    "pictures",
    "split",
]

COUNT = FULL.count
OFFICIAL = dsprites_official.NAME


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
class RenderedRows:
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
        rows = RenderedRows(train), RenderedRows(held)
    else:
        whole = dsprites_official.read(official)
        rows = whole.part(train), whole.part(held)
        with reading.open_file(official) as stream:
            files[OFFICIAL] = hashlib.file_digest(stream, "sha256").hexdigest()
    return Split(train=rows[0], held=rows[1], factor_names=NAMES, generative=True, files=files)
