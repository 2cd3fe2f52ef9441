"""A decoder's computation together with how it computes, in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Forward:
    """z (n, width), float32 -> x (n, *shape), float32, the caller's own.

    `how` names the arithmetic: "float32", say, or which weights are rounded and to what.
    """

    compute: Callable[[Float32], Float32]
    how: str

    def __call__(self, z: Float32) -> Float32:
        return self.compute(z)
