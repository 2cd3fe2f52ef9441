"""The report's figures of the unmasking study (paper 004, Figures 3 to 9), for a page and as files:
3 to 6 are of people, 7 of the model, 8 and 9 of both; fitted functions are ours.

Methods differ by line and mark as well as by colour, and their lightness differs: they can be told
apart in grey print.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator
from numpy.typing import ArrayLike, NDArray

from labapp.base.figure_style import ACCENT, INK, SECONDARY, SERIES, panels_across, points_of, style
from labapp.base.report import kit
from labapp.base.report.drawing import ReportFigure
from labapp.base.report.page import count
from labapp.tasks.unmasking.plan import TASK
from labapp.tasks.unmasking.report import fits
from labapp.tasks.unmasking.report.published import PAPER
from labapp.tasks.unmasking.report.results import (
    AGREED,
    CORRECT,
    DONT_KNOW,
    LABEL,
    MASKED,
    MODEL,
    OTHER,
    PEOPLE,
    WHOLE,
    UnmaskingResults,
)
from labapp.tasks.unmasking.report.sections import (
    AT_EACH_MASK,
    INTERVAL,
    OVER_IMAGES,
    annotations_of,
    describe_untimed,
    of_people,
)

BAR = 0.68
"""Width of a bar, as a share of the least distance between two masks on the logarithmic axis."""
ROW, UPRIGHT_ROW = 7.5, 15.0
"""Between the numbers above the bars, in percent of the axis; and where they stand upright."""


def plates(result: UnmaskingResults) -> list[ReportFigure]:
    """Every figure for which there are values."""
    makers: tuple[Callable[[UnmaskingResults], ReportFigure | None], ...] = (
        confidence,
        confidence_by_method,
        reaction_times,
        accuracy,
        model,
        ranks,
        bias,
        bias_times,
        psychometric,
        thresholds,
    )
    with mpl.rc_context(style()):
        return [plate for make in makers if (plate := make(result)) is not None]


def confidence(result: UnmaskingResults) -> ReportFigure | None:
    """Figure 3: labels and "I don't know" by mask, over all methods."""
    counts = result.labels[result.labels["n"] > 0]
    if counts.empty:
        return None
    figure, (ax,) = kit.panels(1, 1, HEIGHT_IN)
    _draw_stacked(ax, counts)
    percents(ax, result.group.percents)
    ax.set_ylabel("% of annotations")
    ax.set_title("A class named (dark) or “I don't know” (light), all methods")
    return plate_of(
        result,
        "3-confidence",
        figure,
        f"Confidence by mask ({PAPER}, Figure 3)",
        f"Above the bars: the number of annotations. {INTERVAL}",
    )


def _draw_stacked(ax: Axes, counts: pd.DataFrame) -> None:
    """One bar per mask, of labels below and "I don't know" above, with the interval between
    them."""
    shown = counts["percent"].to_numpy(float)
    steps = np.diff(np.log(np.sort(shown)))
    half = BAR * (float(steps.min()) if steps.size else 0.3) / 2
    left, right = float(np.exp(-half)), float(np.exp(half))
    lefts, spans = shown * left, shown * (right - left)
    share = counts["share"].to_numpy(float) * 100
    look: dict[str, Any] = {"align": "edge", "edgecolor": INK, "linewidth": 0.8}
    ax.bar(lefts, share, spans, color="#97A3AF", **look)
    ax.bar(lefts, 100 - share, spans, bottom=share, color="#EDF0F3", **look)
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
            ax.text(
                at,
                100 + height,
                f"{n:,}",
                ha="center",
                va="center",
                rotation=90 if upright else 0,
                fontsize=points_of(7.5 if upright else 8.5),
            )


def confidence_by_method(result: UnmaskingResults) -> ReportFigure | None:
    """Figure 4: the share of labels by mask and method."""
    frame = result.labels_by_method
    if frame.empty or not (frame["n"] > 0).any():
        return None
    figure, (ax,) = kit.panels(1, 1, HEIGHT_IN)
    lines(ax, result, frame, "share", "low", "high", 100.0)
    percents(ax, result.group.percents)
    share(ax, "% of annotations that are a label")
    ax.set_title("A class was named, by method")
    legend(figure, ax)
    return plate_of(
        result,
        "4-confidence-by-method",
        figure,
        f"Confidence by mask and method ({PAPER}, Figure 4)",
        "Share of annotations in which a class was named; all others are “I don't know”. "
        f"{AT_EACH_MASK} {INTERVAL}",
    )


def reaction_times(result: UnmaskingResults) -> ReportFigure | None:
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
    legend(figure, left)
    return plate_of(
        result,
        "5-reaction-time",
        figure,
        f"Reaction time by mask and method ({PAPER}, Figure 5)",
        "Reaction times run from the first painted frame of the stimulus to the time stamp of the "
        f"press, over all annotations{describe_untimed(result.group)}. {AT_EACH_MASK} {INTERVAL}",
    )


def accuracy(result: UnmaskingResults) -> ReportFigure | None:
    """Figure 6: accuracy by mask and method, "I don't know" as not correct; beside it (ours)
    without it."""
    frame = result.accuracy
    if frame.empty or not (frame["n"] > 0).any():
        return None
    counts = frame["n_labels"].dropna()
    least, most = int(counts.min()), int(counts.max())
    few = f"at least {least:,}, at most {most:,}" if least < most else f"{most:,} each"
    figure, (left, right) = two(result)
    lines(left, result, frame, "share", "low", "high", 100.0)
    own = ("share_of_labels", "labels_low", "labels_high")
    lines(right, result, frame, *own, 100.0, counted="n_labels")
    share(left, "% of all annotations")
    share(right, "% of labels", guess=100 / len(result.group.classes))
    left.set_title("“I don't know” is not correct, as published")
    right.set_title("Without “I don't know” (ours)")
    legend(figure, left)
    return plate_of(
        result,
        "6-accuracy",
        figure,
        f"Annotation accuracy by mask and method ({PAPER}, Figure 6)",
        f"Share of correct annotations. Dashed: the result of guessing. {AT_EACH_MASK} On the "
        f"right, small masks have few labels: {few}. {INTERVAL}",
    )


TITLES = {LABEL: "A class is named", CORRECT: "The true class is named"}
POINTS = 200
"""Of a drawn function."""


def psychometric(result: UnmaskingResults) -> ReportFigure | None:
    """The fitted functions of each method over the shares that they are fitted to."""
    pooled = result.fits.pooled
    if pooled.empty or not pooled["threshold"].notna().any():
        return None
    figure, panels = two(result)
    shares = {LABEL: result.labels_by_method, CORRECT: result.accuracy}
    for ax, (of, title) in zip(panels, TITLES.items(), strict=True):
        lines(ax, result, shares[of], "share", None, None, 100.0, join=False)
        own = pooled[pooled["of"] == of].set_index("method").reindex(list(result.group.methods))
        _functions(ax, result, own)
        share(ax, "% of all annotations")
        ax.set_ylim(-10, 102)
        ax.set_title(title)
    legend(figure, panels[0])
    return plate_of(
        result,
        "psychometric",
        figure,
        "Psychometric functions by method (ours)",
        "Symbols: observed values. Lines: logistic functions of the logarithm of the percentage "
        "with guess and lapse rates, fitted to all annotations by maximum likelihood. "
        f"{AT_EACH_MASK} Below: the threshold, half-way between the function's ends, with its 95 "
        "% interval (bootstrap over participants).",
    )


def _functions(ax: Axes, result: UnmaskingResults, own: pd.DataFrame) -> None:
    """One line per method, and its threshold below the axis of shares."""
    low, high = result.group.percents[0], result.group.percents[-1]
    x = np.geomspace(low, high, POINTS)
    for place, (_, fit) in enumerate(own.iterrows()):
        threshold = float(fit["threshold"])
        if not np.isfinite(threshold):
            continue
        look = axes_look(place)
        slope, guess, lapse = (float(fit[name]) for name in ("slope", "guess", "lapse"))
        y = 100 * fits.share(x, threshold, slope, guess, lapse)
        ax.plot(x, y, ls=look.line, color=look.colour, linewidth=1.5, zorder=2)
        if fit["why"]:
            continue  # the threshold means nothing; the table says why
        below = -3.0 - 2.4 * place % 7.2
        ends = np.clip([fit["threshold_low"], fit["threshold_high"]], low, high)
        if np.isfinite(ends).all():
            ax.plot(ends, [below] * 2, color=look.colour, linewidth=1.8, solid_capstyle="butt")
        ax.plot(threshold, below, "|", color=look.colour, markersize=8, markeredgewidth=2)


def thresholds(result: UnmaskingResults) -> ReportFigure | None:
    """The thresholds of each participant, joined over methods."""
    own = result.fits.own
    if not (own["why"] == "").any():
        return None
    figure, panels = kit.panels(2, 2, 3.4, sharey=True)
    for ax, (of, title) in zip(panels, TITLES.items(), strict=True):
        _own(ax, result, own[own["of"] == of])
        ax.set_title(title)
    panels[0].set_ylabel("threshold, % of pixels (logarithmic)")
    return plate_of(
        result,
        "thresholds",
        figure,
        "Thresholds of each participant (ours)",
        "One point per participant; grey lines join a participant's methods; thick line: "
        "median. Guess and lapse rates are those of the fit over all participants. Thresholds "
        "outside the range of the masks, and participants whose answers do not differ from "
        "chance, are left out; n counts the others.",
    )


def _own(ax: Axes, result: UnmaskingResults, own: pd.DataFrame) -> None:
    methods = result.group.methods
    low, high = result.group.percents[0], result.group.percents[-1]
    wide = own[own["why"] == ""].pivot_table(
        index="participant", columns="method", values="threshold"
    )
    values = wide.reindex(columns=list(methods)).to_numpy(float)
    shifts = kit.jitter(len(values), 0.12)
    kit.join_participants(ax, values, shifts)
    names = []
    for place, name in enumerate(methods.values()):
        known = np.isfinite(values[:, place])
        look = axes_look(place)
        marks(ax, look, place + shifts[known], values[known, place], "", size=4)
        names.append(f"{fold_name(name)}\nn = {int(known.sum())}")
        if known.any():
            kit.median(ax, place, values[known, place], 0.3, zorder=4)
    ax.set_yscale("log")
    ax.set_ylim(low / 1.05, high * 1.05)
    ax.set_yticks(result.group.percents, [f"{percent:g}" for percent in result.group.percents])
    ax.minorticks_off()
    kit.columns(ax, names, beyond=0.5)
    ax.tick_params(axis="y", labelcolor=SECONDARY)
    kit.grid(ax)


RANKERS = {PEOPLE: "people, by accuracy", MODEL: "model, by cross-entropy"}
WRONG = {WHOLE: "Model wrong on the whole image", MASKED: "Model wrong on the masked image"}
ANSWERS = {AGREED: "the wrong prediction", OTHER: "another class", DONT_KNOW: "“I don't know”"}


def model(result: UnmaskingResults) -> ReportFigure | None:
    """Figure 7: the model's accuracy on masked images; beside it (ours) its cross-entropy, by which
    the ranks are."""
    frame = result.model
    if frame.empty or not (frame["n"] > 0).any():
        return None
    figure, (left, right) = two(result)
    lines(left, result, frame, "share", "low", "high", 100.0)
    share(left, "% of images")
    left.set_title("Accuracy, as published")
    for _, whole in result.whole[result.whole["n"] > 0].iterrows():
        left.axhline(100 * float(whole["share"]), color=INK, linewidth=1.0, ls=kit.DASHED)
    lines(right, result, frame, "cross_entropy", None, None)
    right.set_ylim(bottom=0)
    right.set_ylabel("nats, mean over images")
    kit.grid(right)
    right.set_title("Cross-entropy (ours; used for the ranks)")
    legend(figure, left)
    return plate_of(
        result,
        "7-model-accuracy",
        figure,
        f"The model on the masked images, no human in the loop ({PAPER}, Figure 7)",
        f"n: images. Dashed: the model on the whole images. {OVER_IMAGES}",
        of=count(int(frame["n"].max()), "image"),
    )


def ranks(result: UnmaskingResults) -> ReportFigure | None:
    """Figure 8: average ranks of the methods by people and by the model."""
    overall, by_mask = result.ranks.overall, result.ranks.by_mask
    if overall.empty or not overall["rank"].notna().any():
        return None
    widths = (1.0, 1.25, 1.25)
    figure, (first, second, third) = kit.panels(3, 3, HEIGHT_IN, width_ratios=widths)
    _overall(first, result)
    for ax, who, title in ((second, MODEL, "By mask: model"), (third, PEOPLE, "By mask: people")):
        percents(ax, result.group.percents)
        own = by_mask[by_mask["who"] == who]
        if own["rank"].notna().any():
            lines(ax, result, own, "rank", "low", "high")
        else:
            missing = {MODEL: "no outputs of the model\non masked images"}
            nothing(ax, missing.get(who, "no annotations"))
        ax.set_title(title)
        _best_on_top(ax, result)
    legend(figure, third if third.get_legend_handles_labels()[0] else second)
    return plate_of(
        result,
        "8-ranks",
        figure,
        f"Ranks of the methods by people and by the model ({PAPER}, Figure 8)",
        "Rank 1, at the top, is best: people's highest mean accuracy (“I don't know” is not "
        "correct), or the model's lowest cross-entropy. Methods are ranked for each image and "
        "mask (ties get their average rank), and the ranks are averaged over images. n: images; "
        "on the left, images × masks. Vertical lines: 95 % intervals (ours); for people ± 1.96 "
        "standard deviations of bootstrap draws of participants, for the model percentiles of "
        "draws of images.",
    )


def _overall(ax: Axes, result: UnmaskingResults) -> None:
    """Average ranks over all masks: a place a method, people and model beside each other."""
    methods = result.group.methods
    overall = result.ranks.overall
    drawn = ((PEOPLE, -0.12, LineStyle(INK, "", "o")), (MODEL, 0.12, HOLLOW))
    for who, shift, look in drawn:
        own = overall[overall["who"] == who].set_index("method").reindex(list(methods))
        if not own["rank"].notna().any():
            continue
        at = np.arange(len(methods)) + shift
        kit.vertical_interval(ax, at, own["low"], own["high"], look.colour)
        marks(ax, look, at, own["rank"], f"{RANKERS[who]}, {annotations_of(own['n'])}")
    kit.columns(
        ax, [fold_name(name) for name in methods.values()], beyond=0.5, fontsize=points_of(8)
    )
    ax.set_title("All masks")
    ax.set_ylabel("average rank, 1 = best")
    _best_on_top(ax, result)
    ax.legend(frameon=False, fontsize=points_of(7.5), loc="lower center", bbox_to_anchor=(0.5, 0.0))


def _best_on_top(ax: Axes, result: UnmaskingResults) -> None:
    last = len(result.group.methods)
    ax.set_ylim(last + 0.45, 0.85)
    ax.set_yticks(range(1, last + 1))
    kit.grid(ax)


def bias(result: UnmaskingResults) -> ReportFigure | None:
    """Figure 9: annotations equal to the model's prediction where that is wrong."""
    shares = result.bias.shares
    if shares.empty or not (shares["n"] > 0).any():
        return None
    figure, panels = two(result)
    highest = float(np.nanmax(shares[["share", "high"]].to_numpy(float)))
    top = min(100, 10 * int(np.ceil(10 * highest + 0.2)))
    for ax, (wrong, title) in zip(panels, WRONG.items(), strict=True):
        own = shares[shares["wrong"] == wrong]
        if (own["n"] > 0).any():
            lines(ax, result, own, "share", "low", "high", 100.0)
        else:
            nothing(ax, "no such image, or no outputs of the model")
        share(ax, "% equal to the wrong prediction", top=top)
        ax.set_title(title if wrong == WHOLE else f"{title} (ours)")
    drawn = next(ax for ax in panels if ax.get_legend_handles_labels()[0])
    legend(figure, drawn)
    return plate_of(
        result,
        "9-bias",
        figure,
        f"Algorithmic bias: the model's wrong prediction repeated ({PAPER}, Figure 9)",
        "Share of annotations of wrongly predicted images that repeat the prediction, mean over "
        f"images: {_wrong_images(shares)}. "
        "The paper does not say which prediction it means; the prediction explained here is the "
        f"one for the whole image. {AT_EACH_MASK} {INTERVAL}",
    )


