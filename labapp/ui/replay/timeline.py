"""The timeline of a recorded session: a strip of all of it, the voice, and rows for all else.

Wheel zooms at the pointer, dragging moves, a click plays from there; Shift and dragging selects,
the axis scrubs, the edges of units can be drawn. What does not move with the playhead is painted
when the view changes and kept as a picture; a frame of playing is that picture and a line.

Over the picture move the playhead, the selection, the unit that is coded, the cover of what a blind
rater does not see yet, and the frame in the strip. Also what mouse, wheel and keys do in a
timeline, and its voice: the waveform with lost sound and units, and the strip of the whole session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QScrollBar, QToolTip, QWidget

from labapp.base.clock import NS
from labapp.coding.annotations.model import Unit
from labapp.coding.sound import Peaks
from labapp.session.replay.lanes import Lane, LaneItem
from labapp.study.plugins.part import PlannedPart
from labapp.ui import theme
from labapp.ui.language import tr
from labapp.ui.replay import timeline_rows as drawing
from labapp.ui.replay.coding_state import SPEAKER_NAMES
from labapp.ui.replay.picture import item_label, item_tip, title
from labapp.ui.replay.timeline_rows import (
    CodeLane,
    CodeRow,
    RowPainting,
    TimelineRow,
    TimeScale,
    code_rows,
    draw_title,
    exact_time,
    make_rows,
)
from labapp.ui.theme import Palette
from labapp.ui.widgets.painting import draw_focus_ring, equip, font, metrics, pen, write_with

STRIP_PX, VOICE_PX, AXIS_PX = 14, 64, 20
TALLEST_VOICE_PX = 150
STRIP_GAP_PX, ROW_GAP_PX = 7, 3
GUTTER_PX = (64, 168)
"""Least and greatest width of the titles."""
LEFT_PX, RIGHT_PX = 6, 8
KNOB_PX = 4.5
HANDLE_PX = (4, 24)
ZOOM_STEP = 1.25


class Timeline(QWidget):
    """Signals carry session time in ns.

    Signals
    -------
    seeked : a time was clicked: play from there.
    scrubbed : the axis is dragged over a time.
    boundary_moved : a unit's id, `begin` or `end`, and the time it was dragged to.
    selected : from and until when.
    """

    seeked = Signal(object)
    scrubbed = Signal(object)
    boundary_moved = Signal(object, object, object)
    selected = Signal(object, object)

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.palette_ = palette
        self.scale = TimeScale()
        self.voice = VoiceLane()
        self.playhead_ns = 0
        self.selection: tuple[int, int] | None = None
        self.current_unit: str | None = None
        self.moved_edge: tuple[str, str, int] | None = None
        self.editable = False
        self._lanes: Sequence[Lane] = ()
        self._recorded: list[TimelineRow] = []
        self._codes: list[CodeRow] = []
        self.parts: Mapping[str, PlannedPart] = {}
        self.pauses: Sequence[LaneItem] = ()
        self.future_hidden = False
        self._back: QPixmap | None = None
        self._bar = QScrollBar(Qt.Orientation.Vertical, self)
        self._bar.valueChanged.connect(self._invalidate)
        self._bar.hide()
        self._hand = DragState(self)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("timeline.title"))
        self._arrange()

    # What it shows

    def set_session(
        self, begin_ns: int, end_ns: int, parts: Mapping[str, PlannedPart] | None = None
    ) -> None:
        """How long the session is, and the parts of its plan by their ids; all of it is shown."""
        self.parts = parts or {}
        self.scale.set_session(begin_ns, end_ns)
        self._set_rows()

    def set_peaks(self, peaks: Peaks | None) -> None:
        """The heights of its sound; None if there is none. Call `set_session` first."""
        self.voice.set_peaks(peaks, self.scale)
        self._arrange()

    def set_lanes(self, lanes: Sequence[Lane]) -> None:
        """What happened when."""
        self._lanes = lanes
        self.voice.set_items([i for lane in lanes if lane.id == "sound" for i in lane.items])
        self.pauses = [i for lane in lanes if lane.id == "pauses" for i in lane.items]
        self._set_rows()

    def set_units(self, units: Sequence[Unit], *, editable: bool = False) -> None:
        """The segmentation; editable: whether the edges of units can be dragged."""
        self.voice.set_units(units)
        self.editable = editable
        self._invalidate()

    def set_current_unit(self, unit_id: str | None) -> None:
        self.current_unit = unit_id
        self.update()

    def set_marks(self, lanes: Sequence[CodeLane]) -> None:
        """The codes: a lane a tier, one's own first."""
        self._codes = code_rows(lanes, self._codes)
        self._arrange()
        self.updateGeometry()

    def set_playhead(self, t_ns: int, *, follow: bool = True) -> None:
        """Where the replay is; follow: a view that it leaves at its right edge goes on with it."""
        left = self.scale.x0 + self.scale.width
        was_seen = self.scale.x0 <= self.scale.x(self.playhead_ns) <= left
        second = self.playhead_ns // NS
        self.playhead_ns = t_ns
        if follow and was_seen and t_ns > self.scale.right_ns and not self._hand.busy:
            self.scale.pan(0.9 * self.scale.width)
            self._invalidate()
        if t_ns // NS != second:
            self._describe()
        self.update()

    def set_selection(self, t0_ns: int | None, t1_ns: int | None = None) -> None:
        self.selection = None if t0_ns is None or t1_ns is None else (t0_ns, t1_ns)
        self._describe()
        self.update()

    def set_future_hidden(self, hidden: bool) -> None:
        """Whether rows tell nothing of what comes after the playhead; voice and units stay."""
        self.future_hidden = hidden
        self._set_rows()

    # Where it looks

    def show_all(self) -> None:
        self.show_stretch(self.scale.begin_ns, self.scale.end_ns)

    def show_stretch(self, t0_ns: float, t1_ns: float) -> None:
        self.scale.show(t0_ns, t1_ns)
        self._invalidate()

    def reveal(self, t_ns: int) -> None:
        """Move, where a time is out of view, so that it is in the left third; never under a pointer
        that drags."""
        if not self._hand.busy and not self.scale.left_ns <= t_ns <= self.scale.right_ns:
            left = t_ns - self.scale.span_ns / 3
            self.show_stretch(left, left + self.scale.span_ns)

    def zoom(self, factor: float, x: float | None = None) -> None:
        """Show 1/factor of the time, about a place; without one about the playhead where it is in
        view, else the middle."""
        if x is None:
            middle = self.scale.x0 + self.scale.width / 2
            head = self.scale.x(self.playhead_ns)
            x = head if self.scale.x0 <= head <= self.scale.x0 + self.scale.width else middle
        self.scale.zoom(factor, x)
        self._invalidate()

    def pan(self, px: float) -> None:
        """Show what lies so many pixels later."""
        self.scale.pan(px)
        self._invalidate()

    def scroll_rows(self, count: int) -> None:
        """Go so many rows down, where not all of them have room."""
        self._bar.setValue(self._bar.value() + count)

    # How it is laid out

    def strip_rect(self) -> QRectF:
        return QRectF(self.scale.x0, 4, self.scale.width, STRIP_PX)

    def voice_rect(self) -> QRectF:
        """Where the voice is: as high as the rows leave room, at least 64 px."""
        top = 4 + STRIP_PX + STRIP_GAP_PX
        room = self.height() - top - AXIS_PX - self._rows_height() - 2 * ROW_GAP_PX
        tall = VOICE_PX if self.voice.silent else min(max(VOICE_PX, room), TALLEST_VOICE_PX)
        return QRectF(self.scale.x0, top, self.scale.width, tall)

    def rows_rect(self) -> QRectF:
        top = self.voice_rect().bottom() + ROW_GAP_PX
        height = min(self._rows_height(), self.height() - AXIS_PX - top)
        return QRectF(self.scale.x0, top, self.scale.width, max(0.0, height))

    def axis_rect(self) -> QRectF:
        """Where times are written."""
        top = max(self.rows_rect().bottom(), self.voice_rect().bottom())
        return QRectF(self.scale.x0, top, self.scale.width, AXIS_PX)

    def _rows_height(self) -> int:
        return sum(row.height + ROW_GAP_PX for row in self._rows)

    def sizeHint(self) -> QSize:
        return QSize(
            900, 4 + STRIP_PX + STRIP_GAP_PX + VOICE_PX + self._rows_height() + AXIS_PX + 8
        )

    def minimumSizeHint(self) -> QSize:
        return QSize(360, 4 + STRIP_PX + STRIP_GAP_PX + VOICE_PX + AXIS_PX + 2 * (ROW_GAP_PX + 18))

    @property
    def _rows(self) -> list[TimelineRow]:
        return [*self._recorded, *self._codes]

    def _set_rows(self) -> None:
        outcomes = not self.future_hidden  # the bar of a trial begins before it ended
        self._recorded = make_rows(self._lanes, self.parts, outcomes=outcomes)
        self.updateGeometry()
        self._arrange()

    def _arrange(self) -> None:
        small = metrics(drawing.SMALL_PX)
        titles = [
            tr("word.session"),
            title("sound"),
            *(f"{r.title}   {r.total}" for r in self._rows),
        ]
        least, most = GUTTER_PX
        wanted = max(small.horizontalAdvance(text) for text in titles) + LEFT_PX + 14
        gutter = -(-int(min(max(wanted, least), most, self.width() / 3)) // 4) * 4
        for row in self._rows:
            row.set_compact(compact=False)
        if self._rows_height() > self.rows_rect().height():
            for row in self._rows:
                row.set_compact(compact=True)
        rows, last = self.rows_rect(), self._last_first_row()
        self._bar.setVisible(last > 0)
        right = RIGHT_PX + (theme.SPACE_L if last else 0)
        self.scale.resize(gutter, self.width() - gutter - right)
        self._bar.setRange(0, last)
        self._bar.setPageStep(2)
        at = self.width() - theme.SPACE_L
        self._bar.setGeometry(at, int(rows.top()), theme.SPACE_L, int(rows.height()))
        self._invalidate()

    def _last_first_row(self) -> int:
        """The row that is on top when the last ones are in view; 0 if all have room."""
        room, place = self.rows_rect().height(), len(self._rows)
        while place and (room := room - self._rows[place - 1].height - ROW_GAP_PX) >= 0:
            place -= 1
        return min(place, max(0, len(self._rows) - 1))

    def _invalidate(self) -> None:
        self._back = None
        self._describe()
        self.update()

    def _describe(self) -> None:
        scale = self.scale
        words = tr(
            "replay.position",
            begin=exact_time(int(scale.left_ns)),
            end=exact_time(int(scale.right_ns)),
            all=exact_time(scale.end_ns),
            now=exact_time(self.playhead_ns),
        )
        if self.selection is not None:
            begin, end = map(exact_time, self.selection)
            words = f"{words}; {tr('replay.selected', begin=begin, end=end)}"
        self.setAccessibleDescription(words)

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        ratio = self.devicePixelRatioF()
        if self._back is None or self._back.devicePixelRatio() != ratio:
            self._back = self.painted(ratio)
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._back)
        paint_front(painter, self)
        painter.end()

    def painted(self, ratio: float) -> QPixmap:
        """What stays where it is while the playhead moves; ratio: device pixels a logical one."""
        p, scale = self.palette_, self.scale
        back = QPixmap((self.size() * ratio).expandedTo(QSize(1, 1)))
        back.setDevicePixelRatio(ratio)
        back.fill(p.color("card"))
        painter = QPainter(back)
        view = RowPainting(scale, p, ratio)
        self._paint_axis(painter)
        strip, voice, rows = self.strip_rect(), self.voice_rect(), self.rows_rect()
        self._paint_gutter(painter, tr("word.session"), strip)
        self.voice.paint_strip(painter, strip, view)
        self._paint_gutter(painter, title("sound"), voice)
        painter.setClipRect(voice)
        self.voice.paint(painter, (voice.top(), voice.height()), view)
        for row, top in self.placed():
            painter.setClipRect(QRectF(0, rows.top(), scale.x0 - 6, rows.height()))
            draw_title(painter, row, QRectF(LEFT_PX, top, scale.x0 - 10 - LEFT_PX, row.height), p)
            painter.setClipRect(rows)
            row.paint(painter, top, view)
        painter.end()
        return back

    def placed(self) -> list[tuple[TimelineRow, float]]:
        """The rows in view, and where each begins: whole rows, from the one scrolled to."""
        rows = self.rows_rect()
        top = rows.top() + ROW_GAP_PX / 2
        placed: list[tuple[TimelineRow, float]] = []
        for row in self._rows[self._bar.value() :]:
            if placed and top + row.height > rows.bottom():
                break
            placed.append((row, top))
            top += row.height + ROW_GAP_PX
        return placed

    def _paint_gutter(self, painter: QPainter, text: str, rect: QRectF) -> None:
        painter.setClipping(False)
        write_with(painter, self.palette_.color("secondary"), drawing.SMALL_PX)
        room = QRectF(LEFT_PX, rect.top() - 2, self.scale.x0 - 10 - LEFT_PX, rect.height() + 4)
        words = drawing.elide_text(text, int(room.width()))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)

    def _paint_axis(self, painter: QPainter) -> None:
        axis, top = self.axis_rect(), self.voice_rect().top()
        painter.setFont(font(theme.SECONDARY_PX - 2))
        for t_ns, words in self.scale.ticks():
            x = round(self.scale.x(t_ns))
            painter.setPen(pen(self.palette_.hairline))
            painter.drawLine(QPointF(x, top), QPointF(x, axis.top() + 3))
            width = metrics(theme.SECONDARY_PX - 2).horizontalAdvance(words)
            if x + width <= axis.right() + RIGHT_PX / 2:
                painter.setPen(self.palette_.color("secondary"))
                room = QRectF(x, axis.top() + 3, width + 2, AXIS_PX - 4)
                painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, words)

    def strip_t(self, x: float) -> float:
        """The time at a place of the strip."""
        strip, scale = self.strip_rect(), self.scale
        share = min(max((x - strip.left()) / strip.width(), 0.0), 1.0)
        return scale.begin_ns + share * (scale.end_ns - scale.begin_ns)

    # What a pointer rests on

    def describe(self, x: float, y: float) -> str:
        """What is at a point of the widget, with its time; empty if there is nothing."""
        if x < self.scale.x0:
            names = (row.title for row, top in self.placed() if top <= y < top + row.height)
            return next(names, "")
        if self.strip_rect().contains(QPointF(x, y)):
            return exact_time(round(self.strip_t(x)))
        t_ns = self.scale.t(x)
        near = self.scale.ns_per_px * 6
        lines = [exact_time(t_ns)]
        hidden = self.future_hidden and t_ns > self.playhead_ns
        if self.voice_rect().contains(QPointF(x, y)):
            lines.append(self.voice.tip(t_ns))
        for row, top in self.placed():
            if top <= y < top + row.height and not (hidden and row.recorded):
                limited = self.future_hidden and row.recorded
                reach = min(near, self.playhead_ns - t_ns) if limited else near
                lines.append(row.tip(t_ns, y - top, max(0.0, reach)))
        if not hidden:
            held = [i for i in self.pauses if i.t0_ns <= t_ns < i.t1_ns]
            lines += [item_label(item, self.parts) for item in held]
        return "\n".join(filter(None, lines))

    # Events, which the hand knows what to do with

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            where = event.pos()
            QToolTip.showText(event.globalPos(), self.describe(where.x(), where.y()), self)
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._hand.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hand.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._hand.release(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._hand.wheel(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._hand.key(event):
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()


def paint_front(painter: QPainter, line: Timeline) -> None:
    """Draw what a frame of playing changes."""
    voice, rows = line.voice_rect(), line.rows_rect()
    bottom = max(rows.bottom(), voice.bottom())
    body = QRectF(voice.left(), voice.top() - 6, voice.width(), bottom - voice.top() + 6)
    painter.setClipRect(body)
    left, right = max(line.scale.x(line.playhead_ns), body.left()), body.right()
    if line.future_hidden and left < right:
        for row, top in line.placed():
            if row.recorded:
                cover = QRectF(left, top, right - left, row.height)
                painter.fillRect(cover, line.palette_.color("card"))
                painter.fillRect(cover, drawing.hatch(line.palette_.hairline))
    _paint_pauses(painter, line, QRectF(body.left(), voice.top(), body.width(), bottom))
    _paint_stretches(painter, line, voice, bottom)
    x = line.scale.x(line.playhead_ns)
    if body.left() - KNOB_PX <= x <= body.right() + KNOB_PX:
        painter.setClipRect(body.adjusted(-KNOB_PX, 0, KNOB_PX, 0))
        painter.setPen(pen(line.palette_.alarm, 1.5))
        painter.drawLine(QPointF(x, voice.top() - 2), QPointF(x, bottom))
        equip(painter, Qt.PenStyle.NoPen, line.palette_.color("alarm"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.drawEllipse(QPointF(x, voice.top() - 1.5), KNOB_PX, KNOB_PX)
    painter.setClipping(False)
    _paint_frame(painter, line)
    if line.hasFocus():
        ring = QRectF(line.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        draw_focus_ring(painter, ring, 4, line.palette_.accent)


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
        text = drawing.elide_text(item_label(item, line.parts), int(room.width() - 8))
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
        edges = {"begin": unit.t0_ns, "end": unit.t1_ns}
        if line.moved_edge is not None and line.moved_edge[0] == unit.id:
            edges[line.moved_edge[1]] = line.moved_edge[2]  # where it is dragged right now
        left, right = scale.x(edges["begin"]), scale.x(edges["end"])
        room = QRectF(left, voice.top(), right - left, bottom - voice.top())
        painter.fillRect(room, drawing.translucent(p.accent, 28))
        width, height = HANDLE_PX
        equip(painter, Qt.PenStyle.NoPen, p.color("accent"))
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
        equip(painter, pen(p.accent, dashed=True), drawing.translucent(p.accent, 40))
        painter.drawRect(room)


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
        equip(painter, pen(p.accent, 2), drawing.translucent(p.accent, 24))
        painter.drawRoundedRect(frame, 3, 3)


def _strip_x(line: Timeline, t_ns: float) -> float:
    strip, scale = line.strip_rect(), line.scale
    share = (t_ns - scale.begin_ns) / (scale.end_ns - scale.begin_ns)
    return strip.left() + share * strip.width()


SLOP_PX = 4
"""A press that moves less is a click."""
LEAST_UNIT_NS = NS // 20
NOTCH = 120
PAN_SHARE = 0.8


class Drag(Enum):
    """What a held button does."""

    PRESS, PAN, EDGE, SELECT, SCRUB, FRAME = (auto() for _ in range(6))


class DragState:
    """The state of a drag, and what comes of it."""

    def __init__(self, timeline: Timeline) -> None:
        self._line = timeline
        self._drag: Drag | None = None
        self._from = QPointF()
        self._last = QPointF()
        self._edge: Edge | None = None
        self._anchor_ns = 0

    @property
    def busy(self) -> bool:
        """Whether a button is held."""
        return self._drag is not None

    def press(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        line, where = self._line, event.position()
        self._from = self._last = where
        self._anchor_ns = line.scale.t(where.x())
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        in_voice = line.voice_rect().contains(where)
        self._edge = self._edge_at(where) if in_voice and not shift else None
        if line.strip_rect().adjusted(0, -4, 0, 4).contains(where):
            self._drag = Drag.FRAME
            self._centre(where.x())
        elif where.x() < line.scale.x0:
            self._drag = None
        elif line.axis_rect().contains(where):
            self._drag = Drag.SCRUB
            line.scrubbed.emit(self._anchor_ns)
        elif self._edge is not None:
            self._drag = Drag.EDGE
        elif shift and in_voice:
            self._drag = Drag.SELECT
        else:
            self._drag = Drag.PRESS

    def move(self, event: QMouseEvent) -> None:
        line, where = self._line, event.position()
        t_ns = line.scale.t(where.x())
        far = abs(where.x() - self._from.x()) >= SLOP_PX
        if self._drag is Drag.PRESS and far:
            self._drag = Drag.PAN
            self._last = self._from
        match self._drag:
            case Drag.PAN:
                line.pan(self._last.x() - where.x())
            case Drag.EDGE if self._edge is not None and (far or line.moved_edge is not None):
                line.moved_edge = (*self._edge[:2], self._keep_apart(self._edge, t_ns))
                line.update()
            case Drag.SELECT:
                line.set_selection(min(self._anchor_ns, t_ns), max(self._anchor_ns, t_ns))
            case Drag.SCRUB:
                line.scrubbed.emit(t_ns)
            case Drag.FRAME:
                self._centre(where.x())
        self._last = where
        self._show_cursor(where)

    def release(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        line, drag = self._line, self._drag
        self._drag = None
        t_ns = line.scale.t(event.position().x())
        match drag:
            case Drag.PRESS | Drag.SCRUB:
                line.seeked.emit(t_ns)
            case Drag.EDGE if line.moved_edge is not None:
                moved, line.moved_edge = line.moved_edge, None
                line.boundary_moved.emit(*moved)
                line.update()
            case Drag.EDGE:
                line.seeked.emit(t_ns)
            case Drag.SELECT if line.selection is not None:
                begin, end = line.selection
                if end > begin:
                    line.selected.emit(begin, end)
            case Drag.SELECT:
                line.seeked.emit(t_ns)
        self._edge = None
        self._show_cursor(event.position())

    def wheel(self, event: QWheelEvent) -> None:
        """Zoom at the pointer; sideways, or with Shift, move; over the titles, scroll the rows."""
        line, turned = self._line, event.angleDelta()
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        event.accept()
        if event.position().x() < line.scale.x0:
            line.scroll_rows(round(-turned.y() / NOTCH))
        elif abs(turned.x()) > abs(turned.y()):
            line.pan(-turned.x())
        elif shift:
            line.pan(-turned.y())
        elif turned.y():
            line.zoom(ZOOM_STEP ** (turned.y() / NOTCH), event.position().x())

    def key(self, event: QKeyEvent) -> bool:
        """What a key does here; False if the window is to have it: letters are codes, arrows go
        from unit to unit."""
        line = self._line
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        match event.key():
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal if control:
                line.zoom(ZOOM_STEP)
            case Qt.Key.Key_Minus if control:
                line.zoom(1 / ZOOM_STEP)
            case Qt.Key.Key_0 if control:
                line.show_all()
            case Qt.Key.Key_PageDown:
                line.pan(PAN_SHARE * line.scale.width)
            case Qt.Key.Key_PageUp:
                line.pan(-PAN_SHARE * line.scale.width)
            case Qt.Key.Key_Home:
                line.pan(-(line.scale.end_ns - line.scale.begin_ns) / line.scale.ns_per_px)
            case Qt.Key.Key_End:
                line.pan((line.scale.end_ns - line.scale.begin_ns) / line.scale.ns_per_px)
            case Qt.Key.Key_Escape if line.selection is not None:
                line.set_selection(None)
            case _:
                return False
        event.accept()
        return True

    def _centre(self, x: float) -> None:
        line = self._line
        line.scale.left_ns = line.strip_t(x) - line.scale.span_ns / 2
        line.pan(0)

    def _edge_at(self, where: QPointF) -> Edge | None:
        line = self._line
        if not line.editable or not line.voice_rect().contains(where):
            return None
        return line.voice.edge_at(line.scale, where.x(), line.current_unit)

    def _keep_apart(self, edge: Edge, t_ns: int) -> int:
        """A time for an edge at which the unit still lasts a moment."""
        unit = self._line.voice.unit(edge.unit)
        if unit is None:
            return t_ns
        if edge.which == "begin":
            return min(t_ns, unit.t1_ns - LEAST_UNIT_NS)
        return max(t_ns, unit.t0_ns + LEAST_UNIT_NS)

    def _show_cursor(self, where: QPointF) -> None:
        shape = Qt.CursorShape.ArrowCursor
        if self._drag is Drag.PAN:
            shape = Qt.CursorShape.ClosedHandCursor
        elif self._drag is Drag.EDGE or (self._drag is None and self._edge_at(where) is not None):
            shape = Qt.CursorShape.SizeHorCursor
        elif self._drag is Drag.SELECT:
            shape = Qt.CursorShape.IBeamCursor
        if self._line.cursor().shape() != shape:
            self._line.setCursor(shape)


EDGE_PX = 5
"""How far from the edge of a unit it can be taken hold of."""
ABSENT = {"lost": "alarm", "unrecorded": "secondary"}
"""Stretches without sound, and the colours they are hatched in."""
STRIP_FINER = 16
"""Columns of sound that a column of the strip is the mean of."""


class Edge(NamedTuple):
    """The begin or the end of a unit."""

    unit: str
    which: str
    t_ns: int


class VoiceLane:
    """The lane of the voice, and its units."""

    def __init__(self) -> None:
        self._peaks: Peaks | None = None
        self._columns: drawing.WaveColumns | None = None
        self._gain = 1.0
        self._items: Sequence[LaneItem] = ()
        self.units: tuple[Unit, ...] = ()
        """In order of their beginnings."""
        self._by_id: dict[str, Unit] = {}
        self._t0 = self._t1 = np.empty(0, dtype=np.int64)
        self._level: tuple[int, np.ndarray] | None = None

    @property
    def silent(self) -> bool:
        """Whether the session has no sound."""
        return self._peaks is None

    def set_peaks(self, peaks: Peaks | None, scale: TimeScale) -> None:
        """The sound; None if a session has none."""
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
        self.units = tuple(sorted(units, key=lambda unit: (unit.t0_ns, unit.t1_ns)))
        self._by_id = {unit.id: unit for unit in self.units}
        self._t0 = np.array([unit.t0_ns for unit in self.units], dtype=np.int64)
        self._t1 = np.array([unit.t1_ns for unit in self.units], dtype=np.int64)

    def unit(self, unit_id: str | None) -> Unit | None:
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
                unit = self.units[place]
                rank = (unit.id != current, not inside, abs(times[place] - at))
                edges.append((rank, Edge(unit.id, which, int(times[place]))))
        return min(edges)[1] if edges else None

    def paint(self, painter: QPainter, band: tuple[float, float], view: RowPainting) -> None:
        """Units, lost sound and the waveform."""
        scale, p = view.scale, view.palette
        top, height = band
        self._paint_units(painter, band, view)
        for item in self._find_visible(scale):
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
            # In the lower half: a gap has its name at the top.
            room = QRectF(scale.x0 + drawing.TEXT_PX, middle, scale.width, height / 2)
            words = tr("replay.no_sound")
            drawing.draw_label(painter, room, words, p.color("secondary"))
        for item in self._find_visible(scale):
            words = item_label(item, {})
            rect = _rect(scale, band, item)
            if item.kind in ABSENT and drawing.elide_text(words, int(rect.width() - 4)) == words:
                width = metrics(drawing.SMALL_PX).horizontalAdvance(words) + 6
                low = QRectF(rect.left(), top + height - 17, min(rect.width(), width), 16)
                painter.fillRect(low, p.color("card"))
                ink = p.color(ABSENT[item.kind])
                drawing.draw_label(painter, low.adjusted(3, 0, 0, 0), words, ink)

    def _paint_wave(
        self,
        painter: QPainter,
        band: tuple[float, float],
        view: RowPainting,
        columns: drawing.WaveColumns,
    ) -> None:
        scale, ratio = view.scale, view.ratio
        count, height = round(scale.width * ratio), round(band[1] * ratio)
        per_column = scale.span_ns / count
        first = round(scale.left_ns / per_column)
        low, high = columns.between(first, count, per_column)
        ink = drawing.mix_colours(view.palette.good, view.palette.card, 0.8)
        pixels = drawing.wave_pixels(low, high, height, ink, self._gain)
        drawing.draw_pixels(painter, scale.x0, band[0], pixels, ratio)

    def _paint_units(self, painter: QPainter, band: tuple[float, float], view: RowPainting) -> None:
        scale, p = view.scale, view.palette
        painter.setPen(Qt.PenStyle.NoPen)
        ground = np.full(self._t0.size, p.color("accent_soft").rgba(), dtype=np.uint32)
        for place, unit in enumerate(self.units):
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

    def _find_visible(self, scale: TimeScale) -> list[LaneItem]:
        return [i for i in self._items if i.t1_ns >= scale.left_ns and i.t0_ns <= scale.right_ns]

    def tip(self, t_ns: int) -> str:
        """What is known of the sound at a time."""
        lines = [item_tip(i, {}) for i in self._items if i.t0_ns <= t_ns < i.t1_ns]
        place = int(np.searchsorted(self._t0, t_ns, "right")) - 1
        if place >= 0 and t_ns < self._t1[place]:
            unit = self.units[place]
            length = exact_time(unit.t1_ns - unit.t0_ns)
            lines.append(f"{tr(SPEAKER_NAMES[unit.speaker])} · {length}")
        return "\n".join(lines)

    def paint_strip(self, painter: QPainter, rect: QRectF, view: RowPainting) -> None:
        """The whole session: how loud it was, and where sound was lost."""
        scale, p = view.scale, view.palette
        equip(painter, Qt.PenStyle.NoPen, p.color("track"))
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

    def _loudness(self, scale: TimeScale, count: int, view: RowPainting) -> NDArray[np.uint32]:
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
