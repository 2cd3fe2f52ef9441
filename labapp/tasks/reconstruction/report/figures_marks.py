"""The figure of the marks of a calibration."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np

from labapp.analysis.calibration import Suggestion
from labapp.figure_style import ACCENT, INK, STYLE
from labapp.report import kit
from labapp.report.drawing import Drawing, svg_of


def marks(suggestions: Sequence[Suggestion], name: str) -> Drawing:
    """The alignments marked far away and close enough, a strip a data set, with the alignment that
    separates them best."""
    with mpl.rc_context(STYLE):
        figure, axes = kit.panels(len(suggestions), 1, 1.3, more_in=0.5)
        for ax, result in zip(axes, suggestions, strict=True):
            if (best := result.separation) is not None:
                low, high = best.low * 100, best.high * 100
                ax.axvspan(low, high, color=kit.FACE, linewidth=0, zorder=0)
                ax.axvline(best.target * 100, color=INK, linewidth=1.8, zorder=1)
            for place, alignments in enumerate((result.close, result.far)):
                # Spread over the strip in a fixed order: marks at one alignment stay apart.
                shift = (np.arange(len(alignments)) * 0.618034 % 1.0 - 0.5) * 0.6
                face, mark = (ACCENT, "o") if place == 0 else ("white", "s")
                edge = {"markeredgecolor": ACCENT, "markeredgewidth": 0.9, "zorder": 2}
                percents = np.asarray(alignments) * 100
                kit.points(ax, percents, place + shift, mark, markerfacecolor=face, **edge)
            ax.set_title(result.dataset)
            ax.set_yticks([0, 1], ["close enough", "far away"])
            ax.set_ylim(-0.6, 1.6)
            ax.set_xlim(-1, 101)
            ax.tick_params(axis="y", length=0)
        figure.supxlabel("alignment, %", fontsize=9)
        names = ", ".join(suggestion.dataset for suggestion in suggestions)
        return Drawing(
            svg_of(figure, name), f"Alignments marked far away and close enough: {names}"
        )
