"""What one group of sessions says about models: summaries, tests between models, effect sizes.

Paper 000, section 6 and Table A.3. All values are in the unit of their metric (`Metric.unit`), that
is, the column of the table times `Metric.factor`.

Also what the reconstruction paper found, to stand beside our numbers. `published.csv` beside this
module has every cell of Tables 2 and A.3, every F, t and p of section 6 and the medians of 6.2.1,
as printed: numbers in the unit of their row, standard deviations of the population (n). Where the
paper contradicts itself both values are there, each with a note; cells of Table A.3 that could not
be read in its text have no value and say so.

Also what model cards say of the models that were compared: the first columns of Table 2, what the
paper calls models like these, and what they are not.

Which stages are compared with each other: of one study and one task.

Where a study declares the paper's analysis (paper 000), models of several data sets are compared
apart, as there; in any other, models that participants met in one task are one comparison, whatever
data set they are of.

Where participants meet several models each, models that no participant meets together are groups
apart (5 and 10 dimensions in the think-aloud study); if each meets one, all are one group. There
somebody who took part twice, with another model, counts with the first (5.2.2: each person once).

Also one metric over the models of a group: summaries, tests and effects (paper 000, section 6). As
in the paper, the tests are repeated-measures ANOVA and paired t tests if participants met
several models, one-way ANOVA and independent t tests with pooled variance if each saw one. All
else is ours.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache, cached_property
from itertools import combinations, compress
from pathlib import Path
from typing import Any, assert_never

import numpy as np
import pandas as pd

from labapp.analysis import inference
from labapp.analysis.columns import Metric
from labapp.analysis.declared import find_repeated_study, follows, read_declaration
from labapp.analysis.design import anova, mixed
from labapp.analysis.inference import FEW, MAUCHLY, SAME, SMALLEST, Effect, Matrix, Values, outcome
from labapp.analysis.statistic import Statistic, select
from labapp.analysis.tables import Tables
from labapp.analysis.task_records import Row
from labapp.base.report.labels import place_of
from labapp.models.representations.card import dataset_of, find_card, find_published_name
from labapp.models.representations.recipe import DspritesData, MnistData, SinelinesData
from labapp.study.design import Missing
from labapp.tasks.reconstruction.plan import TASK as RECONSTRUCTION
from labapp.tasks.reconstruction.report.contents import METRICS
from labapp.tasks.reconstruction.report.labels.sheet import NAME, PAPER
from labapp.tasks.single_dimension.report import SINGLE_METRICS

VALUES, VARIANCE, PAIRS, CHECKS, MIXED = "1", "2", "3", "4", "5"
"""Items of the table of statistics."""
STARS = ((0.0001, "****"), (0.001, "***"), (0.01, "**"), (0.05, "*"))
"""Of an uncorrected p, as in the captions of Figures 6 and A.11."""


@dataclass(frozen=True)
class StudyGroup:
    """Stages that are compared with each other: of one study and one task.

    models: ids in the order of the figures, of the least understood in the paper to the best if
    it names them (AE, VAE, IG, TC, SS, GT), else by id. within: participants saw several models, so
    that tests are paired; else each participant met one. first_only: so many met another one too,
    and count with their first.
    values: one row per participant and model; columns participant, session, model, stage, one
    column per metric in the metric's unit (NaN if missing). trials: the questions of these stages
    that count, as in the table of trials. simulated: so many of the participants are programs.
    follows: the study declares the paper's analysis, so that its tests are made; else values are
    told and drawn alone. repeats: the study of the paper that is repeated, by the paper's name;
    empty for none. missing: what the study declares of what is missing.
    """

    study: str
    task: str
    name: str
    models: tuple[str, ...]
    within: bool
    values: pd.DataFrame
    trials: pd.DataFrame
    simulated: int = 0
    first_only: int = 0
    follows: bool = True
    repeats: str = ""
    missing: Missing = field(default_factory=Missing)

    @cached_property
    def dataset(self) -> str:
        """The data sets of the models, as their cards have them; a report asks for it hundreds of
        times, and each card is looked up on the disk."""
        return ", ".join(dict.fromkeys(map(dataset_of, self.models)))

    @property
    def participants(self) -> int:
        return int(self.values["participant"].nunique())


@dataclass(frozen=True)
class Compared:
    """One metric over the models of a group.

    rows: of the table of statistics, with an item each: values by model, the analysis of variance
    and the test by ranks beside it, pairs of models likewise, the assumption checks a reviewer asks
    for, and what a linear mixed model says where data are unbalanced. What is not the paper's is
    `ours`. repeats: the metric of which this one is a multiple, so that its tests are the same
    tests again and are not counted."""

    metric: Metric
    rows: tuple[Statistic, ...]
    repeats: str = ""

    def of(self, item: str, **cells: object) -> list[Statistic]:
        """The rows of an item that have these cells."""
        return select(self.rows, item=item, **cells)

    def values(self, model: str) -> Statistic:
        """What the values with a model are."""
        return self.of(VALUES, model=model)[0]

    @property
    def omnibus(self) -> Statistic | None:
        """The analysis of variance over all models."""
        return next(iter(self.of(VARIANCE, ours=False)), None)

    @property
    def pairs(self) -> list[Statistic]:
        """The t tests of two models each."""
        return self.of(PAIRS, ours=False)

    @property
    def tests(self) -> tuple[Statistic, ...]:
        """The analysis of variance and the t tests that have a p, as the paper counts them; none
        of a metric that repeats another."""
        if self.repeats:
            return ()
        made = (*self.of(VARIANCE, ours=False), *self.pairs)
        return tuple(test for test in made if test.p is not None)

    def pair(self, text: str, other: str) -> Statistic | None:
        """The test of two models, whichever stands first; None if none was made."""
        pairs = (row for row in self.pairs if {row.model, row.compared_with} == {text, other})
        return next(pairs, None)

    def smallest(self, test: Statistic) -> int:
        """Values of the smallest sample of a test."""
        if test.item == PAIRS:
            return min(test.n or 0, test.n_2 or 0)
        sizes = [row.n for row in self.of(VALUES) if row.n]
        # Within participants nobody is in it who lacks a model.
        return min(test.n or 0, *sizes)


@dataclass(frozen=True)
class GroupResults:
    """Everything of one group. n_tests: tests made over all groups of an analysis, over which
    Bonferroni corrects; threshold: .05 / n_tests."""

    group: StudyGroup
    compared: tuple[Compared, ...]
    n_tests: int

    @property
    def rows(self) -> Iterator[Statistic]:
        """The rows of the table of statistics."""
        return (row for comparison in self.compared for row in comparison.rows)

    @property
    def threshold(self) -> float:
        return 0.05 / self.n_tests if self.n_tests else 0.05


def stars(p: float | None, n: int) -> str:
    """Stars of a p; none without p or with fewer than five values."""
    if p is None or n < SMALLEST:
        return ""
    return next((shown for limit, shown in STARS if p < limit), "")


FILE = Path(__file__).with_name("published.csv")
SYNTHETIC, MNIST = "synthetic-crowd", "mnist-crowd"
MEAN, MEDIAN, F, T, P = "mean", "median", "F", "t", "p"
TABLES = ("Table A.3", "Table 2")
"""Where a value is looked up first; then in the text."""
SHIFTS = {"0-1": 2, "1000 sum of squares x s": 3}
"""Decimal places from printed units to those of the report's metrics, if they differ."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A number of the paper; a row of `published.csv`.

    source: table or section; study: as labapp ships it; model, compared_with: as the paper names
    them; quantity: column of the table of stages or name of a score, or of a fact about a model;
    measure: mean, median, F, t, p and others; relation: < where only a bound of p is printed;
    printed, printed_sd: as they stand there; sd: of the population. Empty text or None: it does
    not apply, or the cell has no value.
    """

    source: str
    study: str
    task: str
    dataset: str
    model: str
    compared_with: str
    quantity: str
    measure: str
    unit: str
    relation: str
    printed: str
    printed_sd: str
    value: float | None
    sd: float | None
    df: float | None
    df_2: float | None
    n: int | None
    note: str

    @property
    def spread(self) -> str:
        """Value and standard deviation in the unit of the report's metric, with the decimals that
        are printed; empty without a value."""
        value = self._shift(self.printed)
        return f"{value} ± {self._shift(self.printed_sd)}" if self.printed_sd else value

    def _shift(self, printed: str) -> str:
        if not printed:
            return ""
        return f"{Decimal(printed).scaleb(SHIFTS.get(self.unit, 0)):,f}".replace("-", "−")

    @property
    def said(self) -> str:
        """Of a test: F(2, 28) = 32.3, or p < 0.0001, or p = 5e-08, as it is printed."""
        if self.value is None:
            return ""
        if self.measure == P:
            return f"p {self.relation} {self.printed}"
        freedom = [f"{value:g}" for value in (self.df, self.df_2) if value is not None]
        of = f"({', '.join(freedom)})" if freedom else ""
        return f"{self.measure}{of} = {self.printed}".replace("-", "−")


@cache
def rows() -> tuple[Printed, ...]:
    """Everything that is printed, in the order of the file."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return tuple(_row(row) for row in csv.DictReader(file))


