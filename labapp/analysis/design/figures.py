"""The figure of a study's outcomes: the cells of its declared factors, with intervals.

It is drawn of the values that the analyses are of, and says what the table of cells says: one panel
an outcome, and one a combination of levels where there are more than two factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from labapp.analysis.column import ends_of
from labapp.analysis.design.analyses import VALUES, Analysis, StudyAnalyses, back
from labapp.analysis.design.layout import Factor, Floats, plain_name
from labapp.analysis.design.sources import UNDECLARED
from labapp.analysis.statistic import Statistic
from labapp.base.figure_style import ACCENT, INK, SECONDARY, SERIES, panels_across, points_of, style
from labapp.base.report import drawing, kit
from labapp.base.report.drawing import SAID, ReportFigure, shortened
from labapp.study.design import MODEL

ACROSS, HEIGHT_IN, MARGIN_IN = 3, 2.1, 0.75
"""Panels beside each other in a figure of 10 inches; height of an axis; inches beside it."""
WIDTH = 0.64
"""Of all cells at one place of an axis, where the next place is 1 away."""
COLOURS = (ACCENT, INK, SECONDARY, *SERIES)
CAPTION = (
    "Mean of the participants in each cell, with its 95 % interval, each cell by itself (t); of "
    "transformed values both are worked out as they are analysed and told in the outcome's unit. "
    f"Dots are participants, where a cell has up to {kit.POINTS_UP_TO} of them and no steps. Lines "
    "join what the same participants met. An arrowhead at the edge: the interval goes on."
)


def outcomes_figure(results: StudyAnalyses, name: str = "outcomes") -> ReportFigure | None:
    """The declared outcomes of a study by its factors; None where there are none of either. name:
    of its files."""
    analyses = [
        analysis
        for analysis in results.analyses
        if analysis.outcome.role != UNDECLARED and factors_of(analysis)
    ]
    shown = [(analysis, panel) for analysis in analyses for panel in panels_of(analysis)]
    if not shown:
        return None
    across = panels_across(min(ACROSS, len(shown)))
    with mpl.rc_context(style()):
        figure, axes = kit.panels(len(shown), min(ACROSS, len(shown)), HEIGHT_IN + 0.8)
        room = figure.get_figwidth() / across - MARGIN_IN
        for ax, (analysis, levels) in zip(axes, shown, strict=True):
            _panel(ax, analysis, levels, room)
        _legend(figure, analyses)
    factors = dict.fromkeys(
        plain_name(factor.name) for analysis in analyses for factor in factors_of(analysis)
    )
    label = f"Outcomes by {', '.join(factors)}"
    figure.set_label(label)
    return ReportFigure(name, figure, label, CAPTION)


def factors_of(analysis: Analysis) -> list[Factor]:
    """The factors of a figure, in the order that it has them: across the axis, side by side, in
    panels of their own. Those within participants come first."""
    known = [factor for factor in analysis.outcome.layout.factors if len(factor.levels) > 1]
    return sorted(known, key=lambda factor: (not factor.within, factor.additive))


def panels_of(analysis: Analysis) -> list[dict[str, str]]:
    """The combinations of levels that have a panel each; one empty one for up to two factors."""
    more = factors_of(analysis)[2:]
    return [
        {factor.name: level for factor, level in zip(more, levels, strict=True)}
        for levels in product(*(factor.levels for factor in more))
    ]


def cell_of(analysis: Analysis, levels: dict[str, str]) -> tuple[Floats, Statistic]:
    """The values of the participants in the cell with these levels, as they are analysed, and the
    row of the table of statistics that is of them."""
    for cell, row in zip(analysis.cells, analysis.select(VALUES), strict=True):
        if all(cell.levels.get(name) == level for name, level in levels.items()):
            return cell.values, row
    return np.empty(0), Statistic()


def _panel(ax: Axes, analysis: Analysis, levels: dict[str, str], room: float) -> None:
    first, *others = factors_of(analysis)
    series = others[0] if others else None
    names = series.levels if series is not None else ("",)
    step = WIDTH / max(len(names), 1)
    every: list[Floats] = []
    for place, level in enumerate(names):
        shift = (place - (len(names) - 1) / 2) * step
        own = {**levels, **({series.name: level} if series is not None else {})}
        drawn = [cell_of(analysis, {**own, first.name: each}) for each in first.levels]
        every += [values for values, _ in drawn]
        _series(ax, analysis, drawn, place, shift, step, joined=first.within)
    labels = list(first.levels)
    if first.name == MODEL:
        labels = shortened(labels)
    labels = [drawing.wrap(label, room / max(len(labels), 2)) for label in labels]
    kit.columns(ax, labels, beyond=0.55, fontsize=points_of(drawing.SMALL))
    kit.grid(ax)
    told = ", ".join(f"{plain_name(name)}: {level}" for name, level in levels.items())
    title = " · ".join(filter(None, (analysis.outcome.name, analysis.outcome.group, told)))
    ax.set_title(title, fontsize=points_of(8.5), loc="left").set_label(SAID)  # names alone
    ax.set_ylabel(analysis.outcome.unit)
    ends = ends_of(analysis.outcome.unit)
    low, high = ax.get_ylim() if ends is None else ends
    if ends is None and all((values >= 0).all() for values in every) and not analysis.transform:
        low = 0.0
    margin = 0.05 * (high - low)
    ax.set_ylim(low - (margin if low else 0.0), high + margin)


def _series(
    ax: Axes,
    analysis: Analysis,
    drawn: Sequence[tuple[Floats, Statistic]],
    place: int,
    shift: float,
    step: float,
    *,
    joined: bool,
) -> None:
    """The cells of one level beside those of others: dots, means and intervals."""
    colour, (line, mark) = COLOURS[place % len(COLOURS)], kit.LINES[place % len(kit.LINES)]
    at = np.arange(len(drawn)) + shift
    for x, (values, _) in zip(at, drawn, strict=True):
        steps = kit.steps_of(values[:, None]) if values.size else values
        if 0 < values.size <= kit.POINTS_UP_TO and not steps.size:
            own = [_own(analysis, value) for value in values]
            beside = x + kit.jitter(values.size, 0.3 * step)
            kit.points(ax, beside, own, markersize=3, color=colour, alpha=0.35, zorder=2)
    ends = np.array(
        [
            [_own(analysis, end, within=False) for end in (row.mean, row.low, row.high)]
            for _, row in drawn
        ]
    )
    kit.vertical_interval(ax, at, ends[:, 1], ends[:, 2], colour)
    look: dict[str, Any] = {"linestyle": line if joined else "", "color": colour, "marker": mark}
    look |= {"markersize": 5.5, "linewidth": 1.1, "markeredgecolor": "white", "zorder": 4}
    ax.plot(at, ends[:, 0], **look)


def _own(analysis: Analysis, value: float | None, *, within: bool = True) -> float:
    """A value in the outcome's unit; within its range where the unit is one, if that is asked."""
    if value is None:
        return np.nan
    own = back(float(value), analysis.transform)
    ends = ends_of(analysis.outcome.unit)
    return own if ends is None or not within else min(max(own, ends[0]), ends[1])


def _legend(figure: Figure, analyses: Sequence[Analysis]) -> None:
    """What the marks beside each other stand for, where all outcomes have the same."""
    series = {factors_of(analysis)[1] for analysis in analyses if len(factors_of(analysis)) > 1}
    handles = []
    for factor in sorted(series, key=lambda factor: factor.name):
        for place, level in enumerate(factor.levels):
            line, mark = kit.LINES[place % len(kit.LINES)]
            look: dict[str, Any] = {"linestyle": line, "marker": mark}
            words = f"{plain_name(factor.name)}: {level}"
            handles.append(Line2D([], [], color=COLOURS[place % len(COLOURS)], label=words, **look))
    if handles:
        figure.legend(
            handles=handles, loc="outside lower center", ncols=panels_across(4),
            fontsize=points_of(8), frameon=False,
        )  # fmt: skip
