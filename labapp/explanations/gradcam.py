"""GradCAM (Selvaraju et al. 2017): where raising a map's channels would raise a species' score.

The channels of the last map are weighted by the mean gradient of the score, before any softmax,
and added up; what speaks against the species is dropped. The maps of all species of a picture are
put on one scale, as HIVE does, so that those shown beside each other can be compared.
"""

from __future__ import annotations

import numpy as np
import torch
from captum.attr import LayerGradCam
from torch import Tensor, nn

from labapp.datasets.birds.species import SPECIES
from labapp.datasets.split import Float32
from labapp.errors import ModelError
from labapp.explanations.backbones import Pooled, Residual
from labapp.explanations.classifier import Classifier
from labapp.explanations.photos import UInt8, as_input

CHUNK = 50
"""Pictures at a time."""


def gradcam(model: Classifier, pictures: UInt8) -> Float32:
    """The maps of all species on the picture's common scale.

    pictures : uint8, shape (n, 3, size, size).

    Returns
    -------
    float32 from 0 to 1, shape (n, 20, size / 8, size / 8): 0 and 1 are the least and the greatest
    value over all species of that picture. Position (i, j) is centred on pixel (8 i, 8 j).

    Raises
    ------
    ModelError : the model is of another method.
    """
    network = model.network
    if not isinstance(network, Pooled) or not isinstance(network.backbone, Residual):
        raise ModelError(
            f"GradCAM explains the residual classifier; {model.card.id} is another kind.",
            todo="Name a model whose method is resnet.",
        )
    maps, _ = of_network(network, pictures)
    return scaled(maps)


def scaled(maps: Float32) -> Float32:
    """Each picture's maps, (n, 20, h, w), from 0 to 1 over all its species together."""
    low = maps.min((1, 2, 3), keepdims=True)
    span = maps.max((1, 2, 3), keepdims=True) - low
    result: Float32 = (maps - low) / np.where(span > 0, span, 1)
    return result


class _Judging(nn.Module):
    """The network behind its last map, which is its input: the map is computed once for all
    species rather than once for each.
    """

    def __init__(self, network: Pooled) -> None:
        super().__init__()
        self.map = nn.Identity()
        self.network = network

    def forward(self, features: Tensor) -> Tensor:
        return self.network.judged(self.map(features))


def of_network(network: Pooled, pictures: UInt8) -> tuple[Float32, Float32]:
    """Maps (n, 20, h, w) as they are after the ReLU, and scores (n, 20)."""
    judging = _Judging(network)
    cam = LayerGradCam(judging, judging.map)
    maps, scores = [], []
    for start in range(0, len(pictures), CHUNK):
        with torch.no_grad():
            features = network.backbone(as_input(pictures[start : start + CHUNK]))
            scores.append(network.judged(features).numpy())
        features.requires_grad_()
        of_batch: list[Tensor] = [
            cam.attribute(features, target=species, relu_attributions=True)
            for species in range(SPECIES)
        ]
        maps.append(torch.cat(of_batch, 1).detach().numpy())
    return np.concatenate(maps), np.concatenate(scores)
