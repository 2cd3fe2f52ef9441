"""Codes, factors, seeds and numbers of rows or draws, checked once for every metric; and the result
of every metric.

Factors as concepts: columns of classes, and a division of the rows with every class on both
sides.

Paper 001, Definition 3.1: the annotations of concepts are discrete.

The coordinates in which a metric reads codes: their unit and origin count if a network is
trained briefly on them.

Two codes that are one-to-one functions of each other hold the same information, and a metric of
information should score them alike. OIS does not: logits score higher than the probabilities made
of them. Only scores in the same coordinates compare such codes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from labapp.base.errors import MetricError
from labapp.models.datasets.split import Float64, Int64

LARGEST = 1e100
"""Values beyond this are refused: their squares, and sums of these, would leave float64."""
SEEDS = 2**32


def check_inputs(codes: ArrayLike, factors: ArrayLike) -> tuple[Float64, Float64]:
    """Both as float64, shapes (n, C) and (n, K).

    A code that takes one value only is allowed: it is a code that knows nothing. A factor that does
    is not, because there is nothing to know about it and every answer would be made up. Raises
    MetricError: other shapes, different lengths, fewer than two rows, no column, values that are no
    real numbers, not finite or beyond `LARGEST`, or a factor that takes one value only.
    """
    return _check_pairs(_table("codes", codes, axes=2), _table("factors", factors, axes=2))


def check_vectors(codes: ArrayLike, factors: ArrayLike) -> tuple[Float64, Float64]:
    """As `check_inputs`, for codes of more than one number each (paper 001, section 2).

    Codes of shape (n, C, d), C codes of d numbers, or (n, C), which is d = 1, come back as float64
    of shape (n, C, d); factors as float64 of shape (n, K). Raises MetricError: as `check_inputs`.
    """
    axes = 3 if np.ndim(codes) == 3 else 2
    c, f = _check_pairs(_table("codes", codes, axes), _table("factors", factors, axes=2))
    return c.reshape(*c.shape[:2], -1), f


def join_vectors(
    codes: ArrayLike, factors: ArrayLike, train: tuple[ArrayLike, ArrayLike] | None
) -> tuple[Float64, Float64, int]:
    """As `check_vectors`, with the rows of `train` in front, codes and factors of other rows to
    learn from; and how many rows these are, 0 if there are none. Raises MetricError: as
    `check_vectors`, also of `train`; or other columns to learn from than to score."""
    c, f = check_vectors(codes, factors)
    if train is None:
        return c, f, 0
    learnt, of_learnt = check_vectors(*train)
    for name, a, b in (("codes", learnt, c), ("factors", of_learnt, f)):
        if a.shape[1:] != b.shape[1:]:
            raise _refuse(
                f"the {name} to learn from have {' x '.join(map(str, a.shape[1:]))} numbers per "
                f"row, but those to score have {' x '.join(map(str, b.shape[1:]))}",
                "Give the same columns in both.",
            )
    return np.concatenate([learnt, c]), np.concatenate([of_learnt, f]), len(learnt)


def check_labels(labels: ArrayLike, rows: int) -> Float64:
    """The label of each row in a task, shape (rows,) or (rows, 1), as float64 of shape (rows, 1).
    Raises MetricError: another shape or another number of rows, values that are no finite real
    numbers, or the same label in every row."""
    column = np.asarray(labels)
    table = _table("labels", column[:, None] if column.ndim == 1 else column, axes=2)
    if table.shape != (rows, 1):
        raise _refuse(
            f"labels have shape {np.shape(labels)}, but there are {rows} rows of codes",
            "Give one label per instance, in the same order as the codes.",
        )
    if table.min() == table.max():
        raise _refuse(
            f"every label is {table[0, 0]:g}; there is no task", "Give rows of several classes."
        )
    return table


def check_rows(rows: int, least: int) -> None:
    """Raises MetricError: fewer rows than can be divided into training and test rows."""
    if rows < least:
        raise _refuse(
            f"there are {rows} rows, which are too few to learn from some and score the others",
            f"Give at least {least}.",
        )


def check_count(name: str, value: int, least: int) -> None:
    """Raises MetricError: a number below `least`."""
    if value < least:
        raise _refuse(f"{name} is {value}", f"Give at least {least}.")


def check_seed(seed: int) -> None:
    """Raises MetricError: a seed that numpy, torch or scikit-learn would not take."""
    if not 0 <= seed < SEEDS:
        raise _refuse(f"the seed is {seed}", "Give a whole number from 0 to 2^32 - 1.")


def generator(seed: int) -> np.random.Generator:
    """The random generator of a seed. Raises MetricError: as `check_seed`."""
    check_seed(seed)
    return np.random.default_rng(seed)


def _check_pairs(c: Float64, f: Float64) -> tuple[Float64, Float64]:
    if len(c) != len(f):
        raise _refuse(
            f"there are {len(c)} rows of codes, but {len(f)} rows of factors",
            "Give the same instances in the same order in both.",
        )
    if len(c) < 2:
        raise _refuse(
            f"codes and factors have {len(c)} rows", "At least two are needed for variation."
        )
    for index, column in enumerate(f.T):
        if column.min() == column.max():
            raise _refuse(
                f"factors: column {index} is {column[0]:g} in every row, and no code can be "
                "scored on a factor that does not vary",
                "Leave that column out.",
            )
    return c, f


def _table(name: str, values: ArrayLike, axes: int) -> Float64:
    array = np.asarray(values)
    if array.dtype.kind not in "buif":
        raise _refuse(f"{name} have the type {array.dtype}", "Give real numbers.")
    if array.ndim != axes or 0 in array.shape[1:]:
        raise _refuse(
            f"{name} have shape {array.shape}",
            "Give one row per instance and one column per dimension, shape (n, columns).",
        )
    table = array.astype(np.float64)
    # Written so that NaN, which compares as false, is refused too.
    bad = ~(np.abs(table) <= LARGEST)
    if bad.any():
        place = tuple(np.argwhere(bad)[0])
        names = zip(("row", "column", "number"), place, strict=False)
        raise _refuse(
            f"{name}: {', '.join(f'{axis} {index}' for axis, index in names)} is {table[place]}; "
            f"values must be finite and at most {LARGEST:g} in size",
            "Leave the row out or correct it.",
        )
    return table


def outputs_of(classes: int) -> int:
    """How many outputs tell so many classes: one logit tells two."""
    return 1 if classes == 2 else classes


def refusal(subject: str, what: str, todo: str) -> MetricError:
    """The error of a metric: what cannot be done, and why."""
    return MetricError(f"{subject}: {what}.", todo=todo)


_refuse = partial(refusal, "The representation cannot be scored")

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"


# Without eq: the parts hold arrays, whose == is no truth value.
@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """A metric's result.

    Attributes
    ----------
    metric : the metric's name on the command line, for example "mig".
    score : the number that carries the metric's name.
    parts : numbers and float64 arrays by name. Where they occur, `per_code` has shape (C,),
        `per_factor` shape (K,), and a matrix shape (C, K): codes downwards, factors across. A NaN
        stands only if the metric's docstring says that a part is undefined.
    settings : everything that the score depends on besides the data, as plain values.
    notes : what these data make it necessary to say beside the score, a sentence each.
    """

    metric: str
    score: float
    parts: Mapping[str, float | Float64]
    settings: Mapping[str, JSON]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, JSON]:
        """Plain values for a model card or a file; arrays become lists, an undefined part null.
        "notes" is there where there are some."""
        values: dict[str, JSON] = {
            "metric": self.metric,
            "score": self.score,
            "parts": {name: _plain(np.asarray(part).tolist()) for name, part in self.parts.items()},
            "settings": dict(self.settings),
        }
        return {**values, "notes": list(self.notes)} if self.notes else values


def _plain(value: float | list[JSON]) -> JSON:
    if isinstance(value, list):
        return [_plain(entry) for entry in value]  # type: ignore[arg-type]
    return value if math.isfinite(value) else None


LEAST_ROWS = 10
"""With fewer rows, a fifth of them is a single row, from which nothing can be learnt."""


def halves(rows: int, seed: int) -> tuple[Int64, Int64]:
    """Row numbers, int64, in random order: half of them (rounded down), and the others. Raises
    MetricError: fewer than `LEAST_ROWS` rows, or a seed outside 0 to 2^32 - 1."""
    check_rows(rows, LEAST_ROWS)
    order = generator(seed).permutation(rows)
    return order[: rows // 2], order[rows // 2 :]


def z_scores(table: Float64, train: Int64) -> Float64:
    """Columns less their mean over the training rows, over their SD (of n, not n - 1) there; 0
    throughout if a column does not vary among the training rows."""
    low, high = table[train].min(axis=0), table[train].max(axis=0)
    varies = low < high
    # First to 0 to 1, because the SD of a column of tiny numbers underflows; a row that is not
    # learnt from may then lie beyond float64.
    with np.errstate(over="ignore"):
        scaled = (table - low) / np.where(varies, high - low, 1.0)
    scaled = np.where(varies, scaled, 0.0).clip(-LARGEST, LARGEST)
    spread = np.where(varies, scaled[train].std(axis=0), 1.0)
    return np.asarray((scaled - scaled[train].mean(axis=0)) / spread)


_refuse_concepts = partial(refusal, "The concepts cannot be scored")

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

    `name` is what errors call the factors, `most` how many values each may have. Raises
    MetricError: a factor with more than `most` values, or with a value that one row only has: it
    cannot be both learnt and tested.
    """
    labels, classes = [], []
    for index, column in enumerate(factors.T):
        values, place, counts = np.unique(column, return_inverse=True, return_counts=True)
        if counts.min() == 1:
            raise _refuse_concepts(
                f"{name}: column {index} is {values[counts.argmin()]:g} in only one row, but a "
                "class must be both learnt and tested",
                "Give columns of classes. Divide a measurement into two or a few classes.",
            )
        if len(values) > most:
            raise _refuse_concepts(
                f"{name}: column {index} has {len(values)} values, but a concept can have at "
                f"most {most} classes",
                "Give columns of classes. Divide a measurement into two or a few classes.",
            )
        labels.append(place.astype(np.int64))
        classes.append(len(values))
    return Concepts(np.stack(labels, axis=1), tuple(classes))


