"""The figures of the reconstruction paper (paper 000, Figures 6 to 10, A.11, A.12), for a page and
as files.

They show the metrics by model as box plots, with stars (Figures 6 and 8); the change of each metric
over the questions of a stage (Figure 10); correctness by dimension of the single-dimension task
(Figure 7); the differences between models as heat maps, with stars (Figures A.11 and A.12); and
what participants said of each model: workload, understanding, difficulty (Figure 9). A figure has a
block of panels for each data set, with one panel for each metric.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FuncFormatter, MaxNLocator, StrMethodFormatter

from labapp.analysis.columns import Metric
from labapp.analysis.inference import SMALLEST, Values
from labapp.analysis.statistic import Statistic
from labapp.analysis.task_report import CHANGE, SUMMED, unit
from labapp.base.figure_style import (
    ACCENT,
    INK,
    SECONDARY,
    colours,
    figure_width,
    panels_across,
    points_of,
    style,
)
from labapp.base.report import drawing, kit
from labapp.base.report.drawing import ReportFigure, add_heading, shorten_names
from labapp.base.report.page import decimal
from labapp.models.representations.card import dataset_of
from labapp.papers.interactive_reconstruction.results import (
    MEAN_ERROR,
    SCORE_METRICS,
    STARS,
    SUM_ERROR,
    Compared,
    GroupResults,
    StudyGroup,
    find_repeated_metric,
)
from labapp.papers.interactive_reconstruction.sections import (
    BOXES,
    CHANGES,
    DIMENSIONS,
    PAIRS,
    RATINGS,
)
from labapp.study.design import SKIPPED, SOLVED
from labapp.tasks.reconstruction.plan import TASK as RECONSTRUCTION
from labapp.tasks.reconstruction.report.contents import METRICS
from labapp.tasks.single_dimension.report import SINGLE_METRICS

RATED = tuple(metric for metric in SCORE_METRICS if metric.column != "post_quiz_difficulty")
"""The difficulty after the quiz is in the tables only, as in the paper: the first model is easily
forgotten by then (A.3)."""
SEQ = tuple(metric for metric in METRICS if metric.column == "seq")


def plates(results: Sequence[GroupResults]) -> list[ReportFigure]:
    """Every figure for which there are values, by study and task; for notebooks too. Their names
    begin with study and task."""
    tasks: dict[tuple[str, str], list[GroupResults]] = {}
    for result in results:
        tasks.setdefault((result.group.study, result.group.task), []).append(result)
    return [made for own in tasks.values() for made in by_kind(own).values()]


def by_kind(results: Sequence[GroupResults]) -> Mapping[str, ReportFigure]:
    """The figures of one study and task, by what they are of: BOXES and so on."""
    drawn = {kind: draw(kind, results) for kind in (BOXES, PAIRS, CHANGES, DIMENSIONS, RATINGS)}
    return {kind: made for kind, made in drawn.items() if made is not None}


def draw(kind: str, results: Sequence[GroupResults]) -> ReportFigure | None:
    """One figure of one study and task; None if there are no values for it. kind: BOXES, PAIRS,
    CHANGES, DIMENSIONS or RATINGS."""
    if not results:
        return None
    group = results[0].group
    reconstructs = group.task == RECONSTRUCTION
    name = f"{group.study}-{group.task}-{kind}"
    of = "" if reconstructs else f", {group.task.removeprefix('single-dimension-')}"
    with mpl.rc_context(style()):
        if kind == RATINGS:
            blocks = blocks_of(results, (*RATED, *SEQ)) if blocks_of(results, RATED) else []
            return ratings(blocks, name, f"Ratings by model{of}") if blocks else None
        if kind == DIMENSIONS:
            groups = [] if reconstructs else [result.group for result in results]
            return dimensions(groups, name, f"Correctness by dial{of}")
        blocks = blocks_of(results, METRICS if reconstructs else SINGLE_METRICS)
        if kind == CHANGES:
            return change(blocks, name, f"{CHANGE}{of}")
        if kind == BOXES:
            return boxes(blocks, name, f"Metrics by model{of}") if blocks else None
        blocks = [each for each in blocks if each.group.follows and len(each.group.models) > 1]
        return pairs(blocks, name, f"Differences between models{of}") if blocks else None


HEIGHT_IN = 1.7
"""Of an axis without brackets."""
LEVEL_IN = 0.14
"""What a bracket takes of it."""
INSET = 0.1
"""A bracket ends so far before the middle of its models, so that two may meet at one."""


def boxes(blocks: Sequence[PanelBlock], name: str, label: str) -> ReportFigure:
    """Every metric by model, a block a data set. blocks: of one study and task."""
    layout = layout_of(blocks)
    most = [
        max(_height(block.group, comparison.pairs) for comparison in block.compared)
        for block in blocks
    ]
    heights = [HEIGHT_IN + LEVEL_IN * count for count in most]
    figure, panels = lay_out_blocks(blocks, heights, layout)
    for block, own, height in zip(blocks, panels, heights, strict=True):
        for ax, compared in zip(own, block.compared, strict=True):
            _panel(ax, block, compared, layout.room, height)
    add_group_heading(figure, label, [block.group for block in blocks])
    return ReportFigure(name, figure, label, _caption(blocks))


def _panel(ax: Axes, block: PanelBlock, compared: Compared, room: float, height: float) -> None:
    group, metric = block.group, compared.metric
    wide = group.values.pivot_table(index="participant", columns="model", values=metric.column)
    values = wide.reindex(columns=list(group.models)).to_numpy(dtype=np.float64)
    counts = kit.strips(ax, values, joined=group.within, limits=metric.limits)
    drawing.names_below(ax, group.models, counts, block.edges, room)
    kit.grid(ax)
    known = values[np.isfinite(values)]
    top = _scale(ax, metric, known, height, _height(group, compared.pairs))
    _brackets(ax, group, compared.pairs, top, height)


def _scale(ax: Axes, metric: Metric, known: Values, height: float, levels: int) -> float:
    """The axis from the least to the greatest value, none cut off, with brackets above. Returns
    where the values end, as a share of the axis."""
    if metric.limits is not None:
        low, high = metric.limits
    else:
        low, high = min(0.0, float(known.min())), float(known.max())
        high = high if high > low else low + 1.0
    top = 1.0 - levels * LEVEL_IN / height
    margin = 0.06 * (high - low)
    bottom = low - margin if metric.limits is not None or low < 0 else low
    ax.set_ylim(bottom, bottom + (high + margin - bottom) / top)
    ax.set_yticks(value_ticks(metric, low, high))
    ax.tick_params(axis="y", labelsize=points_of(drawing.SMALL))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
    ax.spines["left"].set_bounds(bottom, high + margin)
    return top


def _height(group: StudyGroup, pairs: Sequence[Statistic]) -> int:
    """How many brackets stand above each other."""
    return max((level for *_, level in levels(group.models, pairs)), default=-1) + 1


def levels(models: Sequence[str], pairs: Sequence[Statistic]) -> list[tuple[int, int, str, int]]:
    """Brackets of the pairs with stars: places of both models, stars, level from 0. None lies over
    another; they may meet at a model."""
    places = {model: place for place, model in enumerate(models)}
    wanted = []
    for pair in pairs:
        if pair.stars:
            left, right = sorted((places[pair.model], places[pair.compared_with]))
            wanted.append((left, right, pair.stars))
    taken: list[list[tuple[int, int]]] = []
    result = []
    for left, right, text in sorted(
        wanted, key=lambda bracket: (bracket[1] - bracket[0], bracket[0])
    ):
        free = (
            at
            for at, own in enumerate(taken)
            if all(right <= start or end <= left for start, end in own)
        )
        level = next(free, len(taken))
        if level == len(taken):
            taken.append([])
        taken[level].append((left, right))
        result.append((left, right, text, level))
    return result


def _brackets(
    ax: Axes, group: StudyGroup, pairs: Sequence[Statistic], top: float, height: float
) -> None:
    beside = ax.get_xaxis_transform()
    for left, right, text, level in levels(group.models, pairs):
        y = top + (level + 0.35) * LEVEL_IN / height
        foot = y - 0.035 / height
        x = (left + INSET, left + INSET, right - INSET, right - INSET)
        ax.plot(x, (foot, y, y, foot), color=INK, linewidth=0.8, transform=beside, clip_on=False)
        ax.text(
            (left + right) / 2,
            y - 0.01 / height,
            text,
            transform=beside,
            ha="center",
            va="baseline",
            fontsize=points_of(8),
        )


def _caption(blocks: Sequence[PanelBlock]) -> str:
    within = any(block.group.within for block in blocks)
    sentences = [
        "Each point is a participant"
        + ("; grey lines join the models of one participant" * within)
        + ".",
        kit.STRIPS_READ,
        "" if _many(blocks) else "No value is cut off.",
        stars_told([pair for block in blocks for c in block.compared for pair in c.pairs]),
    ]
    summed = [block for block in blocks if SUM_ERROR in _columns(block)]
    if summed:
        sentences.append(SUMMED)
    if summed and all(is_error_repeated(block) for block in summed):
        sentences.append("The mean over the pixels looks the same and is not drawn.")
    return " ".join(filter(None, sentences))


def _columns(block: PanelBlock) -> list[str]:
    return [comparison.metric.column for comparison in block.compared]


def is_error_repeated(block: PanelBlock) -> bool:
    """Whether the mean error over the pixels is left out, as it is a multiple of the sum."""
    known = block.group.values.get(MEAN_ERROR)
    if known is None or MEAN_ERROR in _columns(block):
        return False
    return bool(known.notna().any())


def _many(blocks: Sequence[PanelBlock]) -> bool:
    """Whether a strip has more values than are drawn as points."""
    sizes = [
        block.group.values.groupby("model")[comparison.metric.column].count().max()
        for block in blocks
        for comparison in block.compared
    ]
    return max(sizes, default=0) > kit.POINTS_UP_TO


def stars_told(pairs: Sequence[Statistic]) -> str:
    """Which p the stars are of; that there are none, if that is so; empty without tests."""
    tests = list(dict.fromkeys(pair.test for pair in pairs if pair.p is not None))
    if not tests:
        return "No two models could be tested against each other." if pairs else ""
    limits = ", ".join(f"{shown} p < {limit:g}" for limit, shown in reversed(STARS))
    of = " or ".join(tests)
    if not any(pair.stars for pair in pairs):
        enough = any(min(pair.n or 0, pair.n_2 or 0) >= SMALLEST for pair in pairs)
        why = "" if enough else f", because a test of fewer than {SMALLEST} values says too little"
        return f"No stars{why} ({of}; {limits})."
    return (
        f"Stars: p of {of}, not corrected for the number of tests, as in the paper ({limits}); "
        f"none with n < {SMALLEST}."
    )


LEFT = (SOLVED, SKIPPED)
"""Outcomes of questions that ended by Next or Skip: only these have a response time."""
_STAGE = ["participant", "model", "session", "stage"]


def change(blocks: Sequence[PanelBlock], name: str, label: str) -> ReportFigure | None:
    """One panel per metric, in it the mean change with its standard error by model; None if stages
    are too short. blocks: of one study and task."""
    shown = []
    for block in blocks:
        models = block.group.models
        changes_of = {
            comparison.metric.column: _by_model(
                changes(block.group, comparison.metric), "change", models
            )
            for comparison in block.compared
        }
        drawn = [
            comparison
            for comparison in block.compared
            if any(own.size for own in changes_of[comparison.metric.column])
        ]
        if drawn:
            a_question = tuple(
                replace(c, metric=replace(c.metric, unit=unit(c.metric), limits=None))
                for c in drawn
            )
            shown.append((replace(block, compared=a_question), changes_of))
    if not shown:
        return None
    blocks_shown = [block for block, _ in shown]
    layout = layout_of(blocks_shown)
    figure, panels = lay_out_blocks(blocks_shown, [1.5] * len(blocks_shown), layout)
    for (block, changes_of), some in zip(shown, panels, strict=True):
        for ax, compared in zip(some, block.compared, strict=True):
            _changes_panel(ax, block, changes_of[compared.metric.column], layout.room)
    add_group_heading(figure, label, [block.group for block in blocks_shown])
    caption = (
        "Mean of the last (n − 1) / 2 of a stage's n questions, minus the mean of the first "
        "(n − 1) / 2. Diamond: mean over participants; bar: ± standard error. Above the line, "
        "values are higher in the last questions."
    )
    every = chain.from_iterable(changes_of.values() for _, changes_of in shown)
    if any(0 < own.size < SMALLEST for some in every for own in some):
        caption += f" Rings: single participants, if there are fewer than {SMALLEST}."
    return ReportFigure(name, figure, label, caption)


def _by_model(values: pd.DataFrame, column: str, models: Sequence[str]) -> list[Values]:
    """A column's values of each model, in the order of the models."""
    return [
        values.loc[values["model"] == model, column].to_numpy(dtype=np.float64) for model in models
    ]


