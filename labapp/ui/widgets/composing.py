"""Pictures as pixels: from a decoder's float32 in 0..1 to 0xffRRGGBB, written in place.

Every function takes arrays of shape (rows, columns) and fills `out`, uint32 of the same shape.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Pixels = NDArray[np.uint32]

_GREYS = np.arange(256, dtype=np.uint32) * 0x010101 + 0xFF000000
_BLACK, _WHITE = np.uint32(0xFF000000), np.uint32(0xFFFFFFFF)


def levels(x: Array) -> NDArray[np.uint8]:
    """Grey levels 0..255; values outside 0..1 are clipped."""
    return (np.clip(x, 0.0, 1.0) * np.float32(255) + np.float32(0.5)).astype(np.uint8)


def grey(x: Array, out: Pixels) -> None:
    """The picture as it is."""
    np.take(_GREYS, levels(x), out=out)


def binary(x: Array, out: Pixels) -> None:
    """Black and white by the same rounding as the distance (representations.distance.mnist)."""
    np.copyto(out, _BLACK)
    np.copyto(out, _WHITE, where=x >= 0.5)


def two_hues(own: Array, target: Array, out: Pixels) -> None:
    """Blue where only the own picture is light, orange where only the target is, and the plain
    grey where they agree."""
    a, b = levels(own).astype(np.uint32), levels(target).astype(np.uint32)
    np.bitwise_or((b << 16) | (((a + b + 1) >> 1) << 8), a, out=out)
    np.bitwise_or(out, _BLACK, out=out)


def half_and_half(own: Array, target: Array, out: Pixels) -> None:
    """The target at 50 % opacity over the own picture, as in the published application."""
    grey((own + target) * np.float32(0.5), out)


def rounded(x: Array) -> Array:
    """0 or 1 a pixel, by the same rounding as `binary`."""
    return (x >= 0.5).astype(np.float32)
