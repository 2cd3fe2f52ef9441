"""ProtoPNet: similarities of patches to learned prototypes, and the classes; and its explanations.

After Chen et al. 2019, "This looks like that": squared L2 distances between the backbone's map and
prototypes of one cell, the smallest over the places, a similarity that falls with the distance's
logarithm, and a linear layer without bias over the similarities.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from labapp.models.datasets.split import Float32, Float64, Int64
from labapp.models.explanations import patches
from labapp.models.explanations.backbones import CHANNELS, ResidualBackbone
from labapp.models.explanations.classifier import Classifier, network_of
from labapp.models.explanations.patches import PrototypeNetwork
from labapp.models.explanations.photos import UInt8, as_input

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


CHUNK = 50
"""Pictures at a time."""


@dataclass(frozen=True, slots=True)
class ClassPrototype:
    """A patch of a training picture that speaks for a species.

    `number` is its column in an `ClassExplanation`; `row` the picture, in the training part of the
    card's data; `cell` row and column of the map; `box` left, top, right, bottom in shares of the
    picture; `weight` what its similarity is multiplied with in the score of its species.
    """

    number: int
    species: int
    row: int
    cell: tuple[int, int]
    box: tuple[float, float, float, float]
    weight: float


@dataclass(frozen=True, slots=True, eq=False)
class ClassExplanation:
    """Of n pictures, with the P prototypes that `prototypes` lists.

    `scores` (n, 20); `similarities` (n, P) at the most similar place, 0 to 9.21; `maps`
    (n, P, h, w) of the similarity at every place. All float32. Position (i, j) of a map is centred
    on pixel (8 i, 8 j) of 96.
    """

    scores: Float32
    similarities: Float32
    maps: Float32
    size: int

    @property
    def predicted(self) -> Int64:
        """Species predicted, from 0: int64, shape (n,)."""
        return np.asarray(self.scores.argmax(1).astype(np.int64))

    def boxes(self, picture: int, prototypes: Int64) -> Float64:
        """Where in a picture these prototypes are found: float64, shape (k, 4), see `regions`."""
        return patches.around_peaks(self.maps[picture, prototypes], self.size)


def prototypes(model: Classifier) -> list[ClassPrototype]:
    """The prototypes that are kept, those of a species together. ModelError: another method."""
    network = network_of(model, "protopnet", ProtoPNet)
    numbers = remaining_prototypes(network)
    sources = network.sources.numpy().astype(int)
    weights = network.last.weight.detach().numpy()
    result = []
    for number, at in enumerate(numbers.tolist()):
        species = int(network.owners[at])
        left, top, right, bottom = network.boxes[at].tolist()
        row, y, x = sources[at].tolist()
        weight = float(weights[species, at])
        box = (left, top, right, bottom)
        result.append(ClassPrototype(number, species, row, (y, x), box, weight))
    return result


def explain(model: Classifier, pictures: UInt8) -> ClassExplanation:
    """How alike the places of pictures, uint8 (n, 3, size, size), are to the prototypes.

    Raises
    ------
    ModelError : the model is of another method.
    """
    network = network_of(model, "protopnet", ProtoPNet)
    maps, scores = of_network(network, pictures)
    return ClassExplanation(scores, maps.max((2, 3)), maps, model.size)


def of_network(network: ProtoPNet, pictures: UInt8) -> tuple[Float32, Float32]:
    """Maps (n, P, h, w) of the kept prototypes, and scores (n, 20)."""
    numbers = remaining_prototypes(network)
    maps, scores = [], []
    with torch.inference_mode():
        for start in range(0, len(pictures), CHUNK):
            distances = network.squared_distances(as_input(pictures[start : start + CHUNK]))
            maps.append(similarity(distances[:, numbers]).float().numpy())
            scores.append(network.logits(distances.amin((2, 3))).float().numpy())
    return np.concatenate(maps), np.concatenate(scores)


def remaining_prototypes(network: ProtoPNet) -> Int64:
    """Numbers, in the network, of the prototypes that are kept."""
    return np.flatnonzero(network.kept.numpy()).astype(np.int64)
