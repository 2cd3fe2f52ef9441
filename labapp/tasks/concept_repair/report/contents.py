"""What the report has of concept repair (after paper 001, section 4.1).

Its rows of the table of statistics are: 1 means by model, 2 correlations with what is known of the
models, 3 the hypotheses. Also the report's section on people and the purity of models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from labapp.analysis.statistic import Statistic
from labapp.analysis.tables import Tables
from labapp.analysis.task_report import (
    ComparedSlope,
    HypothesisResult,
    PlannedTests,
    ReportedStudy,
    TaskReport,
)
from labapp.base.report.listing import NONE, records
from labapp.base.report.page import (
    Html,
    Verbatim,
    count,
    decimal,
    heading,
    paragraph,
    table,
    two_lines,
)
from labapp.models.stimuli import library
from labapp.tasks.concept_repair.plan import GRID, TASK
from labapp.tasks.concept_repair.report.forecast_section import (
    FORECAST_METHODS,
    by_type,
    declared_rows,
    hypothesis_results,
    of_forecasts,
)
from labapp.tasks.concept_repair.report.forecasts import Forecasts
from labapp.tasks.concept_repair.report.hypotheses import (
    SHARE_BOUND,
    SLOPE_BOUND,
    RepairResults,
    findings,
    outcomes,
)
from labapp.tasks.concept_repair.report.measures import (
    CONCEPT_PARTICIPANTS,
    LEAST_MODELS,
    MATCHED,
    MEASURES,
    MODEL,
    OIS,
    PERSON,
    PREDICTORS,
    PROMPTED_S,
    SAMPLES,
    SESSION,
    SHARES,
    SURPRISE,
    WITHIN_S,
    Measure,
    RepairRows,
    by_person,
    models_of,
)

if TYPE_CHECKING:
    from labapp.base.report.drawing import ReportFigure
    from labapp.study.loading import LoadedStudy


TABLES = ("repairs", "concept_changes", "concept_grids", "concept_models", "concept_purities")
"""What it is worked out from."""
NOTHING = {
    "harm": "nothing true is set while the answer is right, so no harm is possible",
    "surprised": "simulated participants do not show it, and nobody codes what they say",
    "wrong": "no answer is forecast in these pictures",
}
"""Why there is nothing to plan with, by the column of the outcome."""


def slopes(counted: Tables) -> Iterator[ComparedSlope]:
    """A slope on OIS an outcome of H1, in the primary and the secondary sample of pictures."""
    for study in sorted({str(name) for name in counted.small()["repairs"]["study"].dropna()}):
        own = counted.of_study(study)
        rows = RepairRows.of(own)
        if rows.changes["shown"].eq(other=False).any():  # its tests are those that it declares
            continue
        models = models_of(own, study, by_person(rows)).known
        every = outcomes(rows)
        for sample in SAMPLES[:2]:
            if sample not in set(rows.repairs["sample"]):
                continue
            for outcome, frame, column in every:
                known = models[[*MODEL, "name", OIS]] if OIS in models else None
                shown = frame[(frame["sample"] == sample) & frame[column].notna()]
                why = NOTHING[column] if shown.empty else ""
                if known is None:
                    why = "the sets do not have OIS of their models"
                yield ComparedSlope(
                    name=f"{study}, {sample}: {outcome} by {PREDICTORS[OIS]} (H1)",
                    rises=True,
                    smallest=SLOPE_BOUND,
                    n_tests=len(every) if sample == MATCHED else 1,  # p of others is not corrected
                    rows=pd.DataFrame() if known is None else _rows(shown, column, known),
                    why=why,
                )


def _rows(shown: pd.DataFrame, column: str, known: pd.DataFrame) -> pd.DataFrame:
    own = shown.merge(known, on=list(MODEL)).dropna(subset=[OIS])
    return pd.DataFrame(
        {
            "participant": own[PERSON[1]].astype(str),
            "model": own["name"].astype(str),
            "picture": own["picture"].astype(str),
            "kind": own["item"].fillna("none").astype(str),
            "value": own[OIS].astype(float),
            "outcome": own[column].astype(float),
        }
    )


TABLE = "concept_participants"
DEFINITIONS = {
    "Purity and people": (
        "Success: share of pictures finished with Done and a correct answer. Gain: whether the "
        "answer was correct when the picture was left (1 or 0) minus whether it was correct "
        "without any change (1 or 0). Harm: settings to the true value that made a correct "
        "answer wrong, divided by all settings to the true value made while the answer was "
        "correct. Forecast: share of answers forecast correctly, of those not yet seen with the "
        "picture, minus one divided by the number of classes; minus unchanged: minus the share "
        "of these answers that did not change. Side effect: the answer reverses a concept other "
        "than the one that was set. Deviation: how well the model's code of one concept reveals "
        "another (area under the ROC curve), minus how well the true concept does; OIS sums it "
        "up over all pairs (paper 001, section 3.1). Grid: correlation of ticks with the "
        "absolute deviation, over pairs. All of it is in the tables repairs, concept_changes, "
        "concept_grids, concept_participants, concept_models, concept_purities and statistics."
    )
}


class ConceptRepairReport(TaskReport[tuple[RepairResults, ...]]):
    activities: ClassVar = {
        TASK: "examined how a model's answers to pictures depend on its concepts",
        GRID: "named the concepts that change together",
    }
    tasks = (TASK, GRID)
    definitions = DEFINITIONS
    tables: ClassVar = {TABLE: CONCEPT_PARTICIPANTS}
    planned_tables = TABLES

    def findings(self, counted: Tables, ratings: Sequence[Path]) -> tuple[RepairResults, ...]:
        return findings(counted)

    def frames(self, findings: tuple[RepairResults, ...]) -> Mapping[str, pd.DataFrame]:
        from labapp.analysis.tables import build_frame

        people = [results.models.people for results in findings]
        nobody = build_frame([], CONCEPT_PARTICIPANTS)
        return {TABLE: pd.concat(people, ignore_index=True) if people else nobody}

    def statistics(self, findings: tuple[RepairResults, ...]) -> Iterator[Mapping[str, Any]]:
        for results in findings:
            yield from rows(results)

    def hypotheses(
        self, study: ReportedStudy, findings: tuple[RepairResults, ...]
    ) -> Iterator[HypothesisResult]:
        for results in findings:
            if results.study == study.name and results.forecasts is not None:
                yield from hypothesis_results(results.forecasts)

    def sections(self, study: ReportedStudy, findings: tuple[RepairResults, ...]) -> Iterator[Html]:
        for results in findings:
            if results.study == study.name:
                yield from of_study(results, study.anchor)

    def plates(
        self, counted: Tables, findings: tuple[RepairResults, ...]
    ) -> Iterator[ReportFigure]:
        """Those of each study; their names tell studies apart where there are several."""
        for number, results in enumerate(findings, start=1):
            apart = f"-{number}-{results.study}" if len(findings) > 1 else ""
            for plate in results.drawn:
                yield replace(plate, name=plate.name.replace(TASK, f"{TASK}{apart}", 1))

    def methods(self, study: ReportedStudy, findings: tuple[RepairResults, ...]) -> Iterator[str]:
        for results in findings:
            if results.study == study.name:
                yield from sources(results.models.known)
                yield METHODS if results.forecasts is None else FORECAST_METHODS

    def slopes(self, counted: Tables) -> Iterator[ComparedSlope]:
        return slopes(counted)

    def planned_tests(self, loaded: LoadedStudy) -> Iterator[PlannedTests]:
        from labapp.tasks.concept_repair.report import forecast_power

        yield from forecast_power.planned(loaded)

    def defined(self, counted: Tables, findings: tuple[RepairResults, ...]) -> Mapping[str, str]:
        return self.definitions if any(own.forecasts is None for own in findings) else {}


REPORT = ConceptRepairReport()


def sources(known: pd.DataFrame) -> Iterator[str]:
    """What the stimulus sets say about their pictures, of those that this computer still has.
    known: see `StudyModels`."""
    met = set(known[["stimuli", "manifest_sha256"]].itertuples(index=False, name=None))
    told: set[str] = set()
    for folder in library.set_folders():
        if folder.name in {name for name, _ in met}:
            made = library.load(folder)
            if (made.manifest.id, made.sha256) in met:
                told.add(made.manifest.source.rstrip("."))
    for source in sorted(told):
        yield f"The pictures, as their stimulus sets describe them: “{source}”."


Row = dict[str, Any]


def rows(results: RepairResults) -> Iterator[Row]:
    """The rows of a study, in the order of the items."""
    about = {"study": results.study, "design": TASK, "ours": True}
    tests = [row for test in results.tests for row in test.rows()]
    if results.forecasts is not None:
        tests += declared_rows(results.forecasts)
    made = (row.row() for row in (*results.correlations, *tests))
    yield from (row | about for row in (*_means(results), *made))


def _means(results: RepairResults) -> Iterator[Row]:
    for sample in results.samples:
        for name in results.measures:
            for row in records(results.models.means(name, sample)):
                if row["n"]:
                    yield {
                        "item": "1",
                        "group": sample,
                        "model": row["name"],
                        "quantity": name,
                        "unit": MEASURES[name].unit,
                        "test": "mean",
                        "n": row["n"],
                        "n_participants": row["n"],
                        "mean": row["mean"],
                        "low": row["low"],
                        "high": row["high"],
                    }


SAMPLE_WORDS = {
    "matched": "pictures chosen to be repaired or left alone (primary)",
    "natural": "pictures drawn regardless of the model's answer (secondary)",
    "traps": "pictures chosen because they cannot be repaired (exploratory)",
    "all": "all pictures",
}
EXPLORED = "Exploratory: the study declared none of the tests from here on."
UNDECLARED = (
    "Exploratory: these tests come from earlier versions of labapp; the study did not declare them."
)
FIRST = ("success", "gain", "harm", "foresee", "foretold_less_unchanged", "surprises")
"""The measures beside the models."""
SIMULATED = (
    "All participants are simulated: what they do follows from rules that were set in advance, "
    "and says nothing about people."
)
METHODS = (
    "Harm is the share of settings to the true value that turned a correct answer into a wrong "
    "one, out of all such settings made while the answer was correct. The chance level of a "
    "forecast is one divided by the number of classes; answers already seen with the same "
    "picture are left out. Always forecasting “the same” is right as often as the answer stays "
    "unchanged, which differs between models, so the report also shows by how much correct "
    f"forecasts exceed this rate. A surprise is an utterance with that code that begins within "
    f"{WITHIN_S:g} s after an update; utterances within {PROMPTED_S:g} s after a prompt from the "
    "moderator are left out. Intervals of means are percentile bootstraps over participants, "
    "regardless of session and instruction; for correlations, models are resampled too. Mixed "
    "logistic models have random intercepts for participants, pictures and (if there are three "
    "or more) models; those of H2 also for the concepts or pairs of concepts of a model, each of "
    "which has one deviation. Measures of models are in standard deviations of the models. A "
    f"prediction of no effect requires a 90 % interval within its bounds: {SLOPE_BOUND:g} log "
    f"odds, or {SHARE_BOUND:.0%} of pictures."
)


def of_study(results: RepairResults, anchor: str) -> Iterator[Html]:
    """Everything about one study; anchor: prefix of the page's ids."""
    if results.forecasts is not None:
        yield from _of_withheld(results, results.forecasts, anchor)
        return
    yield heading(3, "Purity and people")
    yield paragraph(overview(results))
    if results.participants and results.simulated == results.participants:
        yield paragraph(SIMULATED, "note")
    if not results.models.general:
        yield paragraph(these_models_only(results), "note")
    sessions = len(results.models.people[[*SESSION]].drop_duplicates())
    if len(results.rows.coded) < sessions:
        yield paragraph(
            f"Sessions with coded surprises: {len(results.rows.coded)} of {sessions}. "
            "A rater must have finished coding them with a codebook that has the code "
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
    if results.tests:
        yield heading(3, "Hypotheses, tested")
        yield paragraph(UNDECLARED, "note")
        yield tests_table(results)
    yield paragraph(METHODS, "quiet")


def _of_withheld(results: RepairResults, forecasts: Forecasts, anchor: str) -> Iterator[Html]:
    """A study that withholds answers: its declared tests, and what is exploratory. Measures of
    forecasts that follow how often a model's answer moves, and OIS as given, are left out: models
    cannot be compared by them."""
    yield from of_forecasts(forecasts)
    for plate in results.drawn:
        yield heading(3, plate.label)
        yield plate.html(anchor)
    yield heading(3, "Forecasts by type of change")
    yield paragraph(EXPLORED, "note")
    yield paragraph(overview(results))
    if results.participants and results.simulated == results.participants:
        yield paragraph(SIMULATED, "note")
    yield by_type(forecasts)


def overview(results: RepairResults) -> str:
    """Who did what with how many models."""
    models, repairs = results.models, results.rows.repairs
    ways = ", ".join(sorted({str(way) for way in repairs["instruction"]}))
    # Numbers behind their nouns: of one and of many in the same words.
    return (
        f"Participants: {results.participants}; models: {len(models.known)}; pictures seen: "
        f"{len(repairs)} (instruction: {ways}); concepts set: "
        f"{len(results.rows.settings())} times; answers forecast: {len(results.rows.foretold())}."
    )


def these_models_only(results: RepairResults) -> str:
    """Why nothing is said of models in general."""
    families = results.models.known["learner"].nunique()
    models = results.models.known["model"].nunique()
    return (
        f"For these models only: there are {count(models, 'model')} of "
        f"{count(families, 'method')}. With {LEAST_MODELS} or more models of one method, a "
        "correlation with OIS would say something about other models of that method."
    )


def models_table(results: RepairResults) -> Html:
    """One row per model: its purity and accuracy, and what people did with it."""
    predictors, shares = results.models.predictors, results.models.shares
    measures = [name for name in FIRST if name in results.measures]
    means = {name: results.models.means(name).set_index("name") for name in measures}
    rows = []
    for model in records(results.models.known):
        cells: list[object] = [two_lines(Verbatim(model["name"]), Verbatim(model["learner"]))]
        cells += [NONE if model[p] is None else decimal(model[p], 3) for p in predictors]
        cells += [f"{decimal(model[a], 1)} %" for a in ("task_accuracy", "concept_accuracy")]
        parts = (model[name] for name in shares)
        cells += [NONE if share is None else f"{decimal(100 * share, 1)} %" for share in parts]
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
        "Left: what the stimulus sets say about the models. Traps and unrepairable pictures are "
        "pictures for which correcting what is wrong does not help. Right: means over "
        "participants, for pictures chosen to be repaired or left alone; below them, 95 % "
        "intervals and n."
    )
    return table(columns, rows, numeric=range(1, len(columns)), caption=caption)


