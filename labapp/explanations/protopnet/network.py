"""ProtoPNet: similarities of patches to learned prototypes, and the classes.

After Chen et al. 2019, "This looks like that": squared L2 distances between the backbone's map and
prototypes of one cell, the smallest over the places, a similarity that falls with the distance's
logarithm, and a linear layer without bias over the similarities.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from labapp.explanations.backbones import CHANNELS, ResidualBackbone
from labapp.explanations.patches import PrototypeNetwork

EPSILON = 1e-4
OWN, OTHER = 1.0, -0.5
"""Weights of the last layer before training: a prototype's own class, and every other."""
MAXIMUM = math.log(1 / EPSILON)
"""The largest similarity there is: that of a patch with itself."""


def similarity(distance: Tensor) -> Tensor:
    """log((d + 1) / (d + 1e-4)) of squared distances: 0 far away, `MAXIMUM` at no distance."""
    return torch.log((distance + 1) / (distance + EPSILON))


def add_on(channels: int, width: int) -> nn.Sequential:
    """The two 1 × 1 convolutions between backbone and prototypes; what leaves is within 0 to 1."""
    layers = nn.Sequential(
        nn.Conv2d(channels, width, 1), nn.ReLU(), nn.Conv2d(width, width, 1), nn.Sigmoid()
    )
    for layer in layers:
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
    return layers


class ProtoPNet(PrototypeNetwork):
    """Backbone, add-on layers, prototypes and the last layer.

    The shapes follow from the recipe alone: a pruned prototype keeps its place, where `kept` is 0.
    `sources` (P, 3) are the training row, map row and map column that each prototype was taken
    from, -1 before the first push; `boxes` (P, 4) that place in the picture, see `regions`.

    Parameters
    ----------
    classes : how many classes there are; `each` : prototypes of a class.
    width : D, channels of the map that prototypes are compared with.
    field : pixels that a position of the map sees.
    """

    kept: Tensor
    sources: Tensor
    boxes: Tensor

    def __init__(self, classes: int, each: int, width: int, field: Literal[33, 49] = 33) -> None:
        owners = torch.arange(classes).repeat_interleave(each)
        count = len(owners)
        backbone, above = ResidualBackbone(field), add_on(CHANNELS, width)
        super().__init__(backbone, above, torch.rand(count, width))
        self.owners = owners
        self.last = nn.Linear(count, classes, bias=False)
        self.register_buffer("kept", torch.ones(count))
        self.register_buffer("sources", torch.full((count, 3), -1.0))
        self.register_buffer("boxes", torch.zeros(count, 4))
        with torch.no_grad():
            self.last.weight.copy_(first_weights(self.owners, classes))

    def nearest(self, pictures: Tensor) -> Tensor:
        """Smallest squared distance of each picture to each prototype, (n, P)."""
        return self.squared_distances(pictures).amin((2, 3))

    def logits(self, nearest: Tensor) -> Tensor:
        """From the smallest distances (n, P) to the classes, (n, classes)."""
        weights = (self.last.weight * self.kept).to(nearest.dtype)
        return similarity(nearest) @ weights.T

    def forward(self, pictures: Tensor) -> Tensor:
        """Logits, (n, classes), float32."""
        return self.logits(self.nearest(pictures)).float()


def first_weights(owners: Tensor, classes: int) -> Tensor:
    """The last layer's weights before training, (classes, P)."""
    own = owners[None, :] == torch.arange(classes, device=owners.device)[:, None]
    return torch.where(own, OWN, OTHER)


def own_class(owners: Tensor, classes: int) -> Tensor:
    """(P, classes): true for the one class whose pictures a prototype may take a patch of."""
    return owners[:, None] == torch.arange(classes, device=owners.device)
