"""What the timeline is made of, as items for a pyqtgraph plot: envelope, bars, marks, titles.

Heights are shares of the plot, times seconds. What lies behind now is kept by Qt as a picture until
it changes: drawing an hour of it takes milliseconds.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from math import nan

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainterPath

from labapp.clock import NS
from labapp.ui import theme
from labapp.ui.moderator.state.timeline import Block, Hearing, Mark
from labapp.ui.theme import Palette
from labapp.ui.widgets.painting import brush, color, font, metrics

HEADS, VOICE, STRIP, PARTS, TRIALS = 0.94, (0.36, 0.88), (0.315, 0.335), (0.1, 0.3), (0.0, 0.08)
"""Where the rows are."""

BIN_NS = 100_000_000
TAIL_BINS = 300
"""So much of the envelope is drawn anew as it grows."""
TITLE_ROOM = 10
STATE_COLOURS = {"silent": "warn", "zeros": "alarm", "clipping": "alarm"}
REACHED = ("solved", "marked")
TRIAL_COLOURS = {"solved": "good", "marked": "good", "skipped": "warn"}
KEPT = pg.GraphicsObject.CacheMode.DeviceCoordinateCache

Bar = tuple[int, int, tuple[float, float], str]
"""Start and end in ns, from and to which height, colour."""


def _two_bars() -> QPainterPath:
    path = QPainterPath()
    path.addRect(QRectF(-0.45, -0.5, 0.3, 1.0))
    path.addRect(QRectF(0.15, -0.5, 0.3, 1.0))
    return path


MARKS = {
    "note": ("o", "accent"),
    "flag": ("t2", "warn"),
    "prompt": ("s", "good"),
    "question": ("p", "accent"),
    "answer": ("h", "good"),
    "deviation": ("d", "accent"),
    "alarm": ("t1", "alarm"),
    "pause": (_two_bars(), "secondary"),
    "gap": (_two_bars(), "secondary"),
}
"""Shape and colour of each kind of mark."""


class Envelope:
    """The voice's peaks in bins of 0.1 s, with nothing where nothing was recorded. The past is one
    item, the newest bins another."""

    def __init__(self, box: pg.ViewBox, palette: Palette) -> None:
        self._peaks = array("f")
        self._settled = 0
        self.past, self.newest = (
            pg.PlotDataItem(
                pen=pg.mkPen(_mixed(palette.good, palette.card, 0.75)),
                autoDownsample=True,
                downsampleMethod="peak",
                clipToView=True,
                connect="finite",
            )
            for _ in range(2)
        )
        self.past.curve.setCacheMode(KEPT)
        box.addItem(self.past)
        box.addItem(self.newest)

    def add(self, t_ns: int, peak: float) -> None:
        """Take in a peak of 0 to 1 at a working time."""
        index = t_ns // BIN_NS
        if index >= len(self._peaks):
            self._peaks.extend([nan] * (index + 1 - len(self._peaks)))
        self._peaks[index] = float(np.fmax(self._peaks[index], peak))
        self._settled = min(self._settled, index)

    def show(self) -> None:
        """Draw what came since the last call."""
        if not self._peaks:
            return
        if len(self._peaks) - self._settled > TAIL_BINS:
            self._settled = len(self._peaks) - 1
            self.past.setData(*self._line(0, self._settled))
        self.newest.setData(*self._line(max(0, self._settled - 1), len(self._peaks)))

    def _line(self, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
        """Bins as a line that swings to both sides of the middle."""
        bins = np.array(self._peaks[first:last], dtype=float)
        # Softer than decibel, so that loud and quiet words differ to the eye.
        tall = np.clip(bins**0.6, 0.005, 1.0) * (VOICE[1] - VOICE[0]) / 2
        tall[first % 2 :: 2] *= -1
        return np.arange(first, last) * (BIN_NS / NS), tall + sum(VOICE) / 2


class Bars(pg.BarGraphItem):  # type: ignore[misc]
    """Blocks and strips."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(x0=[], x1=[], y0=[], y1=[], pen=pg.mkPen(palette.card))
        self._palette = palette

    def show_bars(self, bars: Iterable[Bar]) -> None:
        rows = list(bars)
        self.setOpts(
            x0=[start / NS for start, _, _, _ in rows],
            x1=[end / NS for _, end, _, _ in rows],
            y0=[low for _, _, (low, _), _ in rows],
            y1=[high for _, _, (_, high), _ in rows],
            brushes=[brush(getattr(self._palette, token)) for *_, token in rows],
        )