def measures_table(results: RepairResults, sample: str) -> Html:
    """Every measure of one sample, one column per model."""
    names, words = results.models.known["name"].tolist(), SAMPLE_WORDS[sample]
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
        caption=f"{words[:1].upper()}{words[1:]}: mean over participants, 95 % interval, n.",
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
    below = f"n = {n}"
    if np.isfinite(low):
        below = f"{decimal(factor * low, digits)} to {decimal(factor * high, digits)}, {below}"
    return two_lines(decimal(factor * mean, digits), below)


def correlations_table(results: RepairResults) -> Html:
    """Human measures with measures of the models."""
    predictors = results.models.predictors
    rows = []
    for measure in dict.fromkeys(row.quantity for row in results.correlations):
        own = {row.compared_with: row for row in results.correlations if row.quantity == measure}
        cells: list[object] = [MEASURES[measure].title]
        for name in predictors:
            known = own[PREDICTORS.get(name, name)]
            if known.statistic is None:
                cells.append(two_lines(NONE, known.why))
                continue
            cells.append(two_lines(decimal(known.statistic, 2), _ends(known.low, known.high)))
        rows.append(cells)
    return table(
        ("Spearman's ρ", *(PREDICTORS[name] for name in predictors)),
        rows,
        numeric=range(1, 1 + len(predictors)),
        caption="Correlations of the models' means with what is known about the models; 95 % "
        "intervals by resampling models and people, unless most draws have fewer than three "
        "models.",
    )