def _changes_panel(ax: Axes, block: PanelBlock, values: Sequence[Values], room: float) -> None:
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
    drawing.names_below(ax, block.group.models, counts, block.edges, room)
    ax.margins(y=0.12)
    if not any(np.any(own) for own in values):  # no change at all: an axis of its own
        ax.set_ylim(-1, 1)
    ax.yaxis.set_major_locator(MaxNLocator(nbins=5))
    ax.yaxis.set_major_formatter(FuncFormatter(_format_signed))
    ax.tick_params(axis="y", labelsize=points_of(drawing.SMALL))
    kit.grid(ax)


def _format_signed(value: float, _: int | None = None) -> str:
    """A tick's number with its sign and no more decimals than it needs."""
    decimals = next(n for n in range(5) if n == 4 or abs(value - round(value, n)) < 1e-9)
    return decimal(value, decimals, sign=True)


def changes(group: StudyGroup, metric: Metric) -> pd.DataFrame:
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
    """Of some questions of each stage; NaN if none of them has a value."""
    values = half.groupby(_STAGE)["value"]
    if metric.column.startswith("error_auc"):  # a sum over the stage: a missing one adds nothing
        return values.sum(min_count=1) / values.size()
    return values.mean()


def _values(group: StudyGroup, metric: Metric) -> pd.Series[float] | None:
    """The metric of each question; None if it has none."""
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


