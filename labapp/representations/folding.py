"""A decoder as a list of linear layers, with batch normalisation folded into them.

At inference a normalisation is itself linear: with s = gamma / sqrt(variance + eps),

    gamma (W x + b - mean) / sqrt(variance + eps) + beta  =  s (W x) + s (b - mean) + beta

so that each layer of the network comes down to act(scale * W x + shift). This is algebra, not an
approximation: only the rounding of float32 differs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Layer:
    """act(scale * W x + shift).

    Attributes
    ----------
    weight : W, float32: (out, in) of a dense layer, (in, out, k, k) of a deconvolution.
    shift : (out,), float64.
    scale : (out,), float64; None stands for ones.
    slope : of the leaky ReLU behind it, 0 for a ReLU, None for no activation.
    unfold : (channels, height, width) that a dense layer's output becomes, else None.
    stride, padding : of a deconvolution.
    """

    weight: Tensor
    shift: Tensor
    scale: Tensor | None = None
    slope: float | None = None
    unfold: tuple[int, int, int] | None = None
    stride: int = 1
    padding: int = 0

    @property
    def dense(self) -> bool:
        return self.weight.ndim == 2

    def scaled(self) -> Tensor:
        """scale * W, float32."""
        if self.scale is None:
            return self.weight
        scale = self.scale.float()
        return self.weight * (scale[:, None] if self.dense else scale[None, :, None, None])

    def channels_last(self) -> Layer:
        """The layer with its output in the order of `unfold`'s (height, width, channels)."""
        assert self.unfold is not None
        order = torch.arange(len(self.weight)).view(self.unfold).permute(1, 2, 0).flatten()
        return replace(
            self,
            weight=self.weight[order],
            shift=self.shift[order],
            scale=None if self.scale is None else self.scale[order],
        )


def fold(network: nn.Module) -> list[Layer] | None:
    """The layers of a network whose modules run in the order in which they are registered.

    None when it holds a module of a kind, or at a place, that this folding does not know.
    """
    layers: list[Layer] = []
    for module in network.modules():
        if any(module.children()):
            continue
        layer = _next(module, layers[-1] if layers else None)
        if layer is None:
            return None
        if isinstance(module, nn.Linear | nn.ConvTranspose2d):
            layers.append(layer)
        else:
            layers[-1] = layer
    return layers


def _next(module: nn.Module, last: Layer | None) -> Layer | None:
    """A layer of its own for a linear module, else the last one with the module folded in."""
    match module:
        case nn.Linear():
            return Layer(module.weight, _shift(module.bias, module.out_features))
        case nn.ConvTranspose2d() if _plain(module):
            return Layer(
                module.weight,
                _shift(module.bias, module.out_channels),
                stride=module.stride[0],
                padding=int(module.padding[0]),
            )
    if last is None or last.slope is not None:
        # An activation stands between: nothing but the shape can be folded in.
        return _unfolded(module, last)
    match module:
        case nn.BatchNorm1d() | nn.BatchNorm2d():
            return _normalised(module, last)
        case nn.ReLU():
            return replace(last, slope=0.0)
        case nn.LeakyReLU():
            return replace(last, slope=module.negative_slope)
    return _unfolded(module, last)


def _plain(module: nn.ConvTranspose2d) -> bool:
    """Whether stride and padding are one number each and nothing else is set."""
    square = all(len(set(pair)) == 1 for pair in (module.kernel_size, module.stride))
    return (
        square
        and module.padding == (module.padding[0],) * 2
        and module.output_padding == (0, 0)
        and module.dilation == (1, 1)
        and module.groups == 1
    )


def _unfolded(module: nn.Module, last: Layer | None) -> Layer | None:
    if last is None or not last.dense or not isinstance(module, nn.Unflatten):
        return None
    shape = tuple(module.unflattened_size)
    return replace(last, unfold=shape) if len(shape) == 3 else None


def _shift(bias: Tensor | None, out: int) -> Tensor:
    return torch.zeros(out, dtype=torch.float64) if bias is None else bias.double()


def _normalised(module: nn.BatchNorm1d | nn.BatchNorm2d, last: Layer) -> Layer | None:
    mean, variance = module.running_mean, module.running_var
    if mean is None or variance is None or not module.affine:
        return None
    scale = module.weight.double() / torch.sqrt(variance.double() + module.eps)
    before = 1.0 if last.scale is None else last.scale
    shift = scale * (last.shift - mean.double()) + module.bias.double()
    return replace(last, scale=scale * before, shift=shift)
