"""Krippendorff's alpha: any number of raters, missing ratings, five kinds of distance.

Notes
-----
Krippendorff, Computing Krippendorff's alpha-reliability (2011). MASI: Passonneau 2006; as there the
distance itself stands for the disagreement, not its square.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from labapp.agreement.measure import Sums, one_category, ratio, shrunk
from labapp.agreement.ratings import MISSING, Ratings

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[str, ...] = get_args(Level)


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's alpha.

    Attributes
    ----------
    level : see `Level`. The categories of ordinal ratings are in the order of the scale; those of
        interval and ratio ratings are numbers.
    scale : the values of the categories at the levels interval and ratio.
    """

    level: Level = "nominal"
    scale: tuple[float, ...] = ()
    name: str = "Krippendorff's alpha"

    def sums(self, ratings: Ratings) -> Sums:
        return coincidences(ratings)

    def value(self, sums: Sums) -> NDArray[np.float64]:
        totals = sums.sum(axis=-1)
        return alpha_of(sums, self._disagreement(totals))

    def why_none(self, ratings: Ratings) -> str:
        return one_category(ratings)

    def _disagreement(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Squared differences, shape (…, n, n)."""
        if self.level == "nominal":
            return 1 - np.eye(totals.shape[-1])
        if self.level == "ordinal":
            rank = np.cumsum(totals, axis=-1) - totals / 2
            return np.asarray((rank[..., :, None] - rank[..., None, :]) ** 2)
        scale = shrunk(np.array(self.scale, np.float64))
        apart = scale[:, None] - scale[None, :]
        if self.level == "ratio":
            both = scale[:, None] + scale[None, :]
            apart = apart / np.where(both == 0, 1, both)
        return apart**2


@dataclass(frozen=True, slots=True, eq=False)
class SetAlpha:
    """Alpha of units that may have several codes: the categories are sets of codes.

    Attributes
    ----------
    distances : ndarray of float64, shape (n_categories, n_categories)
        From `masi_distances`.
    """

    distances: NDArray[np.float64]
    name: str = "Krippendorff's alpha with MASI distance"
    level: str = "nominal"

    def sums(self, ratings: Ratings) -> Sums:
        return coincidences(ratings)

    def value(self, sums: Sums) -> NDArray[np.float64]:
        return alpha_of(sums, self.distances)

    def why_none(self, ratings: Ratings) -> str:
        return one_category(ratings)


def alpha_for(ratings: Ratings, level: Level) -> Alpha:
    """Alpha at a level, with the scale of these ratings.

    Raises
    ------
    ValueError
        Numbers are needed and the ratings are none, or a ratio is asked for of numbers below zero.
    """
    if level in ("nominal", "ordinal"):
        return Alpha(level)
    scale = tuple(float(value) for value in ratings.categories)
    if level == "ratio" and min(scale, default=0) < 0:
        raise ValueError("a scale of ratios has no numbers below zero")
    return Alpha(level, scale)


def masi_alpha(ratings: Ratings) -> SetAlpha:
    """Alpha with MASI distance, for ratings whose categories are sets of codes."""
    return SetAlpha(masi_distances(ratings.categories))


def masi_distances(sets: Sequence[AbstractSet[str]]) -> NDArray[np.float64]:
    """1 - MASI of all pairs of sets of codes, shape (n, n)."""
    distances = [[1 - masi(first, second) for second in sets] for first in sets]
    return np.array(distances, np.float64).reshape(len(sets), len(sets))


def masi(first: AbstractSet[str], second: AbstractSet[str]) -> float:
    """How alike two sets are, 0 to 1: Jaccard's index times 1 for equal sets, 2/3 where one holds
    the other, 1/3 where they overlap, and 0 where they do not."""
    if first == second:
        return 1.0
    common = len(first & second)
    if not common:
        return 0.0
    within = first <= second or second <= first
    return common / len(first | second) * (2 / 3 if within else 1 / 3)


def coincidences(ratings: Ratings) -> Sums:
    """By cluster how often each pair of categories met in a unit, each unit's pairs weighing as
    many as it has ratings, shape (n_clusters, n_categories, n_categories)."""
    size = len(ratings.categories)
    table = np.zeros((ratings.n_clusters, size, size))
    given = (ratings.codes != MISSING).sum(axis=1)
    for first in range(ratings.n_raters):
        for second in range(ratings.n_raters):
            if first == second:
                continue
            one, other = ratings.codes[:, first], ratings.codes[:, second]
            both = (one != MISSING) & (other != MISSING)
            weights = 1 / (given[both] - 1)
            np.add.at(table, (ratings.clusters[both], one[both], other[both]), weights)
    return table


def alpha_of(
    coincidence: NDArray[np.float64], disagreement: NDArray[np.float64]
) -> NDArray[np.float64]:
    """1 - observed over expected disagreement; NaN where none is expected."""
    totals = coincidence.sum(axis=-1)
    n = totals.sum(axis=-1)
    observed = (coincidence * disagreement).sum(axis=(-2, -1))
    expected = (totals[..., :, None] * totals[..., None, :] * disagreement).sum(axis=(-2, -1))
    return np.asarray(1 - (n - 1) * ratio(observed, expected))
