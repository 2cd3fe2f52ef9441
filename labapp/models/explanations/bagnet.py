"""BagNet (Brendel and Bethge 2019): a score is the mean of the evidence of small patches.

The evidence map of a species is the linear head applied at each position of the last map. A
position sees nothing beyond its patch, and the score is exactly the mean of the map.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from labapp.models.datasets.birds import SPECIES, Birds
from labapp.models.datasets.split import Float32
from labapp.models.explanations import evaluation
from labapp.models.explanations.backbones import BagBackbone, PooledClassifier, begin, normalise
from labapp.models.explanations.classifier import (
    Classifier,
    Phase,
    classification_phase,
    network_of,
)
from labapp.models.explanations.data import Bagnet, ClassifierRecipe
from labapp.models.explanations.package import BagnetChecks
from labapp.models.explanations.photos import UInt8, as_input, load_photos

CHUNK = 50
"""Pictures at a time."""
PERCENTILE = 99.0
"""Percentile of the absolute evidence beyond which all values have the strongest colour."""


def network(recipe: ClassifierRecipe) -> PooledClassifier:
    method = recipe.method
    assert isinstance(method, Bagnet)
    return begin(lambda: PooledClassifier(BagBackbone(method.field), SPECIES), recipe.seed)


def phases(recipe: ClassifierRecipe, network: nn.Module, data: Birds) -> list[Phase]:
    return [classification_phase(recipe, network, data)]


def evidence(model: Classifier, pictures: UInt8) -> Float32:
    """The evidence of each patch for each species.

    pictures : uint8, shape (n, 3, size, size).

    Returns
    -------
    float32, shape (n, 20, size / 4, size / 4). Position (i, j) sees the `field` pixels around pixel
    (4 i, 4 j). The mean over positions is the score of the species, before any softmax.

    Raises
    ------
    ModelError : the model is of another method.
    """
    network = network_of(model, "bagnet", PooledClassifier)
    return _by_chunk(pictures, lambda inputs: _evidence(network, normalise(inputs)))


def symmetric_range(maps: Float32) -> Float32:
    """The evidence that gets the strongest colour, for or against: float32, shape (n,).

    It is the same for all species of a picture, so that their maps can be compared.
    """
    return np.percentile(np.abs(maps.reshape(len(maps), -1)), PERCENTILE, axis=1).astype(np.float32)


def checks(recipe: ClassifierRecipe, network: nn.Module, data: Birds) -> BagnetChecks:
    assert isinstance(network, PooledClassifier)
    photos = load_photos(data.test, evaluation.POINTED)
    maps = _by_chunk(photos.pictures, lambda inputs: _evidence(network, normalise(inputs)))
    with torch.inference_mode():
        scores = network(as_input(photos.pictures)).numpy()
    chosen = scores.argmax(1)
    own = maps[np.arange(len(maps)), chosen]
    birds = [photos.rows.bird(row) for row in range(len(photos))]
    return BagnetChecks(
        method="bagnet",
        field=measure_receptive_field(network, photos.pictures[:1]),
        map_error=float(np.abs(maps.mean((2, 3)) - scores).max()),
        pointing=evaluation.pointing(
            evaluation.peaks(own, network.backbone.stride), birds, recipe.data.size
        ),
        sisters=evaluation.sisters(maps, chosen),
    )


def measure_receptive_field(network: PooledClassifier, picture: UInt8) -> tuple[int, int]:
    """Height and width of the field in which a pixel changes what the middle position says.
    `picture`: uint8, shape (1, 3, size, size). Lines of pixels are changed one at a time."""
    x = normalise(as_input(picture))
    size = x.shape[-1]
    lines = torch.randn((2, size, *x.shape[1:]), generator=torch.Generator().manual_seed(0))
    extent = []
    for axis in (0, 1):
        changed = x.repeat(size, 1, 1, 1)
        at = torch.arange(size)
        if axis == 0:
            changed[at, :, at, :] = lines[0, at, :, at, :]
        else:
            changed[at, :, :, at] = lines[1, at, :, :, at]
        with torch.inference_mode():
            maps = _evidence(network, torch.cat((x, changed)))
        middle = maps[:, :, maps.shape[2] // 2, maps.shape[3] // 2]
        moved = (middle[1:] != middle[0]).any(1).nonzero().flatten()
        extent.append(int(moved[-1] - moved[0]) + 1)
    return extent[0], extent[1]


def _evidence(network: PooledClassifier, x: Tensor) -> Tensor:
    """The head at each position, of pictures that are normalised already: (n, 20, h, w)."""
    assert isinstance(network.backbone, BagBackbone)
    features = network.backbone.of_normalised(x)
    head = network.head
    return functional.conv2d(features, head.weight[:, :, None, None], head.bias)


def _by_chunk(pictures: UInt8, compute: Callable[[Tensor], Tensor]) -> Float32:
    with torch.inference_mode():
        return np.concatenate(
            [
                compute(as_input(pictures[start : start + CHUNK])).numpy()
                for start in range(0, len(pictures), CHUNK)
            ]
        )
