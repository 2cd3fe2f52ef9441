"""Explanations of a ProtoPNet: its prototypes, and their similarity to the patches of a picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from labapp.datasets.split import Float32, Float64, Int64
from labapp.explanations import regions
from labapp.explanations.classifier import Classifier, network_of
from labapp.explanations.photos import UInt8, as_input
from labapp.explanations.protopnet.network import ProtoPNet, similarity

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
        species: Int64 = self.scores.argmax(1).astype(np.int64)
        return species

    def boxes(self, picture: int, prototypes: Int64) -> Float64:
        """Where in a picture these prototypes are found: float64, shape (k, 4), see `regions`."""
        return regions.around_peaks(self.maps[picture, prototypes], self.size)


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
