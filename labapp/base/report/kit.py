"""The figure kit: strips with box, median and mean, intervals, heat maps, small multiples.

All figures of the report, of plans and of scores are drawn with these functions, so that the same
thing looks the same everywhere: ink on white, and no colour carries meaning alone. They do without
pyplot: nothing global is changed, and any thread may draw.

Small multiples of strips: a panel for each measure, with a strip for each model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator, StrMethodFormatter
from numpy.typing import ArrayLike, NDArray

from labapp.base.figure_style import (
    ACCENT,
    HAIRLINE,
    INK,
    SECONDARY,
    figure_width,
    panels_across,
    points_of,
    style,
)
from labapp.base.report import drawing
from labapp.base.report.drawing import INTERVAL, Drawing, svg_of

Values = NDArray[np.float64]

FACE = "#EDF0F3"
"""Fill colour of boxes and bars on which points are drawn."""
DASHED, SHORT_DASHED = (0, (5, 3)), (0, (4, 2))
LINES = (("-", "o"), ("--", "s"), (":", "^"), ("-.", "D"), ("-", "v"), ("--", "P"), (":", "X"))
"""Line style and marker of the first, second … line in a panel, distinct also in grey."""
BOX_FROM = 5
"""Least number of values for which a box is drawn; of fewer, the points say more."""
POINTS_UP_TO, LINES_UP_TO = 60, 30
"""Most values of a strip that are drawn as points, and most participants whose points are joined:
beyond that they hide the box and cannot be told apart. Of more, the box says it with whiskers to
the 5th and 95th percentile."""
STEPS_UP_TO = 11
"""So many different values, each had by two people in the mean, are steps, which are counted."""
THICK = 0.11
"""A bar of such a step is at most as thick as this share of the scale; an axis goes on for 0.06 of
it beyond either end."""
STEPS_READ = (
    "Scores that come in steps are counted: the width of a bar, and the number in it, show how "
    "many people have this value."
)
STRIPS_READ = (
    f"Thick line: median; diamond: mean; box: quartiles (of {BOX_FROM} values or more), with "
    f"whiskers to the furthest values within 1.5 times its height. With more than {POINTS_UP_TO} "
    "values, points are not drawn, and whiskers end at the 5th and 95th percentiles. Lines join "
    f"the points of up to {LINES_UP_TO} participants. {STEPS_READ}"
)
"""How to read a strip with a box, for captions."""
LYING_READ = (
    f"Thick line: median; diamond: mean; box: quartiles (of {BOX_FROM} answers or more), with "
    f"lines to the 5th and 95th percentiles; with more than {POINTS_UP_TO} answers, points are "
    "not drawn."
)
"""How to read a strip that lies, for captions."""
_BOX: dict[str, Any] = {
    "patch_artist": True,
    "manage_ticks": False,
    "showfliers": False,  # they are among the points
    "boxprops": {"facecolor": FACE, "edgecolor": SECONDARY, "linewidth": 0.8},
    "whiskerprops": {"color": SECONDARY, "linewidth": 0.8},
    "capprops": {"color": SECONDARY, "linewidth": 0.8},
    "medianprops": {"linewidth": 0.0},
    "zorder": 1,
}
_BAR: dict[str, Any] = {"color": FACE, "edgecolor": SECONDARY, "linewidth": 0.8, "zorder": 1}


def panels(
    count: int,
    across: int,
    height_in: float | Sequence[float],
    *,
    width_in: float | None = None,
    more_in: float = 0.0,
    between: float | None = None,
    **shared: Any,
) -> tuple[Figure, list[Axes]]:
    """A figure with panels in rows.

    Parameters
    ----------
    count, across : number of panels, and of panels in a row of a figure of 10 inches; a narrower
        one has fewer in a row. Unused places of the grid are hidden.
    height_in : height of all rows, or of each row with so many panels, in inches.
    width_in : width of a figure that has its own; it has as many panels in a row as asked.
    more_in : height of the figure besides that of its rows, in inches.
    between : space between rows, as a share of a panel's height.
    shared
        `sharex`, `sharey` and other keywords of `Figure.subplots`; `width_ratios` are of a figure
        with all panels in a row.
    """
    columns = across if width_in is not None else panels_across(across)
    rows = -(-count // columns)
    if isinstance(height_in, float | int):
        heights = [float(height_in)] * rows
    else:
        of_panels = [height_in[place // across] for place in range(count)]
        heights = [max(of_panels[row * columns : (row + 1) * columns]) for row in range(rows)]
    figure = Figure(
        figsize=(width_in or figure_width(), sum(heights) + more_in),
        layout=ConstrainedLayoutEngine(hspace=between),
    )
    if columns != across:
        shared.pop("width_ratios", None)
    every = figure.subplots(rows, columns, squeeze=False, height_ratios=heights, **shared)
    return figure, hide_unused(list(every.flat), count)


def hide_unused(axes: Sequence[Axes], count: int) -> list[Axes]:
    """The first `count` axes of a grid; the others are hidden."""
    for ax in axes[count:]:
        ax.set_visible(False)
    return list(axes[:count])


def jitter(count: int, width: float) -> Values:
    """Evenly spaced offsets from -width to width, so that points of equal values do not overlap."""
    return np.linspace(-width, width, count) if count > 1 else np.zeros(count)


def grid(ax: Axes, axis: str = "y") -> None:
    """Draw grid lines behind the marks. axis: x, y or both."""
    ax.grid(axis=axis, color=HAIRLINE, linewidth=0.6)  # type: ignore[arg-type]
    ax.set_axisbelow(True)


def columns(ax: Axes, names: Sequence[str], *, beyond: float = 0.6, **style: Any) -> None:
    """Write names along the x axis, at 0, 1 …, without ticks."""
    ax.set_xticks(range(len(names)), names, **style)
    ax.set_xlim(-beyond, len(names) - 1 + beyond)
    ax.tick_params(axis="x", length=0)


def rows(ax: Axes, names: Sequence[str], *, beyond: float = 0.5, above: float = 0.5) -> None:
    """Write names along the y axis, at 0, 1 …, the first on top, and draw vertical grid lines."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 1 + beyond, -above)
    ax.tick_params(axis="y", length=0)
    grid(ax, "x")


