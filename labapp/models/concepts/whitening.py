"""CW, concept whitening (Chen, Bei and Rudin 2020; paper 001, A.6): a layer that decorrelates its
channels and turns them so that the first ones follow given concepts.

Whitening is done by Newton's iteration on the covariance of a batch, over rows and positions (Huang
et al. 2019). The rotation is not learned by gradient descent but now and then from examples of each
concept, along a curve of rotations that Cayley's transform gives (Wen and Yin 2013).

Five iterations, as released, do not whiten many channels wholly: where the variance is spread over
64 of them alike, theirs comes out as 0.58; of 3 channels, as 1.00.

CBM and CBM-Logits: concept bottleneck models, trained jointly (Koh et al. 2020; paper 001, A.6).

The paper prints the label predictor as {k, 64, 64, L}; that names input and output, and so has the
released code: two hidden layers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from labapp.models.concepts import learner
from labapp.models.concepts.learner import (
    PERCENTILES,
    Batch,
    ConceptLearner,
    Phase,
    Setup,
    TrainingRows,
    adam,
    detached,
)
from labapp.models.concepts.recipe import BottleneckSettings, Cw, Windows
from labapp.models.datasets.split import Float64
from labapp.models.metrics.inputs import outputs_of
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
HIDDEN = (64, 64, 64, 64)
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


def turned(rotation: Float64, gradient: Float64) -> Float64:
    """A rotation (c, c) after a step that lowers the sum of its product with the gradient (c, c).

    The step is of a length that meets Wolfe's conditions, searched by bisection from `FIRST_STEP`;
    where none is found after `HALVINGS`, the last one is taken.
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
        # Of the objective of the rotation, a row a channel.
        self.register_buffer("gradient", torch.zeros(channels, channels))
        # Of training, for whoever turns every so many.
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    def forward(self, x: Tensor) -> Tensor:
        return self._applied(x, turn=True)

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
            rotation = turned(rotation, gradient)
        self.rotation.copy_(torch.from_numpy(rotation))

    def _row(self, x: Tensor, channel: int) -> Tensor:
        """The gradient of minus the mean activation of a channel by the channel's row of the
        rotation, (c,): of maps, the activation where the channel wins a window of max-pooling.

        As released, each entry is of the windows' places where that entry's own channel wins
        instead. That is no gradient of the concept's activation, and the rows of different concepts
        come out much alike.
        """
        whitened = self._applied(x, turn=False)
        if whitened.ndim == 2:
            return -whitened.mean(dim=0)
        winners = self.rotation if self._windows else self.rotation[channel][None]
        activations = torch.einsum("dc,nchw->ndhw", winners, whitened)
        _, places = functional.max_pool2d(activations, POOL, return_indices=True)
        winning = whitened.flatten(2).gather(2, places.flatten(2).expand(-1, len(self.mean), -1))
        return -winning.mean(dim=(0, 2))

    def _applied(self, x: Tensor, *, turn: bool) -> Tensor:
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

    Its weights learn the classes alone. Of pictures, half of the epochs are without the rotation.
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
                *learner.dense(WHITENED * left * left, *HIDDEN, outputs),
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
        return detached({"loss": loss})

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
        return detached({"loss": loss, "task": task, "concepts": concept})

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