def _row(cells: dict[str, str]) -> Printed:
    """The columns are named as the fields are."""
    names = ("value", "sd", "df", "df_2")
    numbers = {name: float(cells[name]) if cells[name] else None for name in names}
    n = int(cells["n"]) if cells["n"] else None
    fields: dict[str, Any] = {**cells, **numbers, "n": n}
    return Printed(**fields, printed=cells["value"], printed_sd=cells["sd"])


def has(group: StudyGroup) -> bool:
    """Whether the paper has what this group repeats: the study that it declares to repeat, and its
    task and data set."""
    return _like(group) in _models()


def mean(group: StudyGroup, model: str, metric: Metric) -> Printed | None:
    """The mean of a model, from the tables or else from the text."""
    return _of_model(group, model, metric, MEAN)


def median(group: StudyGroup, model: str, metric: Metric) -> Printed | None:
    return _of_model(group, model, metric, MEDIAN)


def _of_model(group: StudyGroup, model: str, metric: Metric, measure: str) -> Printed | None:
    name = published_name(model)
    return next(iter(_find_printed(group, metric, measure, name)), None) if name else None


def omnibus(group: StudyGroup, metric: Metric) -> tuple[Printed, ...]:
    """What is printed of the analysis of variance: F, and p from each place that has one. A group
    of other models than the paper compared has none."""
    if _models().get(_like(group)) != {published_name(model) for model in group.models}:
        return ()
    return tuple(_each_source([*_find_printed(group, metric, F), *_find_printed(group, metric, P)]))