def _wrong_images(shares: pd.DataFrame) -> str:
    result = []
    for wrong, name in ((WHOLE, "on the left"), (MASKED, "on the right")):
        counts = shares.loc[shares["wrong"] == wrong, "n_images"].dropna()
        counts = counts[counts > 0]
        if not counts.empty:
            least, most = int(counts.min()), int(counts.max())
            some = count(most, "image")
            result.append(f"{name} {some if least == most else f'{least} to {some}'}")
    return ", ".join(result)


def bias_times(result: UnmaskingResults) -> ReportFigure | None:
    """How fast a wrong prediction is repeated, against other answers to the same images."""
    times = result.bias.times
    if times.empty or not times["mean"].notna().any():
        return None
    figure, panels = kit.panels(2, 2, 2.2, sharex=True)
    for ax, (wrong, title) in zip(panels, WRONG.items(), strict=True):
        _answers(ax, times[times["wrong"] == wrong].set_index("answer").reindex(list(ANSWERS)))
        ax.set_title(title)
        ax.set_xlabel("reaction time, ms")
    panels[0].set_xlim(left=0)
    return plate_of(
        result,
        "9-bias-times",
        figure,
        "Reaction time of repeating a wrong prediction, and of other answers (ours)",
        "Filled: mean; open: median; lines: 95 % intervals, bootstrap over participants; no values "
        "are left out.",
    )


