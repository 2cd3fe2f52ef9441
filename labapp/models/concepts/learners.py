"""CW, concept whitening (Chen, Bei and Rudin 2020; paper 001, A.6): a layer that decorrelates its
channels and turns them so that the first ones follow given concepts.

Whitening is done by Newton's iteration on the covariance of a batch, over rows and positions (Huang
et al. 2019). The rotation is not learned by gradient descent but now and then from examples of each
concept, along a curve of rotations that Cayley's transform gives (Wen and Yin 2013).

Five iterations, as released, do not whiten many channels wholly: if the variance is spread over
64 of them alike, theirs comes out as 0.58; of 3 channels, as 1.00.

CBM and CBM-Logits: concept bottleneck models, trained jointly (Koh et al. 2020; paper 001, A.6).

The paper prints the label predictor as {k, 64, 64, L}; that names input and output, and so has the
released code: two hidden layers.

SENN, self-explaining neural networks (Alvarez-Melis and Jaakkola 2018; paper 001, A.6): class
logits are sums of concepts h(x), each times a relevance theta(x) that changes slowly with x. And
variational autoencoders: VAE, beta-VAE, and Ada-GVAE and Ada-MLVAE, which learn from pairs of
pictures that share some of their factors (Kingma and Welling 2014; Higgins et al. 2017; Locatello
et al. 2020, "Weakly-supervised disentanglement without compromises").

CCD, completeness-aware concept discovery (Yeh et al. 2020; paper 001, A.6): directions in the
code of a trained network that suffice to do its task.

First a network learns only the task. Then it is frozen, and directions are learnt, together with
a map from their scores back to the network's code, so that its predictor still tells the classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from labapp.base.errors import DatasetError
from labapp.models.concepts import learner
from labapp.models.concepts.learner import (
    PERCENTILES,
    Batch,
    ConceptLearner,
    Phase,
    Setup,
    TrainingRows,
    adam,
    detach_losses,
)
from labapp.models.concepts.recipe import BottleneckSettings, Ccd, Cw, Senn, VaeSettings, Windows
from labapp.models.datasets.split import Float64, Int64, chunks
from labapp.models.metrics.inputs import outputs_of
from labapp.models.representations.networks import divergence
from labapp.models.training.loop import Losses

EPSILON = 1e-5
"""Added to the diagonal of the covariance."""
ITERATIONS = 5
MOMENTUM = 0.9
"""Weight of what is new: in the running mean and whitening matrix, and in the rows of the gradient,
as in the released code."""
FIRST_STEP, LONGEST_STEP = 1_000.0, 1e8
DECREASE, CURVATURE = 1e-4, 0.9
"""The two constants of Wolfe's conditions."""
HALVINGS = 500
TURNS = 2
"""Steps along the curve for each batch of examples."""
POOL = 2
"""Side of the windows whose maximum is taken of a map."""
EVERY, BATCHES = 20, 20
"""The rotation is learned after every so many steps, from at most so many batches, of which each
turns it (the loop of the released code makes 21)."""
FEWER = 5
"""Batches where pictures are not learned from as published; 20 take longer than all else."""
MAPS, WHITENED = (8, 16, 32), 64
"""Maps of the blocks before the layer, and of the convolution that it normalises."""
WHITENING_HIDDEN = (64, 64, 64, 64)
"""Units of the layers after it, for pictures."""


def newton(covariance: Tensor, iterations: int) -> Tensor:
    """The inverse square root of a covariance (c, c), as far as so many iterations bring it."""
    trace = covariance.diagonal().sum()
    scaled = covariance / trace
    inverse_root = torch.eye(len(covariance), dtype=scaled.dtype, device=scaled.device)
    for _ in range(iterations):
        cube = inverse_root @ inverse_root @ inverse_root
        inverse_root = 1.5 * inverse_root - 0.5 * cube @ scaled
    return inverse_root / trace.sqrt()


