"""The figure of metrics by model of a task whose models are not compared by tests."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from labapp.analysis.columns import METRICS, Metric
from labapp.figure_style import ACCENT, HAIRLINE, INK, STYLE
from labapp.report.drawing import WIDTH_IN, Drawing, model_names, svg_of

BOX_FROM = 5
"""A box is drawn from so many values on; below, the points say more."""


def by_model(stages: pd.DataFrame, name: str, metrics: Sequence[Metric] = METRICS) -> Drawing:
    """Every metric of the stages by model: one point a participant, joined within participants,
    median and mean, a box from five values on. stages: rows of the table of one study."""
    models = sorted(stages["model"].unique())
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH_IN, 6.4), layout="constrained")
        axes = list(figure.subplots(-(-len(metrics) // 3), 3).flat)
        for ax, metric in zip(axes, metrics, strict=False):
            _strip(ax, stages, metric, models)
        for ax in axes[len(metrics) :]:
            ax.set_visible(False)
        return Drawing(svg_of(figure, name), f"Metrics by model: {', '.join(models)}")


def _strip(ax: Axes, stages: pd.DataFrame, metric: Metric, models: Sequence[str]) -> None:
    wide = stages.pivot_table(
        index=["participant", "session"], columns="model", values=metric.column, aggfunc="mean"
    ).reindex(columns=list(models))
    values = wide.to_numpy(dtype=float) * metric.factor
    places = np.arange(len(models))
    spread = np.linspace(-0.14, 0.14, len(values)) if len(values) > 1 else np.zeros(len(values))
    for row, shift in zip(values, spread, strict=True):
        known = np.isfinite(row)
        ax.plot(places[known] + shift, row[known], color=HAIRLINE, linewidth=0.9, zorder=1)
        ax.plot(
            places[known] + shift,
            row[known],
            "o",
            markersize=4.5,
            markerfacecolor=ACCENT,
            markeredgecolor="white",
            markeredgewidth=0.6,
            zorder=3,
        )
    labels = []
    for place, short in enumerate(model_names(models)):
        own = values[:, place][np.isfinite(values[:, place])]
        labels.append(f"{short}\nn = {own.size}")
        if own.size == 0:
            continue
        if own.size >= BOX_FROM:
            low, high = np.percentile(own, [25, 75])
            ax.fill_between(
                [place - 0.25, place + 0.25], low, high, color="#EDF0F3", linewidth=0, zorder=0
            )
        middle = float(np.median(own))
        ax.hlines(middle, place - 0.25, place + 0.25, color=INK, linewidth=1.8, zorder=2)
        ax.plot(
            place + 0.33,
            own.mean(),
            "D",
            markersize=5,
            markerfacecolor="white",
            markeredgecolor=INK,
            zorder=4,
        )
    ax.set_title(metric.title)
    ax.set_ylabel(metric.unit)
    ax.set_xticks(places, labels)
    ax.set_xlim(-0.6, len(models) - 0.4)
    ax.tick_params(axis="x", length=0)
    ax.grid(axis="y", color=HAIRLINE, linewidth=0.6)
    ax.set_axisbelow(True)
    if metric.limits is not None:
        low, high = metric.limits
        margin = 0.06 * (high - low)
        ax.set_ylim(low - margin, high + margin)
        ax.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=7))
    else:
        known = values[np.isfinite(values)]
        highest = float(known.max()) if known.size else 0.0
        ax.set_ylim(0, 1.06 * highest or 1.0)  # room for the highest value's sign
        ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
