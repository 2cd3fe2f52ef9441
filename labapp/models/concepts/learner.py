"""What training, loading and interventions need of a concept learner.

A learner is made of its settings and a `Setup`, with weights that follow from the seed. It learns
in phases; `training` takes it through them, step by step, and keeps its whole state: what is in
`networks` (buffers too) and in `optimizers`. So whatever else a phase finds out is in a buffer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from labapp.base.discovery import load
from labapp.base.errors import ModelError
from labapp.models.concepts import networks
from labapp.models.concepts.settings import RATE, Settings, Size
from labapp.models.datasets.concepts.rows import ConceptRows
from labapp.models.datasets.split import Float64, Int64, chunks
from labapp.models.training.loop import Losses, one_cycle

M_BATCH = 32
"""Rows of a step of pictures in sizes that are not as published."""
PERCENTILES = (5, 95)
"""Of the training codes: what a logit is set to, off and on (paper 001, 4.1)."""
_CYCLE = one_cycle(0.3)


@dataclass(frozen=True, slots=True)
class Setup:
    """What a learner is made for.

    Attributes
    ----------
    shape : of an instance: (channels, pixels, pixels), or (features,).
    concepts, classes : how many there are.
    """

    shape: tuple[int, ...]
    concepts: int
    classes: int
    size: Size
    seed: int

    @property
    def tabular(self) -> bool:
        return len(self.shape) == 1

    @property
    def published(self) -> bool:
        """Whether batch, kernels and dropout are the released code's; always of TabularToy."""
        return self.tabular or self.size.published

    @property
    def kernels(self) -> tuple[int, ...]:
        """Width of the four convolutions' kernels."""
        return networks.PUBLISHED_KERNELS if self.published else networks.SMALL_KERNELS

    @property
    def epochs(self) -> int:
        """Of a learner that has one phase."""
        return self.size.toy_epochs if self.tabular else self.size.epochs


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of learning: so many times through the rows."""

    name: str
    epochs: int


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The rows of a step: `x` float32 of shape (n, channels, pixels, pixels) or (n, features),
    `concepts` float32 0 or 1 of shape (n, k), `labels` int64 of shape (n,). Where an epoch is of
    pairs, every shape begins (n, 2)."""

    x: Tensor
    concepts: Tensor
    labels: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """Rows in memory, as `Batch`, but for pictures, which are uint8 from 0 to 255."""

    x: Tensor
    concepts: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)

    def batch(self, numbers: Int64 | Tensor) -> Batch:
        """The rows of these numbers, int64, shape (n,), or (n, 2) for pairs."""
        chosen = torch.as_tensor(numbers, device=self.x.device)
        return Batch(_floats(self.x[chosen]), self.concepts[chosen], self.labels[chosen])


def _floats(x: Tensor) -> Tensor:
    if x.dtype != torch.uint8:
        return x
    return networks.laid_out(x.float().div_(255))


def in_memory(rows: ConceptRows) -> TrainingRows:
    """All rows; pictures must be in steps of 1/255."""
    parts = []
    for chosen in chunks(len(rows)):
        part = rows.instances(chosen)
        if part.ndim > 2:
            part = np.rint(part * np.float32(255)).astype(np.uint8)
        parts.append(torch.from_numpy(part))
    return TrainingRows(
        torch.cat(parts),
        torch.from_numpy(rows.concepts_of).float(),
        torch.from_numpy(rows.labels_of),
    )


class ConceptLearner(ABC):
    """A learner of concepts. Subclasses set `networks`, `optimizers` and `phases`.

    Attributes
    ----------
    aligned : whether OIS aligns its codes: they were learned without concepts.
    networks : all that weights.safetensors holds.
    optimizers : in a fixed order.
    phases : in order.
    batch : rows of a step.
    """

    aligned: ClassVar[bool] = False
    networks: nn.ModuleDict
    optimizers: list[torch.optim.Adam]
    phases: tuple[Phase, ...]

    def __init__(self, settings: Settings, setup: Setup) -> None:
        self.settings, self.setup = settings, setup
        self.batch = settings.batch if setup.published else M_BATCH

    @property
    def aligned_as_published(self) -> bool:
        """Whether the released code does so."""
        return self.aligned

    def epoch(self, rows: TrainingRows, draws: np.random.Generator) -> Int64:
        """The numbers of the rows of an epoch, in the order in which they are learned: int64, shape
        (n,); or (n, 2) where a step takes pairs. Always as many."""
        return draws.permutation(len(rows))

    def begin(self, phase: int, rows: TrainingRows) -> TrainingRows:
        """Make ready for a phase, whose number counts from 0. Called before its first step, and
        after a run was taken up: the state is that of `networks` and `optimizers` and must not be
        set back.

        Returns
        -------
        As many rows, which the phase learns from in their place; the same ones by default.
        """
        return rows

    @abstractmethod
    def step(self, batch: Batch, draws: np.random.Generator, done: float) -> Losses:
        """Take a step of the current phase. The networks are in training mode. Returns losses by
        name, detached; "loss" is the one that is minimised. `draws`: the only source of chance;
        torch's own was set by it. `done`: share of the phase's steps that is done, 0 to 1."""

    @abstractmethod
    def codes(self, x: Tensor, *, as_published: bool = False) -> Tensor:
        """The codes of instances, shape (n, k) or (n, k, d): those of the paper's text, or those
        that the released code measures."""

    def maps(self, x: Tensor) -> Tensor | None:
        """The maps that codes sum up, shape (n, k, height, width); None where there are none."""
        return None

    def beliefs(self, x: Tensor) -> Tensor | None:
        """How probable each concept is, shape (n, k); None where codes are of no known concept."""
        return None

    def task_logits(self, x: Tensor) -> Tensor | None:
        """A logit for each class, shape (n, classes); None where no class is learned."""
        return None

    def predict_from(self, codes: Tensor) -> Tensor | None:
        """The same from codes; None where there is no predictor."""
        return None

    def values(self, training_codes: Float64) -> Float64 | None:
        """What a code becomes when its concept is set off and on, float64, shape (k, 2).

        training_codes : codes of the rows that were learned from, shape (n, k). None where no
        concept can be set.
        """
        return None

    def descend(self, optimizer: torch.optim.Adam, loss: Tensor, done: float) -> None:
        """One step of an optimizer down a loss, at the rate for this moment of the phase."""
        peak = self.setup.size.peak
        rate = RATE if peak is None or self.setup.tabular else peak * _CYCLE(done)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def adam(parameters: Iterable[nn.Parameter]) -> torch.optim.Adam:
    """Adam as Keras has it."""
    return torch.optim.Adam(parameters, lr=RATE, betas=(0.9, 0.999), eps=1e-7, fused=True)


def detached(losses: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The same losses, of which no gradient is wanted any more."""
    return {name: value.detach() for name, value in losses.items()}


def build(settings: Settings, setup: Setup) -> ConceptLearner:
    """An untrained learner: the same for the same settings and setup. Raises ModelError: it has
    fewer codes than there are concepts, so that some would have none."""
    if settings.codes is not None and settings.codes < setup.concepts:
        raise ModelError(
            f"The recipe asks {settings.name} for {settings.codes} codes, and there are "
            f"{setup.concepts} concepts, each of which needs a code of its own.",
            safe="Nothing was trained.",
            todo=f"Ask for {setup.concepts} or more, or leave the number out.",
        )
    learner: ConceptLearner = load(settings.learner)(settings, setup)
    return learner
