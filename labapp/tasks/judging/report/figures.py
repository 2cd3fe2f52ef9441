"""The report's figures of judged explanations (paper 003, Table 1, Figures 4 and 5), for a page and
as files. Marks differ by shape and fill, so that they can be told apart in grey."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes

from labapp.analysis.inference import Values, mean, sd, values_of
from labapp.analysis.tables import Tables
from labapp.base.figure_style import ACCENT, INK, SECONDARY, points_of, style
from labapp.base.report import kit
from labapp.base.report.drawing import ReportFigure
from labapp.tasks.judging.report import published as paper
from labapp.tasks.judging.report.opinions import least_accuracy, understandings
from labapp.tasks.judging.report.statistics import (
    NEUTRAL,
    RIGHT,
    WHO,
    PhotoGroup,
    accuracy,
    chance,
    other_chance,
    per_session,
    plain,
    rank_means,
)

_PRINTED: dict[str, Any] = {
    "markersize": 5,
    "markerfacecolor": "white",
    "markeredgecolor": SECONDARY,
    "zorder": 4,
}
TITLES = {
    paper.DISTINCTION: "Distinction: correct class found",
    paper.OUTPUT: "Output prediction: predicted class found",
    paper.AGREEMENT: "Agreement: predictions correctly believed",
}


def plates(counted: Tables, groups: Sequence[PhotoGroup]) -> list[ReportFigure]:
    """Every figure for which there are values; counted: the tables of the sessions that count."""
    with mpl.rc_context(style()):
        plates = (
            accuracies(groups),
            by_rank(groups),
            beliefs(groups),
            trade_offs(counted, groups),
            understanding(counted, groups),
        )
    return [plate for plate in plates if plate is not None]


_READ = (
    "Diamond and bar: mean ± SD; an arrowhead at the edge means that the bar continues. One "
    f"point per session; with more than {kit.POINTS_UP_TO}, one point per value, and its area "
    "shows how many sessions have it. Open square and dotted bar: the paper, with other photos "
    "and models."
)


def _lengths(groups: Sequence[PhotoGroup]) -> str:
    """How long the explanations are beside the paper's, where they differ."""
    return "".join(
        f" In {group.name}: {group.length_sentence}" for group in groups if group.length_sentence
    )


def accuracies(groups: Sequence[PhotoGroup]) -> ReportFigure | None:
    """Item 1 by study, with what guessing gets."""
    shown = {
        name: [group for group in groups if plain(accuracy(group, name)).size] for name in RIGHT
    }
    shown = {name: some for name, some in shown.items() if some}
    if not shown:
        return None
    heights = [0.6 + 0.42 * len(some) for some in shown.values()]
    figure, axes = kit.panels(len(shown), 1, heights, more_in=0.4, sharex=True)
    for ax, (name, some) in zip(axes, shown.items(), strict=True):
        for place, group in enumerate(some):
            values = plain(accuracy(group, name))
            _strip(ax, place, values, _find_published(group, name))
            guessed = chance(group, name)
            ax.plot([guessed] * 2, [place - 0.5, place + 0.5], color=INK, linewidth=1.2, ls="--")
        _names(ax, [(group.name, plain(accuracy(group, name)).size) for group in some])
        ax.set_title(TITLES[name])
        ax.set_xlim(-2, 102)
    axes[-1].set_xlabel("% of photos")
    caption = f"{_READ} Dashed: guessing.{_lengths(groups)}"
    return ReportFigure("judging-accuracy", figure, "Accuracy by study", caption)


def _find_published(group: PhotoGroup, name: str) -> paper.PublishedValue | None:
    """The paper's value, where it may be drawn beside ours: made-up labels were not studied, and
    where guessing gets another share right an accuracy means something else."""
    if (group.labels and group.invented) or other_chance(group, name):
        return None
    return paper.find_published(group.design, name)


