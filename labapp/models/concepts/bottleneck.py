"""CBM and CBM-Logits: concept bottleneck models, trained jointly (Koh et al. 2020; paper 001, A.6).

The paper prints the label predictor as {k, 64, 64, L}; that names input and output, and so has the
released code: two hidden layers.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from labapp.models.concepts import networks
from labapp.models.concepts.learner import (
    PERCENTILES,
    Batch,
    ConceptLearner,
    Phase,
    Setup,
    adam,
    detached,
)
from labapp.models.concepts.settings import BottleneckSettings
from labapp.models.datasets.split import Float64
from labapp.models.metrics.inputs import outputs_of
from labapp.models.training.loop import Losses


class Bottleneck(ConceptLearner):
    """Concepts by an encoder, the class by a predictor that reads nothing else: probabilities of
    concepts (`cbm`) or their logits (`cbm-logits`)."""

    def __init__(self, settings: BottleneckSettings, setup: Setup) -> None:
        super().__init__(settings, setup)
        self.alpha = settings.alpha
        self.sigmoid = settings.name == "cbm"
        pictures = not setup.tabular
        encode = networks.encoder(
            setup.shape,
            setup.concepts,
            kernels=setup.kernels,
            dropout=settings.dropout if pictures and setup.published else 0.0,
            hidden=networks.HIDDEN if pictures else settings.encoder,
        )
        outputs = outputs_of(setup.classes)
        predict = nn.Sequential(*networks.dense(setup.concepts, *settings.predictor, outputs))
        self.networks = nn.ModuleDict({"encoder": encode, "predictor": predict})
        networks.initialise(self.networks, setup.seed, settings.initial_weights)
        self.optimizers = [adam(self.networks.parameters())]
        self.phases = (Phase("concepts and classes", setup.epochs),)

    def step(self, batch: Batch, draws: np.random.Generator, done: float) -> Losses:
        logits = self.networks["encoder"](batch.x)
        outputs = self.networks["predictor"](self._code(logits))
        task = networks.class_loss(outputs, batch.labels)
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
        return networks.class_logits(self.networks["predictor"](codes))

    def values(self, training_codes: Float64) -> Float64:
        if self.sigmoid:
            return np.tile([0.0, 1.0], (training_codes.shape[1], 1))
        return np.percentile(training_codes, PERCENTILES, axis=0).T.copy()

    def _code(self, logits: Tensor) -> Tensor:
        return torch.sigmoid(logits) if self.sigmoid else logits
