"""Change of each metric over the questions of a stage (paper 000, Figure 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from labapp.analysis.by_task import unit
from labapp.analysis.columns import Metric
from labapp.analysis.inference import SMALLEST, Values
from labapp.figure_style import ACCENT, INK, SECONDARY, points_of
from labapp.profiles.interactive_reconstruction.panels import Block, headed_by, laid_out, layout_of
from labapp.profiles.interactive_reconstruction.results import Compared, Group
from labapp.report import axis_names, kit
from labapp.report.drawing import ReportFigure
from labapp.report.formats import decimal
from labapp.study.design import SKIPPED, SOLVED

LEFT = (SOLVED, SKIPPED)
"""Outcomes of questions that ended by Next or Skip: only these have a response time."""
_STAGE = ["participant", "model", "session", "stage"]
HEIGHT_IN = 1.5
"""Of an axis."""


def change(blocks: Sequence[Block], name: str, label: str) -> ReportFigure | None:
    """A panel a metric, in it the mean change with its standard error by model; None where stages
    are too short. blocks: of one study and task."""
    shown = []
    for block in blocks:
        values_of = {
            comparison.metric.column: _by_model(block, comparison.metric)
            for comparison in block.compared
        }
        drawn = [
            comparison
            for comparison in block.compared
            if any(v.size for v in values_of[comparison.metric.column])
        ]
        if drawn:
            renamed = tuple(
                replace(comparison, metric=_a_question(comparison)) for comparison in drawn
            )
            shown.append((replace(block, compared=renamed), values_of))
    if not shown:
        return None
    blocks_shown = [block for block, _ in shown]
    layout = layout_of(blocks_shown)
    figure, panels = laid_out(blocks_shown, [HEIGHT_IN] * len(blocks_shown), layout)
    for (block, values_of), some in zip(shown, panels, strict=True):
        for ax, compared in zip(some, block.compared, strict=True):
            _panel(ax, block, values_of[compared.metric.column], compared.metric, layout.room)
    headed_by(figure, label, [block.group for block in blocks_shown])
    return ReportFigure(name, figure, label, _caption(shown))


def _by_model(block: Block, metric: Metric) -> list[Values]:
    """The changes of each model, in the order of the models."""
    values = changes(block.group, metric)
    return [
        values.loc[values["model"] == model, "change"].to_numpy(dtype=np.float64)
        for model in block.group.models
    ]


def _a_question(comparison: Compared) -> Metric:
    return replace(comparison.metric, unit=unit(comparison.metric), limits=None)


def _panel(ax: Axes, block: Block, values: Sequence[Values], metric: Metric, room: float) -> None:
    ax.axhline(0, color=INK, linewidth=0.9, zorder=1)
    for place, own in enumerate(values):
        if own.size == 0:
            continue
        if own.size < SMALLEST:
            beside = place + kit.jitter(own.size, 0.12)
            rings = {"color": SECONDARY, "markerfacecolor": "white", "markeredgecolor": SECONDARY}
            kit.points(ax, beside, own, zorder=2, **rings)
        if own.size > 1:
            error = float(own.std(ddof=1)) / np.sqrt(own.size)
            ax.errorbar(place, own.mean(), yerr=error, color=INK, elinewidth=1.4, zorder=3)
        kit.diamond(ax, place, float(own.mean()), markersize=6, markerfacecolor=ACCENT)
    counts = [own.size for own in values]
    axis_names.names_below(ax, block.group.models, counts, block.edges, room)
    ax.margins(y=0.12)
    if not any(np.any(own) for own in values):  # no change at all: an axis of its own
        ax.set_ylim(-1, 1)
    ax.yaxis.set_major_locator(MaxNLocator(nbins=5))
    ax.yaxis.set_major_formatter(FuncFormatter(_signed))
    ax.tick_params(axis="y", labelsize=points_of(axis_names.SMALL))
    kit.grid(ax)


def _signed(value: float, _: int | None = None) -> str:
    """A tick's number with its sign and no more decimals than it needs."""
    decimals = next(n for n in range(5) if n == 4 or abs(value - round(value, n)) < 1e-9)
    return decimal(value, decimals, sign=True)


def _caption(shown: Sequence[tuple[Block, Mapping[str, Sequence[Values]]]]) -> str:
    text = (
        "Last minus first (n − 1) / 2 of a stage's n questions: diamond: mean over participants, "
        "bar: ± standard error. Above the line: more in the last questions."
    )
    sizes = [own.size for _, by_model in shown for some in by_model.values() for own in some]
    if any(0 < size < SMALLEST for size in sizes):
        text += f" Rings: single participants, where there are fewer than {SMALLEST}."
    return text


def changes(group: Group, metric: Metric) -> pd.DataFrame:
    """Last minus first (n - 1) / 2 of the n questions that count, in the metric's unit, a question:
    columns participant, model, change; empty for a metric that single questions do not have.

    A participant who had a model in several stages has the mean of them. The same as the columns
    change_* of the table of stages.
    """
    questions = _values(group, metric)
    if questions is None:
        return pd.DataFrame({"participant": [], "model": [], "change": []})
    known = group.trials.assign(value=questions * metric.factor)
    if group.task != "reconstruction":
        known = known[known["correct"].notna()]
    known = known.sort_values("trial", kind="stable")
    of_stage = known.groupby(_STAGE)["value"]
    place, n = of_stage.cumcount(), of_stage.transform("size")
    size = (n - 1) // 2
    first, last = known[place < size], known[place >= n - size]
    change = (_level(metric, last) - _level(metric, first)).rename("change").dropna()
    return change.groupby(["participant", "model"]).mean().reset_index()


def _level(metric: Metric, half: pd.DataFrame) -> pd.Series[float]:
    """Of some questions of each stage; NaN where none of them has a value."""
    values = half.groupby(_STAGE)["value"]
    if metric.column.startswith("error_auc"):  # a sum over the stage: a missing one adds nothing
        return values.sum(min_count=1) / values.size()
    return values.mean()


def _values(group: Group, metric: Metric) -> pd.Series[float] | None:
    """The metric of each question; None where it has none."""
    trials = group.trials
    match metric.column:
        case "completion_rate":
            return trials["outcome"].map(group.missing.solved).astype(float)
        case "correctness_rate":
            return trials["correct"].astype(float)
        case "response_time_s" if group.task == "reconstruction":
            return trials["duration_s"].astype(float).where(trials["outcome"].isin(LEFT))
        case "response_time_s":
            return trials["response_s"].astype(float)
        case "slide_distance" | "error_auc_sum" | "error_auc_mean":
            return trials[metric.column].astype(float)
    return None