def step_rotation(rotation: Float64, gradient: Float64) -> Float64:
    """A rotation (c, c) after a step that lowers the sum of its product with the gradient (c, c).

    The step is of a length that meets Wolfe's conditions, searched by bisection from `FIRST_STEP`;
    if none is found after `HALVINGS`, the last one is taken.
    """
    skew = gradient @ rotation.T - rotation @ gradient.T
    slope = -0.5 * float(np.square(skew).sum())
    if slope == 0.0:
        return rotation
    unit = np.eye(len(rotation))
    value = float((gradient * rotation).sum())
    shortest, longest, length = 0.0, LONGEST_STEP, FIRST_STEP
    candidate = rotation
    for _ in range(HALVINGS):
        inverse = np.linalg.inv(unit + 0.5 * length * skew)
        candidate = inverse @ (unit - 0.5 * length * skew) @ rotation
        slope_there = -float((gradient * (inverse @ skew @ (0.5 * (rotation + candidate)))).sum())
        if float((gradient * candidate).sum()) > value + DECREASE * length * slope:
            longest = length
        elif slope_there < CURVATURE * slope:
            shortest = length
        else:
            break
        length = 0.5 * (shortest + longest)
    return candidate


class ConceptWhitening(nn.Module):
    """Centres, whitens and turns the channels of maps (n, c, height, width) or of rows (n, c).

    In training by the statistics of the batch, in evaluation by running ones.

    Parameters
    ----------
    channels : c.
    iterations : of Newton's method.
    windows : see `Cw.windows`.
    """

    mean: Tensor
    whitener: Tensor
    rotation: Tensor
    gradient: Tensor
    steps: Tensor

    def __init__(
        self, channels: int, *, iterations: int = ITERATIONS, windows: Windows | None = None
    ) -> None:
        super().__init__()
        self._iterations, self._windows = iterations, windows
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("whitener", torch.eye(channels))
        self.register_buffer("rotation", torch.eye(channels))
        # Of the objective of the rotation, one row per channel.
        self.register_buffer("gradient", torch.zeros(channels, channels))
        # Of training, for learners that rotate after so many.
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    def forward(self, x: Tensor) -> Tensor:
        return self._apply_whitening(x, turn=True)

    @torch.no_grad()
    def turn_towards(self, examples: Sequence[Tensor]) -> None:
        """Turn the first channels towards concepts.

        Parameters
        ----------
        examples : of each concept, in order, maps or rows in which it is there; none leave the
            concept's channel to the examples before.
        """
        for channel, x in enumerate(examples):
            if len(x):
                self.gradient[channel].lerp_(self._row(x, channel), MOMENTUM)
        gradient = self.gradient.double().cpu().numpy()
        rotation = self.rotation.double().cpu().numpy()
        for _ in range(TURNS):
            rotation = step_rotation(rotation, gradient)
        self.rotation.copy_(torch.from_numpy(rotation))

    def _row(self, x: Tensor, channel: int) -> Tensor:
        """The gradient of minus the mean activation of a channel by the channel's row of the
        rotation, (c,): of maps, the activation where the channel wins a window of max-pooling.

        As released, each entry is of the windows' places where that entry's own channel wins
        instead. That is no gradient of the concept's activation, and the rows of different concepts
        come out much alike.
        """
        whitened = self._apply_whitening(x, turn=False)
        if whitened.ndim == 2:
            return -whitened.mean(dim=0)
        winners = self.rotation if self._windows else self.rotation[channel][None]
        activations = torch.einsum("dc,nchw->ndhw", winners, whitened)
        _, places = functional.max_pool2d(activations, POOL, return_indices=True)
        winning = whitened.flatten(2).gather(2, places.flatten(2).expand(-1, len(self.mean), -1))
        return -winning.mean(dim=(0, 2))

    def _apply_whitening(self, x: Tensor, *, turn: bool) -> Tensor:
        # A view where channels stand last in memory.
        rows = x.movedim(1, -1).reshape(-1, len(self.mean))
        if self.training:
            mean = rows.mean(dim=0)
            centred = rows - mean
            unit = torch.eye(len(mean), dtype=x.dtype, device=x.device)
            whitener = newton(EPSILON * unit + centred.T @ centred / len(rows), self._iterations)
            with torch.no_grad():
                self.mean.lerp_(mean, MOMENTUM)
                self.whitener.lerp_(whitener, MOMENTUM)
        else:
            centred, whitener = rows - self.mean, self.whitener
        matrix = self.rotation @ whitener if turn else whitener
        out = (centred @ matrix.T).reshape(len(x), *x.shape[2:], -1)
        return out.movedim(-1, 1)


