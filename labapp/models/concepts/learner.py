"""What training, loading and interventions need of a concept learner.

A learner is made of its settings and a `Setup`, with weights that follow from the seed. It learns
in phases; `training` takes it through them, step by step, and keeps its whole state: what is in
`networks` (buffers too) and in `optimizers`. So whatever else a phase finds out is in a buffer.

Layers that several concept learners have in common (paper 001, A.6). A trained concept learner
behind numbers of numpy: float64 in and out, rows a thousand at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from labapp.base.discovery import load
from labapp.base.errors import ModelError
from labapp.models.concepts.card import Card
from labapp.models.concepts.recipe import RATE, InitialWeights, Settings, Size
from labapp.models.datasets.concepts.rows import ConceptRows
from labapp.models.datasets.split import Float64, Int64, chunks
from labapp.models.representations.networks import cross_entropy, squared_error
from labapp.models.training.loop import Losses, one_cycle

M_BATCH = 32
"""Rows of a step of pictures in sizes that are not as published."""
PERCENTILES = (5, 95)
"""Of the training codes: what a logit is set to, off and on (paper 001, 4.1)."""
_CYCLE = one_cycle(0.3)


@dataclass(frozen=True, slots=True)
class Setup:
    """What a learner is made for. shape: of an instance: (channels, pixels, pixels), or
    (features,); concepts, classes: how many there are."""

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
        return PUBLISHED_KERNELS if self.published else SMALL_KERNELS

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
    """Rows in memory, as `Batch`, except pictures, which are uint8 from 0 to 255."""

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
    return to_channels_last(x.float().div_(255))


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
        (n,); or (n, 2) if a step takes pairs. Always as many."""
        return draws.permutation(len(rows))

    def begin(self, phase: int, rows: TrainingRows) -> TrainingRows:
        """Make ready for a phase, whose number counts from 0. Called before its first step, and
        after a run was taken up: the state is that of `networks` and `optimizers` and must not be
        set back. Returns as many rows, which the phase learns from in their place; the same ones by
        default."""
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
        """The maps that codes sum up, shape (n, k, height, width); None if there are none."""
        return None

    def beliefs(self, x: Tensor) -> Tensor | None:
        """How probable each concept is, shape (n, k); None if codes are of no known concept."""
        return None

    def task_logits(self, x: Tensor) -> Tensor | None:
        """A logit for each class, shape (n, classes); None if no class is learned."""
        return None

    def predict_from(self, codes: Tensor) -> Tensor | None:
        """The same from codes; None if there is no predictor."""
        return None

    def values(self, training_codes: Float64) -> Float64 | None:
        """The values that a code takes when its concept is set to off and on, float64, shape (k,
        2).

        training_codes : codes of the rows that were learned from, shape (n, k). None if no
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


def detach_losses(losses: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The same losses, detached from the graph."""
    return {name: value.detach() for name, value in losses.items()}


def build(settings: Settings, setup: Setup) -> ConceptLearner:
    """An untrained learner: the same for the same settings and setup. Raises ModelError: it has
    fewer codes than there are concepts, so that some would have none."""
    if settings.codes is not None and settings.codes < setup.concepts:
        raise ModelError(
            f"The recipe asks {settings.name} for {settings.codes} codes, but there are "
            f"{setup.concepts} concepts, and each needs its own code.",
            safe="Nothing was trained.",
            todo=f"Ask for {setup.concepts} or more, or leave the number out.",
        )
    learner: ConceptLearner = load(settings.learner)(settings, setup)
    return learner


MAPS = (8, 16, 32, 64)
"""Maps of the four blocks of convolutions of an encoder of pictures."""
HIDDEN = (64, 64)
"""Units of the layers after them."""
TOY_HIDDEN = (128, 64)
"""Units of the layers for TabularToy: of encoders, and of what predicts classes."""
SMALL_KERNELS = (3, 3, 3, 3)
PUBLISHED_KERNELS = (7, 5, 3, 3)
"""Width of the blocks' kernels by the paper's text, and in the released code."""
EPSILON, MOMENTUM = 1e-3, 0.01
"""Of batch normalisation in Keras, whose momentum counts the other way round."""


def normalisation(maps: int) -> nn.BatchNorm2d:
    """Batch normalisation of so many maps, as in Keras."""
    return nn.BatchNorm2d(maps, eps=EPSILON, momentum=MOMENTUM)


