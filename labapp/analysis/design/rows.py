"""The default analyses as rows of the table of statistics, and the values they were made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import exp
from typing import Any

import numpy as np

from labapp.analysis.column import number, text, whole
from labapp.analysis.design import contrasts
from labapp.analysis.design.analyses import TRIALS_LOGISTIC, Analysis, Model, StudyAnalyses, back
from labapp.analysis.design.contrasts import Compared
from labapp.analysis.design.layout import PARTICIPANT, VALUE, Factor, Layout
from labapp.analysis.design.sources import POSITION, STIMULUS
from labapp.analysis.inference import SMALLEST, Effect, Outcome
from labapp.study.design import MODEL

Row = dict[str, Any]
VALUES, TEST, MEAN, CONTRAST, EQUIVALENCE, CHECK, SENSITIVITY, LEFT_OUT, EFFECT = (
    "values", "test", "estimated mean", "contrast", "equivalence", "check", "sensitivity",
    "left out", "effect",
)  # fmt: skip
BACK = "back-transformed"
RATIO, ODDS_RATIO = "ratio of geometric means", "odds ratio"
ALPHA = 0.05
VALUES_TABLE = "analysed_values"
LEVELS = 8
"""Columns for the levels of factors in the table of values."""

ANALYSED_VALUES = (
    text("study", "id of the study"),
    whole("analysis", "number of the default analysis, as in the table statistics"),
    text("quantity", "the outcome"),
    text("rows", "cells: one value a participant and cell; trials: one a trial"),
    text("participant", "label of the participant (a pseudonym)"),
    text("stimulus", "of trials: what was shown"),
    whole("position", "place at which the participant met the cell, from 1"),
    *(
        text(f"level_{at}", f"level of factor {at} of the analysis; its name is in analysis.R")
        for at in range(1, LEVELS + 1)
    ),
    *(
        number(f"covariate_{at}", f"covariate {at} of the analysis; its name is in analysis.R")
        for at in range(1, 4)
    ),
    number("value", "the value that was analysed, after the transform"),
)
"""What every default analysis was made of, so that others can make it again."""


def plain_name(factor: str) -> str:
    """A factor as the study calls it."""
    return factor.removeprefix("factor_")


def term_name(factors: Iterable[str]) -> str:
    return " × ".join(plain_name(factor) for factor in factors)


def design_words(layout: Layout) -> str:
    """between hint; within model; covariate age."""
    parts = []
    for name, factors in (("between", layout.between), ("within", layout.within)):
        if factors:
            parts.append(f"{name} {', '.join(plain_name(factor.name) for factor in factors)}")
    if layout.covariates:
        parts.append(f"covariate {', '.join(layout.covariates)}")
    return "; ".join(parts)


def level_words(levels: Mapping[str, str]) -> str:
    return "; ".join(f"{plain_name(name)}={level}" for name, level in levels.items())


def rows(results: StudyAnalyses) -> Iterator[Row]:
    """The rows of a study, outcome by outcome; what was left out is last."""
    for analysis in results.analyses:
        about = {
            "study": results.study,
            "analysis": analysis.number,
            "design": design_words(analysis.outcome.layout),
            "group": analysis.outcome.group,
            "quantity": analysis.outcome.name,
            "unit": analysis.unit,
            "role": analysis.outcome.role,
            "transform": analysis.transform or None,
            "ours": True,
        }
        plan = results.declaration.analysis
        yield from (about | row for row in _of(analysis, f"{plan.family}, {plan.correction}"))
    for left in results.left_out:
        yield {
            "study": results.study,
            "group": left.group or None,
            "quantity": left.name,
            "role": left.role,
            "kind": LEFT_OUT,
            "ours": True,
            "why": left.why,
        }


def _of(analysis: Analysis, family: str) -> Iterator[Row]:
    for cell in analysis.cells:
        yield {
            "kind": VALUES,
            "levels": level_words(cell.levels),
            "model": cell.levels.get(MODEL),
            "test": "mean",
            "n": cell.values.size,
            "mean": float(cell.values.mean()) if cell.values.size else None,
            "median": float(np.median(cell.values)) if cell.values.size else None,
            "sd": float(cell.values.std(ddof=1)) if cell.values.size > 1 else None,
        }
    yield from _model(analysis.main, TEST)
    for mean in analysis.means:
        yield from _mean(mean, analysis.transform, analysis.outcome.unit)
    for compared in analysis.compared:
        yield {"kind": CONTRAST} | _tested(compared, f"{family}, differences")
        yield from _more_effects(compared, analysis.transform)
    for each in analysis.equivalences:
        own = {"unit": analysis.outcome.unit} if analysis.raw_equivalence else {}
        yield (
            own
            | _tested(each, f"{family}, equivalence")
            | {
                "kind": EQUIVALENCE,
                "bound": each.bound,
                "why": "the interval is the 90 % one of the difference",
            }
        )
    for model in analysis.beside:
        yield from _model(model, SENSITIVITY)
        yield from (_of_trials(compared, model) for compared in model.compared)
    for name, term, test in analysis.checks:
        named = next((a for a, b in ((name, test.test), (test.test, name)) if b in a), "")
        named = named or f"{name}: {test.test}"
        yield (
            {"kind": CHECK, "factors": term_name(term) or None}
            | outcome_row(test)
            | {"test": named}
        )
    for remark in analysis.remarks:
        yield {"kind": LEFT_OUT, "why": remark}


def _model(model: Model, kind: str) -> Iterator[Row]:
    about = {
        "kind": kind,
        "n": model.n,
        "n_left_out": model.n_left_out,
        "model_name": model.name,
    }
    remark = "; ".join(model.remarks)
    for line in model.lines:
        own = about | {"factors": term_name(line.term)}
        why = "; ".join(filter(None, (line.test.why, remark)))
        effect = effect_row(line.of.partial) if line.of and line.test.p is not None else {}
        yield own | outcome_row(line.test) | effect | {"why": why or None}
        if line.of is None or line.test.p is None:
            continue
        if line.of.corrected is not None:
            yield own | outcome_row(line.of.corrected) | {"epsilon": line.of.epsilon}
        yield own | {"test": line.of.generalised.name} | effect_row(line.of.generalised)
        if line.of.sphericity is not None:
            yield own | {"kind": CHECK} | outcome_row(line.of.sphericity)


def _of_trials(compared: Compared, model: Model) -> Row:
    """A comparison by trials; of yes or no in log odds, with the odds ratio."""
    row: Row = {"kind": SENSITIVITY, "model_name": model.name} | contrast_row(compared)
    row |= outcome_row(compared.test)
    if compared.estimate is None:
        return row
    row |= {
        "n": model.n,
        "difference": compared.estimate.value,
        "standard_error": compared.estimate.error,
        "low": compared.test.low,
        "high": compared.test.high,
    }
    return row | effect_row(ratio(compared, ODDS_RATIO) if model.name == TRIALS_LOGISTIC else None)


def ratio(compared: Compared, name: str) -> Effect | None:
    """A difference of logarithms as a ratio, with its interval."""
    if compared.estimate is None:
        return None
    low, high = (
        None if end is None else exp(end) for end in (compared.test.low, compared.test.high)
    )
    return Effect(name, exp(compared.estimate.value), low, high)


def _more_effects(compared: Compared, transform: str) -> Iterator[Row]:
    """Cohen's d, and of logarithms the ratio."""
    for effect in (compared.cohen, ratio(compared, RATIO) if transform == "log" else None):
        if effect is not None:
            named = {"kind": EFFECT, "test": effect.name}
            yield named | contrast_row(compared) | effect_row(effect)


