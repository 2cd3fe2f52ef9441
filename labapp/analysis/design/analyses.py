"""What is done with each outcome of a study, by its design: tests, means, contrasts, checks.

Where every participant has every cell: analysis of variance. Else a linear mixed model with a
random intercept of participants, and the analysis of variance of those who have every cell beside
it. Contrasts are the declared ones, or every pair of levels of factors with few; p is corrected
over the family that the study declares. Trials are analysed once more as a check of sensitivity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import exp, floor, log10, sqrt

import numpy as np
import pandas as pd

from labapp.analysis import inference
from labapp.analysis.declared import Declaration, factor_column
from labapp.analysis.design import anova, logistic, mixed
from labapp.analysis.design.anova import CONTRAST, EFFECT, EQUIVALENCE, MEAN, Comparison
from labapp.analysis.design.further import further_tests
from labapp.analysis.design.layout import (
    PARTICIPANT,
    VALUE,
    Factor,
    Floats,
    Layout,
    Wide,
    cell_codes,
    cell_count,
    level_words,
    plain_name,
    subsets,
    term_name,
    wide,
)
from labapp.analysis.design.sources import (
    ONE_LEVEL,
    POSITION,
    STIMULUS,
    LeftOut,
    Outcome,
    outcomes_of,
)
from labapp.analysis.inference import EQUIVALENT, TWO_SIDED, Direction
from labapp.analysis.statistic import Statistic, select
from labapp.analysis.tables import Tables
from labapp.analysis.task_records import Row
from labapp.study.design import MODEL, SmallestEffect

VALUES, TEST, CHECK, SENSITIVITY = "values", "test", "check", "sensitivity"
BACK, LEFT_OUT = "back-transformed", "left out"
RATIO, ODDS_RATIO = "ratio of geometric means", "odds ratio"
VARIANCE, MIXED = "analysis of variance", "linear mixed model"
TRIALS_MIXED, TRIALS_LOGISTIC = "trials, linear mixed model", "trials, logistic regression (GEE)"
MOST_EFFECTS = 600
"""Random effects, at most, in the models of trials that let effects differ between people."""
MOST_TRIALS = 20_000
RAW = "tests of equivalence with a bound in the unit of the outcome are of untransformed values"
NORMAL, SAME_VARIANCES = "Shapiro-Wilk W, residuals", "Brown-Forsythe F, groups"
BY_RANKS = "by ranks"


@dataclass(frozen=True)
class Cell:
    """The participants' values in one combination of levels."""

    levels: dict[str, str]
    values: Floats


@dataclass(frozen=True)
class Model:
    """A fitted model: its name, its participants and remarks on the fit."""

    name: str
    n: int
    n_left_out: int
    remarks: tuple[str, ...] = ()
    criterion: float | None = None
    """Of mixed models the REML criterion, by which fits are compared."""


@dataclass(frozen=True)
class Analysis:
    """All that is done with one outcome.

    Attributes
    ----------
    number : counts the analyses of all studies, from 1.
    transform : what was done to the values; empty for nothing.
    cells : the values, in the order of the rows that are of them.
    main : the model of the tests; means and contrasts are its own.
    beside : further models: of complete participants, of trials.
    comparisons : in the order of the rows that test them, those of equivalence last.
    rows : every number and test, as the table of statistics has them.
    complete : the analysis of variance of those who have every cell, if there is one.
    """

    number: int
    outcome: Outcome
    transform: str
    frame: pd.DataFrame
    trials: pd.DataFrame | None
    cells: tuple[Cell, ...]
    main: Model
    beside: tuple[Model, ...]
    comparisons: tuple[Comparison, ...]
    remarks: tuple[str, ...]
    rows: tuple[Statistic, ...]
    complete: anova.Variance | None = None

    @property
    def unit(self) -> str:
        """Of the values that are tested, such as log s."""
        return " ".join(filter(None, (self.transform, self.outcome.unit)))

    def is_raw(self, row: Statistic) -> bool:
        """Whether a test of equivalence is of values that are not transformed, as others are."""
        return bool(self.transform) and row.unit == self.outcome.unit

    def select(self, kind: str, **cells: object) -> list[Statistic]:
        """The rows of a kind that have these cells."""
        return select(self.rows, kind=kind, **cells)

    @property
    def decimals(self) -> int:
        """How many decimals the values of this outcome are written with: two, or as many as show
        two digits of their standard deviation; fewer for large values."""
        sds = [row.sd for row in self.select(VALUES) if row.sd]
        if not sds:
            return 2
        size = log10(sqrt(sum(sd * sd for sd in sds) / len(sds)))
        return max(0, 3 - int(size)) if size >= 2 else max(2, 1 - floor(size))

    @cached_property
    def shown(self) -> Analysis:
        """The analysis as pages and figures have it: a share in percent."""
        if self.outcome.unit != SHARE or self.transform:
            return self
        outcome = replace(self.outcome, unit="%")
        cells = tuple(replace(cell, values=100 * cell.values) for cell in self.cells)
        rows = tuple(map(in_percent, self.rows))
        return replace(self, outcome=outcome, cells=cells, rows=rows)


