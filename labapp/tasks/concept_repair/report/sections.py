"""The report's section on people and the purity of models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from labapp.report.formats import count, decimal
from labapp.report.language import Verbatim
from labapp.report.listing import NONE, records
from labapp.report.page import Html, heading, paragraph, table, two_lines
from labapp.tasks.concept_repair.report.findings import RepairResults
from labapp.tasks.concept_repair.report.hypotheses import SHARE_BOUND, SLOPE_BOUND, Prediction
from labapp.tasks.concept_repair.report.measures import (
    MEASURES,
    PROMPTED_S,
    SESSION,
    SURPRISE,
    WITHIN_S,
    Measure,
)
from labapp.tasks.concept_repair.report.models import LEAST_MODELS, PREDICTORS, SHARES

SAMPLES = {
    "matched": "pictures chosen to be repaired or left alone (primary)",
    "natural": "pictures drawn whatever the model makes of them (secondary)",
    "traps": "pictures chosen because they cannot be set right (exploratory)",
    "all": "all pictures",
}
FIRST = ("success", "gain", "harm", "foresee", "foretold_less_unchanged", "surprises")
"""The measures beside the models."""
SIMULATED = (
    "All participants are simulated: what they do follows from rules that were set beforehand, and "
    "says nothing of people."
)
METHODS = (
    "Harm is a setting to what is true after which an answer that was right is wrong, of all such "
    "settings while the answer was right. Chance of a foretold answer is one among the classes; "
    "one that had been seen before in the picture is left out. Whoever always foretells “the "
    "same” is right as often as the answer stays unchanged, which differs between models; what is "
    "foretold rightly beyond that is told, too. A "
    f"surprise is an utterance coded so that begins within {WITHIN_S:g} s after an update; what is "
    f"said within {PROMPTED_S:g} s after a prompt of the moderator is left out. Intervals of means "
    "are percentile bootstraps over participants, whatever sessions and instructions they had; of "
    "correlations models are drawn anew too. Mixed logistic models have random intercepts of "
    "participants, pictures and (from three on) models, and those of H2 also of the concepts or "
    "pairs of concepts of a model, which have one deviation each; measures of models are in "
    "standard deviations of the models. A prediction that there is nothing needs a 90 % interval "
    "within its bound: "
    f"{SLOPE_BOUND:g} log odds, or {SHARE_BOUND:.0%} of pictures."
)


def of_study(results: RepairResults, anchor: str) -> Iterator[Html]:
    """Everything about one study; anchor: prefix of the page's ids."""
    yield heading(3, "Purity and people")
    yield paragraph(overview(results))
    if results.participants and results.simulated == results.participants:
        yield paragraph(SIMULATED, "note")
    if not results.models.general:
        yield paragraph(these_models_only(results), "note")
    sessions = len(results.models.people[[*SESSION]].drop_duplicates())
    if len(results.rows.coded) < sessions:
        yield paragraph(
            f"Sessions of which surprises are told: {len(results.rows.coded)} of {sessions}. "
            "Somebody must have finished coding them by a codebook that has the code "
            f"“{SURPRISE}”.",
            "note",
        )
    yield models_table(results)
    for sample in results.samples:
        yield measures_table(results, sample)
    for plate in results.drawn:
        yield heading(3, plate.label)
        yield plate.html(anchor)
    if results.correlations:
        yield correlations_table(results)
    yield heading(3, "What was expected, tested")
    yield tests_table(results)
    yield paragraph(METHODS, "quiet")


def overview(results: RepairResults) -> str:
    """Who did what with how many models."""
    models, repairs = results.models, results.rows.repairs
    ways = ", ".join(sorted({str(way) for way in repairs["instruction"]}))
    # Numbers behind their nouns: of one and of many in the same words.
    return (
        f"Participants: {results.participants}; models: {len(models.known)}; pictures that were "
        f"gone through: {len(repairs)} (instruction: {ways}); concepts set: "
        f"{len(results.rows.settings())} times; answers foretold: {len(results.rows.foretold())}."
    )


def these_models_only(results: RepairResults) -> str:
    """Why nothing is said of models in general."""
    families = results.models.known["learner"].nunique()
    models = results.models.known["model"].nunique()
    return (
        f"These models only: there are {count(models, 'model')} of "
        f"{count(families, 'method')}. From {LEAST_MODELS} models of one method on, "
        "a correlation with OIS says something of others like them."
    )


