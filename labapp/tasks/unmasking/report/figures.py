"""The report's figures of the unmasking study (paper 004, Figures 3 to 9), for a page and as files.

Figures 3 to 6 are of people, 7 of the model, 8 and 9 of both; `figures_fits` has what is ours.
"""

from __future__ import annotations

from collections.abc import Callable

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from labapp.figure_style import INK, panels_across, points_of, style
from labapp.report import kit
from labapp.report.drawing import ReportFigure
from labapp.tasks.unmasking.report import axes, figures_fits, figures_model
from labapp.tasks.unmasking.report.panels import HEIGHT_IN, lines, plate_of, two
from labapp.tasks.unmasking.report.published import PAPER
from labapp.tasks.unmasking.report.results import Found
from labapp.tasks.unmasking.report.words import AT_EACH_MASK, INTERVAL, timed_of

BAR = 0.68
"""Width of a bar, as a share of the least distance between two masks."""
ROW, UPRIGHT_ROW = 7.5, 15.0
"""Between the numbers above the bars, in percent of the axis; and where they stand upright."""


def plates(result: Found, prefix: str = "unmasking") -> list[ReportFigure]:
    """Every figure for which there are values; prefix: of their file names."""
    makers: tuple[Callable[[Found, str], ReportFigure | None], ...] = (
        confidence,
        confidence_by_method,
        reaction_times,
        accuracy,
        figures_model.model,
        figures_model.ranks,
        figures_model.bias,
        figures_model.bias_times,
        figures_fits.psychometric,
        figures_fits.thresholds,
    )
    with mpl.rc_context(style()):
        return [plate for make in makers if (plate := make(result, prefix)) is not None]


def confidence(result: Found, prefix: str) -> ReportFigure | None:
    """Figure 3: labels and "I don't know" by mask, over all methods."""
    counts = result.labels[result.labels["n"] > 0]
    if counts.empty:
        return None
    figure, (ax,) = kit.panels(1, 1, HEIGHT_IN)
    _stacked(ax, counts)
    axes.percents(ax, result.group.percents)
    ax.set_ylabel("% of annotations")
    ax.set_title("A class named (dark) or “I don't know” (light), all methods")
    return plate_of(
        result,
        f"{prefix}-3-confidence",
        figure,
        f"Confidence by mask ({PAPER}, Figure 3)",
        f"Above the bars: how many annotations. {INTERVAL}",
    )


def _stacked(ax: Axes, counts: pd.DataFrame) -> None:
    """A bar a mask, of labels below and "I don't know" above, with the interval between them."""
    shown = counts["percent"].to_numpy(float)
    left, right = axes.bar_edges(list(shown), BAR)
    lefts, spans = shown * left, shown * (right - left)
    share = counts["share"].to_numpy(float) * 100
    ax.bar(lefts, share, spans, align="edge", color="#97A3AF", edgecolor=INK, linewidth=0.8)
    ax.bar(
        lefts,
        100 - share,
        spans,
        bottom=share,
        align="edge",
        color="#EDF0F3",
        edgecolor=INK,
        linewidth=0.8,
    )
    kit.vertical_interval(ax, shown, counts["low"].to_numpy(float) * 100, counts["high"] * 100, INK)
    upright = panels_across(2) < 2
    row = UPRIGHT_ROW if upright else ROW
    ax.set_ylim(-2, 100 + 2.4 * row)
    ax.set_yticks(
        [*range(0, 101, 20), 100 + row, 100 + 2 * row],
        [*map(str, range(0, 101, 20)), "label, n", "“I don't know”, n"],
    )
    for height, column in ((row, "labels"), (2 * row, "dont_know")):
        for at, n in zip(shown, counts[column], strict=True):
            turned = 90 if upright else 0
            ax.text(
                at,
                100 + height,
                f"{n:,}",
                ha="center",
                va="center",
                rotation=turned,
                fontsize=points_of(7.5 if upright else 8.5),
            )


def confidence_by_method(result: Found, prefix: str) -> ReportFigure | None:
    """Figure 4: the share of labels by mask and method."""
    return _one(
        result,
        result.labels_by_method,
        f"{prefix}-4-confidence-by-method",
        f"Confidence by mask and method ({PAPER}, Figure 4)",
        "% of annotations that are a label",
        "Annotations in which a class was named; the others are “I don't know”.",
    )


def _one(
    result: Found, frame: pd.DataFrame, name: str, label: str, unit: str, caption: str
) -> ReportFigure | None:
    """A panel of shares by mask, a line a method."""
    if frame.empty or not (frame["n"] > 0).any():
        return None
    figure, (ax,) = kit.panels(1, 1, HEIGHT_IN)
    lines(ax, result, frame, "share", "low", "high", 100.0)
    axes.percents(ax, result.group.percents)
    axes.share(ax, unit)
    ax.set_title("A class was named, by method")
    axes.legend(figure, ax)
    return plate_of(result, name, figure, label, f"{caption} {AT_EACH_MASK} {INTERVAL}")


def reaction_times(result: Found, prefix: str) -> ReportFigure | None:
    """Figure 5: mean reaction times by mask and method; beside it (ours) medians."""
    times = result.times
    if times.empty or not times["mean"].notna().any():
        return None
    figure, (left, right) = two(result)
    for ax, kind in ((left, "mean"), (right, "median")):
        lines(ax, result, times, kind, f"{kind}_low", f"{kind}_high")
        ax.set_ylabel("reaction time, ms")
        kit.grid(ax)
    left.set_title("Mean, as published")
    right.set_title("Median (ours)")
    limits = np.array([ax.get_ylim() for ax in (left, right)])
    for ax in (left, right):
        ax.set_ylim(max(0.0, limits[:, 0].min()), limits[:, 1].max())
    axes.legend(figure, left)
    return plate_of(
        result,
        f"{prefix}-5-reaction-time",
        figure,
        f"Reaction time by mask and method ({PAPER}, Figure 5)",
        "From the first painted frame of the stimulus to the time stamp of the press, of all "
        f"annotations{timed_of(result.group)}. {AT_EACH_MASK} {INTERVAL}",
    )


def accuracy(result: Found, prefix: str) -> ReportFigure | None:
    """Figure 6: accuracy by mask and method, "I don't know" as not correct; beside it (ours)
    without it."""
    frame = result.accuracy
    if frame.empty or not (frame["n"] > 0).any():
        return None
    figure, (left, right) = two(result)
    lines(left, result, frame, "share", "low", "high", 100.0)
    lines(
        right,
        result,
        frame,
        "share_of_labels",
        "labels_low",
        "labels_high",
        100.0,
        counted="n_labels",
    )
    axes.share(left, "% of all annotations")
    axes.share(right, "% of labels", guess=100 / len(result.group.classes))
    left.set_title("“I don't know” is not correct, as published")
    right.set_title("Without “I don't know” (ours)")
    axes.legend(figure, left)
    return plate_of(
        result,
        f"{prefix}-6-accuracy",
        figure,
        f"Annotation accuracy by mask and method ({PAPER}, Figure 6)",
        f"Correct annotations. Dashed: what guessing a class gets. {AT_EACH_MASK} On the right, "
        f"few labels stand behind the small masks: {_few(frame)}. {INTERVAL}",
    )


def _few(frame: pd.DataFrame) -> str:
    counts = frame["n_labels"].dropna()
    least, most = int(counts.min()), int(counts.max())
    return f"{least:,} at the least, {most:,} at the most" if least < most else f"{most:,} each"
