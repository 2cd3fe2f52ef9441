"""One metric over the models of a group: summaries, tests and effects (paper 000, section 6).

As the paper: repeated-measures ANOVA and paired t tests where participants met several models,
one-way ANOVA and independent t tests with pooled variance where each met one. All else is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations
from math import sqrt

import numpy as np
import pandas as pd
from scipy import stats

from labapp.analysis import effects, inference, variance
from labapp.analysis.columns import Metric
from labapp.analysis.design import anova, mixed
from labapp.analysis.inference import FEW, SAME, Outcome, Values
from labapp.analysis.variance import MAUCHLY, Matrix
from labapp.profiles.interactive_reconstruction.groups import metrics_of
from labapp.profiles.interactive_reconstruction.results import (
    Compared,
    Group,
    Omnibus,
    Pair,
    Summary,
)

RESIDUALS = "normal residuals"
DIFFERENCES = "normal differences"
VARIANCES = "same variances"
SPHERICITY = "sphericity"
WITHOUT_SPHERICITY = "without sphericity"
SUM_ERROR, MEAN_ERROR = "error_auc_sum", "error_auc_mean"
_SAME = 1e-9
ONE_WAY, REPEATED = "one-way ANOVA", "repeated-measures ANOVA"
GREENHOUSE_GEISSER = "repeated-measures ANOVA, Greenhouse-Geisser"


def comparisons(group: Group) -> tuple[Compared, ...]:
    """Every metric with a value, in the order of the report, with the paper's tests where the study
    declares its analysis; nothing is corrected here."""
    known = [metric for metric in metrics_of(group.task) if metric.column in group.values]
    return tuple(
        _compared(group, metric, repeated_metric(group.values, metric), group.follows)
        for metric in known
    )


def repeated_metric(values: pd.DataFrame, metric: Metric) -> str:
    """The metric of which this one is a multiple: of pictures of one size the error is, as a sum
    or as a mean over the pixels."""
    if metric.column != MEAN_ERROR or SUM_ERROR not in values:
        return ""
    mean, total = (values[name].to_numpy(np.float64) for name in (MEAN_ERROR, SUM_ERROR))
    if (np.isnan(mean) != np.isnan(total)).any() or not np.nansum(total):
        return ""
    factor = np.nansum(mean) / np.nansum(total)
    same = np.allclose(mean, factor * total, rtol=_SAME, atol=0, equal_nan=True)
    return SUM_ERROR if same else ""


def _compared(group: Group, metric: Metric, repeats: str, tests: bool) -> Compared:
    matrix = matrix_of(group, metric)
    samples = {model: inference.values_of(matrix[:, at]) for at, model in enumerate(group.models)}
    several = tests and sum(sample.size > 0 for sample in samples.values()) > 1
    compare = _within if group.within else _between
    omnibus, pairs, checks = compare(group.models, matrix) if several else (None, (), {})
    gaps = group.within and several and bool(np.isnan(matrix).any())
    return Compared(
        metric=metric,
        summaries={model: summary(own) for model, own in samples.items()},
        omnibus=omnibus,
        pairs=pairs,
        checks=checks,
        mixed=mixed.wald(matrix) if gaps else None,
        repeats=repeats,
    )


def names_of(check: str, models: Iterable[str]) -> tuple[str | None, str | None]:
    """The two models that a check is of, where it is of a difference."""
    for pair, other in combinations(models, 2):
        if check == f"{DIFFERENCES}, {pair} − {other}":
            return pair, other
    return None, None


def matrix_of(group: Group, metric: Metric) -> Matrix:
    """Values of shape (participants with a value, models); NaN where there is none."""
    wide = group.values.pivot_table(
        index="participant", columns="model", values=metric.column, dropna=False
    ).reindex(columns=list(group.models))
    return wide.dropna(how="all").to_numpy(np.float64)


def summary(values: Values) -> Summary:
    """Of the values of one model."""
    if values.size == 0:
        return Summary(0, None, None, None, None)
    return Summary(
        n=values.size,
        mean=float(values.mean()),
        sd=inference.sd(values),
        sd_population=float(values.std()),
        median=float(np.median(values)),
    )


_Ends = tuple[float | None, float | None]
_Tested = tuple[Omnibus | None, tuple[Pair, ...], Mapping[str, Outcome]]


def _within(models: tuple[str, ...], values: Matrix) -> _Tested:
    """The analysis of variance is of the participants who have every model that has values, a t
    test of those who have both models."""
    there = np.asarray(np.isfinite(values).any(axis=0))
    models = tuple(model for model, known in zip(models, there, strict=True) if known)
    values = values[:, there]
    whole = values[np.isfinite(values).all(axis=1)]
    model = anova.of_one_factor(whole)
    outcome, term = _test(model, REPEATED)
    omnibus = Omnibus(
        outcome=outcome,
        df_error=outcome.df_2,
        n=len(whole),
        p_corrected=None,
        effect=None if term is None else term.partial,
        left_out=len(values) - len(whole),
        generalised=None if term is None else term.generalised.value,
        robust=variance.friedman(whole),
        smallest=len(whole),
    )
    checks = {RESIDUALS: _normality(model)} if len(whole) else {}
    if len(models) > 2:
        why = FEW if isinstance(model, str) else SAME
        checks[SPHERICITY] = (term and term.sphericity) or Outcome(MAUCHLY, why=why)
        corrected = (term and term.corrected) or Outcome(GREENHOUSE_GEISSER, why=why)
        checks[WITHOUT_SPHERICITY] = replace(corrected, test=GREENHOUSE_GEISSER)
    pairs = []
    for pair, other in combinations(range(len(models)), 2):
        both = values[np.isfinite(values[:, [pair, other]]).all(axis=1)]
        first, second = both[:, pair], both[:, other]
        pairs.append(_paired(models[pair], models[other], first, second))
        names = f"{models[pair]} − {models[other]}"
        checks[f"{DIFFERENCES}, {names}"] = inference.normality(first - second)
    return omnibus, tuple(pairs), checks


def _test(model: anova.Variance | str, name: str) -> tuple[Outcome, anova.Term | None]:
    """The test of an analysis of variance, and its line where it has a value."""
    if isinstance(model, str):
        return Outcome(name, why=model), None
    (term,) = model.terms()
    return replace(term.plain, test=name), term if term.plain.p is not None else None


def _normality(model: anova.Variance | str) -> Outcome:
    return inference.normality(np.empty(0) if isinstance(model, str) else model.residuals())


def _paired(text: str, other: str, first: Values, second: Values) -> Pair:
    apart = first - second
    outcome = inference.paired(first, second)
    error = (inference.sd(apart) or 0.0) / sqrt(max(apart.size, 1))
    low, high = _interval(inference.mean(apart), outcome, error)
    return Pair(
        model=text,
        other=other,
        n=apart.size,
        difference=inference.mean(apart),
        low=low,
        high=high,
        outcome=outcome,
        p_corrected=None,
        effect=effects.d_z(apart),
        robust=inference.signed_rank(apart),
        n_one=apart.size,
        n_other=apart.size,
    )


def _between(models: tuple[str, ...], values: Matrix) -> _Tested:
    named = {
        model: inference.values_of(values[:, at])
        for at, model in enumerate(models)
        if np.isfinite(values[:, at]).any()
    }
    samples = list(named.values())
    groups = np.repeat(np.arange(len(samples)), [sample.size for sample in samples])
    model = anova.of_one_factor(np.concatenate(samples), groups)
    outcome, term = _test(model, ONE_WAY)
    omnibus = Omnibus(
        outcome=outcome,
        df_error=outcome.df_2,
        n=sum(sample.size for sample in samples),
        p_corrected=None,
        effect=None if term is None else replace(term.partial, name=effects.PLAIN),
        generalised=None if term is None else term.generalised.value,
        robust=variance.kruskal(samples),
        smallest=min(sample.size for sample in samples),
    )
    checks = {RESIDUALS: _normality(model), VARIANCES: variance.same_variances(samples)}
    pairs = tuple(
        _independent(pair, other, named[pair], named[other])
        for pair, other in combinations(named, 2)
    )
    return omnibus, pairs, checks


def _independent(text: str, other: str, first: Values, second: Values) -> Pair:
    outcome = inference.two_sample(first, second)
    difference = float(first.mean() - second.mean())
    squares = sum(float(np.square(own - own.mean()).sum()) for own in (first, second))
    n = first.size + second.size
    error = sqrt(squares / max(n - 2, 1) * (1 / first.size + 1 / second.size))
    low, high = _interval(difference, outcome, error)
    return Pair(
        model=text,
        other=other,
        n=min(first.size, second.size),
        difference=difference,
        low=low,
        high=high,
        outcome=outcome,
        p_corrected=None,
        effect=effects.hedges_g(first, second),
        robust=inference.rank_sum(first, second),
        n_one=first.size,
        n_other=second.size,
    )


def _interval(difference: float | None, outcome: Outcome, error: float) -> _Ends:
    """95 % interval of a difference with its standard error; none where there is no test."""
    if difference is None or outcome.df is None:
        return None, None
    half = float(stats.t.ppf(0.975, outcome.df)) * error
    return difference - half, difference + half