def pair(group: StudyGroup, text: str, other: str, metric: Metric) -> tuple[Printed, ...]:
    """What is printed of the test of two models: t (of the first less the other, whichever stands
    first in the paper), and p from each place that has one."""
    first, second = published_name(text), published_name(other)
    if not (first and second):
        return ()
    result: list[Printed] = []
    for measure in (T, P):
        result += _find_printed(group, metric, measure, first, second)
        result += [
            _swap_models(row) for row in _find_printed(group, metric, measure, second, first)
        ]
    return tuple(_each_source(sorted(result, key=lambda row: (row.measure == P, _place(row)))))


def model_fact(dataset: str, model: str, quantity: str) -> Printed | None:
    """mse, dci or mig of Table 2."""
    if not (name := published_name(model)):
        return None
    cell = ("Table 2", dataset, name, quantity)
    return next(
        (row for row in rows() if (row.source, row.dataset, row.model, row.quantity) == cell), None
    )


def recruitment(study: str) -> tuple[Printed, ...]:
    """What is printed of how people were found and paid for a study of the paper, and of them."""
    return tuple(row for row in rows() if row.source in ("5.2.1", "5.2.2") and row.study == study)


_Like = tuple[str, str, str]
"""Study, task and data set."""
_Cell = tuple[_Like, str, str, str, str]
"""Of these a quantity, a measure, and the models, empty if it is of none."""


