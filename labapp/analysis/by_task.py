"""What the report has of a task by models: for tasks whose models nothing compares, and for those
that name no sections of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from labapp.analysis.column import TRIAL, WHERE, WHO
from labapp.analysis.columns import Metric, table_columns
from labapp.analysis.task_records import Columns, records_class
from labapp.analysis.task_report import ReportedStudy, has_report, reports
from labapp.base.report.listing import NONE, spread
from labapp.base.report.page import (
    Html,
    count,
    decimal,
    either,
    heading,
    joined,
    paragraph,
    table,
    two_lines,
)
from labapp.models.representations.card import dataset_of
from labapp.study.plugins import registry

UNITS = {"completion_rate": "percentage points", "correctness_rate": "percentage points"}
"""Of changes, where they are not the metric's own."""


def unit(metric: Metric) -> str:
    """The unit of a change."""
    return UNITS.get(metric.column, metric.unit.replace("a stage", "a question"))


SUMMED = (
    "Error AUC is summed over the questions of a stage; it depends on the pictures, so that each "
    "data set has an axis of its own."
)
CHANGE = "Change over questions"
"""What its section is called."""
_PLACE = frozenset(column.name for column in (*WHO, *WHERE, *TRIAL))
"""Columns that say where a row belongs, and measure nothing."""


def metrics_by_model(study: ReportedStudy, task: str, known: Sequence[Metric]) -> Iterator[Html]:
    """The section on the metrics of one task; nothing where no session that counts did it."""
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
            f"{count(len(own), 'trial')} of {count(sessions, 'session')} count. Nothing that is "
            "installed says more of this task, so this is what its numbers come to."
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
                yield _numbers(frame, columns, f"Of the table {name}")


def _numbers(rows: pd.DataFrame, columns: Columns, caption: str) -> Html:
    """A row a column with numbers, a column a model; nothing without a number."""
    if "excluded" in rows:
        rows = rows[~rows["excluded"]]
    by_model = {"": rows}
    if "model" in rows and rows["model"].notna().any():
        by_model = {str(model): own for model, own in rows.groupby("model", sort=True)}
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
        return joined(())
    titles = [model or "All" for model in by_model]
    right = range(1, 1 + len(titles))
    return table(
        ["Column", *titles], lines, numeric=right, caption=f"{caption}: mean ± sd, median and n."
    )


def summary(stages: pd.DataFrame, metrics: Sequence[Metric]) -> Html:
    """Mean, sd and median of every metric by model."""
    rows = []
    for model, some in stages.groupby("model", sort=True):
        cells: list[object] = [model, len(some)]
        for metric in metrics:
            values = some[metric.column].dropna().to_numpy(dtype=float) * metric.factor
            cells.append(spread(values, metric.decimals))
        rows.append(cells)
    names = [
        "Model",
        two_lines("Stages", "n"),
        *(two_lines(metric.title, metric.unit) for metric in metrics),
    ]
    return table(
        names,
        rows,
        numeric=range(1, 2 + len(metrics)),
        caption="Mean ± sd over participants; below it the median and n.",
    )


def by_model(stages: pd.DataFrame, name: str, metrics: Sequence[Metric]) -> Html:
    """The figure of a task whose models are not compared by tests; name: prefix of its ids."""
    from labapp.base.report import kit  # matplotlib is slow to load

    models = sorted(str(model) for model in stages["model"].unique())
    sets: dict[str, list[str]] = {}
    for model in models:
        sets.setdefault(dataset_of(model), []).append(model)
    measured = [
        kit.StripPanel(
            metric.title,
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
    for model, some in stages.groupby("model", sort=True):
        cells: list[object] = [model]
        for metric in metrics:
            values = some[f"change_{metric.column}"].dropna().to_numpy(dtype=float)
            cells.append(_changed(values * metric.factor, metric.decimals))
        rows.append(cells)
    sizes = sorted({int(n) for n in stages["change_questions"] if n > 0})
    yield heading(3, CHANGE)
    yield table(
        ["Model", *(two_lines(metric.title, unit(metric)) for metric in metrics)],
        rows,
        numeric=range(1, 1 + len(metrics)),
        caption=f"Mean over participants of last minus first {either(sizes)} "
        f"{'question' if sizes == [1] else 'questions'}; below it the median and n.",
    )


def _changed(values: NDArray[np.float64], decimals: int) -> object:
    """Mean change with its sign, below it the median and n."""
    if values.size == 0:
        return NONE
    mean, median = (
        decimal(float(value), decimals, sign=True) for value in (values.mean(), np.median(values))
    )
    return two_lines(mean, f"median {median}, n = {values.size}")