SHARE = "0-1"
"""The unit of shares."""
_IN_PERCENT = (VALUES, MEAN, CONTRAST, EQUIVALENCE)
_OF_UNIT = ("mean", "median", "sd", "standard_error", "low", "high", "difference", "bound")


def in_percent(row: Statistic) -> Statistic:
    """A row of a share with what has its unit in percent."""
    kind = row.kind if row.kind in _IN_PERCENT else row.model_name
    if row.unit != SHARE or kind not in (*_IN_PERCENT, TRIALS_MIXED):
        return row
    values = {name: getattr(row, name) for name in _OF_UNIT}
    made = {name: 100 * value for name, value in values.items() if value is not None}
    return replace(row, unit="%", **made)


@dataclass
class StudyAnalyses:
    """The analyses of one study, and what was left out."""

    study: str
    declaration: Declaration
    analyses: list[Analysis] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    @cached_property
    def shown(self) -> StudyAnalyses:
        """The analyses as pages and figures have them."""
        return replace(self, analyses=[analysis.shown for analysis in self.analyses])

    @property
    def rows(self) -> Iterator[Statistic]:
        """The rows of the table of statistics, outcome by outcome; what was left out is last."""
        for analysis in self.analyses:
            yield from analysis.rows
        for left in self.left_out:
            yield Statistic(
                study=self.study, group=left.group, quantity=left.name, role=left.role,
                kind=LEFT_OUT, ours=True, why=left.why,
            )  # fmt: skip


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
    result.analyses = _correct_tests(result.analyses, declaration)
    return result


def _correct_tests(analyses: Sequence[Analysis], declaration: Declaration) -> list[Analysis]:
    """With the corrected p of tests of differences and, in families of their own, of equivalence:
    they ask opposite questions."""
    plan = declaration.analysis
    numbers = [analysis.number for analysis in analyses]
    rows = [row for analysis in analyses for row in analysis.rows]
    for family in [numbers] if plan.family == "all" else [[number] for number in numbers]:
        for kind, asked in ((CONTRAST, "differences"), (EQUIVALENCE, "equivalence")):
            own = [at for at, row in enumerate(rows) if row.kind == kind and row.analysis in family]
            name = f"{plan.family}, {plan.correction}, {asked}"
            made = anova.correct_family([rows[at] for at in own], plan.correction, name)
            for at, row in zip(own, made, strict=True):
                rows[at] = row
    return [
        replace(analysis, rows=tuple(select(rows, analysis=analysis.number)))
        for analysis in analyses
    ]


