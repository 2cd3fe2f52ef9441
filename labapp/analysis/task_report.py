"""What the report has of one task, or of a published study: `TaskReport`.

A task type names its object (`TaskType.report`), a profile is one itself (`labapp.papers`). Each
is loaded when a report is written, and not before. A task that names none has the sections of
`labapp.analysis.by_task`.

What studies and questionnaires are called in a report: by their titles, where sessions know them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar, cast

import pandas as pd

from labapp.analysis.column import Column
from labapp.analysis.declared import Registration
from labapp.analysis.tables import Tables
from labapp.base import discovery
from labapp.base.report.page import Html
from labapp.study.plugins import registry

if TYPE_CHECKING:
    from labapp.analysis.calibration import Suggestion
    from labapp.base.report.drawing import ReportFigure
    from labapp.models.stimuli.manifest import Manifest
    from labapp.study.plugins.task_type import TaskType


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
    """A number on recruitment as a paper prints it; empty text where it is of none.

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
    values : one row a participant and model: `participant`, `model`, and a column a metric.
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


class TaskReport(Generic[F]):
    """What the report has of a task; F is what its findings are.

    Nothing needs to be said but what there is: each method has an answer for nothing.
    """

    activities: ClassVar[Mapping[str, str]] = {}
    """By task, as the column `task` of the tables calls it, what participants did, for the
    paragraph on methods: reconstructed target pictures by turning dials."""
    tasks: ClassVar[tuple[str, ...]] = ()
    """The tasks in the tables that its sections are about. Any other has the default section."""
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
    """The default analyses, the reports of all task types that name one, then the profiles of
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
    """Models in the order of the profiles, each once; without one by their ids."""
    ordered: Sequence[str] = sorted(set(models))
    for profile in profiles():
        ordered = profile.in_order(ordered)
    return tuple(ordered)


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
                raise TypeError(f"it is {type(loaded).__name__}, and no instance of a TaskReport")
        except Exception as error:
            if not package:
                raise  # one of labapp's own is a mistake in labapp
            remarks.append(
                f"What the package {package} has for the report of {task_type.name} cannot be "
                f"loaded from {task_type.report}: {type(error).__name__}: {error}. So that task "
                "has the section here that every task has."
            )
            continue
        known[task_type.name] = loaded
    return known, remarks


def study_title(participants: pd.DataFrame, study: str) -> str:
    """The title of a study, as the latest version of its file has it; its id where no session
    has one. participants: that table, of any studies."""
    rows = participants[(participants["study"] == study) & participants["study_title"].notna()]
    titles = rows.sort_values(["study_version", "started_utc"])["study_title"]
    return str(titles.iloc[-1]) if len(titles) else study


def questionnaire_name(items: pd.DataFrame, instrument: str) -> str:
    """The id of a questionnaire, which the tables have, with its title, where a session has its
    words. items: the table of items."""
    rows = items[(items["instrument"] == instrument) & items["title"].notna()]
    if rows.empty:
        return instrument
    title = str(rows.sort_values("instrument_version", kind="stable")["title"].iloc[-1])
    return f"{instrument}: {title}"
