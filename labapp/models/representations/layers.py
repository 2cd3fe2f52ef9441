"""The layers of decoders in words, without torch.

`networks` makes modules of them to be trained, and `folding` what is computed at a decode. A layer
has the name of its weights from the part that it is in and its place there: `dense.3.weight`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

HIDDEN = 256


@dataclass(frozen=True, slots=True)
class Dense:
    """W x + b of vectors; weight (out, into)."""

    into: int
    out: int
    bias: bool = True


@dataclass(frozen=True, slots=True)
class Deconvolution:
    """A transposed convolution of pictures; weight (into, out, size, size)."""

    into: int
    out: int
    bias: bool = True
    size: int = 4
    stride: int = 2
    padding: int = 1


@dataclass(frozen=True, slots=True)
class Normalisation:
    """Batch normalisation with factors and shifts that are learned; of pictures, or of vectors."""

    channels: int
    pictures: bool = False
    eps: float = 1e-5


@dataclass(frozen=True, slots=True)
class Rectifier:
    """x where it is positive, else slope * x: a ReLU, or a leaky one."""

    slope: float = 0.0


@dataclass(frozen=True, slots=True)
class Unfold:
    """A vector becomes a picture (channels, height, width)."""

    shape: tuple[int, int, int]


Layer = Dense | Deconvolution | Normalisation | Rectifier | Unfold
Parts = Mapping[str, tuple[Layer, ...]]
"""By the names of a network's parts, in the order in which they run, the layers of each."""


def sinelines(width: int, points: int) -> Parts:
    """width -> 256 -> 256 -> points, ReLU, linear output."""
    dense = Dense(width, HIDDEN), Rectifier(), Dense(HIDDEN, HIDDEN), Rectifier()
    return {"body": (*dense, Dense(HIDDEN, points))}


def dsprites(width: int) -> Parts:
    """Dense 256 and 512, then four 4 x 4 stride-2 deconvolutions from 4 x 4 x 32."""
    return {
        "dense": (Dense(width, 256), Rectifier(), Dense(256, 512), Rectifier()),
        "deconv": (
            Unfold((32, 4, 4)),
            *(Deconvolution(32, 32), Rectifier()) * 3,
            Deconvolution(32, 1),
        ),
    }


def mnist(width: int, *, generator: bool = False) -> Parts:
    """Dense 1024 and 6272, then deconvolutions 64 and 1 from 7 x 7 x 128.

    Batch normalisation and leaky ReLU 0.2 after each but the last; a layer in front of batch
    normalisation has no bias of its own, since the normalisation takes it away again. The
    `generator` of the published InfoGAN has plain ReLU and biases in its deconvolutions.
    """
    bend = Rectifier(0.0 if generator else 0.2)
    return {
        "dense": (
            *(Dense(width, 1024, bias=False), Normalisation(1024), bend),
            *(Dense(1024, 6272, bias=False), Normalisation(6272), bend),
        ),
        "deconv": (
            Unfold((128, 7, 7)),
            *(Deconvolution(128, 64, bias=generator), Normalisation(64, pictures=True), bend),
            Deconvolution(64, 1),
        ),
    }
