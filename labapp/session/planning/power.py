"""Power of the tests of an analysis by resampling simulated participants.

So many participants of each group are drawn from the simulated ones, each strategy by its share,
and the test is made; power is the share of such studies in which p is below the level. Every test
is of means of groups of participants' weighted sums of cells: t of a contrast, F of a term (type
III), two one-sided tests of equivalence. All are functions of sums over the participants drawn, so
that the draws are counts and the sums matrix products.

A study that declares a published study's analysis is planned with that one's tests; what it
declares itself, and every other study, with the analyses according to the design, as `labapp
analyze` makes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil, isfinite

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike, NDArray

from labapp.analysis.declared import Declaration, read_declaration
from labapp.analysis.design import anova
from labapp.analysis.design.analyses import Analysis, analyse
from labapp.analysis.design.anova import Comparison
from labapp.analysis.design.layout import (
    Factor,
    Layout,
    cell_weights,
    plain_name,
    subsets,
    term_name,
    wide,
)
from labapp.analysis.design.sources import LeftOut
from labapp.analysis.inference import EQUIVALENT, GREATER, LESS, Direction
from labapp.analysis.task_report import ComparedModels, in_order, reports
from labapp.session.planning.thresholds import People, weights
from labapp.study.design import AnalysisPlan

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

    def is_possible(self, pool: SimulatedPool) -> bool:
        """Whether each of its groups has a participant with all values that it compares."""
        whole = np.isfinite(pool.values[:, self.used]).all(axis=1) & (pool.weights > 0)
        return all((whole & (pool.groups == group)).any() for group in _sides(self)[0])

    @property
    def used(self) -> NDArray[np.bool_]:
        """The cells that a participant must have."""
        return np.asarray((self.cells != 0).any(axis=1))


@dataclass(frozen=True)
class SimulatedPool:
    """The simulated participants from whom studies are drawn, one metric.

    Attributes
    ----------
    tests : that are made of them.
    values : shape (m, cells), NaN if a participant has none.
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

    def reweight(self, weights: Floats) -> SimulatedPool:
        """The same people in other shares."""
        return replace(self, weights=weights)


@dataclass(frozen=True, slots=True)
class Effect:
    """The standardised effect of a test in the mixture: d_z of what participants met, d between
    groups of them, Cohen's f of a term (of the error without their own differences where it is
    within participants). None if nothing varies."""

    test: str
    name: str
    value: float | None


def p_values(pool: SimulatedPool, n: int, draws: int, rng: np.random.Generator) -> Floats:
    """p of each test in `draws` studies, shape (draws, tests); NaN if there is no test (a sample
    that does not vary, a group without anybody). n: participants of each group."""
    counts: list[tuple[Whole, Floats]] = []
    for group in range(pool.tests[0].groups.shape[1] if pool.tests else 1):
        own = np.flatnonzero(pool.groups == group)
        if not pool.weights[own].sum() > 0:
            return np.full((draws, len(pool.tests)), np.nan)
        counts.append((own, _counts(pool.weights[own], n, draws, rng)))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack([_p(test, pool.values, counts) for test in pool.tests], axis=1)


def power(pool: SimulatedPool, n: int, levels: Sequence[float], draws: int, seed: int) -> Floats:
    """Share of the studies that find each difference, shape (levels, tests)."""
    p = p_values(pool, n, draws, np.random.default_rng([seed, n]))
    return np.stack([(p < level).mean(axis=0) for level in levels])


