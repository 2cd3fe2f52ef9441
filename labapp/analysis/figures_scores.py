"""The report's figure of workload: NASA-TLX by model (paper 000, Figure 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from labapp.figure_style import ACCENT, HAIRLINE, INK, STYLE
from labapp.report.drawing import WIDTH_IN, Drawing, model_names, svg_of

MANY = 4
"""With more models than this a panel is twice as wide."""
BAR = "#EDF0F3"


def workload(scores: pd.DataFrame, names: Mapping[str, str], name: str) -> Drawing:
    """A panel a score that was given, in it a bar a model. names: of the scores, in their order.

    scores: rows of the table of scores of one instrument, with the column `of` that names what
    was asked about.
    """
    shown = [score for score in names if (scores["score"] == score).any()]
    models = sorted(scores["of"].unique())
    columns = 4 if len(models) <= MANY else 2
    rows = -(-len(shown) // columns)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH_IN, 2.4 * rows), layout="constrained")
        axes = list(figure.subplots(rows, columns, sharey=True, squeeze=False).flat)
        for ax, score in zip(axes, shown, strict=False):
            _panel(ax, scores[scores["score"] == score], models)
            ax.set_title(names[score])
        for ax in axes[len(shown) :]:
            ax.set_visible(False)
        for ax in axes[::columns]:
            ax.set_ylabel("0–100")
        return Drawing(svg_of(figure, name), f"Workload by model: {', '.join(models)}")


def _panel(ax: Axes, scores: pd.DataFrame, models: Sequence[str]) -> None:
    labels = []
    for place, (model, short) in enumerate(zip(models, model_names(models), strict=True)):
        some = scores[scores["of"] == model].groupby(["participant", "session"])["value"].mean()
        own = some.to_numpy(dtype=float)
        labels.append(f"{short}\nn = {own.size}")
        if own.size == 0:
            continue
        ax.bar(place, own.mean(), width=0.62, color=BAR, edgecolor=INK, linewidth=0.8, zorder=1)
        spread = np.linspace(-0.18, 0.18, own.size) if own.size > 1 else np.zeros(1)
        ax.plot(
            place + spread,
            own,
            "o",
            markersize=4,
            markerfacecolor=ACCENT,
            markeredgecolor="white",
            markeredgewidth=0.6,
            clip_on=False,
            zorder=3,
        )
        middle = float(np.median(own))
        ax.hlines(middle, place - 0.31, place + 0.31, color=INK, linewidth=1.8, zorder=2)
    ax.set_xticks(range(len(models)), labels)
    ax.set_xlim(-0.6, len(models) - 0.4)
    ax.set_ylim(0, 100)
    ax.set_yticks([0, 25, 50, 75, 100])
    ax.tick_params(axis="x", length=0)
    ax.grid(axis="y", color=HAIRLINE, linewidth=0.6)
    ax.set_axisbelow(True)
