"""What is done with each outcome of a study, by its design: tests, means, contrasts, checks.

Where every participant has every cell: analysis of variance. Else a linear mixed model with a
random intercept of participants, and the analysis of variance of those who have every cell beside
it. Contrasts are the declared ones, or every pair of levels; p is corrected over the family that
the study declares. Trials are analysed once more as a check of sensitivity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import exp

import numpy as np
import pandas as pd

from labapp.analysis import inference
from labapp.analysis.declared import Declaration, factor_column
from labapp.analysis.design import anova, contrasts, logistic, mixed
from labapp.analysis.design.contrasts import EQUIVALENT, TWO_SIDED, Compared, Comparison, Direction
from labapp.analysis.design.layout import (
    PARTICIPANT,
    VALUE,
    Factor,
    Floats,
    Layout,
    Wide,
    cell_codes,
    cell_count,
    subsets,
    wide,
)
from labapp.analysis.design.sources import POSITION, STIMULUS, LeftOut, Outcome, outcomes_of
from labapp.analysis.inference import Outcome as Test
from labapp.analysis.tables import Tables

VARIANCE, MIXED = "analysis of variance", "linear mixed model"
TRIALS_MIXED, TRIALS_LOGISTIC = "trials, linear mixed model", "trials, logistic regression (GEE)"
MOST_EFFECTS = 600
"""Random effects, at most, in the models of trials that let effects differ between people."""
MOST_TRIALS = 20_000
RAW = "the test of equivalence is of values that are not transformed"
NORMAL, SAME_VARIANCES = "Shapiro-Wilk W, residuals", "Brown-Forsythe F, groups"


@dataclass(frozen=True)
class Cell:
    """The participants' values in one combination of levels."""

    levels: dict[str, str]
    values: Floats


@dataclass(frozen=True)
class Line:
    """A test of a term. term: names of its factors; test: what it came to."""

    term: tuple[str, ...]
    test: Test
    of: anova.Term | None = None


@dataclass(frozen=True)
class Model:
    """A fitted model: what it is called, who is in it, its tests, and what is to be known of it."""

    name: str
    n: int
    n_left_out: int
    lines: tuple[Line, ...]
    remarks: tuple[str, ...] = ()
    compared: tuple[Compared, ...] = ()
    """Of models of trials: the comparisons, with p that is not corrected."""
    criterion: float | None = None
    """Of mixed models the REML criterion, by which fits are compared."""


@dataclass(frozen=True)
class Analysis:
    """All that is done with one outcome.

    Attributes
    ----------
    number : counts the analyses of all studies, from 1.
    transform : what was done to the values; empty for nothing.
    main : the model of the tests; means and contrasts are its own.
    means : by factor, estimated means of its levels, in the unit of the tests.
    compared, equivalences : tests of differences, and of equivalence; families of their own.
    beside : further models: of complete participants, of trials.
    checks : what the tests assume, by name.
    """

    number: int
    outcome: Outcome
    transform: str
    frame: pd.DataFrame
    trials: pd.DataFrame | None
    cells: tuple[Cell, ...]
    main: Model
    means: tuple[Compared, ...] = ()
    compared: tuple[Compared, ...] = ()
    equivalences: tuple[Compared, ...] = ()
    beside: tuple[Model, ...] = ()
    checks: tuple[tuple[str, tuple[str, ...], Test], ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """Of the values that are tested, such as log s."""
        return " ".join(filter(None, (self.transform, self.outcome.unit)))

    @property
    def raw_equivalence(self) -> bool:
        """Whether the test of equivalence is of values that are not transformed."""
        return bool(self.transform) and RAW in self.remarks


@dataclass
class StudyAnalyses:
    """The analyses of one study, and what was left out."""

    study: str
    declaration: Declaration
    analyses: list[Analysis] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)


def analyse(
    counted: Tables, declaration: Declaration, first: int = 1, *, by_trials: bool = True
) -> StudyAnalyses:
    """Every outcome of a study. counted: its rows of sessions that count; first: the number of the
    first analysis; by_trials: with the models of trials."""
    outcomes = outcomes_of(counted, declaration)
    declaration = outcomes.declaration
    result = StudyAnalyses(declaration.study, declaration, left_out=list(outcomes.left_out))
    for outcome in outcomes.analysed:
        analysis = _analysis(
            outcome, declaration, first + len(result.analyses), by_trials=by_trials
        )
        if isinstance(analysis, LeftOut):
            result.left_out.append(analysis)
        else:
            result.analyses.append(analysis)
    result.analyses = _corrected(result.analyses, declaration)
    return result


