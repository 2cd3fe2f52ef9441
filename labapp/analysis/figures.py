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
from numpy.typing import NDArray

from labapp.analysis.calibration import Suggestion
from labapp.analysis.columns import METRICS, Metric
from labapp.analysis.rows import Row
from labapp.figure_style import ACCENT, HAIRLINE, INK, SECONDARY, STYLE

WIDTH_IN = 10.0
BOX_FROM = 5
"""A box is drawn from so many values on; below, the points say more."""
COLUMNS = 7
"""Panels side by side."""
ROW_IN, BETWEEN_IN, TITLE_IN, BELOW_IN = 1.5, 0.52, 0.24, 0.2
"""A row of small panels; what lies between two rows, of it the titles; and below the last row."""
LEFT_IN, BESIDE_IN = 0.75, 0.12
"""On the left of the first panel of a row, and on the right of the last."""
POINTS = 80
"""A line of a small panel is thinned to about this many points."""


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


def alignment(trials: pd.DataFrame, snapshots: pd.DataFrame, name: str) -> Drawing:
    """Alignment over time, one small panel a question, each stage in rows of its own, of one
    session. trials, snapshots: that session's rows. The time axis is the same within a stage."""
    series = dict(list(snapshots.groupby(["stage", "trial", "attempt"])))
    rows: list[tuple[list[Row], float]] = []
    for _, stage in trials.groupby("stage_number", sort=True):
        ordered = stage.sort_values(["trial", "attempt"]).to_dict("records")
        panels = [{str(column): value for column, value in row.items()} for row in ordered]
        longest = max(1.0, *stage["duration_s"].fillna(0.0))
        rows += [(panels[at : at + COLUMNS], longest) for at in range(0, len(panels), COLUMNS)]
    columns = max(len(panels) for panels, _ in rows)
    with mpl.rc_context(STYLE):
        height = BELOW_IN + ROW_IN * len(rows)
        # By hand: all panels are of one size, and a layout that looks at every letter of so many
        # takes two thirds of the time; as does sharey, which grows with their square.
        figure = Figure(figsize=(WIDTH_IN, height))
        panel = ROW_IN - BETWEEN_IN
        grid = figure.subplots(
            len(rows),
            columns,
            squeeze=False,
            gridspec_kw={
                "left": LEFT_IN / WIDTH_IN,
                "right": 1 - BESIDE_IN / WIDTH_IN,
                "top": 1 - TITLE_IN / height,
                "bottom": (BELOW_IN + BETWEEN_IN - TITLE_IN) / height,
                "hspace": BETWEEN_IN / panel,
                "wspace": 0.12,
            },
        )
        for axes, (panels, longest) in zip(grid, rows, strict=True):
            for ax, trial in zip(axes, panels, strict=False):
                key = (trial["stage"], trial["trial"], trial["attempt"])
                _panel(ax, trial, series.get(key), longest)
            for ax in axes[1 : len(panels)]:
                ax.tick_params(labelleft=False)
            for ax in axes[len(panels) :]:
                ax.set_axis_off()
            axes[0].set_ylabel(f"{panels[0]['model']}\nalignment, %")
        figure.supxlabel("seconds since the pictures appeared", fontsize=9, y=0.06 / height)
        return Drawing(svg_of(figure, name), "Alignment over time, a panel for each question")


_MARKS = {"solved": "o", "marked": "D", "skipped": "X"}


def _panel(ax: Axes, trial: Row, series: pd.DataFrame | None, longest: float) -> None:
    if np.isfinite(target := trial["target_alignment"] * 100):
        ax.axhline(target, color=SECONDARY, linewidth=0.8, linestyle=(0, (4, 3)))
    duration = trial["duration_s"]
    title = f"Q{trial['trial']} {trial['outcome']}"
    if series is not None and np.isfinite(duration):
        t = series["t_s"].to_numpy(dtype=float)
        percent = series["alignment"].to_numpy(dtype=float) * 100
        kept = _thinned(t, percent)
        ax.step(t[kept], percent[kept], where="post", color=ACCENT, linewidth=1.3)
        mark = _MARKS.get(str(trial["outcome"]), "s")
        ax.plot(t[-1:], percent[-1:], mark, color=INK, markersize=5, clip_on=False, zorder=3)
        title += f", {duration:.0f} s"
    ax.set_title(title.replace("_", " "), fontsize=8, fontweight="normal")
    ax.set_ylim(0, 100)
    ax.set_yticks([0, 50, 100])
    ax.set_xlim(0, longest)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=3, integer=True))
    ax.tick_params(labelsize=8)


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


def _thinned(t: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Indices that keep the line's shape at a panel's size: the lowest and highest of each of
    POINTS / 2 stretches of time, besides both ends."""
    if len(t) <= POINTS:
        return np.arange(len(t))
    stretch = np.minimum((t / max(t[-1], 1e-9) * (POINTS // 2)).astype(int), POINTS // 2 - 1)
    kept = {0, len(t) - 1}
    for number in np.unique(stretch):
        inside = np.flatnonzero(stretch == number)
        kept.add(int(inside[values[inside].argmin()]))
        kept.add(int(inside[values[inside].argmax()]))
    return np.array(sorted(kept))


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
