"""The layers of fast decoders as torch computes them on its tensors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from labapp.representations.folding import Layer

Step = Callable[[Tensor], Tensor]


class TorchKernels:
    """See `fast_decode.Kernels`."""

    @property
    def has_half(self) -> bool:
        return "fbgemm" in torch.backends.quantized.supported_engines

    def dense(self, layer: Layer) -> Step:
        ordered = layer.channels_last()
        weight, shift = _tensor(ordered.scaled()), _tensor(ordered.shift)
        act, unfold = _activation(layer.slope), _unfold(layer)
        return lambda x: unfold(act(F.linear(x, weight, shift)))

    def half_dense(self, layer: Layer) -> Step:
        ordered = layer.channels_last()
        # The scale stays outside: multiplied in, it would take weights off the float16 grid. It is
        # multiplied and the shift added in two steps, each rounded, as any library rounds them.
        packed = torch.ops.quantized.linear_prepack_fp16(_tensor(ordered.weight), None)
        multiply = torch.ops.quantized.linear_dynamic_fp16.default
        scale = torch.ones(1) if ordered.scale is None else _tensor(ordered.scale)
        shift = _tensor(ordered.shift)
        act, unfold = _activation(layer.slope), _unfold(layer)
        return lambda x: unfold(act(multiply(x, packed).mul_(scale).add_(shift)))

    def deconvolution(self, layer: Layer) -> Step:
        weight = _tensor(layer.scaled()).contiguous(memory_format=torch.channels_last)
        shift, stride, padding = _tensor(layer.shift), layer.stride, layer.padding
        act = _activation(layer.slope)
        return lambda x: act(F.conv_transpose2d(x, weight, shift, stride, padding))

    def overlap_add(self, layer: Layer) -> Step:
        channels, _, size, _ = layer.weight.shape
        blocks = _tensor(layer.scaled()).reshape(channels, size * size).t().contiguous()
        shift, stride, padding = _tensor(layer.shift), layer.stride, layer.padding
        act = _activation(layer.slope)

        def step(x: Tensor) -> Tensor:
            height, width = ((n - 1) * stride - 2 * padding + size for n in x.shape[2:])
            columns = torch.bmm(blocks.expand(len(x), -1, -1), x.flatten(2))
            added = F.fold(columns, (height, width), size, padding=padding, stride=stride)
            return act(added.add_(shift))

        return step

    def sigmoid(self, x: Tensor) -> Tensor:
        return torch.sigmoid_(x)


def _tensor(values: NDArray[np.floating]) -> Tensor:
    return torch.from_numpy(np.require(values, np.float32, ["C", "W"]))


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
