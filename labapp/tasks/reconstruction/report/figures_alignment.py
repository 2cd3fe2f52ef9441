"""The figure of the alignment over time, a small panel a question, as SVG text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cbook import pts_to_poststep
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from labapp.analysis.calibration import Suggestion
from labapp.analysis.task_records import Row
from labapp.base.figure_style import (
    ACCENT,
    INK,
    SECONDARY,
    figure_width,
    panels_across,
    points_of,
    style,
)
from labapp.base.report import kit
from labapp.base.report.drawing import Drawing, svg_of

COLUMNS = 7
"""Panels side by side in a figure of 10 inches."""
ROW_IN, BETWEEN_IN, TITLE_IN, BELOW_IN = 1.5, 0.52, 0.24, 0.2
"""A row of small panels; what lies between two rows, of it the titles; and below the last row."""
LEFT_IN, BESIDE_IN, GAP_IN = 0.75, 0.12, 0.18
"""On the left of the first panel of a row; on the right of the last; and between two."""
TICK_IN, PAD_IN = 0.045, 0.09
"""Length of a tick, and from the axis to what is written there."""
POINTS = 80
"""A line of a small panel is thinned to about this many points."""
_MARKS = {"solved": "o", "marked": "D", "skipped": "X"}
_Line = NDArray[np.float64]


def alignment(trials: pd.DataFrame, snapshots: pd.DataFrame, name: str) -> Drawing:
    """Alignment over time, one small panel a question, each stage in rows of its own, of one
    session. trials, snapshots: that session's rows. The time axis is the same within a stage."""
    series = dict(list(snapshots.groupby(["stage", "trial", "attempt"])))
    rows: list[tuple[list[Row], float]] = []
    across = panels_across(COLUMNS)
    for _, stage in trials.groupby("stage_number", sort=True):
        ordered = stage.sort_values(["trial", "attempt"]).to_dict("records")
        panels = [{str(column): value for column, value in row.items()} for row in ordered]
        longest = max(1.0, *stage["duration_s"].fillna(0.0))
        rows += [(panels[at : at + across], longest) for at in range(0, len(panels), across)]
    columns = max(len(panels) for panels, _ in rows)
    with mpl.rc_context(style()):
        height = BELOW_IN + ROW_IN * len(rows)
        figure = Figure(figsize=(figure_width(), height))
        sheet = _Sheet(figure, (figure_width() - LEFT_IN - BESIDE_IN + GAP_IN) / columns - GAP_IN)
        for number, (panels, longest) in enumerate(rows):
            bottom = height - TITLE_IN - ROW_IN * number - sheet.height
            for column, trial in enumerate(panels):
                key = (trial["stage"], trial["trial"], trial["attempt"])
                left = LEFT_IN + column * (sheet.width + GAP_IN)
                sheet.panel(left, bottom, trial, series.get(key), longest)
            sheet.scale(bottom, f"{panels[0]['model']}\nalignment, %")
        sheet.draw()
        figure.supxlabel(
            "seconds since the pictures appeared", fontsize=points_of(9), y=0.06 / height
        )
        return Drawing(svg_of(figure, name), "Alignment over time, one panel per question")


