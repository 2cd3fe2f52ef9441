"""Alignment of codes with concepts, for codes that were learnt without concepts.

Paper 001, A.5: greedy, by how well a helper network predicts each concept from each code alone.

How well the best single code tells each concept: alignment as Yeh et al. (2020) measure it.

Paper 001 lists it in Table A1 as "Alignment": the mean accuracy with which each concept is
predicted from the code that predicts it best.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import ArrayLike

from labapp.models.datasets.split import Float64, Int64
from labapp.models.metrics.concepts import Coordinates, concepts, divide_rows, in_coordinates
from labapp.models.metrics.helper_networks import (
    BATCH,
    EPOCHS,
    HIDDEN,
    PUBLISHED_BATCH,
    predictability,
)
from labapp.models.metrics.inputs import JSON, SEEDS, Score, check_vectors, generator, refusal
from labapp.models.metrics.roc import class_accuracy

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
    """Refuse fewer codes than concepts, and with `exactly` also more.

    Raises
    ------
    MetricError : then some concept would have no code, or some code no concept.
    """
    if codes < factors:
        raise _refuse(
            f"there are {codes} codes for {factors} concepts, and each needs a code of its own",
            "Score fewer concepts, or use NIS, which takes any number of codes.",
        )
    if exactly and codes > factors:
        raise _refuse(
            f"there are {codes} codes for {factors} concepts",
            "Give one code a concept, in the same order, or let the codes be aligned.",
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
    the most frequent class occurs: see `chance`.

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

    Raises
    ------
    MetricError : see `inputs.check_vectors` and `concepts.concepts`; no hidden unit or epoch,
        unknown coordinates, a seed outside its range, or a code beyond 1e15 in size.
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
