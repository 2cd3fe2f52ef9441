"""The last touches to a figure before it is written: its words in the language of the report, and
labels that fit beside each other in the width it has."""

from __future__ import annotations

import textwrap
from itertools import pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter, Formatter, FuncFormatter, NullFormatter

from labapp.base.figure_style import FULL_IN
from labapp.base.report.page import ENGLISH, Verbatim, say, spoken

ROUNDS = 3
"""So often a figure is laid out again after labels were broken into lines."""
SAID = "said"
"""The label of a text that is in the language of the report already."""
INTERVAL = "_interval"
"""The label of intervals: no legend names it."""
GAP_PX = 3.0
"""Between two labels that stand beside each other."""


def finish(figure: Figure) -> None:
    """Translate the words of a figure, and break its labels into lines that fit, once."""
    if getattr(figure, "_labapp_finished", False):
        return
    figure._labapp_finished = True  # type: ignore[attr-defined]
    for ax in figure.findobj(Axes):
        _mark_cut(ax)
    if spoken() != ENGLISH:
        _translate(figure)
    if figure.get_figwidth() < FULL_IN or spoken() != ENGLISH:
        renderer: RendererBase = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
        for _ in range(ROUNDS):
            figure.draw_without_rendering()
            if not _broken(figure, renderer):
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
        return _spoken(self._inner(x, pos))

    def format_ticks(self, values: list[float]) -> list[str]:
        return [_spoken(label) for label in self._inner.format_ticks(values)]

    def get_offset(self) -> str:
        return say(str(self._inner.get_offset()))


def _spoken(label: object) -> str:
    """The label of a tick in the language that is spoken; names stay as they are."""
    return label if isinstance(label, Verbatim) else say(str(label))


def _translate(figure: Figure) -> None:
    ticks: set[Text] = set()
    for ax in figure.findobj(Axes):
        for axis in (ax.xaxis, ax.yaxis):
            ticks.update(axis.get_ticklabels(which="both"))
            formatter = axis.get_major_formatter()
            if isinstance(formatter, FixedFormatter):
                formatter.seq = [_spoken(label) for label in formatter.seq]
            elif not isinstance(formatter, NullFormatter):
                axis.set_major_formatter(_Spoken(formatter))
    for text in figure.findobj(Text):
        if text not in ticks and text.get_text() and text.get_label() != SAID:
            text.set_text(say(text.get_text()))


def _broken(figure: Figure, renderer: RendererBase) -> bool:
    """Break what does not fit into more lines. Whether anything was."""
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
    """Break a text into lines of at most `room` pixels. Whether it was broken anew."""
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