def _corrected(analyses: Sequence[Analysis], declaration: Declaration) -> list[Analysis]:
    """With the corrected p of tests of differences and, in families of their own, of equivalence:
    they ask opposite questions."""
    plan = declaration.analysis
    families = [analyses] if plan.family == "all" else [[analysis] for analysis in analyses]
    made = []
    for family in families:
        differences = iter(
            contrasts.corrected([c for a in family for c in a.compared], plan.correction)
        )
        equivalences = iter(
            contrasts.corrected([c for a in family for c in a.equivalences], plan.correction)
        )
        made += [
            replace(
                analysis,
                compared=tuple(next(differences) for _ in analysis.compared),
                equivalences=tuple(next(equivalences) for _ in analysis.equivalences),
            )
            for analysis in family
        ]
    return made


def transformed(values: Floats, transform: str) -> Floats:
    """NaN where a value has none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if transform == "log":
            made = np.log(values)
        elif transform == "sqrt":
            made = np.sqrt(values)
        elif transform == "logit":
            made = np.log(values / (1 - values))
        else:
            return values
    return np.where(np.isfinite(made), made, np.nan)


def back(value: float, transform: str) -> float:
    """A transformed value in the outcome's own unit."""
    if transform == "log":
        return exp(value)
    if transform == "sqrt":
        return max(value, 0.0) ** 2
    return 1 / (1 + exp(-value)) if transform == "logit" else value


def _analysis(
    outcome: Outcome, declaration: Declaration, number: int, *, by_trials: bool
) -> Analysis | LeftOut:
    plan = declaration.analysis
    transform = plan.transform.get(outcome.name, "")
    frame, remarks = outcome.frame, list(outcome.remarks)
    trials = outcome.trials
    if transform:
        values = transformed(frame[VALUE].to_numpy(np.float64), transform)
        if lost := int(np.isnan(values).sum()):
            remarks.append(f"{lost} of {len(values)} values have no {transform} and are missing")
        frame = frame.assign(value=values)
        if trials is not None and not outcome.yes_no:
            own = transformed(trials[VALUE].to_numpy(np.float64), transform)
            trials = trials.assign(value=own).dropna(subset=[VALUE]).reset_index(drop=True)
        frame = frame.dropna(subset=[VALUE]).reset_index(drop=True)
    layout = outcome.layout
    data = wide(frame, layout)
    everybody = np.isfinite(data.values).all(axis=1)
    gaps = not everybody.all()
    of_complete = anova.variance(data.complete)
    complete = None
    if isinstance(of_complete, anova.Variance):
        complete = Model(
            VARIANCE, of_complete.n, int((~everybody).sum()),
            tuple(Line(term.factors, term.plain, term) for term in of_complete.terms()),
            (of_complete.remark,) if of_complete.remark else (),
        )  # fmt: skip
    beside: list[Model] = []
    means: contrasts.Means
    if gaps:
        fitted = mixed.of_cells(frame, layout)
        if isinstance(fitted, Test):
            why = fitted.why if complete is None else ""
            if complete is None or isinstance(of_complete, str):
                why = why or str(of_complete)
                return LeftOut(outcome.name, outcome.group, outcome.role, why)
            remarks.append(f"no linear mixed model: {fitted.why}")
            main, means = complete, of_complete
        else:
            lines = tuple(Line(term, test) for term, test in fitted.terms())
            main = Model(MIXED, fitted.n, 0, lines, fitted.remarks, (), fitted.criterion)
            means = fitted
            if complete is not None:
                beside.append(complete)
    elif complete is None or isinstance(of_complete, str):
        return LeftOut(outcome.name, outcome.group, outcome.role, str(of_complete))
    else:
        main, means = complete, of_complete
    if all(line.test.p is None for line in main.lines):
        why = next((line.test.why for line in main.lines if line.test.why), "")
        return LeftOut(outcome.name, outcome.group, outcome.role, why)
    comparisons, dropped = _comparisons(outcome, declaration)
    remarks += dropped
    compared = [contrasts.compare(means, each, layout.factors) for each in comparisons]
    equivalences, more = _equivalences(compared, outcome, declaration, transform)
    remarks += more
    if by_trials:
        beside += _of_trials(trials, layout, outcome, comparisons, remarks)
    return Analysis(
        number, outcome, transform, frame, trials, tuple(_cells(data)), main,
        tuple(_means(means, layout)), tuple(compared), tuple(equivalences), tuple(beside),
        tuple(_checks(data, of_complete, frame, outcome, comparisons)), tuple(remarks),
    )  # fmt: skip


