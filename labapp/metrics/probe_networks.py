"""The networks of the probes: one for each column of classes, which reads all codes at once.

Paper 001, A.9 and A.11: an MLP with two hidden layers of 64 ReLU units. All columns are learnt in
one batched computation. What the paper leaves open is as for its concept learners: Adam with a rate
of 0.001, batches of 32, 100 epochs (its tables of numbers: 300), Glorot's uniform initial weights,
no scaling of codes. Each network begins with weights of its own; all take the same batches in the
same order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from labapp.metrics.concepts import Concepts, RowDivision
from labapp.metrics.helper_networks import EPSILON, RATE, check_size, cross_entropy, one_thread
from labapp.metrics.inputs import check_count

Float64 = NDArray[np.float64]

HIDDEN = 64
EPOCHS = 100
BATCH = 32

Layer = tuple[Tensor, Tensor]
"""Weights (K, inputs, outputs) and offsets (K, 1, outputs) of K networks, float32."""


def probed(
    inputs: Float64,
    targets: Concepts,
    division: RowDivision,
    *,
    hidden: Sequence[int] = (HIDDEN, HIDDEN),
    epochs: int = EPOCHS,
    batch: int = BATCH,
    seed: int,
    progress: Callable[[float], None] | None = None,
) -> list[Float64]:
    """What networks that learn from the training rows say of the test rows.

    Parameters
    ----------
    inputs : float64, shape (n, D): all numbers of all codes of each row.
    targets : the K columns of classes to tell.
    division : the rows to learn from, and those to test on.
    hidden, batch : units of each hidden layer, rows of a batch.
    epochs : how often the rows are learnt from.
    seed : of the initial weights and of the order of rows.
    progress : told what share of the work is done, above 0 to 1.

    Returns
    -------
    Of each column, logits of the test rows, float64: of shape (tests, 1) for two classes, else
    (tests, classes); see `roc.class_auc`.

    Raises
    ------
    MetricError : a hidden layer without units, no epoch, or a code beyond
        `helper_networks.LARGEST`.
    """
    for units in hidden:
        check_count("hidden", units, 1)
    check_count("epochs", epochs, 1)
    check_size(inputs)
    values = torch.from_numpy(inputs.astype(np.float32))
    of_columns: list[Float64] = [np.empty(0)] * len(targets.classes)
    kinds = sorted(set(targets.classes))
    for place, classes in enumerate(kinds):
        columns = np.flatnonzero(np.array(targets.classes) == classes)
        labels = torch.from_numpy(targets.labels[:, columns].T.copy())
        generator = torch.Generator().manual_seed(seed)
        widths = (values.shape[1], *hidden, 1 if classes == 2 else classes)
        layers = _initial(len(columns), widths, generator)

        def report(share: float, before: int = place) -> None:
            if progress is not None:
                progress((before + share) / len(kinds))

        with one_thread():
            learnt = values[division.train], labels[:, division.train]
            _train(layers, *learnt, batch, epochs, generator, report)
            with torch.no_grad():
                logits = _logits(layers, values[division.test]).double().numpy()
        for column, of_column in zip(columns, logits, strict=True):
            of_columns[column] = of_column
    return of_columns


def _initial(networks: int, widths: Sequence[int], generator: torch.Generator) -> list[Layer]:
    """Glorot's uniform weights, and offsets of 0."""
    layers = []
    for inputs, outputs in pairwise(widths):
        limit = math.sqrt(6 / (inputs + outputs))
        weights = (2 * torch.rand(networks, inputs, outputs, generator=generator) - 1) * limit
        layers.append((weights, torch.zeros(networks, 1, outputs)))
    return layers


def _train(
    layers: Sequence[Layer],
    values: Tensor,
    labels: Tensor,
    batch: int,
    epochs: int,
    generator: torch.Generator,
    progress: Callable[[float], None],
) -> None:
    """Trains in place. `values` float32 (n, D); `labels` int64 (K, n)."""
    parameters = [tensor.requires_grad_() for layer in layers for tensor in layer]
    adam = torch.optim.Adam(parameters, lr=RATE, eps=EPSILON, fused=True)
    for epoch in range(epochs):
        order = torch.randperm(len(values), generator=generator)
        for rows in torch.split(order, batch):
            # A sum over networks: each one's own gradient is what it would be alone.
            loss = cross_entropy(_logits(layers, values[rows]), labels[:, rows]) / len(rows)
            adam.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            adam.step()
        progress((epoch + 1) / epochs)


def _logits(layers: Sequence[Layer], values: Tensor) -> Tensor:
    """Of float32 values (n, D), from every network: float32 (K, n, m)."""
    signal = values
    for place, (weights, offset) in enumerate(layers):
        signal = (torch.relu(signal) if place else signal) @ weights + offset
    return signal