def _answers(ax: Axes, own: pd.DataFrame) -> None:
    for place, (_, row) in enumerate(own.iterrows()):
        for kind, shift, face in (("mean", -0.13, INK), ("median", 0.13, "white")):
            value = float(row[kind])
            if np.isfinite(value):
                ends = [float(row[f"{kind}_low"]), float(row[f"{kind}_high"])]
                kit.horizontal_interval(ax, ends, place + shift, color=SECONDARY)
                kit.diamond(ax, value, place + shift, markersize=5.5, markerfacecolor=face)
    counts = own["n"].fillna(0).astype(int)
    names = [f"{ANSWERS[str(answer)]}, n = {n:,}" for answer, n in counts.items()]
    kit.rows(ax, names)


HEIGHT_IN = 4.1


def plate_of(
    result: UnmaskingResults, name: str, figure: Figure, label: str, caption: str, *, of: str = ""
) -> ReportFigure:
    """The figure as a file of its own, and beside it what it is of: the people, or else `of`. name:
    behind the task's, of the file."""
    figure.set_label(f"{label} · {result.group.name}: {of or of_people(result.group)}")
    return ReportFigure(f"{TASK}-{name}", figure, label, caption)


def two(result: UnmaskingResults) -> tuple[Figure, Sequence[Axes]]:
    """Two panels beside each other, both by the percentage shown."""
    figure, panels = kit.panels(2, 2, HEIGHT_IN)
    for ax in panels:
        percents(ax, result.group.percents)
    return figure, panels


