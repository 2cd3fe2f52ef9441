"""The rows below the voice: what was on the screen, moves, the alignment, notes, and codes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from labapp.clock import NS
from labapp.plugins.part import PlannedPart
from labapp.replay.lanes import Lane, LaneItem
from labapp.ui.language import counted, number
from labapp.ui.replay import time_drawing as drawing
from labapp.ui.replay.lane_words import (
    Parts,
    item_label,
    item_tip,
    joined_screen,
    moved_label,
    shorter_labels,
    title,
)
from labapp.ui.replay.time_drawing import TimeScale, View
from labapp.ui.theme import Palette
from labapp.ui.widgets.painting import color, font, metrics, pen

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


class Row(ABC):
    """A row of a timeline.

    Attributes
    ----------
    title, total : str
        What stands left of it.
    height : int
        Logical pixels.
    recorded : bool
        Whether it tells of the session, which is hidden after the playhead where the future is.
    """

    title = ""
    total = ""
    height = BAR_PX
    recorded = True

    @abstractmethod
    def paint(self, painter: QPainter, top: float, view: View) -> None:
        """Draw what is in view."""

    def set_compact(self, *, compact: bool) -> None:  # noqa: B027 (most rows have one height)
        """Whether it is to take less room, where it can."""

    def tip(self, t_ns: int, y: float, near_ns: float) -> str:
        """What is at a time and a height of the row; near_ns: how far off a mark may be."""
        return ""


class ScreenRow(Row):
    """Parts of the session, and the trials on them."""

    def __init__(self, lane: Lane, parts: Parts, *, outcomes: bool) -> None:
        self.title = title("screen")
        items = joined_screen(lane, parts)
        trials = [item for item in items if item.kind == "trial"]
        with_trials = {item.part_id for item in trials}
        whole = [item for item in items if item.kind == "part"]
        self._under = _Bars(
            [item for item in whole if item.part_id in with_trials], parts, outcomes
        )
        self._alone = _Bars(
            [item for item in whole if item.part_id not in with_trials], parts, outcomes
        )
        self._trials = _Bars(trials, parts, outcomes)

    def paint(self, painter: QPainter, top: float, view: View) -> None:
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
        self, painter: QPainter, band: tuple[float, float], view: View, ground: str, ink: str
    ) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        colours = np.full(self._t0.size, color(ground).rgba(), dtype=np.uint32)
        wide = drawing.draw_bars(painter, view, band, self._t0, self._t1, colours)
        if ink:
            for place in wide.tolist():
                rect = _room(view.scale, band, int(self._t0[place]), int(self._t1[place]))
                words, shorter = self._labels[place], self._shorter[place]
                drawing.draw_label(painter, rect, words, color(ink), shorter)

    def tip(self, t_ns: int) -> str:
        place = int(np.searchsorted(self._t0, t_ns, "right")) - 1
        return self._labels[place] if place >= 0 and t_ns < self._t1[place] else ""


def _room(scale: TimeScale, band: tuple[float, float], t0_ns: int, t1_ns: int) -> QRectF:
    """Where the words of a bar stand: in the part of it that is in view."""
    left = max(scale.x(t0_ns), scale.x0) + drawing.TEXT_PX
    right = min(scale.x(t1_ns), scale.x0 + scale.width) - drawing.TEXT_PX
    return QRectF(left, band[0], right - left, band[1])


class MoveRow(Row):
    """A dot a move; each dial has a height of its own. screen: which part was on it when."""

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

    def paint(self, painter: QPainter, top: float, view: View) -> None:
        scale = view.scale
        times, heights = self._times, self._y
        if scale.ns_per_px > COARSE_NS:
            times, heights = self._coarse_times, self._coarse_y
        first = int(np.searchsorted(times, int(scale.left_ns), "left"))
        last = int(np.searchsorted(times, int(scale.right_ns), "right"))
        x = scale.places(times[first:last])
        band = (top, float(self.height))
        drawing.draw_dots(painter, view, band, x, heights[first:last], view.palette.color("accent"))

    def tip(self, t_ns: int, y: float, near_ns: float) -> str:
        first = int(np.searchsorted(self._times, int(t_ns - near_ns), "left"))
        last = int(np.searchsorted(self._times, int(t_ns + near_ns), "right"))
        if first == last:
            return ""
        dials = sorted({int(dial) for dial in self._dials[first:last].tolist()})
        which = moved_label(dials, self._part_at(int(self._times[first])))
        return f"{which} · {counted(last - first, '{n} move', '{n} moves')}"

    def _part_at(self, t_ns: int) -> PlannedPart | None:
        shown = (item for item in self._on_screen if item.t0_ns <= t_ns <= item.t1_ns)
        return self._parts.get(next((item.part_id or "" for item in shown), ""))


class CurveRow(Row):
    """The alignment, from 0 to 1."""

    height = CURVE_PX

    def __init__(self, lane: Lane) -> None:
        self.title = title("alignment")
        self._times, self._values = lane.times, lane.values

    def set_compact(self, *, compact: bool) -> None:
        self.height = BAR_PX if compact else CURVE_PX

    def paint(self, painter: QPainter, top: float, view: View) -> None:
        scale, p = view.scale, view.palette
        bottom = top + self.height - 1
        painter.setPen(pen(p.hairline))
        painter.drawLine(QPointF(scale.x0, bottom), QPointF(scale.x0 + scale.width, bottom))
        band, ink = (top + 2, self.height - 4.0), p.color("accent")
        drawing.draw_curve(painter, view, band, self._times, self._values, ink)

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

    def paint(self, painter: QPainter, middle: float, view: View) -> None:
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
            drawing.fill(painter, drawing.sign(point.shape), at, middle, value)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        for at, until, point in zip(xs, [*xs[1:], scale.x0 + scale.width], points, strict=False):
            left = at + SIGN_PX / 2 + 2
            if until - left > 3 * SIGN_PX:
                room = QRectF(left, middle - 9, until - left - SIGN_PX, 18)
                drawing.draw_label(painter, room, point.label, color(p.ink))

    def tip(self, t_ns: int, near_ns: float) -> str:
        first = int(np.searchsorted(self._times, int(t_ns - near_ns), "left"))
        last = int(np.searchsorted(self._times, int(t_ns + near_ns), "right"))
        near = sorted(self._points[first:last], key=lambda point: abs(point.t_ns - t_ns))[:3]
        return "\n".join(point.tip for point in near)


class PointRow(Row):
    """Prompts, flags, notes, alarms and answers: a sign each, and its words."""

    height = 18

    def __init__(self, lanes: Iterable[Lane], parts: Parts) -> None:
        self.title = title("notes")
        self._points = _Points(
            _point(lane.id, item, parts) for lane in lanes for item in lane.items
        )

    def paint(self, painter: QPainter, top: float, view: View) -> None:
        self._points.paint(painter, top + self.height / 2, view)

    def tip(self, t_ns: int, y: float, near_ns: float) -> str:
        return self._points.tip(t_ns, near_ns)


def _point(lane: str, item: LaneItem, parts: Parts) -> _Point:
    shape, token = SIGNS.get(item.kind, SIGNS_OF_LANE[lane])
    label = " ".join(item_label(item, parts).split())
    return _Point(item.t0_ns, shape, token, label, item_tip(item, parts))


class CodeRow(Row):
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

    def paint(self, painter: QPainter, top: float, view: View) -> None:
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

    def paint(self, painter: QPainter, band: tuple[float, float], view: View) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        wide = drawing.draw_bars(painter, view, band, self._t0, self._t1, self._colours, 3.0)
        if band[1] < metrics(drawing.SMALL_PX).height() - 4:
            return
        for place in wide.tolist():
            rect = _room(view.scale, band, int(self._t0[place]), int(self._t1[place]))
            ink = drawing.ink_on(int(self._colours[place]))
            drawing.draw_label(painter, rect, self._items[place].label, ink)

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


def recorded_rows(lanes: Sequence[Lane], parts: Parts, *, outcomes: bool) -> list[Row]:
    """The rows of what was recorded, from top to bottom; lanes without a row of their own, such as
    sound and pauses, are left out.

    outcomes: whether rows say how parts and trials ended.
    """
    by_id: dict[str, Lane] = {lane.id: lane for lane in lanes}
    make: Mapping[str, Callable[[Lane], Row]] = {
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


def draw_title(painter: QPainter, row: Row, rect: QRectF, palette: Palette) -> None:
    """What stands left of a row: its title, and how many codes are in it."""
    painter.setFont(font(drawing.SMALL_PX))
    painter.setPen(color(palette.secondary))
    right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    room = rect.width()
    if row.total:
        painter.drawText(rect, right, row.total)
        room -= metrics(drawing.SMALL_PX).horizontalAdvance(row.total) + 6
    left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    shown = drawing.elided(row.title, int(room))
    painter.drawText(rect, left, shown)
