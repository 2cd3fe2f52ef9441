"""Intervals by drawing participants (or images) again, all draws at once.

A percentile bootstrap: a person who is drawn comes with all that they did, so that what one
participant does alike in many annotations does not make an interval narrower than it is (Efron and
Tibshirani, An Introduction to the Bootstrap, 1993, chapters 8 and 13).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

DRAWS = 2000
SEED = 20190710
LEVELS = (2.5, 97.5)
"""Percentiles that are the ends of an interval."""
NORMAL = 1.959963984540054
"""Standard deviations from the mean within which 95 % of a normal distribution lie."""


def weights(size: int, draws: int = DRAWS, seed: int = SEED) -> Float64:
    """How often each of `size` is drawn: float64, shape (draws, size); every row adds up to size.

    Of fewer than two nothing can be resampled: shape (0, size).
    """
    if size < 2:
        return np.empty((0, size))
    drawn = np.random.default_rng(seed).multinomial(size, np.full(size, 1 / size), draws)
    return drawn.astype(np.float64)


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with the ends of its interval, each float64 of one shape; NaN if there is none."""

    value: Float64
    low: Float64
    high: Float64


def interval(value: ArrayLike, draws: Float64) -> Interval:
    """draws : the value of each draw, shape (draws, *shape of the value); NaN if a draw has
    none, and then the others count. Without draws there is no interval."""
    values = np.asarray(value, np.float64)
    low, high = np.full(values.shape, np.nan), np.full(values.shape, np.nan)
    some = np.asarray(np.isfinite(draws).any(axis=0) & np.isfinite(values))
    if len(draws) and some.any():
        low[some], high[some] = np.nanpercentile(draws[:, some], LEVELS, axis=0)
    return Interval(values, low, high)


def divide_or_nan(over: Float64, under: Float64) -> Float64:
    """over / under, NaN if under is 0."""
    values = np.full(np.broadcast_shapes(over.shape, under.shape), np.nan)
    np.divide(over, under, out=values, where=under != 0)
    return values


def sum_draws(drawing: Float64, sums: Float64) -> Float64:
    """Sums over those who are drawn: float64, shape (draws, ...).

    drawing : see `weights`; sums : of each participant, shape (participants, ...).
    """
    return np.tensordot(drawing, sums, axes=1)


def ratio(drawing: Float64, over: Float64, under: Float64) -> Interval:
    """The quotient of two sums over participants (a share, a mean), with its interval; over,
    under : of each participant, shape (participants, ...)."""
    return interval(
        divide_or_nan(over.sum(axis=0), under.sum(axis=0)),
        divide_or_nan(sum_draws(drawing, over), sum_draws(drawing, under)),
    )


def median(drawing: Float64, owner: Int64, values: Float64) -> Interval:
    """The median of some values, each of one participant, with its interval; shape ().

    owner : int64, shape (values,): whose value it is, as a column of `drawing`. As usual it is
    half-way between the two middle values where their number is even.
    """
    if not values.size:
        return interval(np.nan, np.empty((0,)))
    order = np.argsort(values, kind="stable")
    ranked, whose = values[order], owner[order]
    below = np.cumsum(drawing.astype(np.uint16)[:, whose], axis=1, dtype=np.int32)
    total = below[:, -1:]
    # Where a value comes `weight` times, the lower middle is the first that half is at or below of.
    lower = (below < (total + 1) // 2).sum(axis=1)
    upper = (below < total // 2 + 1).sum(axis=1)
    last = values.size - 1
    middle = (ranked[np.minimum(lower, last)] + ranked[np.minimum(upper, last)]) / 2
    middle[total[:, 0] == 0] = np.nan
    return interval(np.median(values), middle)
