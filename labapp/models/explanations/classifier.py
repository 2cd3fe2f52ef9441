"""A trained classifier and its predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from torch import nn

from labapp.base.errors import ModelError
from labapp.models.datasets.split import Float32, Int64
from labapp.models.explanations.card import ClassifierCard
from labapp.models.explanations.photos import UInt8, as_input

CHUNK = 100
"""Pictures at a time."""
NetworkT = TypeVar("NetworkT", bound=nn.Module)


@dataclass(frozen=True, slots=True, eq=False)
class Classifier:
    """A network in evaluation mode, and the card of what it is."""

    card: ClassifierCard
    network: nn.Module

    @property
    def names(self) -> tuple[str, ...]:
        """What the classes are called, in the order of the scores."""
        return self.card.recipe.data.names

    @property
    def size(self) -> int:
        """Width and height of the pictures it takes."""
        return self.card.recipe.data.size

    def scores(self, pictures: UInt8) -> Float32:
        """Scores of the classes, as the method has them: float32, shape (n, classes)."""
        return scores(self.network, pictures)

    def predicted(self, pictures: UInt8) -> Int64:
        """Classes predicted, from 0: int64, shape (n,)."""
        return np.asarray(self.scores(pictures).argmax(1), np.int64)


def scores(network: nn.Module, pictures: UInt8) -> Float32:
    """Scores of pictures, uint8 (n, channels, size, size), some at a time: (n, classes)."""
    starts = range(0, len(pictures), CHUNK)
    with torch.inference_mode():
        return np.concatenate(
            [network(as_input(pictures[at : at + CHUNK])).numpy() for at in starts]
        )


def network_of(model: Classifier, method: str, kind: type[NetworkT]) -> NetworkT:
    """The network of a classifier of this method. Raises ModelError: it is of another method."""
    actual = model.card.recipe.method.name
    if actual != method or not isinstance(model.network, kind):
        raise ModelError(
            f"{model.card.id} is a {actual}; its answers cannot be explained by {method}.",
            todo=f"Name a model whose method is {method}.",
        )
    return model.network
