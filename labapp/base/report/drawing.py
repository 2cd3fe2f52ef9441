"""Figures as SVG text: for a page, and as files of their own.

Drawn without pyplot: nothing global is touched and any thread may draw. matplotlib is slow to load:
nothing imports this module before a figure is due.

Names along an axis of a figure: broken into lines that fit, or turned by 90 degrees.

The last touches to a figure before it is written: its words in the language of the report, and
labels that fit beside each other in the width it has.
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FixedFormatter, Formatter, FuncFormatter, NullFormatter

from labapp.base.figure_style import FULL_IN, HAIRLINE, USUAL_FONT, look, points_of, style
from labapp.base.report.labels import current_labels
from labapp.base.report.page import ENGLISH, Html, Verbatim, count, current_language, figure, say

DPI = 300
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


def shorten_names(names: Sequence[str]) -> list[str]:
    """Names, or the labels that a study has for them, with an ellipsis in the middle of long ones,
    or behind their beginning and with their place, from 1, if that would make two alike."""
    if (labels := current_labels()) is not None:
        names = [labels.put(name) for name in names]
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
    if (engine := figure.get_layout_engine()) is not None:
        # Otherwise each file draws the figure once more, to lay it out.
        FigureCanvasSVG(figure)
        engine.execute(figure)
        figure.set_layout_engine(None)
    stream = io.StringIO()
    figure.savefig(
        stream, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
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
        return text

    def html(self, prefix: str) -> Html:
        """The figure with its caption, for a page; all ids begin with `prefix`."""
        return figure(with_ids(self.svg, f"{prefix}-{self.name}"), self.label, self.caption)

    @property
    def told(self) -> str:
        """What the figure shows, of whom, and how to read it: the text that stands beside the
        file."""
        return f"**{say(str(self.figure.get_label() or self.label))}.** {say(self.caption)}"

    def save(self, folder: Path | str) -> list[Path]:
        """Save the figure as SVG, PNG and PDF in a folder, which is made if it is missing. Raises
        FileExistsError: files are never overwritten."""
        Path(folder).mkdir(exist_ok=True)
        vector, picture, printed = (
            Path(folder) / f"{self.name}.{ending}" for ending in ("svg", "png", "pdf")
        )
        with vector.open("x", encoding="utf-8") as text:
            text.write(f"{DECLARATION}{self.svg}")
        FigureCanvasAgg(self.figure)
        with mpl.rc_context(style()), picture.open("xb") as file:
            self.figure.savefig(file, format="png", dpi=DPI)
        with (
            mpl.rc_context({**style(), "pdf.fonttype": 42}),
            _fonts_as_drawn(),
            printed.open("xb") as file,
        ):
            undated = {"CreationDate": None, "Producer": None, "Creator": None}
            self.figure.savefig(file, format="pdf", metadata=undated)
        return [vector, picture, printed]


@contextmanager
def _fonts_as_drawn() -> Iterator[None]:
    """Embed fonts without their rules for laying out text, which is laid out already: to read those
    of DejaVu Sans takes two thirds of the time of embedding it."""
    from fontTools.subset import Options  # type: ignore[import-untyped]

    dropped = Options._drop_tables_default
    Options._drop_tables_default = [*dropped, "GDEF", "GPOS", "GSUB"]
    try:
        yield
    finally:
        Options._drop_tables_default = dropped


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
    font, points = look().font, points_of(SMALL)
    return max(_line_width_in(line, font, points) for line in text.split("\n"))


@lru_cache(4096)
def _line_width_in(line: str, font: str, points: float) -> float:
    """Breaking names into lines asks again and again for the same."""
    properties = FontProperties(family=[font, USUAL_FONT], size=points)
    return text_to_path.get_text_width_height_descent(line, properties, False)[0] / 72


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
    plain = shorten_names(models)
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


ROUNDS = 3
"""So often a figure is laid out again after labels were broken into lines."""
SAID = "said"
"""The label of a text that is in the language of the report already."""
INTERVAL = "_interval"
"""The label of intervals: no legend names it."""
GAP_PX = 3.0
"""Between two adjacent labels."""


def finish(figure: Figure) -> None:
    """Translate the words of a figure, and break its labels into lines that fit, once."""
    if getattr(figure, "_labapp_finished", False):
        return
    figure._labapp_finished = True  # type: ignore[attr-defined]
    for ax in figure.findobj(Axes):
        _mark_cut(ax)
    changed = current_language() != ENGLISH or current_labels() is not None
    if changed:
        _translate(figure)
    if figure.get_figwidth() < FULL_IN or changed:
        renderer: RendererBase = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
        for _ in range(ROUNDS):
            figure.draw_without_rendering()
            if not _wrap_overflowing(figure, renderer):
                break


def _mark_cut(ax: Axes) -> None:
    """Draw an arrowhead at the edge of an axis where an interval goes on beyond it."""
    drawn: list[tuple[Any, Any]] = [
        (line.get_xydata(), line.get_color()) for line in ax.lines if line.get_label() == INTERVAL
    ]
    lines: list[Any] = [each for each in ax.collections if each.get_label() == INTERVAL]
    lines += [each for bars in ax.containers for each in getattr(bars, "lines", ((),) * 3)[2]]
    for each in lines:
        drawn += [(ends, each.get_color()[0]) for ends in each.get_segments()]
    left, right = sorted(ax.get_xlim())
    low, high = sorted(ax.get_ylim())
    upside_down = ax.yaxis_inverted()
    for (x, y), colour in ((end, colour) for ends, colour in drawn for end in ends):
        marks = {"<": x < left, ">": x > right, "v": y < low, "^": y > high}
        for mark in (mark for mark, cut in marks.items() if cut):
            if upside_down:
                mark = {"v": "^", "^": "v"}.get(mark, mark)
            at = min(max(x, left), right), min(max(y, low), high)
            ax.plot(*at, mark, color=colour, markersize=5, clip_on=False, label=INTERVAL)


class _Spoken(FuncFormatter):
    """The labels of ticks in the language that is spoken."""

    def __init__(self, inner: Formatter) -> None:
        super().__init__(inner)
        self._inner = inner

    def set_locs(self, locs: list[float]) -> None:
        self._inner.set_locs(locs)
        super().set_locs(locs)

    def set_axis(self, axis: Any) -> None:
        self._inner.set_axis(axis)
        super().set_axis(axis)

    def __call__(self, x: float, pos: int | None = None) -> str:
        return _translate_label(self._inner(x, pos))

    def format_ticks(self, values: list[float]) -> list[str]:
        return [_translate_label(label) for label in self._inner.format_ticks(values)]

    def get_offset(self) -> str:
        return say(str(self._inner.get_offset()))


def _translate_label(label: object) -> str:
    """The label of a tick in the language that is spoken; names stay as they are."""
    return say(label if isinstance(label, Verbatim) else str(label))


def _translate(figure: Figure) -> None:
    ticks: set[Text] = set()
    for ax in figure.findobj(Axes):
        for axis in (ax.xaxis, ax.yaxis):
            ticks.update(axis.get_ticklabels(which="both"))
            formatter = axis.get_major_formatter()
            if isinstance(formatter, FixedFormatter):
                formatter.seq = [_translate_label(label) for label in formatter.seq]
            elif not isinstance(formatter, NullFormatter):
                axis.set_major_formatter(_Spoken(formatter))
    labels = current_labels()
    for text in figure.findobj(Text):
        if text in ticks or not text.get_text():
            continue
        if text.get_label() != SAID:
            text.set_text(say(text.get_text()))
        elif labels is not None:
            text.set_text(labels.put(text.get_text()))


def _wrap_overflowing(figure: Figure, renderer: RendererBase) -> bool:
    """Wrap texts that do not fit into more lines. Returns whether any was wrapped."""
    width = figure.bbox.width
    # The texts next to all panels of the figure, or of a part of it.
    names = ("_suptitle", "_supxlabel")
    texts = [getattr(part, name) for part in (figure, *figure.subfigs) for name in names]
    changed = [_shorten(text, width, renderer) for text in texts if text is not None]
    changed += [_narrow(legend, width, renderer) for legend in figure.findobj(Legend)]
    drawn = [ax for ax in figure.findobj(Axes) if ax.get_visible() and ax.axison]
    boxes = [ax.get_window_extent(renderer) for ax in drawn]
    for ax, box in zip(drawn, boxes, strict=True):
        next_left = min((other.x0 for other in boxes if other.x0 > box.x1), default=width)
        titles = (ax.title, ax._left_title, ax._right_title)  # type: ignore[attr-defined]
        changed += [_shorten(title, next_left - box.x0 - GAP_PX, renderer) for title in titles]
        changed.append(_shorten(ax.xaxis.label, box.width + GAP_PX, renderer))
        changed.append(_shorten(ax.yaxis.label, box.height + GAP_PX, renderer, upright=True))
        changed.append(_ticks(ax, renderer))
    return any(changed)


def _shorten(text: Text, room: float, renderer: RendererBase, *, upright: bool = False) -> bool:
    """Break a text into lines of at most `room` pixels. Whether the line breaks changed."""
    words = text.get_text()
    if not words.strip() or not text.get_visible():
        return False
    box = text.get_window_extent(renderer)
    length = box.height if upright else box.width
    if length <= room:
        return False
    longest = max(len(line) for line in words.split("\n"))
    letters = max(int(longest * room / length), 6)
    lines = [
        part
        for line in words.split("\n")
        for part in textwrap.wrap(line, letters, break_long_words=False) or [""]
    ]
    if "\n".join(lines) == words:
        return False
    text.set_text("\n".join(lines))
    return True


def _narrow(legend: Legend, room: float, renderer: RendererBase) -> bool:
    """Shorter lines for a legend that is wider than the figure."""
    if legend.get_window_extent(renderer).width <= room:
        return False
    broken = [_shorten(text, room * 0.75, renderer) for text in legend.get_texts()]
    return any(broken)


def _ticks(ax: Axes, renderer: RendererBase) -> bool:
    """Leave out labels of numbers that would touch the one before them, and break or turn names."""
    labels = [
        label for label in ax.xaxis.get_ticklabels() if label.get_text() and label.get_visible()
    ]
    boxes = [label.get_window_extent(renderer) for label in labels]
    if all(left.x1 + GAP_PX <= two.x0 for left, two in pairwise(boxes)):
        return False
    if (
        not isinstance(ax.xaxis.get_major_formatter(), FixedFormatter)
        and ax.get_xscale() == "linear"
    ):
        ax.locator_params(axis="x", nbins=max(len(labels) // 2, 2))
        return True
    room = ax.get_window_extent(renderer).width / max(len(labels), 1)
    broken = [_shorten(label, room, renderer) for label in labels]
    if any(broken):
        ax.xaxis.set_major_formatter(
            FixedFormatter([label.get_text() for label in ax.xaxis.get_ticklabels()])
        )
        return True
    turned = any(label.get_rotation() == 90 for label in labels)
    if not turned:
        ax.tick_params(axis="x", labelrotation=90)
    return not turned
