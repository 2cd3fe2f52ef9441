"""How many participants a study needs, with intervals, and how that depends on the mixture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labapp.planning.people import People, weights
from labapp.planning.pools import LEVEL, PlannedGroup
from labapp.planning.power import Effect, PlannedTest, Pool, curves, effects

SIZES = (3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 50, 60, 80, 100, 150, 200)
GOALS = (0.8, 0.9)
DRAWS = 1000
POOLS, POOL_DRAWS = 100, 200
"""Pools of simulated participants that are drawn from the pool for an interval, and studies drawn
from each."""
SCENARIO_DRAWS = 500
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Need:
    """The smallest number of participants with which a test reaches a power. low, high: the
    interval of 95 % of the numbers that other simulated participants would give. None: more than
    the largest of `SIZES`."""

    n: int | None
    low: int | None
    high: int | None


@dataclass(frozen=True)
class TestPower:
    """One test of one metric.

    Attributes
    ----------
    power : shape (sizes, levels), the levels being those of its group.
    needs : (level, goal) -> Need; of a test that is not corrected at the first level alone.
    effect : of the mixture, for the check by normal theory.
    """

    metric: str
    title: str
    planned: PlannedTest
    power: Floats
    needs: Mapping[tuple[float, float], Need]
    effect: Effect
    pool: Pool

    @property
    def test(self) -> str:
        """Its name."""
        return self.planned.name


@dataclass(frozen=True)
class GroupPower:
    """The power of the tests that are planned together."""

    group: PlannedGroup
    tests: tuple[TestPower, ...]


@dataclass(frozen=True)
class Scenario:
    """Shares of the strategies, and what would follow. completion: model -> mean rate, 0-1;
    needs: (metric, test) -> smallest number for a power of 80 % at .05, None for more."""

    name: str
    shares: Mapping[str, float]
    completion: Mapping[str, float]
    needs: Mapping[tuple[str, str], int | None]


def smallest(sizes: Sequence[int], power: ArrayLike, goal: float) -> float:
    """The number of participants at which power reaches the goal, interpolated linearly between the
    sizes and rounded up; infinite if it never does."""
    rising = np.maximum.accumulate(np.asarray(power, np.float64))
    at = int(np.searchsorted(rising, goal))
    if at == len(rising):
        return float("inf")
    if at == 0:
        return float(sizes[0])
    part = (goal - rising[at - 1]) / (rising[at] - rising[at - 1])
    return float(ceil(sizes[at - 1] + part * (sizes[at] - sizes[at - 1]) - 1e-9))


def group_powers(groups: Sequence[PlannedGroup], people: People, seed: int) -> list[GroupPower]:
    """The power of what is planned."""
    return [
        GroupPower(
            group,
            tuple(test for pool in group.pools for test in _tests(pool, people, group, seed)),
        )
        for group in groups
    ]


def _tests(pool: Pool, people: People, group: PlannedGroup, seed: int) -> list[TestPower]:
    levels = group.levels
    power = curves(pool, SIZES, levels, DRAWS, seed)
    spread = _other_pools(pool, people, levels, seed)
    powers = []
    for at, (test, effect) in enumerate(zip(pool.tests, effects(pool), strict=True)):
        needs = {
            (level, goal): _need(
                smallest(SIZES, power[:, place, at], goal),
                [smallest(SIZES, table[:, place, at], goal) for table in spread],
            )
            for place, level in enumerate(levels)
            for goal in GOALS
            if place == 0 or test.corrected
        }
        title = group.titles[pool.metric]
        powers.append(TestPower(pool.metric, title, test, power[:, :, at], needs, effect, pool))
    return powers


def _need(n: float, others: Sequence[float]) -> Need:
    low, high = np.quantile(others, [0.025, 0.975], method="nearest")
    return Need(*(int(size) if isfinite(size) else None for size in (n, float(low), float(high))))


def _other_pools(pool: Pool, people: People, levels: Sequence[float], seed: int) -> list[Floats]:
    """Power from other simulated participants: as many of each strategy (in each group, where
    there are several) drawn from those there are."""
    rng = np.random.default_rng([seed, 1])
    strategies = np.array([people.strategies[name] for name in pool.people])
    powers = []
    for number in range(POOLS):
        times = np.zeros(len(strategies))
        for strategy in np.unique(strategies):
            for group in np.unique(pool.groups):
                own = np.flatnonzero((strategies == strategy) & (pool.groups == group))
                if own.size:
                    times[own] = rng.multinomial(own.size, np.full(own.size, 1 / own.size))
        drawn = pool.reweighted(pool.weights * times)
        powers.append(curves(drawn, SIZES, levels, POOL_DRAWS, seed + number + 2))
    return powers


def scenarios(people: People, powers: Sequence[GroupPower], seed: int) -> list[Scenario]:
    """The mixture as it is, all strategies alike, more of each strategy, and each alone."""
    usual = dict(people.shares)
    cases = {"as assumed": usual}
    if len(usual) > 1:
        cases["all alike"] = dict.fromkeys(usual, 1 / len(usual))
        for name in usual:
            cases[f"more {name}"] = more(usual, name)
        for name in usual:
            cases[f"only {name}"] = {strategy: float(strategy == name) for strategy in usual}
    return [_scenario(name, shares, people, powers, seed) for name, shares in cases.items()]


def more(shares: Mapping[str, float], name: str, by: float = 0.2) -> dict[str, float]:
    """A strategy's share raised by so much, at most to 1; the others shrink in proportion."""
    raised = min(1.0, shares[name] + by)
    rest = 1 - shares[name]
    factor = (1 - raised) / rest if rest > 0 else 0.0
    return {s: raised if s == name else share * factor for s, share in shares.items()}


def _scenario(
    name: str,
    shares: Mapping[str, float],
    people: People,
    powers: Sequence[GroupPower],
    seed: int,
) -> Scenario:
    from labapp.planning.waiting import completions

    other = replace(people, shares=dict(shares))
    # As it is, the mixture has its numbers already, and from more draws.
    same = shares == people.shares
    needs = _as_planned(powers) if same else _needed(shares, people, powers, seed)
    completion = {rate.model: rate.mean for rate in completions(other) if rate.strategy is None}
    return Scenario(name, dict(shares), completion, needs)


Needs = dict[tuple[str, str], int | None]


def _as_planned(powers: Sequence[GroupPower]) -> Needs:
    return {
        _key(power, test.metric, test.test): test.needs[LEVEL, GOALS[0]].n
        for power in powers
        for test in power.tests
    }


def _needed(
    shares: Mapping[str, float], people: People, powers: Sequence[GroupPower], seed: int
) -> Needs:
    needs: Needs = {}
    for group_power in powers:
        # A metric has several pools where not everybody met every model.
        for pool in {id(test.pool): test.pool for test in group_power.tests}.values():
            drawn = pool.reweighted(weights([people.strategies[n] for n in pool.people], shares))
            power = curves(drawn, SIZES, (LEVEL,), SCENARIO_DRAWS, seed)
            for at, test in enumerate(pool.tests):
                n = smallest(SIZES, power[:, 0, at], GOALS[0])
                needs[_key(group_power, pool.metric, test.name)] = int(n) if isfinite(n) else None
    return needs


def _key(power: GroupPower, metric: str, test: str) -> tuple[str, str]:
    return f"{power.group.name}: {metric}", test
