"""What participants said of each model: workload, understanding, difficulty (paper 000,
Figure 9)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from labapp.analysis.columns import Metric
from labapp.analysis.inference import SMALLEST, Values
from labapp.figure_style import INK, points_of
from labapp.profiles.interactive_reconstruction.panels import (
    Block,
    headed_by,
    laid_out,
    layout_of,
    value_ticks,
)
from labapp.profiles.interactive_reconstruction.results import Compared
from labapp.report import axis_names, kit
from labapp.report.drawing import ReportFigure

HEIGHT_IN = 1.4
"""Of an axis."""
MARGIN = 0.05
"""Beyond the values, of a scale's length."""
BESIDE = 0.13
"""From a bar's middle to the line of its standard deviation, and the other way to the points."""


def ratings(blocks: Sequence[Block], name: str, label: str) -> ReportFigure:
    """A panel a rating, in it a bar a model with the standard deviation. blocks: of one study and
    task."""
    layout = layout_of(blocks, most=4)
    figure, panels = laid_out(blocks, [HEIGHT_IN] * len(blocks), layout)
    ends = _ends(blocks)
    for block, own in zip(blocks, panels, strict=True):
        for ax, compared in zip(own, block.compared, strict=True):
            _panel(ax, block, compared, layout.room)
            ax.set_ylim(*ends[_scale(compared.metric)])
    headed_by(figure, label, [block.group for block in blocks])
    return ReportFigure(name, figure, label, _caption(blocks))


def values_of(block: Block, compared: Compared) -> list[Values]:
    """The ratings of each model, in the order of the models."""
    values = block.group.values[["model", compared.metric.column]].dropna()
    return [
        values.loc[values["model"] == model, compared.metric.column].to_numpy(dtype=np.float64)
        for model in block.group.models
    ]


def _scale(metric: Metric) -> tuple[float, float]:
    """Least and greatest answer; every rating has them."""
    assert metric.limits is not None
    return metric.limits


def _ends(blocks: Sequence[Block]) -> dict[tuple[float, float], tuple[float, float]]:
    """For each scale the limits of its axes, the same in all panels: a standard deviation may lead
    out of the scale, and is not cut off."""
    reached: dict[tuple[float, float], list[float]] = {}
    for block in blocks:
        for compared in block.compared:
            low, high = scale = _scale(compared.metric)
            ends = reached.setdefault(scale, [low, high])
            for own in values_of(block, compared):
                if own.size >= SMALLEST:
                    sd = float(own.std(ddof=1))
                    ends += [float(own.mean()) - sd, float(own.mean()) + sd]
    return {
        (low, high): (
            low if min(ends) >= low else min(ends) - MARGIN * (high - low),
            max(ends) + MARGIN * (high - low),
        )
        for (low, high), ends in reached.items()
    }


def _panel(ax: Axes, block: Block, compared: Compared, room: float) -> None:
    metric = compared.metric
    low, high = _scale(metric)
    values = values_of(block, compared)
    for place, own in enumerate(values):
        if own.size == 0:
            continue
        middle = float(own.mean())
        if own.size >= SMALLEST:
            kit.bar(ax, place, middle, low)
            sd = float(own.std(ddof=1))
            ax.errorbar(
                place + BESIDE, middle, yerr=sd, color=INK, elinewidth=1.4, capsize=3, zorder=4
            )
        if own.size <= kit.POINTS_UP_TO:
            shifts = kit.jitter(own.size, 0.11)
            kit.points(ax, place - BESIDE + shifts, own, markersize=3.4, clip_on=False, zorder=3)
        kit.diamond(ax, place + BESIDE, middle)
    axis_names.names_below(ax, block.group.models, [own.size for own in values], block.edges, room)
    ax.set_yticks(value_ticks(metric, low, high))
    ax.tick_params(axis="y", labelsize=points_of(axis_names.SMALL))
    kit.grid(ax)


def _caption(blocks: Sequence[Block]) -> str:
    sizes = [own.size for block in blocks for c in block.compared for own in values_of(block, c)]
    sentences = [f"Diamond: mean; one point a participant, of up to {kit.POINTS_UP_TO}."]
    if any(size >= SMALLEST for size in sizes):
        sentences.append(f"Bar and line: mean ± sd (n − 1), from {SMALLEST} values on.")
    if any(c.metric.column == "performance" for block in blocks for c in block.compared):
        sentences.append("NASA-TLX: 100 is the most demanding, of Performance: failure.")
    return " ".join(sentences)