def _strip(ax: Axes, place: float, values: Values, printed: paper.PublishedValue | None) -> None:
    """Values along a row: points, mean and sd; the paper's below them."""
    kit.cloud(ax, place, values, 0.12, lying=True, alpha=0.75)
    middle, width = mean(values), sd(values)
    if middle is not None:
        if width is not None:
            kit.horizontal_interval(ax, [middle - width, middle + width], place)
        kit.diamond(ax, middle, place, markersize=6, markerfacecolor=INK)
    if printed is not None:
        below = place + 0.28
        if printed.sd is not None:
            ends = [printed.mean - printed.sd, printed.mean + printed.sd]
            kit.horizontal_interval(ax, ends, below, color=SECONDARY, linewidth=1.2, ls=":")
        ax.plot(printed.mean, below, "s", **_PRINTED)


def _names(ax: Axes, rows: Sequence[tuple[str, int]]) -> None:
    """Studies down the side with their n, the first on top."""
    kit.rows(ax, [f"{name}, n = {n}" for name, n in rows], beyond=0.55, above=0.55)


def by_rank(groups: Sequence[PhotoGroup]) -> ReportFigure | None:
    """Mean rating of rows by the model's rank (Figure 4)."""
    shown = [(group, means) for group in groups if len(means := rank_means(group)) > 1]
    if not shown:
        return None
    figure, (ax,) = kit.panels(1, 1, 3.4)
    longest = max(int(means.index.max()) for _, means in shown)
    for (line, mark), (group, means) in zip(cycle(kit.LINES), shown, strict=False):
        ratings = int(group.ratings["rank"].notna().sum())
        ax.plot(
            means.index,
            means.to_numpy(),
            mark,
            ls=line,
            color=INK if line == "-" else ACCENT,
            linewidth=1.4,
            markersize=6,
            label=f"{group.name}, {ratings} ratings",
        )
    ax.set_ylim(0.9, 4.1)
    ax.set_yticks([1, 2, 3, 4], ["1 not similar", "2", "3", "4 similar"])
    ax.set_xticks(range(1, longest + 1))
    ax.set_xlabel("rank of the prototype by the model's similarity, 1 is most similar")
    ax.set_ylabel("mean rating")
    kit.grid(ax)
    ax.legend(frameon=False, loc="upper right", fontsize=points_of(8))
    caption = (
        "Mean over all ratings of the rows with this rank. If the line falls, people agree with "
        "the model."
    ) + _lengths([group for group, _ in shown])
    label = "Mean rating by the model's rank"
    return ReportFigure("judging-ratings-by-rank", figure, label, caption)


def beliefs(groups: Sequence[PhotoGroup]) -> ReportFigure | None:
    """Mean agreement of sessions over all photos, those the model has right, and wrong."""
    shown = [group for group in groups if group.photos["agreement"].notna().any()]
    if not shown:
        return None
    kinds = ("all", "model right", "model wrong")
    figure, axes = kit.panels(3, 3, 0.8 + 0.45 * len(shown), sharey=True)
    for ax, kind in zip(axes, kinds, strict=True):
        for place, group in enumerate(shown):
            right = group.photos["model_correct"].astype(bool)
            chosen = {"all": right | True, "model right": right, "model wrong": ~right}[kind]
            values = plain(per_session(group.photos[chosen], "agreement"))
            _strip(ax, place, values, _find_published(group, f"belief, {kind}"))
        ax.axvline(NEUTRAL, color=INK, linewidth=1.2, ls="--")
        _names(ax, [(group.name, group.photos.groupby(WHO).ngroups) for group in shown])
        ax.set_title(f"{kind[0].upper()}{kind[1:]}" + (" photos" if kind == "all" else ""))
        ax.set_xlim(0.9, 4.1)
        ax.set_xticks([1, 2, 3, 4])
        ax.set_xlabel("1 incorrect – 4 correct")
    caption = f"{_READ} Dashed: the neutral 2.5; to the right of it, predictions are believed."
    caption += _lengths(shown)
    return ReportFigure("judging-belief", figure, "Belief in predictions by study", caption)


