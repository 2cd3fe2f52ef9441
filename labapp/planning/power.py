"""Power of the tests of an analysis by resampling simulated participants.

So many participants of each group are drawn from the simulated ones, each strategy by its share,
and the test is made; power is the share of such studies in which p is below the level. Every test
is of means of groups of participants' weighted sums of cells: t of a contrast, F of a term (type
III), two one-sided tests of equivalence. All are functions of sums over the participants drawn, so
that the draws are counts and the sums matrix products.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from labapp.analysis.design.contrasts import EQUIVALENT, GREATER, LESS, Direction

Floats = NDArray[np.float64]
Whole = NDArray[np.intp]
TINY = 1e-18
"""Variances below this part of the square of the values are rounding."""


@dataclass(frozen=True)
class PlannedTest:
    """A test that is planned.

    Attributes
    ----------
    name : as tables have it.
    cells : shape (cells, d), what is made of the values of a participant: for a contrast one column
        of weights, for an F orthonormal ones.
    groups : shape (q, groups), each row the weights of the groups' means; the error is that within
        all groups.
    apart : only groups with a weight are in it, as in t tests of two groups among several.
    bound : of a test of equivalence the smallest effect, in the unit of the values, or with
        `standardised` in standard deviations.
    corrected : whether its p is corrected for several tests: that of a term, or of the only test of
        equivalence, is not.
    """

    name: str
    cells: Floats
    groups: Floats
    direction: Direction = "two-sided"
    apart: bool = False
    bound: float | None = None
    standardised: bool = False
    corrected: bool = True

    @property
    def is_contrast(self) -> bool:
        """Whether it is a t."""
        return bool(self.cells.shape[1] == 1 and self.groups.shape[0] == 1)

    @property
    def used(self) -> NDArray[np.bool_]:
        """The cells that a participant must have."""
        return np.asarray((self.cells != 0).any(axis=1))


@dataclass(frozen=True)
class Pool:
    """The simulated participants from whom studies are drawn, one metric.

    Attributes
    ----------
    tests : that are made of them.
    values : shape (m, cells), NaN where a participant has none.
    groups : shape (m,), the number of each participant's group.
    weights : shape (m,), probability of each to be drawn among those of the group, in proportion.
    people : shape (m,), their labels.
    """

    metric: str
    tests: tuple[PlannedTest, ...]
    values: Floats
    groups: Whole
    weights: Floats
    people: tuple[str, ...] = ()

    @property
    def n_groups(self) -> int:
        return self.tests[0].groups.shape[1] if self.tests else 1

    def reweighted(self, weights: Floats) -> Pool:
        """The same people in other shares."""
        return replace(self, weights=weights)


@dataclass(frozen=True, slots=True)
class Effect:
    """The standardised effect of a test in the mixture: d_z of what participants met, d between
    groups of them, Cohen's f of a term (of the error without their own differences where it is
    within participants). None where nothing varies."""

    test: str
    name: str
    value: float | None


def p_values(pool: Pool, n: int, draws: int, rng: np.random.Generator) -> Floats:
    """p of each test in `draws` studies, shape (draws, tests); NaN where there is no test (a sample
    that does not vary, a group without anybody). n: participants of each group."""
    counts: list[tuple[Whole, Floats]] = []
    for group in range(pool.n_groups):
        own = np.flatnonzero(pool.groups == group)
        if not pool.weights[own].sum() > 0:
            return np.full((draws, len(pool.tests)), np.nan)
        counts.append((own, _counts(pool.weights[own], n, draws, rng)))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack([_p(test, pool.values, counts) for test in pool.tests], axis=1)


def power(pool: Pool, n: int, levels: Sequence[float], draws: int, seed: int) -> Floats:
    """Share of the studies that find each difference, shape (levels, tests)."""
    p = p_values(pool, n, draws, np.random.default_rng([seed, n]))
    return np.stack([(p < level).mean(axis=0) for level in levels])


def curves(
    pool: Pool, sizes: Sequence[int], levels: Sequence[float], draws: int, seed: int
) -> Floats:
    """`power` for each number of participants: shape (sizes, levels, tests)."""
    return np.stack([power(pool, n, levels, draws, seed) for n in sizes])


def _counts(weights: Floats, n: int, draws: int, rng: np.random.Generator) -> Floats:
    """How often each participant is drawn: shape (draws, m)."""
    up_to = np.cumsum(weights)
    drawn = np.searchsorted(up_to, rng.random(draws * n) * up_to[-1], side="right")
    # Rounding may put the last one behind everybody who can be drawn.
    drawn = np.minimum(drawn, int(np.flatnonzero(weights)[-1]))
    places = np.repeat(np.arange(draws) * len(weights), n) + drawn
    counted = np.bincount(places, minlength=draws * len(weights))
    return counted.reshape(draws, len(weights)).astype(np.float64)


def _sides(test: PlannedTest) -> tuple[list[int], Floats]:
    """The groups that are in a test, and their weights."""
    if not test.apart:
        return list(range(test.groups.shape[1])), test.groups
    named = [int(at) for at in np.flatnonzero((test.groups != 0).any(axis=0))]
    return named, test.groups[:, named]


def _p(test: PlannedTest, values: Floats, counts: Sequence[tuple[Whole, Floats]]) -> Floats:
    used = test.used
    scores = values[:, used] @ test.cells[used]
    there = np.asarray(np.isfinite(scores).all(axis=1))
    named, weights = _sides(test)
    sizes, means, squares, rounding = [], [], [], 0.0
    for group in named:
        own, count = counts[group]
        own_there = there[own]
        x, c = scores[own][own_there], count[:, own_there]
        # From their middle, so that values that are all the same leave no rounding.
        middle = x.mean(axis=0) if len(x) else np.zeros(x.shape[1])
        apart = x - middle
        size = c.sum(axis=1)
        mean = c @ apart / size[:, None]
        sizes.append(size)
        means.append(mean + middle)
        squares.append((c @ np.square(apart)).sum(axis=1) - size * np.square(mean).sum(axis=1))
        rounding = max(rounding, TINY * max(1.0, float(np.square(x).max(initial=0.0))))
    q, d = weights.shape[0], test.cells.shape[1]
    total = np.sum(sizes, axis=0)
    df = d * (total - len(named))
    error = np.sum(squares, axis=0)
    error = np.where((error <= rounding * np.maximum(total, 1)) | (df < 1), np.nan, error)
    difference = np.einsum("qg,gsd->sqd", weights, np.stack(means))
    spread = np.einsum("qg,gs,rg->sqr", weights, 1 / np.stack(sizes), weights)
    if test.is_contrast:
        return _p_of_contrast(test, difference[:, 0, 0], error / df, spread[:, 0, 0], df)
    usable = np.isfinite(spread.sum(axis=(1, 2)) + error)
    solved = np.full_like(difference, np.nan)
    solved[usable] = np.linalg.solve(spread[usable], difference[usable])
    explained = (difference * solved).sum(axis=(1, 2))
    return np.asarray(special.fdtrc(q * d, df, explained / (q * d) / (error / df)))


def _p_of_contrast(
    test: PlannedTest, value: Floats, variance: Floats, scale: Floats, df: Floats
) -> Floats:
    error = np.sqrt(variance * scale)
    if test.direction == EQUIVALENT:
        room = (test.bound or 0.0) * (np.sqrt(variance) if test.standardised else 1.0)
        above, below = (value + room) / error, (value - room) / error
        return np.asarray(
            np.maximum(special.stdtr(df, -above), special.stdtr(df, below)), np.float64
        )
    t = value / error
    if test.direction == GREATER:
        return np.asarray(special.stdtr(df, -t))
    if test.direction == LESS:
        return np.asarray(special.stdtr(df, t))
    return np.asarray(2 * special.stdtr(df, -np.abs(t)))


def effects(pool: Pool) -> list[Effect]:
    """Of each test of a pool, in its order."""
    return [_effect(test, pool) for test in pool.tests]


def _effect(test: PlannedTest, pool: Pool) -> Effect:
    named, weights = _sides(test)
    within = len(named) == 1 or bool(np.ptp(weights) == 0)
    contrast = test.is_contrast and (test.corrected or test.direction == EQUIVALENT)
    name = ("d_z" if within else "d") if contrast else "f"
    moments = _moments(test, pool)
    if moments is None:
        return Effect(test.name, name, None)
    means, variance = moments
    if contrast:
        return Effect(test.name, name, float((weights @ means).item()) / variance**0.5)
    explained = _explained(weights, means)
    cells = int(test.used.sum()) * len(named)
    return Effect(test.name, name, (explained / cells / variance) ** 0.5)


def _moments(test: PlannedTest, pool: Pool) -> tuple[Floats, float] | None:
    """Means of the groups, shape (groups, d), and the variance within them; None without one."""
    used = test.used
    scores = pool.values[:, used] @ test.cells[used]
    means, squares = [], []
    for group in _sides(test)[0]:
        own = (pool.groups == group) & np.isfinite(scores).all(axis=1) & (pool.weights > 0)
        if not own.any():
            return None
        w = pool.weights[own] / pool.weights[own].sum()
        means.append(w @ scores[own])
        squares.append(float((w @ np.square(scores[own] - means[-1])).mean()))
    variance = float(np.mean(squares))
    return (np.stack(means), variance) if variance > TINY else None


def _explained(weights: Floats, means: Floats) -> float:
    """Sum of squares of a term with one participant in each group."""
    difference = weights @ means
    return float((difference * np.linalg.solve(weights @ weights.T, difference)).sum())


def normal_power(test: PlannedTest, pool: Pool, n: int, level: float) -> float | None:
    """Power by normal theory of the mixture's effect with n participants in each group: a check on
    the resampling. Resampled people are no normal sample (completion rates take few values), so
    that the two agree in tendency, not to the last per cent. None where nothing varies, and for
    tests of equivalence."""
    moments = _moments(test, pool)
    if moments is None or test.direction == EQUIVALENT:
        return None
    means, variance = moments
    named, weights = _sides(test)
    q, d = weights.shape[0], test.cells.shape[1]
    df = d * (n - 1) * len(named)
    shift = n * _explained(weights, means) / variance
    if test.direction in (GREATER, LESS):
        t = float(np.sign((weights @ means).item()) * shift**0.5)
        t = t if test.direction == GREATER else -t
        return float(stats.nct.sf(stats.t.ppf(1 - level, df), df, t))
    return float(stats.ncf.sf(stats.f.isf(level, q * d, df), q * d, df, shift))
