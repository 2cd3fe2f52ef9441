"""The residual classifier, explained by GradCAM."""

from __future__ import annotations

import numpy as np
from torch import nn

from labapp.datasets.birds.dataset import Birds
from labapp.datasets.birds.species import SPECIES
from labapp.explanations import gradcam, measuring
from labapp.explanations.approach import classifying
from labapp.explanations.backbones import Pooled, Residual, begin
from labapp.explanations.card import GradcamChecks
from labapp.explanations.fitting import Phase
from labapp.explanations.photos import painted
from labapp.explanations.recipe import ClassifierRecipe

POINTED = 200
"""Test pictures on which the explanations are measured."""


def network(recipe: ClassifierRecipe) -> Pooled:
    return begin(lambda: Pooled(Residual(), SPECIES), recipe.seed)


def phases(recipe: ClassifierRecipe, network: nn.Module, data: Birds) -> list[Phase]:
    return [classifying(recipe, network, data)]


def checks(recipe: ClassifierRecipe, network: nn.Module, data: Birds) -> GradcamChecks:
    assert isinstance(network, Pooled)
    photos = painted(data.test, POINTED)
    maps, scores = gradcam.of_network(network, photos.pictures)
    chosen = scores.argmax(1)
    own = maps[np.arange(len(maps)), chosen]
    birds = [photos.rows.bird(row) for row in range(len(photos))]
    return GradcamChecks(
        method="resnet",
        pointing=measuring.pointing(
            measuring.peaks(own, network.backbone.stride), birds, recipe.data.size
        ),
        sisters=measuring.sisters(maps, chosen),
    )
