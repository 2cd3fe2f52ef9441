"""What raters gave to units: a table of codes or values, some of them missing."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MISSING = -1
"""Stands for a rating that was not given."""


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """A row a unit, a column a rater.

    Attributes
    ----------
    codes : positions in `categories`, shape (n_units, n_raters); `MISSING` where a rater gave
        nothing.
    categories : tuple
        Everything that may be given, in the order of the scale. Numbers, texts, or sets of codes.
    clusters : by unit the number of the participant it is of, from 0, shape (n_units,): what is
        drawn for intervals.
    sessions : by unit the number of its session, shape (n_units,).
    """

    codes: NDArray[np.int64]
    categories: tuple[Any, ...]
    clusters: NDArray[np.int64]
    sessions: NDArray[np.int64]

    @property
    def n_units(self) -> int:
        return len(self.codes)

    @property
    def n_raters(self) -> int:
        return int(self.codes.shape[1])

    @property
    def n_clusters(self) -> int:
        return int(self.clusters.max()) + 1 if self.clusters.size else 0

    @property
    def n_sessions(self) -> int:
        return len(np.unique(self.sessions))

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many raters gave each category, shape (n_units, n_categories)."""
        counts = np.zeros((self.n_units, len(self.categories)), np.int64)
        units, raters = np.nonzero(self.codes != MISSING)
        np.add.at(counts, (units, self.codes[units, raters]), 1)
        return counts

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The values themselves, shape (n_units, n_raters), NaN where missing; of categories that
        are numbers."""
        scale = np.array([*self.categories, np.nan], dtype=np.float64)
        return scale[self.codes]

    @property
    def n_comparable(self) -> int:
        """Units that two raters or more coded."""
        return int((np.sum(self.codes != MISSING, axis=1) > 1).sum())

    def of_code(self, category: Any) -> Ratings:
        """One category against all others: 0 for another one, 1 for this."""
        at = self.categories.index(category)
        codes = np.where(self.codes == MISSING, MISSING, self.codes == at).astype(np.int64)
        return Ratings(codes, (0, 1), self.clusters, self.sessions)

    def comparable(self) -> Ratings:
        """The units alone that two raters or more coded, their clusters numbered anew."""
        return self._of_units(np.sum(self.codes != MISSING, axis=1) > 1)

    def complete(self) -> Ratings:
        """The units alone that every rater coded, their clusters numbered anew."""
        return self._of_units((self.codes != MISSING).all(axis=1))

    def _of_units(self, units: NDArray[np.bool_]) -> Ratings:
        _, clusters = np.unique(self.clusters[units], return_inverse=True)
        clusters = clusters.astype(np.int64)
        return Ratings(self.codes[units], self.categories, clusters, self.sessions[units])

    def of_raters(self, columns: Sequence[int]) -> Ratings:
        """The same units by some of the raters."""
        codes = self.codes[:, list(columns)]
        return Ratings(codes, self.categories, self.clusters, self.sessions)


def ratings_of(
    rows: Sequence[Sequence[Hashable | None]],
    categories: Sequence[Any] | None = None,
    clusters: Sequence[int] | None = None,
    sessions: Sequence[int] | None = None,
) -> Ratings:
    """Make a table of ratings.

    Parameters
    ----------
    rows : sequence of sequences
        By unit what each rater gave; None where that is nothing.
    categories : the scale in its order. By default what was given: numbers sorted, other things in
        the order of their first appearance.
    clusters : by unit the number of its participant. By default each unit stands by itself.
    sessions : by unit the number of its session. By default each participant has one.

    Raises
    ------
    ValueError : rows of different lengths, or a rating that is not of the scale.
    """
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise ValueError("each unit needs a rating or None of each rater")
    given = list(dict.fromkeys(value for row in rows for value in row if value is not None))
    if categories is None:
        numeric = all(isinstance(value, int | float | np.number) for value in given)
        scale: list[Any] = sorted(given) if numeric else given
    else:
        scale = list(categories)
        if outside := [value for value in given if value not in scale]:
            raise ValueError(f"{outside[0]!r} is not of the scale")
    position: dict[Any, int] = {value: at for at, value in enumerate(scale)} | {None: MISSING}
    codes = np.array([[position[value] for value in row] for row in rows], np.int64)
    codes = codes.reshape(len(rows), widths.pop() if widths else 0)
    of = np.arange(len(rows)) if clusters is None else np.asarray(clusters, np.int64)
    within = of if sessions is None else np.asarray(sessions, np.int64)
    return Ratings(codes, tuple(scale), of.astype(np.int64), within.astype(np.int64))
