"""Learners: the networks and optimizers of an objective, and a step of their training.

All random numbers of a step come from the generator it is given, so that a step is a function of
the recipe and its number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from labapp.representations import networks, objectives
from labapp.representations.architectures import ARCHITECTURES, TrainedNetwork
from labapp.representations.objectives import Losses
from labapp.representations.recipe import Ae, Gt, InfoGan, Optimizer, Recipe, classes_of

_DECAY_BEGINS = {"constant": 1.0, "cosine": 0.0, "late-cosine": 0.8}
"""The fraction of all iterations after which a schedule's learning rate falls."""


class Learner(Protocol):
    """What the training loop steps, and a checkpoint saves."""

    networks: nn.ModuleDict
    optimizers: list[torch.optim.Adam]

    def step(self, x: Tensor, factors: Tensor, draws: np.random.Generator, done: float) -> Losses:
        """Learn from one batch; `done` is the fraction of all iterations behind it."""
        ...


def build(recipe: Recipe, device: torch.device) -> Learner:
    """The learner of a recipe at its beginning, on `device`."""
    if isinstance(recipe.objective, InfoGan):
        return InfoGanLearner(recipe, recipe.objective, device)
    return AutoencoderLearner(recipe, device)


class AutoencoderLearner:
    """Autoencoders of every kind, and a decoder alone on true factors."""

    def __init__(self, recipe: Recipe, device: torch.device) -> None:
        assert not isinstance(recipe.objective, InfoGan)
        source = _source(recipe)
        posterior = not isinstance(recipe.objective, Ae | Gt)
        parts: dict[str, nn.Module] = {}
        if not isinstance(recipe.objective, Gt):
            assert source.encoder is not None
            parts["encoder"] = source.encoder(recipe.dimensions, posterior)
        parts["decoder"] = source.decoder(classes_of(recipe.objective) + recipe.dimensions)
        self.networks = _begin(parts, recipe, device)
        self.optimizers = [_adam(self.networks.parameters(), recipe.optimizer)]
        self._encodes = "encoder" in parts
        self._recipe = recipe
        self._objective = recipe.objective
        self._likelihood = source.likelihood

    def step(self, x: Tensor, factors: Tensor, draws: np.random.Generator, done: float) -> Losses:
        noise = draws.standard_normal((len(x), self._recipe.dimensions), dtype=np.float32)
        _set_rate(self.optimizers[0], self._recipe.optimizer, done)
        with _precision(self._recipe.optimizer, x.device):
            total, parts = objectives.loss(
                self._objective,
                self._likelihood,
                self.networks.get_submodule("encoder") if self._encodes else None,
                self.networks["decoder"],
                x,
                factors,
                torch.from_numpy(noise).to(x.device),
            )
        _descend(total, self.optimizers[0])
        return {"loss": total.detach(), **parts}


class InfoGanLearner:
    """InfoGAN (Chen et al. 2016): discriminator and generator take turns, and both maximise the
    mutual-information bound.

    The bound for a code is the log-likelihood of the recogniser's guess: a cross-entropy for the
    discrete code, half the squared error for the continuous codes.
    """

    def __init__(self, recipe: Recipe, objective: InfoGan, device: torch.device) -> None:
        parts: dict[str, nn.Module] = {
            "discriminator": networks.MnistDiscriminator(
                classes=objective.classes, codes=recipe.dimensions
            ),
            "decoder": _source(recipe).decoder(objective.classes + recipe.dimensions),
        }
        self.networks = _begin(parts, recipe, device)
        self.optimizers = [
            _adam(self.networks[name].parameters(), recipe.optimizer) for name in parts
        ]
        self._recipe = recipe
        self._objective = objective

    def step(self, x: Tensor, factors: Tensor, draws: np.random.Generator, done: float) -> Losses:
        discriminator, generator = self.networks["discriminator"], self.networks["decoder"]
        classes, codes = self._codes(len(x), draws, x.device)
        z = torch.cat([functional.one_hot(classes, self._objective.classes).float(), codes], 1)
        optimizer = self._recipe.optimizer
        _set_rate(self.optimizers[0], optimizer, done)
        _set_rate(self.optimizers[1], optimizer, done, self._objective.generator_rate)

        with _precision(optimizer, x.device):
            made = torch.sigmoid(generator.logits(z).float())  # type: ignore[operator]
            real = discriminator(x)[0].float()
            false, *guess = discriminator(made.detach())
            telling = _softplus(-real) + _softplus(false.float())
            information = self._information(classes, codes, *guess)
        _descend(telling - information, self.optimizers[0])

        with _precision(optimizer, x.device):
            false, *guess = discriminator(made)
            fooling = _softplus(-false.float())
            information = self._information(classes, codes, *guess)
        _descend(fooling - information, self.optimizers[1])
        return {
            "loss": (telling + fooling).detach(),
            "discriminator": telling.detach(),
            "generator": fooling.detach(),
            "information": information.detach(),
        }

    def _codes(
        self, count: int, draws: np.random.Generator, device: torch.device
    ) -> tuple[Tensor, Tensor]:
        classes = draws.integers(self._objective.classes, size=count)
        codes = draws.uniform(-1.0, 1.0, (count, self._recipe.dimensions)).astype(np.float32)
        return torch.from_numpy(classes).to(device), torch.from_numpy(codes).to(device)

    def _information(self, classes: Tensor, codes: Tensor, logits: Tensor, means: Tensor) -> Tensor:
        discrete = functional.cross_entropy(logits.float(), classes)
        continuous = 0.5 * (means.float() - codes).square().sum(1).mean()
        return -(self._objective.discrete * discrete + self._objective.continuous * continuous)


def _source(recipe: Recipe) -> TrainedNetwork:
    source = ARCHITECTURES[recipe.architecture].source
    assert isinstance(source, TrainedNetwork)
    return source


def _begin(parts: dict[str, nn.Module], recipe: Recipe, device: torch.device) -> nn.ModuleDict:
    whole = nn.ModuleDict(parts)
    networks.initialise(whole, torch.Generator().manual_seed(recipe.seed))
    # Convolutions are faster in this order of memory; it changes no result but by rounding.
    whole.to(device).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return whole.train()


def _adam(parameters: Iterable[nn.Parameter], optimizer: Optimizer) -> torch.optim.Adam:
    # One pass over memory for each weight instead of a dozen: a third of a step on a CPU.
    return torch.optim.Adam(
        parameters,
        lr=optimizer.learning_rate,
        betas=(optimizer.beta1, 0.999),
        fused=True,
    )


def _descend(loss: Tensor, adam: torch.optim.Adam) -> None:
    """One step of the optimizer's parameters down the gradient of the loss."""
    adam.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    adam.step()


def _set_rate(adam: torch.optim.Adam, optimizer: Optimizer, done: float, factor: float = 1) -> None:
    """The learning rate after the fraction `done` of all iterations."""
    begins = _DECAY_BEGINS[optimizer.schedule]
    fallen = max(0.0, done - begins) / (1.0 - begins) if begins < 1.0 else 0.0
    rate = optimizer.learning_rate * factor * 0.5 * (1.0 + math.cos(math.pi * fallen))
    for group in adam.param_groups:
        group["lr"] = rate


def _precision(optimizer: Optimizer, device: torch.device) -> torch.autocast:
    return torch.autocast(device.type, torch.bfloat16, enabled=optimizer.precision == "bfloat16")


def _softplus(logits: Tensor) -> Tensor:
    """Mean of log(1 + exp(logits)): the binary cross-entropy against 0; of -logits against 1."""
    return functional.softplus(logits).mean()
