"""Small multiples of strips: a panel for each measure, with a strip for each model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from labapp.base.figure_style import figure_width, panels_across, style
from labapp.base.report import drawing, kit
from labapp.base.report.drawing import Drawing, svg_of

BESIDE_IN = 0.7
"""Left of an axis, for its numbers and unit."""
LEAST_IN, DRAWN_IN = 2.3, 1.75
"""Height of a panel with short names below it, and of what is above the names of any."""
READ = "Each point is a participant; grey lines join the points of one. " + kit.STRIPS_READ


@dataclass(frozen=True, eq=False)
class StripPanel:
    """What a panel shows.

    Attributes
    ----------
    title, unit : what was measured, and its unit.
    values : shape (participants, models), NaN where a value is missing.
    limits : least and greatest possible value; None if there are no limits.
    models : ids of the strips, where it has not those of all panels.
    dataset : their data set, where that is what parts them from those of other panels.
    """

    title: str
    unit: str
    values: kit.Values
    limits: tuple[float, float] | None = None
    models: Sequence[str] = ()
    dataset: str = ""


def strip_panels(
    measured: Sequence[StripPanel], models: Sequence[str], name: str, label: str, across: int
) -> Drawing:
    """Draw a panel for each measure.

    models: ids of the strips; name: prefix of the ids in the page; across: panels in a row.
    """
    with mpl.rc_context(style()):
        wide = figure_width() / panels_across(across) - BESIDE_IN
        named = [panel.models or models for panel in measured]
        rooms = [wide / (max(len(own), drawing.LEAST) + 0.2) for own in named]
        below = max(map(drawing.label_height, named, rooms), default=0.0)
        figure, axes = kit.panels(len(measured), across, max(LEAST_IN, DRAWN_IN + below))
        for ax, panel, own, room in zip(axes, measured, named, rooms, strict=True):
            counts = kit.strips(ax, panel.values, joined=True, limits=panel.limits)
            drawing.names_below(ax, own, counts, (), room)
            ax.set_title(panel.title)
            ax.set_ylabel(panel.unit)
            ax.set_xlabel(panel.dataset)
            kit.grid(ax)
            scale(ax, panel)
        return Drawing(svg_of(figure, name), f"{label}: {', '.join(models)}")


def scale(ax: Axes, panel: StripPanel) -> None:
    """Set the y axis to the panel's limits, or from 0 to its highest value, with a margin."""
    if panel.limits is not None:
        low, high = panel.limits
        margin = 0.06 * (high - low)
        ax.set_ylim(low - margin, high + margin)
        ax.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=7))
        return
    known = panel.values[np.isfinite(panel.values)]
    highest = float(known.max()) if known.size else 0.0
    ax.set_ylim(0, 1.06 * highest or 1.0)
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
