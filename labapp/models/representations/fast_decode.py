"""Decoding on the CPU, faster than the network as it was trained (benchmarks/decode_ratios.py).

* Batch normalisation is folded into the layer before it (`folding`).
* Pictures are kept channels last from the first deconvolution on, its weights too: the library
  then reorders neither at every layer.
* A last deconvolution of one channel, which the library widens to a vector of 16, is a matrix
  product and a sum of overlapping blocks instead: a fifth of the time.
* A dense layer larger than a processor's near caches waits for memory, not for arithmetic: its
  weights are read as float16, half the bytes. They are widened in registers, and activations,
  products and sums stay float32, so the layer is *the same* where the weights are float16 numbers
  to begin with (as shipped for MNIST) and has weights rounded to 11 bits elsewhere.

Which layers are computed how is said here; the arithmetic is torch's, called by `torch_kernels`, or
by `native_kernels` where torch is not to be imported. Both come to the same bits.

Rejected: bfloat16, which is as fast but rounds weights, activations and results to 8 bits (the
large layer's error was 14 times that of float16) and needs AVX-512; torch.jit's freezing, which is
deprecated and gains a tenth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from labapp.base.errors import ModelError
from labapp.models.representations.decoders import Forward
from labapp.models.representations.folding import Layer
from labapp.models.representations.recipe import Architecture

T = TypeVar("T")

LARGE = 1 << 20
"""Weights (4 MiB as float32) from which a dense layer is bound by memory."""

LARGEST_HALF = 65_504.0
"""The largest float16."""


class Kernels(Protocol[T]):
    """What computes layers on arrays of a kind T: rows of vectors, or pictures channels last. Each
    is with its activation, and gives `Layer.channels_last`."""

    @property
    def has_half(self) -> bool:
        """Whether this build and processor multiply float32 by float16 weights."""

    def dense(self, layer: Layer) -> Callable[[T], T]:
        """A dense layer."""

    def half_dense(self, layer: Layer) -> Callable[[T], T]:
        """A dense layer whose weights are read as float16."""

    def deconvolution(self, layer: Layer) -> Callable[[T], T]:
        """A deconvolution."""

    def overlap_add(self, layer: Layer) -> Callable[[T], T]:
        """A deconvolution of one output channel: each pixel becomes a k x k block, blocks are
        added."""

    def sigmoid(self, x: T) -> T:
        """Of each value; x may be overwritten."""


def steps(
    layers: Sequence[Layer], kernels: Kernels[T], *, sigmoid: bool, exact: bool
) -> tuple[list[Callable[[T], T]], str]:
    """The layers as functions to apply one after the other, and a description of their arithmetic.

    sigmoid : apply a sigmoid after the last layer. exact : keep all weights float32.
    """
    made: list[Callable[[T], T]] = []
    halved: list[str] = []
    for layer in layers:
        if not layer.dense:
            one_channel = layer.weight.shape[1] == 1
            made.append(kernels.overlap_add(layer) if one_channel else kernels.deconvolution(layer))
        elif not exact and kernels.has_half and halves(layer.weight):
            made.append(kernels.half_dense(layer))
            rounded = not np.array_equal(layer.weight.astype(np.float16), layer.weight)
            out, into = layer.weight.shape
            halved.append(f"{into} x {out} weights {'rounded to' if rounded else 'are'} float16")
        else:
            made.append(kernels.dense(layer))
    if sigmoid:
        made.append(kernels.sigmoid)
    return made, "; ".join(["float32", *halved])


def halves(weight: NDArray[np.float32]) -> bool:
    """Whether a dense layer is so large that its weights are to be read as float16, and they are
    none too large for that."""
    return weight.size >= LARGE and max(-weight.min(), weight.max()) <= LARGEST_HALF


def check_weights(
    architecture: Architecture,
    expected: Mapping[str, tuple[int, ...]],
    weights: Mapping[str, NDArray[np.float32]],
) -> None:
    """Raises ModelError unless the weights have the expected names and shapes."""
    shapes = {name: values.shape for name, values in weights.items()}
    if expected == shapes:
        return
    problems = [f"lacks {name!r}" for name in sorted(expected.keys() - shapes.keys())]
    problems += [f"has {name!r} besides" for name in sorted(shapes.keys() - expected.keys())]
    problems += [
        f"has {name!r} of shape {shapes[name]} where {expected[name]} belongs"
        for name in sorted(expected.keys() & shapes.keys())
        if shapes[name] != expected[name]
    ]
    more = f" and {len(problems) - 4} more differences" if len(problems) > 4 else ""
    raise ModelError(
        f"The weights are not those of {architecture.name}: the file "
        f"{'; '.join(problems[:4])}{more}.",
        safe="No model was loaded.",
        todo="Check that model.yaml and decoder.safetensors come from the same package.",
    )


def tried(architecture: Architecture, width: int, forward: Forward) -> Forward:
    """The decoder, after a trial. Raises ModelError if the trial fails."""
    trial = forward(np.zeros((1, width), dtype=np.float32))
    if trial.shape != (1, *architecture.output_shape) or not np.isfinite(trial).all():
        raise ModelError(
            f"The weights do not make a decoder: z = 0 decodes to shape {trial.shape[1:]}, "
            "or to values that are not finite.",
            todo="Take a fresh copy of the model package from where it was published.",
        )
    return forward
