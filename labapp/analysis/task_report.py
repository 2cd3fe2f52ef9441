"""What the report has of one task, or of a published study: `TaskReport`.

A task type names its object (`TaskType.report`), a profile is one itself (`labapp.papers`). Each
is loaded when a report is written, and not before. A task that names none has the sections of
`labapp.analysis.task_report`.

What studies and questionnaires are called in a report: by their titles, if sessions know them.

What the report has of a task by models: for tasks whose models nothing compares, and for those
that name no sections of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from labapp.analysis.column import TRIAL, WHERE, WHO, Column
from labapp.analysis.columns import Metric, table_columns
from labapp.analysis.declared import Registration
from labapp.analysis.tables import Tables
from labapp.analysis.task_records import Columns, records_class
from labapp.base import discovery
from labapp.base.report.labels import place_of
from labapp.base.report.listing import NONE, spread
from labapp.base.report.page import (
    Html,
    count,
    decimal,
    either,
    heading,
    join_parts,
    paragraph,
    table,
    two_lines,
)
from labapp.models.representations.card import dataset_of
from labapp.study.plugins import registry

if TYPE_CHECKING:
    from labapp.analysis.calibration import Suggestion
    from labapp.base.report.drawing import ReportFigure
    from labapp.models.stimuli.manifest import Manifest
    from labapp.study.design import Hypothesis
    from labapp.study.loading import LoadedStudy
    from labapp.study.plugins.registry import TaskType


F = TypeVar("F")


@dataclass(frozen=True)
class ReportedStudy:
    """One study of the report.

    Attributes
    ----------
    name : its id.
    anchor : what the page's ids begin with.
    tables, counted : its rows, of all sessions and of those that count.
    """

    name: str
    anchor: str
    tables: Tables
    counted: Tables


class PrintedValue(Protocol):
    """A number on recruitment as a paper prints it; empty text if it is of none.

    source: its section; quantity: retention, duration, pay_per_hour, or an item of a questionnaire,
    `:` and its options with + between them; measure: share, average, percentile_80 or
    percentile_95; printed: as it stands there; note: what else is to be known.
    """

    @property
    def source(self) -> str: ...
    @property
    def quantity(self) -> str: ...
    @property
    def measure(self) -> str: ...
    @property
    def task(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def printed(self) -> str: ...
    @property
    def value(self) -> float | None: ...
    @property
    def note(self) -> str: ...


@dataclass(frozen=True)
class ComparedModels:
    """Models that are compared with each other by tests.

    Attributes
    ----------
    name : what the comparison is called.
    models : their ids, in the order of the figures.
    within : whether participants met several of them, so that tests are paired; else each met one.
    values : one row per participant and model: `participant`, `model`, and one column per metric.
    measured : of the metrics of what participants do, not of what they answer, by column the title.
    n_tests : how many tests are made of them, of all metrics.
    """

    name: str
    models: tuple[str, ...]
    within: bool
    values: pd.DataFrame
    measured: Mapping[str, str]
    n_tests: int


@dataclass(frozen=True)
class ComparedSlope:
    """A slope over models that a mixed logistic model tests, with random intercepts of
    participants, pictures and models.

    Attributes
    ----------
    name : what is tested.
    rises : whether the outcome is said to become more frequent as the models' value rises, or less.
    smallest : the smallest slope that matters: log odds a standard deviation of the models.
    n_tests : over how many tests p is corrected by Holm, this one among them.
    rows : a row an observation: `participant`, `model`, `picture` (a model's own), `kind` (of
        picture, a fixed effect), `value` (of the model), `outcome` (0 or 1).
    why : why there are no rows.
    """

    name: str
    rises: bool
    smallest: float
    n_tests: int
    rows: pd.DataFrame
    why: str = ""


@dataclass(frozen=True)
class PlannedTests:
    """What a plan says of tests that a task carries out.

    Attributes
    ----------
    title : of the table.
    caption : how to read it, and what it rests on.
    rows : numbers and words by column, the same columns in every row.
    """

    title: str
    caption: str
    rows: tuple[Mapping[str, float | str], ...]


@dataclass(frozen=True)
class HypothesisResult:
    """A hypothesis of the study and what came of it.

    Attributes
    ----------
    hypothesis : as the study's file declares it.
    p : of its test, corrected if it is one of several; None if it was not tested.
    words : the test in words, or why there is none.
    """

    hypothesis: Hypothesis
    p: float | None
    words: str


class TaskReport(Generic[F]):
    """What the report has of a task; F is what its findings are.

    Nothing needs to be said but what there is: each method has an answer for nothing.
    """

    activities: ClassVar[Mapping[str, str]] = {}
    """By task, as the column `task` of the tables calls it, what participants did, for the
    paragraph on methods: reconstructed target pictures by turning dials."""
    tasks: ClassVar[tuple[str, ...]] = ()
    """The tasks in the tables that its sections are about. Any other has the default section."""
    thresholds: ClassVar[str] = ""
    """What the levels are that a rule chooses among in its stages, and which way they go: % of
    pixels shown (lower is better)."""
    definitions: ClassVar[Mapping[str, str]] = {}
    """How its numbers are defined, by the name of the number."""
    tables: ClassVar[Mapping[str, tuple[Column, ...]]] = {}
    """The columns of tables that are worked out from the others, by name."""
    files: ClassVar[tuple[str, ...]] = ()
    """The names of the files that `write` makes."""
    instruments: ClassVar[frozenset[str]] = frozenset()
    """Questionnaires whose scores its own sections tell."""
    items: ClassVar[frozenset[str]] = frozenset()
    """Items of questionnaires that its own sections tell."""
    draws_workload: ClassVar[tuple[str, ...]] = ()
    """The tasks whose NASA-TLX ratings by model it draws itself."""

    def check_ratings(self, ratings: Sequence[Path]) -> None:
        """Look at the files of raters before anything is read. Raises RatingError."""

    def findings(self, counted: Tables, ratings: Sequence[Path]) -> F:
        """What the sessions that count say, worked out once for page, tables and figures.

        Parameters
        ----------
        counted : `Tables.included()`, of all studies.
        ratings : the files that raters filled in.
        """
        return cast(F, None)

    def statistics(self, findings: F) -> Iterable[Mapping[str, Any]]:
        """Its rows of the table of statistics (`labapp.analysis.analyze`)."""
        return ()

    def frames(self, findings: F) -> Mapping[str, pd.DataFrame]:
        """The rows of `tables`, by name."""
        return {}

    def hypotheses(self, study: ReportedStudy, findings: F) -> Iterator[HypothesisResult]:
        """The study's hypotheses that name a test of this task (`test`), in the file's order. A
        report that has some comes before the analyses according to the design, and begins the
        summary."""
        yield from ()

    def sections(self, study: ReportedStudy, findings: F) -> Iterator[Html]:
        """What it has of one study, each section with its heading (level 3)."""
        yield from ()

    def chapter(self, counted: Tables, findings: F, anchor: str) -> tuple[str, Iterator[Html]]:
        """What it has of all studies together: the heading (level 2), and what stands below it.
        Without a heading there is none. anchor: the heading's id."""
        return "", iter(())

    def plates(self, counted: Tables, findings: F) -> Iterable[ReportFigure]:
        """The figures that are files as well."""
        return ()

    def write(self, findings: F, folder: Path) -> None:
        """Write `files` into a folder. Raises OSError."""

    def methods(self, study: ReportedStudy, findings: F) -> Iterator[str]:
        """Sentences for the paragraph on methods."""
        yield from ()

    def defined(self, counted: Tables, findings: F) -> Mapping[str, str]:
        """Of `definitions`, those of numbers that stand on the page."""
        return self.definitions

    def asked(self, trials: pd.DataFrame) -> str:
        """What else is to be said of the questions of one task of `activities` in that paragraph,
        to be put behind its clause; empty for nothing."""
        return ""

    def compared(self, counted: Tables) -> Sequence[ComparedModels]:
        """The models that it compares in these sessions, for the plan of a study."""
        return ()

    planned_tables: ClassVar[tuple[str, ...]] = ()
    """The tables of its own that `slopes` needs."""

    def slopes(self, counted: Tables) -> Iterable[ComparedSlope]:
        """The slopes over models that it tests in these sessions, for the plan of a study."""
        return ()

    def planned_tests(self, loaded: LoadedStudy) -> Iterable[PlannedTests]:
        """Power and false positives of the tests that a study declares by their names, for its
        plan."""
        return ()

    def suggested(self, counted: Tables) -> Sequence[Suggestion]:
        """What calibrations among these sessions suggest, by data set."""
        return ()

    def about_stimuli(self, manifest: Manifest) -> str:
        """What is to be said of a stimulus set beside those of published studies."""
        return ""