def transform_values(values: Floats, transform: str) -> Floats:
    """NaN if a value has none."""
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
        values = transform_values(frame[VALUE].to_numpy(np.float64), transform)
        if lost := int(np.isnan(values).sum()):
            remarks.append(f"{lost} of {len(values)} values have no {transform} and are missing")
        frame = frame.assign(value=values)
        if trials is not None and not outcome.yes_no:
            own = transform_values(trials[VALUE].to_numpy(np.float64), transform)
            trials = trials.assign(value=own).dropna(subset=[VALUE]).reset_index(drop=True)
        frame = frame.dropna(subset=[VALUE]).reset_index(drop=True)
        outcome = replace(outcome, layout=outcome.layout.met_in(frame))
    layout = outcome.layout
    if layout.flat:
        why = "; ".join((*remarks, ONE_LEVEL.format(layout.flat)))
        return LeftOut(outcome.name, outcome.group, outcome.role, why)
    data = wide(frame, layout)
    everybody = np.isfinite(data.values).all(axis=1)
    gaps = not everybody.all()
    of_complete = anova.variance(data.complete)
    complete = None
    if isinstance(of_complete, anova.Variance):
        remark = (of_complete.remark,) if of_complete.remark else ()
        complete = Model(VARIANCE, of_complete.n, int((~everybody).sum()), remark)
    fitted = mixed.of_cells(frame, layout) if gaps else None
    beside: list[tuple[Model, list[Statistic]]] = []
    means: mixed.Mixed | anova.Variance
    if isinstance(fitted, mixed.Mixed):
        main, means = Model(MIXED, fitted.n, 0, fitted.remarks, fitted.criterion), fitted
        if complete is not None and isinstance(of_complete, anova.Variance):
            beside.append((complete, list(_terms(complete, of_complete, SENSITIVITY))))
    elif complete is None or isinstance(of_complete, str):
        why = (fitted and fitted.why) or str(of_complete)
        return LeftOut(outcome.name, outcome.group, outcome.role, why)
    else:
        main, means = complete, of_complete
        if fitted is not None:
            remarks.append(f"no linear mixed model: {fitted.why}")
    tests = list(_terms(main, means, TEST))
    if all(row.p is None for row in select(tests, kind=TEST)):
        why = next((row.why for row in tests if row.why), "")
        return LeftOut(outcome.name, outcome.group, outcome.role, why)
    comparisons, dropped = _comparisons(outcome, declaration)
    remarks += dropped
    differences = [
        row for each in comparisons for row in _test_comparison(means, each, layout, transform)
    ]
    equivalences, more = _equivalences(means, comparisons, outcome, declaration, transform)
    remarks += more
    further = further_tests(plan.further_tests, of_complete, comparisons, plan.bayes_prior_width)
    if by_trials:
        beside += _of_trials(trials, layout, outcome, comparisons, remarks)
    cells = tuple(_cells(data))
    rows = [
        *map(_cell_row, cells), *tests, *_means(means, layout, transform, outcome.unit),
        *differences, *(row for _, row in equivalences), *further,
        *(row for _, own in beside for row in own),
        *_checks(data, of_complete, frame, outcome), *(
            Statistic(kind=LEFT_OUT, why=remark) for remark in remarks
        ),
    ]  # fmt: skip
    about: Row = {
        "study": declaration.study, "analysis": number, "design": layout.words,
        "group": outcome.group, "quantity": outcome.name, "role": outcome.role,
        "transform": transform, "ours": True,
    }  # fmt: skip
    unit = " ".join(filter(None, (transform, outcome.unit)))
    return Analysis(
        number, outcome, transform, frame, trials, cells, main, tuple(model for model, _ in beside),
        (*comparisons, *(each for each, _ in equivalences)), tuple(remarks),
        tuple(
            replace(row, unit=row.unit if row.kind in (BACK, EQUIVALENCE) else unit, **about)
            for row in rows
        ),
        of_complete if isinstance(of_complete, anova.Variance) else None,
    )  # fmt: skip


def _cell_row(cell: Cell) -> Statistic:
    """What the values of a cell are, with the interval of their mean, each cell by itself."""
    values = cell.values
    made = Statistic(
        kind=VALUES, levels=level_words(cell.levels), model=cell.levels.get(MODEL, ""), test="mean",
        n=values.size,
    )  # fmt: skip
    if not values.size:
        return made
    mean, sd = float(values.mean()), inference.sd(values)
    made = replace(made, mean=mean, median=float(np.median(values)), sd=sd)
    if sd is None:
        return made
    error = sd / sqrt(values.size)
    half = inference.quantile(values.size - 1) * error
    return replace(made, standard_error=error, low=mean - half, high=mean + half)


def _terms(
    model: Model, fitted: mixed.Mixed | anova.Variance | logistic.Logistic, kind: str
) -> Iterator[Statistic]:
    """The tests of a model's terms, with what belongs to each."""
    remark = "; ".join(model.remarks)
    about: Row = {"n": model.n, "n_left_out": model.n_left_out, "model_name": model.name}
    for term in fitted.terms():
        for row in term.rows:
            why = "; ".join(filter(None, (row.why, remark if row is term.plain else "")))
            own = CHECK if row is term.sphericity else kind
            yield replace(row, kind=own, factors=term_name(term.factors), why=why, **about)


