"""What a method is to training and loading: a module with these three functions.

network(recipe)               an untrained network, the same for the same recipe
phases(recipe, network, data) what it goes through to learn
checks(recipe, network, data) the block of the card that is the method's own
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from torch import nn
from torch.nn import functional

from labapp.datasets.birds.dataset import Birds
from labapp.explanations.card import Checks
from labapp.explanations.fitting import Losses, Phase, Step, adamw, one_cycle
from labapp.explanations.photos import Batches, painted
from labapp.explanations.recipe import ClassifierRecipe


class Approach(Protocol):
    """A method. Its network takes pictures, float32 from 0 to 1 of shape (n, 3, size, size), and
    gives a score for each species, shape (n, 20): the greatest is the prediction.
    """

    def network(self, recipe: ClassifierRecipe) -> nn.Module: ...

    def phases(self, recipe: ClassifierRecipe, network: nn.Module, data: Birds) -> list[Phase]: ...

    def checks(self, recipe: ClassifierRecipe, network: nn.Module, data: Birds) -> Checks: ...


def approach(name: str) -> Approach:
    """The method of that name; see `methods.Method`."""
    if name == "bagnet":
        from labapp.explanations import bagnet

        return bagnet
    if name == "protopnet":
        from labapp.explanations.protopnet import training as protopnet

        return protopnet
    if name == "prototree":
        from labapp.explanations.prototree import training as prototree

        return prototree
    from labapp.explanations import resnet

    return resnet


def classifying(recipe: ClassifierRecipe, network: nn.Module, data: Birds) -> Phase:
    """Learning to tell the species: cross-entropy of the scores, after the recipe's schedule."""
    schedule = recipe.schedule
    batches = Batches(painted(data.train), schedule.batch, recipe.seed)

    def loss(step: Step) -> Losses:
        pictures, species = batches.take(step.number, step.random)
        scores = network(pictures)
        right = (scores.argmax(1) == species).float().mean()
        return {"loss": functional.cross_entropy(scores, species), "accuracy": right}

    return Phase(
        name="classifying",
        steps=schedule.steps,
        loss=loss,
        optimiser=adamw(network, schedule.peak, schedule.weight_decay),
        rate=one_cycle(schedule.warm_up),
    )


def deed(name: str, do: Callable[[], None]) -> Phase:
    """A phase of one step without descent; see `fitting.Phase`."""

    def loss(_step: Step) -> Losses:
        do()
        return {}

    return Phase(name, 1, loss)