class Whitened(ConceptLearner):
    """A classifier with a layer of concept whitening, of which channel j stands for concept j.

    Its weights learn only the classes. Of pictures, half of the epochs are without the rotation.
    Of numbers, the rotation is learned from the beginning, and for as many epochs again it alone;
    as released, the encoder then ends in a sigmoid before the layer.
    """

    def __init__(self, settings: Cw, setup: Setup) -> None:
        super().__init__(settings, setup)
        outputs = outputs_of(setup.classes)
        if setup.tabular:
            encode = learner.encoder(setup.shape, setup.concepts, hidden=learner.TOY_HIDDEN)
            encode.append(nn.Sigmoid())
            channels = setup.concepts
            predict = nn.Sequential(
                nn.ReLU(), *learner.dense(channels, *learner.TOY_HIDDEN, outputs)
            )
            self.phases = (
                Phase("classes and rotation", setup.epochs),
                Phase("rotation alone", setup.epochs),
            )
        else:
            # Of the last block the convolution alone, which the layer normalises.
            blocks = learner.blocks(setup.shape[0], setup.kernels, maps=(*MAPS, WHITENED))
            encode = nn.Sequential(*blocks[:-3])
            channels = WHITENED
            left = setup.shape[1] // 2 ** (len(MAPS) + 1)
            predict = nn.Sequential(
                nn.MaxPool2d(POOL),
                nn.ReLU(),
                nn.Flatten(),
                *learner.dense(WHITENED * left * left, *WHITENING_HIDDEN, outputs),
            )
            before = setup.epochs // 2
            self.phases = (
                Phase("classes", before),
                Phase("classes and rotation", setup.epochs - before),
            )
        self._layer = ConceptWhitening(channels, windows=settings.windows)
        self.networks = nn.ModuleDict(
            {"encoder": encode, "whitening": self._layer, "predictor": predict}
        )
        learner.initialise(self.networks, setup.seed, settings.initial_weights)
        self.optimizers = [adam(self.networks.parameters())]

    def begin(self, phase: int, rows: TrainingRows) -> TrainingRows:
        self._phase, self._rows = self.phases[phase].name, rows
        return rows

    def step(self, batch: Batch, draws: np.random.Generator, done: float) -> Losses:
        self._layer.steps += 1
        if self._phase == "rotation alone":
            self.networks.eval()
            self._turn([batch])
            with torch.no_grad():
                loss = self._loss(batch)
            self.networks.train()
            return {"loss": loss}
        if self._phase == "classes and rotation" and int(self._layer.steps) % EVERY == 0:
            self.networks.eval()
            self._turn(self._examples(draws))
            self.networks.train()
        loss = self._loss(batch)
        self.descend(self.optimizers[0], loss, done)
        return detach_losses({"loss": loss})

    def codes(self, x: Tensor, *, as_published: bool = False) -> Tensor:
        """Of maps MaxPool-Mean: the mean of the 2 x 2 maxima of each concept's channel."""
        channels = self._channels(x)
        if channels.ndim == 2:
            return channels
        return functional.max_pool2d(channels, POOL).mean(dim=(2, 3))

    def maps(self, x: Tensor) -> Tensor | None:
        channels = self._channels(x)
        return None if channels.ndim == 2 else channels

    def task_logits(self, x: Tensor) -> Tensor:
        return learner.class_logits(self._outputs(x))

    def _channels(self, x: Tensor) -> Tensor:
        """Of the concepts: maps (n, k, height, width), of numbers (n, k)."""
        channels: Tensor = self._layer(self.networks["encoder"](x))[:, : self.setup.concepts]
        return channels

    def _outputs(self, x: Tensor) -> Tensor:
        outputs: Tensor = self.networks["predictor"](self._layer(self.networks["encoder"](x)))
        return outputs

    def _loss(self, batch: Batch) -> Tensor:
        return learner.class_loss(self._outputs(batch.x), batch.labels)

    def _examples(self, draws: np.random.Generator) -> list[Batch]:
        """Batches with about as many examples of each concept as a step has rows, where half of the
        rows have it. The same rows serve all concepts that they have: a third of the work."""
        batches = BATCHES if self.setup.published else FEWER
        count = min(batches * 2 * self.batch, len(self._rows))
        chosen = draws.choice(len(self._rows), count, replace=False)
        return [
            self._rows.batch(chosen[start : start + 2 * self.batch])
            for start in range(0, count, 2 * self.batch)
        ]

    @torch.no_grad()
    def _turn(self, batches: Sequence[Batch]) -> None:
        """Turn the layer by each batch in turn; networks are in evaluation mode."""
        for batch in batches:
            hidden = self.networks["encoder"](batch.x)
            self._layer.turn_towards([hidden[there > 0.5] for there in batch.concepts.T])