def _like(group: StudyGroup) -> _Like:
    return group.repeats, group.task, group.dataset


@cache
def _models() -> dict[_Like, set[str]]:
    """The models with a mean; a study and task of the paper without one is there too."""
    result: dict[_Like, set[str]] = {}
    for row in rows():
        known = result.setdefault((row.study, row.task, row.dataset), set())
        if row.measure == MEAN and row.value is not None:
            known.add(row.model)
    return result


@cache
def _cells() -> dict[_Cell, tuple[Printed, ...]]:
    """What is printed in each, in the order of the tables, then of the text; without the cells that
    have no value. A report asks for hundreds."""
    result: dict[_Cell, list[Printed]] = {}
    for row in rows():
        if row.value is not None:
            like = (row.study, row.task, row.dataset)
            cell = (like, row.quantity, row.measure, row.model, row.compared_with)
            result.setdefault(cell, []).append(row)
    return {cell: tuple(sorted(some, key=_place)) for cell, some in result.items()}


def _find_printed(
    group: StudyGroup, metric: Metric, measure: str, model: str = "", other: str = ""
) -> tuple[Printed, ...]:
    return _cells().get((_like(group), metric.column, measure, model, other), ())


def _place(row: Printed) -> list[bool]:
    """Tables before the text."""
    return [row.source != name for name in TABLES]


def _swap_models(row: Printed) -> Printed:
    if row.measure != T or row.value is None:
        return row
    value = -Decimal(row.printed)
    return replace(
        row,
        model=row.compared_with,
        compared_with=row.model,
        printed=str(value),
        value=float(value),
    )


def _each_source(rows: Sequence[Printed]) -> Iterator[Printed]:
    """Each number once: the text repeats p of the tables, or prints a bound that it keeps."""
    known: list[Printed] = []
    for row in rows:
        value = row.value or 0.0
        same = [other.value or 0.0 for other in known if other.measure == row.measure]
        if value not in same and not (row.relation == "<" and any(other < value for other in same)):
            known.append(row)
            yield row


@dataclass(frozen=True, slots=True)
class Facts:
    """mse: sum of squared errors an instance of held-out data, of sampled encodings if there is
    a posterior; dci, mig: disentanglement, DCI as the paper's code computes it. None if a card
    has none."""

    mse: float | None = None
    dci: float | None = None
    mig: float | None = None


def facts(model: str) -> Facts | None:
    """Of the model package with this id that is installed here; None without a card that can be
    read. Sessions name their models by id and by the hash of the card."""
    card = find_card(model)
    if card is None:
        return None
    error, tangled = card.held_out_error, card.disentanglement
    return Facts(
        mse=None if error is None else error.as_published,
        dci=None if tangled is None else tangled.dci_exchanged.disentanglement,
        mig=None if tangled is None else tangled.mig,
    )


def published_name(model: str) -> str:
    """How the paper calls the model that this one is or stands for, as its card says; empty of any
    other, whatever its id."""
    return find_published_name(model, PAPER)


def shown_name(model: str) -> str:
    return published_name(model) or model


def not_published(model: str) -> str:
    """Why a model that stands for one of the paper's is not that one, by its card; empty if
    nothing says so: it was trained as the paper's were, is one of them, imported, or stands for
    none."""
    card = find_card(model)
    data = None if card is None or not published_name(model) else card.data
    match data:
        case None | SinelinesData():
            return ""
        case MnistData():
            if data.digits == "all":
                return ""
            return f"trained on {data.trained_on:,} digits of MNIST, not on 60,000 as in the paper."
        case DspritesData():
            if data.pictures == "official":
                return ""
            return "trained on pictures that labapp drew, not on the official ones."
    assert_never(data)


TRAVERSALS, EXEMPLARS = "single-dimension-traversals", "single-dimension-exemplars"
TASKS = (RECONSTRUCTION, EXEMPLARS, TRAVERSALS)
"""In the order of Table A.3."""
FAMILIES = ("ae", "vae", "ig", "tc", "ss", "gt")
"""From the least understood to the best, by the names that the paper gives models."""
_WHO = ["study", "participant", "session"]