def lines(
    ax: Axes,
    result: UnmaskingResults,
    frame: pd.DataFrame,
    value: str,
    low: str | None,
    high: str | None,
    factor: float = 1.0,
    *,
    counted: str = "n",
    join: bool = True,
) -> None:
    """Marks of each method by mask, of a column; a value that is missing leaves a gap. low, high:
    columns of its interval, where there are any; counted: the column of what a value is of, which
    the legend says; join: with a line."""
    methods = result.group.methods
    for place, (shift, method) in enumerate(zip(centre_marks(len(methods)), methods, strict=True)):
        own = frame[frame["method"] == method].sort_values("percent")
        # So many marks to the right: the intervals of methods do not lie over each other.
        at = own["percent"].to_numpy(float) * np.exp(float(shift) * APART)
        values = own[value].to_numpy(float) * factor
        look = axes_look(place)
        if low is not None and high is not None:
            bottom, top = (own[end].to_numpy(float) * factor for end in (low, high))
            kit.vertical_interval(ax, at, bottom, top, look.colour)
        style: dict[str, Any] = {
            "marker": look.mark,
            "color": look.colour,
            "linewidth": 1.5,
            "markersize": 5,
            "markerfacecolor": "white" if look.hollow else look.colour,
            "markeredgecolor": look.colour,
            "zorder": 3,
        }
        clip = not np.isfinite(values).any()  # what shows nothing must not stand beyond the axes
        ax.plot(at, values, ls=look.line if join else "", clip_on=clip, **style)
        # The legend shows the line in any case: a fitted one may be drawn instead.
        label = f"{methods[method]}, {annotations_of(own[counted])}"
        ax.plot([], [], ls=look.line, label=label, **style)


