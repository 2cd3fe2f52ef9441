"""The residual classifier and its explanation, GradCAM (Selvaraju et al. 2017).

GradCAM shows where raising the channels of the last map would raise the score of a species: the
channels are weighted by the mean gradient of the score, before any softmax, and added up; what
speaks against the species is dropped. All maps of a picture are put on one scale, as in HIVE, so
that the maps of several species can be compared.
"""

from __future__ import annotations

import numpy as np
import torch
from captum.attr import LayerGradCam
from torch import Tensor, nn

from labapp.models.datasets.birds import SPECIES, Birds
from labapp.models.datasets.split import Float32
from labapp.models.explanations import evaluation
from labapp.models.explanations.backbones import PooledClassifier, ResidualBackbone, begin
from labapp.models.explanations.classifier import (
    Classifier,
    Phase,
    classification_phase,
    network_of,
)
from labapp.models.explanations.data import ClassifierRecipe
from labapp.models.explanations.package import GradcamChecks
from labapp.models.explanations.photos import UInt8, as_input, load_photos

CHUNK = 50
"""Pictures at a time."""


def network(recipe: ClassifierRecipe) -> PooledClassifier:
    return begin(lambda: PooledClassifier(ResidualBackbone(), SPECIES), recipe.seed)


def phases(recipe: ClassifierRecipe, network: nn.Module, data: Birds) -> list[Phase]:
    return [classification_phase(recipe, network, data)]


def checks(recipe: ClassifierRecipe, network: nn.Module, data: Birds) -> GradcamChecks:
    assert isinstance(network, PooledClassifier)
    photos = load_photos(data.test, evaluation.POINTED)
    maps, scores = of_network(network, photos.pictures)
    chosen = scores.argmax(1)
    own = maps[np.arange(len(maps)), chosen]
    birds = [photos.rows.bird(row) for row in range(len(photos))]
    return GradcamChecks(
        method="resnet",
        pointing=evaluation.pointing(
            evaluation.peaks(own, network.backbone.stride), birds, recipe.data.size
        ),
        sisters=evaluation.sisters(maps, chosen),
    )


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
    network = network_of(model, "resnet", PooledClassifier)
    maps, _ = of_network(network, pictures)
    return scale_maps(maps)


def scale_maps(maps: Float32) -> Float32:
    """Each picture's maps, (n, 20, h, w), from 0 to 1 over all its species together."""
    low = maps.min((1, 2, 3), keepdims=True)
    span = maps.max((1, 2, 3), keepdims=True) - low
    return np.asarray((maps - low) / np.where(span > 0, span, 1))


class _Classification(nn.Module):
    """The network behind its last map, which is thus computed once for all species."""

    def __init__(self, network: PooledClassifier) -> None:
        super().__init__()
        self.map = nn.Identity()
        self.network = network

    def forward(self, features: Tensor) -> Tensor:
        return self.network.judged(self.map(features))


def of_network(network: PooledClassifier, pictures: UInt8) -> tuple[Float32, Float32]:
    """Maps (n, 20, h, w) as they are after the ReLU, and scores (n, 20)."""
    judging = _Classification(network)
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