ROW_IN = 0.2
"""Height of a dial's row."""
SIDE_IN = 1.0
"""Above and below the rows of a panel: title, n, numbers and name of the axis."""
ACROSS = 4
"""Panels beside each other."""
CHANCE = 100 / 3
"""Percent that guessing gets among low, medium and high."""
LONGEST = 22
"""Characters of a dial's name that are shown."""


@dataclass(frozen=True, slots=True)
class Share:
    """Of one dial of one model: percent of n questions answered correctly, with its binomial
    standard error. thirds: its values were low, medium or high, so that guessing gets a third."""

    dimension: int
    name: str
    n: int
    percent: float
    error: float
    thirds: bool


def shares(trials: pd.DataFrame, model: str) -> list[Share]:
    """By dial, in their order; trials: rows of the table of trials that count."""
    own = trials[(trials["model"] == model) & trials["correct"].notna()]
    result = []
    for dimension, some in own.groupby("dimension", sort=True):
        right = some["correct"].to_numpy(dtype=float)
        share = float(right.mean())
        result.append(
            Share(
                int(str(dimension)),
                str(some["dimension_name"].iloc[0]),
                right.size,
                100 * share,
                100 * float(np.sqrt(share * (1 - share) / right.size)),
                bool(some["regime"].notna().all()),
            )
        )
    return result


