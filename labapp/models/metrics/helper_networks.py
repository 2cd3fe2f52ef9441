"""The helper networks of OIS: one for each pair of a code and a concept, all trained at once.

Paper 001, A.3: an MLP with one hidden layer of 32 ReLU units predicts a concept from the d numbers
of one code; 25 epochs in batches of 128. What the paper leaves open is as in its released code:
Adam with a rate of 0.001, Glorot's uniform initial weights and biases of 0, no scaling of codes, no
early stopping. Each helper begins with weights of its own; all take the same batches in the same
order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from labapp.base.errors import MetricError
from labapp.models.datasets.split import Float64, Int64
from labapp.models.metrics.concepts import Concepts, RowDivision
from labapp.models.metrics.inputs import check_count, outputs_of
from labapp.models.metrics.roc import class_auc

HIDDEN = 32
EPOCHS = 25
BATCH = 128
PUBLISHED_BATCH = 512
RATE = 1e-3
EPSILON = 1e-7
"""Keras's, in which the released code is written; PyTorch would take 1e-8."""
LARGEST = 1e15
"""Largest absolute value of a code: the squares of gradients then stay within float32."""


@dataclass(frozen=True, slots=True, eq=False)
class HelperWeights:
    """Float32, of C x K helpers: `into` (C, K, d, H) and `bias` (C, K, H) of the hidden layer,
    `out` (C, K, H, m) and `offset` (C, K, m) of the output layer, m being 1 for two classes."""

    into: Tensor
    bias: Tensor
    out: Tensor
    offset: Tensor

    def all(self) -> list[Tensor]:
        return [self.into, self.bias, self.out, self.offset]


def predictability(
    codes: Float64,
    targets: Concepts,
    division: RowDivision,
    *,
    hidden: int = HIDDEN,
    epochs: int = EPOCHS,
    batch: int = BATCH,
    maps: bool = False,
    seed: int,
    measure: Callable[[Float64, Int64], Float64] = class_auc,
) -> Float64:
    """How well each concept is told from each code alone, on the test rows: float64 (C, K). Raises
    MetricError: a hidden layer without units, no epoch, a code beyond `LARGEST`, or maps that are
    not square.

    codes : float64, shape (n, C, d).
    hidden, batch : units of the hidden layer, rows of a batch.
    epochs : how often each helper sees the rows that it learns from.
    maps : whether the numbers of a code are a square map, which helpers of `map_helpers` take.
    seed : of the initial weights and the order of rows. Where C and K are equal, the same helpers
        begin with the same weights whatever the codes are.
    measure : of logits (n, m) and classes (n,), see `roc`: the area under the ROC curve, or the
        accuracy.
    """
    check_count("hidden", hidden, 1)
    check_count("epochs", epochs, 1)
    check_size(codes)
    if maps and math.isqrt(codes.shape[2]) ** 2 != codes.shape[2]:
        raise MetricError(
            f"Networks cannot learn: a code has {codes.shape[2]} numbers, which are no square map.",
            safe="Nothing was written.",
            todo="Leave maps out, or give square maps, row by row.",
        )
    values = torch.from_numpy(codes.transpose(1, 0, 2).astype(np.float32, order="C"))
    told = np.empty((codes.shape[1], len(targets.classes)))
    for classes in sorted(set(targets.classes)):
        columns = np.flatnonzero(np.array(targets.classes) == classes)
        labels = torch.from_numpy(targets.labels[:, columns].T.copy())
        generator = torch.Generator().manual_seed(seed)
        helpers, d = (len(values), len(columns)), values.shape[2]
        weights: HelperWeights | MapWeights
        if maps:
            weights = initial_maps(helpers, d, outputs_of(classes), generator)
        else:
            weights = initial((*helpers, d, hidden), classes, generator)
        with one_thread():
            learnt = values[:, division.train], labels[:, division.train]
            train(weights, *learnt, batch, generator, epochs=epochs)
            for code in range(len(values)):
                own = type(weights)(*(tensor[[code]] for tensor in weights.all()))
                with torch.no_grad():
                    logits = _logits(own, values[[code]][:, division.test])[0].double().numpy()
                for place, column in enumerate(columns):
                    tested = targets.labels[division.test, column]
                    told[code, column] = measure(logits[place], tested)
    return told


