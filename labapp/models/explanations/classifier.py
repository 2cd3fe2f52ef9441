"""A trained classifier and its predictions.

What training and loading need of a method: a module with these three functions.

network(recipe)               an untrained network, the same for the same recipe
phases(recipe, network, data) the phases of its training
checks(recipe, network, data) the method's own block of the card
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from labapp.base.errors import ModelError
from labapp.models.datasets.split import Float32, Int64
from labapp.models.explanations.card import ClassifierCard
from labapp.models.explanations.data import METHODS, Checks, ClassifierRecipe
from labapp.models.explanations.fitting import Phase, PhaseStep, adamw
from labapp.models.explanations.photos import (
    SHIFT,
    Batches,
    DataParts,
    UInt8,
    as_input,
    load_photos,
)
from labapp.models.training.loop import Losses, one_cycle

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


DataT = TypeVar("DataT", contravariant=True)


class Approach(Protocol[DataT]):
    """The module of a method, for the kind of data that it learns.

    Its network takes pictures, float32 from 0 to 1 of shape (n, channels, size, size), and gives a
    score for each class, shape (n, classes). The class of the greatest score is the prediction.
    """

    def network(self, recipe: ClassifierRecipe) -> nn.Module: ...

    def phases(self, recipe: ClassifierRecipe, network: nn.Module, data: DataT) -> list[Phase]: ...

    def checks(self, recipe: ClassifierRecipe, network: nn.Module, data: DataT) -> Checks: ...


def approach(name: str) -> Approach[Any]:
    """The method of that name; see `methods.METHODS`."""
    return import_module(METHODS[name].approach)


def classification_phase(
    recipe: ClassifierRecipe,
    network: nn.Module,
    data: DataParts,
    *,
    augmented: bool = True,
    shift: int = SHIFT,
) -> Phase:
    """The phase that learns to classify: cross-entropy of the scores, by the recipe's schedule.
    `augmented`, `shift`: see `photos.Batches`."""
    schedule = recipe.schedule
    photos = load_photos(data.train)
    batches = Batches(photos, schedule.batch, recipe.seed, augmented=augmented, shift=shift)

    def loss(step: PhaseStep) -> Losses:
        pictures, labels = batches.take(step.number, step.random)
        scores = network(pictures)
        right = (scores.argmax(1) == labels).float().mean()
        return {"loss": functional.cross_entropy(scores, labels), "accuracy": right}

    return Phase(
        name="classifying",
        steps=schedule.steps,
        loss=loss,
        optimiser=adamw(network, schedule.peak, schedule.weight_decay),
        rate=one_cycle(schedule.warm_up),
    )


def one_off_phase(name: str, do: Callable[[], None]) -> Phase:
    """A phase of one step without descent; see `fitting.Phase`."""

    def loss(_step: PhaseStep) -> Losses:
        do()
        return {}

    return Phase(name, 1, loss)