SCORE_METRICS = (
    Metric("post_quiz_difficulty", "Difficulty (after the quiz)", "1–5", 1.0, 2, (1, 5)),
    Metric("mental_demand", "Mental demand", "0–100", limits=(0, 100)),
    Metric("physical_demand", "Physical demand", "0–100", limits=(0, 100)),
    Metric("temporal_demand", "Temporal demand", "0–100", limits=(0, 100)),
    Metric("performance", "Performance", "0 perfect – 100 failure", limits=(0, 100)),
    Metric("effort", "Effort", "0–100", limits=(0, 100)),
    Metric("frustration", "Frustration", "0–100", limits=(0, 100)),
    Metric("raw_tlx", "Raw TLX", "0–100", limits=(0, 100)),
    Metric("weighted_tlx", "Weighted TLX", "0–100", limits=(0, 100)),
    Metric("systematic_plan", "Had a systematic plan", "1–5", 1.0, 2, (1, 5)),
    Metric("random_experimenting", "Tried things at random", "1–5", 1.0, 2, (1, 5)),
    Metric("understood_dimensions", "Understood the dimensions", "1–5", 1.0, 2, (1, 5)),
)
"""What questionnaires say of a stage, by the names of their scores (Table A.3, Figure 9); the
difficulty after the quiz is 6 minus the answer to “Stage k was easy”."""


def metrics_of(task: str) -> tuple[Metric, ...]:
    """The metrics of a task's stages, those of the paper's figures first."""
    return (*(METRICS if task == RECONSTRUCTION else SINGLE_METRICS), *SCORE_METRICS)


def in_order(models: Iterable[str]) -> tuple[str, ...]:
    """As the study lists them. Where it does not say so: those of the paper, by their cards, by
    number of dimensions and then as `FAMILIES`; others by id."""

    def place(model: str) -> tuple[int, bool, int, int, str]:
        listed, _ = place_of(model)
        match = re.fullmatch(r"([a-z]+)(\d*)", published_name(model))
        if match is None or match[1] not in FAMILIES:
            return listed, True, 0, 0, model
        return listed, False, int(match[2] or 0), FAMILIES.index(match[1]), model

    return tuple(sorted(set(models), key=place))


def groups_of(counted: Tables) -> list[StudyGroup]:
    """The groups by study and task, and by data set if the study declares the paper's analysis;
    counted: the tables of the sessions that count."""
    stages = counted.stages[counted.stages["task"].isin(TASKS)]
    if stages.empty:
        return []
    stages = _with_scores(stages, counted.scores)
    studies = {str(study) for study in stages["study"].unique()}
    declared = {study: follows(counted, study, NAME, PAPER) for study in studies}
    sets = stages["model"].map(dataset_of).where(stages["study"].map(declared), "")
    stages = stages.assign(dataset=sets)
    trials = counted.trials
    trials = trials[(trials["role"] == "stage") & ~trials["excluded"]]
    programs = counted.participants[counted.participants["simulated"]]
    simulated = set(zip(programs["study"], programs["participant"], strict=True))
    result = []
    cells = [
        ((str(study), TASKS.index(str(task)), str(dataset)), own)
        for (study, task, dataset), own in stages.groupby(["study", "task", "dataset"])
    ]
    for (study, place, dataset), own in sorted(cells, key=lambda cell: cell[0]):
        task = TASKS[place]
        parts = list(_meeting(own))
        for models, within in parts:
            some = own[own["model"].isin(models)]
            # Where each meets one model, another than the first does not count.
            first = some.groupby("participant")["model"].transform("first")
            again = (some["model"] != first) & (not within)
            values = _values(some[~again], metrics_of(task))
            left_out = frozenset(
                zip(some.loc[again, "participant"], some.loc[again, "model"], strict=True)
            )
            of_group = (trials["study"] == study) & (trials["task"] == task)
            names = ", ".join(map(shown_name, models))
            apart = f" ({names})" if len(parts) > 1 else ""
            result.append(
                StudyGroup(
                    study=study,
                    task=task,
                    name=f"{task}{dataset and ', '}{dataset}{apart}",
                    models=models,
                    within=within,
                    values=values,
                    trials=_without(trials[of_group & trials["model"].isin(models)], left_out),
                    simulated=sum(
                        (study, value) in simulated for value in set(values["participant"])
                    ),
                    first_only=some.loc[again, "participant"].nunique(),
                    follows=declared[study],
                    repeats=find_repeated_study(counted, study, PAPER),
                    missing=read_declaration(counted, study).missing,
                )
            )
    return result


