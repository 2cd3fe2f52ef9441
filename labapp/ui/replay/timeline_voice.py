"""The voice in a timeline: its waveform with lost sound and units, and the strip of the whole
session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from labapp.annotations.model import Unit
from labapp.replay.lanes import LaneItem
from labapp.ui.language import N_, tr
from labapp.ui.replay import time_drawing as drawing
from labapp.ui.replay.lane_words import item_label, item_tip
from labapp.ui.replay.time_drawing import View
from labapp.ui.replay.time_scale import TimeScale, exact_time
from labapp.ui.widgets.painting import metrics, pen

if TYPE_CHECKING:
    from numpy.typing import NDArray

EDGE_PX = 5
"""How far from the edge of a unit it can be taken hold of."""
ABSENT = {"lost": "alarm", "unrecorded": "secondary"}
"""Stretches without sound, and the colours they are hatched in."""
STRIP_FINER = 16
"""Columns of sound that a column of the strip is the mean of."""
SPEAKERS = {
    "participant": N_("Participant"),
    "moderator": N_("Moderator"),
    "other": N_("Somebody else"),
}


class Edge(NamedTuple):
    """The begin or the end of a unit."""

    unit: str
    which: str
    t_ns: int


class Voice:
    """The lane of the voice, and its units."""

    def __init__(self) -> None:
        self._peaks: drawing.PeakSource | None = None
        self._columns: drawing.WaveColumns | None = None
        self._gain = 1.0
        self._items: Sequence[LaneItem] = ()
        self._units: tuple[Unit, ...] = ()
        self._by_id: dict[str, Unit] = {}
        self._t0 = self._t1 = np.empty(0, dtype=np.int64)
        self._level: tuple[int, np.ndarray] | None = None

    @property
    def silent(self) -> bool:
        """Whether the session has no sound."""
        return self._peaks is None

    @property
    def units(self) -> tuple[Unit, ...]:
        """In order of their beginnings."""
        return self._units

    def set_peaks(self, peaks: drawing.PeakSource | None, scale: TimeScale) -> None:
        """The sound; None where a session has none."""
        self._peaks = peaks
        self._columns = None if peaks is None else drawing.WaveColumns(peaks)
        self._level = None
        self._gain = 1.0
        if peaks is not None:
            low, high = peaks.between(scale.begin_ns, scale.end_ns, 2000)
            self._gain = drawing.gain_of(low, high)

    def set_items(self, items: Sequence[LaneItem]) -> None:
        """What is known of the sound: where it was lost, and when it was too quiet or too loud."""
        self._items = [item for item in items if item.kind != "recorded"]

    def set_units(self, units: Sequence[Unit]) -> None:
        """The segmentation."""
        self._units = tuple(sorted(units, key=lambda unit: (unit.t0_ns, unit.t1_ns)))
        self._by_id = {unit.id: unit for unit in self._units}
        self._t0 = np.array([unit.t0_ns for unit in self._units], dtype=np.int64)
        self._t1 = np.array([unit.t1_ns for unit in self._units], dtype=np.int64)

    def unit(self, unit_id: str | None) -> Unit | None:
        """The unit of an id; None where there is none."""
        return self._by_id.get(unit_id or "")

    def edge_at(self, scale: TimeScale, x: float, current: str | None) -> Edge | None:
        """The edge of a unit at a place; of two that meet there the one of the current unit, else
        that of the unit the pointer is over."""
        near = scale.ns_per_px * EDGE_PX
        at = scale.left_ns + (x - scale.x0) * scale.ns_per_px
        edges = []
        for times, which in ((self._t0, "begin"), (self._t1, "end")):
            order = np.flatnonzero(np.abs(times - at) <= near)
            for place in order.tolist():
                inside = times[place] <= at if which == "begin" else times[place] > at
                unit = self._units[place]
                rank = (unit.id != current, not inside, abs(times[place] - at))
                edges.append((rank, Edge(unit.id, which, int(times[place]))))
        return min(edges)[1] if edges else None

    def paint(self, painter: QPainter, band: tuple[float, float], view: View) -> None:
        """Units, lost sound and the waveform."""
        scale, p = view.scale, view.palette
        top, height = band
        self._paint_units(painter, band, view)
        for item in self._seen(scale):
            rect = _rect(scale, band, item)
            if item.kind in ABSENT:
                painter.fillRect(rect, drawing.hatch(getattr(p, ABSENT[item.kind])))
            elif item.kind in ("silent", "zeros", "clipping"):
                token = "warn" if item.kind == "silent" else "alarm"
                painter.fillRect(
                    QRectF(rect.left(), top + height - 3, rect.width(), 3), p.color(token)
                )
        painter.setPen(pen(p.hairline))
        middle = top + height / 2
        painter.drawLine(QPointF(scale.x0, middle), QPointF(scale.x0 + scale.width, middle))
        if self._columns is not None:
            self._paint_wave(painter, band, view, self._columns)
        elif not any(item.kind in ABSENT for item in self._items):
            room = QRectF(scale.x0 + drawing.TEXT_PX, top, scale.width, height / 2)
            words = tr("No sound was recorded.")
            drawing.draw_label(painter, room, words, p.color("secondary"))
        for item in self._seen(scale):
            if item.kind in ABSENT:
                self._paint_absence(painter, band, view, item)

    def _paint_wave(
        self,
        painter: QPainter,
        band: tuple[float, float],
        view: View,
        columns: drawing.WaveColumns,
    ) -> None:
        scale, ratio = view.scale, view.ratio
        count, height = round(scale.width * ratio), round(band[1] * ratio)
        per_column = scale.span_ns / count
        first = round(scale.left_ns / per_column)
        low, high = columns.between(first, count, per_column)
        ink = drawing.mixed(view.palette.good, view.palette.card, 0.8)
        pixels = drawing.wave_pixels(low, high, height, ink, self._gain)
        drawing.draw_pixels(painter, scale.x0, band[0], pixels, ratio)

    def _paint_units(self, painter: QPainter, band: tuple[float, float], view: View) -> None:
        scale, p = view.scale, view.palette
        painter.setPen(Qt.PenStyle.NoPen)
        ground = np.full(self._t0.size, p.color("accent_soft").rgba(), dtype=np.uint32)
        for place, unit in enumerate(self._units):
            if unit.speaker != "participant":
                ground[place] = p.color("track").rgba()
        ends = np.maximum.accumulate(self._t1) if self._t1.size else self._t1
        wide = drawing.draw_bars(painter, view, band, self._t0, ends, ground, 3.0)
        painter.setPen(pen(p.accent))
        for place in wide.tolist():
            for t_ns in (int(self._t0[place]), int(self._t1[place])):
                x = scale.x(t_ns)
                if scale.x0 <= x <= scale.x0 + scale.width:
                    for y in (band[0], band[0] + band[1] - 6):
                        painter.drawLine(QPointF(x, y), QPointF(x, y + 6))

    def _paint_absence(
        self, painter: QPainter, band: tuple[float, float], view: View, item: LaneItem
    ) -> None:
        rect = _rect(view.scale, band, item)
        words = drawing.elided(item_label(item, {}), int(rect.width() - 4))
        if words == item_label(item, {}):
            width = metrics(drawing.SMALL_PX).horizontalAdvance(words) + 6
            low = QRectF(rect.left(), band[0] + band[1] - 17, min(rect.width(), width), 16)
            painter.fillRect(low, view.palette.color("card"))
            ink = view.palette.color(ABSENT[item.kind])
            drawing.draw_label(painter, low.adjusted(3, 0, 0, 0), words, ink)

    def _seen(self, scale: TimeScale) -> list[LaneItem]:
        return [i for i in self._items if i.t1_ns >= scale.left_ns and i.t0_ns <= scale.right_ns]

    def tip(self, t_ns: int) -> str:
        """What is known of the sound at a time."""
        lines = [item_tip(i, {}) for i in self._items if i.t0_ns <= t_ns < i.t1_ns]
        place = int(np.searchsorted(self._t0, t_ns, "right")) - 1
        if place >= 0 and t_ns < self._t1[place]:
            unit = self._units[place]
            length = exact_time(unit.t1_ns - unit.t0_ns)
            lines.append(f"{tr(SPEAKERS[unit.speaker])} · {length}")
        return "\n".join(lines)

    def paint_strip(self, painter: QPainter, rect: QRectF, view: View) -> None:
        """The whole session: how loud it was, and where sound was lost."""
        scale, p = view.scale, view.palette
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(p.color("track"))
        painter.drawRoundedRect(rect, 2, 2)
        if self._peaks is not None:
            count = max(1, round(rect.width() * view.ratio))
            line = self._loudness(scale, count, view)
            pixels = np.broadcast_to(line, (round(rect.height() * view.ratio), count))
            drawing.draw_pixels(painter, rect.left(), rect.top(), pixels, view.ratio)
        whole = scale.end_ns - scale.begin_ns
        for item in self._items:
            if item.kind == "lost":
                left = rect.left() + (item.t0_ns - scale.begin_ns) / whole * rect.width()
                width = max(1.0, (item.t1_ns - item.t0_ns) / whole * rect.width())
                lost = QRectF(left, rect.top(), width, rect.height())
                painter.fillRect(lost, drawing.hatch(p.alarm) if width > 6 else p.color("alarm"))

    def _loudness(self, scale: TimeScale, count: int, view: View) -> NDArray[np.uint32]:
        """The strip as ARGB pixels, shape (count,); the sound is asked for once a width."""
        if self._level is None or self._level[0] != count:
            assert self._peaks is not None
            low, high = self._peaks.between(scale.begin_ns, scale.end_ns, count * STRIP_FINER)
            tall = np.maximum(high.astype(np.float32), -low.astype(np.float32)) * self._gain / 32767
            # The mean: of a long session every column has some loud moment.
            heard = np.clip(tall, 0, 1).reshape(count, STRIP_FINER).mean(axis=1)
            self._level = count, heard / max(1e-6, float(heard.max(initial=0)))
        ink = view.palette.color("good").rgba() & 0xFFFFFF
        alpha = (self._level[1] * 240).astype(np.uint32) << np.uint32(24)
        pixels: NDArray[np.uint32] = alpha | np.uint32(ink)
        return pixels


def _rect(scale: TimeScale, band: tuple[float, float], item: LaneItem) -> QRectF:
    left = max(scale.x(item.t0_ns), scale.x0)
    right = min(scale.x(item.t1_ns), scale.x0 + scale.width)
    return QRectF(left, band[0], max(1.0, right - left), band[1])