def _test_comparison(
    means: anova.Means, comparison: Comparison, layout: Layout, transform: str
) -> Iterator[Statistic]:
    """The test of a comparison, Cohen's d, and of logarithms the ratio."""
    rows = anova.compare(means, comparison, layout.factors)
    yield from rows
    if transform == "log" and rows[0].p is not None:
        ratio = anova.ratio(rows[0], RATIO)
        yield Statistic(kind=EFFECT, test=RATIO, **comparison.cells, **ratio.cells)


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


def _means(model: anova.Means, layout: Layout, transform: str, unit: str) -> Iterator[Statistic]:
    """Estimated means of the levels, in the unit of the tests and in the outcome's own."""
    for factor in layout.factors:
        for level in factor.levels:
            estimate = model.estimate({factor.name: {level: 1.0}})
            if isinstance(estimate, Statistic):
                continue
            of: Row = {
                "factors": plain_name(factor.name),
                "levels": level_words({factor.name: level}),
            }
            mean = anova.report_mean(estimate, **of)
            yield mean
            if transform:
                ends = (back(end or 0.0, transform) for end in (mean.mean, mean.low, mean.high))
                own: Row = dict(zip(("mean", "low", "high"), ends, strict=True))
                yield Statistic(kind=BACK, test=f"{BACK} mean", n=mean.n, unit=unit, **of, **own)


def _comparisons(outcome: Outcome, declaration: Declaration) -> tuple[list[Comparison], list[str]]:
    """The declared contrasts that can be made, why others cannot, or every pair of levels of the
    factors that have few."""
    factors = {factor.name: factor for factor in outcome.layout.factors}
    plan = declaration.analysis
    if not plan.contrasts:
        return anova.pairs(outcome.layout.factors), []
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
            dropped.append(
                f"no contrast “{contrast.name}”: the factor {absent} does not have two levels"
            )
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
    means: anova.Means,
    comparisons: Sequence[Comparison],
    outcome: Outcome,
    declaration: Declaration,
    transform: str,
) -> tuple[list[tuple[Comparison, Statistic]], list[str]]:
    tests: list[tuple[Comparison, Statistic]] = []
    remarks: dict[str, None] = {}
    for smallest in declaration.analysis.smallest_of(outcome.name):
        # A contrast that is tested in several directions is one difference.
        own = next((each for each in comparisons if each.name == smallest.contrast), None)
        if own is not None:
            test, told = _equivalence(means, own, smallest, outcome, transform)
            tests += [] if test is None else [(replace(own, direction=EQUIVALENT), test)]
            remarks |= dict.fromkeys(told)
    return tests, list(remarks)


def _equivalence(
    means: anova.Means, own: Comparison, smallest: SmallestEffect, outcome: Outcome, transform: str
) -> tuple[Statistic | None, list[str]]:
    """The test of equivalence of a contrast, and remarks on it; None if there is none."""
    remarks, unit = [], " ".join(filter(None, (transform, outcome.unit)))
    estimate = means.estimate(own.weights)
    if smallest.raw is not None and transform and not isinstance(estimate, Statistic):
        # The bound is in the outcome's own unit: so is the test.
        untransformed = anova.variance(wide(outcome.frame, outcome.layout).complete)
        estimate = (
            untransformed.estimate(own.weights)
            if isinstance(untransformed, anova.Variance)
            else inference.outcome("t", why=untransformed)
        )
        why = estimate.why if isinstance(estimate, Statistic) else ""
        remarks.append(f"no test of equivalence: {why}" if why else RAW)
        unit = outcome.unit
    if isinstance(estimate, Statistic):
        return None, remarks
    bound = smallest.raw
    if bound is None:
        bound = (smallest.standardised or 0.0) * estimate.spread
    return replace(anova.equivalence(own, estimate, bound), unit=unit), remarks


