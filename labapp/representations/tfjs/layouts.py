"""The published networks by the names and shapes of their tensors.

Taken from the published files and training scripts (dtak/interactive-reconstruction, quiz/public/
models and src), which name some layers differently, and for InfoGAN from dtak/tensorpack,
examples/GAN/InfoGAN-mnist.py. The digits' decoders differ in names only from InfoGAN's generator,
which has biases in its deconvolutions and plain ReLU.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from labapp.representations.tfjs.document import listed, refuse
from labapp.representations.tfjs.layers import (
    Deconv,
    Dense,
    Float32,
    NetworkLayout,
    Norm,
    TensorNames,
)
from labapp.representations.tfjs.manifest import Array


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
