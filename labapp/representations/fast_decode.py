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

Rejected: bfloat16, which is as fast but rounds weights, activations and results to 8 bits (the
large layer's error was 14 times that of float16) and needs AVX-512; torch.jit's freezing, which is
deprecated and gains a tenth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from labapp.representations.folding import Layer

Step = Callable[[Tensor], Tensor]

LARGE = 1 << 20
"""Weights (4 MiB as float32) from which a dense layer is bound by memory."""

LARGEST_HALF = 65_504.0
"""The largest float16."""


def steps(layers: Sequence[Layer], *, sigmoid: bool, exact: bool) -> tuple[list[Step], str]:
    """The layers as functions to apply one after the other, and a description of their arithmetic.

    sigmoid : apply a sigmoid after the last layer. exact : keep all weights float32.
    """
    made: list[Step] = []
    halved: list[str] = []
    for layer in layers:
        if not layer.dense:
            one_channel = layer.weight.shape[1] == 1
            made.append(_overlap_add(layer) if one_channel else _deconvolution(layer))
        elif not exact and layer.weight.numel() >= LARGE and halves(layer.weight):
            made.append(_half_dense(layer))
            rounded = not torch.equal(layer.weight.half().float(), layer.weight)
            out, into = layer.weight.shape
            halved.append(f"{into} x {out} weights {'rounded to' if rounded else 'are'} float16")
        else:
            made.append(_dense(layer))
    if sigmoid:
        made.append(torch.sigmoid_)
    return made, "; ".join(["float32", *halved])


def halves(weight: Tensor) -> bool:
    """Whether this build and processor multiply float32 by float16 weights, and these fit."""
    if "fbgemm" not in torch.backends.quantized.supported_engines:
        return False
    low, high = torch.aminmax(weight)
    return float(max(-low, high)) <= LARGEST_HALF


def _activation(slope: float | None) -> Step:
    if slope is None:
        return lambda x: x
    if slope == 0:
        return torch.relu_
    return lambda x: F.leaky_relu(x, slope, inplace=True)


def _unfold(layer: Layer) -> Step:
    """Output in (height, width, channels) order as a picture of (n, channels, height, width)."""
    if layer.unfold is None:
        return lambda x: x
    channels, height, width = layer.unfold
    return lambda x: x.view(-1, height, width, channels).permute(0, 3, 1, 2)


def _dense(layer: Layer) -> Step:
    ordered = layer if layer.unfold is None else layer.channels_last()
    weight, shift = ordered.scaled(), ordered.shift.float()
    act, unfold = _activation(layer.slope), _unfold(layer)
    return lambda x: unfold(act(F.linear(x, weight, shift)))


def _half_dense(layer: Layer) -> Step:
    ordered = layer if layer.unfold is None else layer.channels_last()
    # The scale stays outside: multiplied in, it would take weights off the float16 grid.
    packed = torch.ops.quantized.linear_prepack_fp16(ordered.weight, None)
    multiply = torch.ops.quantized.linear_dynamic_fp16.default
    scale = torch.ones(1) if ordered.scale is None else ordered.scale.float()
    shift = ordered.shift.float()
    act, unfold = _activation(layer.slope), _unfold(layer)
    return lambda x: unfold(act(torch.addcmul(shift, multiply(x, packed), scale)))


def _deconvolution(layer: Layer) -> Step:
    weight = layer.scaled().contiguous(memory_format=torch.channels_last)
    shift, stride, padding = layer.shift.float(), layer.stride, layer.padding
    act = _activation(layer.slope)
    return lambda x: act(F.conv_transpose2d(x, weight, shift, stride, padding))


def _overlap_add(layer: Layer) -> Step:
    """A deconvolution of one output channel: each pixel becomes a k x k block, blocks are added."""
    channels, _, size, _ = layer.weight.shape
    blocks = layer.scaled().reshape(channels, size * size).t().contiguous()
    shift, stride, padding = layer.shift.float(), layer.stride, layer.padding
    act = _activation(layer.slope)

    def step(x: Tensor) -> Tensor:
        height, width = ((n - 1) * stride - 2 * padding + size for n in x.shape[2:])
        columns = torch.bmm(blocks.expand(len(x), -1, -1), x.flatten(2))
        added = F.fold(columns, (height, width), size, padding=padding, stride=stride)
        return act(added.add_(shift))

    return step
