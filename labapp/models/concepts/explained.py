"""SENN, self-explaining neural networks (Alvarez-Melis and Jaakkola 2018; paper 001, A.6): class
logits are sums of concepts h(x), each times a relevance theta(x) that changes slowly with x. And
variational autoencoders: VAE, beta-VAE, and Ada-GVAE and Ada-MLVAE, which learn from pairs of
pictures that share some of their factors (Kingma and Welling 2014; Higgins et al. 2017; Locatello
et al. 2020, "Weakly-supervised disentanglement without compromises")."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from labapp.base.errors import DatasetError
from labapp.models.concepts import networks
from labapp.models.concepts.learner import (
    Batch,
    ConceptLearner,
    Phase,
    Setup,
    TrainingRows,
    adam,
    detached,
)
from labapp.models.concepts.settings import Senn, VaeSettings
from labapp.models.datasets.split import Int64
from labapp.models.representations.objectives import divergence
from labapp.models.training.loop import Losses

HIDDEN = 64
"""Units of both hidden layers of the relevances."""


class Relevances(nn.Module):
    """theta: relevances (n, classes, k) of inputs (n, inputs), with two hidden layers."""

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
            kl = divergence(*posterior).mean()
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


_PAIRS, _SAMPLE = 11, 12
"""Streams of the learner's seed: the pairs, and the samples that are codes as published."""
Averaging = Literal["gvae", "mlvae"]
Posterior = tuple[Tensor, Tensor]
"""Means and log variances, each (n, dimensions)."""


def drawn_from(posterior: Posterior, draws: np.random.Generator) -> Tensor:
    """A sample of each row's posterior, (n, dimensions)."""
    mean, log_variance = posterior
    noise = torch.as_tensor(draws.standard_normal(tuple(mean.shape), dtype=np.float32))
    return mean + noise.to(mean.device) * (0.5 * log_variance).exp()


def shared(first: Posterior, second: Posterior) -> Tensor:
    """Which dimensions of two posteriors count as shared by a pair, bool (n, dimensions): those in
    which KL(first || second) is below the middle of its least and greatest value."""
    (mean, log_variance), (other_mean, other_log_variance) = first, second
    apart = 0.5 * (
        (log_variance - other_log_variance).exp()
        + (mean - other_mean).square() * (-other_log_variance).exp()
        - 1.0
        + other_log_variance
        - log_variance
    )
    lowest, highest = apart.aminmax(dim=1, keepdim=True)
    return apart < 0.5 * (lowest + highest)


def averaged(first: Posterior, second: Posterior, how: Averaging) -> tuple[Posterior, Posterior]:
    """Both posteriors of a pair, with their average in the dimensions that they share.

    "gvae" takes the means of means and of variances, "mlvae" the product of both densities brought
    to the variance of the harmonic mean (Locatello et al. 2020, section 4).
    """
    alike = shared(first, second)
    (mean, log_variance), (other_mean, other_log_variance) = first, second
    variance, other_variance = log_variance.exp(), other_log_variance.exp()
    if how == "gvae":
        common_mean = 0.5 * (mean + other_mean)
        common_variance = 0.5 * (variance + other_variance)
    else:
        common_variance = 2 * variance * other_variance / (variance + other_variance)
        precise = mean / variance + other_mean / other_variance
        common_mean = 0.5 * precise * common_variance
    common_log_variance = common_variance.log()

    def replaced(own: Posterior) -> Posterior:
        return (
            torch.where(alike, common_mean, own[0]),
            torch.where(alike, common_log_variance, own[1]),
        )

    return replaced(first), replaced(second)


