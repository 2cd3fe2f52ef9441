"""Explanation maps at the size in which a picture is shown."""

from __future__ import annotations

import numpy as np

from labapp.datasets.birds.dataset import SIZE
from labapp.datasets.split import Float32


def upsampled(maps: Float32, size: int, pixels: int = SIZE) -> Float32:
    """Maps at every pixel of a picture that is shown in `size` pixels, linearly in between.

    A network's map has one position for each `stride` pixels of what it sees, and position i looks
    at the surroundings of pixel i * stride, not of the middle of an i-th cell: it is put there.

    Parameters
    ----------
    maps : float32, shape (n, classes, h, w).
    pixels : width and height of what the network saw.

    Returns
    -------
    float32, shape (n, classes, size, size).
    """
    rows, columns = (_weights(size, pixels, positions) for positions in maps.shape[-2:])
    return np.asarray(rows @ maps @ columns.T, np.float32)


def _weights(size: int, pixels: int, positions: int) -> Float32:
    """How much each pixel shown takes from each position: (size, positions), rows sum to 1."""
    stride = pixels / positions
    middle = (np.arange(size) + 0.5) * pixels / size - 0.5
    place = (middle / stride).clip(0, positions - 1)
    low = np.floor(place).astype(int).clip(0, max(positions - 2, 0))
    share = place - low
    weights = np.zeros((size, positions), np.float32)
    weights[np.arange(size), low] = 1 - share
    weights[np.arange(size), np.minimum(low + 1, positions - 1)] += share
    return weights