def tests_table(results: RepairResults) -> Html:
    """The hypotheses, one row per test."""
    rows = []
    for test in results.tests:
        made = test.asked or Statistic()
        p = _p(made.p)
        level = "90 %" if test.equivalence is not None else "95 %"
        rows.append(
            (
                test.hypothesis,
                two_lines(f"{test.outcome} by {test.term}", test.sample),
                two_lines(test.expected, f"within ± {test.bound:g}")
                if test.bound
                else test.expected,
                NONE
                if made.difference is None
                else two_lines(decimal(made.difference, 2), test.unit),
                NONE if made.low is None else two_lines(_ends(made.low, made.high), level),
                p if made.p_corrected is None else two_lines(p, _p(made.p_corrected)),
                two_lines(f"{test.n:,}", f"{test.n_people} / {test.n_models}"),
                two_lines(test.verdict or NONE, test.why) if test.why else test.verdict or NONE,
            )
        )
    return table(
        (
            "",
            two_lines("What", "sample"),
            "Expected",
            "Estimate",
            "Interval",
            "p",
            two_lines("n", "people / models"),
            "Verdict",
        ),
        rows,
        numeric=(3, 4, 5, 6),
        caption="Slopes of mixed logistic models, per standard deviation of the measure; H5: "
        "mean difference within participants. p is for the null hypothesis of no difference, "
        "two-sided; where no effect is expected, it is the larger p of two one-sided tests "
        "against the bound. For H1 in the primary sample, the value below it is p with Holm's "
        "correction over its outcomes.",
    )


def _p(p: float | None) -> str:
    return NONE if p is None else "< .001" if p < 0.001 else decimal(p, 3)


def _ends(low: float | None, high: float | None) -> str:
    return NONE if low is None or high is None else f"{decimal(low, 2)} to {decimal(high, 2)}"
