"""Power of the paper's tests by resampling simulated participants (paper 000, section 6).

So many participants are drawn from the simulated ones, each strategy by its share, and the test is
made; power is the share of such studies in which p is below the level. All tests are functions of
sums over the participants drawn, so that the draws are counts and the sums matrix products.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
ALL = "all models"
TINY = 1e-18
"""Variances below this part of the square of the values are rounding."""


@dataclass(frozen=True)
class Pool:
    """The simulated participants from whom studies are drawn, one metric.

    Attributes
    ----------
    models : of k.
    values : shape (m, k), NaN where a participant did not meet a model.
    within : each met all of them.
    weights : shape (m,), probability of each to be drawn; where each met one model, they are made
        to add up to 1 for each model.
    """

    metric: str
    models: tuple[str, ...]
    within: bool
    values: Floats
    weights: Floats

    @property
    def tests(self) -> tuple[str, ...]:
        """The analysis of variance, where it is not the t test again, then each pair of models."""
        pairs = [f"{first} – {other}" for first, other in combinations(self.models, 2)]
        return tuple([ALL, *pairs] if len(self.models) > 2 else pairs)

    def reweighted(self, weights: Floats) -> Pool:
        return Pool(self.metric, self.models, self.within, self.values, weights)


def p_values(pool: Pool, n: int, draws: int, rng: np.random.Generator) -> Floats:
    """p of each test in `draws` studies, shape (draws, tests); NaN where there is no test (a sample
    that does not vary). n: participants where each meets all models, else of each model."""
    if not pool.weights.sum() > 0:
        return np.full((draws, len(pool.tests)), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _within(pool, n, draws, rng) if pool.within else _between(pool, n, draws, rng)


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


def _within(pool: Pool, n: int, draws: int, rng: np.random.Generator) -> Floats:
    counts = _counts(pool.weights, n, draws, rng)
    columns: list[Floats] = []
    if len(pool.models) > 2:
        columns.append(_repeated(pool.values, counts))
    for first, other in combinations(range(len(pool.models)), 2):
        difference = pool.values[:, first] - pool.values[:, other]
        finite = np.isfinite(difference)
        d = np.where(finite, difference, 0.0)
        size = counts @ finite.astype(np.float64)
        mean = counts @ d / size
        variance = (counts @ np.square(d) - size * np.square(mean)) / (size - 1)
        variance[variance <= TINY * max(1.0, float(np.square(d).max()))] = np.nan
        t = mean / np.sqrt(variance / size)
        columns.append(np.asarray(2 * special.stdtr(size - 1, -np.abs(t))))
    return np.stack(columns, axis=1)


def _repeated(values: Floats, counts: Floats) -> Floats:
    """p of the repeated-measures analysis of variance of each study, of those with all values."""
    complete = np.isfinite(values).all(axis=1)
    x, c = values[complete], counts[:, complete]
    k = x.shape[1]
    n = c.sum(axis=1)
    means = c @ x / n[:, None]
    grand = means.mean(axis=1)
    people = k * (c @ np.square(x.mean(axis=1)) - n * np.square(grand))
    total = c @ np.square(x).sum(axis=1) - n * k * np.square(grand)
    conditions = n * np.square(means - grand[:, None]).sum(axis=1)
    error = total - people - conditions
    error[error <= TINY * np.maximum(1.0, c @ np.square(x).sum(axis=1))] = np.nan
    df = (k - 1) * (n - 1)
    return np.asarray(special.fdtrc(k - 1, df, (conditions / (k - 1)) / (error / df)))


def _between(pool: Pool, n: int, draws: int, rng: np.random.Generator) -> Floats:
    size: list[Floats] = []
    mean: list[Floats] = []
    squares: list[Floats] = []
    for at in range(len(pool.models)):
        finite = np.isfinite(pool.values[:, at]) & (pool.weights > 0)
        if not finite.any():
            return np.full((draws, len(pool.tests)), np.nan)
        x = pool.values[finite, at]
        counts = _counts(pool.weights[finite], n, draws, rng)
        size.append(np.full(draws, float(n)))
        mean.append(np.asarray(counts @ x / n))
        squares.append(np.asarray(counts @ np.square(x) - n * np.square(mean[-1])))
    sizes, means, within = (np.stack(some) for some in (size, mean, squares))
    rounding = TINY * max(1.0, float(np.nanmax(np.square(pool.values))))
    columns = []
    k = len(pool.models)
    if k > 2:
        conditions = (sizes * np.square(means - means.mean(axis=0))).sum(axis=0)
        columns.append(_f(conditions, within.sum(axis=0), k - 1, k * (n - 1), rounding))
    for first, other in combinations(range(k), 2):
        conditions = n / 2 * np.square(means[first] - means[other])
        columns.append(_f(conditions, within[first] + within[other], 1, 2 * (n - 1), rounding))
    return np.stack(columns, axis=1)


def _f(conditions: Floats, error: Floats, df: int, df_error: int, rounding: float) -> Floats:
    """p of F; with two conditions that of t squared, the pooled-variance t test."""
    variance = np.where(error <= rounding, np.nan, error)
    return np.asarray(special.fdtrc(df, df_error, (conditions / df) / (variance / df_error)))