def _cells(data: Wide) -> Iterator[Cell]:
    layout = data.layout
    codes = cell_codes(layout.within) if layout.within else np.zeros((1, 0), np.intp)
    groups = cell_codes(layout.between) if layout.between else np.zeros((1, 0), np.intp)
    for group in groups:
        own = (data.groups == group).all(axis=1)
        between = {f.name: f.levels[at] for f, at in zip(layout.between, group, strict=True)}
        for place, cell in enumerate(codes):
            within = {f.name: f.levels[at] for f, at in zip(layout.within, cell, strict=True)}
            values = data.values[own, place]
            yield Cell({**between, **within}, values[np.isfinite(values)])


def _means(model: contrasts.Means, layout: Layout) -> Iterator[Compared]:
    for factor in layout.factors:
        for level in factor.levels:
            comparison = Comparison(level, {factor.name: {level: 1.0}}, pair=None)
            yield contrasts.compare(model, comparison, ())


def _comparisons(outcome: Outcome, declaration: Declaration) -> tuple[list[Comparison], list[str]]:
    """The declared contrasts that can be made, why others cannot, or every pair."""
    factors = {factor.name: factor for factor in outcome.layout.factors}
    plan = declaration.analysis
    if not plan.contrasts:
        return contrasts.pairs(outcome.layout.factors), []
    comparisons, dropped = [], []
    for contrast in plan.contrasts:
        weights = {}
        for factor, levels in contrast.weights.items():
            name = factor_column(factor)
            # Measured groups stand under their own names.
            name = name if name in factors else name.removeprefix("factor_")
            weights[name] = {str(level): weight for level, weight in levels.items()}
        if missing := [name for name in weights if name not in factors]:
            absent = ", ".join(name.removeprefix("factor_") for name in missing)
            dropped.append(f"no contrast “{contrast.name}”: the factor {absent} has no two levels")
            continue
        if absent_levels := [
            level
            for name, own in weights.items()
            for level, weight in own.items()
            if weight and level not in factors[name].levels
        ]:
            named = ", ".join(absent_levels)
            dropped.append(f"no contrast “{contrast.name}”: nobody has {named}")
            continue
        directions: list[Direction] = [
            hypothesis.direction
            for hypothesis in declaration.hypotheses
            if hypothesis.outcome == outcome.name
            and hypothesis.contrast == contrast.name
            and hypothesis.direction != EQUIVALENT
        ]
        comparisons += [
            Comparison(contrast.name, weights, direction)
            for direction in dict.fromkeys(directions or [TWO_SIDED])
        ]
    return comparisons, dropped


def _equivalences(
    compared: Sequence[Compared],
    outcome: Outcome,
    declaration: Declaration,
    transform: str,
) -> tuple[list[Compared], list[str]]:
    smallest = declaration.analysis.smallest_effect.get(outcome.name)
    result: list[Compared] = []
    remarks: list[str] = []
    if smallest is None:
        return result, remarks
    for each in compared:
        # A contrast that is tested in several directions is one difference.
        if each.comparison.name != smallest.contrast or each.estimate is None or result:
            continue
        estimate = each.estimate
        if smallest.raw is not None and transform:
            # The bound is in the outcome's own unit: so is the test.
            untransformed = anova.variance(wide(outcome.frame, outcome.layout).complete)
            plain = (
                untransformed.estimate(each.comparison.weights)
                if isinstance(untransformed, anova.Variance)
                else Test("t", why=untransformed)
            )
            if isinstance(plain, Test):
                remarks.append(f"no test of equivalence: {plain.why}")
                continue
            estimate = plain
            remarks.append(RAW)
        bound = smallest.raw
        if bound is None:
            bound = (smallest.standardised or 0.0) * estimate.spread
        result.append(contrasts.equivalence(each.comparison, estimate, bound))
    return result, remarks


