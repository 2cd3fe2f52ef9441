"""Measurements divided into bins, for metrics that count values."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from labapp.errors import MetricError

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
Binning: TypeAlias = Literal["equal-width", "equal-frequency"]

BINS = 20


def discretise(column: Float64, bins: int = BINS, method: Binning = "equal-width") -> Int64:
    """The bin of every value, int64 from 0 to bins - 1.

    Parameters
    ----------
    column : float64, shape (n,), finite.
    method :
        "equal-width" cuts the range from the least to the greatest value into equal lengths; a
        value on a cut belongs above it, the greatest value to the last bin. Changes under any map
        that is not linear: most rows of z^15 fall into one bin.
        "equal-frequency" gives each bin the same number of rows, as far as equal values, which
        are never parted, allow. The same under every increasing map.

    Raises
    ------
    MetricError : fewer than 2 bins, or an unknown method.
    """
    if bins < 2:
        raise _refuse(f"bins is {bins}", "Give at least 2 bins.")
    if method not in get_args(Binning):
        raise _refuse(f"the binning is {method!r}", f"Allowed: {', '.join(get_args(Binning))}.")
    if method == "equal-width":
        cuts = np.linspace(column.min(), column.max(), bins + 1)[1:-1]
        return np.searchsorted(cuts, column, side="right").astype(np.int64)
    _, place, counts = np.unique(column, return_inverse=True, return_counts=True)
    # A value lies where the middle row of its kind does; in whole numbers, so nothing is rounded.
    twice_middle = 2 * np.cumsum(counts) - counts
    return np.asarray((twice_middle * bins // (2 * len(column)))[place], dtype=np.int64)


def labels(factor: Float64, bins: int = BINS, binning: Binning = "equal-width") -> Int64:
    """The class of every value, int64 from 0: its own, or its bin where there are more than `bins`
    distinct values."""
    values, place = np.unique(factor, return_inverse=True)
    return place.astype(np.int64) if len(values) <= bins else discretise(factor, bins, binning)


def _refuse(what: str, todo: str) -> MetricError:
    return MetricError(f"Columns cannot be binned: {what}.", safe="Nothing was written.", todo=todo)