def pairs(concepts: Int64, count: int, draws: np.random.Generator) -> Int64:
    """So many pairs of rows that have at least one concept alike, but not all: int64 (count, 2).

    Pairs are drawn with equal chances from all that there are, and may be drawn again.

    Parameters
    ----------
    concepts : 0 or 1, int64, shape (n, k).

    Raises
    ------
    DatasetError : there is no such pair.
    """
    kinds, kind_of, counts = np.unique(concepts, axis=0, return_inverse=True, return_counts=True)
    alike = (kinds[:, None] == kinds[None]).sum(axis=2)
    fits = (alike > 0) & (alike < concepts.shape[1])
    chances = (counts[:, None] * counts[None] * fits).astype(np.float64)
    if not fits.any():
        raise DatasetError(
            "No two rows share some but not all of their concepts, so there are no pairs to learn "
            "from.",
            safe="Nothing was trained.",
            todo="Take a data set of two concepts and more, or a learner that needs no pairs.",
        )
    edges = np.cumsum(chances.ravel())
    chosen = np.searchsorted(edges, draws.random(count) * edges[-1], side="right")
    by_kind = np.argsort(kind_of.ravel(), kind="stable")
    starts = np.cumsum(counts) - counts
    sides = [
        by_kind[starts[kind] + (draws.random(count) * counts[kind]).astype(np.int64)]
        for kind in np.divmod(chosen, len(kinds))
    ]
    return np.stack(sides, axis=1)


class Variational(ConceptLearner):
    """An encoder to means and log variances, and a decoder to the pictures, or numbers.

    The encoder is that of a concept bottleneck model without batch normalisation, as released. The
    adaptive kinds learn from two pairs for every three rows, which are drawn once.
    """

    aligned = True

    def __init__(self, settings: VaeSettings, setup: Setup) -> None:
        super().__init__(settings, setup)
        self._beta = settings.beta
        self._averaging = _AVERAGING.get(settings.name)
        units = settings.codes or setup.concepts
        encode = networks.encoder(
            setup.shape,
            2 * units,
            kernels=setup.kernels,
            hidden=networks.TOY_HIDDEN if setup.tabular else networks.HIDDEN,
            normalised=False,
        )
        self.networks = nn.ModuleDict(
            {"encoder": encode, "decoder": networks.decoder(units, setup.shape)}
        )
        networks.initialise(self.networks, setup.seed, settings.initial_weights)
        self.optimizers = [adam(self.networks.parameters())]
        self.phases = (Phase("pairs" if self._averaging else "pictures", setup.epochs),)

    def epoch(self, rows: TrainingRows, draws: np.random.Generator) -> Int64:
        if self._averaging is None:
            return super().epoch(rows, draws)
        fixed = np.random.default_rng([self.setup.seed, _PAIRS])
        concepts = rows.concepts.numpy().astype(np.int64)
        return draws.permutation(pairs(concepts, 2 * len(rows) // 3, fixed))

    def step(self, batch: Batch, draws: np.random.Generator, done: float) -> Losses:
        if self._averaging is None:
            x = batch.x
            posterior = self._posterior(x)
        else:
            # First all left sides, then all right ones.
            x = networks.laid_out(torch.cat(batch.x.unbind(dim=1)))
            left, right = zip(*(part.chunk(2) for part in self._posterior(x)), strict=True)
            both = averaged(left, right, self._averaging)
            posterior = torch.cat([both[0][0], both[1][0]]), torch.cat([both[0][1], both[1][1]])
        rebuilt = self.networks["decoder"](drawn_from(posterior, draws))
        error = networks.rebuilding_error(x, rebuilt)
        kl = divergence(*posterior).mean()
        loss = error + self._beta * kl
        self.descend(self.optimizers[0], loss, done)
        return detached({"loss": loss, "reconstruction": error, "kl": kl})

    def codes(self, x: Tensor, *, as_published: bool = False) -> Tensor:
        """Means of the posteriors; as published, a sample of each, the same for the same rows."""
        mean, log_variance = self._posterior(x)
        if not as_published:
            return mean
        draws = np.random.default_rng([self.setup.seed, _SAMPLE])
        return drawn_from((mean, log_variance), draws)

    def _posterior(self, x: Tensor) -> Posterior:
        mean, log_variance = self.networks["encoder"](x).chunk(2, dim=1)
        return mean, log_variance


_AVERAGING: dict[str, Averaging] = {"ada-gvae": "gvae", "ada-mlvae": "mlvae"}
