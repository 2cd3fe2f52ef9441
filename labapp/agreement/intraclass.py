"""The intraclass correlation (2,1): agreement of single raters who are drawn from many, on values.

Notes
-----
Shrout and Fleiss, Psychological Bulletin 86 (1979), case 2: units and raters are both random, and
raters who differ by a constant disagree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labapp.agreement.measure import Sums, by_cluster, ratio, shrunk
from labapp.agreement.ratings import Ratings

_ROUNDING = 1e-12
"""Below that share of all variation, a sum of squares is rounding."""


@dataclass(frozen=True, slots=True)
class Intraclass:
    """ICC(2,1), over the units that every rater gave a value."""

    name: str = "ICC(2,1)"
    level: str = "interval"

    def sums(self, ratings: Ratings) -> Sums:
        """In order: units, squared totals of units, squared values, and totals of raters; of the
        distances to the middle of all values."""
        complete = ratings.complete()
        numbers = shrunk(complete.numbers)
        centred = numbers - numbers.mean() if numbers.size else numbers
        totals = centred.sum(axis=1)
        rows = np.column_stack(
            [np.ones(len(centred)), totals**2, (centred**2).sum(axis=1), centred]
        )
        return by_cluster(rows, complete.clusters, complete.n_clusters)

    def value(self, sums: Sums) -> NDArray[np.float64]:
        n, squared, all_squares, raters = sums[..., 0], sums[..., 1], sums[..., 2], sums[..., 3:]
        k = raters.shape[-1]
        middle = ratio(raters.sum(axis=-1) ** 2, n * k)
        total = all_squares - middle
        units = squared / k - middle
        between = ratio((raters**2).sum(axis=-1), n) - middle
        rest = total - units - between
        noise = _ROUNDING * np.abs(total)
        units, between, rest = (
            np.where(np.abs(part) <= noise, 0.0, part) for part in (units, between, rest)
        )
        of_units, of_raters = ratio(units, n - 1), between / (k - 1)
        of_rest = ratio(rest, (n - 1) * (k - 1))
        denominator = of_units + (k - 1) * of_rest + k * ratio(of_raters - of_rest, n)
        unknown = (n < 2) | (total <= 0)
        value = ratio(of_units - of_rest, np.where(unknown, 0.0, denominator))
        return np.asarray(np.where(unknown, np.nan, value))

    def why_none(self, ratings: Ratings) -> str:
        numbers = ratings.complete().numbers
        if len(numbers) < 2:
            return f"it needs two units that every rater gave a value, and there are {len(numbers)}"
        if len(np.unique(numbers)) == 1:
            return f"all gave {numbers.flat[0]:g} only, so that nothing varies"
        return ""
