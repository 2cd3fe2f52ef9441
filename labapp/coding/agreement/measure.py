"""What a measure of agreement is, and what comes of it: a number or the reason why there is none.

Every measure here is worked out from sums over units, so that those of participants can be added:
that is what the bootstrap draws.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from labapp.coding.agreement.ratings import MISSING, Ratings

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
        """The coefficients of sums with any number of axes in front; NaN where undefined."""


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
        """Why there is no value for these ratings: a clause; empty where there is one."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % bootstrap interval over clusters.

    Attributes
    ----------
    low, high : percentiles 2.5 and 97.5 of the draws; None where there is no interval.
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
    value : None where it is undefined.
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
            reason=f"what is of one participant hangs together, and {people} too few to draw from "
            f"({FEWEST_CLUSTERS} are needed)",
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
    """The coefficient of each draw of clusters with replacement, shape (draws,); NaN where it is
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
    """Their quotient; NaN where the denominator is nothing."""
    nothing = np.asarray(denominator) == 0
    quotient = np.asarray(numerator) / np.where(nothing, 1.0, denominator)
    return np.asarray(np.where(nothing, np.nan, quotient), np.float64)


def shrunk(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers over the largest of them, whose squares are no longer too large for a float; what is
    worked out from them does not change by it."""
    largest = np.abs(numbers).max(initial=0.0)
    return np.asarray(numbers / largest) if largest > 0 else numbers


def one_category(ratings: Ratings) -> str:
    """The clause for ratings that are all the same; empty where they are not."""
    # Of units with a rating to compare alone: the others do not enter.
    several = np.sum(ratings.codes != MISSING, axis=1) > 1
    used = np.unique(ratings.codes[several])
    used = used[used != MISSING]
    if used.size != 1:
        return ""
    name = category_text(ratings.categories[int(used[0])])
    return f"all gave {name} only, so that agreement by chance is certain"


def category_text(category: Any) -> str:
    """A category in a sentence: a number, a text in quotes, or the codes of a set."""
    if isinstance(category, AbstractSet):
        return " and ".join(f"“{code}”" for code in sorted(category)) or "no code"
    return f"“{category}”" if isinstance(category, str) else f"{category:g}"


def _too_little(ratings: Ratings) -> str:
    if ratings.n_raters < 2:
        return "there is one rater only"
    if not ratings.n_comparable:
        return "there is no unit that two raters coded"
    return ""
