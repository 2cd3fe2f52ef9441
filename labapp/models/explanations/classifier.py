"""A trained classifier and its predictions.

What training and loading need of a method: a module with these three functions.

network(recipe)               an untrained network, the same for the same recipe
phases(recipe, network, data) the phases of its training
checks(recipe, network, data) the method's own block of the card

Training in the phases that a method lists: phases of gradient descent, and one-off phases.

A run is a function of the network's initial weights, the phases and the seed: random numbers of a
step come from (seed, number of the step). Its whole state is in the network's parameters and
buffers and in the optimisers. So a run that is killed goes on from its last checkpoint and ends
with the same weights as a run that was never interrupted; anything else that a phase finds out must
be stored in buffers.

Trains a classifier from its recipe into a package, on the CPU; a killed run can be resumed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module, metadata
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim import Optimizer

from labapp.base import resources
from labapp.base.errors import ModelError
from labapp.models.datasets.folder import Folder
from labapp.models.datasets.split import Float32, Int64
from labapp.models.explanations import data as recipes
from labapp.models.explanations import evaluation, package
from labapp.models.explanations.data import METHODS, Checks, ClassifierRecipe, FolderData
from labapp.models.explanations.package import ClassifierCard, TrainingRecord
from labapp.models.explanations.photos import (
    SHIFT,
    Batches,
    DataParts,
    UInt8,
    as_input,
    load_photos,
)
from labapp.models.representations.torch_backend import weights_of
from labapp.models.training import loop
from labapp.models.training.loop import (
    Losses,
    Progress,
    Provenance,
    Run,
    StepResult,
    one_cycle,
    run_steps,
    versions,
)

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
            todo=f"Choose a model whose method is {method}.",
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


CHECKPOINT_S = 20.0
"""Seconds between two checkpoints; there is one more at the end of each phase."""


@dataclass(frozen=True, slots=True)
class PhaseStep:
    """Step `number` of `steps` in its phase, from 0, and its source of random numbers."""

    number: int
    steps: int
    random: np.random.Generator


def constant(_done: float) -> float:
    return 1.0


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of learning.

    Parameters
    ----------
    loss : what one step computes. The network is in training mode when it is called, and in
        evaluation mode, without gradients, if there is no `optimiser`: such a phase is a one-off
        phase (a projection, say) that changes the network itself, usually in a single step.
    optimiser : takes every step; its learning rates are those it was given times `rate`.
    rate : of the share of the phase's steps that is done, 0 to 1.
    """

    name: str
    steps: int
    loss: Callable[[PhaseStep], Losses]
    optimiser: Optimizer | None = None
    rate: Callable[[float], float] = constant
    rates: tuple[float, ...] = field(init=False)

    def __post_init__(self) -> None:
        groups = [] if self.optimiser is None else self.optimiser.param_groups
        object.__setattr__(self, "rates", tuple(float(group["lr"]) for group in groups))


@dataclass(frozen=True, slots=True)
class _Learner:
    """The state that a checkpoint saves."""

    networks: nn.Module
    phases: Sequence[Phase]

    @property
    def optimizers(self) -> list[Optimizer]:
        return [phase.optimiser for phase in self.phases if phase.optimiser is not None]


def fit(
    network: nn.Module,
    phases: Sequence[Phase],
    *,
    seed: int,
    provenance: Provenance,
    state: Path,
    progress: Callable[[Progress], None] | None = None,
    checkpoint_s: float = CHECKPOINT_S,
) -> float:
    """Take `network` through all phases; it is in evaluation mode at the end. Returns seconds
    spent, over all restarts. Raises ModelError: the checkpoint does not fit, the loss is no longer
    finite, the disk refuses.

    provenance : what else decides the weights; a checkpoint made otherwise is refused.
    state : folder of the checkpoint, from which the run goes on where there is one. It stays.
    progress : called about five times a second and at the end of each phase. An exception that it
        raises ends the run, which can then be resumed.
    """
    run = Run(_Learner(network, phases))
    ends = list(accumulate(phase.steps for phase in phases))

    def take(iteration: int) -> StepResult:
        index = bisect_right(ends, iteration)
        phase = phases[index]
        number = iteration - ends[index] + phase.steps
        random = np.random.default_rng([seed, iteration])
        losses = _step(network, phase, PhaseStep(number, phase.steps, random))
        last = number == phase.steps - 1
        if last and phase.optimiser is not None:
            phase.optimiser.state.clear()
        place = f"step {number + 1} of the phase {phase.name!r}"
        return StepResult(losses, phase.name, place, last)

    run_steps(
        run,
        ends[-1],
        take,
        provenance=provenance,
        state=state,
        progress=progress,
        checkpoint_s=checkpoint_s,
    )
    network.eval()
    return run.seconds