def check_size(codes: Float64) -> None:
    """Refuse codes beyond `LARGEST`, which networks could not learn from. Raises MetricError."""
    if np.abs(codes).max() > LARGEST:
        raise MetricError(
            f"Networks cannot learn: a code is as large as {np.abs(codes).max():g}, and networks "
            "take codes unscaled.",
            safe="Nothing was written.",
            todo="Give codes of ordinary size, for example standardised ones.",
        )


def initial(
    shape: tuple[int, int, int, int], classes: int, generator: torch.Generator
) -> HelperWeights:
    """Glorot's uniform weights, and biases of 0; `shape` is (C, K, d, H)."""
    *helpers, d, hidden = shape
    outputs = outputs_of(classes)

    def uniform(inputs: int, units: int) -> Tensor:
        limit = math.sqrt(6 / (inputs + units))
        return (2 * torch.rand(*helpers, inputs, units, generator=generator) - 1) * limit

    return HelperWeights(
        into=uniform(d, hidden),
        bias=torch.zeros(*helpers, hidden),
        out=uniform(hidden, outputs),
        offset=torch.zeros(*helpers, outputs),
    )


def train(
    weights: HelperWeights | MapWeights,
    values: Tensor,
    labels: Tensor,
    batch: int,
    generator: torch.Generator,
    *,
    epochs: int = EPOCHS,
) -> None:
    """Trains in place. `values` float32 (C, n, d); `labels` int64 (K, n)."""
    for tensor in weights.all():
        tensor.requires_grad_()
    by_knots = isinstance(weights, HelperWeights) and values.shape[2] == 1
    forward: Callable[[Any, Tensor], Tensor] = logits_by_knots if by_knots else _logits
    adam = torch.optim.Adam(weights.all(), lr=RATE, eps=EPSILON, fused=True)
    for _ in range(epochs):
        order = torch.randperm(values.shape[1], generator=generator)
        for rows in torch.split(order, batch):
            logits = forward(weights, values[:, rows])
            # A sum over helpers: each one's own gradient is what it would be alone.
            loss = cross_entropy(logits, labels[:, rows].expand(len(values), -1, -1)) / len(rows)
            adam.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            adam.step()


def logits_of(weights: HelperWeights, values: Tensor) -> Tensor:
    """Of float32 values (C, n, d), from every helper of their code: float32 (C, K, n, m)."""
    hidden = torch.relu(values[:, None] @ weights.into + weights.bias[:, :, None])
    return hidden @ weights.out + weights.offset[:, :, None]


def _logits(weights: HelperWeights | MapWeights, values: Tensor) -> Tensor:
    if isinstance(weights, MapWeights):
        return logits_of_maps(weights, values)
    return logits_of(weights, values)


def logits_by_knots(weights: HelperWeights, values: Tensor) -> Tensor:
    """The same for d = 1 but for rounding, without a number for each row and hidden unit.

    A unit max(0, a x + b) is at work on one side of its knot x = -b / a, and there adds out * a to
    the slope of the logit and out * b to its height. With the rows in order of x, the slope and the
    height at a row are running sums over the knots passed: n + H numbers in place of n * H. Where
    no unit is at work the sums may leave a trace of one, which is nothing to training but would
    put rows in order that the network holds equal: a ROC curve takes `logits_of`.
    """
    values = values[..., 0]
    codes, rows = values.shape
    helpers, hidden, outputs = weights.out.shape[1:]
    ordered, order = values.sort(dim=1)
    a, b = weights.into[:, :, 0], weights.bias
    with torch.no_grad():
        knots = torch.where(a == 0, -torch.inf, -b / a).reshape(codes, -1)
        rising, falling = a > 0, a < 0
        first = torch.where(
            rising.reshape(codes, -1),
            torch.searchsorted(ordered, knots, right=True),
            torch.searchsorted(ordered, knots),
        ).reshape(codes, helpers, hidden)
        # A unit that no value moves is at work everywhere or nowhere.
        everywhere = falling | ((a == 0) & (b > 0))
        change = rising.float() - falling.float()
    lines = torch.stack([a, b], dim=-1)[..., None] * weights.out[:, :, :, None]
    lines = lines.flatten(3)
    sums = torch.zeros(codes, helpers, rows + 1, 2 * outputs).scatter_add(
        2, first[..., None].expand_as(lines), lines * change[..., None]
    )
    passed = sums[:, :, :-1].cumsum(dim=2)
    start = (lines * everywhere[..., None]).sum(dim=2, keepdim=True)
    slope, height = torch.split(passed + start, outputs, dim=3)
    in_order = slope * ordered[:, None, :, None] + height + weights.offset[:, :, None]
    back = order.argsort(dim=1)[:, None, :, None].expand_as(in_order)
    return torch.gather(in_order, 2, back)


