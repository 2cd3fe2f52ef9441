"""Helper networks of OIS for codes that are maps, as in the released code behind paper 001: two 3 x
3 convolutions of 16 and 32 maps, ReLU after each, and a layer to the outputs. One for each pair of
a code and a concept, all trained at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

MAPS = (16, 32)
SIDE = 3


@dataclass(frozen=True, slots=True, eq=False)
class MapWeights:
    """Float32, of C x K helpers: `first` (C, K, 16, 1, 3, 3) and `second` (C, K, 32, 16, 3, 3) of
    the convolutions, `out` (C, K, 32 d, m) of the outputs, and the biases of each; m is 1 for two
    classes, and d the numbers of a map."""

    first: Tensor
    first_bias: Tensor
    second: Tensor
    second_bias: Tensor
    out: Tensor
    offset: Tensor

    def all(self) -> list[Tensor]:
        return [
            self.first,
            self.first_bias,
            self.second,
            self.second_bias,
            self.out,
            self.offset,
        ]


def initial_maps(
    helpers: tuple[int, int], d: int, outputs: int, generator: torch.Generator
) -> MapWeights:
    """Glorot's uniform weights, and biases of 0; `helpers` is (C, K)."""

    def uniform(*shape: int, inputs: int, units: int) -> Tensor:
        limit = math.sqrt(6 / (inputs + units))
        return (2 * torch.rand(*helpers, *shape, generator=generator) - 1) * limit

    maps, more = MAPS
    area = SIDE * SIDE
    return MapWeights(
        first=uniform(maps, 1, SIDE, SIDE, inputs=area, units=maps * area),
        first_bias=torch.zeros(*helpers, maps),
        second=uniform(more, maps, SIDE, SIDE, inputs=maps * area, units=more * area),
        second_bias=torch.zeros(*helpers, more),
        out=uniform(more * d, outputs, inputs=more * d, units=outputs),
        offset=torch.zeros(*helpers, outputs),
    )


def logits_of_maps(weights: MapWeights, values: Tensor) -> Tensor:
    """Of float32 values (C, n, d), square maps row by row, from every helper of their code: float32
    (C, K, n, m)."""
    codes, rows, d = values.shape
    helpers = weights.first.shape[1]
    side = math.isqrt(d)
    # Helpers of a code have its map in common, and from then on nothing.
    x = values.transpose(0, 1).reshape(rows, codes, side, side)
    x = torch.relu(
        functional.conv2d(
            x, weights.first.flatten(0, 2), weights.first_bias.flatten(), padding=1, groups=codes
        )
    )
    x = torch.relu(
        functional.conv2d(
            x,
            weights.second.flatten(0, 2),
            weights.second_bias.flatten(),
            padding=1,
            groups=codes * helpers,
        )
    )
    flat = x.reshape(rows, codes, helpers, -1).permute(1, 2, 0, 3)
    return flat @ weights.out + weights.offset[:, :, None]