def _step(network: nn.Module, phase: Phase, step: PhaseStep) -> Losses:
    if phase.optimiser is None:
        network.eval()
        with torch.no_grad():
            return phase.loss(step)
    network.train()
    for group, rate in zip(phase.optimiser.param_groups, phase.rates, strict=True):
        group["lr"] = rate * phase.rate(step.number / step.steps)
    network.zero_grad(set_to_none=True)
    losses = phase.loss(step)
    total = losses["loss"]
    assert isinstance(total, Tensor)
    total.backward()  # type: ignore[no-untyped-call]
    phase.optimiser.step()
    return {
        name: value.detach() if isinstance(value, Tensor) else value
        for name, value in losses.items()
    }


def adamw(network: nn.Module, peak: float, weight_decay: float) -> torch.optim.AdamW:
    """AdamW that decays matrices and kernels, and neither biases nor normalisation."""
    decayed = [p for p in network.parameters() if p.requires_grad and p.ndim > 1]
    free = [p for p in network.parameters() if p.requires_grad and p.ndim <= 1]
    groups: list[dict[str, Any]] = [
        {"params": decayed, "weight_decay": weight_decay},
        {"params": free},
    ]
    return torch.optim.AdamW(groups, lr=peak, weight_decay=0.0, fused=True)


def train(
    recipe_path: Path,
    *,
    out: Path | None = None,
    data_folder: Path | None = None,
    resume: bool = True,
    progress: Callable[[Progress], None] | None = None,
    threads: int = 1,
    checkpoint_s: float = CHECKPOINT_S,
) -> Path:
    """Train the recipe's classifier, measure it and write its package.

    Parameters
    ----------
    data_folder : of a lab's own pictures, instead of the one that the recipe names.
    checkpoint_s : seconds between two checkpoints.

    The other parameters, the result and the errors are those of `representations.training.train`,
    on the CPU.
    """
    recipe = recipes.read(recipe_path)
    out = resources.user_models() if out is None else out
    folder = out / recipe.id
    package.refuse_existing(folder)
    torch.set_num_threads(threads)
    state = out / ".training" / recipe.id
    if not resume:
        loop.clear(state)

    if data_folder is None and isinstance(recipe.data, FolderData):
        data_folder = recipe_path.parent / recipe.data.folder
    data = recipe.data.load(data_folder)
    recipe = recipe.of(data)
    method = approach(recipe.method.name)
    network = method.network(recipe)
    phases = method.phases(recipe, network, data)
    seconds = fit(
        network,
        phases,
        seed=recipe.seed,
        provenance=Provenance(recipe.digest, "cpu", threads),
        state=state,
        progress=progress,
        checkpoint_s=checkpoint_s,
    )
    made = TrainingRecord(
        recipe_sha256=recipe.digest,
        phases={phase.name: phase.steps for phase in phases},
        seconds=round(seconds, 3),
        threads=threads,
        versions={**versions(), "captum": metadata.version("captum")},
    )
    package.write(folder, card_of(recipe, made, network, method, data), weights_of(network))
    loop.clear(state)
    return folder


def card_of(
    recipe: ClassifierRecipe,
    made: TrainingRecord,
    network: nn.Module,
    method: Approach[Any],
    data: DataParts,
) -> ClassifierCard:
    """The card, all of it measured; the hash of the weights is set when they are written."""
    validation, test = load_photos(data.validation), load_photos(data.test)
    right = scores(network, validation.pictures).argmax(1) == validation.labels
    predicted = scores(network, test.pictures).argmax(1)
    return ClassifierCard(
        card=1,
        recipe=recipe,
        training=made,
        parts=data.counts if isinstance(data, Folder) else None,
        validation_accuracy=round(float(right.mean()), 4),
        test=evaluation.test_result(test, predicted, recipe.data.names),
        checks=method.checks(recipe, network, data),
        weights_sha256="0" * 64,
    )