APART = 0.018
"""Between the marks of two methods at one percentage, as a difference of natural logarithms."""
LABELLED_APART = 0.075
"""Two percentages this close, as a share of the axis, are ticks of which the second has no
number."""


@dataclass(frozen=True, slots=True)
class LineStyle:
    """How a line is drawn. hollow: marks in white, with the colour as their edge."""

    colour: str
    line: str
    mark: str
    hollow: bool = False


LOOKS = (
    LineStyle(INK, "-", "o"),
    LineStyle(ACCENT, "--", "s"),
    LineStyle(SERIES[0], ":", "^"),
    LineStyle(SECONDARY, "-.", "D", hollow=True),
    LineStyle(SERIES[1], "-", "v", hollow=True),
    LineStyle(SERIES[2], "--", "P"),
    LineStyle(SERIES[3], ":", "X"),
)
"""By place of the method in the stimulus set; with more than seven they begin again."""

HOLLOW = LineStyle(ACCENT, "", "s", hollow=True)
"""The model's marks beside those of people."""


def axes_look(place: int) -> LineStyle:
    """Of the method at a place, from 0."""
    return LOOKS[place % len(LOOKS)]


def percents(ax: Axes, shown: Sequence[float]) -> None:
    """Make the x axis logarithmic, with the percentages of the study as its ticks."""
    ordered = sorted(set(shown))
    ax.set_xscale("log")
    if not ordered:
        return
    low, high = ordered[0] / 1.12, ordered[-1] * 1.12
    ax.set_xlim(low, high)
    ax.xaxis.set_major_locator(FixedLocator(ordered))
    ax.xaxis.set_major_formatter(FixedFormatter(_space_labels(ordered, float(np.log(high / low)))))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("pixels shown, % (logarithmic)")


