"""OIS, the oracle impurity score: how well single codes predict concepts that they do not stand
for.

Paper 001, Definitions 3.1 and 3.2: how well each concept can be predicted from each code alone,
against how well it can be predicted from the other concepts themselves.

The helper networks of OIS: one for each pair of a code and a concept, all trained at once.

Paper 001, A.3: an MLP with one hidden layer of 32 ReLU units predicts a concept from the d numbers
of one code; 25 epochs in batches of 128. What the paper leaves open is as in its released code:
Adam with a rate of 0.001, Glorot's uniform initial weights and biases of 0, no scaling of codes, no
early stopping. Each helper begins with weights of its own; all take the same batches in the same
order.

Alignment of codes with concepts, for codes that were learnt without concepts.

Paper 001, A.5: greedy, by how well a helper network predicts each concept from each code alone.

How well the best single code tells each concept: alignment as Yeh et al. (2020) measure it.

Paper 001 lists it in Table A1 as "Alignment": the mean accuracy with which each concept is
predicted from the code that predicts it best.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.nn import functional

from labapp.base.errors import MetricError
from labapp.models.datasets.split import Float64, Int64
from labapp.models.metrics.inputs import (
    JSON,
    SEEDS,
    Concepts,
    Coordinates,
    RowDivision,
    Score,
    check_count,
    check_vectors,
    concepts,
    divide_rows,
    generator,
    in_coordinates,
    outputs_of,
    refusal,
)
from labapp.models.metrics.roc import class_accuracy, class_auc

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
    """How well each code alone predicts each concept, on the test rows: float64 (C, K). Raises
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
            f"The networks cannot learn, because a code has {codes.shape[2]} numbers, which "
            "cannot form a square map.",
            todo="Leave maps out, or give square maps row by row.",
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
            f"The networks cannot learn, because codes are as large as {np.abs(codes).max():g} "
            "and the networks do not scale them.",
            todo="Give codes of ordinary size, such as standardised ones.",
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
        return [self.first, self.first_bias, self.second, self.second_bias, self.out, self.offset]


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


_refuse = partial(refusal, "The codes cannot be matched with concepts")


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """`order`, int64 (K,): the code of each concept, so that `codes[:, order]` are K codes in the
    order of the concepts. `predictability`, float64 (C, K): the areas under ROC curves that it
    rests on. `settings`: all else that it depends on."""

    order: Int64
    predictability: Float64
    settings: Mapping[str, JSON]


def align(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    hidden: int = HIDDEN,
    epochs: int = EPOCHS,
    coordinates: Coordinates = "as given",
    seed: int = 0,
    as_published: bool = False,
) -> Alignment:
    """The greedy alignment of codes to concepts. Raises MetricError: see `inputs.check_vectors` and
    `concepts.concepts`; fewer codes than concepts, no hidden unit or epoch, unknown coordinates, a
    seed outside its range, or a code beyond 1e15 in size.

    codes : real numbers, shape (n, C) or (n, C, d), at least as many codes as concepts.
    factors : the concepts: columns of classes, shape (n, K). See `concepts.concepts`.
    hidden : units of the helpers' hidden layer.
    epochs, coordinates : as in `ois.ois`.
    seed : of the division into 80 % training and 20 % test rows, of the helpers' initial weights
        and of the order of their rows; 0 to 2^32 - 1.
    as_published : helpers with batches of 512 rows in place of 128, as in `ois.ois`.
    """
    c, f = check_vectors(codes, factors)
    check_enough(c.shape[1], f.shape[1])
    targets = concepts(f)
    rng = generator(seed)
    division = divide_rows(targets, rng)
    batch = PUBLISHED_BATCH if as_published else BATCH
    begin = int(rng.integers(SEEDS))
    auc = predictability(
        in_coordinates(c, coordinates),
        targets,
        division,
        hidden=hidden,
        epochs=epochs,
        batch=batch,
        seed=begin,
    )
    return Alignment(
        order=greedy(auc),
        predictability=auc,
        settings={
            "hidden": hidden,
            "epochs": epochs,
            "coordinates": coordinates,
            "batch": batch,
            "seed": seed,
            "as_published": as_published,
            "rows": len(c),
        },
    )