def _of_trials(
    trials: pd.DataFrame | None,
    layout: Layout,
    outcome: Outcome,
    comparisons: Sequence[Comparison],
    remarks: list[str],
) -> list[tuple[Model, list[Statistic]]]:
    if trials is None or len(trials) <= len(outcome.frame) or not layout.factors:
        return []
    n = trials[PARTICIPANT].nunique()
    if outcome.yes_no:
        odds = logistic.of_trials(trials, layout)
        if isinstance(odds, Statistic):
            remarks.append(f"no logistic regression of trials: {odds.why}")
            return []
        model = Model(TRIALS_LOGISTIC, n, 0, odds.remarks)
        return [(model, list(_sensitivity(model, odds, layout, comparisons)))]
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
    if isinstance(fitted, Statistic):
        remarks.append(f"no mixed model of trials: {fitted.why}")
        return []
    notes = list(fitted.remarks)
    if stimulus is None:
        notes.append(
            "without random effects of stimuli, because no two participants saw the same one"
        )
    if n_effects > MOST_EFFECTS:
        notes.append(
            "without random slopes for the factors within participants: there would be "
            f"more than {MOST_EFFECTS}"
        )
    effects = ", ".join(f"({name})" for name in fitted.sds if name != "residual")
    notes.append(f"random effects {effects}")
    model = Model(TRIALS_MIXED, n, 0, tuple(notes), fitted.criterion)
    return [(model, list(_sensitivity(model, fitted, layout, comparisons)))]


def _sensitivity(
    model: Model,
    fitted: mixed.Mixed | logistic.Logistic,
    layout: Layout,
    comparisons: Sequence[Comparison],
) -> Iterator[Statistic]:
    """The tests of a model of trials; comparisons of yes or no are log odds, with the odds ratio.
    p is not corrected."""
    yield from _terms(model, fitted, SENSITIVITY)
    for comparison in comparisons:
        row, *_ = anova.compare(fitted, comparison, layout.factors)
        row = replace(row, kind=SENSITIVITY, model_name=model.name)
        if row.p is not None:
            row = replace(row, n=model.n)
            if model.name == TRIALS_LOGISTIC:
                row = replace(row, **anova.ratio(row, ODDS_RATIO).cells)
        yield row


def _checks(
    data: Wide, complete: anova.Variance | str, frame: pd.DataFrame, outcome: Outcome
) -> Iterator[Statistic]:
    """What the tests assume, the place in the order, and tests by ranks."""
    layout = data.layout
    if isinstance(complete, anova.Variance):
        whole = complete.wide
        yield _check(inference.normality(complete.residuals(), whole.size), NORMAL)
        if layout.between:
            means = whole.values.mean(axis=1)
            cells = [tuple(row) for row in whole.groups]
            samples = [means[[cell == own for own in cells]] for cell in sorted(set(cells))]
            yield _check(inference.same_variances(samples), SAME_VARIANCES)
        for factor, test in _by_ranks(whole, outcome):
            yield _check(test, f"{BY_RANKS}: {test.test}", factor)
    if layout.within and POSITION in frame and frame[POSITION].nunique() > 1:
        levels = tuple(str(int(at)) for at in sorted(frame[POSITION].dropna().unique()))
        position = Factor(POSITION, levels, within=True, additive=True)
        texts = frame.dropna(subset=[POSITION])
        texts = texts.assign(**{POSITION: texts[POSITION].astype(int).astype(str)})
        fitted = mixed.of_cells(texts, Layout((*layout.factors, position), layout.covariates))
        if isinstance(fitted, Statistic):
            test = fitted
        else:
            test = next(term.plain for term in fitted.terms() if term.factors == (POSITION,))
        yield _check(test, f"{POSITION}: {test.test}", POSITION)


def _check(test: Statistic, name: str, factor: str = "") -> Statistic:
    return replace(test, kind=CHECK, factors=plain_name(factor), test=name)


def _by_ranks(data: Wide, outcome: Outcome) -> Iterator[tuple[str, Statistic]]:
    layout = data.layout
    if not outcome.steps or layout.covariates:
        return
    for place, factor in enumerate(layout.within):
        codes = cell_codes(layout.within)[:, place]
        by_level = np.column_stack(
            [data.values[:, codes == at].mean(axis=1) for at in range(len(factor.levels))]
        )
        if len(factor.levels) > 2:
            yield factor.name, inference.friedman(by_level)
        else:
            yield factor.name, inference.signed_rank(by_level[:, 0] - by_level[:, 1])
    means = data.values.mean(axis=1)
    for place, factor in enumerate(layout.between):
        samples = [means[data.groups[:, place] == at] for at in range(len(factor.levels))]
        several = len(samples) > 2
        test = inference.kruskal(samples) if several else inference.rank_sum(*samples)
        yield factor.name, test
