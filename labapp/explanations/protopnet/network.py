"""The prototype layer: how alike each place of a picture is to each learned patch, and the classes.

After Chen et al. 2019, "This looks like that": squared L2 distances between the backbone's map and
prototypes of one cell, the smallest over the places, a similarity that falls with the distance's
logarithm, and a linear layer without bias over the similarities.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from labapp.explanations.patches import squared_distances

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


class ProtoPNet(nn.Module):
    """Backbone, add-on layers, prototypes and the last layer.

    Parameters
    ----------
    backbone : from pictures (n, 3, s, s) to maps (n, `channels`, h, w).
    owners : the class of each prototype, int64, shape (P,).
    classes : how many classes there are.
    width : D, channels of the map that prototypes are compared with.
    """

    owners: Tensor

    def __init__(
        self, backbone: nn.Module, channels: int, owners: Tensor, classes: int, width: int
    ) -> None:
        super().__init__()
        self.backbone = backbone
        self.add_on = add_on(channels, width)
        self.prototypes = nn.Parameter(torch.rand(len(owners), width))
        self.register_buffer("owners", owners.clone(), persistent=True)
        self.last = nn.Linear(len(owners), classes, bias=False)
        with torch.no_grad():
            self.last.weight.copy_(first_weights(owners, classes))

    def latent(self, pictures: Tensor) -> Tensor:
        """(n, 3, s, s) normalised pictures to (n, D, h, w)."""
        found: Tensor = self.add_on(self.backbone(pictures))
        return found

    def nearest(self, pictures: Tensor) -> Tensor:
        """Smallest squared distance of each picture to each prototype, (n, P)."""
        return squared_distances(self.latent(pictures), self.prototypes).amin((2, 3))

    def forward(self, pictures: Tensor) -> Tensor:
        """Logits, (n, classes)."""
        logits: Tensor = self.last(similarity(self.nearest(pictures)))
        return logits

    def keep(self, chosen: Tensor) -> None:
        """Drop every prototype but the chosen ones (their numbers, int64)."""
        weight = self.last.weight.detach()[:, chosen]
        self.prototypes = nn.Parameter(self.prototypes.detach()[chosen].clone())
        self.owners = self.owners[chosen].clone()
        self.last = nn.Linear(len(chosen), len(weight), bias=False).to(weight.device)
        with torch.no_grad():
            self.last.weight.copy_(weight)


def first_weights(owners: Tensor, classes: int) -> Tensor:
    """The last layer's weights before training, (classes, P)."""
    own = owners[None, :] == torch.arange(classes, device=owners.device)[:, None]
    return torch.where(own, OWN, OTHER)


def own_class(owners: Tensor, classes: int) -> Tensor:
    """(P, classes): true for the one class whose pictures a prototype may take a patch of."""
    return owners[:, None] == torch.arange(classes, device=owners.device)
