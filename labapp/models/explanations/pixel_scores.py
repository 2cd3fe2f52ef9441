"""Scores of pixels for a class: gradient, guided backpropagation and LRP.

Source: paper 004, section 3.3, which takes the three from iNNvestigate with its defaults: the
signed gradient; guided backpropagation (Springenberg et al. 2015), signed too; and LRP by its
preset A for sequential networks, epsilon 0.1 for dense layers and alpha 1, beta 0 for convolutions.
All explain the score of a class before any softmax, which here is what the network gives.

captum computes them. What it does (0.9), as far as it matters here:

* `Saliency` takes absolute values unless told not to.
* `GuidedBackprop` changes only `nn.ReLU` modules, never a ReLU called as a function.
* `LRP` forgets the rules of the layers after each call, and would go on with its own: they are set
  anew for each. It gives the network its weights back in another order of memory, by which later
  sums are rounded otherwise: it gets a copy. It propagates a share of 1 and multiplies by the score
  in the end, so that what comes out adds up to the score if nothing is absorbed, although its
  documentation still says that the sum is 1. A ReLU passes relevance on; a pooling gives all to the
  pixel it took.
* Its rule for alpha 1, beta 0 is right where inputs are not negative, as here behind every ReLU and
  in pictures from 0 to 1. The bias, of either sign, stands in the denominator, as in the preset of
  iNNvestigate; a positive one takes relevance in, a negative one gives some out.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from typing import Literal

import numpy as np
from captum.attr import LRP, GuidedBackprop, Saliency
from captum.attr._utils.lrp_rules import Alpha1_Beta0_Rule, EpsilonRule
from torch import Tensor, nn

from labapp.base.errors import ModelError
from labapp.models.datasets.split import Float32, Int64
from labapp.models.explanations.classifier import Classifier
from labapp.models.explanations.photos import UInt8, as_input

Scoring = Literal["gradient", "guided_backprop", "lrp"]
EPSILON = 0.1
"""Epsilon of LRP in dense layers."""
CHUNK = 50
"""Pictures at a time."""


def scores(classifier: Classifier, method: Scoring, pictures: UInt8, classes: Int64) -> Float32:
    """Scores of the pixels of pictures, the channels summed. Returns float32, shape (n, size,
    size). Signed: what is above 0 speaks for the class. Raises ModelError: the three methods cannot
    be applied to the network. `pictures`: uint8, shape (n, channels, size, size). `classes`: which
    class of each picture is explained, from 0; int64, shape (n,)."""
    network = sequential(classifier)
    parts = []
    for start in range(0, len(pictures), CHUNK):
        some = slice(start, start + CHUNK)
        maps = of_network(network, method, as_input(pictures[some]), classes[some].tolist())
        parts.append(maps.sum(1).numpy())
    return np.concatenate(parts).astype(np.float32)


def gradient(classifier: Classifier, pictures: UInt8, classes: Int64) -> Float32:
    return scores(classifier, "gradient", pictures, classes)


def guided_backprop(classifier: Classifier, pictures: UInt8, classes: Int64) -> Float32:
    return scores(classifier, "guided_backprop", pictures, classes)


def lrp(classifier: Classifier, pictures: UInt8, classes: Int64) -> Float32:
    return scores(classifier, "lrp", pictures, classes)


def sequential(classifier: Classifier) -> nn.Sequential:
    """The network, if its pixels can be scored. Raises ModelError otherwise."""
    network = classifier.network
    allowed = (nn.Conv2d, nn.ReLU, nn.MaxPool2d, nn.Flatten, nn.Linear)
    layers = list(network) if isinstance(network, nn.Sequential) else []
    plain = all(isinstance(layer, allowed) for layer in layers)
    if not layers or not plain or len(set(map(id, layers))) < len(layers):
        raise ModelError(
            f"The pixels of {classifier.card.id}, a {classifier.card.recipe.method.name}, cannot "
            "be scored: gradient, guided backpropagation and LRP go through plain convolutions, "
            "ReLU, max pooling and dense layers.",
            todo="Choose a model whose method is cnn.",
        )
    assert isinstance(network, nn.Sequential)
    return network


def of_network(
    network: nn.Sequential, method: Scoring, inputs: Tensor, classes: Sequence[int]
) -> Tensor:
    """Scores of every value of the inputs: shape and dtype of `inputs`. `inputs`: float from 0 to
    1, shape (n, channels, size, size); `classes`: one per picture."""
    fresh = inputs.detach().clone().requires_grad_()
    target = list(classes)
    match method:
        case "gradient":
            maps = Saliency(network).attribute(fresh, target, abs=False)
        case "guided_backprop":
            with warnings.catch_warnings():
                # It warns every time that it sets hooks and removes them.
                warnings.filterwarnings("ignore", message="Setting backward hooks on ReLU")
                maps = GuidedBackprop(network).attribute(fresh, target)
        case "lrp":
            copied = copy.deepcopy(network)
            _set_rules(copied)
            maps = LRP(copied).attribute(fresh, target)
    scored: Tensor = maps.detach()
    return scored


def _set_rules(network: nn.Sequential) -> None:
    """The rules of preset A."""
    for layer in network:
        if isinstance(layer, nn.Conv2d):
            layer.rule = Alpha1_Beta0_Rule()
        elif isinstance(layer, nn.Linear):
            layer.rule = EpsilonRule(EPSILON)
        elif isinstance(layer, nn.Flatten):
            layer.rule = EpsilonRule()
