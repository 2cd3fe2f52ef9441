"""Figures of the unmasking study with the model in them (paper 004, Figures 7 to 9)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from labapp.figure_style import INK, SECONDARY, points_of
from labapp.report import kit
from labapp.report.drawing import ReportFigure
from labapp.tasks.unmasking.report import axes
from labapp.tasks.unmasking.report.panels import HEIGHT_IN, lines, plate_of, two
from labapp.tasks.unmasking.report.published import PAPER
from labapp.tasks.unmasking.report.results import (
    AGREED,
    DONT_KNOW,
    MASKED,
    MODEL,
    OTHER,
    PEOPLE,
    WHOLE,
    Found,
)
from labapp.tasks.unmasking.report.words import (
    AT_EACH_MASK,
    INTERVAL,
    OVER_IMAGES,
    annotations_of,
    images,
)

RANKERS = {PEOPLE: "people, by accuracy", MODEL: "model, by cross-entropy"}
WRONG = {WHOLE: "Model wrong on the whole image", MASKED: "Model wrong on the masked image"}
ANSWERS = {AGREED: "the wrong prediction", OTHER: "another class", DONT_KNOW: "“I don't know”"}


def model(result: Found, prefix: str) -> ReportFigure | None:
    """Figure 7: the model's accuracy on masked images; beside it (ours) its cross-entropy, by which
    the ranks are."""
    frame = result.model
    if frame.empty or not (frame["n"] > 0).any():
        return None
    figure, (left, right) = two(result)
    lines(left, result, frame, "share", "low", "high", 100.0)
    axes.share(left, "% of images")
    left.set_title("Accuracy, as published")
    for _, whole in result.whole[result.whole["n"] > 0].iterrows():
        left.axhline(100 * float(whole["share"]), color=INK, linewidth=1.0, ls=kit.DASHED)
    lines(right, result, frame, "cross_entropy", None, None)
    right.set_ylim(bottom=0)
    right.set_ylabel("nats, mean over images")
    kit.grid(right)
    right.set_title("Cross-entropy (ours; the ranks are by it)")
    axes.legend(figure, left)
    return plate_of(
        result,
        f"{prefix}-7-model-accuracy",
        figure,
        f"The model on the masked images, no human in the loop ({PAPER}, Figure 7)",
        f"n: images. Dashed: the model on the whole images. {OVER_IMAGES}",
        of=images(int(frame["n"].max())),
    )


def ranks(result: Found, prefix: str) -> ReportFigure | None:
    """Figure 8: average ranks of the methods by people and by the model."""
    overall, by_mask = result.ranks.overall, result.ranks.by_mask
    if overall.empty or not overall["rank"].notna().any():
        return None
    widths = (1.0, 1.25, 1.25)
    figure, (first, second, third) = kit.panels(3, 3, HEIGHT_IN, width_ratios=widths)
    _overall(first, result)
    for ax, who, title in ((second, MODEL, "By mask: model"), (third, PEOPLE, "By mask: people")):
        axes.percents(ax, result.group.percents)
        own = by_mask[by_mask["who"] == who]
        if own["rank"].notna().any():
            lines(ax, result, own, "rank", "low", "high")
        else:
            axes.nothing(ax, _no_ranks(who))
        ax.set_title(title)
        _best_on_top(ax, result)
    axes.legend(figure, third if third.get_legend_handles_labels()[0] else second)
    return plate_of(
        result,
        f"{prefix}-8-ranks",
        figure,
        f"Ranks of the methods by people and by the model ({PAPER}, Figure 8)",
        "Rank 1, on top, is best: the highest mean accuracy of people (“I don't know” is not "
        "correct), the least cross-entropy of the model. Ranked for each image and mask, ties have "
        "the average of their ranks; averaged over images. n: images, on the left images × masks. "
        "Vertical lines: 95 % intervals (ours), of people 1.96 standard deviations of bootstrap "
        "draws of participants to each side, of the model percentiles of draws of images.",
    )


def _overall(ax: Axes, result: Found) -> None:
    """Average ranks over all masks: a place a method, people and model beside each other."""
    methods = result.group.methods
    overall = result.ranks.overall
    drawn = ((PEOPLE, -0.12, axes.Look(INK, "", "o")), (MODEL, 0.12, axes.HOLLOW))
    for who, shift, look in drawn:
        own = overall[overall["who"] == who].set_index("method").reindex(list(methods))
        if not own["rank"].notna().any():
            continue
        at = np.arange(len(methods)) + shift
        kit.vertical_interval(ax, at, own["low"], own["high"], look.colour)
        axes.marks(ax, look, at, own["rank"], f"{RANKERS[who]}, {annotations_of(own['n'])}")
    kit.columns(
        ax, [axes.folded(name) for name in methods.values()], beyond=0.5, fontsize=points_of(8)
    )
    ax.set_title("All masks")
    ax.set_ylabel("average rank, 1 = best")
    _best_on_top(ax, result)
    ax.legend(frameon=False, fontsize=points_of(7.5), loc="lower center", bbox_to_anchor=(0.5, 0.0))


def _best_on_top(ax: Axes, result: Found) -> None:
    count = len(result.group.methods)
    ax.set_ylim(count + 0.45, 0.85)
    ax.set_yticks(range(1, count + 1))
    kit.grid(ax)


def _no_ranks(who: str) -> str:
    if who == MODEL:
        return "no outputs of the model\non masked images"
    return "no annotations"


def bias(result: Found, prefix: str) -> ReportFigure | None:
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
            axes.nothing(ax, "no such image, or no outputs of the model")
        axes.share(ax, "% equal to the wrong prediction", top=top)
        ax.set_title(title if wrong == WHOLE else f"{title} (ours)")
    drawn = next(ax for ax in panels if ax.get_legend_handles_labels()[0])
    axes.legend(figure, drawn)
    return plate_of(
        result,
        f"{prefix}-9-bias",
        figure,
        f"Algorithmic bias: the model's wrong prediction repeated ({PAPER}, Figure 9)",
        f"Of all annotations of such images, mean over images: {_wrong_images(shares)}. The paper "
        "does not say which prediction it means; that of the whole image is the one explained. "
        f"{AT_EACH_MASK} {INTERVAL}",
    )


def _wrong_images(shares: pd.DataFrame) -> str:
    result = []
    for wrong, name in ((WHOLE, "on the left"), (MASKED, "on the right")):
        counts = shares.loc[shares["wrong"] == wrong, "n_images"].dropna()
        counts = counts[counts > 0]
        if not counts.empty:
            least, most = int(counts.min()), int(counts.max())
            result.append(
                f"{name} {images(most) if least == most else f'{least} to {images(most)}'}"
            )
    return ", ".join(result)


def bias_times(result: Found, prefix: str) -> ReportFigure | None:
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
        f"{prefix}-9-bias-times",
        figure,
        "Reaction time of repeating a wrong prediction, and of other answers (ours)",
        "Filled: mean; open: median; lines: 95 % intervals, bootstrap over participants; nothing "
        "is left out.",
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