class Bottleneck(ConceptLearner):
    """Concepts by an encoder, the class by a predictor that reads nothing else: probabilities of
    concepts (`cbm`) or their logits (`cbm-logits`)."""

    def __init__(self, settings: BottleneckSettings, setup: Setup) -> None:
        super().__init__(settings, setup)
        self.alpha = settings.alpha
        self.sigmoid = settings.name == "cbm"
        pictures = not setup.tabular
        encode = learner.encoder(
            setup.shape,
            setup.concepts,
            kernels=setup.kernels,
            dropout=settings.dropout if pictures and setup.published else 0.0,
            hidden=learner.HIDDEN if pictures else settings.encoder,
        )
        outputs = outputs_of(setup.classes)
        predict = nn.Sequential(*learner.dense(setup.concepts, *settings.predictor, outputs))
        self.networks = nn.ModuleDict({"encoder": encode, "predictor": predict})
        learner.initialise(self.networks, setup.seed, settings.initial_weights)
        self.optimizers = [adam(self.networks.parameters())]
        self.phases = (Phase("concepts and classes", setup.epochs),)

    def step(self, batch: Batch, draws: np.random.Generator, done: float) -> Losses:
        logits = self.networks["encoder"](batch.x)
        outputs = self.networks["predictor"](self._code(logits))
        task = learner.class_loss(outputs, batch.labels)
        concept = functional.binary_cross_entropy_with_logits(logits, batch.concepts)
        loss = task + self.alpha * concept
        self.descend(self.optimizers[0], loss, done)
        return detach_losses({"loss": loss, "task": task, "concepts": concept})

    def codes(self, x: Tensor, *, as_published: bool = False) -> Tensor:
        return self._code(self.networks["encoder"](x))

    def beliefs(self, x: Tensor) -> Tensor:
        return torch.sigmoid(self.networks["encoder"](x))

    def task_logits(self, x: Tensor) -> Tensor:
        return self.predict_from(self.codes(x))

    def predict_from(self, codes: Tensor) -> Tensor:
        return learner.class_logits(self.networks["predictor"](codes))

    def values(self, training_codes: Float64) -> Float64:
        if self.sigmoid:
            return np.tile([0.0, 1.0], (training_codes.shape[1], 1))
        return np.percentile(training_codes, PERCENTILES, axis=0).T.copy()

    def _code(self, logits: Tensor) -> Tensor:
        return torch.sigmoid(logits) if self.sigmoid else logits


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
            error = self._error(sample_posterior(posterior, draws), batch.x)
            kl = divergence(*posterior).mean()
            self.descend(self.optimizers[1], error + kl, done)
            return detach_losses({"loss": error + kl, "reconstruction": error, "kl": kl})
        concepts = self._concepts(batch.x)
        relevances, unstable = self._relevances(batch.x.flatten(1), concepts)
        task = learner.class_loss(logits_of(relevances, concepts), batch.labels)
        instability = unstable.mean()
        error = self._error(concepts, batch.x)
        loss = task + self._robustness * instability + self._reconstruction * error
        self.descend(self.optimizers[0], loss, done)
        return detach_losses(
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


def sample_posterior(posterior: Posterior, draws: np.random.Generator) -> Tensor:
    """Draw a sample from each row's posterior, (n, dimensions)."""
    mean, log_variance = posterior
    noise = torch.as_tensor(draws.standard_normal(tuple(mean.shape), dtype=np.float32))
    return mean + noise.to(mean.device) * (0.5 * log_variance).exp()


def find_shared_dimensions(first: Posterior, second: Posterior) -> Tensor:
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


def average_posteriors(
    first: Posterior, second: Posterior, how: Averaging
) -> tuple[Posterior, Posterior]:
    """Both posteriors of a pair, with their average in the dimensions that they share.

    "gvae" takes the means of means and of variances, "mlvae" the product of both densities brought
    to the variance of the harmonic mean (Locatello et al. 2020, section 4).
    """
    alike = find_shared_dimensions(first, second)
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

    def replace_shared(own: Posterior) -> Posterior:
        return (
            torch.where(alike, common_mean, own[0]),
            torch.where(alike, common_log_variance, own[1]),
        )

    return replace_shared(first), replace_shared(second)


def pairs(concepts: Int64, count: int, draws: np.random.Generator) -> Int64:
    """So many pairs of rows that have at least one concept alike, but not all: int64 (count, 2).

    Pairs are drawn with equal chances from all that there are, and may be drawn again. Raises
    DatasetError: there is no such pair.

    Parameters
    ----------
    concepts : 0 or 1, int64, shape (n, k).
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
            todo="Use a data set with at least two concepts, or a learner that does not need "
            "pairs.",
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
            x = learner.to_channels_last(torch.cat(batch.x.unbind(dim=1)))
            left, right = zip(*(part.chunk(2) for part in self._posterior(x)), strict=True)
            both = average_posteriors(left, right, self._averaging)
            posterior = torch.cat([both[0][0], both[1][0]]), torch.cat([both[0][1], both[1][1]])
        rebuilt = self.networks["decoder"](sample_posterior(posterior, draws))
        error = learner.rebuilding_error(x, rebuilt)
        kl = divergence(*posterior).mean()
        loss = error + self._beta * kl
        self.descend(self.optimizers[0], loss, done)
        return detach_losses({"loss": loss, "reconstruction": error, "kl": kl})

    def codes(self, x: Tensor, *, as_published: bool = False) -> Tensor:
        """Means of the posteriors; as published, a sample of each, the same for the same rows."""
        mean, log_variance = self._posterior(x)
        if not as_published:
            return mean
        draws = np.random.default_rng([self.setup.seed, _SAMPLE])
        return sample_posterior((mean, log_variance), draws)

    def _posterior(self, x: Tensor) -> Posterior:
        mean, log_variance = self.networks["encoder"](x).chunk(2, dim=1)
        return mean, log_variance


_AVERAGING: dict[str, Averaging] = {"ada-gvae": "gvae", "ada-mlvae": "mlvae"}


THRESHOLD = 0.0
"""A direction is present in a code whose cosine with it is above this."""
BACK_HIDDEN = 500
"""Units of the one hidden layer that maps scores back to codes."""
SALIENCE, APARTNESS = 0.1, 0.1
"""Weights of both regularisers: that a direction has near examples, and that no two are alike."""

EPOCHS = 50
"""Of learning the directions: the network's codes are computed once, so that they are short."""
LENGTH = 0.5
"""Directions begin with numbers between minus this and this."""


class Directions(nn.Module):
    """Concepts as directions in codes, and the map from their scores back to codes. width: numbers
    of a code; count: directions."""

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
            return detach_losses({"loss": loss})
        outputs = self.networks["predictor"](self._directions(batch.x))
        task = learner.class_loss(outputs, batch.labels)
        near = salience(self._directions.cosines(batch.x), nearest(self.batch, self.setup.classes))
        alike = likeness(self._directions.unit())
        loss = task - SALIENCE * near + APARTNESS * alike
        self.descend(self.optimizers[1], loss, done)
        return detach_losses({"loss": loss, "task": task, "salience": near, "likeness": alike})

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