def _mean(mean: Compared, transform: str, unit: str) -> Iterator[Row]:
    if mean.estimate is None:
        return
    ((factor, levels),) = mean.comparison.weights.items()
    half = contrasts.quantile(0.975, mean.estimate.df) * mean.estimate.error
    about = {
        "factors": plain_name(factor),
        "levels": level_words({factor: next(iter(levels))}),
        "n": mean.estimate.n,
    }
    value, low, high = (mean.estimate.value + half * side for side in (0, -1, 1))
    yield {"kind": MEAN, "test": "estimated mean"} | about | {
        "mean": value,
        "standard_error": mean.estimate.error,
        "df": mean.estimate.df,
        "low": low,
        "high": high,
    }  # fmt: skip
    if transform:
        value, low, high = (back(end, transform) for end in (value, low, high))
        yield {"kind": BACK, "test": f"{BACK} mean"} | about | {
            "mean": value, "low": low, "high": high, "unit": unit,
        }  # fmt: skip


def contrast_row(compared: Compared) -> Row:
    """Which contrast it is."""
    comparison = compared.comparison
    row: Row = {
        "contrast": comparison.name,
        "factors": term_name(comparison.weights),
        "direction": comparison.direction,
    }
    if comparison.pair is not None and comparison.pair[0] == MODEL:
        row |= {"model": comparison.pair[1], "compared_with": comparison.pair[2]}
    return row


def _tested(compared: Compared, family: str) -> Row:
    row = contrast_row(compared) | outcome_row(compared.test)
    if compared.estimate is None:
        return row
    p = compared.p_corrected
    return row | effect_row(compared.effect) | {
        "n": compared.estimate.n,
        "difference": compared.estimate.value,
        "standard_error": compared.estimate.error,
        "low": compared.test.low,
        "high": compared.test.high,
        "p_corrected": p,
        "n_tests": compared.n_tests,
        "family": family,
        "significant": None if p is None else p < ALPHA and compared.estimate.n >= SMALLEST,
    }  # fmt: skip


def outcome_row(test: Outcome) -> Row:
    """The cells of a test."""
    return {
        "test": test.test,
        "statistic": test.statistic,
        "df": test.df,
        "df_2": test.df_2,
        "p": test.p,
        "why": test.why or None,
    }


def effect_row(effect: Effect | None) -> Row:
    """The cells of a standardised effect; none without one."""
    if effect is None:
        return {}
    return {
        "effect_name": effect.name,
        "effect": effect.value,
        "effect_low": effect.low,
        "effect_high": effect.high,
    }


def values(results: StudyAnalyses) -> Iterator[Row]:
    """The rows of the table of values."""
    for analysis in results.analyses:
        layout = analysis.outcome.layout
        for kind, frame in (("cells", analysis.frame), ("trials", analysis.trials)):
            if frame is None:
                continue
            about = {
                "study": results.study,
                "analysis": analysis.number,
                "quantity": analysis.outcome.name,
                "rows": kind,
            }
            yield from (about | row for row in _values(frame, layout.factors, layout.covariates))


def _values(frame: Any, factors: Iterable[Factor], covariates: Iterable[str]) -> Iterator[Row]:
    names = {factor.name: f"level_{at}" for at, factor in enumerate(factors, start=1)}
    names |= {name: f"covariate_{at}" for at, name in enumerate(covariates, start=1)}
    names |= {PARTICIPANT: "participant", VALUE: "value"}
    names |= {name: name for name in (STIMULUS, POSITION) if name in frame}
    own = frame[list(names)].rename(columns=names)
    yield from (
        {str(name): None if value != value else value for name, value in row.items()}
        for row in own.to_dict("records")
    )
