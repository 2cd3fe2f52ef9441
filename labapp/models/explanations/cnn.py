"""A small convolutional classifier that explanations of pixels can propagate through.

It has four convolutions with ReLU, two poolings and one linear layer, much like the network that
Biessmann and Refiano (2019) explained. Neither the input nor batches are normalised, nothing
follows the scores, and each ReLU is a module of its own that is used once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from torch import nn

from labapp.models.datasets.faces import CLASSES, FaceRows
from labapp.models.explanations.backbones import begin
from labapp.models.explanations.classifier import Phase, classification_phase, scores
from labapp.models.explanations.cnn_scores import CHANNELS, KERNELS
from labapp.models.explanations.data import ClassifierRecipe, Cnn
from labapp.models.explanations.package import CnnChecks, Cue
from labapp.models.explanations.photos import DataParts, Photos, PictureRows, load_photos

SHIFTED = 24
"""Training pictures are shifted by at most their size divided by this number."""


def network(recipe: ClassifierRecipe) -> nn.Sequential:
    """Takes float32 from 0 to 1, shape (n, channels, size, size); gives scores (n, classes)."""
    data = recipe.data
    return begin(lambda: layers(data.channels, data.size, len(data.names)), recipe.seed)


def layers(channels: int, size: int, classes: int) -> nn.Sequential:
    """The network for pictures of so many channels and pixels.

    The convolutions pad nothing: zeros around a picture would be an edge that no face has, and
    explanations would point there.
    """
    first, second, third, fourth = CHANNELS
    k1, k2, k3, k4 = KERNELS
    side = (size - k1 - k2 + 2) // 2
    side = (side - k3 - k4 + 2) // 2
    return nn.Sequential(
        nn.Conv2d(channels, first, k1),
        nn.ReLU(),
        nn.Conv2d(first, second, k2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(second, third, k3),
        nn.ReLU(),
        nn.Conv2d(third, fourth, k4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(fourth * side**2, classes),
    )


def phases(recipe: ClassifierRecipe, network: nn.Module, data: DataParts) -> list[Phase]:
    method = recipe.method
    assert isinstance(method, Cnn)
    shift = recipe.data.size // SHIFTED
    return [classification_phase(recipe, network, data, augmented=method.augmented, shift=shift)]


def checks(recipe: ClassifierRecipe, network: nn.Module, data: DataParts) -> CnnChecks:
    train, test = load_photos(data.train), load_photos(data.test)
    right = scores(network, train.pictures).argmax(1) == train.labels
    return CnnChecks(
        method="cnn",
        parameters=sum(parameter.numel() for parameter in network.parameters()),
        train_accuracy=_share(right),
        cues=_cues(network, test),
    )


def _cues(network: nn.Module, test: Photos[PictureRows]) -> dict[str, Cue] | None:
    """Accuracy with and against the cues, glasses and dark hair, which go with anger in training
    alone."""
    if not isinstance(test.rows, FaceRows):
        return None
    right = scores(network, test.pictures).argmax(1) == test.labels
    angry = test.labels == CLASSES.index("anger")
    worn = [test.rows.face(row).identity for row in range(len(test))]
    cues = {"glasses": [face.glasses for face in worn], "dark hair": [face.dark for face in worn]}
    shares = {}
    for name, there in cues.items():
        agrees = np.array(there) == angry
        shares[name] = Cue(
            agreeing=_share(right[agrees]),
            misleading=_share(right[~agrees]),
            misleading_pictures=int((~agrees).sum()),
        )
    return shares


def _share(right: NDArray[np.bool_]) -> float:
    return round(float(right.mean()), 4) if right.size else 0.0
