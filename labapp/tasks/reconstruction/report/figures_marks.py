"""The figure of the marks of a calibration."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from labapp.figure_style import ACCENT, INK, STYLE
from labapp.report.drawing import WIDTH_IN, Drawing, svg_of
from labapp.tasks.reconstruction.report.calibration import Suggestion


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
