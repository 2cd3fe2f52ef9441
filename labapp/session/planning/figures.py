"""The figures of a plan. Lines and marks differ by shape: they can be told apart in grey."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from labapp.base.figure_style import ACCENT, INK, SECONDARY, STYLE
from labapp.base.report import kit
from labapp.base.report.drawing import ReportFigure
from labapp.session.planning.plan import Plan, Waiting
from labapp.session.planning.power import GOALS, SIZES, GroupPower, TestPower
from labapp.session.planning.thresholds import Threshold

COLUMNS = 4
LEGEND_LETTERS, LEGEND_KEY = 110, 8
"""Letters beside each other in a legend, and as many as a line's key takes."""
BARS = "#C9D1D9"


def plates(plan: Plan) -> list[ReportFigure]:
    """Every figure for which there is something to draw."""
    result = []
    with mpl.rc_context(STYLE):
        of_models = [threshold for threshold in plan.thresholds if threshold.model is not None]
        if of_models:
            result += [_distances(of_models, plan), _draw_reached(of_models, plan)]
        waits = [wait for wait in plan.waiting if wait.solved]
        if waits:
            result.append(_durations(waits))
        result += [
            _power(powers, "power" if len(plan.powers) == 1 else f"power-{number}")
            for number, powers in enumerate(plan.powers, start=1)
            if powers.tests
        ]
    return result


def _grid(panels: int, height: float) -> tuple[Figure, list[Axes]]:
    columns = min(COLUMNS, panels)
    figure, axes = kit.panels(panels, columns, height, more_in=0.5, sharex=True, sharey=True)
    for ax in axes[-columns:]:  # the lowest of each column, with none below it
        ax.tick_params(axis="x", labelbottom=True)
    return figure, axes


def _of_dataset(threshold: Threshold, plan: Plan) -> Threshold:
    return next(t for t in plan.thresholds if t.dataset == threshold.dataset and t.model is None)


def _distances(models: Sequence[Threshold], plan: Plan) -> ReportFigure:
    figure, axes = _grid(len(models), 2.1)
    for ax, model in zip(axes, models, strict=True):
        whole = _of_dataset(model, plan)
        shares = np.full(len(model.pairs), 100 / len(model.pairs))
        ax.hist(1 - model.pairs, list(np.linspace(0, 1, 41)), weights=shares, color=BARS)
        ax.axvline(whole.epsilon, color=INK, linewidth=1.6)
        if whole.epsilon != model.epsilon:
            ax.axvline(model.epsilon, color=ACCENT, linewidth=1.4, linestyle=kit.SHORT_DASHED)
        ax.axvline(1 - model.present, color=SECONDARY, linewidth=1.2, linestyle=":")
        near = model.by_chance(whole.target) * 100
        kit.label_line(ax, whole.epsilon, f"ε = {whole.epsilon:.3g}")
        ax.set_title(f"{model.model}\n{near:.1f} % near from the start", fontsize=9)
        ax.set_xlim(0, 1)
    figure.supxlabel("distance between the pictures of a start and a target", fontsize=9)
    figure.supylabel("% of the pairs", fontsize=9)
    return ReportFigure(
        "distances",
        figure,
        "Distances between sampled pairs by model, with the recommended epsilon",
        f"{len(models[0].pairs):,} pairs of start and target per model, drawn as in the study. "
        "Line: the recommended epsilon for the data set; dashed: the value for this model "
        "alone, if it differs; dotted: the study's present one. To the left of the line, a "
        "question would already be solved at the start.",
    )