def _of_trials(
    trials: pd.DataFrame | None,
    layout: Layout,
    outcome: Outcome,
    comparisons: Sequence[Comparison],
    remarks: list[str],
) -> list[Model]:
    if trials is None or len(trials) <= len(outcome.frame) or not layout.factors:
        return []
    n = trials[PARTICIPANT].nunique()
    if outcome.yes_no:
        odds = logistic.of_trials(trials, layout)
        if isinstance(odds, Test):
            remarks.append(f"no logistic regression of trials: {odds.why}")
            return []
        lines = tuple(Line(term, test) for term, test in odds.terms())
        compared = tuple(contrasts.compare(odds, each, layout.factors) for each in comparisons)
        return [Model(TRIALS_LOGISTIC, n, 0, lines, odds.remarks, compared)]
    if len(trials) > MOST_TRIALS:
        remarks.append(f"no mixed model of trials: there are more than {MOST_TRIALS:,}")
        return []
    stimuli = trials[STIMULUS].nunique()
    together = trials.groupby(STIMULUS)[PARTICIPANT].nunique()
    stimulus = STIMULUS if stimuli and float(together.mean()) >= 2 else None
    met = sum(
        cell_count([layout.within[place] for place in places]) for places in subsets(layout.within)
    )
    n_effects = n * (1 + met) + (stimuli if stimulus else 0)
    fitted = mixed.of_trials(trials, layout, stimulus, cells=n_effects <= MOST_EFFECTS)
    if isinstance(fitted, Test):
        remarks.append(f"no mixed model of trials: {fitted.why}")
        return []
    notes = list(fitted.remarks)
    if stimulus is None:
        notes.append("without random effects of stimuli, which no two participants share")
    if n_effects > MOST_EFFECTS:
        notes.append(
            "without random effects of participants by the factors within them: there would be "
            f"more than {MOST_EFFECTS}"
        )
    effects = ", ".join(f"({name})" for name in fitted.sds if name != "residual")
    notes.append(f"random effects {effects}")
    lines = tuple(Line(term, test) for term, test in fitted.terms())
    compared = tuple(contrasts.compare(fitted, each, layout.factors) for each in comparisons)
    return [Model(TRIALS_MIXED, n, 0, lines, tuple(notes), compared, fitted.criterion)]


def _checks(
    data: Wide,
    complete: anova.Variance | str,
    frame: pd.DataFrame,
    outcome: Outcome,
    comparisons: Sequence[Comparison],
) -> Iterator[tuple[str, tuple[str, ...], Test]]:
    """What the tests assume, the place in the order, and tests by ranks."""
    layout = data.layout
    if isinstance(complete, anova.Variance):
        yield NORMAL, (), inference.normality(complete.residuals())
        whole = complete.wide
        if layout.between:
            means = whole.values.mean(axis=1)
            cells = [tuple(row) for row in whole.groups]
            samples = [means[[cell == own for own in cells]] for cell in sorted(set(cells))]
            yield SAME_VARIANCES, (), inference.same_variances(samples)
        yield from _by_ranks(whole, outcome, comparisons)
    if layout.within and POSITION in frame and frame[POSITION].nunique() > 1:
        levels = tuple(str(int(at)) for at in sorted(frame[POSITION].dropna().unique()))
        position = Factor(POSITION, levels, within=True, additive=True)
        texts = frame.dropna(subset=[POSITION])
        texts = texts.assign(**{POSITION: texts[POSITION].astype(int).astype(str)})
        fitted = mixed.of_cells(texts, Layout((*layout.factors, position), layout.covariates))
        if isinstance(fitted, Test):
            yield POSITION, (POSITION,), fitted
        else:
            tests = dict(fitted.terms())
            yield POSITION, (POSITION,), tests[(POSITION,)]


def _by_ranks(
    data: Wide, outcome: Outcome, comparisons: Sequence[Comparison]
) -> Iterator[tuple[str, tuple[str, ...], Test]]:
    layout = data.layout
    if not outcome.steps or layout.covariates:
        return
    for place, factor in enumerate(layout.within):
        codes = cell_codes(layout.within)[:, place]
        by_level = np.column_stack(
            [data.values[:, codes == at].mean(axis=1) for at in range(len(factor.levels))]
        )
        if len(factor.levels) > 2:
            yield "by ranks", (factor.name,), inference.friedman(by_level)
        else:
            differences = by_level[:, 0] - by_level[:, 1]
            yield "by ranks", (factor.name,), inference.signed_rank(differences)
    means = data.values.mean(axis=1)
    for place, factor in enumerate(layout.between):
        samples = [means[data.groups[:, place] == at] for at in range(len(factor.levels))]
        yield (
            "by ranks",
            (factor.name,),
            (
                inference.kruskal(samples)
                if len(samples) > 2
                else inference.rank_sum(samples[0], samples[1])
            ),
        )
