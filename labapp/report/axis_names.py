"""Names along an axis of a figure: broken into lines that fit, or turned by 90 degrees."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from labapp.figure_style import HAIRLINE, USUAL_FONT, look, points_of
from labapp.report.drawing import shortened

SMALL = 7.5
"""Font size of the names, in points."""
LINE_IN, CLOSE_IN = 0.15, 0.13
"""Height of a line of such text in inches, with and without the space between labels."""
LEAST = 3
"""An axis has room for at least so many models: one or two are not drawn too wide."""
THIN = "\N{THIN SPACE}"


def width_in(text: str) -> float:
    """Width of the longest line of a text in the size that `SMALL` has here, in inches."""
    font = FontProperties(family=[look().font, USUAL_FONT], size=points_of(SMALL))
    lines = text.split("\n")
    return (
        max(text_to_path.get_text_width_height_descent(line, font, False)[0] for line in lines) / 72
    )


def wrap(name: str, room: float) -> str:
    """A name broken into lines of at most `room` inches, after -, _, /, . and spaces. A piece that
    is longer has a line of its own."""
    lines = [""]
    for piece in re.findall(r"[^-_/. \n]*[-_/. \n]?", name):
        if lines[-1] and width_in((lines[-1] + piece).strip()) > room:
            lines.append("")
        lines[-1] += piece.replace("\n", "")
    return "\n".join(line.strip() for line in lines if line.strip())


@dataclass(frozen=True, slots=True)
class AxisNames:
    """Names of models for an axis (`labels`), broken into lines. upright: they are turned by 90
    degrees because they are too wide otherwise."""

    labels: tuple[str, ...]
    upright: bool

    @property
    def lines(self) -> int:
        """Number of lines of the label with most lines."""
        return max(name.count("\n") + 1 for name in self.labels)


def names_of(models: Sequence[str], room: float, *, counted: bool = True) -> AxisNames:
    """Names for an axis with `room` inches for each model. counted: its n stands below it."""
    plain = shortened(models)
    level = [wrap(name, room) for name in plain]
    if all(width_in(name) <= room for name in level):
        return AxisNames(tuple(level), upright=False)
    # As many lines beside each other as there is room for, so that names are as short as can be.
    lines = max(int(room / CLOSE_IN) - counted, 1)
    for length in np.arange(0.6, 6.0, 0.2):
        turned = [wrap(name, float(length)) for name in plain]
        fits = all(width_in(name) <= length for name in turned)
        if fits and max(name.count("\n") + 1 for name in turned) <= lines:
            return AxisNames(tuple(turned), upright=True)
    return AxisNames(tuple(plain), upright=True)


def label_height(models: Sequence[str], room: float, *, counted: bool = True) -> float:
    """Height that the names take below the axis, in inches, with the line for n if `counted`."""
    names = names_of(models, room, counted=counted)
    if names.upright:
        return max(width_in(name) for name in names.labels) + LINE_IN / 2
    return LINE_IN * (names.lines + counted)


def names_below(
    ax: Axes, models: Sequence[str], counts: Sequence[int], edges: Sequence[int], room: float
) -> None:
    """Write the names of the models along the x axis, at 0, 1 …, each with its n.

    edges: positions before which a vertical line is drawn. room: inches for each model.
    """
    fitted = names_of(models, room)
    labels = [f"{name}\nn{THIN}={THIN}{n}" for name, n in zip(fitted.labels, counts, strict=True)]
    below(ax, labels, upright=fitted.upright)
    beyond = 0.6 + max(LEAST - len(models), 0) / 2
    ax.set_xlim(-beyond, len(models) - 1 + beyond)
    ax.tick_params(axis="x", length=0)
    for edge in edges:
        ax.axvline(edge - 0.5, color=HAIRLINE, linewidth=0.8, zorder=0)


def below(ax: Axes, labels: Sequence[str], *, upright: bool) -> None:
    """Set the labels of the x axis, at 0, 1 …; upright ones end at the axis."""
    turned = 90 if upright else 0
    alike = "right" if upright else "center"
    ax.set_xticks(
        range(len(labels)), labels, rotation=turned, multialignment=alike, fontsize=points_of(SMALL)
    )
