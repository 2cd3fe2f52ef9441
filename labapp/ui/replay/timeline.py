"""The timeline of a recorded session: a strip of all of it, the voice, and rows for all else.

Wheel zooms at the pointer, dragging moves, a click plays from there; Shift and dragging selects,
the axis scrubs, the edges of units can be drawn. What does not move with the playhead is painted
when the view changes and kept as a picture; a frame of playing is that picture and a line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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

from labapp.annotations.model import Unit
from labapp.clock import NS
from labapp.plugins.part import PlannedPart
from labapp.replay.lanes import Lane, LaneItem
from labapp.ui import theme
from labapp.ui.language import tr
from labapp.ui.replay import time_drawing as drawing
from labapp.ui.replay.lane_words import item_label, title
from labapp.ui.replay.time_drawing import View
from labapp.ui.replay.time_scale import TimeScale, exact_time
from labapp.ui.replay.timeline_front import paint_front
from labapp.ui.replay.timeline_hand import Hand
from labapp.ui.replay.timeline_rows import (
    CodeLane,
    CodeRow,
    Row,
    code_rows,
    draw_title,
    recorded_rows,
)
from labapp.ui.replay.timeline_voice import Voice
from labapp.ui.theme import Palette
from labapp.ui.widgets.painting import font, metrics, pen

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

    Attributes
    ----------
    seeked
        A time was clicked: play from there.
    scrubbed
        The axis is dragged over a time.
    boundary_moved
        Of a unit's id its `begin` or `end` was dragged to a time.
    selected
        From and until when was selected.
    """

    seeked = Signal(object)
    scrubbed = Signal(object)
    boundary_moved = Signal(object, object, object)
    selected = Signal(object, object)

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.palette_ = palette
        self.scale = TimeScale()
        self.voice = Voice()
        self.playhead_ns = 0
        self.selection: tuple[int, int] | None = None
        self.current_unit: str | None = None
        self.moved_edge: tuple[str, str, int] | None = None
        self.editable = False
        self._lanes: Sequence[Lane] = ()
        self._recorded: list[Row] = []
        self._codes: list[CodeRow] = []
        self.parts: Mapping[str, PlannedPart] = {}
        self.pauses: Sequence[LaneItem] = ()
        self.future_hidden = False
        self._back: QPixmap | None = None
        self._bar = QScrollBar(Qt.Orientation.Vertical, self)
        self._bar.valueChanged.connect(self._changed)
        self._bar.hide()
        self._hand = Hand(self)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Timeline"))
        self._arrange()

    # What it shows

    def set_session(
        self, begin_ns: int, end_ns: int, parts: Mapping[str, PlannedPart] | None = None
    ) -> None:
        """How long the session is, and the parts of its plan by their ids; all of it is shown."""
        self.parts = parts or {}
        self.scale.set_session(begin_ns, end_ns)
        self._set_rows()

    def set_peaks(self, peaks: drawing.PeakSource | None) -> None:
        """The heights of its sound; None where there is none. Call `set_session` first."""
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
        self._changed()

    def set_current_unit(self, unit_id: str | None) -> None:
        """The unit that is coded now."""
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
            self._changed()
        if t_ns // NS != second:
            self._describe()
        self.update()

    def set_selection(self, t0_ns: int | None, t1_ns: int | None = None) -> None:
        """A selected stretch; None for none."""
        self.selection = None if t0_ns is None or t1_ns is None else (t0_ns, t1_ns)
        self._describe()
        self.update()

    def set_future_hidden(self, hidden: bool) -> None:
        """Whether rows tell nothing of what comes after the playhead; voice and units stay."""
        self.future_hidden = hidden
        self._set_rows()

    # Where it looks

    def show_all(self) -> None:
        """The whole session."""
        self.show_stretch(self.scale.begin_ns, self.scale.end_ns)

    def show_stretch(self, t0_ns: float, t1_ns: float) -> None:
        """A stretch of it."""
        self.scale.show(t0_ns, t1_ns)
        self._changed()

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
        self._changed()

    def pan(self, px: float) -> None:
        """Show what lies so many pixels later."""
        self.scale.pan(px)
        self._changed()

    def scroll_rows(self, count: int) -> None:
        """Go so many rows down, where not all of them have room."""
        self._bar.setValue(self._bar.value() + count)

    # How it is laid out

    def strip_rect(self) -> QRectF:
        """Where the strip of the whole session is."""
        return QRectF(self.scale.x0, 4, self.scale.width, STRIP_PX)

    def voice_rect(self) -> QRectF:
        """Where the voice is: as high as the rows leave room, at least 64 px."""
        top = 4 + STRIP_PX + STRIP_GAP_PX
        room = self.height() - top - AXIS_PX - self._rows_height() - 2 * ROW_GAP_PX
        tall = VOICE_PX if self.voice.silent else min(max(VOICE_PX, room), TALLEST_VOICE_PX)
        return QRectF(self.scale.x0, top, self.scale.width, tall)

    def rows_rect(self) -> QRectF:
        """Where the rows are."""
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
    def _rows(self) -> list[Row]:
        return [*self._recorded, *self._codes]

    def _set_rows(self) -> None:
        outcomes = not self.future_hidden  # the bar of a trial begins before it ended
        self._recorded = recorded_rows(self._lanes, self.parts, outcomes=outcomes)
        self.updateGeometry()
        self._arrange()

    def _arrange(self) -> None:
        small = metrics(drawing.SMALL_PX)
        titles = [tr("Session"), title("sound"), *(f"{r.title}   {r.total}" for r in self._rows)]
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
        self._changed()

    def _last_first_row(self) -> int:
        """The row that is on top when the last ones are in view; 0 where all have room."""
        room, place = self.rows_rect().height(), len(self._rows)
        while place and (room := room - self._rows[place - 1].height - ROW_GAP_PX) >= 0:
            place -= 1
        return min(place, max(0, len(self._rows) - 1))

    def _changed(self) -> None:
        self._back = None
        self._describe()
        self.update()

    def _describe(self) -> None:
        scale = self.scale
        words = tr(
            "{begin} to {end} of {all}; playhead at {now}",
            begin=exact_time(int(scale.left_ns)),
            end=exact_time(int(scale.right_ns)),
            all=exact_time(scale.end_ns),
            now=exact_time(self.playhead_ns),
        )
        if self.selection is not None:
            chosen = tr("selected: {begin} to {end}", **self._selection_words())
            words = f"{words}; {chosen}"
        self.setAccessibleDescription(words)

    def _selection_words(self) -> dict[str, str]:
        begin, end = self.selection or (0, 0)
        return {"begin": exact_time(begin), "end": exact_time(end)}

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
        view = View(scale, p, ratio)
        self._paint_axis(painter)
        strip, voice, rows = self.strip_rect(), self.voice_rect(), self.rows_rect()
        self._paint_gutter(painter, tr("Session"), strip)
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

    def placed(self) -> list[tuple[Row, float]]:
        """The rows in view, and where each begins: whole rows, from the one scrolled to."""
        rows = self.rows_rect()
        top = rows.top() + ROW_GAP_PX / 2
        placed: list[tuple[Row, float]] = []
        for row in self._rows[self._bar.value() :]:
            if placed and top + row.height > rows.bottom():
                break
            placed.append((row, top))
            top += row.height + ROW_GAP_PX
        return placed

    def _paint_gutter(self, painter: QPainter, text: str, rect: QRectF) -> None:
        painter.setClipping(False)
        painter.setFont(font(drawing.SMALL_PX))
        painter.setPen(self.palette_.color("secondary"))
        room = QRectF(LEFT_PX, rect.top() - 2, self.scale.x0 - 10 - LEFT_PX, rect.height() + 4)
        words = drawing.elided(text, int(room.width()))
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
        """What is at a point of the widget, with its time; empty where there is nothing."""
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
                reach = min(near, self.playhead_ns - t_ns) if self._limited(row) else near
                lines.append(row.tip(t_ns, y - top, max(0.0, reach)))
        if not hidden:
            held = [i for i in self.pauses if i.t0_ns <= t_ns < i.t1_ns]
            lines += [item_label(item, self.parts) for item in held]
        return "\n".join(filter(None, lines))

    def _limited(self, row: Row) -> bool:
        return self.future_hidden and row.recorded

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
