"""What moves over the picture of a timeline: playhead, selection, the unit that is coded, the cover
of what a blind rater does not see yet, and the frame in the strip."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from labapp.annotations.model import Unit
from labapp.ui.replay import time_drawing as drawing
from labapp.ui.replay.lane_words import item_label
from labapp.ui.widgets.painting import draw_focus_ring, metrics, pen

if TYPE_CHECKING:
    from labapp.ui.replay.timeline import Timeline

KNOB_PX = 4.5
"""Radius of the playhead's head."""
HANDLE_PX = (4, 24)
"""Width and height of the edges of a unit, to draw at."""


def paint_front(painter: QPainter, line: Timeline) -> None:
    """Draw what a frame of playing changes."""
    voice, rows = line.voice_rect(), line.rows_rect()
    bottom = max(rows.bottom(), voice.bottom())
    body = QRectF(voice.left(), voice.top() - 6, voice.width(), bottom - voice.top() + 6)
    painter.setClipRect(body)
    if line.future_hidden:
        _cover_future(painter, line)
    _paint_pauses(painter, line, QRectF(body.left(), voice.top(), body.width(), bottom))
    _paint_stretches(painter, line, voice, bottom)
    x = line.scale.x(line.playhead_ns)
    if body.left() - KNOB_PX <= x <= body.right() + KNOB_PX:
        painter.setClipRect(body.adjusted(-KNOB_PX, 0, KNOB_PX, 0))
        painter.setPen(pen(line.palette_.alarm, 1.5))
        painter.drawLine(QPointF(x, voice.top() - 2), QPointF(x, bottom))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(line.palette_.color("alarm"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.drawEllipse(QPointF(x, voice.top() - 1.5), KNOB_PX, KNOB_PX)
    painter.setClipping(False)
    _paint_frame(painter, line)
    if line.hasFocus():
        ring = QRectF(line.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        draw_focus_ring(painter, ring, 4, line.palette_.accent)


def _cover_future(painter: QPainter, line: Timeline) -> None:
    """Nothing of a recorded row is seen right of the playhead."""
    left = max(line.scale.x(line.playhead_ns), line.scale.x0)
    right = line.scale.x0 + line.scale.width
    for row, top in line.placed():
        if row.recorded and left < right:
            cover = QRectF(left, top, right - left, row.height)
            painter.fillRect(cover, line.palette_.color("card"))
            painter.fillRect(cover, drawing.hatch(line.palette_.hairline))


def _paint_pauses(painter: QPainter, line: Timeline, body: QRectF) -> None:
    """What stopped the session lies over all rows; a bar says what it was."""
    scale, p = line.scale, line.palette_
    known = line.playhead_ns if line.future_hidden else scale.end_ns
    for item in line.pauses:
        end_ns = min(item.t1_ns, known)
        if item.t0_ns >= known or end_ns < scale.left_ns or item.t0_ns > scale.right_ns:
            continue
        left = max(scale.x(item.t0_ns), scale.x0)
        right = min(scale.x(end_ns), scale.x0 + scale.width)
        room = QRectF(left, body.top(), max(1.0, right - left), body.height())
        painter.fillRect(room, drawing.hatch(p.secondary, 70))
        text = drawing.elided(item_label(item, line.parts), int(room.width() - 8))
        if text:
            width = metrics(drawing.SMALL_PX).horizontalAdvance(text) + 8
            plate = QRectF(left, body.top(), width, 17)
            painter.fillRect(plate, p.color("card"))
            drawing.draw_label(painter, plate.adjusted(4, 0, 4, 0), text, p.color("secondary"))


def _paint_stretches(painter: QPainter, line: Timeline, voice: QRectF, bottom: float) -> None:
    """The selection, and the unit that is coded, with its edges to draw at."""
    scale, p = line.scale, line.palette_
    unit = line.voice.unit(line.current_unit)
    if unit is not None:
        t0_ns, t1_ns = _edges(line, unit)
        left, right = scale.x(t0_ns), scale.x(t1_ns)
        room = QRectF(left, voice.top(), right - left, bottom - voice.top())
        painter.fillRect(room, drawing.translucent(p.accent, 28))
        width, height = HANDLE_PX
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(p.color("accent"))
        for x in (left, right):
            middle = voice.center().y() - height / 2
            painter.drawRoundedRect(QRectF(x - width / 2, middle, width, height), 2, 2)
    elif line.moved_edge is not None:
        x = scale.x(line.moved_edge[2])
        painter.setPen(pen(p.accent, 2))
        painter.drawLine(QPointF(x, voice.top()), QPointF(x, voice.bottom()))
    if line.selection is not None:
        left, right = (scale.x(t_ns) for t_ns in line.selection)
        room = QRectF(left, voice.top(), right - left, voice.height() - 0.5)
        painter.setBrush(drawing.translucent(p.accent, 40))
        painter.setPen(pen(p.accent, dashed=True))
        painter.drawRect(room)


def _edges(line: Timeline, unit: Unit) -> tuple[int, int]:
    """Where a unit lies, one edge perhaps drawn elsewhere right now."""
    t0_ns, t1_ns = unit.t0_ns, unit.t1_ns
    if line.moved_edge is not None and line.moved_edge[0] == unit.id:
        if line.moved_edge[1] == "begin":
            return line.moved_edge[2], t1_ns
        return t0_ns, line.moved_edge[2]
    return t0_ns, t1_ns


def _paint_frame(painter: QPainter, line: Timeline) -> None:
    """What is in view, as a frame in the strip, and the playhead there."""
    strip, p = line.strip_rect(), line.palette_
    x = _strip_x(line, line.playhead_ns)
    painter.setPen(pen(p.alarm, 1.5))
    painter.drawLine(QPointF(x, strip.top() - 1), QPointF(x, strip.bottom() + 1))
    if not line.scale.whole:
        left, right = _strip_x(line, line.scale.left_ns), _strip_x(line, line.scale.right_ns)
        frame = QRectF(left, strip.top() - 2, max(6.0, right - left), strip.height() + 4)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen(p.accent, 2))
        painter.setBrush(drawing.translucent(p.accent, 24))
        painter.drawRoundedRect(frame, 3, 3)


def _strip_x(line: Timeline, t_ns: float) -> float:
    strip, scale = line.strip_rect(), line.scale
    share = (t_ns - scale.begin_ns) / (scale.end_ns - scale.begin_ns)
    return strip.left() + share * strip.width()