def _draw_reached(models: Sequence[Threshold], plan: Plan) -> ReportFigure:
    strategies = list(plan.shares)
    figure, axes = _grid(len(models), 0.55 + 0.42 * (len(strategies) + 1))
    rng = np.random.default_rng(0)  # where points stand in their row means nothing
    for ax, model in zip(axes, models, strict=True):
        whole = _of_dataset(model, plan)
        rows = [*((name, model.reached.get(name, np.empty(0))) for name in strategies)]
        rows.append(("chance", model.pairs[:: max(1, len(model.pairs) // 200)]))
        for place, (name, values) in enumerate(rows):
            shift = rng.uniform(-0.28, 0.28, len(values))
            mark, colour = (".", SECONDARY) if name == "chance" else ("o", ACCENT)
            pale = {"markersize": 3, "alpha": 0.45, "markeredgewidth": 0}
            kit.points(ax, values * 100, place + shift, mark, color=colour, **pale)
            if len(values):
                middle = float(np.median(values)) * 100
                ax.vlines(middle, place - 0.36, place + 0.36, color=INK, linewidth=2.2)
        ax.axvline(whole.target * 100, color=INK, linewidth=1.6)
        kit.label_line(
            ax, whole.target * 100, f"{whole.target * 100:.3g} %", right=whole.target < 0.6
        )
        if whole.target != model.target:
            ax.axvline(model.target * 100, color=ACCENT, linewidth=1.4, linestyle=kit.SHORT_DASHED)
        ax.axvline(model.present * 100, color=SECONDARY, linewidth=1.2, linestyle=":")
        ax.set_title(model.model or "", fontsize=9)
        # Room for the word above the first row.
        kit.rows(ax, [name for name, _ in rows], above=0.95)
        ax.set_xlim(0, 101)
    figure.supxlabel("best alignment of a question, %", fontsize=9)
    return ReportFigure(
        "alignments",
        figure,
        "Best alignments reached by strategy and model, with the recommended target",
        "One point per question with a target that nobody reaches (chance: a pair before "
        "any slider is moved); short bar: median. Line: the recommended target for the data "
        "set; dashed: the value for this model alone, if it differs; dotted: the study's "
        "present one.",
    )


def _durations(waits: Sequence[Waiting]) -> ReportFigure:
    figure, axes = kit.panels(len(waits), 1, 2.4, more_in=0.5)
    for ax, wait in zip(axes, waits, strict=True):
        most = max(float(values.max()) for values in wait.active_s.values())
        ends = max([most, *filter(None, (wait.present_s, wait.skip_after_s))])
        for (name, values), (line, mark) in zip(wait.active_s.items(), kit.LINES, strict=False):
            ordered = np.sort(values)
            up_to = np.arange(1, len(ordered) + 1) / len(ordered) * 100
            ax.step(
                [0, *ordered, ends],
                [0, *up_to, 100],
                where="post",
                linestyle=line,
                color=ACCENT,
                linewidth=1.4,
            )
            at = len(ordered) // 2
            ax.plot(
                ordered[at],
                up_to[at],
                mark,
                color=INK,
                markersize=6,
                zorder=3,
                label=f"{name} (n = {len(ordered)})",
            )
        if wait.skip_after_s is not None:
            ax.axvline(wait.skip_after_s, color=INK, linewidth=1.6)
            kit.label_line(ax, wait.skip_after_s, f"T = {wait.skip_after_s} s")
        if wait.median_s is not None:
            ax.axvline(wait.median_s, color=INK, linewidth=1.2, linestyle=kit.SHORT_DASHED)
            kit.label_line(ax, wait.median_s, f"median {wait.median_s:.0f} s")
        if wait.present_s is not None:
            ax.axvline(wait.present_s, color=SECONDARY, linewidth=1.2, linestyle=":")
        ax.set_title(wait.dataset)
        ax.set_ylim(0, 100)
        ax.set_xlim(0, ends * 1.02)
        kit.grid(ax)
        ax.legend(loc="lower right", frameon=False, fontsize=8, title="median of", title_fontsize=8)
    figure.supxlabel("active time, s", fontsize=9)
    figure.supylabel("% of solved questions", fontsize=9)
    return ReportFigure(
        "durations",
        figure,
        "Active time of solved questions by strategy, with the recommended T",
        "One line per strategy, with a mark at the median. Dashed: median of the mixture; line: "
        "T, twice that, rounded; dotted: the study's present T, if it has one.",
    )


def _power(powers: GroupPower, name: str) -> ReportFigure:
    """Power over the number of participants: one row per metric, one column per level."""
    metrics = list(dict.fromkeys(test.metric for test in powers.tests))
    levels = powers.group.levels
    across = len(levels)
    figure, grid = kit.panels(
        across * len(metrics), across, 1.9, more_in=0.7, sharex=True, sharey=True
    )
    for row, metric in enumerate(metrics):
        axes = grid[across * row : across * (row + 1)]
        own = [test for test in powers.tests if test.metric == metric]
        for place, (ax, level) in enumerate(zip(axes, levels, strict=True)):
            for goal in GOALS:
                ax.axhline(goal * 100, color=SECONDARY, linewidth=0.8, linestyle=(0, (4, 3)))
            for at, test in enumerate(own):
                if place and not test.planned.corrected:
                    continue
                style = _style(at, own) | {"markevery": (row, 4)}
                label = test.test
                if len(own) > len(kit.LINES) and at > 0:
                    label = f"each of {len(own) - 1} other tests" if at == 1 else "_"
                ax.plot(SIZES, test.power[:, place] * 100, label=label, **style)
            ax.set_xscale("log")
            ax.set_xlim(SIZES[0], SIZES[-1])
            ax.set_ylim(0, 102)
            ax.set_title(f"{own[0].title}, level {level:.2g}", fontsize=9)
            ax.xaxis.set_major_locator(FixedLocator([3, 5, 10, 20, 50, 100, 200]))
            ax.xaxis.set_minor_locator(NullLocator())
            ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            kit.grid(ax, "both")
    handles, labels = grid[0].get_legend_handles_labels()
    across_page = LEGEND_LETTERS // max(len(label) + LEGEND_KEY for label in labels)
    figure.legend(
        handles, labels, loc="outside upper left", frameon=False, fontsize=8,
        ncols=max(1, min(4, across_page, len(labels))),
    )  # fmt: skip
    figure.supxlabel(powers.group.each, fontsize=9)
    figure.supylabel("power, %", fontsize=9)
    beside = (
        f", on the left at .05, on the right at .05 / {powers.group.n_tests} "
        f"({powers.group.correction})"
        if across > 1
        else " at .05"
    )
    return ReportFigure(
        name,
        figure,
        f"Power by number of participants: {powers.group.name}",
        f"{powers.group.name}: {powers.group.words}{beside}. Dashed: 80 % and 90 %.",
    )


def _style(at: int, tests: Sequence[TestPower]) -> dict[str, Any]:
    """Of one test's line; of many tests all but the first are thin lines without a name."""
    if len(tests) > len(kit.LINES) and at > 0:
        return {"color": ACCENT, "alpha": 0.45, "linewidth": 0.8}
    line, mark = kit.LINES[at]
    color = ACCENT if tests[at].planned.is_contrast else INK
    return {
        "linestyle": line, "marker": mark, "markersize": 4.5, "color": color, "linewidth": 1.3
    }  # fmt: skip
