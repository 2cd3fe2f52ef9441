"""The report's figures, as SVG text. One style: ink on white, no colour carries meaning alone.

Drawn without pyplot, so that nothing global is touched and any thread may draw. matplotlib is slow
to load: nothing imports this module before a figure is due.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from labapp.analysis.calibration import Suggestion
from labapp.analysis.columns import METRICS, Metric
from labapp.figure_style import ACCENT, HAIRLINE, INK, STYLE

WIDTH_IN = 10.0
BOX_FROM = 5
"""A box is drawn from so many values on; below, the points say more."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """svg: an inline `<svg>` element; label: what it shows, in words."""

    svg: str
    label: str


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


def model_names(models: Sequence[str]) -> list[str]:
    """Ids of models as a figure's axis says them, without the data set where all have the same."""
    if len({model.split("/", 1)[0] for model in models}) == 1:
        return [model.split("/", 1)[-1] for model in models]
    return [model.replace("/", "/\n") for model in models]


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


def marks(found: Sequence[Suggestion], name: str) -> Drawing:
    """The alignments marked far away and close enough, a strip a data set, with the alignment that
    separates them best."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH_IN, 0.5 + 1.3 * len(found)), layout="constrained")
        for ax, one in zip(figure.subplots(len(found), 1, squeeze=False)[:, 0], found, strict=True):
            if (best := one.separation) is not None:
                low, high = best.low * 100, best.high * 100
                ax.axvspan(low, high, color="#EDF0F3", linewidth=0, zorder=0)
                ax.axvline(best.target * 100, color=INK, linewidth=1.8, zorder=1)
            for place, alignments in enumerate((one.close, one.far)):
                # Spread over the strip in a fixed order: marks at one alignment stay apart.
                shift = (np.arange(len(alignments)) * 0.618034 % 1.0 - 0.5) * 0.6
                ax.plot(
                    np.asarray(alignments) * 100,
                    place + shift,
                    "o" if place == 0 else "s",
                    markersize=4,
                    markerfacecolor=ACCENT if place == 0 else "white",
                    markeredgecolor=ACCENT,
                    markeredgewidth=0.9,
                    zorder=2,
                )
            ax.set_title(one.dataset)
            ax.set_yticks([0, 1], ["close enough", "far away"])
            ax.set_ylim(-0.6, 1.6)
            ax.set_xlim(-1, 101)
            ax.tick_params(axis="y", length=0)
        figure.supxlabel("alignment, %", fontsize=9)
        names = ", ".join(one.dataset for one in found)
        return Drawing(
            svg_of(figure, name), f"Alignments marked far away and close enough: {names}"
        )


def svg_of(figure: Figure, name: str) -> str:
    """The figure as an element that can stand in a page beside others: ids carry its name."""
    return with_ids(svg_text(figure), name)


def svg_text(figure: Figure) -> str:
    """The figure as an `<svg>` element."""
    stream = io.StringIO()
    figure.savefig(
        stream,
        format="svg",
        metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
    )
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"(\d\.\d\d)\d+", r"\1", text)  # a hundredth of a point is fine enough
    return re.sub(r"\n\s+", "\n", text)


def with_ids(text: str, name: str) -> str:
    """An `<svg>` element with a name before all of its ids."""
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'href="#', f'href="#{name}-', text)
    return re.sub(r"url\(#", f"url(#{name}-", text)