def greedy(predictability: Float64) -> Int64:
    """The code of each concept, int64 (K,), from areas under ROC curves (C, K), C at least K.

    Again and again the greatest area left over makes a match, and its code and its concept leave.
    Of equal areas, the first code's counts, and of its, the first concept's.
    """
    left = predictability.copy()
    order = np.empty(left.shape[1], dtype=np.int64)
    for _ in order:
        code, concept = np.unravel_index(left.argmax(), left.shape)
        order[concept] = code
        left[code, :] = -np.inf
        left[:, concept] = -np.inf
    return order


def check_enough(codes: int, factors: int, *, exactly: bool = False) -> None:
    """Refuse fewer codes than concepts, and with `exactly` also more. Raises MetricError: then some
    concept would have no code, or some code no concept."""
    if codes < factors:
        raise _refuse(
            f"there are {codes} codes for {factors} concepts, but each needs its own code",
            "Score fewer concepts, or use NIS, which accepts any number of codes.",
        )
    if exactly and codes > factors:
        raise _refuse(
            f"there are {codes} codes for {factors} concepts",
            "Give one code per concept, in the same order, or let the codes be aligned.",
        )


def alignment_accuracy(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    hidden: int = HIDDEN,
    epochs: int = EPOCHS,
    coordinates: Coordinates = "as given",
    seed: int = 0,
    as_published: bool = False,
) -> Score:
    """The mean over concepts of the accuracy with which the best single code tells them, chance to
    1, higher is better.

    Codes may share a concept's best code, and it counts nothing against a code that it tells other
    concepts too: pure and impure codes score alike. What an accuracy is worth depends on how often
    the most frequent class occurs: see `chance`. Raises MetricError: see `inputs.check_vectors` and
    `concepts.concepts`; no hidden unit or epoch, unknown coordinates, a seed outside its range, or
    a code beyond 1e15 in size.

    Parameters
    ----------
    codes : real numbers, shape (n, C), or (n, C, d) for codes of d numbers each; any number of
        codes.
    factors : the concepts: columns of classes, shape (n, K). See `concepts.concepts`.
    hidden, epochs, coordinates : of the helper networks that predict a concept from a code, as in
        `ois.ois`. Table A1 does not say what predicts; these are the networks of its A.5.
    seed : of the division into 80 % training and 20 % test rows, of the helpers' initial weights
        and of the order of their rows; 0 to 2^32 - 1.
    as_published : taken so that all metrics are called alike; no published number is known.

    Returns
    -------
    Score with the parts
        accuracy : (C, K), of predicting concept j from code i, on the test rows.
        per_factor : (K,), the greatest of each column; the score is their mean.
        best_code : (K,), the code that has it, counted from 0; the first of equal ones.
        chance : (K,), the share of each concept's most frequent class among the test rows.
    """
    c, f = check_vectors(codes, factors)
    targets = concepts(f)
    rng = generator(seed)
    division = divide_rows(targets, rng)
    accuracy = predictability(
        in_coordinates(c, coordinates),
        targets,
        division,
        hidden=hidden,
        epochs=epochs,
        batch=BATCH,
        seed=int(rng.integers(SEEDS)),
        measure=class_accuracy,
    )
    tested = targets.labels[division.test]
    return Score(
        metric="alignment-accuracy",
        score=float(accuracy.max(axis=0).mean()),
        parts={
            "accuracy": accuracy,
            "per_factor": accuracy.max(axis=0),
            "best_code": accuracy.argmax(axis=0).astype(np.float64),
            "chance": np.array([np.bincount(column).max() / len(column) for column in tested.T]),
        },
        settings={
            "hidden": hidden,
            "epochs": epochs,
            "coordinates": coordinates,
            "batch": BATCH,
            "seed": seed,
            "as_published": as_published,
            "rows": len(c),
            "torch": torch.__version__,
        },
    )


