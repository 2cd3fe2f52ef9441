"""How TensorFlow's layers become torch's: names, order of axes, frozen batch normalisation.

TensorFlow keeps a dense kernel as (in, out), a deconvolution's as (height, width, out, in), and
pictures with their channels last; torch has them the other way round. In a frozen graph, batch
normalisation has become one factor and one shift a channel, with its epsilon inside the factor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labapp.representations.tfjs.document import listed
from labapp.representations.tfjs.manifest import Array

Float32 = NDArray[np.float32]
Shape = tuple[int | None, ...]
"""None stands for the width of z."""

EPSILON = 1e-5
"""What torch's batch normalisation adds to a variance."""


@dataclass(frozen=True, slots=True)
class TensorNames:
    """Names of a layer's tensors in the published file; some layers have no bias."""

    kernel: str
    bias: str | None


@dataclass(frozen=True, slots=True)
class Norm:
    """Frozen batch normalisation, y = x * factor + shift."""

    ours: str
    factor: str
    shift: str

    def convert(self, factor: Float32, shift: Float32, bias: Float32) -> dict[str, Float32]:
        """Ours, with a variance that torch makes 1; a `bias` added before goes into the mean."""
        return {
            f"{self.ours}.weight": factor,
            f"{self.ours}.bias": shift,
            f"{self.ours}.running_mean": -bias,
            f"{self.ours}.running_var": np.full_like(factor, 1.0 - EPSILON),
        }


@dataclass(frozen=True, slots=True)
class Dense:
    """A dense layer; ours has a bias unless it stands in front of a `norm`.

    `channels`: what comes out is unfolded to squares with so many channels.
    """

    ours: str
    theirs: TensorNames
    inputs: int | None
    outputs: int
    norm: Norm | None = None
    channels: int = 1

    @property
    def tensors(self) -> dict[str, Shape]:
        return _tensors(self, (self.inputs, self.outputs))

    def convert(self, arrays: Mapping[str, Float32]) -> dict[str, Float32]:
        # Theirs unfold to (side, side, channels), ours to (channels, side, side).
        order = np.arange(self.outputs).reshape(-1, self.channels).T.ravel()
        out = {f"{self.ours}.weight": arrays[self.theirs.kernel].T[order]}
        bias = _bias(self, arrays)[order]
        if self.norm is None:
            return out | {f"{self.ours}.bias": bias}
        factor, shift = arrays[self.norm.factor][order], arrays[self.norm.shift][order]
        return out | self.norm.convert(factor, shift, bias)


@dataclass(frozen=True, slots=True)
class Deconv:
    """A 4 x 4 deconvolution; `biased` says whether ours has a bias."""

    ours: str
    theirs: TensorNames
    inputs: int
    outputs: int
    norm: Norm | None = None
    biased: bool = True

    @property
    def tensors(self) -> dict[str, Shape]:
        return _tensors(self, (4, 4, self.outputs, self.inputs))

    def convert(self, arrays: Mapping[str, Float32]) -> dict[str, Float32]:
        out = {f"{self.ours}.weight": arrays[self.theirs.kernel].transpose(3, 2, 0, 1)}
        bias = _bias(self, arrays)
        if self.biased:
            out[f"{self.ours}.bias"] = bias
            bias = np.zeros_like(bias)
        if self.norm is not None:
            out |= self.norm.convert(arrays[self.norm.factor], arrays[self.norm.shift], bias)
        return out


def _tensors(layer: Dense | Deconv, kernel: Shape) -> dict[str, Shape]:
    out: dict[str, Shape] = {layer.theirs.kernel: kernel}
    if layer.theirs.bias is not None:
        out[layer.theirs.bias] = (layer.outputs,)
    if layer.norm is not None:
        out |= {layer.norm.factor: (layer.outputs,), layer.norm.shift: (layer.outputs,)}
    return out


def _bias(layer: Dense | Deconv, arrays: Mapping[str, Float32]) -> Float32:
    if layer.theirs.bias is None:
        return np.zeros(layer.outputs, np.float32)
    return arrays[layer.theirs.bias]


@dataclass(frozen=True, slots=True)
class NetworkLayout:
    """A published network: our architecture's name, and the layers from z to x."""

    architecture: str
    layers: tuple[Dense | Deconv, ...]

    @property
    def tensors(self) -> dict[str, Shape]:
        """Names (as `layouts.plain` gives them) and shapes."""
        return {name: shape for layer in self.layers for name, shape in layer.tensors.items()}

    def convert(self, arrays: Mapping[str, Float32]) -> dict[str, Float32]:
        """Our decoder's parameters and statistics by name, from tensors without `problems`."""
        return {name: w for layer in self.layers for name, w in layer.convert(arrays).items()}

    def problems(self, arrays: Mapping[str, Array]) -> Iterator[str]:
        """What keeps these tensors from being this network's; nothing if they are."""
        expected = self.tensors
        missing = sorted(expected.keys() - arrays.keys())
        if missing:
            yield f"lack {listed(missing)}"
        surplus = sorted(arrays.keys() - expected.keys())
        if surplus:
            yield f"have {listed(surplus)} besides"
        for name in sorted(expected.keys() & arrays.keys()):
            if arrays[name].dtype != np.float32:
                yield f"have {name} as {arrays[name].dtype}"
            elif not _fits(arrays[name].shape, expected[name]):
                drawn = ", ".join(
                    "width of z" if side is None else f"{side}" for side in expected[name]
                )
                yield f"have {name} of shape {arrays[name].shape} where ({drawn}) belongs"


def _fits(shape: tuple[int, ...], expected: Shape) -> bool:
    return len(shape) == len(expected) and all(
        wanted is None or side == wanted for side, wanted in zip(shape, expected, strict=True)
    )