class _Sheet:
    """All panels in one system of coordinates, in inches from the lower left of the figure.

    Not an `Axes` each: with the axes, ticks, lines and labels of its own a panel takes ten times as
    long, and there are dozens.
    """

    def __init__(self, figure: Figure, width: float) -> None:
        self.width, self.height = width, ROW_IN - BETWEEN_IN
        self._ax: Axes = figure.add_axes((0, 0, 1, 1))
        self._ax.set_axis_off()
        self._ax.set_xlim(0, figure.get_figwidth())
        self._ax.set_ylim(0, figure.get_figheight())
        self._frames: list[_Line] = []
        self._targets: list[_Line] = []
        self._series: list[_Line] = []
        self._ends: dict[str, list[_Line]] = defaultdict(list)

    def panel(
        self, left: float, bottom: float, trial: Row, series: pd.DataFrame | None, longest: float
    ) -> None:
        """One question; longest: seconds at the right end of its time axis."""
        corner, size = np.array([left, bottom]), np.array([self.width, self.height])
        scale = size / (longest, 1.0)
        top_right = corner + size
        self._frames.append(np.array([(left, top_right[1]), corner, (top_right[0], bottom)]))
        for tick in MaxNLocator(nbins=3, integer=True).tick_values(0, longest):
            if 0 <= tick <= longest:
                x = left + tick * scale[0]
                self._frames.append(np.array([(x, bottom), (x, bottom - TICK_IN)]))
                self._write(x, bottom - PAD_IN, f"{tick:.0f}", ha="center", va="top")
        for share in (0.0, 0.5, 1.0):
            y = bottom + share * scale[1]
            self._frames.append(np.array([(left, y), (left - TICK_IN, y)]))
        if np.isfinite(target := trial["target_alignment"]):
            y = bottom + target * scale[1]
            self._targets.append(np.array([(left, y), (top_right[0], y)]))
        duration = trial["duration_s"]
        title = f"Q{trial['trial']} {trial['outcome']}".replace("_", " ")
        if series is not None and np.isfinite(duration):
            line = series[["t_s", "alignment"]].to_numpy(dtype=float)
            line = corner + scale * np.clip(line[_thin_line(*line.T)], 0, (longest, 1.0))
            self._series.append(np.transpose(pts_to_poststep(*line.T)))
            self._ends[_MARKS.get(str(trial["outcome"]), "s")].append(line[-1])
            title += f", {duration:.0f} s"
        self._write(left, top_right[1] + PAD_IN, title, ha="left", va="baseline")

    def scale(self, bottom: float, title: str) -> None:
        for percent in (0, 50, 100):
            y = bottom + percent / 100 * self.height
            self._write(LEFT_IN - PAD_IN, y, str(percent), ha="right", va="center_baseline")
        middle = bottom + self.height / 2
        self._ax.text(LEFT_IN / 4, middle, title, rotation=90, ha="center", va="center", color=INK)

    def draw(self) -> None:
        targets = LineCollection(
            self._targets, colors=SECONDARY, linewidths=0.8, linestyles=[(0, (4, 3))]
        )
        self._ax.add_collection(targets, autolim=False)
        for lines, color, width in ((self._series, ACCENT, 1.3), (self._frames, SECONDARY, 0.8)):
            drawn = LineCollection(lines, colors=color, linewidths=width)
            self._ax.add_collection(drawn, autolim=False)
        for mark, ends in self._ends.items():
            self._ax.plot(*np.transpose(ends), mark, color=INK, markersize=5, zorder=3)

    def _write(self, x: float, y: float, text: str, *, ha: str, va: str) -> None:
        self._ax.text(x, y, text, ha=ha, va=va, fontsize=points_of(8), color=INK)


def _thin_line(t: _Line, values: _Line) -> NDArray[np.intp]:
    """Indices that keep the line's shape at a panel's size: the lowest and highest of each of
    POINTS / 2 stretches of time, besides both ends."""
    if len(t) <= POINTS:
        return np.arange(len(t))
    stretch = np.minimum((t / max(t[-1], 1e-9) * (POINTS // 2)).astype(int), POINTS // 2 - 1)
    indices = {0, len(t) - 1}
    for number in np.unique(stretch):
        inside = np.flatnonzero(stretch == number)
        indices.add(int(inside[values[inside].argmin()]))
        indices.add(int(inside[values[inside].argmax()]))
    return np.array(sorted(indices))


def marks(suggestions: Sequence[Suggestion], name: str) -> Drawing:
    """The alignments marked far away and close enough, a strip a data set, with the alignment that
    separates them best."""
    with mpl.rc_context(style()):
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
        figure.supxlabel("alignment, %", fontsize=points_of(9))
        names = ", ".join(suggestion.dataset for suggestion in suggestions)
        return Drawing(
            svg_of(figure, name), f"Alignments marked far away and close enough: {names}"
        )
