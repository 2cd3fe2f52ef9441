"""The session's timeline: voice envelope, blocks and marks, over pyqtgraph.

What lies behind is drawn when it changes, a few times a minute; a tick moves the line of now, lets
the running blocks grow and adds to the newest stretch of the envelope.

The timeline is made of items for a pyqtgraph plot: envelope, bars, marks, titles. Heights are
shares of the plot, times seconds. What lies behind now is kept by Qt as a picture until it changes:
drawing an hour of it takes milliseconds.

What the console's live plots share: one picture surface over pyqtgraph, and an axis of times.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import ceil, nan

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainterPath
from PySide6.QtWidgets import QHBoxLayout, QToolTip

from labapp.base.clock import NS
from labapp.ui import theme
from labapp.ui.language import tr
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.state.console import Hearing, TimelineBlock, TimelineMark, TimelineState
from labapp.ui.theme import Palette
from labapp.ui.widgets.controls import Button
from labapp.ui.widgets.painting import brush, color, font, metrics, pen

pg.setConfigOptions(useOpenGL=False, antialias=False)

STEPS_S = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)
TICK_PX = 90
AXIS_PX = 20
BEHIND = -1000
"""Below the plot itself."""


class TimeAxis(pg.AxisItem):  # type: ignore[misc]
    """Seconds as the moderator reads them, at round steps that leave room for their words."""

    def __init__(self, palette: Palette, *, grid: bool) -> None:
        super().__init__("bottom", pen=pen(palette.hairline), textPen=palette.secondary)
        self.setStyle(tickFont=font(theme.SECONDARY_PX - 2), tickTextOffset=2, tickLength=0)
        self.setHeight(AXIS_PX)
        if grid:
            self.setGrid(255)

    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:
        per_tick = (maxVal - minVal) / max(1.0, size / TICK_PX)
        longest = STEPS_S[-1]  # what is longer yet is cut into so many of them
        step = next((s for s in STEPS_S if s >= per_tick), ceil(per_tick / longest) * longest)
        return [(step, 0)]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        return [wording.short_time(round(value) * NS) for value in values]


class Plot(pg.GraphicsView):  # type: ignore[misc]
    """A surface over seconds in `box` whose heights go from 0 to 1, with a `TimeAxis` below.

    Keys that a plot has no use for go on to the window: a letter begins a note, a digit is a flag.
    """

    def __init__(self, palette: Palette, name: str, *, grid: bool = False) -> None:
        super().__init__(background=palette.card)
        self.setAccessibleName(name)
        self.rows = pg.GraphicsLayout(border=None)
        self.rows.setContentsMargins(0, 0, 0, 0)
        self.rows.setSpacing(0)
        self.setCentralItem(self.rows)
        self.box = pg.ViewBox(enableMenu=False, defaultPadding=0.0)
        self.box.setMouseEnabled(x=False, y=False)
        self.box.disableAutoRange()
        self.box.setYRange(0, 1)
        self.axis = TimeAxis(palette, grid=grid)
        self.axis.setZValue(BEHIND)  # for its grid
        self.axis.linkToView(self.box)
        self.rows.addItem(self.box, 0, 1)
        self.rows.addItem(self.axis, 1, 1)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()


STEP_NS = 200_000_000
"""The least time between two pictures of what goes on."""
SPANS_MIN = (5, 10, 15, 20, 30, 45, 60, 75, 90, 120, 150, 180, 240, 360, 480)
LEAST_SPAN_S = 10.0
ZOOM_STEP = 1.25
LEFT_BEHIND = 0.75
"""Share of a zoomed view that shows the past when it goes on to show now."""
NEAR_PX = 6


class TimelineView(Plot):
    """Wheel zooms at the pointer, dragging moves, a double click (or Home) shows everything. A
    zoomed view that shows now goes on with it; End goes there."""

    def __init__(self, palette: Palette, timeline: TimelineState) -> None:
        super().__init__(palette, tr("timeline.title"), grid=True)
        self._timeline = timeline
        self._version = -1
        self._now_ns = self._shown_ns = 0
        self.follows = self._follows_now = True
        self.setMinimumHeight(110)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.box.setMouseEnabled(x=True, y=False)
        self._past, self._running = Bars(palette), Bars(palette)
        self._past.setCacheMode(KEPT)
        self.box.addItem(self._past)
        self.box.addItem(self._running)
        self.voice = Envelope(self.box, palette)
        self._now = pg.InfiniteLine(0, pen=palette.secondary, span=(VOICE[0], HEADS))
        self.box.addItem(self._now)
        self._marks = Marks(self.box, palette)
        self._titles = Titles(self.box, palette)
        self.box.sigRangeChangedManually.connect(self._on_view_moved)
        self.box.sigXRangeChanged.connect(self._show_titles)
        self.show_all()

    def range_ns(self) -> tuple[int, int]:
        """Working time at the left and right edge."""
        left, right = self.box.viewRange()[0]
        return round(left * NS), round(right * NS)

    def show_now(self, now_ns: int, peak: float | None) -> None:
        """Go on to working time now_ns; peak: the voice's since the last call, None without sound
        (or in a pause)."""
        self._now_ns = max(now_ns, 0)
        if peak is not None:
            self.voice.add(self._now_ns, peak)
        changed = self._version != self._timeline.version
        if changed:
            self._version = self._timeline.version
            self._show_behind()
        # A step that moves nothing by a pixel is not worth a picture.
        step_ns = max(STEP_NS, self.box.viewPixelSize()[0] * NS)
        if changed or abs(self._now_ns - self._shown_ns) >= step_ns:
            self._shown_ns = self._now_ns
            self._follow()
            self._now.setValue(self._now_ns / NS)
            self._show_running()
            self.voice.show()

    def show_past(self, peaks: Sequence[tuple[int, float]]) -> None:
        """The voice of earlier runs: (working time in ns, peak 0 to 1)."""
        for t_ns, peak in peaks:
            self.voice.add(t_ns, peak)
        self.voice.show()

    def show_all(self) -> None:
        """Back to the whole session."""
        self.follows = True
        self._follow()

    def show_newest(self) -> None:
        """Go to now, at the zoom there is, and on with it."""
        left, right = self.box.viewRange()[0]
        span = right - left
        self._follows_now = True
        start = max(0.0, min(self._now_ns / NS - LEFT_BEHIND * span, self._whole_s() - span))
        self.box.setXRange(start, start + span)

    def zoom(self, factor: float) -> None:
        """Show 1/factor of the time about the middle, or about now where that is in view."""
        left, right = self.box.viewRange()[0]
        now = self._now_ns / NS
        centre = now if left <= now <= right and factor > 1 else (left + right) / 2
        self.box.scaleBy(x=1 / factor, center=(centre, 0))
        self._on_view_moved()

    def pan(self, share: float) -> None:
        """Show what is a share of the view later (or, below 0, earlier)."""
        left, right = self.box.viewRange()[0]
        self.box.translateBy(x=share * (right - left))
        self._on_view_moved()

    def _whole_s(self) -> float:
        now = self._now_ns / NS
        return max(now, next((m * 60.0 for m in SPANS_MIN if now <= m * 58.8), now))

    def _follow(self) -> None:
        whole = self._whole_s()
        self.box.setLimits(xMin=0, xMax=whole, minXRange=LEAST_SPAN_S)
        if self.follows:
            self.box.setXRange(0, whole)
        elif self._follows_now and self._now_ns / NS > self.box.viewRange()[0][1]:
            self.show_newest()

    def _on_view_moved(self) -> None:
        left, right = self.box.viewRange()[0]
        self.follows = right - left > self._whole_s() - 0.5
        self._follows_now = left <= self._now_ns / NS <= right

    def _show_behind(self) -> None:
        line, now = self._timeline, self._now_ns
        bars = [bar for a, b in pairwise(line.hearing) for bar in make_voice_bars(a, b.at_ns)]
        bars += [part_bar(part, now) for part in line.parts if part.end_ns is not None]
        bars += [trial_bar(trial, now) for trial in line.trials if trial.end_ns is not None]
        self._past.show_bars(bars)
        self._marks.show(line.marks)
        self._show_titles()

    def _show_running(self) -> None:
        line, now = self._timeline, self._now_ns
        bars = [bar for heard in line.hearing[-1:] for bar in make_voice_bars(heard, now)]
        bars += [part_bar(part, now) for part in line.parts[-1:] if part.end_ns is None]
        bars += [trial_bar(trial, now) for trial in line.trials[-1:] if trial.end_ns is None]
        self._running.show_bars(bars)

    def _show_titles(self) -> None:
        self._titles.show(self._timeline.parts, self._now_ns)

    def describe(self, x: float, y: float) -> str:
        """What is at a point of the widget: a mark near it, else the part and question below it."""
        line = self._timeline
        at = self.box.mapSceneToView(QPointF(x, y))
        near = NEAR_PX * self.box.viewPixelSize()[0] * NS
        marks = [mark for mark in line.marks if abs(mark.at_ns - at.x() * NS) <= near]
        if marks and at.y() > PARTS[1]:
            nearest = min(marks, key=lambda mark: abs(mark.at_ns - at.x() * NS))
            return f"{wording.short_time(nearest.at_ns)}  {nearest.text}"
        t_ns = round(at.x() * NS)
        if t_ns > self._now_ns:
            return ""
        places = (_at(line.parts, t_ns), _at(line.trials, t_ns))
        lines = [self._block_text(block) for block in places if block is not None]
        return "\n".join((wording.short_time(t_ns), *lines))

    def _block_text(self, block: TimelineBlock) -> str:
        ended = wording.OUTCOMES.get(block.outcome or "")
        how = f", {tr(ended)}" if ended else ""
        length = wording.short_time(block.end_or(self._now_ns) - block.start_ns)
        return f"{block.label}: {length}{how}"

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        where = event.position()
        if not event.buttons():
            text = self.describe(where.x(), where.y())
            QToolTip.showText(event.globalPosition().toPoint(), text, self)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.show_all()

    def leaveEvent(self, event: QEvent) -> None:
        QToolTip.hideText()
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Plus | Qt.Key.Key_Up:
                self.zoom(ZOOM_STEP)
            case Qt.Key.Key_Minus | Qt.Key.Key_Down:
                self.zoom(1 / ZOOM_STEP)
            case Qt.Key.Key_Left:
                self.pan(-0.1)
            case Qt.Key.Key_Right:
                self.pan(0.1)
            case Qt.Key.Key_Home:
                self.show_all()
            case Qt.Key.Key_End:
                self.show_newest()
            case _:
                super().keyPressEvent(event)


def _at(blocks: Sequence[TimelineBlock], t_ns: int) -> TimelineBlock | None:
    index = bisect_right(blocks, t_ns, key=lambda block: block.start_ns) - 1
    if index < 0:
        return None
    block = blocks[index]
    return block if block.end_ns is None or t_ns < block.end_ns else None


class TimelinePanel(bits.Card):
    """The timeline in its card, with buttons to now and to the whole session."""

    def __init__(self, palette: Palette, timeline: TimelineState) -> None:
        around = (theme.SPACE_L, theme.SPACE_S, theme.SPACE_L, theme.SPACE_XS)
        super().__init__("", theme.SPACE_XS, around)
        self.view = TimelineView(palette, timeline)
        head = bits.fill(QHBoxLayout(), bits.label(tr("timeline.heading"), "section"), 1)
        signs = tr("timeline.legend")
        if timeline.answers:  # only a calibration has any
            signs = f"{tr('timeline.answers')}   {signs}"
        if timeline.asks:
            signs = f"{tr('timeline.questions')}   {signs}"
        self.signs = bits.label(signs, "secondary")
        bits.fill(head, self.signs, bits.Gap(theme.SPACE_M))
        # What the signs mean is needed first; this takes the room that is left.
        self.hint = bits.ElidedLabel(tr("timeline.keys"), "secondary")
        whole = metrics(theme.SECONDARY_PX).horizontalAdvance(self.hint.full())
        self.hint.setMaximumWidth(ceil(whole) + 1)
        head.addWidget(self.hint, 100)
        for text, act in (
            (tr("timeline.now"), self.view.show_newest),
            (tr("timeline.show_all"), self.view.show_all),
        ):
            button = Button(text, "chip")
            button.clicked.connect(act)
            head.addWidget(button)
        bits.fill(self.body, head, (self.view, 1))


HEADS, VOICE, STRIP, PARTS, TRIALS = 0.94, (0.36, 0.88), (0.315, 0.335), (0.1, 0.3), (0.0, 0.08)
"""Where the rows are."""

BIN_NS = 100_000_000
TAIL_BINS = 300
"""So much of the envelope is drawn again as it grows."""
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
                pen=pg.mkPen(_mix_colours(palette.good, palette.card, 0.75)),
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


def make_voice_bars(heard: Hearing, end_ns: int) -> list[Bar]:
    """A strip where the voice was not simply heard, or nothing."""
    token = STATE_COLOURS.get(heard.state)
    return [(heard.at_ns, end_ns, STRIP, token)] if token else []


def part_bar(block: TimelineBlock, now_ns: int) -> Bar:
    """A part of the plan."""
    token = "accent_soft" if block.end_ns is None else "track"
    return block.start_ns, block.end_or(now_ns), PARTS, token


def trial_bar(block: TimelineBlock, now_ns: int) -> Bar:
    """A question: full when it runs or its goal was reached, else thin: shape tells too."""
    runs = block.end_ns is None
    low, high = TRIALS if runs or block.outcome in REACHED else (TRIALS[0], sum(TRIALS) / 2)
    token = "accent" if runs else TRIAL_COLOURS.get(block.outcome or "", "secondary")
    return block.start_ns, block.end_or(now_ns), (low, high), token


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

    def show(self, marks: Sequence[TimelineMark]) -> None:
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

    def show(self, parts: Sequence[TimelineBlock], now_ns: int) -> None:
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


def _mix_colours(ink: str, ground: str, share: float) -> tuple[int, ...]:
    a, b = color(ink), color(ground)
    pairs = ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    return tuple(round(share * value + (1 - share) * other) for value, other in pairs)
