"""A decoder as a list of linear layers, with batch normalisation folded into them.

At inference a normalisation is itself linear: with s = gamma / sqrt(variance + eps),

    gamma (W x + b - mean) / sqrt(variance + eps) + beta  =  s (W x) + s (b - mean) + beta

so that each layer of the network comes down to act(scale * W x + shift). This is algebra, not an
approximation: only the rounding of float32 differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from labapp.models.datasets.split import Float32, Float64
from labapp.models.representations import recipe
from labapp.models.representations.recipe import (
    Deconvolution,
    Dense,
    Normalisation,
    Parts,
    Rectifier,
    Unfold,
)


@dataclass(frozen=True, slots=True, eq=False)
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

    weight: Float32
    shift: Float64
    scale: Float64 | None = None
    slope: float | None = None
    unfold: tuple[int, int, int] | None = None
    stride: int = 1
    padding: int = 0

    @property
    def dense(self) -> bool:
        return self.weight.ndim == 2

    def scaled(self) -> Float32:
        """scale * W, float32."""
        if self.scale is None:
            return self.weight
        scale = self.scale.astype(np.float32)
        return self.weight * (scale[:, None] if self.dense else scale[None, :, None, None])

    def channels_last(self) -> Layer:
        """The layer with its output in the order (height, width, channels), where it unfolds."""
        if self.unfold is None:
            return self
        order = np.arange(len(self.weight)).reshape(self.unfold).transpose(1, 2, 0).ravel()
        return replace(
            self,
            weight=self.weight[order],
            shift=self.shift[order],
            scale=None if self.scale is None else self.scale[order],
        )


def named(parts: Parts) -> Iterator[tuple[str, recipe.Layer]]:
    """The layers of all parts in the order in which they run, with their names."""
    for part, made_of in parts.items():
        for place, layer in enumerate(made_of):
            yield f"{part}.{place}", layer


def shapes(parts: Parts) -> dict[str, tuple[int, ...]]:
    """The weights and statistics that a network of these parts has, by name."""
    result: dict[str, tuple[int, ...]] = {}
    for name, layer in named(parts):
        match layer:
            case Dense(into, out, bias):
                result[f"{name}.weight"] = (out, into)
            case Deconvolution(into, out, bias, size):
                result[f"{name}.weight"] = (into, out, size, size)
            case Normalisation(out):
                vectors = ("weight", "running_mean", "running_var")
                result |= {f"{name}.{vector}": (out,) for vector in vectors}
                bias = True
            case _:
                continue
        if bias:
            result[f"{name}.bias"] = (out,)
    return result


def fold(
    network: Iterable[tuple[str, recipe.Layer]], weights: Mapping[str, Float32]
) -> list[Layer] | None:
    """The layers of a network, each with its name, in the order in which they run.

    None when one stands at a place that this folding does not know.
    """
    folded: list[Layer] = []
    for name, layer in network:
        own = {
            key.removeprefix(f"{name}."): values
            for key, values in weights.items()
            if key.rpartition(".")[0] == name
        }
        last = folded[-1] if folded else None
        match layer:
            case Dense():
                folded.append(Layer(own["weight"], _shift(own, layer.out)))
                continue
            case Deconvolution():
                weight, shift = own["weight"], _shift(own, layer.out)
                folded.append(Layer(weight, shift, stride=layer.stride, padding=layer.padding))
                continue
            case Unfold() if last is not None and last.dense:
                last = replace(last, unfold=layer.shape)
            # Behind an activation, nothing but the shape can be folded in.
            case Normalisation() if last is not None and last.slope is None:
                last = _normalised(layer, own, last)
            case Rectifier() if last is not None and last.slope is None:
                last = replace(last, slope=layer.slope)
            case _:
                return None
        folded[-1] = last
    return folded


def _shift(own: Mapping[str, Float32], out: int) -> Float64:
    return own["bias"].astype(np.float64) if "bias" in own else np.zeros(out)


def _normalised(layer: Normalisation, own: Mapping[str, Float32], last: Layer) -> Layer:
    gamma, beta, mean, variance = (
        own[name].astype(np.float64) for name in ("weight", "bias", "running_mean", "running_var")
    )
    scale = gamma / np.sqrt(variance + layer.eps)
    before = 1.0 if last.scale is None else last.scale
    return replace(last, scale=scale * before, shift=scale * (last.shift - mean) + beta)
