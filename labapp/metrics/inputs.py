"""Codes, factors, seeds and numbers of rows or draws, checked once for every metric."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labapp.errors import MetricError

Float64 = NDArray[np.float64]

LARGEST = 1e100
"""Values beyond this are refused: their squares, and sums of these, would leave float64."""
SEEDS = 2**32


def check_inputs(codes: ArrayLike, factors: ArrayLike) -> tuple[Float64, Float64]:
    """Both as float64, shapes (n, C) and (n, K).

    A code that takes one value only is allowed: it is a code that knows nothing. A factor that
    does is not, because there is nothing to know about it and every answer would be made up.

    Raises
    ------
    MetricError : other shapes, different lengths, fewer than two rows, no column, values that are
        no real numbers, not finite or beyond `LARGEST`, or a factor that takes one value only.
    """
    return _paired(_table("codes", codes, axes=2), _table("factors", factors, axes=2))


def check_vectors(codes: ArrayLike, factors: ArrayLike) -> tuple[Float64, Float64]:
    """As `check_inputs`, for codes of more than one number each (paper 001, section 2).

    Codes of shape (n, C, d), C codes of d numbers, or (n, C), which is d = 1, come back as float64
    of shape (n, C, d); factors as float64 of shape (n, K).

    Raises
    ------
    MetricError : as `check_inputs`.
    """
    axes = 3 if np.ndim(codes) == 3 else 2
    c, f = _paired(_table("codes", codes, axes), _table("factors", factors, axes=2))
    return c.reshape(*c.shape[:2], -1), f


def join_vectors(
    codes: ArrayLike, factors: ArrayLike, train: tuple[ArrayLike, ArrayLike] | None
) -> tuple[Float64, Float64, int]:
    """As `check_vectors`, with the rows of `train` in front, codes and factors of other rows to
    learn from; and how many rows these are, 0 where there are none.

    Raises
    ------
    MetricError : as `check_vectors`, also of `train`; or other columns to learn from than to score.
    """
    c, f = check_vectors(codes, factors)
    if train is None:
        return c, f, 0
    learnt, of_learnt = check_vectors(*train)
    for name, a, b in (("codes", learnt, c), ("factors", of_learnt, f)):
        if a.shape[1:] != b.shape[1:]:
            raise _refuse(
                f"the {name} to learn from have {' x '.join(map(str, a.shape[1:]))} numbers a row "
                f"and those to score {' x '.join(map(str, b.shape[1:]))}.",
                "Give the same columns of both.",
            )
    return np.concatenate([learnt, c]), np.concatenate([of_learnt, f]), len(learnt)


def check_labels(labels: ArrayLike, rows: int) -> Float64:
    """The label of each row in a task, shape (rows,) or (rows, 1), as float64 of shape (rows, 1).

    Raises
    ------
    MetricError : another shape or another number of rows, values that are no finite real numbers,
        or the same label in every row.
    """
    column = np.asarray(labels)
    table = _table("labels", column[:, None] if column.ndim == 1 else column, axes=2)
    if table.shape != (rows, 1):
        raise _refuse(
            f"labels have shape {np.shape(labels)}, and there are {rows} rows of codes.",
            "Give one label an instance, in the same order as the codes.",
        )
    if table.min() == table.max():
        raise _refuse(
            f"every label is {table[0, 0]:g}; there is no task.", "Give rows of several classes."
        )
    return table


def check_rows(rows: int, least: int) -> None:
    """Refuse fewer rows than can be divided into training and test rows.

    Raises
    ------
    MetricError : fewer than `least`.
    """
    if rows < least:
        raise _refuse(
            f"there are {rows} rows, too few to learn from some and score the others.",
            f"Give at least {least}.",
        )


def check_count(name: str, value: int, least: int) -> None:
    """Refuse a number that is below its least value.

    Raises
    ------
    MetricError : a number below `least`.
    """
    if value < least:
        raise _refuse(f"{name} is {value}.", f"Give at least {least}.")


def check_seed(seed: int) -> None:
    """Refuse a seed that numpy, torch or scikit-learn would not take.

    Raises
    ------
    MetricError : a seed outside 0 to 2^32 - 1.
    """
    if not 0 <= seed < SEEDS:
        raise _refuse(f"the seed is {seed}.", "Give a whole number from 0 to 2^32 - 1.")


def generator(seed: int) -> np.random.Generator:
    """A random generator for a metric; equal seeds give equal numbers.

    Raises
    ------
    MetricError : as `check_seed`.
    """
    check_seed(seed)
    return np.random.default_rng(seed)


def _paired(c: Float64, f: Float64) -> tuple[Float64, Float64]:
    if len(c) != len(f):
        raise _refuse(
            f"codes have {len(c)} rows and factors {len(f)}.",
            "Give the same instances in the same order in both.",
        )
    if len(c) < 2:
        raise _refuse(f"codes and factors have {len(c)} rows.", "Two are the least that can vary.")
    for index, column in enumerate(f.T):
        if column.min() == column.max():
            raise _refuse(
                f"factors: column {index} is {column[0]:g} in every row; no code can be scored "
                "on a factor that does not vary.",
                "Leave that column out.",
            )
    return c, f


def _table(name: str, values: ArrayLike, axes: int) -> Float64:
    array = np.asarray(values)
    if array.dtype.kind not in "buif":
        raise _refuse(f"{name} are of type {array.dtype}.", "Give real numbers.")
    if array.ndim != axes or 0 in array.shape[1:]:
        raise _refuse(
            f"{name} have shape {array.shape}.",
            "Give one row an instance and one column a dimension, shape (n, columns).",
        )
    table = array.astype(np.float64)
    # Written so that NaN, which compares as false, is refused too.
    bad = ~(np.abs(table) <= LARGEST)
    if bad.any():
        place = tuple(np.argwhere(bad)[0])
        names = zip(("row", "column", "number"), place, strict=False)
        raise _refuse(
            f"{name}: {', '.join(f'{axis} {index}' for axis, index in names)} is {table[place]}; "
            f"values must be finite and at most {LARGEST:g} in size.",
            "Leave the row out or put it right.",
        )
    return table


def _refuse(what: str, todo: str) -> MetricError:
    return MetricError(
        f"The representation cannot be scored: {what}", safe="Nothing was written.", todo=todo
    )