def _space_labels(ordered: Sequence[float], width: float) -> list[str]:
    """Numbers of the ticks, left out where they would touch the one before."""
    result: list[str] = []
    last = -np.inf
    for value in ordered:
        at = float(np.log(value)) / width
        apart = at - last >= LABELLED_APART * (1 + 0.35 * (len(f"{value:g}") - 1)) / 1.35
        result.append(f"{value:g}" if apart else "")
        last = at if apart else last
    return result


def marks(
    ax: Axes, look: LineStyle, x: ArrayLike, y: ArrayLike, label: str, *, size: float = 6
) -> None:
    """Marks that no line joins."""
    at, values = np.asarray(x, float), np.asarray(y, float)
    ax.plot(
        at,
        values,
        look.mark,
        color=look.colour,
        markersize=size,
        markerfacecolor="white" if look.hollow else look.colour,
        markeredgecolor=look.colour,
        label=label or None,
        zorder=3,
        clip_on=not np.isfinite(values).any(),
    )


def centre_marks(count: int) -> NDArray[np.float64]:
    """Positions of a number of marks around the middle: for three, -1, 0 and 1."""
    return np.arange(count, dtype=np.float64) - (count - 1) / 2


def share(ax: Axes, label: str, *, guess: float | None = None, top: int = 100) -> None:
    """Make the y axis one of percent, from 0 to `top`; guess: drawn as a dashed line."""
    ax.set_ylim(-0.02 * top, 1.02 * top)
    ax.set_yticks(range(0, top + 1, 20 if top > 40 else 10))
    ax.set_ylabel(label)
    kit.grid(ax)
    if guess is not None:
        ax.axhline(guess, color=INK, linewidth=1.0, ls=kit.DASHED, zorder=1)


def legend(figure: Figure, ax: Axes) -> None:
    """One legend below all panels, for the contents of the first one."""
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        figure.legend(
            handles,
            labels,
            loc="outside lower center",
            ncols=min(len(labels), panels_across(4)),
            frameon=False,
            fontsize=points_of(8.5),
            handlelength=3.2,
        )


def fold_name(name: str) -> str:
    """A name with a line a word, for narrow places."""
    return "\n".join(textwrap.wrap(name, 12, break_long_words=False))


def nothing(ax: Axes, text: str) -> None:
    ax.text(
        0.5,
        0.5,
        text,
        transform=ax.transAxes,
        ha="center",
        va="center",
        color=SECONDARY,
        fontsize=points_of(9),
        wrap=True,
    )
