"""Names along an axis of a figure, in lines that fit their place, or turned by a quarter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from labapp.figure_style import HAIRLINE
from labapp.report.drawing import model_names

SMALL = 7.5
"""Points of text below the smallest titles."""
LINE_IN, CLOSE_IN = 0.15, 0.13
"""Height of a line of such text, and without the room between labels."""
LEAST = 3
"""An axis has places for so many models, so that of few none is drawn broad."""
THIN = "\N{THIN SPACE}"


def width_in(text: str) -> float:
    """Inches that the longest line of a small text takes."""
    font = FontProperties(family="DejaVu Sans", size=SMALL)  # comes with matplotlib
    lines = text.split("\n")
    return (
        max(text_to_path.get_text_width_height_descent(line, font, False)[0] for line in lines) / 72
    )


def wrapped(name: str, room: float) -> str:
    """A name in lines that fit so many inches, broken after its -, _, /, . and spaces; a piece that
    is longer has a line of its own."""
    lines = [""]
    for piece in re.findall(r"[^-_/. \n]*[-_/. \n]?", name):
        if lines[-1] and width_in((lines[-1] + piece).strip()) > room:
            lines.append("")
        lines[-1] += piece.replace("\n", "")
    return "\n".join(line.strip() for line in lines if line.strip())


@dataclass(frozen=True, slots=True)
class Names:
    """Names of models for an axis, in lines; upright: turned by a quarter, where they are longer
    than their place is wide."""

    said: tuple[str, ...]
    upright: bool

    @property
    def lines(self) -> int:
        """Of the one that has most."""
        return max(name.count("\n") + 1 for name in self.said)


def names_of(models: Sequence[str], room: float, *, counted: bool = True) -> Names:
    """Names that fit so many inches a model. counted: the n of each stands in a line below it."""
    plain = [name.replace("\n", "") for name in model_names(models)]
    level = [wrapped(name, room) for name in plain]
    if all(width_in(name) <= room for name in level):
        return Names(tuple(level), upright=False)
    # In as many lines beside each other as there is room for, and so no longer than they must be.
    lines = max(int(room / CLOSE_IN) - counted, 1)
    for length in np.arange(0.6, 6.0, 0.2):
        turned = [wrapped(name, float(length)) for name in plain]
        fits = all(width_in(name) <= length for name in turned)
        if fits and max(name.count("\n") + 1 for name in turned) <= lines:
            return Names(tuple(turned), upright=True)
    return Names(tuple(plain), upright=True)


def label_height(models: Sequence[str], room: float, *, counted: bool = True) -> float:
    """Inches below the axis that the names take, with n where they are counted."""
    names = names_of(models, room, counted=counted)
    if names.upright:
        return max(width_in(name) for name in names.said) + LINE_IN / 2
    return LINE_IN * (names.lines + counted)


def names_below(
    ax: Axes, models: Sequence[str], counts: Sequence[int], edges: Sequence[int], room: float
) -> None:
    """The models along the x axis, at 0, 1 …, with the n of each. edges: places before which a line
    stands. room: inches a model."""
    fitted = names_of(models, room)
    labels = [f"{name}\nn{THIN}={THIN}{n}" for name, n in zip(fitted.said, counts, strict=True)]
    below(ax, labels, upright=fitted.upright)
    beyond = 0.6 + max(LEAST - len(models), 0) / 2
    ax.set_xlim(-beyond, len(models) - 1 + beyond)
    ax.tick_params(axis="x", length=0)
    for edge in edges:
        ax.axvline(edge - 0.5, color=HAIRLINE, linewidth=0.8, zorder=0)


def below(ax: Axes, labels: Sequence[str], *, upright: bool) -> None:
    """Labels of the x axis at 0, 1 …; those turned by a quarter begin their lines at the axis."""
    turned = 90 if upright else 0
    alike = "right" if upright else "center"
    ax.set_xticks(range(len(labels)), labels, rotation=turned, multialignment=alike, fontsize=SMALL)
