"""What the figures of the unmasking study share: an axis of percentages shown, and a line a method.

Methods differ by line and mark as well as by colour, and their lightness differs: they can be told
apart in grey print.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator
from numpy.typing import ArrayLike, NDArray

from labapp.figure_style import ACCENT, INK, SECONDARY, SERIES, panels_across, points_of
from labapp.report import kit

SHOWN = "pixels shown, % (logarithmic)"
APART = 0.018
"""Between the marks of two methods at one percentage, as a difference of natural logarithms."""
LABELLED_APART = 0.075
"""Two percentages this close, as a share of the axis, are ticks of which the second has no
number."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a line is drawn. hollow: marks in white, with the colour as their edge."""

    colour: str
    line: str
    mark: str
    hollow: bool = False


LOOKS = (
    Look(INK, "-", "o"),
    Look(ACCENT, "--", "s"),
    Look(SERIES[0], ":", "^"),
    Look(SECONDARY, "-.", "D", hollow=True),
    Look(SERIES[1], "-", "v", hollow=True),
    Look(SERIES[2], "--", "P"),
    Look(SERIES[3], ":", "X"),
)
"""By place of the method in the stimulus set; with more than seven they begin again."""

HOLLOW = Look(ACCENT, "", "s", hollow=True)
"""The model's marks beside those of people."""


def look(place: int) -> Look:
    """Of the method at a place, from 0."""
    return LOOKS[place % len(LOOKS)]


def percents(ax: Axes, shown: Sequence[float], *, label: bool = True) -> None:
    """Make the x axis logarithmic, with the percentages of the study as its ticks."""
    ordered = sorted(set(shown))
    ax.set_xscale("log")
    if not ordered:
        return
    low, high = ordered[0] / 1.12, ordered[-1] * 1.12
    ax.set_xlim(low, high)
    ax.xaxis.set_major_locator(FixedLocator(ordered))
    ax.xaxis.set_major_formatter(FixedFormatter(_spaced(ordered, float(np.log(high / low)))))
    ax.xaxis.set_minor_locator(NullLocator())
    if label:
        ax.set_xlabel(SHOWN)


def _spaced(ordered: Sequence[float], width: float) -> list[str]:
    """Numbers of the ticks, left out where they would touch the one before."""
    result: list[str] = []
    last = -np.inf
    for value in ordered:
        at = float(np.log(value)) / width
        fits = at - last >= LABELLED_APART * (1 + 0.35 * (len(f"{value:g}") - 1)) / 1.35
        result.append(f"{value:g}" if fits else "")
        last = at if fits else last
    return result


def line(
    ax: Axes,
    look: Look,
    x: ArrayLike,
    y: ArrayLike,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    *,
    label: str = "",
    place: float = 0.0,
    join: bool = True,
) -> None:
    """A line with its marks and, where low and high are given, an interval at each.

    place: how many marks to the right, so that the intervals of methods do not lie over each
    other. join: whether marks are joined. Values that are missing leave a gap.
    """
    at = np.asarray(x, float) * np.exp(place * APART)
    values = np.asarray(y, float)
    if low is not None and high is not None:
        kit.vertical_interval(ax, at, low, high, look.colour)
    style: dict[str, Any] = {
        "marker": look.mark,
        "color": look.colour,
        "linewidth": 1.5,
        "markersize": 5,
        "markerfacecolor": "white" if look.hollow else look.colour,
        "markeredgecolor": look.colour,
        "zorder": 3,
    }
    clip = not np.isfinite(values).any()  # what shows nothing must not stand beyond the axes
    ax.plot(at, values, ls=look.line if join else "", clip_on=clip, **style)
    # The legend shows the line in any case: a fitted one may be drawn instead.
    ax.plot([], [], ls=look.line, label=label or None, **style)


def bar_edges(shown: Sequence[float], share: float) -> tuple[float, float]:
    """Factors from a percentage to the left and right edge of its bar. share: of the least distance
    between two percentages that a bar is wide."""
    steps = np.diff(np.log(sorted(shown)))
    half = share * (float(steps.min()) if steps.size else 0.3) / 2
    return float(np.exp(-half)), float(np.exp(half))


def marks(ax: Axes, look: Look, x: ArrayLike, y: ArrayLike, label: str, *, size: float = 6) -> None:
    """Marks that no line joins."""
    at, values = np.asarray(x, float), np.asarray(y, float)
    ax.plot(
        at,
        values,
        look.mark,
        color=look.colour,
        markersize=size,
        markerfacecolor="white" if look.hollow else look.colour,
        markeredgecolor=look.colour,
        label=label or None,
        zorder=3,
        clip_on=not np.isfinite(values).any(),
    )


def curve(ax: Axes, look: Look, x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    """A fitted line without marks."""
    ax.plot(x, y, ls=look.line, color=look.colour, linewidth=1.5, zorder=2)


def centred(count: int) -> NDArray[np.float64]:
    """Places of so many marks around the middle: -1, 0, 1 of three."""
    return np.arange(count, dtype=np.float64) - (count - 1) / 2


def share(ax: Axes, label: str, *, guess: float | None = None, top: int = 100) -> None:
    """Make the y axis one of percent, from 0 to `top`; guess: drawn as a dashed line."""
    ax.set_ylim(-0.02 * top, 1.02 * top)
    ax.set_yticks(range(0, top + 1, 20 if top > 40 else 10))
    ax.set_ylabel(label)
    kit.grid(ax)
    if guess is not None:
        ax.axhline(guess, color=INK, linewidth=1.0, ls=kit.DASHED, zorder=1)


def legend(figure: Figure, ax: Axes) -> None:
    """One legend below all panels, of what the first of them shows."""
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        figure.legend(
            handles,
            labels,
            loc="outside lower center",
            ncols=min(len(labels), panels_across(4)),
            frameon=False,
            fontsize=points_of(8.5),
            handlelength=3.2,
        )


def folded(name: str) -> str:
    """A name with a line a word, for narrow places."""
    return "\n".join(textwrap.wrap(name, 12, break_long_words=False))


def nothing(ax: Axes, text: str) -> None:
    """A panel without values says why."""
    ax.text(
        0.5,
        0.5,
        text,
        transform=ax.transAxes,
        ha="center",
        va="center",
        color=SECONDARY,
        fontsize=points_of(9),
        wrap=True,
    )
