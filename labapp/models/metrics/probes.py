"""What can be read of concepts and of a task from all codes together, by a small network: paper
001, A.9 (Figure A.3: the task) and A.11 (Figure A.6: concepts); completeness is that of Yeh et al.
(2020).

The network of each column of classes is an MLP with two hidden layers of 64 ReLU units, which reads
all codes at once. All columns are learnt in one batched computation. What the paper leaves open is
as for its concept learners: Adam with a rate of 0.001, batches of 32, 100 epochs (its tables of
numbers: 300), Glorot's uniform initial weights, no scaling of codes. Each network begins with
weights of its own; all take the same batches in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from labapp.base.errors import MetricError
from labapp.models.datasets.split import Float64
from labapp.models.metrics.inputs import (
    JSON,
    SEEDS,
    Concepts,
    Coordinates,
    RowDivision,
    Score,
    check_count,
    concepts,
    divide_rows,
    generator,
    in_coordinates,
    join_rows,
    join_vectors,
    task,
)
from labapp.models.metrics.ois import EPSILON, RATE, check_size, cross_entropy, one_thread
from labapp.models.metrics.roc import class_accuracy, class_auc

HIDDEN = 64
EPOCHS = 100
BATCH = 32

Layer = tuple[Tensor, Tensor]
"""Weights (K, inputs, outputs) and offsets (K, 1, outputs) of K networks, float32."""


def train_probes(
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
    """What networks that learn from the training rows say of the test rows. Returns of each column,
    logits of the test rows, float64: of shape (tests, 1) for two classes, else (tests, classes);
    see `roc.class_auc`. Raises MetricError: a hidden layer without units, no epoch, or a code
    beyond `helper_networks.LARGEST`.

    inputs : float64, shape (n, D): all numbers of all codes of each row.
    hidden, batch : units of each hidden layer, rows of a batch.
    epochs : how often the rows are learnt from.
    seed : of the initial weights and of the order of rows.
    progress : told what share of the work is done, above 0 to 1.
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


Progress = Callable[[float], None]
TaskRows = tuple[ArrayLike, ArrayLike, ArrayLike]
"""Codes, factors and labels of other rows to learn from."""


def concept_probe(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    train: tuple[ArrayLike, ArrayLike] | None = None,
    hidden: int = HIDDEN,
    second: int = HIDDEN,
    epochs: int = EPOCHS,
    coordinates: Coordinates = "as given",
    seed: int = 0,
    as_published: bool = False,
    progress: Progress | None = None,
) -> Score:
    """How well all codes together tell of each concept: the mean area under the ROC curve of an
    MLP for each, 0.5 by chance, 1 if every concept can be read off. It says nothing of purity.

    Paper 001, A.11 and Figure A.6. A mean of 1 and a high OIS mean that the concepts are all there
    and spread over codes.

    Returns a Score with the parts `per_factor` (K,), the areas, whose mean is the score; `accuracy`
    (K,); and `chance` (K,), the share of each concept's most frequent class among the test rows.
    Raises MetricError: see `inputs.join_vectors` and `concepts.concepts`; a class on one side of
    the division only, a hidden layer without units, no epoch, unknown coordinates, a seed outside
    its range, or a code beyond 1e15 in size.

    codes : real numbers, shape (n, C), or (n, C, d) for codes of d numbers each.
    factors : the concepts: columns of classes, shape (n, K). With more than two classes, the area
        is the mean of those of each class against the others. See `concepts.concepts`.
    train : codes and factors of other rows to learn from; `codes` are then all test rows, as in the
        paper's figures. By default the rows of `codes` are divided.
    hidden, second : units of the two hidden layers; the paper has 64 and 64.
    epochs : how often the rows are learnt from, in batches of 32; the paper does not say. The
        released code has 100, and 300 on TabularToy.
    coordinates : as in `ois.ois`; of the rows to learn from, if they are given.
    seed : of the division into 80 % training and 20 % test rows, of the networks' initial weights
        and of the order of their rows; 0 to 2^32 - 1.
    as_published : taken so that all metrics are called alike; it changes nothing here.
    progress : told what share of the work is done, above 0 to 1.
    """
    c, f, learnt = join_vectors(codes, factors, train)
    rng = generator(seed)
    targets = concepts(f)
    division = join_rows(targets, learnt) if learnt else divide_rows(targets, rng)
    logits = train_probes(
        _inputs(c, coordinates, learnt),
        targets,
        division,
        hidden=(hidden, second),
        epochs=epochs,
        seed=int(rng.integers(SEEDS)),
        progress=progress,
    )
    columns = list(zip(logits, targets.labels[division.test].T, strict=True))
    areas = np.array([class_auc(*column) for column in columns])
    return Score(
        metric="concept-probe",
        score=float(areas.mean()),
        parts={
            "per_factor": areas,
            "accuracy": np.array([class_accuracy(*column) for column in columns]),
            "chance": np.array([np.bincount(labels).max() / len(labels) for _, labels in columns]),
        },
        settings=_settings(
            (hidden, second), epochs, coordinates, seed, as_published, len(c) - learnt, learnt
        ),
    )