class Profile(TaskReport[F]):
    """What the report has of a published study: what compares tasks, and what the paper prints."""

    def in_order(self, models: Sequence[str]) -> Sequence[str]:
        """These models in the order in which the study has those like them."""
        return models

    def printed(self, paper: str, study: str) -> Sequence[PrintedValue]:
        """What a paper prints of the recruitment for one of its studies."""
        return ()

    def published_name(self, model: str) -> str:
        """How those values call a model."""
        return model


@dataclass(frozen=True)
class Findings:
    """What the sessions that count say, of all studies: by report, and how to get it said."""

    counted: Tables
    of: Mapping[TaskReport[Any], Any] = field(default_factory=dict)
    registrations: Sequence[Registration] = ()

    @classmethod
    def find(
        cls,
        counted: Tables,
        ratings: Sequence[Path] = (),
        registrations: Sequence[Registration] = (),
    ) -> Findings:
        """counted: `Tables.included()`; ratings: files of raters; registrations: of studies."""
        of = {each: each.findings(counted, ratings) for each in reports()}
        return cls(counted, of, registrations)


def reports() -> tuple[TaskReport[Any], ...]:
    """The default analyses, the reports of all task types that have one, and the profiles of
    published studies. What a package brings that cannot be loaded is left out: see `left_out`."""
    return (default_analyses(), *_load_reports()[0].values(), *profiles())


