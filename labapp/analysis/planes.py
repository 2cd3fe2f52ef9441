"""The report's figures of answers that are places: drawings on pictures, and squares of grids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from labapp.analysis.tables import Tables
from labapp.base.discovery import load
from labapp.base.reading.values import json_value
from labapp.base.report.listing import records
from labapp.base.report.page import Html, Verbatim, details, heading, table
from labapp.study.instruments.kinds import ITEM_KINDS
from labapp.study.instruments.kinds.drawing import strokes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    Draw = Callable[[Axes, pd.DataFrame, list[dict[str, Any]]], str]

WHOLE = "whole session"


def draw_kinds(counted: Tables, anchor: str) -> Iterator[Html]:
    """A figure for each item of a kind that has one (`ItemKind.figure`), with a panel for each
    model that was asked about. anchor: prefix of the page's ids."""
    answers = counted.answers[counted.answers["submitted"]]
    answers = answers[~answers["about_person"].fillna(value=False)]
    items = counted.worded[counted.worded["kind"].isin(kinds_with_figures())]
    items = items.drop_duplicates(["instrument", "item"])
    groups = items.groupby(["instrument", "listed"], sort=False)
    for place, ((instrument, _), parts) in enumerate(groups, start=1):
        own = answers[(answers["instrument"] == instrument) & answers["item"].isin(parts["item"])]
        if own.empty:
            continue
        named = records(parts)
        name = str(named[0]["text"]).rpartition(" – ")[0] or str(named[0]["text"])
        yield heading(3, Verbatim(name))
        draw: Draw = load(ITEM_KINDS[named[0]["kind"]].figure)
        yield _figure(name, own, named, f"{anchor}-plane-{place}", draw)
        texts = own[own["value_text"].notna()]
        if len(texts):
            yield details("The answers", _texts(texts))


def kinds_with_figures() -> set[str]:
    """The kinds of items that have a figure of their own."""
    return {name for name, kind in ITEM_KINDS.items() if kind.figure}


def _figure(
    name: str, answers: pd.DataFrame, parts: list[dict[str, Any]], prefix: str, draw: Draw
) -> Html:
    """A panel for each model that the answers are about."""
    import matplotlib as mpl  # slow to load

    from labapp.base.figure_style import style
    from labapp.base.report import kit
    from labapp.base.report.drawing import Drawing, shorten_names, svg_of

    abouts = list(answers.groupby(answers["model"].fillna(WHOLE), sort=True))
    with mpl.rc_context(style()):
        figure, axes = kit.panels(len(abouts), 3, 3.2)
        titles = shorten_names([str(about) for about, _ in abouts])
        captions = []
        for ax, title, (_, some) in zip(axes, titles, abouts, strict=True):
            captions.append(draw(ax, some, parts))
            ax.set_title(title)
        return Drawing(svg_of(figure, prefix), f"Answers to {name}").html(captions[0])


def draw_strokes(ax: Axes, answers: pd.DataFrame, parts: Sequence[Mapping[str, Any]]) -> str:
    """All drawings over each other."""
    from labapp.base.figure_style import colours

    paths = answers["value_text"].dropna()
    faint = float(np.clip(3 / max(len(paths), 1), 0.15, 0.9))
    for path in paths:
        for stroke in strokes_of(str(path)):
            x, y = zip(*stroke, strict=True)
            dot = "o" if len(stroke) == 1 else None
            ax.plot(x, y, color=colours().accent, alpha=faint, linewidth=1.6, marker=dot)
    ax.set(xlim=(0, 100), ylim=(100, 0), xticks=[0, 50, 100], yticks=[0, 50, 100])
    ax.set_aspect("equal")
    ax.set_xlabel("% of the width")
    ax.set_ylabel("% of the height")
    return (
        "All strokes of all participants, in percent of the picture's width and height from its "
        "top left corner. The colour is stronger where strokes overlap."
    )


def count_squares(ax: Axes, answers: pd.DataFrame, parts: Sequence[Mapping[str, Any]]) -> str:
    """How often each square of a grid was chosen."""
    from matplotlib.colors import LinearSegmentedColormap

    from labapp.base.figure_style import colours, points_of
    from labapp.base.report.drawing import SAID

    across, up = parts  # the ids of their items end with x and y
    points = int(across["high"])
    keys = ["participant", "session", "stage"]
    wide = answers.pivot_table(index=keys, columns="item", values="value")
    counts = np.zeros((points, points), dtype=int)
    for x, y in wide[[across["item"], up["item"]]].dropna().to_numpy(dtype=int):
        counts[y - 1, x - 1] += 1
    shades = LinearSegmentedColormap.from_list("counts", ["#ffffff00", colours().accent])
    most = max(int(counts.max()), 1)
    ax.imshow(counts, cmap=shades, vmin=0, vmax=1.5 * most, origin="lower",
              extent=(0.5, points + 0.5, 0.5, points + 0.5))  # fmt: skip
    for row, column in zip(*counts.nonzero(), strict=True):
        ax.text(column + 1, row + 1, str(counts[row, column]), ha="center", va="center",
                size=points_of(8), label=SAID)  # fmt: skip
    ax.set(xticks=[1, points], yticks=[1, points])
    for axis, part in ((ax.xaxis, across), (ax.yaxis, up)):
        words = json_value(part["answers"] or "{}")
        axis.set_label_text(f"1 {words['1']} … {points} {words[str(points)]}")
        axis.label.set_label(SAID)
    return "The darker a square, the more often it was chosen; the figures are numbers of answers."


def _texts(answers: pd.DataFrame) -> Html:
    rows = [
        (row["participant"], row["item"], row["model"] or WHOLE, Verbatim(str(row["value_text"])))
        for row in records(answers)
    ]
    return table(("Participant", "Item", "About", "Answer"), rows)
