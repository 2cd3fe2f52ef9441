"""Metrics in a terminal: progress while they are computed, and tables of their scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from labapp.console import marked, shown
from labapp.metrics.correlations import Correlations
from labapp.metrics.evaluation.scores import MEDIAN, OF_CONCEPTS, MetricOutcome, Say
from labapp.metrics.registry import METRICS

MOST_CELLS = 24
"""A longer list or a wider matrix is told by its shape; --json has all of it."""


@contextmanager
def show_progress(console: Console | None = None) -> Iterator[Say]:
    """Gives a `Say` that shows which metric is computed; for those that may take minutes, with a
    bar and the time left.

    By default on standard error, because standard output is for the table or the JSON value. The
    line disappears at the end, and nothing is written if the output is no terminal.
    """
    console = Console(stderr=True) if console is None else console
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[share]}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    task = bar.add_task("", total=None, share="")

    def say(name: str, share: float | None) -> None:
        if share is None:
            label = METRICS[name].label
            bar.reset(task, total=None, description=f"computing {label}", share="")
        else:
            bar.update(task, total=1.0, completed=share, share=f"{share:.0%}")

    with bar:
        yield say


def show_all(outcomes: Sequence[MetricOutcome]) -> None:
    """One line a metric on standard output."""
    table = Table("metric", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("better")
    table.add_column("what it is, or why there is no score")
    for outcome in outcomes:
        metric = outcome.metric
        score = "–" if outcome.score is None else number(outcome.score.score)
        table.add_row(metric.name, score, metric.better, marked(describe(outcome)))
    console = _console()
    console.print(table)
    for metric in (outcome.metric for outcome in outcomes if outcome.score is not None):
        if metric.caution:
            console.print(f"{metric.name}: {shown(metric.caution)}", markup=False)


def describe(outcome: MetricOutcome) -> str:
    """The metric's title and what was done to the factors, or why there is no score."""
    if outcome.score is None:
        return outcome.reason
    cut = outcome.score.settings.get("factors_are") == MEDIAN
    note = f"; factors are whether they are {MEDIAN}" if cut else ""
    return outcome.metric.title + note


def show_one(outcome: MetricOutcome, codes: Sequence[str], factors: Sequence[str]) -> None:
    """A score with its parts and settings on standard output; codes, factors: names of columns."""
    assert outcome.score is not None
    score, console = outcome.score, _console()
    better = f"{outcome.metric.better} is better"
    console.print(f"{score.metric}  {number(score.score)}  ({describe(outcome)}; {better})")
    for name, part in score.parts.items():
        rows = factors if name in OF_CONCEPTS else codes
        console.print(*_part(name.replace("_", " "), np.asarray(part), rows, factors), sep="\n")
    for note in (*score.notes, *filter(None, [outcome.metric.caution])):
        console.print(f"note: {shown(note)}", markup=False)
    settings = ", ".join(f"{name}={value}" for name, value in score.settings.items())
    console.print(f"settings: {shown(settings)}", markup=False)


def show_correlations(result: Correlations, names: Sequence[str]) -> None:
    """The correlations of factors, called `names`, on standard output."""
    console = _console()
    if len(names) > 1:
        console.print(f"mean correlation of two factors, in size: {number(result.mean)}")
    told = zip(names, result.mutual_information, strict=True)
    cells = ", ".join(f"{name} {number(float(nats))}" for name, nats in told)
    console.print(f"mutual information with the label, nats: {shown(cells)}", markup=False)
    console.print(*_part("correlations", result.matrix, names, names))


def number(value: float) -> str:
    return f"{value:.4f}"


def _numbers(values: Any) -> list[str]:
    """Counts and places without decimals, where there is nothing else among them."""
    whole = bool((values == np.rint(values)).all())
    return [f"{value:.0f}" if whole else number(float(value)) for value in values]


def _part(name: str, part: Any, codes: Sequence[str], factors: Sequence[str]) -> list[Any]:
    """What is printed of one part."""
    if part.ndim == 0:
        return [f"{name}: {_numbers(part.reshape(1))[0]}"]
    if part.shape == (len(codes), len(factors)) and len(factors) <= MOST_CELLS:
        table = Table("", box=box.SIMPLE_HEAD, title=name, title_justify="left", pad_edge=False)
        for factor in factors:
            table.add_column(marked(factor), justify="right")
        for code, row in zip(codes, part, strict=True):
            table.add_row(marked(code), *(number(float(value)) for value in row))
        return [table]
    if part.ndim == 1 and len(part) <= MOST_CELLS:
        names = _names(name, len(part), codes, factors)
        cells = [name + value for name, value in zip(names, _numbers(part), strict=True)]
        return [marked(f"{name}: {', '.join(cells)}")]
    return [f"{name}: {' x '.join(str(side) for side in part.shape)} numbers, see --json"]


def _names(name: str, length: int, codes: Sequence[str], factors: Sequence[str]) -> list[str]:
    """What stands before each number of a list: names of columns where it is said of them."""
    if name.startswith("per code") and length == len(codes):
        return [f"{code} " for code in codes]
    if name.startswith("per factor") and length == len(factors):
        return [f"{factor} " for factor in factors]
    return [""] * length


def _console() -> Console:
    """Without colours and guesses at what words mean: what is printed is what was said."""
    console = Console(highlight=False, soft_wrap=False)
    if not console.is_terminal:
        console.width = 100
    return console