def _meeting(stages: pd.DataFrame) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Sets of models that are compared, those of fewer dimensions first; of each whether within
    participants: at least half of them met several models."""
    met = stages.groupby("participant")["model"].agg(frozenset)
    together = sorted(set(met), key=sorted)
    parts: list[set[str]] = []
    for models in together:
        apart = [part for part in parts if not part & models]
        parts = [*apart, set(models).union(*(part for part in parts if part & models))]
    several = []
    for part in parts:
        own = [len(models) > 1 for models in met if models <= part]
        if 2 * sum(own) >= len(own):
            several.append(part)
    one_each = set().union(*(part for part in parts if part not in several))
    meetings = [(in_order(part), True) for part in several]
    if one_each:
        meetings.append((in_order(one_each), False))
    ordered = in_order(str(model) for part in parts for model in part)
    yield from sorted(meetings, key=lambda meeting: ordered.index(meeting[0][0]))


def _without(trials: pd.DataFrame, left_out: frozenset[tuple[str, str]]) -> pd.DataFrame:
    """left_out: participants and models."""
    counted = [
        both not in left_out for both in zip(trials["participant"], trials["model"], strict=True)
    ]
    return trials[np.array(counted, dtype=bool)].reset_index(drop=True)


def _with_scores(stages: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """The stages with one column per score that a questionnaire gave them; NaN if none did."""
    named = [metric.column for metric in SCORE_METRICS]
    asked = scores[scores["about"].notna()][[*_WHO, "about", "instrument", "score", "value"]]
    asked = asked.rename(columns={"about": "stage"})
    # The questionnaire after the quiz, and its statement “Stage k was easy”.
    easy = asked[(asked["instrument"] == "synthetic-end") & (asked["score"] == "stage_easy")]
    difficulty = easy.assign(score=named[0], value=6 - easy["value"])
    both = pd.concat([difficulty, asked[asked["score"].isin(named[1:])]], ignore_index=True)
    wide = both.pivot_table(index=[*_WHO, "stage"], columns="score", values="value", aggfunc="mean")
    wide = wide.reindex(columns=named).reset_index()
    return stages.merge(wide, on=[*_WHO, "stage"], how="left")


def _values(stages: pd.DataFrame, metrics: Iterable[Metric]) -> pd.DataFrame:
    """One row per participant and model, in the metrics' units; metrics without a value are left
    out. A participant who had a model in several stages has the mean of them, and their names with
    ; between them."""
    columns = {
        metric.column: stages[metric.column].astype("float64") * metric.factor
        for metric in metrics
        if stages[metric.column].notna().any()
    }
    frame = stages[["participant", "session", "model", "stage"]].assign(**columns)
    by = frame.groupby(["participant", "model"], sort=True)
    names = by[["session", "stage"]].agg(_join_names)
    table = pd.concat([names, by[list(columns)].mean()], axis=1).reset_index()
    return table[["participant", "session", "model", "stage", *columns]]


def _join_names(names: pd.Series[str]) -> str:
    return ";".join(dict.fromkeys(names))


SUM_ERROR, MEAN_ERROR = "error_auc_sum", "error_auc_mean"
ONE_WAY, REPEATED = "one-way ANOVA", "repeated-measures ANOVA"
GREENHOUSE_GEISSER = "repeated-measures ANOVA, Greenhouse-Geisser"


def comparisons(group: StudyGroup) -> tuple[Compared, ...]:
    """Every metric with a value, in the order of the report, with the paper's tests if the study
    declares its analysis; nothing is corrected here."""
    known = [metric for metric in metrics_of(group.task) if metric.column in group.values]
    return tuple(
        _compare_metric(group, metric, find_repeated_metric(group.values, metric), group.follows)
        for metric in known
    )


def find_repeated_metric(values: pd.DataFrame, metric: Metric) -> str:
    """The metric of which this one is a multiple: of pictures of one size the error is, as a sum
    or as a mean over the pixels."""
    if metric.column != MEAN_ERROR or SUM_ERROR not in values:
        return ""
    mean, total = (values[name].to_numpy(np.float64) for name in (MEAN_ERROR, SUM_ERROR))
    if (np.isnan(mean) != np.isnan(total)).any() or not np.nansum(total):
        return ""
    factor = np.nansum(mean) / np.nansum(total)
    same = np.allclose(mean, factor * total, rtol=1e-9, atol=0, equal_nan=True)
    return SUM_ERROR if same else ""


def _compare_metric(group: StudyGroup, metric: Metric, repeats: str, tests: bool) -> Compared:
    matrix = matrix_of(group, metric)
    samples = {model: inference.values_of(matrix[:, at]) for at, model in enumerate(group.models)}
    rows = [_values_row(group, metric, model, own) for model, own in samples.items()]
    if tests and sum(sample.size > 0 for sample in samples.values()) > 1:
        made = list((_within if group.within else _between)(group.models, matrix))
        rows += [replace(row, ours=True) if row.ours is None else row for row in made]
        if group.within and bool(np.isnan(matrix).any()):
            rows.append(replace(mixed.wald(matrix), item=MIXED, ours=True, n=len(matrix)))
    about: Row = {
        "study": group.study,
        "design": f"{'within' if group.within else 'between'} participants",
        "group": group.name,
        "quantity": metric.column,
        "unit": metric.unit,
    }
    compared = Compared(metric, tuple(replace(row, **about) for row in rows), repeats)
    return replace(compared, rows=tuple(_of_paper(group, compared, row) for row in compared.rows))


def _of_paper(group: StudyGroup, compared: Compared, row: Statistic) -> Statistic:
    """With the stars, and what the paper printed, of a test that it makes too."""
    if row.ours or row.item not in (VARIANCE, PAIRS):
        return row
    printed = (
        omnibus(group, compared.metric)
        if row.item == VARIANCE
        else pair(group, row.model, row.compared_with, compared.metric)
    )
    shown = ", ".join(each.said for each in printed)
    return replace(row, stars=stars(row.p, compared.smallest(row)), published=shown)


def correct_tests(compared: Compared, n_tests: int) -> Compared:
    """With Bonferroni's correction over so many tests."""
    rows = []
    for row in compared.rows:
        if not row.ours and row.item in (VARIANCE, PAIRS):
            row = replace(row, n_tests=n_tests, counted=row.p is not None and not compared.repeats)
            if row.p is not None:
                p = min(1.0, row.p * n_tests)
                enough = compared.smallest(row) >= SMALLEST
                row = replace(row, p_corrected=p, significant=p < 0.05 and enough)
        rows.append(row)
    return replace(compared, rows=tuple(rows))


