"""Figures of the unmasking study that are ours: psychometric functions and their thresholds."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.special import expit

from labapp.figure_style import SECONDARY
from labapp.report import kit
from labapp.report.drawing import ReportFigure
from labapp.tasks.unmasking.report import axes
from labapp.tasks.unmasking.report.panels import lines, plate_of, two
from labapp.tasks.unmasking.report.results import CORRECT, LABEL, Found
from labapp.tasks.unmasking.report.words import AT_EACH_MASK

TITLES = {LABEL: "A class is named", CORRECT: "The true class is named"}
POINTS = 200
"""Of a drawn function."""


def psychometric(result: Found, prefix: str) -> ReportFigure | None:
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
        axes.share(ax, "% of all annotations")
        ax.set_ylim(-10, 102)
        ax.set_title(title)
    axes.legend(figure, panels[0])
    return plate_of(
        result,
        f"{prefix}-psychometric",
        figure,
        "Psychometric functions by method (ours)",
        "Marks: what was observed; lines: logistic functions of the logarithm of the percentage, "
        f"with guess and lapse rate, by maximum likelihood over all annotations. {AT_EACH_MASK} "
        "Below: the threshold, half-way between the function's ends, with its 95 % interval "
        "(bootstrap over participants).",
    )


def _functions(ax: Axes, result: Found, own: pd.DataFrame) -> None:
    """A line a method, and its threshold below the axis of shares."""
    low, high = result.group.percents[0], result.group.percents[-1]
    x = np.geomspace(low, high, POINTS)
    for place, (_, fit) in enumerate(own.iterrows()):
        threshold = float(fit["threshold"])
        if not np.isfinite(threshold):
            continue
        look = axes.look(place)
        rise = expit(float(fit["slope"]) * (np.log(x) - np.log(threshold)))
        guess, lapse = float(fit["guess"]), float(fit["lapse"])
        axes.curve(ax, look, x, 100 * (guess + (1 - guess - lapse) * rise))
        if fit["why"]:
            continue  # the threshold means nothing; the table says why
        below = -3.0 - 2.4 * place % 7.2
        ends = np.clip([fit["threshold_low"], fit["threshold_high"]], low, high)
        if np.isfinite(ends).all():
            ax.plot(ends, [below] * 2, color=look.colour, linewidth=1.8, solid_capstyle="butt")
        ax.plot(threshold, below, "|", color=look.colour, markersize=8, markeredgewidth=2)


def thresholds(result: Found, prefix: str) -> ReportFigure | None:
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
        f"{prefix}-thresholds",
        figure,
        "Thresholds of each participant (ours)",
        "A point a participant; a grey line joins their methods; thick line: median. With the "
        "guess and lapse rate of the fit over all. Thresholds outside the masks, and of whose "
        "answers no function can be told from chance, are left out here; n counts the others.",
    )


def _own(ax: Axes, result: Found, own: pd.DataFrame) -> None:
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
        look = axes.look(place)
        axes.marks(ax, look, place + shifts[known], values[known, place], "", size=4)
        names.append(f"{axes.folded(name)}\nn = {int(known.sum())}")
        if known.any():
            kit.median(ax, place, values[known, place], 0.3, zorder=4)
    ax.set_yscale("log")
    ax.set_ylim(low / 1.05, high * 1.05)
    ax.set_yticks(result.group.percents, [f"{percent:g}" for percent in result.group.percents])
    ax.minorticks_off()
    kit.columns(ax, names, beyond=0.5)
    ax.tick_params(axis="y", labelcolor=SECONDARY)
    kit.grid(ax)
