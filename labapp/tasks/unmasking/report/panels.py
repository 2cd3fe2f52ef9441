"""Panels that several figures of the unmasking study have: by the percentage shown, a line a
method."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from labapp.report import kit
from labapp.report.drawing import ReportFigure
from labapp.tasks.unmasking.report import axes
from labapp.tasks.unmasking.report.results import Found
from labapp.tasks.unmasking.report.words import annotations_of, of_people

HEIGHT_IN = 4.1


def plate_of(
    result: Found, name: str, figure: Figure, label: str, caption: str, *, of: str = ""
) -> ReportFigure:
    """The figure as a file of its own, and beside it what it is of: the people, or else `of`."""
    figure.set_label(f"{label} · {result.group.name}: {of or of_people(result.group)}")
    return ReportFigure(name, figure, label, caption)


def two(result: Found) -> tuple[Figure, Sequence[Axes]]:
    """Two panels beside each other, both by the percentage shown."""
    figure, panels = kit.panels(2, 2, HEIGHT_IN)
    for ax in panels:
        axes.percents(ax, result.group.percents)
    return figure, panels


def lines(
    ax: Axes,
    result: Found,
    frame: pd.DataFrame,
    value: str,
    low: str | None,
    high: str | None,
    factor: float = 1.0,
    *,
    counted: str = "n",
    join: bool = True,
) -> None:
    """A line a method of a column by mask; low, high: columns of its interval, where there are
    any; counted: the column of what a value is of, which the legend says; join: with a line."""
    methods = result.group.methods
    for place, (shift, method) in enumerate(zip(axes.centred(len(methods)), methods, strict=True)):
        own = frame[frame["method"] == method].sort_values("percent")
        ends = [None if end is None else own[end].to_numpy(float) * factor for end in (low, high)]
        axes.line(
            ax,
            axes.look(place),
            own["percent"].to_numpy(float),
            own[value].to_numpy(float) * factor,
            *ends,
            label=f"{methods[method]}, {annotations_of(own[counted])}",
            place=float(shift),
            join=join,
        )