def matrix_of(group: StudyGroup, metric: Metric) -> Matrix:
    """Values of shape (participants with a value, models); NaN if there is none."""
    wide = group.values.pivot_table(
        index="participant", columns="model", values=metric.column, dropna=False
    ).reindex(columns=list(group.models))
    return wide.dropna(how="all").to_numpy(np.float64)


def _values_row(group: StudyGroup, metric: Metric, model: str, values: Values) -> Statistic:
    printed = mean(group, model, metric)
    row = Statistic(
        item=VALUES, model=model, test="mean", ours=False, n=values.size,
        published="" if printed is None else printed.spread,
    )  # fmt: skip
    if not values.size:
        return row
    return replace(
        row, mean=float(values.mean()), median=float(np.median(values)), sd=inference.sd(values),
        sd_population=float(values.std()),
    )  # fmt: skip


def _within(models: tuple[str, ...], values: Matrix) -> Iterator[Statistic]:
    """The analysis of variance is of the participants who have every model that has values, a t
    test of those who have both models."""
    there = np.asarray(np.isfinite(values).any(axis=0))
    models = tuple(compress(models, there))
    values = values[:, there]
    whole = values[np.isfinite(values).all(axis=1)]
    model = anova.of_one_factor(whole)
    of = {"n": len(whole), "n_left_out": len(values) - len(whole)}
    yield from _variance(model, REPEATED, inference.friedman(whole), of)
    normal = []
    for first, other in combinations(range(len(models)), 2):
        both = values[np.isfinite(values[:, [first, other]]).all(axis=1)]
        own = both[:, [first, other]].T
        apart = own[0] - own[1]
        test = inference.paired_t(*own)
        names: Row = {"model": models[first], "compared_with": models[other]}
        effect, ranks = inference.d_z(apart), inference.signed_rank(apart)
        yield from _pair(test, inference.mean(apart), effect, ranks, names | _sizes(own))
        normal.append(replace(inference.normality(apart), item=CHECKS, **names))
    if len(whole):
        yield _normality(model)
    if len(models) > 2:
        why = FEW if isinstance(model, str) else SAME
        term = None if isinstance(model, str) else model.terms()[0]
        sphericity = (term and term.sphericity) or outcome(MAUCHLY, why=why)
        yield replace(sphericity, item=CHECKS)
        without = (term and term.corrected) or outcome(GREENHOUSE_GEISSER, why=why)
        yield replace(without, item=CHECKS, test=GREENHOUSE_GEISSER)
    yield from normal


