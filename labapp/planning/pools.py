"""What is planned by simulation: the analyses of a study as tests of pools of simulated people.

A study that declares a published study's analysis is planned with that one's tests; what it
declares itself, and every other study, with the analyses by the design, as `labapp analyze` makes
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations
from math import sqrt

import numpy as np
import pandas as pd

from labapp.analysis.declared import Declaration, declared_of
from labapp.analysis.design import anova
from labapp.analysis.design.analyses import Analysis, analyse
from labapp.analysis.design.contrasts import Comparison
from labapp.analysis.design.layout import Factor, Layout, cell_weights, kron, subsets, wide
from labapp.analysis.design.rows import design_words, plain_name, term_name
from labapp.analysis.design.sources import LeftOut
from labapp.analysis.task_report import ComparedModels, reports
from labapp.planning.people import People
from labapp.planning.power import Floats, PlannedTest, Pool
from labapp.study.design import AnalysisPlan

LEVEL = 0.05
ALL = "all models"
QUESTIONNAIRE = (
    "what simulated people answer to questionnaires says nothing of what people would: plan it "
    "with --contrasts, and a pilot study"
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
    pools: tuple[Pool, ...]


def planned_groups(people: People) -> tuple[list[PlannedGroup], list[LeftOut]]:
    """What is planned of the participants who count, and what is not, and why."""
    counted = people.tables.included()
    groups = list(_of_profiles(people))
    left_out: list[LeftOut] = []
    for study in sorted({str(name) for name in counted.participants["study"]}):
        declaration = declared_of(counted, study)
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
        groups += _of_analyses(done, declaration, people)
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


def _of_models(group: ComparedModels, metric: str, people: People) -> Pool:
    table = group.values.pivot_table(
        index="participant", columns="model", values=metric, dropna=False
    ).reindex(columns=list(group.models))
    table = table.dropna(how="all")
    values = table.to_numpy(np.float64)
    who = tuple(str(name) for name in table.index)
    weights = people.weights(who)
    if group.within:
        alone = np.zeros(len(values), np.intp)
        return Pool(metric, within_tests(group.models), values, alone, weights, who)
    met = np.isfinite(values).argmax(axis=1).astype(np.intp)
    own = values[np.arange(len(values)), met][:, None]
    return Pool(metric, between_tests(group.models), own, met, weights, who)


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
) -> Iterator[PlannedGroup]:
    plan = declaration.analysis
    of_all = sum(len(analysis.compared) for analysis in analyses)
    together: dict[tuple[str, str, int], list[Analysis]] = {}
    for analysis in analyses:
        n_tests = of_all if plan.family == "all" else len(analysis.compared)
        words = design_words(analysis.outcome.layout)
        together.setdefault((analysis.outcome.group, words, n_tests), []).append(analysis)
    for (task, words, n_tests), own in together.items():
        first = own[0].outcome.layout
        pools = [each for analysis in own for each in _of_analysis(analysis, plan, people)]
        groups = " × ".join(plain_name(factor.name) for factor in first.between)
        corrects = plan.correction in ("holm", "bonferroni") and n_tests > 1
        over = "all outcomes" if plan.family == "all" else "an outcome"
        yield PlannedGroup(
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


def _of_analysis(
    analysis: Analysis, plan: AnalysisPlan, people: People
) -> Iterator[tuple[str, Pool]]:
    """Titles and pools: one of the values that are tested, and where a raw bound is tested on
    values that are not transformed, one of these."""
    layout, name = analysis.outcome.layout, analysis.outcome.name
    words = name.replace("_", " ").removesuffix(" s")
    title = f"{words[:1].upper()}{words[1:]}"
    alone = len(analysis.equivalences) == 1 and plan.family == "per_outcome"
    raw = name in plan.smallest_effect and plan.smallest_effect[name].raw is not None
    equivalences = [
        replace(
            _contrast(each.comparison, layout),
            name=f"{each.comparison.name} (equivalent)",
            bound=plan.smallest_effect[name].raw or plan.smallest_effect[name].standardised,
            standardised=not raw,
            corrected=not alone,
        )
        for each in analysis.equivalences
    ]
    differences = [_contrast(each.comparison, layout) for each in analysis.compared]
    tests = [*_terms(layout.within, layout.between), *differences]
    # The one t test of two levels is the analysis of variance again.
    if len(tests) == 2 and tests[0].is_contrast:
        tests = tests[1:]
    if not analysis.transform:
        yield title, _pool(name, [*tests, *equivalences], analysis.frame, layout, people)
        return
    tests += [] if raw else equivalences
    yield f"{title}, {analysis.transform}", _pool(name, tests, analysis.frame, layout, people)
    if raw and equivalences:
        metric = f"{name}, not transformed"
        yield (
            f"{title}, not transformed",
            _pool(metric, equivalences, analysis.outcome.frame, layout, people),
        )


def _pool(
    metric: str,
    tests: Sequence[PlannedTest],
    frame: pd.DataFrame,
    layout: Layout,
    people: People,
) -> Pool:
    data = wide(frame, layout)
    codes = np.zeros(len(data.participants), np.intp)
    for at, factor in enumerate(layout.between):
        codes = codes * len(factor.levels) + data.groups[:, at]
    who = data.participants
    return Pool(metric, tuple(tests), data.values, codes, people.weights(who), who)


def _terms(within: Sequence[Factor], between: Sequence[Factor]) -> Iterator[PlannedTest]:
    """Every term: those between participants, then each within with those."""
    for inside in ((), *subsets(within)):
        for outside in ((), *subsets(between)):
            if not inside and not outside:
                continue
            names = [between[at].name for at in outside] + [within[at].name for at in inside]
            yield PlannedTest(
                f"F, {term_name(names)}",
                _coded(within, inside),
                _coded(between, outside, mean=True).T,
                corrected=False,
            )


def _coded(factors: Sequence[Factor], named: Sequence[int], *, mean: bool = False) -> Floats:
    """Orthonormal contrasts of the named factors, over the others the mean (or the sum in units of
    length 1)."""
    return reduce(
        kron,
        [
            anova.orthonormal(len(factor.levels))
            if at in named
            else np.full(
                (len(factor.levels), 1),
                1 / len(factor.levels) if mean else 1 / sqrt(len(factor.levels)),
            )
            for at, factor in enumerate(factors)
        ],
        np.ones((1, 1)),
    )


def _contrast(comparison: Comparison, layout: Layout) -> PlannedTest:
    return PlannedTest(
        comparison.name,
        cell_weights(layout.within, comparison.weights)[:, None],
        cell_weights(layout.between, comparison.weights)[None, :],
        comparison.direction,
    )
