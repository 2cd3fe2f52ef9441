"""What was expected of people and impure models, tested (H1 to H5 of the study's page).

H1 harm and surprises rise with OIS, and answers are foretold less well. H2 a wrong foretelling
after concept i is set, and a tick of the pair (i, j), are the more frequent the more the code of i
tells of others, or of j, than the true concept does. H3 OIS as given predicts harm, OIS in common
coordinates does not; harm follows confirmations, not corrections. H4 NIS adds nothing to OIS. H5
success does not differ between a participant's purer and less pure model; what is foretold does.

H1 to H4 are mixed logistic models of single settings, foretold answers or pairs, with random
intercepts of participants, pictures and models (`labapp.analysis.mixed_logistic`); models vary by
their measures, which are taken in standard deviations of the models that were met. H4 and the first
half of H3 and H5 predict that there is nothing: they need an interval of 90 % within a bound that
was set beforehand (two one-sided tests at .05).

Also what the sessions that count say about one study with concept repair.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from labapp.analysis import mixed_logistic
from labapp.analysis.bootstrap import Float64, Int64
from labapp.analysis.declared import read_declaration
from labapp.analysis.design.anova import correct_family
from labapp.analysis.inference import EQUIVALENT as EQUIVALENCE
from labapp.analysis.inference import TOST, of_estimate, varies
from labapp.analysis.statistic import Statistic
from labapp.analysis.tables import Tables
from labapp.tasks.concept_repair.report.forecasts import Forecasts, forecasts_of
from labapp.tasks.concept_repair.report.measures import (
    COMMON,
    LEAST_MODELS,
    MATCHED,
    MEASURES,
    MODEL,
    NIS,
    OIS,
    PERSON,
    PREDICTORS,
    SAMPLES,
    TRAPS,
    RepairRows,
    StudyModels,
    by_person,
    models_of,
)

if TYPE_CHECKING:
    from labapp.base.report.drawing import ReportFigure


Expected = Literal["rises", "falls", "nothing"]
SLOPE_BOUND = 0.5
"""Log odds a standard deviation of the models below which a slope does not matter: an odds ratio of
1.65 (ours)."""
SHARE_BOUND = 0.10
"""Difference of shares of pictures that does not matter (ours)."""
LOGISTIC, PAIRED = "mixed logistic model", "paired t"
FAMILY = "outcomes of H1 in the primary sample, holm"
LEAST_LEVELS = 3
"""Models from which on they have an intercept of their own."""
AS_PREDICTED, OPPOSITE, OPEN = "as predicted", "the opposite", "inconclusive"
EQUIVALENT, DIFFERS = "no more than the bound", "more than nothing"
FEW_MODELS = "all models have the same value"
FLAT = "it always happened, or never did"
FEW = "there are too few participants or values"
FAILED = "the effects have no finite value: in some of the values it always happened, or never did"


@dataclass(frozen=True)
class Prediction:
    """Hypotheses, tested.

    Attributes
    ----------
    hypothesis : H1 to H5.
    sample : of which pictures.
    outcome, term : what was observed, and what it is tested on.
    expected : what was said beforehand.
    unit : of the estimate.
    n, n_people, n_models : values, participants and models.
    bound : what does not matter, of a prediction of nothing.
    difference : the test for a difference from zero, with its 95 % interval; p is corrected only
        over the outcomes of H1 in the primary sample. None without an estimate.
    equivalence : if no effect is predicted, the test against the bound, with its 90 % interval.
    why : why there is no value, or what else is to be known.
    """

    hypothesis: str
    sample: str
    outcome: str
    term: str
    expected: Expected
    unit: str = "log odds"
    n: int = 0
    n_people: int = 0
    n_models: int = 0
    bound: float | None = None
    difference: Statistic | None = None
    equivalence: Statistic | None = None
    why: str = ""

    @property
    def asked(self) -> Statistic | None:
        """The test of what was said beforehand."""
        return self.difference if self.equivalence is None else self.equivalence

    @property
    def verdict(self) -> str:
        """What the interval says of the prediction; empty without an estimate."""
        low, high = _ends(self.difference)
        if low is None or high is None:
            return ""
        if self.expected == "nothing":
            least, most = _ends(self.equivalence)
            bound = self.bound or 0.0
            if least is not None and most is not None and -bound < least and most < bound:
                return EQUIVALENT
            return DIFFERS if low > 0 or high < 0 else OPEN
        low, high = (low, high) if self.expected == "rises" else (-high, -low)
        return AS_PREDICTED if low > 0 else OPPOSITE if high < 0 else OPEN

    def rows(self) -> Iterator[Statistic]:
        """The rows of the table of statistics: the test of what was said, with the verdict, and of
        a prediction of nothing that of an effect, too."""
        name = PAIRED if self.hypothesis == "H5" else LOGISTIC
        rows = [(self.asked or Statistic(test=name, bound=self.bound), self.verdict)]
        if self.equivalence is not None and self.difference is not None:
            rows.append((self.difference, ""))
        for row, verdict in rows:
            yield replace(
                row, item=f"3 {self.hypothesis}", group=self.sample, quantity=self.outcome,
                compared_with=self.term, unit=self.unit, n=self.n, n_participants=self.n_people,
                mean=row.difference, why="; ".join(filter(None, (verdict, row.why, self.why))),
            )  # fmt: skip

    def with_estimate(
        self, value: float, error: float, df: float | None, why: str = ""
    ) -> Prediction:
        """Add the tests; if the error is 0, only the estimate."""
        name = LOGISTIC if df is None else PAIRED
        known = Statistic(test=name, difference=value, low=value, high=value)
        difference = of_estimate(value, error, df, name=name) if error else known
        equivalence = None
        if self.bound is not None:
            known = replace(known, bound=self.bound)
            equal = f"{name}, {TOST}"
            made = of_estimate(value, error, df, EQUIVALENCE, self.bound, equal) if error else known
            equivalence = replace(made, direction=EQUIVALENCE)
        # The correction needs n.
        difference = replace(difference, n=self.n)
        return replace(self, difference=difference, equivalence=equivalence, why=why)


def _ends(row: Statistic | None) -> tuple[float | None, float | None]:
    return (None, None) if row is None else (row.low, row.high)


def run_tests(rows: RepairRows, models: StudyModels) -> list[Prediction]:
    """Every test of a study, by hypothesis and sample."""
    made = [
        *(test for sample in SAMPLES for test in _first(rows, models, sample)),
        *_second(rows, models),
        *_third(rows, models),
        *_fourth(rows, models),
        *_fifth(models),
    ]
    first = [
        test
        for test in made
        if (test.hypothesis, test.sample) == ("H1", MATCHED) and test.difference is not None
    ]
    own = correct_family([test.difference for test in first if test.difference], "holm", FAMILY)
    known = {id(test): row for test, row in zip(first, own, strict=True)}
    return [replace(test, difference=known.get(id(test), test.difference)) for test in made]


def _first(rows: RepairRows, models: StudyModels, sample: str) -> Iterator[Prediction]:
    for name, frame, column in outcomes(rows):
        own = frame[frame["sample"] == sample]
        if sample == TRAPS and own.empty:
            continue
        test = Prediction("H1", sample, name, PREDICTORS[OIS], "rises")
        yield _slopes(test, own, column, [OIS], models, items=True)


def outcomes(rows: RepairRows) -> tuple[tuple[str, pd.DataFrame, str], ...]:
    """What H1 and H4 are about: the name, the rows that can show it, and their column of yes and
    no."""
    foretold = rows.foretold()
    foretold = foretold.assign(wrong=~foretold["foretold_correct"].astype(bool))
    heard = rows.settings()
    return (
        ("a harm", rows.while_right(), "harm"),
        ("a surprise after a setting", heard[heard["surprised"].notna()], "surprised"),
        ("an answer forecast wrongly", foretold, "wrong"),
    )


def _second(rows: RepairRows, models: StudyModels) -> Iterator[Prediction]:
    foretold = rows.foretold()
    foretold = foretold.assign(
        wrong=~foretold["foretold_correct"].astype(bool), size=foretold["deviation_mean"]
    )
    for sample in SAMPLES[:2]:
        own = foretold[foretold["sample"] == sample]
        test = Prediction("H2", sample, "an answer forecast wrongly", "mean |deviation|", "rises")
        yield _slopes(test, own, "wrong", ["size"], models, within=("concept",))
    grids = rows.grids.assign(size=rows.grids["deviation"].abs(), picture=None)
    test = Prediction("H2", "all", "a tick of the grid", "|deviation|", "rises")
    yield _slopes(test, grids, "ticked", ["size"], models, within=("concept", "other"))


def _third(rows: RepairRows, models: StudyModels) -> Iterator[Prediction]:
    harms = rows.while_right()
    harms = harms[harms["sample"] == MATCHED]
    ois = PREDICTORS[OIS]
    test = Prediction("H3", MATCHED, "a harm", PREDICTORS[COMMON], "nothing", bound=SLOPE_BOUND)
    yield _slopes(test, harms, "harm", [COMMON], models)
    own = harms[harms["change_kind"] == "confirmation"]
    test = Prediction("H3", MATCHED, "a harm by a confirmation", ois, "rises")
    yield _slopes(test, own, "harm", [OIS], models)
    own = harms[harms["change_kind"] == "correction"]
    test = Prediction("H3", MATCHED, "a harm by a correction", ois, "nothing", bound=SLOPE_BOUND)
    yield _slopes(test, own, "harm", [OIS], models)


def _fourth(rows: RepairRows, models: StudyModels) -> Iterator[Prediction]:
    for name, frame, column in outcomes(rows):
        own = frame[frame["sample"] == MATCHED]
        test = Prediction(
            "H4", MATCHED, name, "NIS, adjusted for OIS", "nothing", bound=SLOPE_BOUND
        )
        yield _slopes(test, own, column, [NIS, OIS], models)


def _fifth(models: StudyModels) -> Iterator[Prediction]:
    term = "less pure – purer model"
    test = Prediction("H5", MATCHED, "success", term, "nothing", "0-1", bound=SHARE_BOUND)
    yield _compare_pairs(test, models, "success")
    test = Prediction("H5", MATCHED, "forecast correctly", term, "falls", "0-1")
    yield _compare_pairs(test, models, "foresee")


def _slopes(
    test: Prediction,
    frame: pd.DataFrame,
    column: str,
    on: Sequence[str],
    models: StudyModels,
    *,
    items: bool = False,
    within: Sequence[str] = (),
) -> Prediction:
    """A mixed logistic model of a column of 0 and 1; the estimate is of the first of `on`: columns
    of the rows, or measures of the models. items: the type of picture is taken in. within: what
    within a model the first of `on` belongs to, which has an intercept of its own then: a model has
    a deviation for each concept or pair, and not one for each row."""
    lacking = [name for name in on if name not in frame and name not in models.known]
    if lacking:
        return replace(
            test, why=f"the stimulus sets do not give {PREDICTORS.get(lacking[0], lacking[0])}"
        )
    own = frame.merge(
        models.known[[*MODEL, "name", *(name for name in on if name not in frame)]],
        on=list(MODEL),
        how="left",
    ).dropna(subset=[column, *on])
    people, there = own[PERSON[1]].nunique(), own["model"].nunique()
    test = replace(test, n=len(own), n_people=people, n_models=there)
    if there < LEAST_MODELS and on[0] not in frame:
        return replace(test, why=f"fewer than {LEAST_MODELS} models: no slope is tested")
    if people < 2 or len(own) < 2 * (len(on) + 2):
        return replace(test, why=FEW)
    y: Float64 = np.asarray(own[column].astype(float), np.float64)
    if np.ptp(y) == 0:
        return replace(test, why=FLAT)
    columns = [_standard(own, name, name in frame) for name in on]
    if any(each is None for each in columns):
        return replace(test, why=FEW_MODELS)
    fixed = [np.ones(len(own)), *(each for each in columns if each is not None)]
    if items:
        kinds = own["item"].fillna("none").astype(str)
        fixed += [(kinds == kind).to_numpy(np.float64) for kind in sorted(kinds.unique())[1:]]
    design: Float64 = np.column_stack(fixed).astype(np.float64)
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return replace(test, why="these models' measures cannot be distinguished")
    factors, remark = _factors(own, within)
    fitted = mixed_logistic.fit(y, design, factors)
    if fitted is None:
        return replace(test, why="the mixed logistic model could not be fitted")
    if not fitted.finite(1):
        return replace(test, why=FAILED)
    return test.with_estimate(float(fitted.mean[1]), float(fitted.sd[1]), None, remark)


def _standard(rows: pd.DataFrame, name: str, of_rows: bool) -> Float64 | None:
    """A column in its standard deviations: over the rows, or over the models that were met; None
    if it is the same for all."""
    values = rows[name].to_numpy(np.float64)
    among = values if of_rows else rows.drop_duplicates("model")[name].to_numpy(np.float64)
    if not varies(among):
        return None
    return np.asarray((values - among.mean()) / among.std(), np.float64)


def _factors(rows: pd.DataFrame, within: Sequence[str]) -> tuple[list[Int64], str]:
    """The levels of the random intercepts, and what was left out."""
    factors = [pd.factorize(rows[PERSON[1]])[0].astype(np.int64)]
    if rows["picture"].notna().all():
        pictures = rows["stimuli"].astype(str) + "\0" + rows["picture"].astype(str)
        if 1 < pictures.nunique() < len(rows):
            factors.append(pd.factorize(pictures)[0].astype(np.int64))
    if within:
        parts = np.asarray(rows.groupby(["model", *within], sort=True).ngroup(), np.int64)
        if 1 < np.unique(parts).size < len(rows):
            factors.append(parts)
    if rows["model"].nunique() >= LEAST_LEVELS:
        factors.append(pd.factorize(rows["model"])[0].astype(np.int64))
        return factors, ""
    return factors, f"fewer than {LEAST_LEVELS} models, so they have no random intercepts"


def _compare_pairs(test: Prediction, models: StudyModels, measure: str) -> Prediction:
    """The difference within participants between the model of the higher and of the lower OIS."""
    if OIS not in models.known:
        return replace(test, why="the sets do not have OIS")
    rows = models.of(MATCHED).merge(models.known[["name", OIS]], on="name")
    rows = rows.dropna(subset=[measure, OIS]).sort_values(OIS, kind="stable")
    differences: dict[object, list[float]] = {}
    for (*who, _), own in rows.groupby([*PERSON, "instruction"], sort=True):
        if len(own) > 1 and own[OIS].iloc[-1] > own[OIS].iloc[0]:
            apart = float(own[measure].iloc[-1]) - float(own[measure].iloc[0])
            differences.setdefault(tuple(who), []).append(apart)
    values = np.array([np.mean(own) for own in differences.values()], np.float64)
    test = replace(test, n=values.size, n_people=values.size, n_models=int(rows["model"].nunique()))
    if rows["model"].nunique() > 1 and not varies(rows[OIS].to_numpy(np.float64)):
        return replace(test, why=FEW_MODELS)
    if values.size < 3:
        return replace(test, why=FEW)
    mean, df = float(values.mean()), values.size - 1
    if not varies(values):
        return test.with_estimate(mean, 0.0, df, "all participants have the same difference")
    return test.with_estimate(mean, float(values.std(ddof=1)) / np.sqrt(values.size), df)


@dataclass(frozen=True)
class RepairResults:
    """One study. curves: its rows of the table `concept_curves`; tests: what was expected, tested,
    none if answers were withheld, for the study declares its own; simulated: participants who
    are programs; forecasts: of withheld answers."""

    study: str
    rows: RepairRows
    models: StudyModels
    curves: pd.DataFrame
    tests: tuple[Prediction, ...]
    simulated: int
    forecasts: Forecasts | None = None

    @property
    def participants(self) -> int:
        """Number of participants with at least one picture that counts."""
        return int(self.models.people["participant"].nunique())

    @property
    def measures(self) -> list[str]:
        """The measures that have a value of anybody."""
        people = self.models.people
        return [name for name in MEASURES if people[name].notna().any()]

    @property
    def samples(self) -> list[str]:
        """The samples that were shown, the primary one first."""
        there = set(self.models.people["sample"].dropna())
        return [name for name in SAMPLES if name in there]

    @cached_property
    def correlations(self) -> Sequence[Statistic]:
        """Of every measure that is said to rise or fall with impurity, with every measure of the
        models; none if answers were withheld: these measures also follow how often a model's
        answer moves."""
        return (
            []
            if self.forecasts is not None
            else [
                self.models.correlate(measure, predictor)
                for measure in self.measures
                if MEASURES[measure].rises
                for predictor in self.models.predictors
            ]
        )

    @cached_property
    def drawn(self) -> Sequence[ReportFigure]:
        """The figures, drawn once for the page and the files. matplotlib is loaded here."""
        from labapp.tasks.concept_repair.report.figures import plates

        return plates(self)


def findings(counted: Tables) -> tuple[RepairResults, ...]:
    """What each study says that has a picture of this task which counts.

    counted: `Tables.included()`. Random draws are seeded, so that the same tables give the same
    intervals.
    """
    studies = sorted({str(name) for name in counted.small()["repairs"]["study"].dropna()})
    return tuple(results_of(counted.of_study(study), study) for study in studies)


def results_of(counted: Tables, study: str) -> RepairResults:
    """What one study says; counted: its tables alone."""
    rows = RepairRows.of(counted)
    people = by_person(rows)
    models = models_of(counted, study, people)
    sessions = counted.participants
    programs = sessions[sessions["strategy"].notna()] if "strategy" in sessions else sessions[:0]
    programs = programs.drop_duplicates("participant")  # of whatever sessions
    scores = counted.small()["concept_models"]
    declared = read_declaration(counted, study).hypotheses
    forecasts = forecasts_of(rows.changes, scores[scores["study"] == study], declared)
    return RepairResults(
        study=study,
        rows=rows,
        models=models,
        curves=counted.small()["concept_curves"],
        tests=tuple(run_tests(rows, models)) if forecasts is None else (),
        forecasts=forecasts,
        simulated=int(programs["participant"].isin(set(people["participant"])).sum()),
    )
