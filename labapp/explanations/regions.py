"""Where in a picture a prototype is: boxes around a position of a map.

A box is left, top, right, bottom as shares of the picture, 0 to 1, so that it fits the same bird
painted at any size. Position i of a network's map is centred on pixel i * stride, not on the middle
of an i-th cell; maps are enlarged accordingly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from labapp.datasets.split import Float32, Float64

PERCENTILE = 95.0
"""Percentile of a ProtoPNet's map above which a pixel belongs to the region (Chen et al. 2019,
section 2.3)."""
FAINT = 0.02
"""Value above which a pixel belongs to a cell, in an enlarged map that is 1 in that cell alone."""
COARSE = 7
"""Cells across the maps of the published ProtoTree (Nauta et al. 2021)."""
SHARPNESS = -0.75
"""The free constant of cubic interpolation (Keys 1981), as the usual picture libraries set it."""


def enlarged(maps: NDArray[np.floating], size: int) -> Float32:
    """Maps (n, h, w) at the size of the picture they are of, bicubic: float32, (n, size, size)."""
    rows, columns = (_weights(size, positions) for positions in maps.shape[1:])
    result: Float32 = (rows @ maps.astype(np.float32) @ columns.T).astype(np.float32)
    return result


def around_peaks(maps: NDArray[np.floating], size: int) -> Float64:
    """Boxes around the brightest place of each map (n, h, w): float64, shape (n, 4).

    The published rule boxes the brightest 5 % of all pixels. On maps of 12 x 12 these are several
    places, and half the boxes span two thirds of the picture; so only what hangs together with the
    peak counts, and at least the peak's own cell.

    size : width and height, in pixels, of the picture that the maps are of.
    """
    large = enlarged(maps, size)
    least = np.percentile(large, PERCENTILE, axis=(1, 2))
    flat = maps.reshape(len(maps), -1).argmax(1)
    height, width = maps.shape[1:]
    cells = np.stack(np.unravel_index(flat, (height, width)), 1)
    regions = _of_single_cells(cells, (height, width), size)
    for number, (y, x) in enumerate(cells):
        above = large[number] > least[number]
        places = np.asarray(ndimage.label(above)[0])
        regions[number] |= above & (places == places[y * size // height, x * size // width])
    return _around(regions)


def around_cells(cells: NDArray[np.integer], shape: tuple[int, int]) -> Float64:
    """Boxes around single cells (n, 2), rows and columns of maps of `shape`: float64, (n, 4).

    As wide as the published rule makes them, which enlarges a map that is 1 in the best cell: two
    cells, on its maps of 7 x 7. Two cells of a finer map would cut the parts of a bird to pieces.
    """
    middle = cells[:, ::-1] / np.array(shape[::-1])
    boxes = np.concatenate((middle - 1 / COARSE, middle + 1 / COARSE), axis=1)
    return boxes.clip(0, 1)


def _of_single_cells(
    cells: NDArray[np.integer], shape: tuple[int, int], size: int
) -> NDArray[np.bool_]:
    maps = np.zeros((len(cells), *shape), np.float32)
    maps[np.arange(len(cells)), cells[:, 0], cells[:, 1]] = 1
    return enlarged(maps, size) > FAINT


def _around(there: NDArray[np.bool_]) -> Float64:
    """The smallest boxes around what is true, (n, size, size), none of it empty."""
    size = there.shape[1]
    boxes = np.empty((len(there), 4))
    for at, axis in ((0, 1), (1, 2)):
        along = np.asarray(there.any(axis))
        boxes[:, at] = along.argmax(1) / size
        boxes[:, at + 2] = 1 - along[:, ::-1].argmax(1) / size
    return boxes


def _weights(size: int, positions: int) -> Float32:
    """How much each pixel takes from each position: shape (size, positions), rows sum to 1."""
    place = np.arange(size) * positions / size
    low = np.floor(place).astype(int)
    weights = np.zeros((size, positions), np.float32)
    for near in range(-1, 3):
        share = _cubic(np.abs(place - (low + near)))
        # Beyond the edge the map goes on as it is at the edge.
        np.add.at(weights, (np.arange(size), (low + near).clip(0, positions - 1)), share)
    return weights


def _cubic(t: Float64) -> Float64:
    a = SHARPNESS
    inside = (a + 2) * t**3 - (a + 3) * t**2 + 1
    outside = a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a
    values: Float64 = np.where(t <= 1, inside, np.where(t < 2, outside, 0.0))
    return values
