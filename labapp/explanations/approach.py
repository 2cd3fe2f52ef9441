"""What a method is to training and loading: a module with these three functions.

network(recipe)               an untrained network, the same for the same recipe
phases(recipe, network, data) what it goes through to learn
checks(recipe, network, data) the block of the card that is the method's own
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol, TypeVar

from torch import nn
from torch.nn import functional

from labapp.explanations.fitting import Phase, Step, adamw, one_cycle
from labapp.explanations.methods import METHODS, Checks
from labapp.explanations.photos import SHIFT, Batches, Parts, painted
from labapp.explanations.recipe import ClassifierRecipe
from labapp.training.loop import Losses

DataT = TypeVar("DataT", contravariant=True)


class Approach(Protocol[DataT]):
    """A method, and the kind of data that it learns. Its network takes pictures, float32 from 0 to
    1 of shape (n, channels, size, size), and gives a score for each class, shape (n, classes): the
    greatest is the prediction.
    """

    def network(self, recipe: ClassifierRecipe) -> nn.Module: ...

    def phases(self, recipe: ClassifierRecipe, network: nn.Module, data: DataT) -> list[Phase]: ...

    def checks(self, recipe: ClassifierRecipe, network: nn.Module, data: DataT) -> Checks: ...


def approach(name: str) -> Approach[Any]:
    """The method of that name; see `methods.METHODS`."""
    module: Approach[Any] = import_module(METHODS[name].approach)
    return module


def classifying(
    recipe: ClassifierRecipe,
    network: nn.Module,
    data: Parts,
    *,
    augmented: bool = True,
    shift: int = SHIFT,
) -> Phase:
    """Learning to tell the classes: cross-entropy of the scores, after the recipe's schedule.

    augmented, shift : see `photos.Batches`.
    """
    schedule = recipe.schedule
    photos = painted(data.train)
    batches = Batches(photos, schedule.batch, recipe.seed, augmented=augmented, shift=shift)

    def loss(step: Step) -> Losses:
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

    def loss(_step: Step) -> Losses:
        do()
        return {}

    return Phase(name, 1, loss)
