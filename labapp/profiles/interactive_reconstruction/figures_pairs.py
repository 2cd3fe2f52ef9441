"""Heat maps of the differences between models, with stars (paper 000, Figures A.11 and A.12)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

from labapp.analysis.inference import Values
from labapp.figure_style import INK, colours, points_of
from labapp.profiles.interactive_reconstruction.figures_boxes import stars_told
from labapp.profiles.interactive_reconstruction.panels import (
    Block,
    Layout,
    headed_by,
    laid_out,
    layout_of,
    short,
)
from labapp.profiles.interactive_reconstruction.results import Compared
from labapp.report import axis_names, kit
from labapp.report.drawing import ReportFigure, shortened

CELL_IN = 0.36
"""Height of a cell, and the least width of one."""
EMPTY = "#F4F5F6"
GAP_IN = 0.25
"""Between a heat map and the names of the next one's rows."""


def pairs(blocks: Sequence[Block], name: str, label: str) -> ReportFigure:
    """A heat map a metric, a block a data set. blocks: of one study and task, of two models at
    least."""
    layout = layout_of(blocks, beside=_beside(blocks), least=CELL_IN)
    heights = [CELL_IN * len(block.group.models) for block in blocks]
    figure, panels = laid_out(blocks, heights, layout, counted=False)
    for block, own in zip(blocks, panels, strict=True):
        for ax, compared in zip(own, block.compared, strict=True):
            _panel(ax, block, compared, layout)
    headed_by(figure, label, [block.group for block in blocks])
    return ReportFigure(name, figure, label, _caption(blocks))


def _beside(blocks: Sequence[Block]) -> float:
    """Inches left of a heat map for the names of its rows."""
    return max(axis_names.width_in(name) for block in blocks for name in _rows(block)) + GAP_IN


def _rows(block: Block) -> list[str]:
    """Names in two lines at most, and not longer than they must be."""
    names = shortened(block.group.models)
    for room in np.arange(0.4, 4.0, 0.1):
        lines = [axis_names.wrap(name, float(room)) for name in names]
        if all(line.count("\n") < 2 and axis_names.width_in(line) <= room for line in lines):
            return lines
    return list(names)


def differences(block: Block, compared: Compared) -> tuple[Values, list[list[str]], bool]:
    """Row minus column: shape (models, models), NaN on the diagonal; stars; whether some cells were
    not tested, as those of models that nobody met together."""
    models = block.group.models
    values = np.full((len(models), len(models)), np.nan)
    labels = [["" for _ in models] for _ in models]
    untested = False
    for row, model in enumerate(models):
        for column, other in enumerate(models):
            if row == column:
                continue
            pair = compared.pair(model, other)
            if pair is not None and pair.difference is not None:
                values[row, column] = pair.difference if pair.model == model else -pair.difference
                labels[row][column] = pair.stars
            else:
                means = [compared.summaries[m].mean for m in (model, other)]
                if means[0] is not None and means[1] is not None:
                    values[row, column] = means[0] - means[1]
                    untested = True
    return values, labels, untested


def _panel(ax: Axes, block: Block, compared: Compared, layout: Layout) -> None:
    values, stars, _ = differences(block, compared)
    known = np.abs(values[np.isfinite(values)])
    largest = float(known.max()) if known.size and known.max() > 0 else 1.0
    kit.heat_map(
        ax,
        values,
        LinearSegmentedColormap.from_list("differences", colours().differences),
        (-largest, largest),
        lambda value: short(value, compared.metric.decimals, sign=True),
        lambda row, column: stars[row][column],
    )
    ax.set_facecolor(EMPTY)
    _frame(ax, block, layout)


def _frame(ax: Axes, block: Block, layout: Layout) -> None:
    """Names on both sides, white lines between cells, dark ones between subgroups."""
    models = block.group.models
    columns = axis_names.names_of(models, layout.room, counted=False)
    axis_names.below(ax, columns.labels, upright=columns.upright)
    ax.set_yticks(range(len(models)), _rows(block))
    ax.tick_params(length=0, labelsize=points_of(axis_names.SMALL))
    for spine in ax.spines.values():
        spine.set_visible(False)
    for at in range(1, len(models)):
        dark = at in block.edges
        for line in (ax.axhline, ax.axvline):
            line(at - 0.5, color=INK if dark else "white", linewidth=1.6 if dark else 1.0)


def _caption(blocks: Sequence[Block]) -> str:
    pairs = [pair for block in blocks for comparison in block.compared for pair in comparison.pairs]
    sentences = [
        (
            "Mean difference, row minus column, in the metric's unit (k: thousands). "
            f"{colours().more} and +: the row has more; {colours().less} and −: it has less; the "
            "deeper, the larger beside others of its panel."
        ),
        stars_told(pairs),
    ]
    if any(block.edges for block in blocks):
        sentences.append("Dark lines part models of different numbers of dimensions.")
    if any(differences(block, comparison)[2] for block in blocks for comparison in block.compared):
        sentences.append("No test was made of models that no participant met together.")
    return " ".join(sentences)