def task_probe(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    labels: ArrayLike,
    train: TaskRows | None = None,
    hidden: int = HIDDEN,
    second: int = HIDDEN,
    epochs: int = EPOCHS,
    coordinates: Coordinates = "as given",
    seed: int = 0,
    as_published: bool = False,
    progress: Progress | None = None,
) -> Score:
    """How well all codes together tell the label of the task: the area under the ROC curve of an
    MLP, 0.5 by chance (paper 001, A.9 and Figure A.3).

    Beside it stands what the same network reads from the true factors. Codes that tell more of the
    task than the concepts do hold what the concepts do not.

    Returns a Score with the parts `accuracy`; `factors_auc` and `factors_accuracy`, the same of a
    network that reads the factors; and `chance`, the share of the most frequent label among the
    test rows. Raises MetricError: as `concept_probe`, and see `inputs.task`.

    codes, factors : as in `concept_probe`; factors may be measurements, and are read as they are.
    labels : the label of each row, shape (n,): up to 1,000 classes. With more than two, the area is
        the mean of those of each class against the others.
    train : codes, factors and labels of other rows to learn from.
    hidden, second, epochs, coordinates, seed, as_published, progress : as in `concept_probe`.
        The released code has 128 and 64 units for TabularToy, but of SENN's codes 64 and 64.
    """
    read = _read_task(
        codes, factors, labels, train, (hidden, second), epochs, coordinates, seed, progress
    )
    auc, factors_auc = (float(class_auc(logits, read.labels)) for logits in read.logits)
    accuracy, factors_accuracy = read.accuracies()
    return Score(
        metric="task-probe",
        score=auc,
        parts={
            "accuracy": accuracy,
            "factors_auc": factors_auc,
            "factors_accuracy": factors_accuracy,
            "chance": read.chance,
        },
        settings=_settings(
            (hidden, second), epochs, coordinates, seed, as_published, read.rows, read.learnt
        ),
    )


def completeness(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    labels: ArrayLike,
    network_accuracy: float = 1.0,
    train: TaskRows | None = None,
    hidden: int = HIDDEN,
    second: int = HIDDEN,
    epochs: int = EPOCHS,
    coordinates: Coordinates = "as given",
    seed: int = 0,
    as_published: bool = False,
    progress: Progress | None = None,
) -> Score:
    """How far codes suffice for what a network does: the accuracy of the task from the codes, less
    chance, over that of the network, less chance; 1 if nothing is missing, 0 at chance.

    Chance is what naming the most frequent label gets right, and so what is right without any
    code; it is above one over the number of labels if these are not as frequent.

    Yeh et al. (2020), Definition 3.1. They take the best map from concept scores back into the
    network, whose last layers stay as they are; here an MLP from codes to labels stands for both,
    which can be better than the network: then the score is above 1. For their concept discovery
    itself, `completeness_of` takes the two accuracies. Raises MetricError: as `task_probe`; or an
    accuracy of the network that is not above chance, or above 1.

    Parameters
    ----------
    codes, factors, labels, train : as in `task_probe`.
    network_accuracy : of the network whose codes these are, on the rows that are scored, above
        chance to 1. By default of one that is always right, which makes the score a lower bound.
    hidden, second, epochs, coordinates, seed, progress : as in `concept_probe`.
    as_published : chance is one over the number of labels, as in the code released with paper 001.

    Returns
    -------
    Score with the parts `accuracy`; `factors`, the completeness of the true factors; and `chance`.
    """
    read = _read_task(
        codes, factors, labels, train, (hidden, second), epochs, coordinates, seed, progress
    )
    chance = 1 / read.classes if as_published else read.chance
    scores = [completeness_of(own, network_accuracy, chance) for own in read.accuracies()]
    note = "The network was assumed to be always right, so this is a lower bound. Give its"
    return Score(
        metric="completeness",
        score=scores[0],
        parts={"accuracy": read.accuracies()[0], "factors": scores[1], "chance": chance},
        settings={
            "network_accuracy": network_accuracy,
            **_settings(
                (hidden, second), epochs, coordinates, seed, as_published, read.rows, read.learnt
            ),
        },
        notes=(f"{note} accuracy (--set network_accuracy=0.9).",)
        if network_accuracy == 1.0
        else (),
    )