def models_table(results: RepairResults) -> Html:
    """A row a model: its purity and accuracy, and what people did with it."""
    predictors, shares = results.models.predictors, results.models.shares
    measures = [name for name in FIRST if name in results.measures]
    means = {name: results.models.means(name).set_index("name") for name in measures}
    rows = []
    for model in records(results.models.known):
        cells: list[object] = [two_lines(Verbatim(model["name"]), Verbatim(model["learner"]))]
        cells += [NONE if model[p] is None else decimal(model[p], 3) for p in predictors]
        cells += [f"{decimal(model[a], 1)} %" for a in ("task_accuracy", "concept_accuracy")]
        cells += [
            NONE if model[name] is None else f"{decimal(100 * model[name], 1)} %" for name in shares
        ]
        cells += [_with_ends(means[name].loc[model["name"]], MEASURES[name]) for name in measures]
        rows.append(cells)
    columns = (
        two_lines("Model", "method"),
        *(PREDICTORS[name] for name in predictors),
        two_lines("Task", "accuracy"),
        two_lines("Concepts", "accuracy"),
        *(two_lines(SHARES[name], "of its pictures") for name in shares),
        *(two_lines(MEASURES[name].title, _unit(MEASURES[name])) for name in measures),
    )
    caption = (
        "Left: what the stimulus sets tell of the models; traps and unrepairable pictures are "
        "those in which setting right what is wrong does not help. Right: means over participants, "
        "pictures chosen to be repaired or left alone; below them 95 % intervals and n."
    )
    return table(columns, rows, numeric=range(1, len(columns)), caption=caption)


def measures_table(results: RepairResults, sample: str) -> Html:
    """Every measure of one sample, a column a model."""
    names = results.models.known["name"].tolist()
    rows = []
    for name in results.measures:
        measure = MEASURES[name]
        means = results.models.means(name, sample).set_index("name")
        if not means["n"].sum():
            continue
        cells = [_with_ends(means.loc[model], measure) for model in names]
        rows.append([two_lines(measure.title, _unit(measure)), *cells])
    return table(
        ("Measure", *map(Verbatim, names)),
        rows,
        numeric=range(1, 1 + len(names)),
        caption=f"{SAMPLES[sample][:1].upper()}{SAMPLES[sample][1:]}: mean over participants, 95 % "
        "interval, n.",
    )


def _unit(measure: Measure) -> str:
    return "%" if measure.share else measure.unit


def _with_ends(row: pd.Series[Any], measure: Measure) -> object:
    """A mean, and below it its interval and number."""
    mean, low, high = row["mean"], row["low"], row["high"]
    n = int(row["n"])
    if not n:
        return NONE
    factor, digits = (100.0, 0) if measure.share else (1.0, 2)
    ends = (
        f"{decimal(factor * low, digits)} to {decimal(factor * high, digits)}, n = {n}"
        if np.isfinite(low)
        else f"n = {n}"
    )
    return two_lines(decimal(factor * mean, digits), ends)


def correlations_table(results: RepairResults) -> Html:
    """Human measures with measures of the models."""
    predictors = results.models.predictors
    rows = []
    for measure in dict.fromkeys(each.measure for each in results.correlations):
        own = {each.predictor: each for each in results.correlations if each.measure == measure}
        cells: list[object] = [MEASURES[measure].title]
        for name in predictors:
            known = own[name]
            if known.rho is None:
                cells.append(two_lines(NONE, known.why))
                continue
            ends = (
                NONE
                if known.low is None or known.high is None
                else f"{decimal(known.low, 2)} to {decimal(known.high, 2)}"
            )
            cells.append(two_lines(decimal(known.rho, 2), ends))
        rows.append(cells)
    return table(
        ("Spearman's ρ", *(PREDICTORS[name] for name in predictors)),
        rows,
        numeric=range(1, 1 + len(predictors)),
        caption="Of the models' means with what is known of the models; 95 % intervals by drawing "
        "models and people anew, none where most draws have fewer than three models.",
    )


def tests_table(results: RepairResults) -> Html:
    """The hypotheses, a row a test."""
    rows = [
        (
            test.hypothesis,
            two_lines(f"{test.outcome} by {test.term}", test.sample),
            _expected(test),
            NONE if test.estimate is None else two_lines(decimal(test.estimate, 2), test.unit),
            NONE
            if test.low is None or test.high is None
            else f"{decimal(test.low, 2)} to {decimal(test.high, 2)}",
            NONE if test.p is None else _p(test),
            two_lines(f"{test.n:,}", f"{test.n_people} / {test.n_models}"),
            two_lines(test.verdict or NONE, test.why) if test.why else test.verdict or NONE,
        )
        for test in results.tests
    ]
    return table(
        (
            "",
            two_lines("What", "sample"),
            "Expected",
            "Estimate",
            "95 % interval",
            "p",
            two_lines("n", "people / models"),
            "Verdict",
        ),
        rows,
        numeric=(3, 4, 5, 6),
        caption="Slopes of mixed logistic models, a standard deviation of the measure; H5: mean "
        "difference within participants. p is of no difference, two-sided; below it, for H1 in the "
        "primary sample, with Holm's correction over its outcomes.",
    )


def _expected(test: Prediction) -> object:
    if test.bound is None:
        return test.expected
    return two_lines(test.expected, f"within ± {test.bound:g}")


def _p(test: Prediction) -> object:
    assert test.p is not None
    text = "< .001" if test.p < 0.001 else decimal(test.p, 3)
    if test.p_holm is None:
        return text
    return two_lines(text, "< .001" if test.p_holm < 0.001 else decimal(test.p_holm, 3))