def dimensions(groups: Sequence[StudyGroup], name: str, label: str) -> ReportFigure | None:
    """A row of panels a group, one panel per model, in it a dot a dial; None if no question was
    answered."""
    shown = []
    for group in groups:
        by_model = [shares(group.trials, model) for model in group.models]
        if any(by_model):
            shown.append((group, by_model))
    if not shown:
        return None
    heights = []
    for group, dials_found in shown:
        dials = max(len(dial) for dial in dials_found)
        rows = -(-len(group.models) // panels_across(ACROSS))
        heights.append((ROW_IN * dials + SIDE_IN) * rows + NAME_IN * (len(shown) > 1))
    names = [group.name.partition(", ")[2] for group, _ in shown]
    figure, parts = subfigures(names, heights)
    for part, (group, dials_found) in zip(parts, shown, strict=True):
        across = min(len(group.models), panels_across(ACROSS))
        rows = -(-len(group.models) // across)
        grid = kit.hide_unused(
            list(part.subplots(rows, across, squeeze=False).flat), len(group.models)
        )
        dials = max(len(dial) for dial in dials_found)
        room = figure_width() / across - SIDE_IN
        for ax, model, own in zip(grid, shorten_names(group.models), dials_found, strict=False):
            _dimensions_panel(ax, drawing.wrap(model, room), own, dials)
    add_group_heading(figure, label, [group for group, _ in shown])
    caption = "Dot and bar: share of all answered questions ± binomial standard error, by dial."
    thirds = {share.thirds for _, some in shown for own in some for share in own}
    if True in thirds:
        caption += " Dashed: guessing among low, medium and high."
    if False in thirds:
        caption += " A discrete dial has as many choices as values, so it has no line."
    caption += " Dials with the same number in two models have nothing in common."
    return ReportFigure(name, figure, label, caption)


def _dimensions_panel(ax: Axes, model: str, own: Sequence[Share], dials: int) -> None:
    sizes = sorted({share.n for share in own})
    between = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else "".join(map(str, sizes))
    add_title(ax, model, f"n = {between} questions per dial" if own else "no question was answered")
    places = np.arange(len(own))
    for place, share in zip(places, own, strict=True):
        if share.thirds:
            ax.plot(
                [CHANCE] * 2, [place - 0.5, place + 0.5], color=INK, linewidth=1.0, ls=(0, (3, 2))
            )
    if own:
        ax.errorbar(
            [share.percent for share in own],
            places,
            xerr=[share.error for share in own],
            fmt="o",
            color=INK,
            markerfacecolor=ACCENT,
            markeredgecolor="white",
            markeredgewidth=0.6,
            markersize=6,
            elinewidth=1.4,
            clip_on=False,
            zorder=3,
        )
    kit.rows(ax, [_dial(share) for share in own])
    ax.set_ylim(dials - 0.5, -0.5)
    ax.set_xlim(-1, 101)
    ax.set_xticks([0, 25, 50, 75, 100])
    ax.set_xlabel("% correct", fontsize=points_of(8))
    ax.tick_params(labelsize=points_of(drawing.SMALL))


def _dial(share: Share) -> str:
    """Its number, and its name where that says more."""
    if share.name == f"z{share.dimension}":
        return str(share.dimension)
    short = share.name if len(share.name) <= LONGEST else f"{share.name[: LONGEST - 1]}…"
    return f"{short}, {share.dimension}"


CELL_IN = 0.36
"""Height of a cell, and the least width of one."""
GAP_IN = 0.25
"""Between a heat map and the names of the next one's rows."""


def pairs(blocks: Sequence[PanelBlock], name: str, label: str) -> ReportFigure:
    """A heat map a metric, a block a data set. blocks: of one study and task, of two models at
    least."""
    names = max(drawing.width_in(line) for block in blocks for line in _rows(block))
    layout = layout_of(blocks, beside=names + GAP_IN, least=CELL_IN)
    heights = [CELL_IN * len(block.group.models) for block in blocks]
    figure, panels = lay_out_blocks(blocks, heights, layout, counted=False)
    for block, own in zip(blocks, panels, strict=True):
        for ax, compared in zip(own, block.compared, strict=True):
            _pairs_panel(ax, block, compared, layout)
    add_group_heading(figure, label, [block.group for block in blocks])
    return ReportFigure(name, figure, label, _pairs_caption(blocks))


def _rows(block: PanelBlock) -> list[str]:
    """Names in two lines at most, and not longer than they must be."""
    names = shorten_names(block.group.models)
    for room in np.arange(0.4, 4.0, 0.1):
        lines = [drawing.wrap(name, float(room)) for name in names]
        if all(line.count("\n") < 2 and drawing.width_in(line) <= room for line in lines):
            return lines
    return list(names)


def differences(block: PanelBlock, compared: Compared) -> tuple[Values, list[list[str]], bool]:
    """Row minus column: shape (models, models), NaN on the diagonal; stars; whether some cells were
    not tested, as those of models that nobody met together."""
    models = block.group.models
    values = np.full((len(models), len(models)), np.nan)
    labels = [["" for _ in models] for _ in models]
    untested = False
    for row, model in enumerate(models):
        for column, other in enumerate(models):
            if row == column:
                continue
            pair = compared.pair(model, other)
            if pair is not None and pair.difference is not None:
                values[row, column] = pair.difference if pair.model == model else -pair.difference
                labels[row][column] = pair.stars
            else:
                means = [compared.values(m).mean for m in (model, other)]
                if means[0] is not None and means[1] is not None:
                    values[row, column] = means[0] - means[1]
                    untested = True
    return values, labels, untested


def _pairs_panel(ax: Axes, block: PanelBlock, compared: Compared, layout: PanelLayout) -> None:
    values, stars, _ = differences(block, compared)
    known = np.abs(values[np.isfinite(values)])
    largest = float(known.max()) if known.size and known.max() > 0 else 1.0
    kit.heat_map(
        ax,
        values,
        LinearSegmentedColormap.from_list("differences", colours().differences),
        (-largest, largest),
        lambda value: short(value, compared.metric.decimals, sign=True),
        lambda row, column: stars[row][column],
    )
    ax.set_facecolor("#F4F5F6")
    # Names on both sides, white lines between cells, dark ones between subgroups.
    models = block.group.models
    columns = drawing.names_of(models, layout.room, counted=False)
    drawing.below(ax, columns.labels, upright=columns.upright)
    ax.set_yticks(range(len(models)), _rows(block))
    ax.tick_params(length=0, labelsize=points_of(drawing.SMALL))
    for spine in ax.spines.values():
        spine.set_visible(False)
    for at in range(1, len(models)):
        dark = at in block.edges
        for line in (ax.axhline, ax.axvline):
            line(at - 0.5, color=INK if dark else "white", linewidth=1.6 if dark else 1.0)


def _pairs_caption(blocks: Sequence[PanelBlock]) -> str:
    pairs = [pair for block in blocks for comparison in block.compared for pair in comparison.pairs]
    sentences = [
        (
            "Mean difference, row minus column, in the metric's unit (k: thousands). "
            f"{colours().more} and +: the row's value is higher; {colours().less} and −: it is "
            "lower. The darker the cell, the larger the difference within its panel."
        ),
        stars_told(pairs),
    ]
    if any(block.edges for block in blocks):
        sentences.append("Dark lines separate models with different numbers of dimensions.")
    if any(differences(block, comparison)[2] for block in blocks for comparison in block.compared):
        sentences.append(
            "Models never shown to the same participant were not tested against each other."
        )
    return " ".join(sentences)


MARGIN = 0.05
"""Beyond the values, of a scale's length."""
BESIDE = 0.13
"""From a bar's middle to the line of its standard deviation, and the other way to the points."""


def ratings(blocks: Sequence[PanelBlock], name: str, label: str) -> ReportFigure:
    """One panel per rating, in it one bar per model with the standard deviation. blocks: of one
    study and task."""
    layout = layout_of(blocks, most=4)
    figure, panels = lay_out_blocks(blocks, [1.4] * len(blocks), layout)
    ends = _ends(blocks)
    for block, own in zip(blocks, panels, strict=True):
        for ax, compared in zip(own, block.compared, strict=True):
            _ratings_panel(ax, block, compared, layout.room)
            ax.set_ylim(*ends[_ratings_scale(compared.metric)])
    add_group_heading(figure, label, [block.group for block in blocks])
    shown = [(block, compared) for block in blocks for compared in block.compared]
    caption = f"Diamond: mean; one point per participant if there are at most {kit.POINTS_UP_TO}."
    if any(own.size >= SMALLEST for both in shown for own in values_of(*both)):
        caption += f" Bar and line: mean ± SD (n − 1), if there are at least {SMALLEST} values."
    if any(compared.metric.column == "performance" for _, compared in shown):
        caption += " On the NASA-TLX, 100 means most demanding (for Performance: failure)."
    return ReportFigure(name, figure, label, caption)


def values_of(block: PanelBlock, compared: Compared) -> list[Values]:
    """The ratings of each model, in the order of the models."""
    column = compared.metric.column
    values = block.group.values[["model", column]].dropna()
    return _by_model(values, column, block.group.models)


def _ratings_scale(metric: Metric) -> tuple[float, float]:
    """Least and greatest answer; every rating has them."""
    assert metric.limits is not None
    return metric.limits


def _ends(blocks: Sequence[PanelBlock]) -> dict[tuple[float, float], tuple[float, float]]:
    """For each scale the limits of its axes, the same in all panels: a standard deviation may lead
    out of the scale, and is not cut off."""
    reached: dict[tuple[float, float], list[float]] = {}
    for block in blocks:
        for compared in block.compared:
            low, high = scale = _ratings_scale(compared.metric)
            ends = reached.setdefault(scale, [low, high])
            for own in values_of(block, compared):
                if own.size >= SMALLEST:
                    sd = float(own.std(ddof=1))
                    ends += [float(own.mean()) - sd, float(own.mean()) + sd]
    return {
        (low, high): (
            low if min(ends) >= low else min(ends) - MARGIN * (high - low),
            max(ends) + MARGIN * (high - low),
        )
        for (low, high), ends in reached.items()
    }


def _ratings_panel(ax: Axes, block: PanelBlock, compared: Compared, room: float) -> None:
    metric = compared.metric
    low, high = _ratings_scale(metric)
    values = values_of(block, compared)
    for place, own in enumerate(values):
        if own.size == 0:
            continue
        middle = float(own.mean())
        if own.size >= SMALLEST:
            kit.bar(ax, place, middle, low)
            sd = float(own.std(ddof=1))
            ax.errorbar(
                place + BESIDE, middle, yerr=sd, color=INK, elinewidth=1.4, capsize=3, zorder=4
            )
        if own.size <= kit.POINTS_UP_TO:
            shifts = kit.jitter(own.size, 0.11)
            kit.points(ax, place - BESIDE + shifts, own, markersize=3.4, clip_on=False, zorder=3)
        kit.diamond(ax, place + BESIDE, middle)
    drawing.names_below(ax, block.group.models, [own.size for own in values], block.edges, room)
    ax.set_yticks(value_ticks(metric, low, high))
    ax.tick_params(axis="y", labelsize=points_of(drawing.SMALL))
    kit.grid(ax)


FEW = 4
"""So many models have room in one of five panels beside each other."""
BESIDE_IN = 0.5
"""Left of an axis, for its numbers, and between panels."""
ABOVE_IN = 0.5
"""Title and unit of a panel."""
NAME_IN = 0.3
"""Name of a block, and title of the figure."""


@dataclass(frozen=True)
class PanelBlock:
    """What stands together on the same axes: a group, or several of one data set whose models no
    participant met together (5 and 10 dimensions).

    compared: the metrics that are drawn, without those that repeat another. edges: places at which
    models begin that are apart from those before.
    """

    group: StudyGroup
    compared: tuple[Compared, ...]
    edges: tuple[int, ...]


@dataclass(frozen=True)
class PanelLayout:
    """Panels beside each other. room: inches a model along the x axis."""

    columns: int
    models: int
    beside: float = BESIDE_IN

    @property
    def width(self) -> float:
        return figure_width() / self.columns - self.beside

    @property
    def room(self) -> float:
        return self.width / (max(self.models, drawing.LEAST) + 0.2)


def blocks_of(results: Sequence[GroupResults], metrics: Sequence[Metric]) -> list[PanelBlock]:
    """The groups of one study and task by data set, with those of the metrics that have values, in
    the order given."""
    sets: dict[str, list[GroupResults]] = {}
    for result in results:
        sets.setdefault(result.group.dataset, []).append(result)
    blocks = []
    for name, some in sets.items():
        group = _join_groups(name, [result.group for result in some])
        compared = tuple(
            _pool_metric(
                [other for result in some for other in result.compared if other.metric == metric]
            )
            for metric in metrics
            if metric.column in group.values and group.values[metric.column].notna().any()
        )
        starts = list(accumulate(len(result.group.models) for result in some))[:-1]
        edges = tuple(starts or edges_of(group.models))
        drawn = tuple(comparison for comparison in compared if not comparison.repeats)
        blocks += _by_dataset(PanelBlock(group, drawn, edges)) if drawn else []
    return blocks


def _by_dataset(block: PanelBlock) -> list[PanelBlock]:
    """The block, and behind it one a data set with the metrics whose size depends on the data set;
    the block alone if all models are of one."""
    sets: dict[str, list[str]] = {}
    for model in block.group.models:
        sets.setdefault(dataset_of(model), []).append(model)
    apart = [comparison for comparison in block.compared if comparison.metric.by_dataset]
    if len(sets) < 2 or not apart:
        return [block]
    others = tuple(own for own in block.compared if not own.metric.by_dataset)
    blocks = [PanelBlock(replace(block.group, name="All models"), others, block.edges)]
    for name, models in sets.items():
        values, trials = (
            rows[rows["model"].isin(models)] for rows in (block.group.values, block.group.trials)
        )
        group = replace(block.group, name=name, models=tuple(models), values=values, trials=trials)
        drawn = tuple(
            _among(models, comparison)
            for comparison in apart
            if values[comparison.metric.column].notna().any()
            and not find_repeated_metric(values, comparison.metric)
        )
        blocks.append(PanelBlock(group, drawn, tuple(edges_of(models))))
    first, *rest = (own for own in blocks if own.compared)
    # Their participants are the first one's, and who is simulated is counted there.
    return [first, *(replace(own, group=replace(own.group, simulated=0)) for own in rest)]


def _among(models: Sequence[str], comparison: Compared) -> Compared:
    """The comparison of some of its models."""
    named = {*models, ""}
    rows = (row for row in comparison.rows if {row.model, row.compared_with} <= named)
    return replace(comparison, rows=tuple(rows))


def _join_groups(name: str, groups: Sequence[StudyGroup]) -> StudyGroup:
    return replace(
        groups[0],
        name=name,
        models=tuple(model for group in groups for model in group.models),
        within=any(group.within for group in groups),
        simulated=sum(group.simulated for group in groups),
        values=pd.concat([group.values for group in groups], ignore_index=True),
        trials=pd.concat([group.trials for group in groups], ignore_index=True),
    )


def _pool_metric(some: Sequence[Compared]) -> Compared:
    """The same metric of several groups. It repeats another only if it does so in all."""
    return replace(
        some[0],
        rows=tuple(row for own in some for row in own.rows),
        repeats=some[0].repeats if all(own.repeats for own in some) else "",
    )


def layout_of(
    blocks: Sequence[PanelBlock], *, most: int = 3, beside: float = BESIDE_IN, least: float = 0.3
) -> PanelLayout:
    """As many panels beside each other as have room: all metrics if several blocks of few models
    stand below each other and no name must be turned, else so many at most. beside: inches left of
    an axis; least: inches that a model needs."""
    metrics = max(len(block.compared) for block in blocks)
    models = max(len(block.group.models) for block in blocks)
    across = [4, 2, 1] if metrics == 4 else list(range(min(most, max(metrics, 2)), 0, -1))
    if len(blocks) > 1 and models <= FEW:
        whole = PanelLayout(min(max(metrics, 3), 5), models, beside)
        fitted = [drawing.names_of(block.group.models, whole.room) for block in blocks]
        if not any(each.upright for each in fitted):
            across.insert(0, whole.columns)
    across = [columns for columns in across if columns <= panels_across(across[0])]
    layouts = [PanelLayout(columns, models, beside) for columns in across]
    return next((layout for layout in layouts if layout.room >= least), layouts[-1])


def lay_out_blocks(
    blocks: Sequence[PanelBlock],
    heights: Sequence[float],
    layout: PanelLayout,
    *,
    counted: bool = True,
) -> tuple[Figure, list[list[Axes]]]:
    """A figure with the axes of each block, titled. heights: inches of the axes of each block.
    counted: the models below an axis have their n with them."""
    rows = [-(-len(block.compared) // layout.columns) for block in blocks]
    totals = []
    for block, height, count in zip(blocks, heights, rows, strict=True):
        labels = drawing.label_height(block.group.models, layout.room, counted=counted)
        totals.append((height + ABOVE_IN + labels) * count + NAME_IN * (len(blocks) > 1))
    figure, parts = subfigures([block.group.name for block in blocks], totals)
    result: list[list[Axes]] = []
    for part, block, count in zip(parts, blocks, rows, strict=True):
        every = list(part.subplots(count, layout.columns, squeeze=False).flat)
        own = kit.hide_unused(every, len(block.compared))
        for ax, compared in zip(own, block.compared, strict=True):
            add_title(ax, compared.metric.called, compared.metric.unit)
        result.append(own)
    return figure, result


def subfigures(titles: Sequence[str], heights: Sequence[float]) -> tuple[Figure, list[SubFigure]]:
    """A figure in parts below each other, named if there are several."""
    figure = Figure(figsize=(figure_width(), sum(heights) + NAME_IN), layout="constrained")
    parts = figure.subfigures(len(titles), 1, squeeze=False, height_ratios=heights)[:, 0]
    if len(titles) > 1:
        for part, name in zip(parts, titles, strict=True):
            part.suptitle(name, x=0.01, ha="left", fontsize=points_of(10), fontweight="bold")
    return figure, list(parts)


def add_title(ax: Axes, title: str, unit: str) -> None:
    """A panel's title, and its unit in a smaller line below."""
    ax.set_title(title, fontsize=points_of(9), pad=15)
    ax.annotate(
        unit,
        xy=(0, 1),
        xycoords="axes fraction",
        xytext=(0, 4.5),
        textcoords="offset points",
        fontsize=points_of(7),
        color=SECONDARY,
        annotation_clip=False,
    )


def add_group_heading(figure: Figure, label: str, groups: Sequence[StudyGroup]) -> None:
    """Above a figure what it is and of whom."""
    people = len({(group.study, who) for group in groups for who in group.values["participant"]})
    studies = ", ".join(dict.fromkeys(group.study for group in groups))
    programs = min(sum(group.simulated for group in groups), people)
    add_heading(figure, label, studies, people, programs)


def edges_of(models: Sequence[str]) -> list[int]:
    """Places at which models of another size begin: the number at the end of their ids, if every
    model has one and some share theirs (ae5, ss5 | ae10, ss10)."""
    sizes = [re.search(r"\d+$", model) for model in models]
    numbers = [size.group() for size in sizes if size is not None]
    if len(numbers) < len(models) or not 1 < len(set(numbers)) < len(models):
        return []
    edges = [at for at, (pair, other) in enumerate(pairwise(numbers), start=1) if pair != other]
    # Only where those of a size stand together.
    return edges if len(edges) == len(set(numbers)) - 1 else []


def short(value: float, decimals: int, *, sign: bool = False) -> str:
    """A number for a narrow place: thousands as k, and not more digits than it bears."""
    if abs(value) >= 1000:
        return decimal(value / 1000, 0 if abs(value) >= 100_000 else 1, sign=sign) + "k"
    return decimal(
        value, 0 if abs(value) >= 100 else min(decimals, 1 + (abs(value) < 10)), sign=sign
    )


def value_ticks(metric: Metric, low: float, high: float) -> list[float]:
    """Places of ticks within the values; all steps of a rating scale."""
    if metric.limits is not None:
        low, high = metric.limits
    steps = int(high - low) if metric.limits is not None and high - low < 10 else 5
    ticks = MaxNLocator(nbins=steps).tick_values(low, high)
    room = 1e-9 * max(1.0, abs(high))
    return [float(result) for result in ticks if low - room <= result <= high + room]
