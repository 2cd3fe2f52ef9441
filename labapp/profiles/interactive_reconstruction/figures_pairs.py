"""Heat maps of the differences between models, with stars (paper 000, Figures A.11 and A.12)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize

from labapp.analysis.inference import Values
from labapp.figure_style import INK, SECONDARY
from labapp.profiles.interactive_reconstruction import axes
from labapp.profiles.interactive_reconstruction.figures_boxes import stars_told
from labapp.profiles.interactive_reconstruction.panels import Block, Layout, laid_out, layout_of
from labapp.profiles.interactive_reconstruction.results import Compared
from labapp.report.drawing import model_names
from labapp.report.plate import Plate

CELL_IN = 0.36
"""Height of a cell, and the least width of one."""
COLOURS = LinearSegmentedColormap.from_list(
    "labapp-differences", ["#0B3C8C", "#6F9AD9", "#FFFFFF", "#F6CE94", "#E8962E"]
)
"""Dark blue, white, light orange: the ends differ in grey too, and to the colour-blind."""
EMPTY = "#F4F5F6"
MIDDLE = 0.21
"""Of the luminance: on what is darker, white text is read more easily than ink."""
GAP_IN = 0.25
"""Between a heat map and the names of the next one's rows."""


def pairs(blocks: Sequence[Block], name: str, label: str) -> Plate:
    """A heat map a metric, a block a data set. blocks: of one study and task, of two models at
    least."""
    layout = layout_of(blocks, beside=_beside(blocks), least=CELL_IN)
    heights = [CELL_IN * len(block.group.models) for block in blocks]
    figure, panels = laid_out(blocks, heights, layout, counted=False)
    for block, own in zip(blocks, panels, strict=True):
        for ax, compared in zip(own, block.compared, strict=True):
            _panel(ax, block, compared, layout)
    axes.titled(figure, label, [block.group for block in blocks])
    return Plate(name, figure, label, _caption(blocks))


def _beside(blocks: Sequence[Block]) -> float:
    """Inches left of a heat map for the names of its rows."""
    return max(axes.width_in(name) for block in blocks for name in _rows(block)) + GAP_IN


def _rows(block: Block) -> list[str]:
    """Names in two lines at most, and not longer than they must be."""
    names = model_names(block.group.models)
    for room in np.arange(0.4, 4.0, 0.1):
        found = [axes.wrapped(name, float(room)) for name in names]
        if all(one.count("\n") < 2 and axes.width_in(one) <= room for one in found):
            return found
    return list(names)


def differences(block: Block, compared: Compared) -> tuple[Values, list[list[str]], bool]:
    """Row minus column: shape (models, models), NaN on the diagonal; stars; whether some cells were
    not tested, as those of models that nobody met together."""
    models = block.group.models
    found = np.full((len(models), len(models)), np.nan)
    said = [["" for _ in models] for _ in models]
    untested = False
    for row, one in enumerate(models):
        for column, other in enumerate(models):
            if row == column:
                continue
            pair = compared.pair(one, other)
            if pair is not None and pair.difference is not None:
                found[row, column] = pair.difference if pair.one == one else -pair.difference
                said[row][column] = pair.stars
            else:
                means = [compared.summaries[m].mean for m in (one, other)]
                if means[0] is not None and means[1] is not None:
                    found[row, column] = means[0] - means[1]
                    untested = True
    return found, said, untested


def _panel(ax: Axes, block: Block, compared: Compared, layout: Layout) -> None:
    values, said, _ = differences(block, compared)
    known = np.abs(values[np.isfinite(values)])
    largest = float(known.max()) if known.size and known.max() > 0 else 1.0
    scale = Normalize(-largest, largest)
    sides = np.arange(len(values) + 1) - 0.5
    # Not imshow, whose cells would be a bitmap in the page.
    ax.pcolormesh(sides, sides, np.ma.masked_invalid(values), cmap=COLOURS, norm=scale)
    ax.invert_yaxis()
    ax.set_facecolor(EMPTY)
    for (row, column), value in np.ndenumerate(values):
        if not np.isfinite(value):
            ax.text(column, row, "–", ha="center", va="center", color=SECONDARY, fontsize=7)
            continue
        _cell(ax, row, column, value, said[row][column], compared, scale)
    _frame(ax, block, layout)


def _cell(
    ax: Axes, row: int, column: int, value: float, stars: str, compared: Compared, scale: Normalize
) -> None:
    """A number with its sign, and its stars below."""
    colour = COLOURS(scale(value))
    number = axes.short(value, compared.metric.decimals, sign=True)
    ink = "white" if _luminance(colour) < MIDDLE else INK
    above = -0.14 if stars else 0.0
    ax.text(column, row + above, number, ha="center", va="center", color=ink, fontsize=7)
    if stars:
        ax.text(column, row + 0.34, stars, ha="center", va="center", color=ink, fontsize=7.5)


def _luminance(colour: tuple[float, float, float, float]) -> float:
    """Relative luminance, 0 black to 1 white (WCAG 2.1)."""
    linear = [
        one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in colour[:3]
    ]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def _frame(ax: Axes, block: Block, layout: Layout) -> None:
    """Names on both sides, white lines between cells, dark ones between subgroups."""
    models = block.group.models
    columns = axes.names_of(models, layout.room, counted=False)
    axes.below(ax, columns.said, upright=columns.upright)
    ax.set_yticks(range(len(models)), _rows(block))
    ax.tick_params(length=0, labelsize=axes.SMALL)
    for spine in ax.spines.values():
        spine.set_visible(False)
    for at in range(1, len(models)):
        dark = at in block.edges
        for line in (ax.axhline, ax.axvline):
            line(at - 0.5, color=INK if dark else "white", linewidth=1.6 if dark else 1.0)


def _caption(blocks: Sequence[Block]) -> str:
    pairs = [pair for block in blocks for one in block.compared for pair in one.pairs]
    said = [
        (
            "Mean difference, row minus column, in the metric's unit (k: thousands). Orange and +: "
            "the row has more; blue and −: it has less; the deeper, the larger beside others of "
            "its panel."
        ),
        stars_told(pairs),
    ]
    if any(block.edges for block in blocks):
        said.append("Dark lines part models of different numbers of dimensions.")
    if any(differences(block, one)[2] for block in blocks for one in block.compared):
        said.append("No test was made of models that no participant met together.")
    return " ".join(said)