@cache
def default_analyses() -> TaskReport[Any]:
    """The analyses that every study has, by its design."""
    report: TaskReport[Any] = discovery.load("labapp.analysis.design.contents:REPORT")
    return report


@cache
def profiles() -> tuple[Profile[Any], ...]:
    """Those of published studies."""
    return tuple(
        discovery.load(f"labapp.papers.{name}.profile:PROFILE") for name in discovery.PROFILES
    )


def in_order(models: Iterable[str]) -> tuple[str, ...]:
    """Models in the order of the profiles, each once; without one in that of the study."""
    ordered: Sequence[str] = sorted(set(models), key=place_of)
    for profile in profiles():
        ordered = profile.in_order(ordered)
    return tuple(ordered)


def unit_of_thresholds(task: str) -> str:
    """What the thresholds of a task are in; "" if it does not say."""
    return next((report.thresholds for report in reports() if task in report.activities), "")


def each_model(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of each model, in the order of the models."""
    groups = {str(model): own for model, own in rows.groupby("model", sort=False)}
    yield from ((model, groups[model]) for model in in_order(groups))


def has_report(task_type: TaskType[Any]) -> bool:
    """Whether a task type says what the report has of it."""
    return task_type.name in _load_reports()[0]


def left_out() -> tuple[str, ...]:
    """Why what packages bring is left out, a sentence each."""
    return tuple(_load_reports()[1])


@cache
def _load_reports() -> tuple[dict[str, TaskReport[Any]], list[str]]:
    """By the names of the task types; and why others are left out."""
    known: dict[str, TaskReport[Any]] = {}
    remarks = []
    packages = {id(plugin.value): plugin.package for plugin, _ in registry.TASKS.installed}
    for task_type in registry.task_types():
        if not task_type.report:
            continue
        package = packages.get(id(task_type))
        try:
            loaded = discovery.load(task_type.report)
            if not isinstance(loaded, TaskReport):
                raise TypeError(f"it is {type(loaded).__name__}, not an instance of a TaskReport")
        except Exception as error:
            if not package:
                raise  # one of labapp's own is a mistake in labapp
            remarks.append(
                f"The section that the package {package} brings for the report of "
                f"{task_type.name} cannot be loaded from {task_type.report}: "
                f"{type(error).__name__}: {error}. This task gets the standard section instead."
            )
            continue
        known[task_type.name] = loaded
    return known, remarks


def study_title(participants: pd.DataFrame, study: str) -> str:
    """The title of a study, as the latest version of its file has it; its id if no session
    has one. participants: that table, of any studies."""
    rows = participants[(participants["study"] == study) & participants["study_title"].notna()]
    titles = rows.sort_values(["study_version", "started_utc"])["study_title"]
    return str(titles.iloc[-1]) if len(titles) else study


def questionnaire_title(items: pd.DataFrame, instrument: str) -> str:
    """The title of a questionnaire, "" if no session has its words. items: the table."""
    rows = items[(items["instrument"] == instrument) & items["title"].notna()]
    ordered = rows.sort_values("instrument_version", kind="stable")
    return "" if rows.empty else str(ordered["title"].iloc[-1])


def questionnaire_name(items: pd.DataFrame, instrument: str) -> str:
    """The id of a questionnaire, which the tables have, with its title, if a session has its
    words. items: the table of items."""
    title = questionnaire_title(items, instrument)
    return f"{instrument}: {title}" if title else instrument


UNITS = {"completion_rate": "percentage points", "correctness_rate": "percentage points"}
"""Of changes, if they are not the metric's own."""


def unit(metric: Metric) -> str:
    """The unit of a change."""
    return UNITS.get(metric.column, metric.unit.replace("per stage", "per question"))


SUMMED = (
    "Error AUC is summed over the questions of a stage; it depends on the pictures, so each "
    "data set has its own axis."
)
CHANGE = "Change over questions"
"""What its section is called."""
_PLACE = frozenset(column.name for column in (*WHO, *WHERE, *TRIAL))
"""Columns that say where a row belongs, and measure nothing."""


def metrics_by_model(study: ReportedStudy, task: str, known: Sequence[Metric]) -> Iterator[Html]:
    """The section on the metrics of one task; nothing if no session that counts did it."""
    stages = study.counted.stages
    stages = stages[stages["task"] == task]
    if stages.empty:
        return
    metrics = with_values(stages, known)
    yield heading(3, f"Metrics by model, {task}")
    yield summary(stages, metrics)
    yield by_model(stages, f"{study.anchor}-{task}", metrics)
    yield from changes(stages, metrics)


def with_values(stages: pd.DataFrame, metrics: Sequence[Metric]) -> Sequence[Metric]:
    """What a study does not ask (SEQ, in a calibration) is no empty column."""
    return [metric for metric in metrics if stages[metric.column].notna().any()] or metrics


def without_sections(study: ReportedStudy) -> Iterator[Html]:
    """A section on every task of which no report has any: how many trials count, and what the
    numbers in the tables come to."""
    told = {task for report in reports() for task in report.tasks}
    trials = study.counted.trials
    counted = trials[(trials["role"] == "stage") & ~trials["excluded"]]
    for task in sorted({*map(str, trials["task"]), *map(str, study.counted.stages["task"])} - told):
        own = counted[counted["task"] == task]
        sessions = own.groupby(["participant", "session"]).ngroups
        yield heading(3, f"Task {task}")
        yield paragraph(
            f"{count(len(own), 'trial')} of {count(sessions, 'session')} count. No installed "
            "task has its own report on these numbers, so this is a plain summary."
        )
        yield _numbers(own, table_columns()["trials"], f"Of the table trials, {task}")
        stages = study.counted.stages
        yield _numbers(
            stages[stages["task"] == task],
            table_columns()["stages"],
            f"Of the table stages, {task}",
        )
    for task_type in registry.task_types():
        records = None if has_report(task_type) else records_class(task_type)
        for name, columns in () if records is None else records.tables.own.items():
            frame = study.counted.small()[name]
            if len(frame):
                yield _numbers(frame, columns, f"From the table {name}")


def _numbers(rows: pd.DataFrame, columns: Columns, caption: str) -> Html:
    """One row per column with numbers, one column per model; nothing without a number."""
    if "excluded" in rows:
        rows = rows[~rows["excluded"]]
    by_model = {"": rows}
    if "model" in rows and rows["model"].notna().any():
        by_model = dict(each_model(rows))
    lines = [
        [
            two_lines(column.name, ", ".join(filter(None, (column.meaning, column.unit)))),
            *(
                spread(own[column.name].dropna().to_numpy(dtype=float), 2)
                for own in by_model.values()
            ),
        ]
        for column in columns
        if column.kind in ("integer", "number")
        and column.name not in _PLACE
        and rows[column.name].notna().any()
    ]
    if not lines:
        return join_parts(())
    titles = [model or "All" for model in by_model]
    right = range(1, 1 + len(titles))
    return table(
        ["Column", *titles], lines, numeric=right, caption=f"{caption}: mean ± SD, median and n."
    )


def summary(stages: pd.DataFrame, metrics: Sequence[Metric]) -> Html:
    """Mean, sd and median of every metric by model."""
    rows = []
    for model, some in each_model(stages):
        cells: list[object] = [model, len(some)]
        for metric in metrics:
            values = some[metric.column].dropna().to_numpy(dtype=float) * metric.factor
            cells.append(spread(values, metric.decimals))
        rows.append(cells)
    names = [
        "Model",
        two_lines("Stages", "n"),
        *(two_lines(metric.called, metric.unit) for metric in metrics),
    ]
    return table(
        names,
        rows,
        numeric=range(1, 2 + len(metrics)),
        caption="Mean ± SD over participants; below it the median and n.",
    )


def by_model(stages: pd.DataFrame, name: str, metrics: Sequence[Metric]) -> Html:
    """The figure of a task whose models are not compared by tests; name: prefix of its ids."""
    from labapp.base.report import kit  # matplotlib is slow to load

    models = list(in_order(map(str, stages["model"].unique())))
    sets: dict[str, list[str]] = {}
    for model in models:
        sets.setdefault(dataset_of(model), []).append(model)
    measured = [
        kit.StripPanel(
            metric.called,
            metric.unit,
            wide(stages, "model", metric.column, own) * metric.factor,
            metric.limits,
            own,
            dataset,
        )
        for metric in metrics
        for dataset, own in (
            sets.items() if metric.by_dataset and len(sets) > 1 else (("", models),)
        )
    ]
    drawing = kit.strip_panels(measured, models, name, "Metrics by model", 3)
    caption = f"{kit.READ} n: stages with a value."
    if any(metric.by_dataset for metric in metrics):
        caption += f" {SUMMED}"
    return drawing.html(caption)


def wide(rows: pd.DataFrame, of: str, column: str, names: Sequence[str]) -> NDArray[np.float64]:
    """The mean of a column by participant and what it is of: shape (participants, names)."""
    by_participant = rows.assign(value=rows[column].astype(float)).pivot_table(
        index=["participant", "session"], columns=of, values="value", aggfunc="mean"
    )
    return by_participant.reindex(columns=list(names)).to_numpy(dtype=np.float64)


def changes(stages: pd.DataFrame, shown: Sequence[Metric]) -> Iterator[Html]:
    """First against last questions, where stages are long enough."""
    if not (stages["change_questions"] > 0).any():
        return
    metrics = [metric for metric in shown if f"change_{metric.column}" in stages]
    rows = []
    for model, some in each_model(stages):
        cells: list[object] = [model]
        for metric in metrics:
            values = some[f"change_{metric.column}"].dropna().to_numpy(dtype=float)
            cells.append(_format_change(values * metric.factor, metric.decimals))
        rows.append(cells)
    sizes = sorted({int(n) for n in stages["change_questions"] if n > 0})
    yield heading(3, CHANGE)
    yield table(
        ["Model", *(two_lines(metric.called, unit(metric)) for metric in metrics)],
        rows,
        numeric=range(1, 1 + len(metrics)),
        caption=f"Mean difference, over participants, between the last and the first "
        f"{either(sizes)} {'question' if sizes == [1] else 'questions'}; below it the median and "
        "n.",
    )


def _format_change(values: NDArray[np.float64], decimals: int) -> object:
    """Mean change with its sign, below it the median and n."""
    if values.size == 0:
        return NONE
    mean, median = (
        decimal(float(value), decimals, sign=True) for value in (values.mean(), np.median(values))
    )
    return two_lines(mean, f"median {median}, n = {values.size}")
