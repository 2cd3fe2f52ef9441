"""SENN, self-explaining neural networks (Alvarez-Melis and Jaakkola 2018; paper 001, A.6): class
logits are sums of concepts h(x), each times a relevance theta(x) that changes slowly with x.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn

from labapp.concepts import networks
from labapp.concepts.learner import (
    Batch,
    ConceptLearner,
    Phase,
    Setup,
    TrainingRows,
    adam,
    detached,
)
from labapp.concepts.settings import Senn
from labapp.concepts.variational import drawn_from
from labapp.representations import objectives
from labapp.training.loop import Losses

HIDDEN = 64
"""Units of both hidden layers of the relevances."""


class Relevances(nn.Module):
    """theta: relevances (n, classes, k) of inputs flattened to (n, inputs), a network of two hidden
    layers."""

    def __init__(self, inputs: int, classes: int, concepts: int) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, HIDDEN)
        self.second = nn.Linear(HIDDEN, HIDDEN)
        self.last = nn.Linear(HIDDEN, classes * concepts)
        self._shape = classes, concepts

    def forward(self, x: Tensor, concepts: Tensor) -> tuple[Tensor, Tensor]:
        """The relevances, and how unstable they are: for each input, the Frobenius norm of the
        gradient of the logits by x less theta times the Jacobian of h, (n,).

        The logit of class c is the sum over j of theta_cj h_j. By the product rule, what is left of
        its gradient is the sum of h_j times the gradient of theta_cj: the Jacobian of h is not
        needed. That sum is taken back through the layers of theta as they are, and its length in
        x from the first layer's products with itself, which are few where x is long.

        Parameters
        ----------
        x : (n, inputs).
        concepts : (n, k), h of the same inputs. Gradients reach it.
        """
        before_first = self.first(x)
        before_second = self.second(torch.relu(before_first))
        flat = self.last(torch.relu(before_second))
        relevances = flat.reshape(-1, *self._shape)

        last = self.last.weight.reshape(*self._shape, HIDDEN)
        at_second = torch.einsum("nk,ckh->nch", concepts, last) * (before_second > 0)[:, None]
        at_first = (at_second @ self.second.weight) * (before_first > 0)[:, None]
        products = self.first.weight @ self.first.weight.T
        squares = ((at_first @ products) * at_first).sum(dim=(1, 2)).clamp_min(0)
        # The root's slope is endless at 0, where no relevance changes with x.
        return relevances, (squares + torch.finfo(squares.dtype).tiny).sqrt()


def logits_of(relevances: Tensor, concepts: Tensor) -> Tensor:
    """Class logits (n, classes) of relevances (n, classes, k) and concepts (n, k)."""
    return torch.einsum("nck,nk->nc", relevances, concepts)


class Explained(ConceptLearner):
    """Concepts h(x) by an encoder without batch normalisation, relevances theta(x), and a decoder
    that rebuilds x from h(x).

    The decoder's error is `networks.rebuilding_error`. Two classes have a logit each.
    """

    aligned = True

    def __init__(self, settings: Senn, setup: Setup) -> None:
        super().__init__(settings, setup)
        self._robustness, self._reconstruction = settings.robustness, settings.reconstruction
        self._units = settings.codes or setup.concepts
        encode = networks.encoder(
            setup.shape,
            # Means, and where it first learns as a VAE, log variances.
            2 * self._units if settings.variational else self._units,
            kernels=setup.kernels,
            hidden=networks.TOY_HIDDEN if setup.tabular else networks.HIDDEN,
            normalised=False,
        )
        decode = networks.decoder(self._units, setup.shape)
        self._relevances = Relevances(math.prod(setup.shape), setup.classes, self._units)
        self.networks = nn.ModuleDict(
            {"encoder": encode, "decoder": decode, "relevances": self._relevances}
        )
        networks.initialise(self.networks, setup.seed, settings.initial_weights)
        epochs = setup.epochs if setup.tabular else min(settings.epochs, setup.epochs)
        self.phases = (Phase("classes", epochs),)
        self.optimizers = [adam(self.networks.parameters())]
        if settings.variational:
            self.phases = (Phase("pictures", epochs), *self.phases)
            self.optimizers.append(adam([*encode.parameters(), *decode.parameters()]))
        self._phase = self.phases[0].name

    @property
    def aligned_as_published(self) -> bool:
        return self.setup.tabular

    def begin(self, phase: int, rows: TrainingRows) -> TrainingRows:
        self._phase = self.phases[phase].name
        return rows

    def step(self, batch: Batch, draws: np.random.Generator, done: float) -> Losses:
        if self._phase == "pictures":
            posterior = self.networks["encoder"](batch.x).chunk(2, dim=1)
            error = self._error(drawn_from(posterior, draws), batch.x)
            kl = objectives.divergence(*posterior).mean()
            self.descend(self.optimizers[1], error + kl, done)
            return detached({"loss": error + kl, "reconstruction": error, "kl": kl})
        concepts = self._concepts(batch.x)
        relevances, unstable = self._relevances(batch.x.flatten(1), concepts)
        task = networks.class_loss(logits_of(relevances, concepts), batch.labels)
        instability = unstable.mean()
        error = self._error(concepts, batch.x)
        loss = task + self._robustness * instability + self._reconstruction * error
        self.descend(self.optimizers[0], loss, done)
        return detached(
            {"loss": loss, "task": task, "instability": instability, "reconstruction": error}
        )

    def codes(self, x: Tensor, *, as_published: bool = False) -> Tensor:
        """h(x); as published, theta(x) of the class that the network takes x for."""
        concepts = self._concepts(x)
        if not as_published:
            return concepts
        relevances, _ = self._relevances(x.flatten(1), concepts)
        predicted = logits_of(relevances, concepts).argmax(dim=1)
        of_predicted: Tensor = relevances[torch.arange(len(x)), predicted]
        return of_predicted

    def task_logits(self, x: Tensor) -> Tensor:
        concepts = self._concepts(x)
        return logits_of(self._relevances(x.flatten(1), concepts)[0], concepts)

    def _concepts(self, x: Tensor) -> Tensor:
        concepts: Tensor = self.networks["encoder"](x)[:, : self._units]
        return concepts

    def _error(self, code: Tensor, x: Tensor) -> Tensor:
        return networks.rebuilding_error(x, self.networks["decoder"](code))
