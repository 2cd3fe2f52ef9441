"""Kappas: Cohen's with and without weights, Fleiss's, and Gwet's AC1; per cent and prevalence.

Notes
-----
Cohen 1960 and 1968; Fleiss 1971; Gwet 2008. Kappa max is that of Cohen 1960: the largest kappa that
the two raters' own frequencies admit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from labapp.agreement.measure import Sums, by_cluster, one_category, ratio, shrunk
from labapp.agreement.ratings import MISSING, Ratings

Weights = Literal["none", "linear", "quadratic"]


@dataclass(frozen=True, slots=True)
class CohenKappa:
    """Of two raters, over the units that both coded.

    Attributes
    ----------
    weights : what a disagreement counts: `none` as much as any other, `linear` the distance of the
        two values, `quadratic` its square.
    scale : the values of the categories, for weights; their positions where it is empty.
    """

    weights: Weights = "none"
    scale: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        return "Cohen's kappa" if self.weights == "none" else f"{self.weights} weighted kappa"

    @property
    def level(self) -> str:
        return {"none": "nominal", "linear": "interval", "quadratic": "interval"}[self.weights]

    def sums(self, ratings: Ratings) -> Sums:
        first, second = ratings.codes.T
        both = (first != MISSING) & (second != MISSING)
        size = len(ratings.categories)
        sums = np.zeros((ratings.n_clusters, size, size))
        np.add.at(sums, (ratings.clusters[both], first[both], second[both]), 1)
        return sums

    def value(self, sums: Sums) -> NDArray[np.float64]:
        cost = self._cost(sums.shape[-1])
        n = sums.sum(axis=(-2, -1))
        chance = np.einsum("...i,...j,ij->...", sums.sum(axis=-1), sums.sum(axis=-2), cost)
        return np.asarray(1 - ratio(n * (sums * cost).sum(axis=(-2, -1)), chance))

    def why_none(self, ratings: Ratings) -> str:
        if ratings.n_raters != 2:
            return f"it compares two raters, and there are {ratings.n_raters}"
        return one_category(ratings)

    def _cost(self, size: int) -> NDArray[np.float64]:
        if self.weights == "none":
            return 1 - np.eye(size)
        scale = shrunk(np.array(self.scale or range(size), np.float64))
        apart = np.abs(scale[:, None] - scale[None, :])
        return apart if self.weights == "linear" else apart**2


@dataclass(frozen=True, slots=True)
class FleissKappa:
    """Of as many ratings for each unit, by whomever."""

    name: str = "Fleiss's kappa"
    level: str = "nominal"

    def sums(self, ratings: Ratings) -> Sums:
        """In order: agreement added over units, units, ratings by category."""
        counts = ratings.counts
        agreeing = _agreeing(counts)
        rows = np.column_stack([agreeing, np.ones(len(counts)), counts])
        return by_cluster(rows, ratings.clusters, ratings.n_clusters)

    def value(self, sums: Sums) -> NDArray[np.float64]:
        observed = ratio(sums[..., 0], sums[..., 1])
        totals = sums[..., 2:]
        # The disagreement by chance, so that nothing is left of it where one category has all.
        square = totals.sum(axis=-1) ** 2
        apart = square - (totals**2).sum(axis=-1)
        return np.asarray(1 - ratio((1 - observed) * square, apart))

    def why_none(self, ratings: Ratings) -> str:
        given = (ratings.codes != MISSING).sum(axis=1)
        if len(set(given.tolist())) > 1:
            return (
                f"it needs as many ratings for each unit, and there are {given.min()} for some and "
                f"{given.max()} for others: alpha is for missing ratings"
            )
        return one_category(ratings)


@dataclass(frozen=True, slots=True)
class GwetAC1:
    """Of any number of raters, ratings may be missing. By chance raters are thought to agree on
    units that are hard to code, so that it does not fall where one code is rare."""

    name: str = "Gwet's AC1"
    level: str = "nominal"

    def sums(self, ratings: Ratings) -> Sums:
        """In order: agreement added over units of two ratings or more, these units, units of one
        or more, and shares of categories added over those."""
        counts = ratings.counts
        given = counts.sum(axis=1)
        several, some = given > 1, given > 0
        agreeing = np.where(several, _agreeing(counts), 0)
        shares = counts / np.maximum(given, 1)[:, None]
        rows = np.column_stack([agreeing, several, some, shares])
        return by_cluster(rows, ratings.clusters, ratings.n_clusters)

    def value(self, sums: Sums) -> NDArray[np.float64]:
        observed = ratio(sums[..., 0], sums[..., 1])
        shares = ratio(sums[..., 3:], sums[..., 2, None])
        size = shares.shape[-1]
        if size < 2:
            return np.full(observed.shape, np.nan)
        chance = (shares * (1 - shares)).sum(axis=-1) / (size - 1)
        return np.asarray((observed - chance) / (1 - chance))

    def why_none(self, ratings: Ratings) -> str:
        return one_category(ratings) if len(ratings.categories) < 2 else ""


def confusion(ratings: Ratings, first: int = 0, second: int = 1) -> NDArray[np.int64]:
    """How often two raters gave each pair of categories, shape (n_categories, n_categories); the
    first rater's in rows."""
    table = CohenKappa().sums(ratings.of_raters([first, second])).sum(axis=0)
    return np.asarray(table, np.int64)


def kappa_max(table: NDArray[Any]) -> float:
    """The largest kappa of two raters with these frequencies; NaN where kappa is undefined.

    table: a confusion table, shape (n_categories, n_categories).
    """
    n = float(table.sum())
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    most, chance = float(np.minimum(rows, columns).sum()) * n, float(rows @ columns)
    return float(ratio(np.array(most - chance), np.array(n * n - chance)))


def percent(ratings: Ratings) -> float | None:
    """Of the units that two raters or more coded, those on which all of them agree, 0 to 100."""
    counts = ratings.counts
    given = counts.sum(axis=1)
    several = given > 1
    if not several.any():
        return None
    return float(100 * np.mean(counts[several].max(axis=1) == given[several]))


def prevalence(ratings: Ratings) -> NDArray[np.float64]:
    """The share of each category among all ratings, shape (n_categories,); NaN without ratings."""
    totals = ratings.counts.sum(axis=0)
    return ratio(totals, totals.sum())


def _agreeing(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """By unit the share of pairs of ratings that are equal; nothing where there is no pair."""
    given = counts.sum(axis=1)
    pairs = given * (given - 1)
    return np.where(pairs > 0, (counts * (counts - 1)).sum(axis=1) / np.maximum(pairs, 1), 0.0)
