"""How well the best single code tells each concept: alignment as Yeh et al. (2020) measure it.

Paper 001 lists it in Table A1 as "Alignment": the mean accuracy with which each concept is
predicted from the code that predicts it best.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike

from labapp.models.metrics.concepts import Coordinates, concepts, divide_rows, in_coordinates
from labapp.models.metrics.helper_networks import BATCH, EPOCHS, HIDDEN, predictability
from labapp.models.metrics.inputs import SEEDS, Score, check_vectors, generator
from labapp.models.metrics.roc import class_accuracy


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