@contextmanager
def one_thread() -> Iterator[None]:
    """Steps are many and small: on more threads these wait for each other most of the time, and
    sums come out otherwise from machine to machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Nats, summed over networks and rows: of logits (..., m) and int64 classes (...)."""
    if logits.shape[-1] == 1:
        return functional.binary_cross_entropy_with_logits(
            logits[..., 0], labels.to(logits.dtype), reduction="sum"
        )
    return functional.cross_entropy(logits.flatten(0, -2), labels.flatten(), reduction="sum")


MAPS = (16, 32)
SIDE = 3


@dataclass(frozen=True, slots=True, eq=False)
class MapWeights:
    """Float32, of C x K helpers: `first` (C, K, 16, 1, 3, 3) and `second` (C, K, 32, 16, 3, 3) of
    the convolutions, `out` (C, K, 32 d, m) of the outputs, and the biases of each; m is 1 for two
    classes, and d the numbers of a map."""

    first: Tensor
    first_bias: Tensor
    second: Tensor
    second_bias: Tensor
    out: Tensor
    offset: Tensor

    def all(self) -> list[Tensor]:
        return [
            self.first,
            self.first_bias,
            self.second,
            self.second_bias,
            self.out,
            self.offset,
        ]


def initial_maps(
    helpers: tuple[int, int], d: int, outputs: int, generator: torch.Generator
) -> MapWeights:
    """Glorot's uniform weights, and biases of 0; `helpers` is (C, K)."""

    def uniform(*shape: int, inputs: int, units: int) -> Tensor:
        limit = math.sqrt(6 / (inputs + units))
        return (2 * torch.rand(*helpers, *shape, generator=generator) - 1) * limit

    maps, more = MAPS
    area = SIDE * SIDE
    return MapWeights(
        first=uniform(maps, 1, SIDE, SIDE, inputs=area, units=maps * area),
        first_bias=torch.zeros(*helpers, maps),
        second=uniform(more, maps, SIDE, SIDE, inputs=maps * area, units=more * area),
        second_bias=torch.zeros(*helpers, more),
        out=uniform(more * d, outputs, inputs=more * d, units=outputs),
        offset=torch.zeros(*helpers, outputs),
    )


def logits_of_maps(weights: MapWeights, values: Tensor) -> Tensor:
    """Of float32 values (C, n, d), square maps row by row, from every helper: (C, K, n, m)."""
    codes, rows, d = values.shape
    helpers = weights.first.shape[1]
    side = math.isqrt(d)
    # Helpers of a code have its map in common, and from then on nothing.
    x = values.transpose(0, 1).reshape(rows, codes, side, side)
    x = torch.relu(
        functional.conv2d(
            x, weights.first.flatten(0, 2), weights.first_bias.flatten(), padding=1, groups=codes
        )
    )
    x = torch.relu(
        functional.conv2d(
            x,
            weights.second.flatten(0, 2),
            weights.second_bias.flatten(),
            padding=1,
            groups=codes * helpers,
        )
    )
    flat = x.reshape(rows, codes, helpers, -1).permute(1, 2, 0, 3)
    return flat @ weights.out + weights.offset[:, :, None]
