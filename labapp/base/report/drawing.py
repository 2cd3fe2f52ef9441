"""Figures as SVG text: for a page, and as files of their own.

Drawn without pyplot: nothing global is touched and any thread may draw. matplotlib is slow to load:
nothing imports this module before a figure is due.

Names along an axis of a figure: broken into lines that fit, or turned by 90 degrees.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from labapp.base.figure_style import HAIRLINE, USUAL_FONT, look, points_of, style
from labapp.base.report.finishing import finish
from labapp.base.report.page import Html, count, figure, say

DPI = 200
DECLARATION = '<?xml version="1.0" encoding="utf-8"?>\n'


@dataclass(frozen=True, slots=True)
class Drawing:
    """An inline `<svg>` element (`svg`) and what it shows, in words (`label`)."""

    svg: str
    label: str

    def html(self, caption: str, more: str = "") -> Html:
        """The drawing with a caption, for a page. more: added to the label that screen readers
        read."""
        return figure(self.svg, f"{self.label}{more}", caption)


LONGEST_NAMES = (36, 48, 64)
"""Letters of a name beside an axis: a longer one would leave the figure no room."""


def shortened(names: Sequence[str]) -> list[str]:
    """Names with an ellipsis in the middle of long ones, or behind their beginning and with their
    place, from 1, where that would make two alike."""
    for most in LONGEST_NAMES:
        short = [
            name if len(name) <= most else f"{name[: most // 2]}…{name[-(most // 2 - 1) :]}"
            for name in names
        ]
        if len(set(short)) == len(set(names)):
            return short
    most = LONGEST_NAMES[0]
    return [
        name if len(name) <= most else f"{name[: most - 4]}… {place}"
        for place, name in enumerate(names, start=1)
    ]


def svg_of(figure: Figure, name: str) -> str:
    """The figure as an `<svg>` element for a page with several: its ids begin with `name`."""
    return with_ids(svg_text(figure), name)


def svg_text(figure: Figure) -> str:
    """The figure as an `<svg>` element."""
    finish(figure)
    stream = io.StringIO()
    figure.savefig(
        stream,
        format="svg",
        metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
    )
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"(\d\.\d\d)\d+", r"\1", text)  # a hundredth of a point is fine enough
    return re.sub(r"\n\s+", "\n", text)


def with_ids(text: str, name: str) -> str:
    """An `<svg>` element, all of whose ids begin with `name`."""
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'href="#', f'href="#{name}-', text)
    return re.sub(r"url\(#", f"url(#{name}-", text)


@dataclass(frozen=True)
class ReportFigure:
    """A figure of the report, which is also saved as files of its own.

    Attributes
    ----------
    name : name of the files, without ending.
    label : what the figure shows, in words.
    caption : how to read it.
    """

    name: str
    figure: Figure
    label: str
    caption: str

    @property
    def svg(self) -> str:
        """The figure as an `<svg>` element, drawn once for page and file, whatever each calls
        it."""
        text: str | None = getattr(self.figure, "_labapp_svg", None)
        if text is None:
            with mpl.rc_context(style()):
                text = svg_text(self.figure)
            self.figure._labapp_svg = text  # type: ignore[attr-defined]
            self.figure.set_layout_engine("none")  # laid out already; a second time takes as long
        return text

    def html(self, prefix: str) -> Html:
        """The figure with its caption, for a page; all ids begin with `prefix`."""
        return figure(with_ids(self.svg, f"{prefix}-{self.name}"), self.label, self.caption)

    @property
    def told(self) -> str:
        """What the figure shows, of whom, and how to read it: the text that stands beside the
        file."""
        return f"**{say(str(self.figure.get_label() or self.label))}.** {say(self.caption)}"

    def save(self, folder: Path) -> list[Path]:
        """Save the figure as SVG, PNG and PDF. Raises FileExistsError: files are never
        overwritten."""
        vector, picture, printed = (
            folder / f"{self.name}.{ending}" for ending in ("svg", "png", "pdf")
        )
        with vector.open("x", encoding="utf-8") as text:
            text.write(f"{DECLARATION}{self.svg}")
        FigureCanvasAgg(self.figure)
        with mpl.rc_context(style()), picture.open("xb") as file:
            self.figure.savefig(file, format="png", dpi=DPI)
        with mpl.rc_context({**style(), "pdf.fonttype": 42}), printed.open("xb") as file:
            undated = {"CreationDate": None, "Producer": None, "Creator": None}
            self.figure.savefig(file, format="pdf", metadata=undated)
        return [vector, picture, printed]


def add_heading(figure: Figure, label: str, studies: str, people: int, programs: int) -> None:
    """Tell with a figure what it shows and how many participants there are, for its caption.
    Nothing of it is drawn. programs: how many of the participants are simulated."""
    simulated = f", {'all' if programs == people else programs} simulated" if programs else ""
    figure.set_label(f"{label} · {studies}: {count(people, 'participant')}{simulated}")


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
