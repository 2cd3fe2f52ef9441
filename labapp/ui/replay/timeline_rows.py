"""The rows below the voice: what was on the screen, moves, the alignment, notes, and codes.

The rows draw with columns of sound, bars, hatching and signs. Whatever is thinner than a pixel or
two is first brought together by numpy and drawn as one picture of its row, so that ten thousand
marks cost no more than the pixels they lie on.

Also which stretch of a session a timeline shows, and where a time lies in it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from heapq import heappop, heappush
from itertools import product
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter, QPainterPath, QPen, QPolygonF

from labapp.base.clock import NS
from labapp.session.replay.lanes import Lane, LaneItem
from labapp.study.plugins.part import PlannedPart
from labapp.ui import theme
from labapp.ui.language import counted, number
from labapp.ui.moderator.wording import short_time
from labapp.ui.replay.picture import (
    Parts,
    describe_moved,
    item_label,
    item_tip,
    join_trials,
    shorter_labels,
    title,
)
from labapp.ui.theme import Palette
from labapp.ui.widgets.painting import brush, color, equip, metrics, pen, smooth, write_with

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from labapp.coding.sound import Peaks


BAR_PX, GAP_PX = 16, 4
"""A bar of a row, and what lies between two."""
CURVE_PX = 26
COARSE_NS = NS // 2
"""From so much time a pixel on, moves of a dial within it are one."""
SIGN_PX, SIGN_APART = 12, 3
LEVEL_PX, COMPACT_PX = 13, 7
"""Of codes that overlap: from one bar to the next, with and without room for words."""
LEVELS = 4
"""Codes that overlap lie below each other, at most so many; the others lie on the last."""

SIGNS: Mapping[str, tuple[str, str]] = {
    "note.added": ("circle", "accent"),
    "deviation.noted": ("diamond", "accent"),
    "flag.added": ("flag", "warn"),
}
"""Shape and colour of the marks of the live timeline, by kind of event; else by lane."""
SIGNS_OF_LANE: Mapping[str, tuple[str, str]] = {
    "prompts": ("square", "good"),
    "answers": ("hexagon", "good"),
    "alarms": ("triangle", "alarm"),
    "notes": ("circle", "accent"),
    "flags": ("flag", "warn"),
}


@dataclass(frozen=True, slots=True)
class CodeItem:
    """A code given to a stretch, or to a moment where both times are equal.

    Attributes
    ----------
    t0_ns, t1_ns : session time.
    label : the code's name, as the chip shows it.
    colour : `#rrggbb`.
    id : of the mark.
    memo : a remark on it.
    """

    t0_ns: int
    t1_ns: int
    label: str
    colour: str
    id: str = ""
    memo: str = ""


@dataclass(frozen=True)
class CodeLane:
    """The codes of a rater on a tier; rater: empty for one's own."""

    title: str
    items: Sequence[CodeItem] = ()
    rater: str = ""


class TimelineRow(ABC):
    """A row of a timeline.

    Attributes
    ----------
    title, total : what stands left of it.
    height : in logical pixels.
    recorded : whether it shows the session: then the future may be hidden.
    """

    title = ""
    total = ""
    height = BAR_PX
    recorded = True

    @abstractmethod
    def paint(self, painter: QPainter, top: float, view: RowPainting) -> None:
        """Draw what is in view."""

    def set_compact(self, *, compact: bool) -> None:  # noqa: B027 (most rows have one height)
        """Whether it is to take less room, where it can."""

    def tip(self, t_ns: int, y: float, near_ns: float) -> str:
        """What is at a time and a height of the row; near_ns: how far off a mark may be."""
        return ""


class ScreenRow(TimelineRow):
    """Parts of the session, and the trials on them."""

    def __init__(self, lane: Lane, parts: Parts, *, outcomes: bool) -> None:
        self.title = title("screen")
        items = join_trials(lane, parts)
        trials = [item for item in items if item.kind == "trial"]
        with_trials = {item.part_id for item in trials}
        under = [i for i in items if i.kind == "part" and i.part_id in with_trials]
        alone = [i for i in items if i.kind == "part" and i.part_id not in with_trials]
        self._under, self._alone, self._trials = (
            _Bars(group, parts, outcomes) for group in (under, alone, trials)
        )

    def paint(self, painter: QPainter, top: float, view: RowPainting) -> None:
        p = view.palette
        band = (top, float(self.height))
        self._under.paint(painter, band, view, p.track, "")
        self._alone.paint(painter, band, view, p.track, p.secondary)
        self._trials.paint(painter, band, view, p.accent_soft, p.ink)

    def tip(self, t_ns: int, y: float, near_ns: float) -> str:
        tips = (bars.tip(t_ns) for bars in (self._trials, self._alone, self._under))
        return next(filter(None, tips), "")