def points(ax: Axes, x: ArrayLike, y: ArrayLike, mark: str = "o", **style: Any) -> None:
    """Draw a point for each value."""
    look = {"color": ACCENT, "markersize": 4, "markeredgecolor": "white", "markeredgewidth": 0.5}
    ax.plot(np.asarray(x), np.asarray(y), mark, **{**look, "linestyle": "", **style})


def cloud(
    ax: Axes, place: float, values: Values, width: float, *, lying: bool = False, **style: Any
) -> None:
    """Draw a point for each value, spread over a width to both sides of a place. Of more than
    `POINTS_UP_TO` there is one for each distinct value, its area by how many have it. lying: along
    a row."""
    drawn: list[tuple[ArrayLike, ArrayLike, float]]
    if values.size <= POINTS_UP_TO:
        drawn = [(values, place + jitter(values.size, width), 1.0)]
    else:
        steps, counts = np.unique(np.round(values, 9), return_counts=True)
        few = steps.size <= POINTS_UP_TO  # else they would be points that lie on each other, too
        sizes = 2.5 * np.sqrt(counts / counts.max())
        drawn = [(step, place, float(size)) for step, size in zip(steps, sizes, strict=True) if few]
    for value, beside, size in drawn:
        x, y = (value, beside) if lying else (beside, value)
        points(ax, x, y, markersize=4 * size, **style)


def diamond(ax: Axes, x: float, y: float, **style: Any) -> None:
    """Draw a mean as a white diamond."""
    look = {"markersize": 4.5, "markerfacecolor": "white", "markeredgecolor": INK, "zorder": 5}
    ax.plot(x, y, "D", **{**look, **style})


def bar(ax: Axes, place: float, top: float, bottom: float = 0.0) -> None:
    """Draw a pale bar, on which points are visible."""
    ax.bar(place, top - bottom, bottom=bottom, width=0.62, **_BAR)


def median(ax: Axes, place: float, values: ArrayLike, half: float, **style: Any) -> None:
    """Draw the median of values as a thick line, `half` to both sides of its place."""
    middle = float(np.median(np.asarray(values)))
    look = {"color": INK, "linewidth": 1.8, "zorder": 3}
    ax.hlines(middle, place - half, place + half, **{**look, **style})


def join_participants(ax: Axes, values: Values, shifts: Values) -> None:
    """Draw a line for each participant (a row of values) through all strips with a value."""
    places = np.arange(values.shape[1], dtype=np.float64)
    paths = [
        np.column_stack([places[known] + shift, row[known]])
        for row, shift in zip(values, shifts, strict=True)
        if (known := np.isfinite(row)).any()
    ]
    ax.add_collection(LineCollection(paths, colors=HAIRLINE, linewidths=0.8, zorder=2))


def strip(
    ax: Axes, place: float, values: Values, shifts: Values | None = None, *, half: float = 0.27
) -> None:
    """Draw the values of a group: points, their median, the mean beside them, and a box if there
    are at least `BOX_FROM`. shifts: of each point from the place; half: half the box's width."""
    if values.size == 0:
        return
    many = values.size > POINTS_UP_TO
    if values.size >= BOX_FROM:
        ends: Any = (5, 95) if many else 1.5
        ax.boxplot([values], positions=[place], widths=2 * half, whis=ends, **_BOX)
    if not many:
        beside = jitter(values.size, 0.63 * half) if shifts is None else shifts
        points(ax, place + beside, values, markersize=3.8, zorder=4, clip_on=False)
    median(ax, place, values, half)
    diamond(ax, place + half + 0.09, float(values.mean()), clip_on=False)


