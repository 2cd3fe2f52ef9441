"""Factors as concepts: columns of classes, and a division of the rows with every class on both
sides.

Paper 001, Definition 3.1: the annotations of concepts are discrete.

The coordinates in which a metric reads codes: their unit and origin count where a network is
trained briefly on them.

Two codes that are one-to-one functions of each other hold the same information, and a metric of
information should score them alike. OIS does not: logits score higher than the probabilities made
of them. Only scores in the same coordinates compare such codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from labapp.base.errors import MetricError
from labapp.models.datasets.split import Float64, Int64
from labapp.models.metrics.inputs import check_labels, refusal, z_scores

_refuse = partial(refusal, "The concepts cannot be scored")

TEST_SHARE = 0.2
"""Paper 001, A.3."""
MOST_CLASSES = 100
"""A column with more is a measurement, not a concept."""
MOST_LABELS = 1_000
"""Of a task; more are no classes either."""
DRAWS = 200


@dataclass(frozen=True, slots=True, eq=False)
class Concepts:
    """`labels`, int64 of shape (n, K): the class of each row in each concept, counted from 0 in the
    order of the factor's values; `classes`, how many each concept has, at least 2."""

    labels: Int64
    classes: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RowDivision:
    """Row numbers, int64: `train`, four fifths of the rows in random order, and `test`."""

    train: Int64
    test: Int64


def concepts(factors: Float64, name: str = "factors", most: int = MOST_CLASSES) -> Concepts:
    """The distinct values of each factor (n, K), checked by `inputs`, as classes.

    `name` is what errors call the factors, `most` how many values each may have.

    Raises
    ------
    MetricError : a factor with more than `most` values, or with a value that one row only has: it
        cannot be both learnt and tested.
    """
    labels, classes = [], []
    for index, column in enumerate(factors.T):
        values, place, counts = np.unique(column, return_inverse=True, return_counts=True)
        if counts.min() == 1:
            raise _refuse(
                f"{name}: column {index} is {values[counts.argmin()]:g} in one row only, and "
                "a class must be both learnt and tested",
                "Give columns of classes: cut a measurement into two or a few.",
            )
        if len(values) > most:
            raise _refuse(
                f"{name}: column {index} has {len(values)} values; a concept has at most {most} "
                "classes",
                "Give columns of classes: cut a measurement into two or a few.",
            )
        labels.append(place.astype(np.int64))
        classes.append(len(values))
    return Concepts(np.stack(labels, axis=1), tuple(classes))


def task(labels: ArrayLike, rows: int) -> Concepts:
    """The label of each row in a task, shape (rows,) or (rows, 1), as the classes of one column.

    Raises
    ------
    MetricError : see `inputs.check_labels`; more than `MOST_LABELS` classes, or one of a single
        row.
    """
    return concepts(check_labels(labels, rows), "labels", MOST_LABELS)


def divide_rows(targets: Concepts, rng: np.random.Generator) -> RowDivision:
    """A random division into 80 % training and 20 % test rows, every class on both sides.

    A concept that is constant among the test rows has no ROC curve. Rows are drawn anew until that
    is so for none; with classes of more than a few dozen rows the first draw does it.

    Raises
    ------
    MetricError : `DRAWS` draws have not done it.
    """
    rows = len(targets.labels)
    tested = max(1, round(TEST_SHARE * rows))
    for _ in range(DRAWS):
        order = rng.permutation(rows)
        division = RowDivision(train=order[tested:], test=order[:tested])
        lacking = _lacking(targets, division)
        if lacking is None:
            return division
    raise _refuse(
        f"a class of factor column {lacking} is too rare for {rows} rows to be divided so that "
        "every class is both learnt and tested",
        "Give more rows, join that class to another, or leave the column out.",
    )


def join_rows(targets: Concepts, learnt: int) -> RowDivision:
    """The first `learnt` rows to learn from, and the others to test on, every class on both sides.

    Raises
    ------
    MetricError : a class is on one side only.
    """
    rows = np.arange(len(targets.labels))
    division = RowDivision(train=rows[:learnt], test=rows[learnt:])
    lacking = _lacking(targets, division)
    if lacking is not None:
        raise _refuse(
            f"a class of factor column {lacking} is among the rows to learn from only, or among "
            "those to score only",
            "Give rows of every class in both, or leave the column out.",
        )
    return division


def _lacking(targets: Concepts, division: RowDivision) -> int | None:
    """The first concept of which a class is on one side only."""
    for index, classes in enumerate(targets.classes):
        for side in (division.test, division.train):
            if len(np.unique(targets.labels[side, index])) < classes:
                return index
    return None


Coordinates = Literal["as given", "standardised", "ranks"]
"""As given; less the mean and over the SD of each number; or standardised ranks, which any map that
keeps the order of rows leaves alone, logits and their probabilities among them."""


def in_coordinates(
    codes: Float64, coordinates: Coordinates, learnt_from: Float64 | None = None
) -> Float64:
    """Codes in these coordinates, float64, of the same shape.

    Parameters
    ----------
    codes : float64, shape (n, C, d).
    coordinates : see `Coordinates`. A number that takes one value only is 0 but as given.
    learnt_from : the rows, shape (m, C, d), whose mean, SD and ranks are taken; by default `codes`.

    Raises
    ------
    MetricError : other coordinates than these.
    """
    known = get_args(Coordinates)
    if coordinates not in known:
        raise MetricError(
            f"There are no coordinates {coordinates!r}.",
            safe="Nothing was written.",
            todo=f"Use one of: {', '.join(known)}.",
        )
    if coordinates == "as given":
        return codes
    rows, count = codes.reshape(len(codes), -1), len(codes)
    basis = rows if learnt_from is None else learnt_from.reshape(len(learnt_from), -1)
    if coordinates == "ranks":
        rows, basis = (
            np.stack([_ranks(*pair) for pair in zip(table.T, basis.T, strict=True)], axis=1)
            for table in (rows, basis)
        )
    whole = np.concatenate([rows, basis])
    return z_scores(whole, np.arange(count, len(whole)))[:count].reshape(codes.shape)


def _ranks(values: Float64, basis: Float64) -> Float64:
    """The share of the basis below each value, an equal one counting half."""
    ordered = np.sort(basis)
    below = np.searchsorted(ordered, values, side="left")
    up_to = np.searchsorted(ordered, values, side="right")
    return np.asarray((below + up_to) / (2 * len(basis)))