def trade_offs(counted: Tables, groups: Sequence[PhotoGroup]) -> ReportFigure | None:
    """Least accuracy of a black box at low, medium and high risk (Figure 5)."""
    shown = []
    for group in _one_a_study(groups):
        own = counted.of_study(group.study)
        values = [plain(least_accuracy(own, risk)) for risk in paper.RISKS]
        if any(some.size for some in values):
            shown.append((group, values))
    if not shown:
        return None
    columns = min(len(shown), 5)
    figure, axes = kit.panels(len(shown), columns, 2.9, sharey=True)
    for ax, (group, values) in zip(axes, shown, strict=True):
        _risks(ax, group, values)
    for ax in axes[::columns]:
        ax.set_ylabel("%")
    caption = (
        f"{_READ} Dashed: the explained model's own accuracy; dotted: that of the paper's model. "
        "A slider that was not touched counts as no answer and is left out."
    )
    if any(group.method == "ProtoTree" for group, _ in shown):
        caption += f" The two models differ: {paper.OTHER_TREE}."
    label = "Minimum accuracy at which a black box would be preferred, by risk"
    return ReportFigure("judging-trade-off", figure, label, caption)


def _risks(ax: Axes, group: PhotoGroup, values: Sequence[Values]) -> None:
    for place, (risk, some) in enumerate(zip(paper.RISKS, values, strict=True)):
        if some.size:
            kit.cloud(ax, place, some, 0.14, clip_on=False, alpha=0.75)
            ax.errorbar(place, some.mean(), yerr=sd(some), fmt="D", color=INK, zorder=4)
        printed = _find_published(group, f"least accuracy, {risk} risk")
        if printed is not None:
            ends = [printed.mean - (printed.sd or 0), printed.mean + (printed.sd or 0)]
            ax.plot([place + 0.32] * 2, ends, color=SECONDARY, ls=":", linewidth=1.2)
            ax.plot(place + 0.32, printed.mean, "s", **_PRINTED)
    if group.model_accuracy is not None:
        ax.axhline(group.model_accuracy, color=INK, linewidth=1.2, ls="--")
    if (told := _find_published(group, "model accuracy")) is not None:
        ax.axhline(told.mean, color=SECONDARY, linewidth=1.0, ls=":")
    kit.columns(ax, ["low", "medium", "high"])
    ax.set_ylim(48, 102)
    kit.grid(ax)
    first, _, rest = group.name.partition("-")  # on two lines, so that all titles have one height
    ax.set_title(f"{first}-\n{rest}", fontsize=points_of(8))
    counts = [f"{some.size}" for some in values]  # sliders that nobody touched are left out
    ax.set_xlabel(f"risk, n = {', '.join(counts if len(set(counts)) > 1 else counts[:1])}")


def understanding(counted: Tables, groups: Sequence[PhotoGroup]) -> ReportFigure | None:
    """How well the model is thought to be understood, at three times (Table A1)."""
    shown = []
    for group in _one_a_study(groups):
        times = [values_of(plain(s)) for s in understandings(counted.of_study(group.study))]
        if all(some.size for some in times):
            shown.append((group, times))
    if not shown:
        return None
    figure, axes = kit.panels(3, 3, 0.9 + 0.42 * len(shown), sharey=True)
    for at, (ax, name) in enumerate(zip(axes, paper.UNDERSTANDING, strict=True)):
        for place, (group, times) in enumerate(shown):
            _strip(ax, place, times[at], _find_published(group, name))
        _names(ax, [(group.name, times[at].size) for group, times in shown])
        ax.set_title(name.removeprefix("understanding ").capitalize())
        ax.set_xlim(0.8, 5.2)
        ax.set_xticks(range(1, 6))
        ax.set_xlabel("1 very poor – 5 very good")
    label = "Self-rated understanding, at three times"
    return ReportFigure("judging-understanding", figure, label, _READ)


def _one_a_study(groups: Sequence[PhotoGroup]) -> list[PhotoGroup]:
    """The first group of each study: what is asked about the study as a whole is drawn once."""
    return list({group.study: group for group in reversed(groups)}.values())[::-1]
