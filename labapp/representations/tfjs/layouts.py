"""The published networks by the names and shapes of their tensors.

Taken from the published files and training scripts (dtak/interactive-reconstruction, quiz/public/
models and src), which name some layers differently, and for InfoGAN from dtak/tensorpack,
examples/GAN/InfoGAN-mnist.py. The digits' decoders differ in names only from InfoGAN's generator,
which has biases in its deconvolutions and plain ReLU.

TensorFlow keeps a dense kernel as (in, out), a deconvolution's as (height, width, out, in), and
pictures with their channels last; torch has them the other way round. In a frozen graph, batch
normalisation has become one factor and one shift a channel, with its epsilon inside the factor.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labapp.representations.tfjs.document import listed, refuse
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


@dataclass(frozen=True, slots=True)
class PublishedNetwork:
    """Our architecture, the width of its z, and our decoder's weights by name."""

    architecture: str
    width: int
    weights: dict[str, Float32]


def _layer(name: str) -> TensorNames:
    return TensorNames(f"{name}/kernel", f"{name}/bias")


def _unbiased(name: str) -> TensorNames:
    return TensorNames(f"{name}/kernel", None)


def _tensorpack(name: str) -> TensorNames:
    return TensorNames(f"{name}/W", f"{name}/b")


def _norm(ours: str, theirs: str) -> Norm:
    """Of a dense layer."""
    return Norm(ours, f"{theirs}/batchnorm/mul", f"{theirs}/batchnorm/sub")


def _fused(ours: str, theirs: str) -> Norm:
    """Of a deconvolution, which TensorFlow normalises by another operation."""
    return Norm(ours, f"{theirs}/FusedBatchNorm/Scaled", f"{theirs}/FusedBatchNorm/Offset")


def _sinelines(first: str, second: str, last: str) -> NetworkLayout:
    return NetworkLayout(
        "sinelines-mlp",
        (
            Dense("body.0", _layer(first), None, 256),
            Dense("body.2", _layer(second), 256, 256),
            Dense("body.4", _layer(last), 256, 64),
        ),
    )


def _dsprites(scope: str) -> NetworkLayout:
    def of(name: str) -> TensorNames:
        return TensorNames(f"{scope}/W_{name}", f"{scope}/b_{name}")

    return NetworkLayout(
        "dsprites-conv",
        (
            Dense("dense.0", of("fc1"), None, 256),
            Dense("dense.2", of("fc2"), 256, 512, channels=32),
            Deconv("deconv.1", of("deconv1"), 32, 32),
            Deconv("deconv.3", of("deconv2"), 32, 32),
            Deconv("deconv.5", of("deconv3"), 32, 32),
            Deconv("deconv.7", of("deconv4"), 32, 1),
        ),
    )


_MNIST = NetworkLayout(
    "mnist-conv",
    (
        Dense("dense.0", _layer("ae/dec1"), None, 1024, _norm("dense.1", "ae/dec1_bn")),
        Dense("dense.3", _layer("ae/dec2"), 1024, 6272, _norm("dense.4", "ae/dec2_bn"), 128),
        Deconv(
            "deconv.1",
            _unbiased("ae/dec3"),
            128,
            64,
            _fused("deconv.2", "ae/dec3_bn"),
            biased=False,
        ),
        Deconv("deconv.4", _unbiased("ae/dec4"), 64, 1),
    ),
)

_INFOGAN = NetworkLayout(
    "mnist-infogan",
    (
        Dense("dense.0", _tensorpack("gen/fc0"), None, 1024, _norm("dense.1", "gen/fc0/bn")),
        Dense("dense.3", _tensorpack("gen/fc1"), 1024, 6272, _norm("dense.4", "gen/fc1/bn"), 128),
        Deconv(
            "deconv.1", _tensorpack("gen/deconv1"), 128, 64, _fused("deconv.2", "gen/deconv1/bn")
        ),
        Deconv("deconv.4", _tensorpack("gen/deconv2"), 64, 1),
    ),
)

LAYOUTS = (
    _sinelines("ae/dec/fc0", "ae/dec/fc1", "ae/dec/out"),
    _sinelines("ae/dec1", "ae/dec2", "ae/dec3"),
    _dsprites("ae/dec"),
    _dsprites("ae/decoder"),
    _MNIST,
    _INFOGAN,
)


def plain(name: str) -> str:
    """A tensor's name without the counters that a graph gives to repeated scopes (dec1_bn_1)."""
    *scopes, last = name.split("/")
    return "/".join([*(re.sub(r"_\d+$", "", scope) for scope in scopes), last])


def recognise(tensors: Mapping[str, Array]) -> PublishedNetwork:
    """The network these tensors belong to.

    Integers are the graph's own constants (shapes to reshape to, bounds of slices): they are
    passed over, unless they have the name of a weight.

    Raises
    ------
    ModelError : no known network, or one with tensors missing, besides, or of another shape.
    """
    weights = {name for layout in LAYOUTS for name in layout.tensors}
    result: dict[str, Array] = {}
    for full, values in tensors.items():
        name = plain(full)
        if values.dtype != np.float32 and name not in weights:
            continue
        if name in result:
            raise refuse(f"The package has two tensors for {name}, one of them {full}.")
        result[name] = values
    nearest = max(LAYOUTS, key=lambda layout: _likeness(layout, result))
    if not nearest.tensors.keys() & result.keys():
        known = ", ".join(dict.fromkeys(layout.architecture for layout in LAYOUTS))
        raise refuse(
            f"No known network has such tensors: {listed(sorted(result)) or 'none of float32'}.",
            todo=f"Import a published decoder of one of these architectures: {known}.",
        )
    problems = list(nearest.problems(result))
    if problems:
        raise refuse(
            f"The tensors are most like those of {nearest.architecture}, but {listed(problems)}."
        )
    floats = {name: values.astype(np.float32) for name, values in result.items()}
    width = len(floats[nearest.layers[0].theirs.kernel])
    return PublishedNetwork(nearest.architecture, width, nearest.convert(floats))


def _likeness(layout: NetworkLayout, arrays: Mapping[str, Array]) -> float:
    """The names that both have as a share of those that either has."""
    names = layout.tensors.keys()
    return len(names & arrays.keys()) / len(names | arrays.keys())
