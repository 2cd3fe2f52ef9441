"""The scores of the small convolutional classifier (`labapp.models.explanations.cnn`), in numpy.

A session asks it about some hundred masked pictures of 48 pixels: that needs no torch.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Float32 = NDArray[np.float32]
CHUNK = 20
"""Pictures at a time."""
KERNELS = (5, 3, 3, 3)
"""Width and height of the four convolutions; a pooling halves what the second and fourth give."""
CHANNELS = (8, 8, 16, 16)
CONVOLUTIONS = (("0", "2"), ("5", "7"))
"""The names of their weights."""
LINEAR = "11"


def fits(weights: Mapping[str, Float32], channels: int, classes: int) -> bool:
    """Whether the weights are those of such a network, for pictures of any size."""
    shapes = {name: values.shape for name, values in weights.items()}
    features = shapes.pop(f"{LINEAR}.weight", (0, 0))[-1]
    expected: dict[str, tuple[int, ...]] = {f"{LINEAR}.bias": (classes,)}
    for name, into, size, out in zip(
        sum(CONVOLUTIONS, ()), (channels, *CHANNELS), KERNELS, CHANNELS, strict=False
    ):
        expected |= {f"{name}.weight": (out, into, size, size), f"{name}.bias": (out,)}
    return shapes == expected and features % CHANNELS[-1] == 0 < features


def scores(weights: Mapping[str, Float32], pictures: NDArray[np.uint8]) -> Float32:
    """Scores of the classes: float32, shape (n, classes).

    weights : as the network stores them.
    pictures : uint8, shape (n, channels, size, size).
    """
    return np.concatenate(
        [_scores(weights, pictures[at : at + CHUNK]) for at in range(0, len(pictures), CHUNK)]
    )


def _scores(weights: Mapping[str, Float32], pictures: NDArray[np.uint8]) -> Float32:
    values = pictures.astype(np.float32) / 255
    for names in CONVOLUTIONS:
        for name in names:
            kernel, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
            windows = sliding_window_view(values, kernel.shape[2:], (2, 3))
            sums = np.tensordot(windows, kernel, ((1, 4, 5), (1, 2, 3))) + bias
            values = np.maximum(sums, 0).transpose(0, 3, 1, 2)
        rows, columns = (length // 2 for length in values.shape[2:])
        blocks = values[:, :, : 2 * rows, : 2 * columns]
        values = blocks.reshape(*values.shape[:2], rows, 2, columns, 2).max((3, 5))
    flat = values.reshape(len(values), -1)
    return np.asarray(flat @ weights[f"{LINEAR}.weight"].T + weights[f"{LINEAR}.bias"], np.float32)
