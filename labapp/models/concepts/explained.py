"""SENN, self-explaining neural networks (Alvarez-Melis and Jaakkola 2018; paper 001, A.6): class
logits are sums of concepts h(x), each times a relevance theta(x) that changes slowly with x. And
variational autoencoders: VAE, beta-VAE, and Ada-GVAE and Ada-MLVAE, which learn from pairs of
pictures that share some of their factors (Kingma and Welling 2014; Higgins et al. 2017; Locatello
et al. 2020, "Weakly-supervised disentanglement without compromises").

CCD, completeness-aware concept discovery (Yeh et al. 2020; paper 001, A.6): directions in the
code of a trained network that suffice to do its task.

First a network learns the task alone. Then it is frozen, and directions are learnt, together with
a map from their scores back to the network's code, so that its predictor still tells the classes.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from labapp.base.errors import DatasetError
from labapp.models.concepts import learner
from labapp.models.concepts.learner import (
    Batch,
    ConceptLearner,
    Phase,
    Setup,
    TrainingRows,
    adam,
    detached,
)
from labapp.models.concepts.recipe import Ccd, Senn, VaeSettings
from labapp.models.datasets.split import Int64, chunks
from labapp.models.metrics.inputs import outputs_of
from labapp.models.representations.networks import divergence
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
        encode = learner.encoder(
            setup.shape,
            # Means, and where it first learns as a VAE, log variances.
            2 * self._units if settings.variational else self._units,
            kernels=setup.kernels,
            hidden=learner.TOY_HIDDEN if setup.tabular else learner.HIDDEN,
            normalised=False,
        )
        decode = learner.decoder(self._units, setup.shape)
        self._relevances = Relevances(math.prod(setup.shape), setup.classes, self._units)
        self.networks = nn.ModuleDict(
            {"encoder": encode, "decoder": decode, "relevances": self._relevances}
        )
        learner.initialise(self.networks, setup.seed, settings.initial_weights)
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
        task = learner.class_loss(logits_of(relevances, concepts), batch.labels)
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
        return learner.rebuilding_error(x, self.networks["decoder"](code))


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
        encode = learner.encoder(
            setup.shape,
            2 * units,
            kernels=setup.kernels,
            hidden=learner.TOY_HIDDEN if setup.tabular else learner.HIDDEN,
            normalised=False,
        )
        self.networks = nn.ModuleDict(
            {"encoder": encode, "decoder": learner.decoder(units, setup.shape)}
        )
        learner.initialise(self.networks, setup.seed, settings.initial_weights)
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
            x = learner.laid_out(torch.cat(batch.x.unbind(dim=1)))
            left, right = zip(*(part.chunk(2) for part in self._posterior(x)), strict=True)
            both = averaged(left, right, self._averaging)
            posterior = torch.cat([both[0][0], both[1][0]]), torch.cat([both[0][1], both[1][1]])
        rebuilt = self.networks["decoder"](drawn_from(posterior, draws))
        error = learner.rebuilding_error(x, rebuilt)
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


THRESHOLD = 0.0
"""A direction is present in a code whose cosine with it is above this."""
EPSILON = 1e-5
"""Added to the sum of the scores of a row."""
BACK_HIDDEN = 500
"""Units of the one hidden layer that maps scores back to codes."""
SALIENCE, APARTNESS = 0.1, 0.1
"""Weights of both regularisers: that a direction has near examples, and that no two are alike."""

EPOCHS = 50
"""Of learning the directions: the network's codes are computed once, so that they are short."""
LENGTH = 0.5
"""Directions begin with numbers between minus this and this."""


class Directions(nn.Module):
    """Concepts as directions in codes, and the map from their scores back to codes.

    Parameters
    ----------
    width : numbers of a code.
    count : directions.
    """

    def __init__(self, width: int, count: int) -> None:
        super().__init__()
        self.vectors = nn.Parameter(torch.zeros(width, count))
        self.back = nn.Sequential(
            nn.Linear(count, BACK_HIDDEN), nn.ReLU(), nn.Linear(BACK_HIDDEN, width)
        )

    def unit(self) -> Tensor:
        """The directions, of length 1: (width, count)."""
        return functional.normalize(self.vectors, dim=0)

    def cosines(self, codes: Tensor) -> Tensor:
        """Of codes (n, width) with each direction, (n, count)."""
        return functional.normalize(codes, dim=1) @ self.unit()

    def scores(self, codes: Tensor) -> Tensor:
        """How far each direction is in codes (n, width), as shares of the row's sum: (n, count)."""
        along = codes @ self.unit()
        present = along * (self.cosines(codes) > THRESHOLD)
        return present / (present.sum(dim=1, keepdim=True) + EPSILON)

    def forward(self, codes: Tensor) -> Tensor:
        """Codes (n, width) as they come back from their scores."""
        back: Tensor = self.back(self.scores(codes))
        return back