def heard_bars(heard: Hearing, end_ns: int) -> list[Bar]:
    """A strip where the voice was not simply heard, or nothing."""
    token = STATE_COLOURS.get(heard.state)
    return [(heard.at_ns, end_ns, STRIP, token)] if token else []


def part_bar(block: Block, now_ns: int) -> Bar:
    """A part of the plan."""
    token = "accent_soft" if block.end_ns is None else "track"
    return block.start_ns, block.end_or(now_ns), PARTS, token


def trial_bar(block: Block, now_ns: int) -> Bar:
    """A question: full when it runs or its goal was reached, else thin: shape tells too."""
    low, high = TRIALS
    thin = block.end_ns is not None and block.outcome not in REACHED
    token = TRIAL_COLOURS.get(block.outcome or "", "secondary")
    return (
        block.start_ns,
        block.end_or(now_ns),
        (low, (low + high) / 2 if thin else high),
        "accent" if block.end_ns is None else token,
    )


class Marks:
    """A line over the envelope for each mark, with a head whose shape tells what it is."""

    def __init__(self, box: pg.ViewBox, palette: Palette) -> None:
        self._palette = palette
        self._heads = pg.ScatterPlotItem(size=11, pen=None, antialias=True)
        self._lines = {}
        for kind, (_, token) in MARKS.items():
            # Lines of what stopped the session are dashed.
            style = Qt.PenStyle.DashLine if kind in ("pause", "gap") else Qt.PenStyle.SolidLine
            pen = pg.mkPen(getattr(palette, token), style=style)
            self._lines[kind] = pg.PlotCurveItem(pen=pen, connect="pairs")
        for item in (*self._lines.values(), self._heads):
            item.setCacheMode(KEPT)
            box.addItem(item)

    def show(self, marks: Sequence[Mark]) -> None:
        for kind, line in self._lines.items():
            at = [mark.at_ns / NS for mark in marks if mark.kind == kind]
            line.setData(np.repeat(at, 2), np.tile((VOICE[0], HEADS), len(at)))
        self._heads.setData(
            x=[mark.at_ns / NS for mark in marks],
            y=[HEADS] * len(marks),
            symbol=[MARKS[mark.kind][0] for mark in marks],
            brush=[brush(getattr(self._palette, MARKS[mark.kind][1])) for mark in marks],
        )


class Titles:
    """Each part's title where the part is in view, as far as there is room."""

    def __init__(self, box: pg.ViewBox, palette: Palette) -> None:
        self._box, self._palette = box, palette
        self._items: list[pg.TextItem] = []

    def show(self, parts: Sequence[Block], now_ns: int) -> None:
        for _ in range(len(self._items), len(parts)):
            item = pg.TextItem(anchor=(0, 0.5))
            item.setFont(font(theme.SECONDARY_PX - 1))
            self._box.addItem(item)
            self._items.append(item)
        left, right = self._box.viewRange()[0]
        per_s = max(1.0, self._box.width()) / (right - left)
        for item, block in zip(self._items, parts, strict=False):
            start, end = max(left, block.start_ns / NS), min(right, block.end_or(now_ns) / NS)
            text = metrics(theme.SECONDARY_PX - 1).elidedText(
                block.label, Qt.TextElideMode.ElideRight, (end - start) * per_s - TITLE_ROOM
            )
            item.setVisible(len(text) > 2)
            if item.isVisible():
                running = block.end_ns is None
                item.setColor(self._palette.color("ink" if running else "secondary"))
                item.setText(text)
                item.setPos(start, sum(PARTS) / 2)


def _mixed(ink: str, ground: str, share: float) -> tuple[int, ...]:
    """An opaque colour between two."""
    a, b = color(ink), color(ground)
    pairs = ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    return tuple(round(share * pair + (1 - share) * other) for pair, other in pairs)
