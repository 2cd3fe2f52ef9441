"""Box plots of the metrics by model, with stars (paper 000, Figures 6 and 8)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import StrMethodFormatter

from labapp.analysis.by_task import SUMMED
from labapp.analysis.columns import Metric
from labapp.analysis.inference import SMALLEST, Values
from labapp.figure_style import INK, points_of
from labapp.profiles.interactive_reconstruction.comparisons import MEAN_ERROR, SUM_ERROR
from labapp.profiles.interactive_reconstruction.panels import (
    Block,
    headed_by,
    laid_out,
    layout_of,
    value_ticks,
)
from labapp.profiles.interactive_reconstruction.results import STARS, Compared, Group, Pair
from labapp.report import axis_names, kit
from labapp.report.drawing import ReportFigure

HEIGHT_IN = 1.7
"""Of an axis without brackets."""
LEVEL_IN = 0.14
"""What a bracket takes of it."""
INSET = 0.1
"""A bracket ends so far before the middle of its models, so that two may meet at one."""


def boxes(blocks: Sequence[Block], name: str, label: str) -> ReportFigure:
    """Every metric by model, a block a data set. blocks: of one study and task."""
    layout = layout_of(blocks)
    most = [
        max(_height(block.group, comparison.pairs) for comparison in block.compared)
        for block in blocks
    ]
    heights = [HEIGHT_IN + LEVEL_IN * count for count in most]
    figure, panels = laid_out(blocks, heights, layout)
    for block, own, height in zip(blocks, panels, heights, strict=True):
        for ax, compared in zip(own, block.compared, strict=True):
            _panel(ax, block, compared, layout.room, height)
    headed_by(figure, label, [block.group for block in blocks])
    return ReportFigure(name, figure, label, _caption(blocks))


def _panel(ax: Axes, block: Block, compared: Compared, room: float, height: float) -> None:
    group, metric = block.group, compared.metric
    wide = group.values.pivot_table(index="participant", columns="model", values=metric.column)
    values = wide.reindex(columns=list(group.models)).to_numpy(dtype=np.float64)
    counts = kit.strips(ax, values, joined=group.within, limits=metric.limits)
    axis_names.names_below(ax, group.models, counts, block.edges, room)
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
    ax.tick_params(axis="y", labelsize=points_of(axis_names.SMALL))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
    ax.spines["left"].set_bounds(bottom, high + margin)
    return top


def _height(group: Group, pairs: Sequence[Pair]) -> int:
    """How many brackets stand above each other."""
    return max((level for *_, level in levels(group.models, pairs)), default=-1) + 1


def levels(models: Sequence[str], pairs: Sequence[Pair]) -> list[tuple[int, int, str, int]]:
    """Brackets of the pairs with stars: places of both models, stars, level from 0. None lies over
    another; they may meet at a model."""
    places = {model: place for place, model in enumerate(models)}
    wanted = []
    for pair in pairs:
        if pair.stars:
            left, right = sorted((places[pair.model], places[pair.other]))
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


def _brackets(ax: Axes, group: Group, pairs: Sequence[Pair], top: float, height: float) -> None:
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


def _caption(blocks: Sequence[Block]) -> str:
    within = any(block.group.within for block in blocks)
    sentences = [
        "A point is a participant" + ("; grey lines join a participant's models" * within) + ".",
        kit.STRIPS_READ,
        "" if _many(blocks) else "No value is cut off.",
        stars_told([pair for block in blocks for c in block.compared for pair in c.pairs]),
    ]
    summed = [block for block in blocks if SUM_ERROR in _columns(block)]
    if summed:
        sentences.append(SUMMED)
    if summed and all(repeated(block) for block in summed):
        sentences.append("As a mean over the pixels it looks the same and is not drawn.")
    return " ".join(filter(None, sentences))


def _columns(block: Block) -> list[str]:
    return [comparison.metric.column for comparison in block.compared]


def repeated(block: Block) -> bool:
    """Whether the error as a mean over the pixels is known, and left out as the sum's multiple."""
    known = block.group.values.get(MEAN_ERROR)
    if known is None or MEAN_ERROR in _columns(block):
        return False
    return bool(known.notna().any())


def _many(blocks: Sequence[Block]) -> bool:
    """Whether a strip has more values than are drawn as points."""
    sizes = [
        block.group.values.groupby("model")[comparison.metric.column].count().max()
        for block in blocks
        for comparison in block.compared
    ]
    return max(sizes, default=0) > kit.POINTS_UP_TO


def stars_told(pairs: Sequence[Pair]) -> str:
    """Which p the stars are of; that there are none, where that is so; empty without tests."""
    tests = list(dict.fromkeys(pair.outcome.test for pair in pairs if pair.outcome.p is not None))
    if not tests:
        return "No two models could be tested against each other." if pairs else ""
    limits = ", ".join(f"{shown} p < {limit:g}" for limit, shown in reversed(STARS))
    of = " or ".join(tests)
    if not any(pair.stars for pair in pairs):
        enough = any(pair.n >= SMALLEST for pair in pairs)
        why = "" if enough else f", because fewer than {SMALLEST} values say too little"
        return f"No stars{why} ({of}; {limits})."
    return (
        f"Stars: p of {of}, not corrected for the number of tests, as in the paper ({limits}); "
        f"none with n < {SMALLEST}."
    )
