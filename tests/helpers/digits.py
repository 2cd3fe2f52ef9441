"""MNIST-like IDX files, written here so that no test depends on data from elsewhere."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labapp.models.datasets import mnist


def draw(count: int, seed: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Pictures, uint8 (count, 28, 28), whose lit columns tell their labels, uint8 (count,)."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(10, size=count).astype(np.uint8)
    pictures = rng.integers(60, size=(count, 28, 28)).astype(np.uint8)
    for digit in range(10):
        pictures[labels == digit, 4:24, 2 * digit + 4 : 2 * digit + 7] = 250
    return pictures, labels


def write(
    folder: Path,
    part: mnist.Part,
    pictures: NDArray[np.uint8],
    labels: NDArray[np.uint8],
    *,
    gzipped: bool = False,
) -> None:
    """The two IDX files of a part."""
    for name, magic, values in (
        (f"{part}-images-idx3-ubyte", 0x803, pictures),
        (f"{part}-labels-idx1-ubyte", 0x801, labels),
    ):
        content = np.array([magic, *values.shape], ">u4").tobytes() + values.tobytes()
        if gzipped:
            (folder / f"{name}.gz").write_bytes(gzip.compress(content, 1))
        else:
            (folder / name).write_bytes(content)