def lying_strip(ax: Axes, row: float, values: Values) -> None:
    """Draw the values of a group along a row: points, their median and mean, and a box if there are
    at least `BOX_FROM`."""
    if values.size == 0:
        return
    if values.size >= BOX_FROM:
        low, first, third, high = np.percentile(values, (5, 25, 75, 95))
        ax.hlines(row, low, high, color=SECONDARY, linewidth=0.8, zorder=1)
        ax.barh(row, third - first, 0.5, first, **_BAR)
    if values.size <= POINTS_UP_TO:
        beside = row + jitter(values.size, 0.2)
        points(ax, values, beside, markersize=3.8, zorder=4, clip_on=False)
    middle = float(np.median(values))
    ax.vlines(middle, row - 0.25, row + 0.25, color=INK, linewidth=1.8, zorder=3)
    diamond(ax, float(values.mean()), row + 0.34, clip_on=False)


def strips(
    ax: Axes, values: Values, *, joined: bool, limits: tuple[float, float] | None = None
) -> list[int]:
    """Draw a strip for each column of values (NaN if missing) and return the n of each.

    joined: each row is a participant, whose points are joined by a line. limits: least and
    greatest possible value; the bar of neither reaches the names below the axis.
    """
    steps = steps_of(values)
    if steps.size:
        most = np.inf if limits is None else THICK * (limits[1] - limits[0])
        return [
            draw_counts(ax, float(place), column, steps, most=most)
            for place, column in enumerate(values.T)
        ]
    shifts = jitter(len(values), 0.17)
    if joined and len(values) <= LINES_UP_TO:
        join_participants(ax, values, shifts)
    counts = []
    for place, column in enumerate(values.T):
        known = np.isfinite(column)
        # Strips that are not joined have participants of their own, spread over all the width.
        strip(ax, float(place), column[known], shifts[known] if joined else None)
        counts.append(int(known.sum()))
    return counts


def steps_of(values: Values) -> Values:
    """The steps that values are on, if they are on few and most are had by several people; else
    nothing. values: of shape (participants, strips), NaN if missing."""
    known = np.round(values[np.isfinite(values)], 9)
    steps = np.unique(known)
    widest = int(np.isfinite(values).sum(axis=0).max(initial=0))
    if widest < BOX_FROM or steps.size > STEPS_UP_TO or known.size < 2 * steps.size:
        return np.empty(0)
    if steps.size > 1 and np.diff(steps).min() < 0.06 * np.ptp(np.append(steps, 0.0)):
        return np.empty(0)  # the numbers of two would lie on each other
    return steps


def draw_counts(
    ax: Axes,
    place: float,
    values: Values,
    steps: Values,
    *,
    half: float = 0.36,
    most: float = np.inf,
) -> int:
    """Draw how many values are on each step: bars with their numbers, and the mean beside
    them. Returns the n. half: half the width of the bar of all values; most: greatest thickness of
    a bar, in the unit of the values."""
    known = np.round(values[np.isfinite(values)], 9)
    if known.size == 0:
        return 0
    thick = 0.62 * (
        float(np.diff(steps).min()) if steps.size > 1 else abs(float(steps[0])) / 8 or 0.1
    )
    thick = min(thick, most)
    for step in steps:
        if n := int((known == step).sum()):
            width = 2 * half * n / known.size
            ax.barh(step, width, thick, place - width / 2, clip_on=False, **_BAR)
            _write(ax, place, float(step), f"{n:,}", INK)
    diamond(ax, place + half + 0.07, float(known.mean()), clip_on=False)
    return int(known.size)


def horizontal_interval(ax: Axes, ends: Sequence[float], place: float, **style: Any) -> None:
    """Draw an interval along a row, from one of the two ends to the other."""
    look: dict[str, Any] = {"color": INK, "linewidth": 1.4, "zorder": 2, "label": INTERVAL}
    ax.plot(ends, [place] * 2, **{**look, **style})


def vertical_interval(
    ax: Axes, x: ArrayLike, low: ArrayLike, high: ArrayLike, colour: str = INK
) -> None:
    """Draw an interval at each x at which both ends are finite."""
    at, bottom, top = (np.asarray(end, float) for end in (x, low, high))
    known = np.isfinite(bottom) & np.isfinite(top)
    look: dict[str, Any] = {"color": colour, "linewidth": 1.2, "zorder": 2, "label": INTERVAL}
    ax.vlines(at[known], bottom[known], top[known], **look)


