"""Panels of a figure: a block of them a data set, in it one a metric."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator

from labapp.analysis.columns import Metric
from labapp.base.figure_style import SECONDARY, figure_width, panels_across, points_of
from labapp.base.report import drawing, kit
from labapp.base.report.drawing import add_heading
from labapp.base.report.page import decimal
from labapp.models.representations.card import dataset_of
from labapp.papers.interactive_reconstruction.groups import repeated_metric
from labapp.papers.interactive_reconstruction.results import Compared, Found, Group

FEW = 4
"""So many models have room in one of five panels beside each other."""
BESIDE_IN = 0.5
"""Left of an axis, for its numbers, and between panels."""
ABOVE_IN = 0.5
"""Title and unit of a panel."""
NAME_IN = 0.3
"""Name of a block, and title of the figure."""


@dataclass(frozen=True)
class Block:
    """What stands together on the same axes: a group, or several of one data set whose models no
    participant met together (5 and 10 dimensions).

    compared: the metrics that are drawn, without those that repeat another. edges: places at which
    models begin that are apart from those before.
    """

    group: Group
    compared: tuple[Compared, ...]
    edges: tuple[int, ...]


@dataclass(frozen=True)
class Layout:
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


def blocks_of(results: Sequence[Found], metrics: Sequence[Metric]) -> list[Block]:
    """The groups of one study and task by data set, with those of the metrics that have values, in
    the order given."""
    sets: dict[str, list[Found]] = {}
    for result in results:
        sets.setdefault(result.group.dataset, []).append(result)
    blocks = []
    for name, some in sets.items():
        group = _joined(name, [result.group for result in some])
        compared = tuple(
            _pooled(
                [other for result in some for other in result.compared if other.metric == metric]
            )
            for metric in metrics
            if metric.column in group.values and group.values[metric.column].notna().any()
        )
        starts = list(accumulate(len(result.group.models) for result in some))[:-1]
        edges = tuple(starts or edges_of(group.models))
        drawn = tuple(comparison for comparison in compared if not comparison.repeats)
        blocks += _by_dataset(Block(group, drawn, edges)) if drawn else []
    return blocks


def _by_dataset(block: Block) -> list[Block]:
    """The block, and behind it one a data set with the metrics whose size depends on the data set;
    the block alone where all models are of one."""
    sets: dict[str, list[str]] = {}
    for model in block.group.models:
        sets.setdefault(dataset_of(model), []).append(model)
    apart = [comparison for comparison in block.compared if comparison.metric.by_dataset]
    if len(sets) < 2 or not apart:
        return [block]
    others = tuple(own for own in block.compared if not own.metric.by_dataset)
    blocks = [Block(replace(block.group, name="All models"), others, block.edges)]
    for name, models in sets.items():
        values, trials = (
            rows[rows["model"].isin(models)] for rows in (block.group.values, block.group.trials)
        )
        group = replace(block.group, name=name, models=tuple(models), values=values, trials=trials)
        drawn = tuple(
            _among(models, comparison)
            for comparison in apart
            if values[comparison.metric.column].notna().any()
            and not repeated_metric(values, comparison.metric)
        )
        blocks.append(Block(group, drawn, tuple(edges_of(models))))
    first, *rest = (own for own in blocks if own.compared)
    # Their participants are the first one's, and who is simulated is counted there.
    return [first, *(replace(own, group=replace(own.group, simulated=0)) for own in rest)]


def _among(models: Sequence[str], comparison: Compared) -> Compared:
    """The comparison of some of its models."""
    named = {*models, ""}
    rows = (row for row in comparison.rows if {row.model, row.compared_with} <= named)
    return replace(comparison, rows=tuple(rows))


def _joined(name: str, groups: Sequence[Group]) -> Group:
    return replace(
        groups[0],
        name=name,
        models=tuple(model for group in groups for model in group.models),
        within=any(group.within for group in groups),
        simulated=sum(group.simulated for group in groups),
        values=pd.concat([group.values for group in groups], ignore_index=True),
        trials=pd.concat([group.trials for group in groups], ignore_index=True),
    )


def _pooled(some: Sequence[Compared]) -> Compared:
    """The same metric of several groups. It repeats another only where it does so in all."""
    return replace(
        some[0],
        rows=tuple(row for own in some for row in own.rows),
        repeats=some[0].repeats if all(own.repeats for own in some) else "",
    )


def layout_of(
    blocks: Sequence[Block], *, most: int = 3, beside: float = BESIDE_IN, least: float = 0.3
) -> Layout:
    """As many panels beside each other as have room: all metrics where several blocks of few models
    stand below each other and no name must be turned, else so many at most. beside: inches left of
    an axis; least: inches that a model needs."""
    metrics = max(len(block.compared) for block in blocks)
    models = max(len(block.group.models) for block in blocks)
    across = [4, 2, 1] if metrics == 4 else list(range(min(most, max(metrics, 2)), 0, -1))
    if len(blocks) > 1 and models <= FEW:
        whole = Layout(min(max(metrics, 3), 5), models, beside)
        fitted = [drawing.names_of(block.group.models, whole.room) for block in blocks]
        if not any(each.upright for each in fitted):
            across.insert(0, whole.columns)
    across = [columns for columns in across if columns <= panels_across(across[0])]
    layouts = [Layout(columns, models, beside) for columns in across]
    return next((layout for layout in layouts if layout.room >= least), layouts[-1])


def laid_out(
    blocks: Sequence[Block], heights: Sequence[float], layout: Layout, *, counted: bool = True
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
            titled(ax, compared.metric.title, compared.metric.unit)
        result.append(own)
    return figure, result


def subfigures(titles: Sequence[str], heights: Sequence[float]) -> tuple[Figure, list[SubFigure]]:
    """A figure in parts below each other, named where there are several."""
    figure = Figure(figsize=(figure_width(), sum(heights) + NAME_IN), layout="constrained")
    parts = figure.subfigures(len(titles), 1, squeeze=False, height_ratios=heights)[:, 0]
    if len(titles) > 1:
        for part, name in zip(parts, titles, strict=True):
            part.suptitle(name, x=0.01, ha="left", fontsize=points_of(10), fontweight="bold")
    return figure, list(parts)


def titled(ax: Axes, title: str, unit: str) -> None:
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


def headed_by(figure: Figure, label: str, groups: Sequence[Group]) -> None:
    """Above a figure what it is and of whom."""
    people = len({(group.study, who) for group in groups for who in group.values["participant"]})
    studies = ", ".join(dict.fromkeys(group.study for group in groups))
    programs = min(sum(group.simulated for group in groups), people)
    add_heading(figure, label, studies, people, programs)


def edges_of(models: Sequence[str]) -> list[int]:
    """Places at which models of another size begin: the number at the end of their ids, where every
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
