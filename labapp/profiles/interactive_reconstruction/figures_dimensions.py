"""Correctness by dimension of the single-dimension task (paper 000, Figure 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from labapp.figure_style import ACCENT, INK, figure_width, panels_across, points_of
from labapp.profiles.interactive_reconstruction.panels import NAME_IN, headed_by, subfigures, titled
from labapp.profiles.interactive_reconstruction.results import Group
from labapp.report import axis_names, kit
from labapp.report.drawing import ReportFigure, shortened

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


def dimensions(groups: Sequence[Group], name: str, label: str) -> ReportFigure | None:
    """A row of panels a group, a panel a model, in it a dot a dial; None where no question was
    answered."""
    shown = [(group, dials_found) for group in groups if any(dials_found := _found(group))]
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
        for ax, model, own in zip(grid, shortened(group.models), dials_found, strict=False):
            _panel(ax, axis_names.wrap(model, room), own, dials)
    headed_by(figure, label, [group for group, _ in shown])
    return ReportFigure(
        name, figure, label, _caption([share for _, some in shown for own in some for share in own])
    )


def _found(group: Group) -> list[list[Share]]:
    return [shares(group.trials, model) for model in group.models]


def _panel(ax: Axes, model: str, own: Sequence[Share], dials: int) -> None:
    sizes = sorted({share.n for share in own})
    between = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else "".join(map(str, sizes))
    titled(ax, model, f"n = {between} questions a dial" if own else "no question was answered")
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
    ax.tick_params(labelsize=points_of(axis_names.SMALL))


def _dial(share: Share) -> str:
    """Its number, and its name where that says more."""
    if share.name == f"z{share.dimension}":
        return str(share.dimension)
    short = share.name if len(share.name) <= LONGEST else f"{share.name[: LONGEST - 1]}…"
    return f"{short}, {share.dimension}"


def _caption(shares: Sequence[Share]) -> str:
    text = "Dot and bar: share of all answered questions ± binomial standard error, by dial."
    if any(result.thirds for result in shares):
        text += " Dashed: guessing among low, medium and high."
    if any(not result.thirds for result in shares):
        text += " A discrete dial has as many choices as values, and no line."
    return f"{text} Dials that bear the same number in two models have nothing in common."
