"""How many participants a study needs, with intervals, and how that depends on the mixture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labapp.analysis.task_report import ComparedModels, reports
from labapp.planning.normal import Effect, effects
from labapp.planning.people import People, weights
from labapp.planning.power import Pool, curves

SIZES = (3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 50, 60, 80, 100, 150, 200)
GOALS = (0.8, 0.9)
LEVEL = 0.05
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
    power : shape (sizes, levels), the levels being .05 and Bonferroni's.
    needs : (level, goal) -> Need.
    effect : of the mixture, for the check by normal theory.
    """

    metric: str
    title: str
    test: str
    power: Floats
    needs: Mapping[tuple[float, float], Need]
    effect: Effect
    pool: Pool


@dataclass(frozen=True)
class GroupPower:
    """The power to tell models of a group apart. levels: .05, and .05 over the number of tests that
    an analysis of these sessions makes (n_tests)."""

    group: ComparedModels
    n_tests: int
    levels: tuple[float, float]
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


def group_powers(people: People, seed: int) -> list[GroupPower]:
    """Each group of models that the study compares, of the participants who count."""
    counted = people.tables.included()
    groups = [group for report in reports() for group in report.compared(counted)]
    n_tests = sum(group.n_tests for group in groups)
    levels = (LEVEL, LEVEL / max(n_tests, 1))
    powers = []
    for group in groups:
        tests = [
            test
            for pool, title in pools(group, people)
            for test in _tests(pool, title, people, group, levels, seed)
        ]
        powers.append(GroupPower(group, n_tests, levels, tuple(tests)))
    return powers


def pools(group: ComparedModels, people: People) -> list[tuple[Pool, str]]:
    """A pool for each metric that can tell models apart, with its title."""
    if len(group.models) < 2:
        return []
    result = []
    for metric, title in group.measured.items():
        participants, values = _wide(group, metric)
        weights = people.weights(participants)
        result.append((Pool(metric, group.models, group.within, values, weights), title))
    return result


def _wide(group: ComparedModels, metric: str) -> tuple[list[str], Floats]:
    table = group.values.pivot_table(
        index="participant", columns="model", values=metric, dropna=False
    ).reindex(columns=list(group.models))
    table = table.dropna(how="all")
    return [str(name) for name in table.index], table.to_numpy(np.float64)


def _tests(
    pool: Pool,
    title: str,
    people: People,
    group: ComparedModels,
    levels: tuple[float, float],
    seed: int,
) -> list[TestPower]:
    power = curves(pool, SIZES, levels, DRAWS, seed)
    names, _ = _wide(group, pool.metric)
    spread = _other_pools(pool, names, people, levels, seed)
    powers = []
    for at, (test, effect) in enumerate(zip(pool.tests, effects(pool), strict=True)):
        needs = {
            (level, goal): _need(
                smallest(SIZES, power[:, place, at], goal),
                [smallest(SIZES, table[:, place, at], goal) for table in spread],
            )
            for place, level in enumerate(levels)
            for goal in GOALS
        }
        powers.append(TestPower(pool.metric, title, test, power[:, :, at], needs, effect, pool))
    return powers


def _need(n: float, others: Sequence[float]) -> Need:
    low, high = np.quantile(others, [0.025, 0.975], method="nearest")
    return Need(*(int(size) if isfinite(size) else None for size in (n, float(low), float(high))))


def _other_pools(
    pool: Pool, names: Sequence[str], people: People, levels: tuple[float, float], seed: int
) -> list[Floats]:
    """Power from other simulated participants: as many of each strategy (of each model, where each
    meets one) drawn from those there are."""
    rng = np.random.default_rng([seed, 1])
    strategies = np.array([people.strategies[name] for name in names])
    met = np.array([_met(pool, row) for row in pool.values])
    powers = []
    for number in range(POOLS):
        times = np.zeros(len(names))
        for strategy in np.unique(strategies):
            for cell in np.unique(met):
                own = np.flatnonzero((strategies == strategy) & (met == cell))
                if own.size:
                    times[own] = rng.multinomial(own.size, np.full(own.size, 1 / own.size))
        drawn = pool.reweighted(pool.weights * times)
        powers.append(curves(drawn, SIZES, levels, POOL_DRAWS, seed + number + 2))
    return powers


def _met(pool: Pool, row: Floats) -> int:
    return -1 if pool.within else int(np.flatnonzero(np.isfinite(row))[0])


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
    needs = _known(powers) if same else _needed(shares, people, powers, seed)
    completion = {rate.model: rate.mean for rate in completions(other) if rate.strategy is None}
    return Scenario(name, dict(shares), completion, needs)


Needs = dict[tuple[str, str], int | None]


def _known(powers: Sequence[GroupPower]) -> Needs:
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
        for metric in dict.fromkeys(test.metric for test in group_power.tests):
            pool = next(test.pool for test in group_power.tests if test.metric == metric)
            names, _ = _wide(group_power.group, metric)
            drawn = pool.reweighted(weights([people.strategies[n] for n in names], shares))
            power = curves(drawn, SIZES, (LEVEL,), SCENARIO_DRAWS, seed)
            for at, test in enumerate(pool.tests):
                n = smallest(SIZES, power[:, 0, at], GOALS[0])
                needs[_key(group_power, metric, test)] = int(n) if isfinite(n) else None
    return needs


def _key(power: GroupPower, metric: str, test: str) -> tuple[str, str]:
    return f"{power.group.name}: {metric}", test
