"""Rows to learn from and rows to score, for metrics that fit a classifier."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labapp.metrics.inputs import LARGEST, check_rows, generator

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

LEAST_ROWS = 10
"""With fewer rows, a fifth of them is a single row, from which nothing can be learnt."""


def halves(rows: int, seed: int) -> tuple[Int64, Int64]:
    """Row numbers, int64, in random order: half of them (rounded down), and the others.

    Raises
    ------
    MetricError : fewer than `LEAST_ROWS` rows, or a seed outside 0 to 2^32 - 1.
    """
    check_rows(rows, LEAST_ROWS)
    order = generator(seed).permutation(rows)
    return order[: rows // 2], order[rows // 2 :]


def z_scores(table: Float64, train: Int64) -> Float64:
    """Columns less their mean over the training rows, over their SD (of n, not n - 1) there;
    0 throughout where a column does not vary among the training rows."""
    low, high = table[train].min(axis=0), table[train].max(axis=0)
    varies = low < high
    # First to 0 to 1, because the SD of a column of tiny numbers underflows; a row that is not
    # learnt from may then lie beyond float64.
    with np.errstate(over="ignore"):
        scaled = (table - low) / np.where(varies, high - low, 1.0)
    scaled = np.where(varies, scaled, 0.0).clip(-LARGEST, LARGEST)
    spread = np.where(varies, scaled[train].std(axis=0), 1.0)
    return np.asarray((scaled - scaled[train].mean(axis=0)) / spread)