def task(labels: ArrayLike, rows: int) -> Concepts:
    """The label of each row in a task, shape (rows,) or (rows, 1), as the classes of one column.
    Raises MetricError: see `inputs.check_labels`; more than `MOST_LABELS` classes, or one of a
    single row."""
    return concepts(check_labels(labels, rows), "labels", MOST_LABELS)


def divide_rows(targets: Concepts, rng: np.random.Generator) -> RowDivision:
    """A random division into 80 % training and 20 % test rows, every class on both sides.

    A concept that is constant among the test rows has no ROC curve. Rows are drawn again until that
    is so for none; with classes of more than a few dozen rows the first draw does it. Raises
    MetricError: `DRAWS` draws have not done it.
    """
    rows = len(targets.labels)
    tested = max(1, round(TEST_SHARE * rows))
    for _ in range(DRAWS):
        order = rng.permutation(rows)
        division = RowDivision(train=order[tested:], test=order[:tested])
        lacking = _lacking(targets, division)
        if lacking is None:
            return division
    raise _refuse_concepts(
        f"a class of factor column {lacking} is too rare: {rows} rows cannot be divided so that "
        "every class is both learnt and tested",
        "Give more rows, merge that class with another, or leave the column out.",
    )


def join_rows(targets: Concepts, learnt: int) -> RowDivision:
    """The first `learnt` rows to learn from, and the others to test on, every class on both sides.
    Raises MetricError: a class is on one side only."""
    rows = np.arange(len(targets.labels))
    division = RowDivision(train=rows[:learnt], test=rows[learnt:])
    lacking = _lacking(targets, division)
    if lacking is not None:
        raise _refuse_concepts(
            f"a class of factor column {lacking} occurs only among the rows to learn from, or "
            "only among those to score",
            "Include rows of every class in both, or leave the column out.",
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
    """Codes in these coordinates, float64, of the same shape. Raises MetricError: other coordinates
    than these.

    Parameters
    ----------
    codes : float64, shape (n, C, d).
    coordinates : see `Coordinates`. A number that takes one value only is 0 but as given.
    learnt_from : the rows, shape (m, C, d), whose mean, SD and ranks are taken; by default `codes`.
    """
    known = get_args(Coordinates)
    if coordinates not in known:
        raise MetricError(
            f"There are no coordinates {coordinates!r}.", todo=f"Use one of: {', '.join(known)}."
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