def label_line(ax: Axes, x: float, words: str, *, right: bool = True) -> None:
    """Write a text beside a vertical line, at its top."""
    ax.annotate(
        words,
        (x, 1.0),
        (4 if right else -4, -2),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="left" if right else "right",
        va="top",
        fontsize=points_of(8),
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.8},
    )


DARK = 0.21
"""Luminance below which a colour takes white text, which is read more easily on it than ink."""


def heat_map(
    ax: Axes,
    matrix: Values,
    colours: Colormap,
    limits: tuple[float, float],
    number: Callable[[float], str] | None,
    below: Callable[[int, int], str] = lambda row, column: "",
) -> ScalarMappable:
    """Draw a coloured cell for each number, the first row on top.

    Parameters
    ----------
    matrix : shape (rows, columns), NaN if a number is missing, shown as a dash.
    limits : the numbers that have the first and the last colour.
    number : formats a number for its cell; with None, cells have no text.
    below : the text below the number of a row and column; empty for none.
    """
    sides = [np.arange(length + 1) - 0.5 for length in matrix.shape]
    # Not imshow, whose cells would be a bitmap in a page.
    drawn = ax.pcolormesh(
        sides[1], sides[0], np.ma.masked_invalid(matrix), cmap=colours, norm=Normalize(*limits)
    )
    ax.invert_yaxis()
    ax.tick_params(length=0)
    for row, column in np.ndindex(matrix.shape) if number is not None else ():
        value, more = float(matrix[row, column]), below(row, column)
        if number is None or not np.isfinite(value):
            _write(ax, column, row, "–", SECONDARY)
            continue
        ink = "white" if _luminance(drawn.to_rgba(np.array([value]))[0]) < DARK else INK
        _write(ax, column, row - (0.14 if more else 0.0), number(value), ink)
        if more:
            _write(ax, column, row + 0.34, more, ink)
    return drawn


def _write(ax: Axes, x: float, y: float, words: str, colour: str) -> None:
    ax.text(x, y, words, ha="center", va="center", color=colour, fontsize=points_of(7))


def _luminance(colour: Any) -> float:
    """Relative luminance, 0 black to 1 white (WCAG 2.1)."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3]
    ]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


BESIDE_IN = 0.7
"""Left of an axis, for its numbers and unit."""
LEAST_IN, DRAWN_IN = 2.3, 1.75
"""Height of a panel with short names below it, and of what is above the names of any."""
READ = "Each point is a participant; grey lines join one participant's points. " + STRIPS_READ


@dataclass(frozen=True, eq=False)
class StripPanel:
    """What a panel shows.

    Attributes
    ----------
    title, unit : what was measured, and its unit.
    values : shape (participants, models), NaN if a value is missing.
    limits : least and greatest possible value; None if there are no limits.
    models : ids of the strips, if it has not those of all panels.
    dataset : their data set, if that is what parts them from those of other panels.
    """

    title: str
    unit: str
    values: Values
    limits: tuple[float, float] | None = None
    models: Sequence[str] = ()
    dataset: str = ""


def strip_panels(
    measured: Sequence[StripPanel], models: Sequence[str], name: str, label: str, across: int
) -> Drawing:
    """Draw a panel for each measure.

    models: ids of the strips; name: prefix of the ids in the page; across: panels in a row.
    """
    with mpl.rc_context(style()):
        wide = figure_width() / panels_across(across) - BESIDE_IN
        named = [panel.models or models for panel in measured]
        rooms = [wide / (max(len(own), drawing.LEAST) + 0.2) for own in named]
        below = max(map(drawing.label_height, named, rooms), default=0.0)
        figure, axes = panels(len(measured), across, max(LEAST_IN, DRAWN_IN + below))
        for ax, panel, own, room in zip(axes, measured, named, rooms, strict=True):
            counts = strips(ax, panel.values, joined=True, limits=panel.limits)
            drawing.names_below(ax, own, counts, (), room)
            ax.set_title(panel.title)
            ax.set_ylabel(panel.unit)
            ax.set_xlabel(panel.dataset)
            grid(ax)
            scale(ax, panel)
        return Drawing(svg_of(figure, name), f"{label}: {', '.join(models)}")


def scale(ax: Axes, panel: StripPanel) -> None:
    """Set the y axis to the panel's limits, or from 0 to its highest value, with a margin."""
    if panel.limits is not None:
        low, high = panel.limits
        margin = 0.06 * (high - low)
        ax.set_ylim(low - margin, high + margin)
        ax.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=7))
        return
    known = panel.values[np.isfinite(panel.values)]
    highest = float(known.max()) if known.size else 0.0
    ax.set_ylim(0, 1.06 * highest or 1.0)
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
