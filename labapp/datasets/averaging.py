"""Pictures reduced to fewer pixels, each the mean of the area that it covers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def average_blocks(pictures: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """Reduce square pictures to fewer pixels by averaging areas.

    Parameters
    ----------
    pictures : uint8, shape (n, channels, side, side).
    size : pixels of a side of what comes out, at most `side`.

    Returns
    -------
    uint8, shape (n, channels, size, size), rounded as a picture file holds it.

    Raises
    ------
    ValueError : `size` is not positive, or larger than the pictures.
    """
    side = pictures.shape[-1]
    if not 0 < size <= side:
        raise ValueError(f"size must lie between 1 and {side}, found {size}")
    edges = np.arange(size + 1) * (side / size)
    # Where the new pixel and the old one overlap, as a share of the new one: (size, side).
    over = np.minimum(edges[1:, None], np.arange(side) + 1) - np.maximum(
        edges[:-1, None], np.arange(side)
    )
    share = over.clip(0) * (size / side)
    whole: NDArray[np.uint8] = np.rint(share @ pictures @ share.T).astype(np.uint8)
    return whole