class _Bars:
    """Items that do not overlap, all of one colour, with their labels."""

    def __init__(self, items: Sequence[LaneItem], parts: Parts, outcomes: bool) -> None:
        self._labels = [item_label(item, parts, outcomes=outcomes) for item in items]
        self._shorter = [shorter_labels(item, parts) for item in items]
        self._t0 = np.array([item.t0_ns for item in items], dtype=np.int64)
        self._t1 = np.array([item.t1_ns for item in items], dtype=np.int64)

    def paint(
        self, painter: QPainter, band: tuple[float, float], view: RowPainting, ground: str, ink: str
    ) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        colours = np.full(self._t0.size, color(ground).rgba(), dtype=np.uint32)
        wide = draw_bars(painter, view, band, self._t0, self._t1, colours)
        if ink:
            for place in wide.tolist():
                rect = _room(view.scale, band, int(self._t0[place]), int(self._t1[place]))
                words, shorter = self._labels[place], self._shorter[place]
                draw_label(painter, rect, words, color(ink), shorter)

    def tip(self, t_ns: int) -> str:
        place = int(np.searchsorted(self._t0, t_ns, "right")) - 1
        return self._labels[place] if place >= 0 and t_ns < self._t1[place] else ""


def _room(scale: TimeScale, band: tuple[float, float], t0_ns: int, t1_ns: int) -> QRectF:
    """Where the words of a bar stand: in the part of it that is in view."""
    left = max(scale.x(t0_ns), scale.x0) + TEXT_PX
    right = min(scale.x(t1_ns), scale.x0 + scale.width) - TEXT_PX
    return QRectF(left, band[0], right - left, band[1])


class MoveRow(TimelineRow):
    """A dot of two pixels a move; each dial has a height of its own. screen: which part was on it
    when."""

    height = 22

    def __init__(self, lane: Lane, screen: Lane | None, parts: Parts) -> None:
        self.title = title("dials")
        self._on_screen = [item for item in screen.items if item.kind == "part"] if screen else []
        self._parts = parts
        self._times = lane.times
        self._dials = lane.values
        self._last = int(lane.values.max(initial=0))
        # Of a hand that holds a dial for long, one move each few steps is enough from afar.
        steps = lane.times // COARSE_NS * (self._last + 1) + lane.values.astype(np.int64)
        self._coarse = np.sort(np.unique(steps, return_index=True)[1])
        self._coarse_times = lane.times[self._coarse]
        self.set_compact(compact=False)

    def set_compact(self, *, compact: bool) -> None:
        self.height = 14 if compact else 22
        step = min(4.0, (self.height - 5) / max(1, self._last))
        self._y = (self.height - 2 - self._last * step) / 2 + self._dials.astype(np.float64) * step
        self._coarse_y = self._y[self._coarse]

    def paint(self, painter: QPainter, top: float, view: RowPainting) -> None:
        scale = view.scale
        times, heights = self._times, self._y
        if scale.ns_per_px > COARSE_NS:
            times, heights = self._coarse_times, self._coarse_y
        first = int(np.searchsorted(times, int(scale.left_ns), "left"))
        last = int(np.searchsorted(times, int(scale.right_ns), "right"))
        ratio, ink = view.ratio, np.uint32(view.palette.color("accent").rgba())
        width, height = max(1, int(scale.width * ratio)), max(1, int(self.height * ratio))
        pixels = np.zeros((height, width), dtype=np.uint32)
        columns = (scale.places(times[first:last]) * ratio).astype(np.int64)
        rows = (heights[first:last] * ratio).astype(np.int64)
        for down, across in product(range(max(2, round(2 * ratio))), repeat=2):
            at_x, at_y = columns + across, rows + down
            inside = (at_x >= 0) & (at_x < width) & (at_y >= 0) & (at_y < height)
            pixels[at_y[inside], at_x[inside]] = ink
        draw_pixels(painter, scale.x0, top, pixels, ratio)

    def tip(self, t_ns: int, y: float, near_ns: float) -> str:
        first = int(np.searchsorted(self._times, int(t_ns - near_ns), "left"))
        last = int(np.searchsorted(self._times, int(t_ns + near_ns), "right"))
        if first == last:
            return ""
        dials = sorted({int(dial) for dial in self._dials[first:last].tolist()})
        which = describe_moved(dials, self._part_at(int(self._times[first])))
        return f"{which} · {counted(last - first, 'replay.moves')}"

    def _part_at(self, t_ns: int) -> PlannedPart | None:
        shown = (item for item in self._on_screen if item.t0_ns <= t_ns <= item.t1_ns)
        return self._parts.get(next((item.part_id or "" for item in shown), ""))