def blocks(
    channels: int, kernels: Sequence[int], *, maps: Sequence[int] = MAPS, normalised: bool = True
) -> list[nn.Module]:
    """Blocks of convolution, batch normalisation, ReLU and 2 x 2 pooling, one for each map."""
    layers: list[nn.Module] = []
    # As the pictures, see `learner.TrainingRows`.
    last = torch.channels_last
    for (before, after), kernel in zip(pairwise((channels, *maps)), kernels, strict=True):
        convolution = nn.Conv2d(before, after, kernel, padding=kernel // 2)
        layers.append(convolution.to(memory_format=last))  # type: ignore[call-overload]
        if normalised:
            layers.append(normalisation(after))
        # The same numbers and gradients as ReLU before pooling, for a quarter of its work.
        layers += [nn.MaxPool2d(2), nn.ReLU()]
    return layers


def dense(*widths: int) -> list[nn.Module]:
    """Layers between these widths, a ReLU after each but the last."""
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return layers[:-1]


def encoder(
    shape: tuple[int, ...],
    outputs: int,
    *,
    kernels: Sequence[int] = SMALL_KERNELS,
    dropout: float = 0.0,
    hidden: Sequence[int] = HIDDEN,
    normalised: bool = True,
) -> nn.Sequential:
    """A network from instances to numbers.

    Parameters
    ----------
    shape : of an instance: (channels, pixels, pixels), or (features,).
    hidden : units of the dense layers before the outputs; all layers there are for features.
    dropout : share of units left out after the blocks.
    """
    if len(shape) == 1:
        return nn.Sequential(*dense(shape[0], *hidden, outputs))
    channels, pixels, _ = shape
    left = pixels // 2 ** len(MAPS)
    return nn.Sequential(
        *blocks(channels, kernels, normalised=normalised),
        nn.Flatten(),
        *([nn.Dropout(dropout)] if dropout else []),
        *dense(MAPS[-1] * left * left, *hidden, outputs),
    )


def decoder(width: int, shape: tuple[int, ...]) -> nn.Sequential:
    """A network from codes (n, width) to the logits of pictures, or to numbers: (n, *shape).

    Of pictures, layers of 256 and 512 units, and four 4 x 4 deconvolutions of stride 2 to 64, 32
    and 32 maps and the picture's channels (Locatello et al. 2020): they begin with 32 maps of 4 x 4
    numbers, of smaller pictures with smaller ones. Of numbers, the encoder's layers turned round;
    as released they stand in the encoder's order, and the text has 64 units in both.
    """
    if len(shape) == 1:
        return nn.Sequential(*dense(width, *reversed(TOY_HIDDEN), *shape))
    channels, pixels, _ = shape
    side = pixels // 16
    maps = 32
    layers: list[nn.Module] = [*dense(width, 256, maps * side * side), nn.ReLU()]
    layers.append(nn.Unflatten(1, (maps, side, side)))
    for before, after in pairwise((maps, 64, 32, 32, channels)):
        layers += [nn.ConvTranspose2d(before, after, 4, stride=2, padding=1), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def initialise(network: nn.Module, seed: int, weights: InitialWeights | None) -> None:
    """Initial weights by a seed, see `Settings.initial_weights`."""
    generator = torch.Generator().manual_seed(seed)
    for module in network.modules():
        if not isinstance(module, nn.Linear | nn.Conv2d | nn.ConvTranspose2d):
            continue
        if weights is None:
            nn.init.xavier_uniform_(module.weight, generator=generator)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
            continue
        # PyTorch counts the weights of a unit of the second axis, of deconvolutions too.
        most = module.weight[0].numel() ** -0.5
        nn.init.uniform_(module.weight, -most, most, generator=generator)
        if module.bias is not None:
            nn.init.uniform_(module.bias, -most, most, generator=generator)


def to_channels_last(x: Tensor) -> Tensor:
    """Pictures with channels last in memory, for which CPUs convolve twice as fast."""
    return x if x.ndim != 4 or x.is_cuda else x.contiguous(memory_format=torch.channels_last)


def rebuilding_error(x: Tensor, rebuilt: Tensor) -> Tensor:
    """The mean over rows of what a decoder misses: the cross-entropy of a picture's pixels with the
    logits `rebuilt`, in nats, or the squared error of numbers, each summed, as released."""
    if x.ndim == 2:
        return squared_error(x, rebuilt).mean()
    return cross_entropy(x, rebuilt).mean()


def class_loss(outputs: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy of outputs, shape (n, `outputs_of(classes)`)."""
    if outputs.shape[1] == 1:
        return functional.binary_cross_entropy_with_logits(outputs[:, 0], labels.float())
    return functional.cross_entropy(outputs, labels)


def class_logits(outputs: Tensor) -> Tensor:
    """A logit for each class, shape (n, classes)."""
    if outputs.shape[1] == 1:
        return torch.cat([torch.zeros_like(outputs), outputs], dim=1)
    return outputs


ROWS = 1_000
"""Rows that go through a network at a time."""


class Answering(Protocol):
    """What a model is asked for: a `learner.ConceptLearner` in evaluation mode, or a lab's own."""

    @property
    def aligned(self) -> bool: ...
    @property
    def aligned_as_published(self) -> bool: ...
    def codes(self, x: Tensor, *, as_published: bool = False) -> Tensor: ...
    def maps(self, x: Tensor) -> Tensor | None: ...
    def beliefs(self, x: Tensor) -> Tensor | None: ...
    def task_logits(self, x: Tensor) -> Tensor | None: ...
    def predict_from(self, codes: Tensor) -> Tensor | None: ...


class ConceptModel:
    """What a model makes of rows of its task, which are prepared as those it learned from.

    Attributes
    ----------
    values : what a code becomes when its concept is set off and on, float64, shape (k, 2); None
        if no concept can be set.
    card : of its package; None while it is measured.
    """

    def __init__(
        self, learner: Answering, values: Float64 | None = None, card: Card | None = None
    ) -> None:
        if isinstance(learner, ConceptLearner):
            learner.networks.eval()
        self._learner = learner
        self._card = card
        self.values = values

    @property
    def card(self) -> Card:
        assert self._card is not None, "asked of a model that is being measured"
        return self._card

    @property
    def aligned(self) -> bool:
        """Whether OIS aligns the codes: they were learned without concepts."""
        return self._learner.aligned

    @property
    def aligned_as_published(self) -> bool:
        """Whether the released code does so."""
        return self._learner.aligned_as_published

    def codes(self, rows: ConceptRows, *, as_published: bool = False) -> Float64:
        """Codes of all rows, float64, shape (n, k) or (n, k, d)."""
        codes = self._over(rows, lambda x: self._learner.codes(x, as_published=as_published))
        assert codes is not None
        return codes

    def maps(self, rows: ConceptRows) -> Float64 | None:
        """The maps that codes sum up, float64 (n, k, height, width); None if there are none."""
        return self._over(rows, self._learner.maps)

    def beliefs(self, rows: ConceptRows) -> Float64 | None:
        """How probable each concept is, float64 (n, k); None if no concept is known."""
        return self._over(rows, self._learner.beliefs)

    def task_logits(self, rows: ConceptRows) -> Float64 | None:
        """A logit for each class, float64, shape (n, classes); None if no class is learned."""
        return self._over(rows, self._learner.task_logits)

    def predict_from(self, codes: Float64) -> Float64 | None:
        """The same from codes of shape (n, k) or (n, k, d); None if there is no predictor."""
        values = codes.astype(np.float32)
        return _in_chunks(
            len(codes), lambda rows: self._learner.predict_from(torch.from_numpy(values[rows]))
        )

    def intervened(self, rows: ConceptRows, setting: Mapping[int, int]) -> Float64:
        """Class logits of all rows after some concepts, by their number from 0, were set to 0 or 1:
        float64, shape (n, classes). Raises ModelError: no concept of this model can be set, or
        there is none of that number."""
        codes = self.codes(rows)
        values = settable(self)
        for concept, value in setting.items():
            if not 0 <= concept < len(values) or value not in (0, 1):
                raise ModelError(
                    f"Concept {concept} cannot be set to {value}: concepts are 0 to "
                    f"{len(values) - 1}, and are set to 0 or 1.",
                    safe="Nothing was computed.",
                )
            codes[:, concept] = values[concept, value]
        logits = self.predict_from(codes)
        assert logits is not None
        return logits

    def _over(
        self, rows: ConceptRows, compute: Callable[[Tensor], Tensor | None]
    ) -> Float64 | None:
        memory = in_memory(rows)
        return _in_chunks(len(memory), lambda chosen: compute(memory.batch(chosen).x))


def _in_chunks(count: int, compute: Callable[[Int64], Tensor | None]) -> Float64 | None:
    """What is computed of so many rows, some at a time; None if that is nothing."""
    parts = []
    with torch.inference_mode():
        for chosen in chunks(count, ROWS):
            values = compute(chosen)
            if values is None:
                return None
            parts.append(values.double().numpy())
    return np.concatenate(parts)


def settable(model: ConceptModel) -> Float64:
    """The model's values, shape (k, 2). Raises ModelError: none of its concepts can be set."""
    if model.values is None:
        raise ModelError(
            "None of the concepts of this model can be set: its codes belong to no known "
            "concept, or nothing is predicted from them.",
            safe="Nothing was computed.",
            todo="Choose a concept bottleneck model (cbm or cbm-logits).",
        )
    return model.values
