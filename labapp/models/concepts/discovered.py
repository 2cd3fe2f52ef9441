"""CCD, completeness-aware concept discovery (Yeh et al. 2020; paper 001, A.6): directions in the
code of a trained network that suffice to do its task.

First a network learns the task alone. Then it is frozen, and directions are learnt, together with
a map from their scores back to the network's code, so that its predictor still tells the classes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

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
from labapp.models.concepts.settings import Ccd
from labapp.models.datasets.split import chunks
from labapp.models.metrics.inputs import outputs_of
from labapp.models.training.loop import Losses

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
        hidden = networks.TOY_HIDDEN if setup.tabular else networks.HIDDEN
        encode = networks.encoder(
            setup.shape,
            settings.width,
            kernels=setup.kernels,
            dropout=settings.dropout if setup.published and not setup.tabular else 0.0,
            hidden=hidden,
        )
        outputs = outputs_of(setup.classes)
        predict = nn.Sequential(*networks.dense(settings.width, *hidden, outputs))
        self._directions = Directions(settings.width, settings.codes or setup.concepts)
        self.networks = nn.ModuleDict(
            {"encoder": encode, "predictor": predict, "directions": self._directions}
        )
        networks.initialise(self.networks, setup.seed, settings.initial_weights)
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
            loss = networks.class_loss(outputs, batch.labels)
            self.descend(self.optimizers[0], loss, done)
            return detached({"loss": loss})
        outputs = self.networks["predictor"](self._directions(batch.x))
        task = networks.class_loss(outputs, batch.labels)
        near = salience(self._directions.cosines(batch.x), nearest(self.batch, self.setup.classes))
        alike = likeness(self._directions.unit())
        loss = task - SALIENCE * near + APARTNESS * alike
        self.descend(self.optimizers[1], loss, done)
        return detached({"loss": loss, "task": task, "salience": near, "likeness": alike})

    def codes(self, x: Tensor, *, as_published: bool = False) -> Tensor:
        return self._directions.scores(self.networks["encoder"](x))

    def task_logits(self, x: Tensor) -> Tensor:
        """Of the classifier itself; `predict_from` the codes is what its directions suffice for."""
        return networks.class_logits(self.networks["predictor"](self.networks["encoder"](x)))

    def predict_from(self, codes: Tensor) -> Tensor:
        return networks.class_logits(self.networks["predictor"](self._directions.back(codes)))

    @torch.no_grad()
    def _all_codes(self, rows: TrainingRows) -> Tensor:
        """The network's codes of all rows, as in evaluation, (n, width)."""
        encode = self.networks["encoder"].eval()
        codes = torch.cat([encode(rows.batch(chosen).x) for chosen in chunks(len(rows))])
        encode.train()
        return codes