def curves(
    pool: SimulatedPool, sizes: Sequence[int], levels: Sequence[float], draws: int, seed: int
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
    return np.asarray(scipy.special.fdtrc(q * d, df, explained / (q * d) / (error / df)))


def _p_of_contrast(
    test: PlannedTest, value: Floats, variance: Floats, scale: Floats, df: Floats
) -> Floats:
    error = np.sqrt(variance * scale)
    if test.direction == EQUIVALENT:
        room = (test.bound or 0.0) * (np.sqrt(variance) if test.standardised else 1.0)
        above, below = (value + room) / error, (value - room) / error
        return np.asarray(
            np.maximum(scipy.special.stdtr(df, -above), scipy.special.stdtr(df, below)), np.float64
        )
    t = value / error
    if test.direction == GREATER:
        return np.asarray(scipy.special.stdtr(df, -t))
    if test.direction == LESS:
        return np.asarray(scipy.special.stdtr(df, t))
    return np.asarray(2 * scipy.special.stdtr(df, -np.abs(t)))


def effects(pool: SimulatedPool) -> list[Effect]:
    """Of each test of a pool, in its order."""
    return [_effect(test, pool) for test in pool.tests]


def _effect(test: PlannedTest, pool: SimulatedPool) -> Effect:
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
    explained = _compute_sum_of_squares(weights, means)
    cells = int(test.used.sum()) * len(named)
    return Effect(test.name, name, (explained / cells / variance) ** 0.5)


def _moments(test: PlannedTest, pool: SimulatedPool) -> tuple[Floats, float] | None:
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


def _compute_sum_of_squares(weights: Floats, means: Floats) -> float:
    """Sum of squares of a term with one participant in each group."""
    difference = weights @ means
    return float((difference * np.linalg.solve(weights @ weights.T, difference)).sum())


def normal_power(test: PlannedTest, pool: SimulatedPool, n: int, level: float) -> float | None:
    """Power by normal theory of the mixture's effect with n participants in each group: a check on
    the resampling. Resampled people are no normal sample (completion rates take few values), so
    that the two agree in tendency, not to the last per cent. None if nothing varies, and for
    tests of equivalence."""
    moments = _moments(test, pool)
    if moments is None or test.direction == EQUIVALENT:
        return None
    means, variance = moments
    named, weights = _sides(test)
    q, d = weights.shape[0], test.cells.shape[1]
    df = d * (n - 1) * len(named)
    shift = n * _compute_sum_of_squares(weights, means) / variance
    if test.direction in (GREATER, LESS):
        t = float(np.sign((weights @ means).item()) * shift**0.5)
        t = t if test.direction == GREATER else -t
        return float(scipy.stats.nct.sf(scipy.stats.t.ppf(1 - level, df), df, t))
    return float(scipy.stats.ncf.sf(scipy.stats.f.isf(level, q * d, df), q * d, df, shift))


LEVEL = 0.05
ALL = "all models"
QUESTIONNAIRE = (
    "the answers of simulated people to questionnaires say nothing about people, so plan it "
    "with --contrasts and a pilot study"
)


TOO_FEW_MET = (
    "its tests compare levels of which no participant sees both, so the simulated participants "
    "cannot show their power"
)


@dataclass(frozen=True)
class PlannedGroup:
    """Tests that are planned together: of one task and design, or of the models of a published
    study's comparison.

    Attributes
    ----------
    models : whose ids stand in the names of tests.
    each : whom a number of participants counts, for "12 …".
    words : which tests they are.
    correction : what is said of the second level.
    levels : .05, and .05 over the number of tests of a family where their p is corrected so.
    titles : by metric.
    """

    name: str
    models: tuple[str, ...]
    each: str
    words: str
    correction: str
    n_tests: int
    levels: tuple[float, ...]
    titles: Mapping[str, str]
    pools: tuple[SimulatedPool, ...]


def plan_groups(people: People) -> tuple[list[PlannedGroup], list[LeftOut]]:
    """What is planned of the participants who count, and what is not, and why."""
    counted = people.tables.included()
    groups = list(_of_profiles(people))
    left_out: list[LeftOut] = []
    for study in sorted({str(name) for name in counted.participants["study"]}):
        declaration = read_declaration(counted, study)
        own = declaration.analysis
        if groups and not (own.contrasts or own.outcomes.primary or own.outcomes.secondary):
            continue  # its analysis is the published study's
        results = analyse(counted.of_study(study), declaration, by_trials=False)
        left_out += results.left_out
        asked = {str(score) for score in counted.scores["score"].dropna().unique()}
        done = [a for a in results.analyses if a.outcome.name not in asked]
        left_out += [
            LeftOut(a.outcome.name, a.outcome.group, a.outcome.role, QUESTIONNAIRE)
            for a in results.analyses
            if a.outcome.name in asked
        ]
        planned, untested = _of_analyses(done, declaration, people)
        groups += planned
        left_out += untested
    return groups, left_out


def _of_profiles(people: People) -> Iterator[PlannedGroup]:
    compared = [
        group for report in reports() for group in report.compared(people.tables.included())
    ]
    n_tests = sum(group.n_tests for group in compared)
    for group in compared:
        if len(group.models) < 2:
            continue
        kind = "paired" if group.within else "independent"
        yield PlannedGroup(
            group.name,
            group.models,
            "participants" if group.within else "participants of each model",
            f"analysis of variance over all models and {kind} t tests, as in the paper",
            "Bonferroni, over the tests that an analysis makes",
            n_tests,
            (LEVEL, LEVEL / max(n_tests, 1)),
            group.measured,
            tuple(_of_models(group, metric, people) for metric in group.measured),
        )


def _of_models(group: ComparedModels, metric: str, people: People) -> SimulatedPool:
    table = group.values.pivot_table(
        index="participant", columns="model", values=metric, dropna=False
    ).reindex(columns=list(group.models))
    table = table.dropna(how="all")
    values = table.to_numpy(np.float64)
    who = tuple(str(name) for name in table.index)
    weights = people.weights(who)
    if group.within:
        alone = np.zeros(len(values), np.intp)
        return SimulatedPool(metric, within_tests(group.models), values, alone, weights, who)
    met = np.isfinite(values).argmax(axis=1).astype(np.intp)
    own = values[np.arange(len(values)), met][:, None]
    return SimulatedPool(metric, between_tests(group.models), own, met, weights, who)


def within_tests(models: Sequence[str]) -> tuple[PlannedTest, ...]:
    """The analysis of variance of models that everybody met, where it is not the t test again, and
    the paired t test of each two."""
    k = len(models)
    omnibus = [PlannedTest(ALL, anova.orthonormal(k), np.ones((1, 1)))] if k > 2 else []
    return (*omnibus, *(
        PlannedTest(f"{models[first]} – {models[other]}", column[:, None], np.ones((1, 1)))
        for first, other, column in _pairs(k)
    ))  # fmt: skip


def between_tests(models: Sequence[str]) -> tuple[PlannedTest, ...]:
    """The same of models of which each participant met one; a t test has the variance of its two
    groups."""
    k = len(models)
    omnibus = [PlannedTest(ALL, np.ones((1, 1)), anova.orthonormal(k).T)] if k > 2 else []
    return (*omnibus, *(
        PlannedTest(f"{models[first]} – {models[other]}", np.ones((1, 1)), row[None, :], apart=True)
        for first, other, row in _pairs(k)
    ))  # fmt: skip


def _pairs(k: int) -> Iterator[tuple[int, int, Floats]]:
    for first, other in combinations(range(k), 2):
        weights = np.zeros(k)
        weights[first], weights[other] = 1.0, -1.0
        yield first, other, weights


def _of_analyses(
    analyses: Sequence[Analysis], declaration: Declaration, people: People
) -> tuple[list[PlannedGroup], list[LeftOut]]:
    plan = declaration.analysis
    of_all = sum(len(_differences(analysis)) for analysis in analyses)
    together: dict[tuple[str, str, int], list[Analysis]] = {}
    planned: list[PlannedGroup] = []
    untested: list[LeftOut] = []
    pools_of = {id(analysis): _possible(analysis, plan, people) for analysis in analyses}
    for analysis in analyses:
        if not pools_of[id(analysis)]:
            outcome = analysis.outcome
            untested.append(LeftOut(outcome.name, outcome.group, outcome.role, TOO_FEW_MET))
            continue
        n_tests = of_all if plan.family == "all" else len(_differences(analysis))
        words = analysis.outcome.layout.words
        together.setdefault((analysis.outcome.group, words, n_tests), []).append(analysis)
    for (task, words, n_tests), own in together.items():
        first = own[0].outcome.layout
        pools = [each for analysis in own for each in pools_of[id(analysis)]]
        groups = " × ".join(plain_name(factor.name) for factor in first.between)
        corrects = plan.correction in ("holm", "bonferroni") and n_tests > 1
        over = "all outcomes" if plan.family == "all" else "an outcome"
        group = PlannedGroup(
            f"{task}: {words}",
            tuple(level for f in first.factors if f.name == "model" for level in f.levels),
            f"participants in each group of {groups}" if groups else "participants",
            f"analysis of variance and t of {'declared contrasts' if plan.contrasts else 'pairs'}",
            f"{'Holm begins with it' if plan.correction == 'holm' else 'Bonferroni'}, over the "
            f"contrasts of {over}; the analysis of variance is not corrected",
            n_tests,
            (LEVEL, LEVEL / n_tests) if corrects else (LEVEL,),
            {pool.metric: title for title, pool in pools},
            tuple(pool for _, pool in pools),
        )
        planned.append(group)
    return planned, untested


def _possible(
    analysis: Analysis, plan: AnalysisPlan, people: People
) -> list[tuple[str, SimulatedPool]]:
    """Titles and pools as of `_of_analysis`, without tests that nobody has the values for."""
    pools = (
        (title, replace(pool, tests=tuple(t for t in pool.tests if t.is_possible(pool))))
        for title, pool in _of_analysis(analysis, plan, people)
    )
    return [(title, pool) for title, pool in pools if pool.tests]


def _differences(analysis: Analysis) -> list[Comparison]:
    return [each for each in analysis.comparisons if each.direction != EQUIVALENT]


def _of_analysis(
    analysis: Analysis, plan: AnalysisPlan, people: People
) -> Iterator[tuple[str, SimulatedPool]]:
    """Titles and pools: one of the values that are tested, and where a raw bound is tested on
    values that are not transformed, one of these."""
    layout, name = analysis.outcome.layout, analysis.outcome.name
    words = name.replace("_", " ").removesuffix(" s")
    title = f"{words[:1].upper()}{words[1:]}"
    equal = [each for each in analysis.comparisons if each.direction == EQUIVALENT]
    alone = len(equal) == 1 and plan.family == "per_outcome"
    smallest = {effect.contrast: effect for effect in plan.smallest_of(name)}
    equivalences = [
        replace(
            _contrast(each, layout),
            name=f"{each.name} (equivalent)",
            bound=smallest[each.name].raw or smallest[each.name].standardised,
            standardised=smallest[each.name].raw is None,
            corrected=not alone,
        )
        for each in equal
    ]
    differences = [_contrast(each, layout) for each in _differences(analysis)]
    tests = [*_terms(layout.within, layout.between), *differences]
    # The one t test of two levels is the analysis of variance again.
    if len(tests) == 2 and tests[0].is_contrast:
        tests = tests[1:]
    if not analysis.transform:
        yield title, _pool(name, [*tests, *equivalences], analysis.frame, layout, people)
        return
    raw = [each for each in equivalences if not each.standardised]
    tests += [each for each in equivalences if each.standardised]
    yield f"{title}, {analysis.transform}", _pool(name, tests, analysis.frame, layout, people)
    if raw:
        metric = f"{name}, not transformed"
        yield (
            f"{title}, not transformed",
            _pool(metric, raw, analysis.outcome.frame, layout, people),
        )


def _pool(
    metric: str, tests: Sequence[PlannedTest], frame: pd.DataFrame, layout: Layout, people: People
) -> SimulatedPool:
    data = wide(frame, layout)
    codes = np.zeros(len(data.participants), np.intp)
    for at, factor in enumerate(layout.between):
        codes = codes * len(factor.levels) + data.groups[:, at]
    who = data.participants
    return SimulatedPool(metric, tuple(tests), data.values, codes, people.weights(who), who)


def _terms(within: Sequence[Factor], between: Sequence[Factor]) -> Iterator[PlannedTest]:
    """Every term: those between participants, then each within with those."""
    for inside in ((), *subsets(within)):
        for outside in ((), *subsets(between)):
            if not inside and not outside:
                continue
            names = [between[at].name for at in outside] + [within[at].name for at in inside]
            yield PlannedTest(
                f"F, {term_name(names)}",
                anova.build_contrasts(within, inside),
                anova.build_contrasts(between, outside, mean=True).T,
                corrected=False,
            )


def _contrast(comparison: Comparison, layout: Layout) -> PlannedTest:
    return PlannedTest(
        comparison.name,
        cell_weights(layout.within, comparison.weights)[:, None],
        cell_weights(layout.between, comparison.weights)[None, :],
        comparison.direction,
    )


SIZES = (3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 50, 60, 80, 100, 150, 200)
GOALS = (0.8, 0.9)
DRAWS = 1000
POOLS, POOL_DRAWS = 100, 200
"""Pools of simulated participants that are drawn from the pool for an interval, and studies drawn
from each."""
SCENARIO_DRAWS = 500


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
    pool: SimulatedPool

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
    """The power of the tests of each planned group."""
    return [
        GroupPower(
            group, tuple(test for pool in group.pools for test in _tests(pool, people, group, seed))
        )
        for group in groups
    ]


def _tests(pool: SimulatedPool, people: People, group: PlannedGroup, seed: int) -> list[TestPower]:
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


def _other_pools(
    pool: SimulatedPool, people: People, levels: Sequence[float], seed: int
) -> list[Floats]:
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
        drawn = pool.reweight(pool.weights * times)
        powers.append(curves(drawn, SIZES, levels, POOL_DRAWS, seed + number + 2))
    return powers


@dataclass(frozen=True, slots=True)
class Completion:
    """Share of the questions with one model that participants of a strategy (None: the mixture)
    solve: mean and standard deviation over n participants, 0-1."""

    strategy: str | None
    model: str
    n: int
    mean: float
    sd: float | None


def completions(people: People) -> list[Completion]:
    """The share of completed questions by model, starting with the mixture."""
    stages = people.tables.stages
    stages = stages[stages["completion_rate"].notna()]
    result = []
    for model in in_order(stages["model"]):
        own = stages[stages["model"] == model]
        rates = own["completion_rate"].to_numpy(np.float64)
        weights = people.weights(list(own["participant"]))
        mean = float(weights @ rates)
        sd = float(np.sqrt(weights @ np.square(rates - mean)))
        result.append(Completion(None, model, len(rates), mean, sd))
        strategies = own["participant"].map(people.strategies.get)
        for strategy in people.shares:
            some = rates[(strategies == strategy).to_numpy()]
            if some.size:
                spread = float(some.std(ddof=1)) if some.size > 1 else None
                result.append(Completion(strategy, model, some.size, float(some.mean()), spread))
    return result


def scenarios(people: People, powers: Sequence[GroupPower], seed: int) -> list[Scenario]:
    """The mixture as it is, all strategies alike, more of each strategy, and each alone."""
    usual = dict(people.shares)
    cases = {"as assumed": usual}
    if len(usual) > 1:
        cases["all the same"] = dict.fromkeys(usual, 1 / len(usual))
        for name in usual:
            cases[f"more {name}"] = more(usual, name)
        for name in usual:
            cases[f"only {name}"] = {strategy: float(strategy == name) for strategy in usual}
    found = []
    for name, shares in cases.items():
        # As it is, the mixture has its numbers already, and from more draws.
        needs = (
            {
                _key(power, test.metric, test.test): test.needs[LEVEL, GOALS[0]].n
                for power in powers
                for test in power.tests
            }
            if shares == usual
            else _estimate_needs(shares, people, powers, seed)
        )
        rates = completions(replace(people, shares=shares))
        completion = {rate.model: rate.mean for rate in rates if rate.strategy is None}
        found.append(Scenario(name, shares, completion, needs))
    return found


def more(shares: Mapping[str, float], name: str, by: float = 0.2) -> dict[str, float]:
    """A strategy's share raised by so much, at most to 1; the others shrink in proportion."""
    raised = min(1.0, shares[name] + by)
    rest = 1 - shares[name]
    factor = (1 - raised) / rest if rest > 0 else 0.0
    return {s: raised if s == name else share * factor for s, share in shares.items()}


def _estimate_needs(
    shares: Mapping[str, float], people: People, powers: Sequence[GroupPower], seed: int
) -> dict[tuple[str, str], int | None]:
    needs = {}
    for group_power in powers:
        # A metric has several pools where not everybody met every model.
        for pool in {id(test.pool): test.pool for test in group_power.tests}.values():
            drawn = pool.reweight(weights([people.strategies[n] for n in pool.people], shares))
            power = curves(drawn, SIZES, (LEVEL,), SCENARIO_DRAWS, seed)
            for at, test in enumerate(pool.tests):
                n = smallest(SIZES, power[:, 0, at], GOALS[0])
                needs[_key(group_power, pool.metric, test.name)] = int(n) if isfinite(n) else None
    return needs


def _key(power: GroupPower, metric: str, test: str) -> tuple[str, str]:
    return f"{power.group.name}: {metric}", test
