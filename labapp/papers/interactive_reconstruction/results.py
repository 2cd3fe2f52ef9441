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
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache, cached_property
from pathlib import Path
from typing import Any, assert_never

import pandas as pd

from labapp.analysis.columns import Metric
from labapp.analysis.inference import SMALLEST
from labapp.analysis.statistic import Statistic, select
from labapp.models.representations.card import dataset_of, installed, published_as
from labapp.models.representations.data import DspritesData, MnistData, SinelinesData
from labapp.study.design import Missing
from labapp.tasks.reconstruction.report.labels.names import PAPER

VALUES, VARIANCE, PAIRS, CHECKS, MIXED = "1", "2", "3", "4", "5"
"""Items of the table of statistics."""
STARS = ((0.0001, "****"), (0.001, "***"), (0.01, "**"), (0.05, "*"))
"""Of an uncorrected p, as in the captions of Figures 6 and A.11."""


@dataclass(frozen=True)
class Group:
    """Stages that are compared with each other: of one study and one task.

    models: ids in the order of the figures, of the least understood in the paper to the best where
    it names them (AE, VAE, IG, TC, SS, GT), else by id. within: participants met several models, so
    that tests are paired; else each participant met one. first_only: so many met another one too,
    and count with their first.
    values: one row a participant and model; columns participant, session, model, stage, one column
    a metric in the metric's unit (NaN where missing).
    trials: the questions of these stages that count, as in the table of trials. simulated: so many
    of the participants are programs. follows: the study declares the paper's analysis, so that its
    tests are made; else values are told and drawn alone. repeats: the study of the paper that is
    repeated, by the paper's name; empty for none. missing: what the study declares of what is
    missing.
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
        """The test of two models, whichever stands first; None where none was made."""
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
class Found:
    """Everything of one group. n_tests: tests made over all groups of an analysis, over which
    Bonferroni corrects; threshold: .05 / n_tests."""

    group: Group
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
"""Decimal places from printed units to those of the report's metrics, where they differ."""


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
        value = self._shifted(self.printed)
        return f"{value} ± {self._shifted(self.printed_sd)}" if self.printed_sd else value

    def _shifted(self, printed: str) -> str:
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


def has(group: Group) -> bool:
    """Whether the paper has what this group repeats: the study that it declares to repeat, and its
    task and data set."""
    return _like(group) in _models()


def mean(group: Group, model: str, metric: Metric) -> Printed | None:
    """The mean of a model, from the tables or else from the text."""
    return _of_model(group, model, metric, MEAN)


def median(group: Group, model: str, metric: Metric) -> Printed | None:
    return _of_model(group, model, metric, MEDIAN)


def _of_model(group: Group, model: str, metric: Metric, measure: str) -> Printed | None:
    name = published_name(model)
    return next(iter(_found(group, metric, measure, name)), None) if name else None


def omnibus(group: Group, metric: Metric) -> tuple[Printed, ...]:
    """What is printed of the analysis of variance: F, and p from each place that has one. A group
    of other models than the paper compared has none."""
    if _models().get(_like(group)) != {published_name(model) for model in group.models}:
        return ()
    return tuple(_each_source([*_found(group, metric, F), *_found(group, metric, P)]))


def pair(group: Group, text: str, other: str, metric: Metric) -> tuple[Printed, ...]:
    """What is printed of the test of two models: t (of the first less the other, whichever stands
    first in the paper), and p from each place that has one."""
    first, second = published_name(text), published_name(other)
    if not (first and second):
        return ()
    result: list[Printed] = []
    for measure in (T, P):
        result += _found(group, metric, measure, first, second)
        result += [_turned(row) for row in _found(group, metric, measure, second, first)]
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
"""Of these a quantity, a measure, and the models, empty where it is of none."""


def _like(group: Group) -> _Like:
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


def _found(
    group: Group, metric: Metric, measure: str, model: str = "", other: str = ""
) -> tuple[Printed, ...]:
    return _cells().get((_like(group), metric.column, measure, model, other), ())


def _place(row: Printed) -> list[bool]:
    """Tables before the text."""
    return [row.source != name for name in TABLES]


def _turned(row: Printed) -> Printed:
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
    """mse: sum of squared errors an instance of held-out data, of sampled encodings where there is
    a posterior; dci, mig: disentanglement, DCI as the paper's code computes it. None where a card
    has none."""

    mse: float | None = None
    dci: float | None = None
    mig: float | None = None


def facts(model: str) -> Facts | None:
    """Of the model package with this id that is installed here; None without a card that can be
    read. Sessions name their models by id and by the hash of the card."""
    card = installed(model)
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
    return published_as(model, PAPER)


def shown_name(model: str) -> str:
    return published_name(model) or model


def not_published(model: str) -> str:
    """Why a model that stands for one of the paper's is not that one, by its card; empty where
    nothing says so: it was trained as the paper's were, is one of them, imported, or stands for
    none."""
    card = installed(model)
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
