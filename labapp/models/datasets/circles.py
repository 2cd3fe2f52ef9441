"""Circles: the two-dial pictures of the practice questions, in closed form.

A disc of grey 1 - z2 on a background of grey z2, of radius 24 z1 + 4 pixels round pixel (31, 31)
of a 64 x 64 picture (paper 000, A.4 and the published application).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labapp.models.datasets.split import Float32

SIZE = 64
CENTRE = 31
RADIUS_STEP = 24.0
RADIUS_LEAST = 4.0

NAMES = ("radius", "shade")
LIMITS = ((0.0, 1.0), (0.0, 1.0))

_OFFSET = np.arange(SIZE, dtype=np.float64) - CENTRE
_DISTANCE = np.hypot(_OFFSET[:, None], _OFFSET[None, :])


def pictures(z: NDArray[np.floating]) -> Float32:
    """Pictures of the dial states z. Returns float32, shape (n, 64, 64), rows downwards, 0 black
    and 1 white. A pixel belongs to the disc when its centre lies strictly inside the radius. `z`:
    shape (n, 2), each value in [0, 1]: radius and shade."""
    values = np.asarray(z, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != 2:
        raise ValueError(f"circles need z of shape (n, 2), found {values.shape}")
    radius = RADIUS_STEP * values[:, 0] + RADIUS_LEAST
    shade = values[:, 1][:, None, None]
    inside = _DISTANCE[None] < radius[:, None, None]
    return np.where(inside, 1.0 - shade, shade).astype(np.float32)


def sample_prior(count: int, seed: int) -> Float32:
    """Dial states drawn uniformly from the 101 x 101 positions of the dials, shape (count, 2)."""
    draws = np.random.Generator(np.random.PCG64(seed)).random((count, 2))
    return (np.floor(draws * 101) / 100).astype(np.float32)
