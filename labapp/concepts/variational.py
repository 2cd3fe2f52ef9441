"""Variational autoencoders: VAE, beta-VAE, and Ada-GVAE and Ada-MLVAE, which learn from pairs of
pictures that share some of their factors.

Kingma and Welling 2014; Higgins et al. 2017; Locatello et al. 2020, "Weakly-supervised
disentanglement without compromises"; paper 001, A.6.
"""

from __future__ import annotations

from typing import Literal

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
from labapp.concepts.settings import VaeSettings
from labapp.datasets.split import Int64
from labapp.errors import DatasetError
from labapp.representations import objectives
from labapp.training.loop import Losses

_PAIRS, _SAMPLE = 11, 12
"""Streams of the learner's seed: the pairs, and the samples that are codes as published."""

Averaging = Literal["gvae", "mlvae"]
Posterior = tuple[Tensor, Tensor]
"""Means and log variances, each (n, dimensions)."""


def drawn_from(posterior: Posterior, draws: np.random.Generator) -> Tensor:
    """A sample of each row's posterior, (n, dimensions)."""
    mean, log_variance = posterior
    noise = torch.from_numpy(draws.standard_normal(tuple(mean.shape), dtype=np.float32))
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
        kl = objectives.divergence(*posterior).mean()
        loss = error + self._beta * kl
        self.descend(self.optimizers[0], loss, done)
        return detached({"loss": loss, "reconstruction": error, "kl": kl})

    def codes(self, x: Tensor, *, as_published: bool = False) -> Tensor:
        """Means of the posteriors; as published, a sample of each, whose noise is the same for the
        same rows in the same order."""
        mean, log_variance = self._posterior(x)
        if not as_published:
            return mean
        draws = np.random.default_rng([self.setup.seed, _SAMPLE])
        return drawn_from((mean, log_variance), draws)

    def _posterior(self, x: Tensor) -> Posterior:
        mean, log_variance = self.networks["encoder"](x).chunk(2, dim=1)
        return mean, log_variance


_AVERAGING: dict[str, Averaging] = {"ada-gvae": "gvae", "ada-mlvae": "mlvae"}