def completeness_of(accuracy: float, network_accuracy: float, chance: float) -> float:
    """The accuracy of a task from concepts, less chance, over that of the network, less chance.
    Raises MetricError: a network that is no better than chance, or always right and more: there is
    nothing to be complete in. `accuracy`, `network_accuracy`, `chance`: shares of rows, 0 to 1."""
    if not chance < network_accuracy <= 1:
        raise MetricError(
            f"Completeness cannot be computed: the network's accuracy is {network_accuracy:g}, "
            f"and the chance level is {chance:g}.",
            todo="Give the share of rows that the network gets right, which must be above "
            "chance and at most 1.",
        )
    return (accuracy - chance) / (network_accuracy - chance)


class _Reading:
    """What a network read of the labels from codes, and another from factors, of the test rows.

    `logits`: of both, float64 (tests, m); `labels`, int64 (tests,); `chance`, the share of the most
    frequent of them; `classes`, how many labels there are, in all rows; `rows`, how many there are,
    those to learn from apart; `learnt`, how many these are, 0 if rows were divided.
    """

    def __init__(
        self, logits: Sequence[Float64], targets: Concepts, division: RowDivision, learnt: int
    ) -> None:
        self.logits = logits
        self.labels = targets.labels[division.test, 0]
        self.chance = float(np.bincount(self.labels).max() / len(self.labels))
        self.classes = len(np.unique(targets.labels[:, 0]))
        self.rows, self.learnt = len(targets.labels) - learnt, learnt

    def accuracies(self) -> tuple[float, float]:
        own, factors = (float(class_accuracy(logits, self.labels)) for logits in self.logits)
        return own, factors


def _read_task(
    codes: ArrayLike,
    factors: ArrayLike,
    labels: ArrayLike,
    train: TaskRows | None,
    hidden: Sequence[int],
    epochs: int,
    coordinates: Coordinates,
    seed: int,
    progress: Progress | None,
) -> _Reading:
    c, f, learnt = join_vectors(codes, factors, None if train is None else train[:2])
    given = np.asarray(labels)
    if train is not None:
        given = np.concatenate([np.ravel(train[2]), np.ravel(given)])
    targets = task(given, len(c))
    rng = generator(seed)
    division = join_rows(targets, learnt) if learnt else divide_rows(targets, rng)
    begin = int(rng.integers(SEEDS))
    logits = []
    for place, values in enumerate((c, f[:, :, None])):

        def report(share: float, before: int = place) -> None:
            if progress is not None:
                progress((before + share) / 2)

        logits += train_probes(
            _inputs(values, coordinates, learnt),
            targets,
            division,
            hidden=hidden,
            epochs=epochs,
            seed=begin,
            progress=report,
        )
    return _Reading(logits, targets, division, learnt)


def _inputs(values: Float64, coordinates: Coordinates, learnt: int) -> Float64:
    """All numbers of each row in these coordinates: float64 (n, C * d)."""
    basis = values[:learnt] if learnt else None
    return in_coordinates(values, coordinates, basis).reshape(len(values), -1)


def _settings(
    hidden: Sequence[int],
    epochs: int,
    coordinates: str,
    seed: int,
    as_published: bool,
    rows: int,
    learnt: int,
) -> dict[str, JSON]:
    return {
        "hidden": list(hidden),
        "epochs": epochs,
        "batch": BATCH,
        "coordinates": coordinates,
        "seed": seed,
        "as_published": as_published,
        "rows": rows,
        **({"training_rows": learnt} if learnt else {}),
        "torch": torch.__version__,
    }