class CurveRow(TimelineRow):
    """The alignment, from 0 to 1: a curve in steps that breaks off at NaN; of each pixel from its
    lowest to its highest value."""

    height = CURVE_PX

    def __init__(self, lane: Lane) -> None:
        self.title = title("alignment")
        self._times, self._values = lane.times, lane.values

    def set_compact(self, *, compact: bool) -> None:
        self.height = BAR_PX if compact else CURVE_PX

    def paint(self, painter: QPainter, top: float, view: RowPainting) -> None:
        scale, p = view.scale, view.palette
        bottom = top + self.height - 1
        painter.setPen(pen(p.hairline))
        painter.drawLine(QPointF(scale.x0, bottom), QPointF(scale.x0 + scale.width, bottom))
        ratio = view.ratio
        width = max(1, int(scale.width * ratio))
        height = max(1, round((self.height - 4.0) * ratio))
        low, high = step_columns(scale, self._times, self._values, width)
        thick = max(1.0, 1.25 * ratio)
        tops = (1.0 - high) * (height - 1 - thick)
        bottoms = (1.0 - low) * (height - 1 - thick) + thick
        rows = np.arange(height, dtype=np.float32)[:, None]
        inside = (rows >= np.floor(tops)) & (rows < np.floor(bottoms) + 1e-3)  # NaN is nowhere
        pixels = np.where(inside, np.uint32(p.color("accent").rgba()), np.uint32(0))
        draw_pixels(painter, scale.x0, top + 2, pixels, ratio)

    def tip(self, t_ns: int, y: float, near_ns: float) -> str:
        place = int(np.searchsorted(self._times, t_ns, "right")) - 1
        if place < 0 or np.isnan(self._values[place]):
            return ""
        share = number(f"{self._values[place] * 100:.1f}\N{NO-BREAK SPACE}%")
        return f"{title('alignment')} {share}"


class _Point(NamedTuple):
    """colour: `#rrggbb`, or a token of the palette."""

    t_ns: int
    shape: str
    colour: str
    label: str
    tip: str


class _Points:
    """Signs in a row, those on the same few pixels as one, with their words where there is room."""

    def __init__(self, points: Iterable[_Point]) -> None:
        self._points = sorted(points)
        self._times = np.array([point.t_ns for point in self._points], dtype=np.int64)
        shapes = sorted({point.shape for point in self._points})
        self._shapes = np.array([shapes.index(p.shape) for p in self._points], dtype=np.int64)

    def __bool__(self) -> bool:
        return bool(self._points)

    def paint(self, painter: QPainter, middle: float, view: RowPainting) -> None:
        scale, p = view.scale, view.palette
        room_ns = scale.ns_per_px * SIGN_PX
        first = int(np.searchsorted(self._times, int(scale.left_ns - room_ns), "left"))
        last = int(np.searchsorted(self._times, int(scale.right_ns + room_ns), "right"))
        if first == last:
            return
        x = scale.x0 + (self._times[first:last] - scale.left_ns) / scale.ns_per_px
        place = np.floor(x / SIGN_APART).astype(np.int64) * 16 + self._shapes[first:last]
        drawn = np.sort(np.unique(place, return_index=True)[1])
        xs, points = x[drawn].tolist(), [self._points[first + at] for at in drawn.tolist()]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for at, point in zip(xs, points, strict=True):
            value = point.colour if point.colour[0] == "#" else getattr(p, point.colour)
            equip(painter, Qt.PenStyle.NoPen, brush(value))
            painter.translate(at, middle)
            painter.drawPath(sign(point.shape))
            painter.translate(-at, -middle)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        for at, until, point in zip(xs, [*xs[1:], scale.x0 + scale.width], points, strict=False):
            left = at + SIGN_PX / 2 + 2
            if until - left > 3 * SIGN_PX:
                room = QRectF(left, middle - 9, until - left - SIGN_PX, 18)
                draw_label(painter, room, point.label, color(p.ink))

    def tip(self, t_ns: int, near_ns: float) -> str:
        first = int(np.searchsorted(self._times, int(t_ns - near_ns), "left"))
        last = int(np.searchsorted(self._times, int(t_ns + near_ns), "right"))
        near = sorted(self._points[first:last], key=lambda point: abs(point.t_ns - t_ns))[:3]
        return "\n".join(point.tip for point in near)


