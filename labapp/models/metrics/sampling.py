"""Samples instances that share the value of one factor, for BetaVAE and FactorVAE.

Both metrics are defined on a process that makes an instance of any factors and encodes it: a
`Sampler`. If there are only rows of codes and factors, `RowSampler` takes rows with the same value,
or with values that are nearly the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labapp.models.datasets.split import Float64, Int64
from labapp.models.metrics.inputs import check_inputs, refusal

_refuse = partial(refusal, "Instances that share a factor cannot be drawn")

ROWS_AT_ONCE = 2**16
"""Rows of codes that are in memory at once, approximately."""


class Sampler(Protocol):
    """Makes instances of any factors, and encodes them."""

    def factors(self, n: int, rng: np.random.Generator) -> Float64:
        """The factors of n instances drawn at random, shape (n, K)."""

    def codes(self, factors: Float64, rng: np.random.Generator) -> Float64:
        """Codes (n, C) of instances with these factors (n, K); a draw each where encoding is
        random."""


class InstanceSource(Protocol):
    """What the metrics draw from; `name` stands in their settings."""

    name: str
    rows: int | None
    factor_count: int

    def sample(self, n: int, rng: np.random.Generator) -> Float64:
        """Codes of instances as they occur, shape (n, C), or of all there are."""

    def pairs(self, fixed: Int64, batch: int, rng: np.random.Generator) -> tuple[Float64, Float64]:
        """For each entry k of `fixed`, a batch of pairs of instances that share factor k: the codes
        of both, each of shape (len(fixed), batch, C)."""

    def batches(self, fixed: Int64, batch: int, rng: np.random.Generator) -> Float64:
        """For each k of `fixed`, codes of instances that all share factor k: (len(fixed), batch,
        C)."""


def instance_source(
    codes: ArrayLike | None,
    factors: ArrayLike | None,
    sampler: Sampler | None,
    rng: np.random.Generator,
) -> InstanceSource:
    """The sampler where one is given, else the rows.

    Raises
    ------
    MetricError : both or neither are given; see `inputs.check_inputs` and `CheckedSampler`.
    """
    if sampler is not None and codes is None and factors is None:
        return CheckedSampler(sampler, rng)
    if sampler is None and codes is not None and factors is not None:
        return RowSampler(codes, factors)
    raise _refuse(
        "the metric takes either codes and factors or a sampler",
        "Give the two tables, or the sampler alone.",
    )


class CheckedSampler:
    """Draws from a `Sampler`, whose answers are checked.

    Raises
    ------
    MetricError : factors or codes of another shape, or values that are no finite real numbers.
    """

    name = "given"
    rows: int | None = None

    def __init__(self, sampler: Sampler, rng: np.random.Generator) -> None:
        self._sampler = sampler
        self.factor_count = self._factors(2, rng).shape[1]

    def sample(self, n: int, rng: np.random.Generator) -> Float64:
        return self._codes(self._factors(n, rng), rng)

    def pairs(self, fixed: Int64, batch: int, rng: np.random.Generator) -> tuple[Float64, Float64]:
        n, which = len(fixed) * batch, np.repeat(fixed, batch)
        first, second = self._factors(n, rng), self._factors(n, rng)
        second[np.arange(n), which] = first[np.arange(n), which]
        shape = (len(fixed), batch, -1)
        return self._codes(first, rng).reshape(shape), self._codes(second, rng).reshape(shape)

    def batches(self, fixed: Int64, batch: int, rng: np.random.Generator) -> Float64:
        n, which = len(fixed) * batch, np.repeat(fixed, batch)
        factors = self._factors(n, rng)
        first = factors[::batch][np.arange(len(fixed)), fixed]
        factors[np.arange(n), which] = np.repeat(first, batch)
        return self._codes(factors, rng).reshape(len(fixed), batch, -1)

    def _factors(self, n: int, rng: np.random.Generator) -> Float64:
        # A copy: what the sampler keeps is not written into.
        return _check_draw("factors", self._sampler.factors(n, rng), n).copy()

    def _codes(self, factors: Float64, rng: np.random.Generator) -> Float64:
        return _check_draw("codes", self._sampler.codes(factors, rng), len(factors))


class RowSampler:
    """The fixed-data variant: rows are drawn anew from codes (n, C) and factors (n, K).

    A pair is a row and another one of the same value, or, for a value that no other row has, of the
    nearest value that occurs. A batch starts from the value of a row and takes any of the rows
    that have it, each once; where they are fewer than the batch, any of the rows within the least
    distance that holds as many. All factors but the fixed one are as they occur together in the
    rows: where they depend on each other, fixing one narrows others too.
    """

    name = "rows"

    def __init__(self, codes: ArrayLike, factors: ArrayLike) -> None:
        self._table, self._by = check_inputs(codes, factors)
        self.rows: int | None = len(self._table)
        self.factor_count = self._by.shape[1]
        self._found: dict[tuple[int, int], Neighbours] = {}

    def sample(self, n: int, rng: np.random.Generator) -> Float64:
        return self._table

    def pairs(self, fixed: Int64, batch: int, rng: np.random.Generator) -> tuple[Float64, Float64]:
        first = rng.integers(len(self._table), size=(len(fixed), batch))
        second = np.empty_like(first)
        for k in np.unique(fixed):
            here = fixed == k
            second[here] = self._neighbours(int(k), 2).partners(first[here], rng)
        return self._table[first], self._table[second]

    def batches(self, fixed: Int64, batch: int, rng: np.random.Generator) -> Float64:
        if len(self._table) <= batch:
            raise _refuse(
                f"there are {len(self._table)} rows, and a batch has {batch}",
                "Give many more rows than a batch has, or a smaller batch.",
            )
        first = rng.integers(len(self._table), size=len(fixed))
        places = np.empty((len(fixed), batch), dtype=np.int64)
        for k in np.unique(fixed):
            here = fixed == k
            places[here] = self._neighbours(int(k), batch).groups(first[here], rng)
        return self._table[places]

    def _neighbours(self, factor: int, size: int) -> Neighbours:
        key = (factor, size)
        if key not in self._found:
            self._found[key] = Neighbours(self._by[:, factor], size)
        return self._found[key]


class Neighbours:
    """For each row, all rows whose value in a column is no further than the nearest `size` rows'
    are, itself among them; a run of the rows in the order of their values."""

    def __init__(self, column: Float64, size: int) -> None:
        self._size = size
        self._order = np.argsort(column, kind="stable").astype(np.int64)
        n, value = len(column), column[self._order]
        place = np.arange(n)
        self._place = np.empty_like(self._order)
        self._place[self._order] = place
        # The first run of `size` whose end would not come nearer by moving on.
        start = _first(
            lambda s: value - value[s] <= value[np.minimum(s + size, n - 1)] - value,
            np.zeros(n, dtype=np.int64),
            np.full(n, n - size),
        )
        reach = np.maximum(value - value[start], value[start + size - 1] - value)
        self._low = _first(lambda s: value - value[s] <= reach, np.zeros(n, dtype=np.int64), place)
        self._high = _first(
            lambda s: value[np.minimum(s, n - 1)] - value > reach, place, np.full(n, n)
        )

    def partners(self, rows: Int64, rng: np.random.Generator) -> Int64:
        """For each row another one."""
        place = self._place[rows]
        low, high = self._low[place], self._high[place]
        other = low + rng.integers(high - low - 1)
        return np.asarray(self._order[other + (other >= place)])

    def groups(self, rows: Int64, rng: np.random.Generator) -> Int64:
        """For each row `size` different ones, shape (len(rows), size)."""
        places = np.empty((len(rows), self._size), dtype=np.int64)
        for index, place in enumerate(self._place[rows]):
            low, high = self._low[place], self._high[place]
            places[index] = low + rng.choice(high - low, self._size, replace=False, shuffle=False)
        return self._order[places]


def fixed_factors(
    factor_count: int, points: int, batch: int, rng: np.random.Generator
) -> list[Int64]:
    """Which factor is shared at each point, numbers drawn from 0 to factor_count - 1; in portions
    that are made at once, so that memory does not grow with all points."""
    most = max(1, ROWS_AT_ONCE // batch)
    drawn = rng.integers(factor_count, size=points)
    return [drawn[start : start + most] for start in range(0, points, most)]


def _first(holds: Callable[[Int64], NDArray[np.bool_]], low: Int64, high: Int64) -> Int64:
    """The first place from `low` on at which a condition holds that then goes on holding, entry by
    entry; `high` where it does not before."""
    while (low < high).any():
        middle = (low + high) // 2
        reached, open_ = holds(middle), low < high
        low, high = np.where(open_ & ~reached, middle + 1, low), np.where(reached, middle, high)
    return low


def _check_draw(name: str, values: ArrayLike, n: int) -> Float64:
    array = np.asarray(values)
    if array.dtype.kind not in "buif" or array.ndim != 2 or len(array) != n or not array.shape[1]:
        raise _refuse(
            f"the sampler's {name} for {n} instances have shape {array.shape} and type "
            f"{array.dtype}",
            f"Let it give real numbers of shape ({n}, columns).",
        )
    table = array.astype(np.float64, copy=False)
    if not np.isfinite(table).all():
        raise _refuse(f"the sampler's {name} are not all finite", "Put the sampler right.")
    return table