def ois(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    align: bool | None = None,
    hidden: int = HIDDEN,
    epochs: int = EPOCHS,
    coordinates: Coordinates = "as given",
    maps: bool = False,
    seed: int = 0,
    as_published: bool = False,
) -> Score:
    """The oracle impurity score, lower is better: 0 for codes that tell of every concept just what
    the concept they stand for tells of it, 1 for codes that tell all others and not their own.

    The helper networks are trained briefly and on codes as they are, so that a score also says how
    easily a leak is read. Leaks that rise and fall with the code are read, too: a uniform code from
    -2 to 2 tells whether it lies beyond 1 on either side at an area of 1.0 (4,000 rows). Two codes
    2 c1 + c2 and 2 c2 + c1 tell both concepts outright, which makes 0.707 by the definition, and
    score 0.35 (4,000 rows; purity 0.75 in place of 1, also after ten times the steps); less 1.5,
    they score 0.74. Logits score higher than the probabilities made of them, which hold the same
    information. Compare different kinds of codes only in the same `coordinates`, and see with
    `epochs` whether a score still moves.

    A code that is honestly unsure of its concept for some inputs tells which inputs these are, and
    that counts as impurity. Where a concept cannot be seen in some inputs, look at `deviation`.

    Scores can be compared only between equal numbers of rows, and a code's unit and origin count:
    with a few hundred rows, or codes far from the size of 1, helpers have not learnt what there is
    to learn; below about 200 rows they may not even tell a concept from itself. Chance keeps pure
    codes above 0: with 5 concepts and 3,000 rows at 0.02 to 0.03, as published 0.05; more with
    fewer rows. An area under the ROC curve below 0.5 is kept, so that a score can exceed 1. The
    order and the sign of codes change the score within chance: they change which helper begins with
    which weights. Raises MetricError: see `inputs.check_vectors` and `concepts.concepts`; fewer
    codes than concepts, or more with align=False; no hidden unit or epoch; unknown coordinates; a
    seed outside its range; or a code beyond 1e15 in size.

    Parameters
    ----------
    codes : real numbers, shape (n, C), or (n, C, d) for codes of d numbers each; at least as many
        codes as concepts. A code that takes one value only tells nothing: areas of 0.5.
    factors : the concepts: columns of classes, shape (n, K). With more than two classes, the area
        is the mean of those of each class against the others. See `concepts.concepts`.
    align : False: code j stands for concept j, and there are as many. True: codes learnt without
        concepts are aligned first, see `alignment`; codes that stand for none do not enter the
        score. None: aligned if there are more codes than concepts; if there are as many and
        alignment would lower the score by more than chance, a note says so.
    hidden : units of the helpers' hidden layer.
    epochs : how often helpers see the rows that they learn from: 25 in the paper (A.3).
    coordinates : "as given"; "standardised", each number of a code less its mean and over its SD;
        or "ranks", the same of its ranks, so that every map that keeps the order of rows leaves the
        score alone. Means, SDs and ranks are of all rows.
    maps : whether the d numbers of a code are a square map, row by row: its helpers are then small
        convolutions, as in the released code for the feature maps of concept whitening. Those of
        the oracle stay as they are.
    seed : of the division into 80 % training and 20 % test rows, of the helpers' initial weights
        and of the order of their rows; 0 to 2^32 - 1. Both matrices use the same: concepts of two
        classes, 0 and 1, that are given as their own codes score 0, once helpers have learnt them.
    as_published : as the released code behind paper 001: batches of 512 rows in place of 128, a
        division of the rows and initial weights for the oracle that are not those for the codes (so
        that concepts given as codes score above 0), and, where codes are aligned, no division by
        K / 2. It draws other random numbers than the released code.

    Returns
    -------
    Score with the parts
        purity : (C, K), the area under the ROC curve when concept j is predicted from code i.
        oracle : (K, K), the same from concept i; 1 on the diagonal by definition, not estimated.
        deviation : (K, K), the purity of the codes in the concepts' order less the oracle.
        alignment : (K,), the code of each concept, counted from 0.
        per_factor : (K,), 2 / sqrt(K) times the length of the concept's column of `deviation`.
        per_code : (C,), likewise of the code's row; NaN for a code that stands for no concept.
    The score is the root of the mean square of `per_factor`. With one concept, it is twice what
    the area misses to 1.
    """
    c, f = check_vectors(codes, factors)
    c = in_coordinates(c, coordinates)
    check_enough(c.shape[1], f.shape[1], exactly=align is False)
    targets = concepts(f)
    count = len(targets.classes)
    rng = generator(seed)
    batch = PUBLISHED_BATCH if as_published else BATCH
    division, begin = divide_rows(targets, rng), int(rng.integers(SEEDS))
    trained = partial(predictability, hidden=hidden, epochs=epochs, batch=batch)
    purity = trained(c, targets, division, maps=maps, seed=begin)
    if as_published:
        division, begin = divide_rows(targets, rng), int(rng.integers(SEEDS))
    labels = targets.labels[:, :, None].astype(np.float64)
    oracle = trained(labels, targets, division, seed=begin)
    np.fill_diagonal(oracle, 1.0)

    aligned = c.shape[1] > count if align is None else align
    order = greedy(purity) if aligned else np.arange(count)
    notes: tuple[str, ...] = ()
    if align is None and not aligned:
        notes = _other_order(purity, oracle, _chance(targets, division))
    deviation = purity[order] - oracle
    per_code = np.full(c.shape[1], np.nan)
    per_code[order] = np.linalg.norm(deviation, axis=1) * 2 / np.sqrt(count)
    norm = float(np.linalg.norm(deviation))
    return Score(
        metric="ois",
        score=norm if as_published and aligned else 2 * norm / count,
        parts={
            "purity": purity,
            "oracle": oracle,
            "deviation": deviation,
            "alignment": order.astype(np.float64),
            "per_factor": np.linalg.norm(deviation, axis=0) * 2 / np.sqrt(count),
            "per_code": per_code,
        },
        settings={
            "codes": "aligned greedily" if aligned else "in the order of the concepts",
            "oracle_draws": "its own" if as_published else "those for the codes",
            "hidden": hidden,
            "epochs": epochs,
            "coordinates": coordinates,
            **({"maps": maps} if maps else {}),
            "batch": batch,
            "seed": seed,
            "as_published": as_published,
            "rows": len(c),
            "torch": torch.__version__,
        },
        notes=notes,
    )


def _other_order(purity: Float64, oracle: Float64, chance: float) -> tuple[str, ...]:
    """What to say where the codes, taken in the order of the concepts, stand for others."""
    score, aligned = (
        2 * float(np.linalg.norm(purity[order] - oracle)) / len(oracle)
        for order in (np.arange(len(oracle)), greedy(purity))
    )
    if score - aligned <= chance:
        return ()
    note = (
        "Codes were taken in the order of the concepts. If they are aligned with the "
        "concepts, the score is"
    )
    return (f"{note} {aligned:.2f} (--set align=true).",)


def _chance(targets: Concepts, division: RowDivision) -> float:
    """By how much two scores may differ by chance alone: four times the SD of areas under ROC
    curves of codes that tell nothing (Mann and Whitney, 1947), of the rarest classes. A score is at
    most twice the root of the mean square of such areas' deviations."""
    variances = []
    for labels in targets.labels[division.test].T:
        least = np.unique(labels, return_counts=True)[1].min()
        rows = len(labels)
        variances.append((rows + 1) / (12 * least * (rows - least)))
    return 4 * float(np.sqrt(np.mean(variances)))