def _variance(
    model: anova.Variance | str, name: str, ranks: Statistic, of: Row
) -> Iterator[Statistic]:
    """The analysis of variance, generalised eta squared, and the test by ranks."""
    of = of | {"item": VARIANCE}
    if isinstance(model, str):
        yield replace(outcome(name, why=model), ours=False, **of)
    else:
        (term,) = model.terms()
        named = inference.PLAIN if name == ONE_WAY and term.plain.effect_name else None
        plain = replace(term.plain, effect_name=named or term.plain.effect_name)
        yield replace(plain, test=name, ours=False, **of)
        if term.generalised is not None:
            yield replace(term.generalised, **of)
    yield replace(ranks, **of)


def _normality(model: anova.Variance | str) -> Statistic:
    values = np.empty(0) if isinstance(model, str) else model.residuals()
    return replace(inference.normality(values), item=CHECKS)


def _between(models: tuple[str, ...], values: Matrix) -> Iterator[Statistic]:
    named = {
        model: inference.values_of(values[:, at])
        for at, model in enumerate(models)
        if np.isfinite(values[:, at]).any()
    }
    samples = list(named.values())
    groups = np.repeat(np.arange(len(samples)), [sample.size for sample in samples])
    model = anova.of_one_factor(np.concatenate(samples), groups)
    of = {"n": len(groups), "n_left_out": 0}
    yield from _variance(model, ONE_WAY, inference.kruskal(samples), of)
    for first, other in combinations(named, 2):
        own = named[first], named[other]
        apart = float(own[0].mean() - own[1].mean())
        effect, ranks = inference.hedges_g(*own), inference.rank_sum(*own)
        names = {"model": first, "compared_with": other} | _sizes(own)
        yield from _pair(inference.two_sample(*own), apart, effect, ranks, names)
    yield _normality(model)
    yield replace(inference.same_variances(samples), item=CHECKS)


def _sizes(samples: Iterable[Values]) -> dict[str, int]:
    first, other = samples
    return {"n": first.size, "n_2": other.size}


def _pair(
    test: Statistic, difference: float | None, effect: Effect | None, ranks: Statistic, of: Row
) -> Iterator[Statistic]:
    """The t test of two models with its effect, and the test by ranks."""
    size = {} if effect is None else effect.cells
    yield replace(test, item=PAIRS, ours=False, difference=difference, **size, **of)
    yield replace(ranks, item=PAIRS, **of)