class PointRow(TimelineRow):
    """Prompts, flags, notes, alarms and answers: a sign each, and its words."""

    height = 18

    def __init__(self, lanes: Iterable[Lane], parts: Parts) -> None:
        self.title = title("notes")
        self._points = _Points(
            _point(lane.id, item, parts) for lane in lanes for item in lane.items
        )

    def paint(self, painter: QPainter, top: float, view: RowPainting) -> None:
        self._points.paint(painter, top + self.height / 2, view)

    def tip(self, t_ns: int, y: float, near_ns: float) -> str:
        return self._points.tip(t_ns, near_ns)


def _point(lane: str, item: LaneItem, parts: Parts) -> _Point:
    shape, token = SIGNS.get(item.kind, SIGNS_OF_LANE[lane])
    label = " ".join(item_label(item, parts).split())
    return _Point(item.t0_ns, shape, token, label, item_tip(item, parts))


class CodeRow(TimelineRow):
    """The codes of a tier: a chip each; those that overlap lie below each other."""

    recorded = False

    def __init__(self, lane: CodeLane) -> None:
        self.lane = lane
        self.title = f"{lane.rater} · {lane.title}" if lane.rater else lane.title
        self.total = number(f"{len(lane.items):,}") if lane.items else ""
        spans = sorted((i for i in lane.items if i.t1_ns > i.t0_ns), key=lambda i: i.t0_ns)
        points = [i for i in lane.items if i.t1_ns == i.t0_ns]
        self._points = _Points(
            _Point(i.t0_ns, "diamond", i.colour, i.label, _tip(i)) for i in points
        )
        self._levels = [_Level(items) for items in _levels(spans)]
        self.set_compact(compact=False)

    def set_compact(self, *, compact: bool) -> None:
        depth, flat = len(self._levels), BAR_PX + 1
        self._pitch = (COMPACT_PX if compact else LEVEL_PX) if depth > 1 else flat
        self._bars = depth * self._pitch
        self.height = max(flat, self._bars + (LEVEL_PX + 1 if self._points else 0)) - 1

    def paint(self, painter: QPainter, top: float, view: RowPainting) -> None:
        bar = self._pitch - 1.0
        for depth, level in enumerate(self._levels):
            level.paint(painter, (top + depth * self._pitch, bar), view)
        if self._points:
            middle = top + (self._bars + self.height) / 2
            self._points.paint(painter, middle, view)

    def tip(self, t_ns: int, y: float, near_ns: float) -> str:
        if y < self._bars:
            return self._levels[int(y // self._pitch)].tip(t_ns)
        return self._points.tip(t_ns, near_ns)


class _Level:
    """Chips that do not overlap, in order of time."""

    def __init__(self, items: Sequence[CodeItem]) -> None:
        self._items = items
        self._t0 = np.array([item.t0_ns for item in items], dtype=np.int64)
        self._t1 = np.array([item.t1_ns for item in items], dtype=np.int64)
        self._t1 = np.maximum.accumulate(self._t1)  # those that found no level of their own
        self._colours = np.array([color(item.colour).rgba() for item in items], dtype=np.uint32)

    def paint(self, painter: QPainter, band: tuple[float, float], view: RowPainting) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        wide = draw_bars(painter, view, band, self._t0, self._t1, self._colours, 3.0)
        if band[1] < metrics(SMALL_PX).height() - 4:
            return
        for place in wide.tolist():
            rect = _room(view.scale, band, int(self._t0[place]), int(self._t1[place]))
            ink = ink_on(int(self._colours[place]))
            draw_label(painter, rect, self._items[place].label, ink)

    def tip(self, t_ns: int) -> str:
        place = int(np.searchsorted(self._t0, t_ns, "right")) - 1
        if place < 0 or t_ns >= self._items[place].t1_ns:
            return ""
        return _tip(self._items[place])


def _tip(item: CodeItem) -> str:
    return f"{item.label}\n{item.memo}" if item.memo else item.label


def _levels(spans: Sequence[CodeItem]) -> list[list[CodeItem]]:
    """Each span on the first level that is free where it begins; at most `LEVELS`."""
    levels: list[list[CodeItem]] = []
    free: list[int] = []  # levels that are free now, the highest first
    ends: list[tuple[int, int]] = []
    for span in spans:
        while ends and ends[0][0] <= span.t0_ns:
            heappush(free, heappop(ends)[1])
        if free:
            level = heappop(free)
        elif len(levels) < LEVELS:
            level = len(levels)
            levels.append([])
        else:
            level = LEVELS - 1
            levels[level].append(span)
            continue
        levels[level].append(span)
        heappush(ends, (span.t1_ns, level))
    return levels


def make_rows(lanes: Sequence[Lane], parts: Parts, *, outcomes: bool) -> list[TimelineRow]:
    """The rows of what was recorded, from top to bottom; lanes without a row of their own, such as
    sound and pauses, are left out.

    outcomes: whether rows say how parts and trials ended.
    """
    by_id: dict[str, Lane] = {lane.id: lane for lane in lanes}
    make: Mapping[str, Callable[[Lane], TimelineRow]] = {
        "screen": lambda lane: ScreenRow(lane, parts, outcomes=outcomes),
        "dials": lambda lane: MoveRow(lane, by_id.get("screen"), parts),
        "alignment": CurveRow,
    }
    rows = [made(by_id[name]) for name, made in make.items() if name in by_id]
    points = [lane for lane in lanes if lane.id in SIGNS_OF_LANE]
    return [*rows, PointRow(points, parts)] if points else rows


def code_rows(lanes: Sequence[CodeLane], known: Sequence[CodeRow]) -> list[CodeRow]:
    """The rows of codes; known: those of before, of which what did not change is taken."""
    before = {(row.lane.title, row.lane.rater): row for row in known}
    rows = []
    for lane in lanes:
        row = before.get((lane.title, lane.rater))
        rows.append(row if row is not None and row.lane == lane else CodeRow(lane))
    return rows


def draw_title(painter: QPainter, row: TimelineRow, rect: QRectF, palette: Palette) -> None:
    """What stands left of a row: its title, and how many codes are in it."""
    write_with(painter, color(palette.secondary), SMALL_PX)
    right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    room = rect.width()
    if row.total:
        painter.drawText(rect, right, row.total)
        room -= metrics(SMALL_PX).horizontalAdvance(row.total) + 6
    left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    painter.drawText(rect, left, elide_text(row.title, int(room)))


LEAST_SPAN_NS = NS // 2
TICK_PX = 90
_STEPS_NS = (
    *(NS // 100, NS // 50, NS // 20, NS // 10, NS // 5, NS // 2),
    *(s * NS for s in (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600)),
)


class TimeScale:
    """A window of time over some pixels; it never leaves the session.

    Attributes
    ----------
    begin_ns, end_ns : session time at which the session begins and ends.
    left_ns, span_ns : what is shown: from where, and how long.
    x0, width : in logical pixels, where it is shown, and how wide; at least 1.
    """

    def __init__(self) -> None:
        self.begin_ns, self.end_ns = 0, NS
        self.left_ns, self.span_ns = 0.0, float(NS)
        self.x0, self.width = 0.0, 1.0

    @property
    def right_ns(self) -> float:
        return self.left_ns + self.span_ns

    @property
    def ns_per_px(self) -> float:
        return self.span_ns / self.width

    @property
    def whole(self) -> bool:
        """Whether the whole session is shown."""
        return self.span_ns >= self.end_ns - self.begin_ns

    def x(self, t_ns: float) -> float:
        """Where a time lies."""
        return self.x0 + (t_ns - self.left_ns) / self.ns_per_px

    def places(self, times: NDArray[np.int64]) -> NDArray[np.float64]:
        """Where times lie, in logical pixels from the left edge, shape (n,)."""
        shares: NDArray[np.float64] = (times.astype(np.float64) - self.left_ns) / self.ns_per_px
        return shares

    def t(self, x: float) -> int:
        """The time at a place, within the session."""
        t_ns = round(self.left_ns + (x - self.x0) * self.ns_per_px)
        return min(max(t_ns, self.begin_ns), self.end_ns)

    def set_session(self, begin_ns: int, end_ns: int) -> None:
        """Another session, all of it shown."""
        self.begin_ns, self.end_ns = begin_ns, max(end_ns, begin_ns + 1)
        self.show(self.begin_ns, self.end_ns)

    def resize(self, x0: float, width: float) -> None:
        """Show the same time on other pixels."""
        self.x0, self.width = x0, max(1.0, width)

    def show(self, t0_ns: float, t1_ns: float) -> None:
        """Show a stretch, no shorter than can be told apart and no longer than the session."""
        whole = float(self.end_ns - self.begin_ns)
        self.span_ns = min(max(t1_ns - t0_ns, LEAST_SPAN_NS), whole)
        rest = (t1_ns - t0_ns) - self.span_ns
        self.left_ns = self._within(t0_ns + rest / 2)

    def zoom(self, factor: float, x: float) -> None:
        """Show 1/factor of the time; what is at x stays there."""
        share = (x - self.x0) / self.width
        fixed = self.left_ns + share * self.span_ns
        whole = float(self.end_ns - self.begin_ns)
        self.span_ns = min(max(self.span_ns / factor, LEAST_SPAN_NS), whole)
        self.left_ns = self._within(fixed - share * self.span_ns)

    def pan(self, px: float) -> None:
        """Show what lies so many pixels later."""
        self.left_ns = self._within(self.left_ns + px * self.ns_per_px)

    def _within(self, left_ns: float) -> float:
        return max(float(self.begin_ns), min(left_ns, self.end_ns - self.span_ns))

    def ticks(self) -> list[tuple[int, str]]:
        """Round times in view, so far apart that there is room for their words."""
        least = self.ns_per_px * TICK_PX
        longest = _STEPS_NS[-1]
        step = next((s for s in _STEPS_NS if s >= least), ceil(least / longest) * longest)
        first = ceil(self.left_ns / step) * step
        times = range(first, int(self.right_ns) + 1, step)
        return [(t_ns, exact_time(t_ns, step)) for t_ns in times]


def exact_time(t_ns: int, step_ns: int = NS // 10) -> str:
    """A time as exactly as steps ask for: 12:34, 12:34.5, 12:34.56."""
    digits = 0 if step_ns % NS == 0 else 1 if step_ns % (NS // 10) == 0 else 2
    if not digits:
        return short_time(t_ns)
    hundredths = max(0, t_ns) * 100 // NS
    return short_time(t_ns) + number(f".{hundredths % 100:02d}"[: digits + 1])


SMALL_PX = theme.SECONDARY_PX - 1
"""Of words within rows."""
THIN_PX = 24
"""Bars that are narrower, which have no room for words, are drawn together."""
TEXT_PX = 6
"""Left of words in a bar."""
LEAST_LETTERS = 5
"""Of words that are cut off, with the dots."""
QUIET = 0.8
"""Exponent of the height of sound: quiet words are seen beside loud ones."""


class RowPainting(NamedTuple):
    """What is painted with: where times lie, the colours, and device pixels a logical one."""

    scale: TimeScale
    palette: Palette
    ratio: float


class WaveColumns:
    """The columns of sound that were drawn last: while a view moves, only new ones are asked for.

    Columns lie on a grid from session time 0, so that a moved view finds its own again.
    """

    def __init__(self, peaks: Peaks) -> None:
        self._peaks = peaks
        self._per_column = 0.0
        self._first = 0
        self._low = self._high = np.empty(0, dtype=np.int16)

    def between(
        self, first: int, count: int, ns_per_column: float
    ) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
        """Lowest and highest sample of `count` columns from the column `first` on."""
        last, known = first + count, self._first + self._low.size
        same = ns_per_column == self._per_column
        if not same or first >= known or last <= self._first:
            self._low, self._high = self._ask(first, count, ns_per_column)
        else:
            lows, highs = [self._low], [self._high]
            if first < self._first:
                low, high = self._ask(first, self._first - first, ns_per_column)
                lows, highs = [low, *lows], [high, *highs]
            if last > known:
                low, high = self._ask(known, last - known, ns_per_column)
                lows, highs = [*lows, low], [*highs, high]
            begin = max(0, first - self._first)
            self._low = np.concatenate(lows)[begin : begin + count]
            self._high = np.concatenate(highs)[begin : begin + count]
        self._first, self._per_column = first, ns_per_column
        return self._low, self._high

    def _ask(
        self, first: int, count: int, ns_per_column: float
    ) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
        t0_ns, t1_ns = round(first * ns_per_column), round((first + count) * ns_per_column)
        return self._peaks.between(t0_ns, max(t1_ns, t0_ns + 1), count)


def gain_of(low: NDArray[np.int16], high: NDArray[np.int16]) -> float:
    """How much louder a recording is drawn, so that a quiet microphone is seen: 1 to 16."""
    tall = np.maximum(high.astype(np.int32), -low.astype(np.int32))
    tall = tall[tall > 0]
    if not tall.size:
        return 1.0
    return float(np.clip(0.8 * 32767 / max(1.0, float(np.quantile(tall, 0.995))), 1.0, 16.0))


def wave_pixels(
    low: NDArray[np.int16], high: NDArray[np.int16], height: int, ink: QColor, gain: float
) -> NDArray[np.uint32]:
    """Columns of sound as ARGB device pixels, transparent around them."""
    middle = (height - 1) / 2
    tops = middle - _tall(high, gain) * middle
    bottoms = middle - _tall(low, gain) * middle
    rows = np.arange(height, dtype=np.float32)[:, None]
    inside = (rows >= np.floor(tops)) & (rows <= np.ceil(bottoms))
    return np.where(inside, np.uint32(ink.rgba()), np.uint32(0))


def _tall(samples: NDArray[np.int16], gain: float) -> NDArray[np.float32]:
    share = np.clip(samples.astype(np.float32) * (gain / 32767), -1, 1)
    tall: NDArray[np.float32] = np.sign(share) * np.abs(share) ** QUIET
    return tall


def draw_pixels(
    painter: QPainter, x: float, y: float, pixels: NDArray[np.uint32], ratio: float
) -> None:
    """Draw ARGB pixels, shape (height, width), each as one device pixel: nothing is scaled."""
    height, width = pixels.shape
    lines = np.ascontiguousarray(pixels)
    image = QImage(lines.data, width, height, 4 * width, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(ratio)
    painter.drawImage(QPointF(x, y), image)


def draw_bars(
    painter: QPainter,
    view: RowPainting,
    band: tuple[float, float],
    t0: NDArray[np.int64],
    t1: NDArray[np.int64],
    colours: NDArray[np.uint32],
    radius: float = 2.0,
) -> NDArray[np.intp]:
    """Bars of a row, which do not overlap, in order; band: top and height.

    Returns the places of those that are wide enough to be told apart.
    """
    scale = view.scale
    first = int(np.searchsorted(t1, int(scale.left_ns), "right"))
    last = int(np.searchsorted(t0, int(scale.right_ns), "left"))
    if first >= last:
        return np.empty(0, dtype=np.intp)
    left, right = scale.places(t0[first:last]), scale.places(t1[first:last])
    wide = right - left >= THIN_PX
    top, height = band
    if not wide.all():  # the narrow ones as one picture of the row
        ratio, thin = view.ratio, colours[first:last][~wide]
        line = np.zeros(int(scale.width * ratio), dtype=np.uint32)
        begins = np.floor(left[~wide] * ratio).astype(np.int64)
        # A pixel of ground between two.
        ends = np.ceil(right[~wide] * ratio).astype(np.int64) - round(ratio)
        ends = np.maximum(ends, begins + 1)
        for offset in range(int((ends - begins).max())):
            at = begins + offset
            drawn = (at < ends) & (at >= 0) & (at < line.size)
            line[at[drawn]] = thin[drawn]
        pixels = np.broadcast_to(line, (max(1, round(height * ratio)), line.size))
        draw_pixels(painter, scale.x0, top, pixels, ratio)
    edge = scale.width + radius + 1
    for place in np.flatnonzero(wide).tolist():
        begin, end = max(left[place], -radius - 1), min(right[place], edge)
        painter.setBrush(argb_brush(int(colours[first + place])))
        rect = QRectF(scale.x0 + begin, top, max(1.0, end - begin - 1), height)
        painter.drawRoundedRect(rect, radius, radius)
    return np.flatnonzero(wide) + first


def step_columns(
    scale: TimeScale, times: NDArray[np.int64], values: NDArray[np.float32], columns: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The lowest and highest value in each column of a view of what stays until it changes; NaN
    if there is none."""
    # Whole numbers: for others all times would be changed into such.
    edges = (scale.left_ns + np.arange(columns + 1) * (scale.span_ns / columns)).astype(np.int64)
    places = np.searchsorted(times, edges, "left")
    carried = np.full(columns, np.nan, dtype=np.float32)
    known = places[:-1] > 0
    carried[known] = values[places[:-1][known] - 1]
    low, high = carried.copy(), carried.copy()
    first, last = int(places[0]), int(places[-1])
    if last > first:
        column = np.repeat(np.arange(columns), np.diff(places))
        begins = np.flatnonzero(np.r_[True, np.diff(column) != 0])
        at = column[begins]
        low[at] = np.fmin(low[at], np.fmin.reduceat(values[first:last], begins))
        high[at] = np.fmax(high[at], np.fmax.reduceat(values[first:last], begins))
    return low, high


@cache
def argb_brush(argb: int) -> QBrush:
    """A brush of one colour as numpy holds it."""
    return QBrush(QColor.fromRgba(argb))


@cache
def hatch(value: str, alpha: int = 150) -> QBrush:
    """Slanted lines on nothing."""
    ink = QColor(color(value))
    ink.setAlpha(alpha)
    tile = QImage(8, 8, QImage.Format.Format_ARGB32_Premultiplied)
    tile.fill(Qt.GlobalColor.transparent)
    painter = smooth(tile)
    painter.setPen(QPen(ink, 2.0))
    for shift in (-8, 0, 8):
        painter.drawLine(QPointF(shift - 1, 9), QPointF(shift + 9, -1))
    painter.end()
    return QBrush(tile)


def mix_colours(ink: str, ground: str, share: float) -> QColor:
    """An opaque colour between two; share: of the first."""
    a, b = color(ink), color(ground)
    pairs = ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    return QColor(*(round(share * first + (1 - share) * second) for first, second in pairs))


def translucent(value: str, alpha: int) -> QColor:
    """A colour that lets through what is below it."""
    made = QColor(color(value))
    made.setAlpha(alpha)
    return made


@lru_cache(maxsize=4096)
def elide_text(text: str, width: int) -> str:
    """A text as far as there is room for it; empty if no word would be read."""
    if width < SMALL_PX / 2:
        return ""
    shown = metrics(SMALL_PX).elidedText(text, Qt.TextElideMode.ElideRight, width)
    return shown if shown == text or len(shown) >= LEAST_LETTERS else ""


def draw_label(
    painter: QPainter, rect: QRectF, text: str, ink: QColor, shorter: Sequence[str] = ()
) -> None:
    """Words in a bar; where there is no room for all, the first of some shorter ones that fits,
    else as far as there is room."""
    room = int(rect.width())
    shown = elide_text(text, room)
    if shown != text:
        shown = next((words for words in shorter if elide_text(words, room) == words), shown)
    if shown:
        write_with(painter, ink, SMALL_PX)
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)


@cache
def ink_on(ground: int) -> QColor:
    """Black or white, whichever is read better on a colour."""
    red, green, blue = (ground >> 16) & 255, (ground >> 8) & 255, ground & 255
    linear = [(part / 255) ** 2.2 for part in (red, green, blue)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return color(theme.LIGHT.ink if luminance > 0.18 else theme.LIGHT.card)


@cache
def sign(shape: str) -> QPainterPath:
    """The sign of a mark, 9 px wide about its middle: shape tells as well as colour."""
    path, r = QPainterPath(), 4.5
    shapes: dict[str, list[tuple[float, float]]] = {
        "square": [(-4, -4), (4, -4), (4, 4), (-4, 4)],
        "flag": [(-3.5, -r), (r, 0), (-3.5, r)],
        "diamond": [(0, -5), (5, 0), (0, 5), (-5, 0)],
        "triangle": [(0, -r), (5, 4), (-5, 4)],
        "hexagon": [(-2.5, -r), (2.5, -r), (5, 0), (2.5, r), (-2.5, r), (-5, 0)],
    }
    corners = shapes.get(shape)
    if corners is None:
        path.addEllipse(QPointF(0, 0), 4.0, 4.0)
    else:
        path.addPolygon(QPolygonF([QPointF(x, y) for x, y in corners]))
        path.closeSubpath()
    return path
