"""Models beside each other as in Figure 2 of paper 000: a heat map each of the mutual information
of codes and true factors, a row a data set, with the scores over it.

matplotlib is slow to load: nothing imports this module before a figure is due.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from labapp.base.figure_style import SECONDARY, STYLE
from labapp.base.report import kit
from labapp.models.metrics.evaluation.figures import CELL_IN, SHADES

Float64 = NDArray[np.float64]

UNIT = "mutual information, nats"
AROUND_IN = (0.75, 1.1)
"""Width and height that a heat map's names and titles take."""
BAR_IN = 0.7


@dataclass(frozen=True, slots=True, eq=False)
class Representation:
    """One heat map.

    `information`, float64 (C, K), is the mutual information of codes and factors in nats
    (`labapp.models.metrics.information`); `title` the model's name, `scores` what stands under it.
    """

    title: str
    scores: str
    information: Float64
    codes: tuple[str, ...]
    factors: tuple[str, ...]


def draw(data_sets: Sequence[tuple[str, Sequence[Representation]]]) -> Figure:
    """A row of heat maps for each name of a data set, codes downwards and factors across. The
    models of a data set share one scale of colours, from 0 to their largest value.

    Raises
    ------
    ValueError : there is nothing to draw, or a matrix has not a row a code and a column a factor.
    """
    if not data_sets or not all(shown for _, shown in data_sets):
        raise ValueError("a data set with a representation at least is wanted")
    across = max(len(shown) for _, shown in data_sets)
    every = [representation for _, shown in data_sets for representation in shown]
    wide = CELL_IN[0] * max(len(representation.factors) for representation in every) + AROUND_IN[0]
    high = [
        CELL_IN[1] * max(len(representation.codes) for representation in shown) + AROUND_IN[1]
        for _, shown in data_sets
    ]
    with mpl.rc_context(STYLE):
        count = across * len(data_sets)
        figure, every_ax = kit.panels(
            count, across, high, width_in=across * wide + BAR_IN, between=0.06
        )
        grid = [every_ax[at : at + across] for at in range(0, count, across)]
        for axes, (name, shown) in zip(grid, data_sets, strict=True):
            top = max(float(representation.information.max()) for representation in shown)
            for ax, representation in zip(axes, shown, strict=False):
                drawn = _heat_map(ax, representation, top)
            kit.hide_unused(axes, len(shown))
            axes[0].set_ylabel(name, fontsize=11, fontweight="bold", labelpad=10)
            bar = figure.colorbar(drawn, ax=axes, fraction=0.02, pad=0.01)
            bar.set_label(UNIT, fontsize=8, color=SECONDARY)
            bar.ax.tick_params(labelsize=7)
            bar.outline.set_visible(False)
        figure.align_ylabels([axes[0] for axes in grid])
    return figure


def _heat_map(ax: Axes, representation: Representation, top: float) -> mpl.cm.ScalarMappable:
    matrix = representation.information
    if matrix.shape != (len(representation.codes), len(representation.factors)):
        raise ValueError(f"{representation.title}: the matrix has shape {matrix.shape}")
    # The model's name is bold; its scores stand under it.
    ax.set_title(f"{representation.title}\n", fontsize=10, linespacing=1.3)
    ax.text(0, 1.03, representation.scores, transform=ax.transAxes, fontsize=8, color=SECONDARY)
    ax.set_xticks(
        range(len(representation.factors)), representation.factors, rotation=90, fontsize=8
    )
    ax.set_yticks(range(len(representation.codes)), representation.codes, fontsize=8)
    for spine in ax.spines.values():
        spine.set_visible(True)
    return kit.heat_map(ax, matrix, SHADES, (0, max(top, 1e-12)), "{:.2f}".format)