def nearest(rows: int, classes: int) -> int:
    """How many examples of a batch should be near to each direction: half of a class's rows."""
    return max(1, rows // (2 * classes))


def salience(cosines: Tensor, count: int) -> Tensor:
    """The mean over directions of their `count` highest cosines (n, directions) in a batch."""
    return cosines.topk(min(count, len(cosines)), dim=0).values.mean()


def likeness(unit: Tensor) -> Tensor:
    """The mean of the products of directions of length 1 (width, count), less those of each with
    itself; all count x count enter."""
    return (unit.T @ unit - torch.eye(unit.shape[1], device=unit.device)).mean()


class Discovered(ConceptLearner):
    """A classifier and directions in its code; their scores are the codes of this learner."""

    aligned = True

    def __init__(self, settings: Ccd, setup: Setup) -> None:
        super().__init__(settings, setup)
        hidden = learner.TOY_HIDDEN if setup.tabular else learner.HIDDEN
        encode = learner.encoder(
            setup.shape,
            settings.width,
            kernels=setup.kernels,
            dropout=settings.dropout if setup.published and not setup.tabular else 0.0,
            hidden=hidden,
        )
        outputs = outputs_of(setup.classes)
        predict = nn.Sequential(*learner.dense(settings.width, *hidden, outputs))
        self._directions = Directions(settings.width, settings.codes or setup.concepts)
        self.networks = nn.ModuleDict(
            {"encoder": encode, "predictor": predict, "directions": self._directions}
        )
        learner.initialise(self.networks, setup.seed, settings.initial_weights)
        generator = torch.Generator().manual_seed(setup.seed)
        with torch.no_grad():
            self._directions.vectors.uniform_(-LENGTH, LENGTH, generator=generator)
        self.optimizers = [
            adam([*encode.parameters(), *predict.parameters()]),
            adam(self._directions.parameters()),
        ]
        self.phases = (Phase("classes", setup.epochs), Phase("directions", EPOCHS))

    def begin(self, phase: int, rows: TrainingRows) -> TrainingRows:
        self._phase = phase
        for name in ("encoder", "predictor"):
            self.networks[name].requires_grad_(phase == 0)
        return rows if phase == 0 else replace(rows, x=self._all_codes(rows))

    def step(self, batch: Batch, draws: np.random.Generator, done: float) -> Losses:
        if self._phase == 0:
            outputs = self.networks["predictor"](self.networks["encoder"](batch.x))
            loss = learner.class_loss(outputs, batch.labels)
            self.descend(self.optimizers[0], loss, done)
            return detached({"loss": loss})
        outputs = self.networks["predictor"](self._directions(batch.x))
        task = learner.class_loss(outputs, batch.labels)
        near = salience(self._directions.cosines(batch.x), nearest(self.batch, self.setup.classes))
        alike = likeness(self._directions.unit())
        loss = task - SALIENCE * near + APARTNESS * alike
        self.descend(self.optimizers[1], loss, done)
        return detached({"loss": loss, "task": task, "salience": near, "likeness": alike})

    def codes(self, x: Tensor, *, as_published: bool = False) -> Tensor:
        return self._directions.scores(self.networks["encoder"](x))

    def task_logits(self, x: Tensor) -> Tensor:
        """Of the classifier itself; `predict_from` the codes is what its directions suffice for."""
        return learner.class_logits(self.networks["predictor"](self.networks["encoder"](x)))

    def predict_from(self, codes: Tensor) -> Tensor:
        return learner.class_logits(self.networks["predictor"](self._directions.back(codes)))

    @torch.no_grad()
    def _all_codes(self, rows: TrainingRows) -> Tensor:
        """The network's codes of all rows, as in evaluation, (n, width)."""
        encode = self.networks["encoder"].eval()
        codes = torch.cat([encode(rows.batch(chosen).x) for chosen in chunks(len(rows))])
        encode.train()
        return codes
