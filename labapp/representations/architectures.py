"""The registry of architectures that model packages may name.

Listing and checking a package needs no torch; building a trained decoder does, and imports it then.
A package adds an architecture by an entry point of the group `labapp.decoders` that names an
`Architecture`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from labapp.datasets import circles, sinelines
from labapp.discovery import Catalogue
from labapp.representations import layers
from labapp.representations.display import Display
from labapp.representations.layers import Parts

if TYPE_CHECKING:
    from torch import nn

Likelihood = Literal["gaussian", "bernoulli"]
Float32 = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """An exact formula x(z), with the names and limits of its dials and a sampler of its prior."""

    decode: Callable[[Float32], Float32]
    names: tuple[str, ...]
    limits: tuple[tuple[float, float], ...]
    sample_prior: Callable[[int, int], Float32]
    """(count, seed) -> dial states, float32 (count, dimensions)."""


@dataclass(frozen=True, slots=True)
class TrainedNetwork:
    """A network whose weights are learned."""

    decoder: Callable[[int], nn.Module]
    """Width of z -> the decoder, untrained."""
    encoder: Callable[[int, bool], nn.Module] | None
    """(width, with a log-variance head) -> the encoder; None for a generator, which has none."""
    likelihood: Likelihood
    """How a decoded x is read: as the mean of a Gaussian, or as Bernoulli probabilities."""
    parts: Callable[[int], Parts] | None = None
    """Width of z -> the same decoder's layers, by which it is also computed without importing
    torch; None for a network that `decoder` alone knows."""


@dataclass(frozen=True, slots=True)
class OnnxGraph:
    """A network whose whole graph lies in the package, as ONNX."""


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A function of a Python package that is installed where the model is used."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """How the decoder of a model package is built.

    Attributes
    ----------
    name : what `architecture` in a card or a recipe says.
    output_shape : of a single instance x.
    display : whether x is drawn as a series or as an image.
    source : an exact rule; a network, whose weights lie in the package; one that lies there whole;
        or a function that is installed beside labapp.
    """

    name: str
    output_shape: tuple[int, ...]
    display: Display
    source: ClosedForm | TrainedNetwork | OnnxGraph | PythonFunction


def _sinelines_encoder(width: int, posterior: bool) -> nn.Module:
    from labapp.representations.networks import MlpEncoder

    return MlpEncoder(width, points=sinelines.POINTS, posterior=posterior)


def _sinelines_decoder(width: int) -> nn.Module:
    from labapp.representations.networks import MlpDecoder

    return MlpDecoder(width, points=sinelines.POINTS)


def _dsprites_encoder(width: int, posterior: bool) -> nn.Module:
    from labapp.representations.networks import DspritesEncoder

    return DspritesEncoder(width, posterior=posterior)


def _mnist_encoder(width: int, posterior: bool) -> nn.Module:
    from labapp.representations.networks import MnistEncoder

    return MnistEncoder(width, posterior=posterior)


def _of_pictures(parts: Callable[[int], Parts]) -> Callable[[int], nn.Module]:
    def decoder(width: int) -> nn.Module:
        from labapp.representations.networks import PictureDecoder

        return PictureDecoder(parts(width))

    return decoder


_sinelines = partial(layers.sinelines, points=sinelines.POINTS)
_generator = partial(layers.mnist, generator=True)

_ALL = (
    Architecture(
        "closed-form:circles",
        (circles.SIZE, circles.SIZE),
        "image",
        ClosedForm(circles.pictures, circles.NAMES, circles.LIMITS, circles.sample_prior),
    ),
    Architecture(
        "closed-form:sinelines",
        (sinelines.POINTS,),
        "series",
        ClosedForm(sinelines.series, sinelines.NAMES, sinelines.LIMITS, sinelines.sample_prior),
    ),
    Architecture(
        "sinelines-mlp",
        (sinelines.POINTS,),
        "series",
        TrainedNetwork(_sinelines_decoder, _sinelines_encoder, "gaussian", _sinelines),
    ),
    Architecture(
        "dsprites-conv",
        (64, 64),
        "image",
        TrainedNetwork(
            _of_pictures(layers.dsprites), _dsprites_encoder, "bernoulli", layers.dsprites
        ),
    ),
    Architecture(
        "mnist-conv",
        (28, 28),
        "image",
        TrainedNetwork(_of_pictures(layers.mnist), _mnist_encoder, "bernoulli", layers.mnist),
    ),
    Architecture(
        "mnist-infogan",
        (28, 28),
        "image",
        TrainedNetwork(_of_pictures(_generator), None, "bernoulli", _generator),
    ),
)

ARCHITECTURES: Catalogue[Architecture] = Catalogue(
    "labapp.decoders", "an architecture", Architecture, lambda: _ALL
)
