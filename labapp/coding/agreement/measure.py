"""What a measure of agreement is, and what comes of it: a number or the reason why there is none.

Every measure here is worked out from sums over units, so that those of participants can be added:
that is what the bootstrap draws.

What raters gave to units: a table of codes or values, some of them missing.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Sums = NDArray[np.float64]

DRAWS = 2_000
SEED = 0
FEWEST_CLUSTERS = 10
"""Below that many participants the spread between them is itself not known well enough."""
_AT_ONCE = 4_000_000
"""Numbers of the bootstrap's sums in memory."""


class Summed(Protocol):
    """What is worked out from sums."""

    def value(self, sums: Sums) -> NDArray[np.float64]:
        """The coefficients of sums with any number of axes in front; NaN if undefined."""


class Measure(Summed, Protocol):
    """A coefficient of agreement of units."""

    @property
    def name(self) -> str:
        """As it is called in text, such as `Cohen's kappa`."""

    @property
    def level(self) -> str:
        """`nominal`, `ordinal`, `interval` or `ratio`."""

    def sums(self, ratings: Ratings) -> Sums:
        """By cluster what is added over units, shape (n_clusters, …)."""

    def why_none(self, ratings: Ratings) -> str:
        """Why there is no value for these ratings: a clause; empty if there is one."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % bootstrap interval over clusters.

    Attributes
    ----------
    low, high : percentiles 2.5 and 97.5 of the draws; None if there is no interval.
    clusters : how many were drawn from.
    undefined : draws in which the coefficient is undefined; they are left out.
    reason : why there is no interval: a clause.
    """

    low: float | None = None
    high: float | None = None
    clusters: int = 0
    undefined: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A measure applied to ratings.

    Attributes
    ----------
    measure, level : its name and the level of measurement.
    value : None if it is undefined.
    n_units, n_comparable, n_raters : int
        Units in the table, those among them that two raters or more coded, and raters.
    reason : why there is no value: a clause.
    interval : of the value.
    """

    measure: str
    level: str
    value: float | None
    n_units: int
    n_comparable: int
    n_raters: int
    reason: str = ""
    interval: Interval = Interval(reason="none was asked for")

    def to_json(self) -> dict[str, Any]:
        return {
            "measure": self.measure,
            "level": self.level,
            "value": self.value,
            "n_units": self.n_units,
            "n_raters": self.n_raters,
        } | ({"reason": self.reason} if self.value is None else {})


def coefficient(measure: Measure, ratings: Ratings, *, interval: bool = False) -> Coefficient:
    """Apply a measure; interval: also draw participants for its uncertainty."""
    reason = _too_little(ratings) or measure.why_none(ratings)
    value, drawn = None, Interval(reason="there is no value")
    if not reason:
        sums = measure.sums(ratings)
        number = float(measure.value(sums.sum(axis=0)))
        if np.isfinite(number):
            value = number
            asked = Interval(reason="none was asked for")
            drawn = cluster_interval(measure, sums) if interval else asked
        else:
            reason = "agreement by chance is certain"
    return Coefficient(
        measure.name,
        measure.level,
        value,
        ratings.n_units,
        ratings.n_comparable,
        ratings.n_raters,
        reason,
        drawn,
    )


def cluster_interval(measure: Summed, sums: Sums) -> Interval:
    """The interval from as many clusters, which are participants, as there are, drawn with
    replacement."""
    n = len(sums)
    if n < FEWEST_CLUSTERS:
        people = "1 participant is" if n == 1 else f"{n} participants are"
        return Interval(
            clusters=n,
            reason=f"marks from one participant are not independent, and {people} too few to "
            f"resample ({FEWEST_CLUSTERS} are needed)",
        )
    drawn = resample(measure, sums, np.full(n, 1 / n), n, DRAWS, SEED)
    defined = drawn[np.isfinite(drawn)]
    undefined = DRAWS - defined.size
    if undefined > DRAWS / 2:
        why = "the coefficient is undefined in most bootstrap draws"
        return Interval(clusters=n, undefined=undefined, reason=why)
    low, high = (float(end) for end in np.percentile(defined, [2.5, 97.5]))
    return Interval(low, high, n, undefined)


def resample(
    measure: Summed, sums: Sums, shares: NDArray[np.float64], size: int, draws: int, seed: int
) -> NDArray[np.float64]:
    """The coefficient of each draw of clusters with replacement, shape (draws,); NaN if it is
    undefined.

    sums: of each cluster, shape (n, …); shares: the probability of each, shape (n,); size: how many
    make a draw.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    times = rng.multinomial(size, shares, size=draws).astype(np.float64)
    flat = sums.reshape(len(sums), -1)
    step = max(1, _AT_ONCE // max(1, flat.shape[1]))
    parts = [
        measure.value((times[at : at + step] @ flat).reshape(-1, *sums.shape[1:]))
        for at in range(0, draws, step)
    ]
    return np.concatenate(parts)


def by_cluster(values: NDArray[Any], clusters: NDArray[np.int64], n: int) -> Sums:
    """Rows of units, added by cluster."""
    sums = np.zeros((n, *values.shape[1:]))
    np.add.at(sums, clusters, values)
    return sums


def ratio(numerator: NDArray[Any], denominator: NDArray[Any]) -> NDArray[np.float64]:
    """Their quotient; NaN if the denominator is nothing."""
    nothing = np.asarray(denominator) == 0
    quotient = np.asarray(numerator) / np.where(nothing, 1.0, denominator)
    return np.asarray(np.where(nothing, np.nan, quotient), np.float64)


def shrunk(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers over the largest of them, whose squares are no longer too large for a float; what is
    worked out from them does not change by it."""
    largest = np.abs(numbers).max(initial=0.0)
    return np.asarray(numbers / largest) if largest > 0 else numbers


def one_category(ratings: Ratings) -> str:
    """The clause for ratings that are all the same; empty if they are not."""
    # Of units with a rating to compare alone: the others do not enter.
    several = np.sum(ratings.codes != MISSING, axis=1) > 1
    used = np.unique(ratings.codes[several])
    used = used[used != MISSING]
    if used.size != 1:
        return ""
    name = category_text(ratings.categories[int(used[0])])
    return f"all gave only {name}, so agreement by chance is certain"


def category_text(category: Any) -> str:
    """A category in a sentence: a number, a text in quotes, or the codes of a set."""
    if isinstance(category, AbstractSet):
        return " and ".join(f"“{code}”" for code in sorted(category)) or "no code"
    return f"“{category}”" if isinstance(category, str) else f"{category:g}"


def _too_little(ratings: Ratings) -> str:
    if ratings.n_raters < 2:
        return "there is only one rater"
    if not ratings.n_comparable:
        return "there is no unit that two raters coded"
    return ""


MISSING = -1
"""Stands for a rating that was not given."""


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """One row per unit, one column per rater.

    Attributes
    ----------
    codes : positions in `categories`, shape (n_units, n_raters); `MISSING` if a rater gave
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
        """The values themselves, shape (n_units, n_raters), NaN if missing; of categories that
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
        """The units alone that two raters or more coded, their clusters renumbered."""
        return self._of_units(np.sum(self.codes != MISSING, axis=1) > 1)

    def complete(self) -> Ratings:
        """The units alone that every rater coded, their clusters renumbered."""
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
    """Make a table of ratings. Raises ValueError: rows of different lengths, or a rating that is
    not of the scale.

    Parameters
    ----------
    rows : sequence of sequences
        By unit what each rater gave; None if that is nothing.
    categories : the scale in its order. By default what was given: numbers sorted, other things in
        the order of their first appearance.
    clusters : by unit the number of its participant. By default each unit stands by itself.
    sessions : by unit the number of its session. By default each participant has one.
    """
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise ValueError("each unit needs a rating or None from each rater")
    given = list(dict.fromkeys(value for row in rows for value in row if value is not None))
    if categories is None:
        numeric = all(isinstance(value, int | float | np.number) for value in given)
        scale: list[Any] = sorted(given) if numeric else given
    else:
        scale = list(categories)
        if outside := [value for value in given if value not in scale]:
            raise ValueError(f"{outside[0]!r} is not on the scale")
    position: dict[Any, int] = {value: at for at, value in enumerate(scale)} | {None: MISSING}
    codes = np.array([[position[value] for value in row] for row in rows], np.int64)
    codes = codes.reshape(len(rows), widths.pop() if widths else 0)
    of = np.arange(len(rows)) if clusters is None else np.asarray(clusters, np.int64)
    within = of if sessions is None else np.asarray(sessions, np.int64)
    return Ratings(codes, tuple(scale), of.astype(np.int64), within.astype(np.int64))
