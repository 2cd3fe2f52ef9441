"""The session's timeline: voice envelope, blocks and marks.

What does not change is drawn into a pixmap once; a tick adds the newest columns of the envelope and
moves the cursor. A new block or mark draws the pixmap anew, which is a few milliseconds a few times
a minute.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QPolygonF,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from labapp.clock import NS
from labapp.ui import theme
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.state.timeline import Block, Hearing, Mark, Timeline
from labapp.ui.theme import Palette
from labapp.ui.widgets.painting import brush, font, metrics, pen

BIN_NS = 100_000_000
SPANS_MIN = (5, 10, 15, 20, 30, 45, 60, 75, 90, 120, 150, 180, 240, 360, 480)
LEAST_SPAN_NS = 10 * NS
TICKS_S = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)
TICK_PX = 90
HEAD_PX, PARTS_PX, TRIALS_PX, AXIS_PX, STRIP_PX = 14, 20, 8, 18, 3
NEAR_PX = 6
STATE_COLOURS = {"silent": "warn", "zeros": "alarm", "clipping": "alarm"}
MARK_COLOURS = {
    "note": "accent",
    "flag": "warn",
    "prompt": "good",
    "alarm": "alarm",
    "pause": "secondary",
    "gap": "secondary",
}
TRIAL_COLOURS = {"solved": "good", "skipped": "warn"}


class TimelineView(QWidget):
    """Wheel zooms at the pointer, dragging moves, a double click (or Home) shows everything."""

    def __init__(self, palette: Palette, timeline: Timeline) -> None:
        super().__init__()
        self._palette = palette
        self._timeline = timeline
        self._peaks = array("f")
        self._now_ns = 0
        self._range: tuple[int, int] | None = None
        self._pixmap: QPixmap | None = None
        self._drawn: tuple[object, ...] = ()
        self._drawn_bins = 0
        self._cursor_x = -1
        self._drag: tuple[float, tuple[int, int]] | None = None
        self.setMinimumHeight(110)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Timeline")

    def show_now(self, now_ns: int, peak: float | None) -> None:
        """Go on to working time now_ns; peak: the voice's since the last call, None without sound
        (or in a pause)."""
        self._now_ns = max(now_ns, 0)
        if peak is not None:
            self._add_peak(self._now_ns, peak)
        start, end = self.range()
        x = round(self._x(self._now_ns) * self.devicePixelRatioF())
        changed = self._key(start, end) != self._drawn
        if changed or x != self._cursor_x:
            self._cursor_x = x
            self.update()

    def show_past(self, peaks: Sequence[tuple[int, float]]) -> None:
        """The voice of earlier runs: (working time in ns, peak 0 to 1)."""
        for t_ns, peak in peaks:
            self._add_peak(t_ns, peak)
        self._pixmap = None
        self.update()

    def _add_peak(self, t_ns: int, peak: float) -> None:
        index = t_ns // BIN_NS
        if index >= len(self._peaks):
            self._peaks.extend([0.0] * (index + 1 - len(self._peaks)))
        self._peaks[index] = max(self._peaks[index], peak)

    def range(self) -> tuple[int, int]:
        """Working time at the left and right edge, in ns."""
        if self._range is not None:
            return self._range
        minutes = self._now_ns / NS / 60
        span = next((m for m in SPANS_MIN if minutes <= m * 0.98), SPANS_MIN[-1])
        return 0, max(span * 60 * NS, self._now_ns)

    @property
    def follows(self) -> bool:
        """Whether it shows the whole session and grows with it."""
        return self._range is None

    def show_all(self) -> None:
        self._range = None
        self.update()

    def zoom(self, factor: float, at_x: float) -> None:
        """Show 1/factor of the time, keeping what is under at_x in its place."""
        start, end = self.range()
        whole = self._whole()
        span = max(LEAST_SPAN_NS, round((end - start) / factor))
        if span >= whole:
            self.show_all()
            return
        t_ns = self._t(at_x)
        share = at_x / max(1, self.width())
        self._set_range(round(t_ns - share * span), span)

    def pan(self, by_ns: int) -> None:
        """Show a later (or, below 0, earlier) stretch."""
        if self._range is not None:
            start, end = self._range
            self._set_range(start + by_ns, end - start)

    def _whole(self) -> int:
        kept, self._range = self._range, None
        start, end = self.range()
        self._range = kept
        return end - start

    def _set_range(self, start: int, span: int) -> None:
        start = min(max(0, start), max(0, self._whole() - span))
        self._range = (start, start + span)
        self.update()

    def describe(self, x: float, y: float) -> str:
        """What is at a point: a mark near it, else the question and part below it."""
        marks = [m for m in self._timeline.marks if abs(self._x(m.at_ns) - x) <= NEAR_PX]
        if marks and y < self._parts_top() + PARTS_PX:
            nearest = min(marks, key=lambda m: abs(self._x(m.at_ns) - x))
            return f"{wording.short_time(nearest.at_ns)}  {nearest.text}"
        t_ns = self._t(x)
        found = [_at(self._timeline.parts, t_ns), _at(self._timeline.trials, t_ns)]
        lines = [self._block_text(block) for block in found if block is not None]
        return "\n".join((wording.short_time(t_ns), *lines)) if t_ns <= self._now_ns else ""

    def _block_text(self, block: Block) -> str:
        end = self._now_ns if block.end_ns is None else block.end_ns
        how = "" if block.outcome is None else f", {wording.OUTCOMES.get(block.outcome, '')}"
        return f"{block.label}: {wording.short_time(end - block.start_ns)}{how}"

    def _x(self, t_ns: int) -> float:
        start, end = self.range()
        return (t_ns - start) / (end - start) * self.width()

    def _t(self, x: float) -> int:
        start, end = self.range()
        return round(start + x / max(1, self.width()) * (end - start))

    def _parts_top(self) -> float:
        return self.height() - AXIS_PX - TRIALS_PX - PARTS_PX - 8.0

    def _key(self, start: int, end: int) -> tuple[object, ...]:
        return (
            start,
            end,
            self.width(),
            self.height(),
            self.devicePixelRatioF(),
            self._timeline.version,
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        key = self._key(*self.range())
        if self._pixmap is None or key != self._drawn:
            self._draw(key)
        self._draw_new_bins()
        painter = QPainter(self)
        assert self._pixmap is not None
        painter.drawPixmap(0, 0, self._pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for heard in self._timeline.hearing[-1:]:
            self._paint_heard(painter, heard, self._now_ns)
        for block in self._timeline.parts[-1:]:
            if block.end_ns is None:
                self._paint_part(painter, block)
        for block in self._timeline.trials[-1:]:
            if block.end_ns is None:
                self._paint_trial(painter, block)
        x = self._x(self._now_ns)
        painter.setPen(pen(self._palette.secondary, 1.0))
        painter.drawLine(QPointF(x, HEAD_PX), QPointF(x, self._parts_top() - 2))
        if self.hasFocus():
            painter.setPen(pen(self._palette.accent, 1.0, dashed=True))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(0.5, 0.5, self.width() - 1, self.height() - 1))

    def _draw(self, key: tuple[object, ...]) -> None:
        ratio = self.devicePixelRatioF()
        self._pixmap = QPixmap(self.size() * ratio)
        self._pixmap.setDevicePixelRatio(ratio)
        self._pixmap.fill(Qt.GlobalColor.transparent)
        self._drawn, self._drawn_bins = key, 0
        painter = QPainter(self._pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_axis(painter)
        self._paint_hearing(painter)
        for block in self._timeline.parts:
            if block.end_ns is not None:
                self._paint_part(painter, block)
        for block in self._timeline.trials:
            if block.end_ns is not None:
                self._paint_trial(painter, block)
        painter.end()
        self._draw_new_bins()
        painter = QPainter(self._pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for mark in self._timeline.marks:
            self._paint_mark(painter, mark)
        painter.end()

    def _draw_new_bins(self) -> None:
        """Add the envelope's new columns to the pixmap."""
        assert self._pixmap is not None
        if self._drawn_bins >= len(self._peaks):
            return
        start, end = self.range()
        first = max(self._drawn_bins - 1, start // BIN_NS, 0)
        last = min(len(self._peaks), end // BIN_NS + 1)
        self._drawn_bins = len(self._peaks)
        if last <= first:
            return
        bins = np.frombuffer(self._peaks, dtype=np.float32)[first:last]
        x = ((np.arange(first, last) * BIN_NS - start) / (end - start) * self.width()).astype(int)
        columns, at = np.unique(x, return_index=True)
        highest = np.maximum.reduceat(bins, at)
        middle = (HEAD_PX + self._parts_top()) / 2
        half = (self._parts_top() - HEAD_PX) / 2 - STRIP_PX - 3
        lines = []
        for column, peak in zip(columns.tolist(), highest.tolist(), strict=True):
            # Softer than decibel, so that loud and quiet words differ to the eye.
            tall = max(0.5, min(1.0, peak**0.6) * half)
            lines.append(QLineF(column + 0.5, middle - tall, column + 0.5, middle + tall))
        # Bins wider than a pixel stand apart as bars.
        thick = max(1.0, BIN_NS / (end - start) * self.width() * 0.7)
        del bins  # an array whose memory is looked at cannot grow
        painter = QPainter(self._pixmap)
        voice = self._palette.color("good")
        voice.setAlphaF(0.75)
        painter.setPen(pen(voice.name(QColor.NameFormat.HexArgb), thick))
        painter.drawLines(lines)
        painter.end()

    def _paint_axis(self, painter: QPainter) -> None:
        start, end = self.range()
        per_px = (end - start) / NS / max(1, self.width())
        step = next((s for s in TICKS_S if s / per_px >= TICK_PX), TICKS_S[-1]) * NS
        painter.setFont(font(theme.SECONDARY_PX - 2))
        top = self.height() - AXIS_PX
        for t_ns in range(start - start % step, end + 1, step):
            x = self._x(t_ns)
            if x < 0 or x > self.width() - 20:
                continue
            painter.setPen(pen(self._palette.hairline))
            painter.drawLine(QPointF(x, HEAD_PX), QPointF(x, top))
            painter.setPen(self._palette.color("secondary"))
            painter.drawText(QPointF(x + 3, self.height() - 4.0), wording.short_time(t_ns))

    def _paint_hearing(self, painter: QPainter) -> None:
        """A strip below the envelope where the voice was not simply heard."""
        for heard, after in pairwise(self._timeline.hearing):
            self._paint_heard(painter, heard, after.at_ns)

    def _paint_heard(self, painter: QPainter, heard: Hearing, end_ns: int) -> None:
        if heard.state in STATE_COLOURS:
            left, right = self._x(heard.at_ns), self._x(end_ns)
            colour = getattr(self._palette, STATE_COLOURS[heard.state])
            y = self._parts_top() - STRIP_PX - 3
            painter.fillRect(QRectF(left, y, max(1.0, right - left), STRIP_PX), brush(colour))

    def _paint_part(self, painter: QPainter, block: Block) -> None:
        box = self._box(block, self._parts_top(), PARTS_PX)
        if box is None:
            return
        p = self._palette
        running = block.end_ns is None
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(brush(p.accent_soft if running else p.track))
        painter.drawRoundedRect(box, 3, 3)
        if box.width() < 24:
            return
        painter.setFont(font(theme.SECONDARY_PX - 1))
        painter.setPen(p.color("ink" if running else "secondary"))
        room = box.width() - 10
        text = metrics(theme.SECONDARY_PX - 1).elidedText(
            block.label, Qt.TextElideMode.ElideRight, room
        )
        where = QRectF(box.left() + 5, box.top(), room, box.height())
        painter.drawText(where, Qt.AlignmentFlag.AlignVCenter, text if len(text) > 2 else "")

    def _paint_trial(self, painter: QPainter, block: Block) -> None:
        box = self._box(block, self._parts_top() + PARTS_PX + 3, TRIALS_PX)
        if box is None:
            return
        token = "accent" if block.end_ns is None else TRIAL_COLOURS.get(block.outcome or "", "")
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(brush(getattr(self._palette, token or "secondary")))
        # Shape tells besides colour: solved is full, anything else is a thin bar.
        thin = block.end_ns is not None and block.outcome != "solved"
        painter.drawRoundedRect(box.adjusted(0, TRIALS_PX / 2 if thin else 0, 0, 0), 2, 2)

    def _box(self, block: Block, top: float, high: float) -> QRectF | None:
        left = self._x(block.start_ns)
        right = self._x(self._now_ns if block.end_ns is None else block.end_ns)
        if right < 0 or left > self.width():
            return None
        left, right = max(-4.0, left), min(self.width() + 4.0, right)
        return QRectF(left, top, max(1.5, right - left - 1), high)

    def _paint_mark(self, painter: QPainter, mark: Mark) -> None:
        x = self._x(mark.at_ns)
        if not -NEAR_PX <= x <= self.width() + NEAR_PX:
            return
        colour = getattr(self._palette, MARK_COLOURS[mark.kind])
        quiet = mark.kind in ("pause", "gap")
        painter.setPen(pen(colour, 1.2, dashed=quiet))
        painter.drawLine(QPointF(x, HEAD_PX - 4), QPointF(x, self._parts_top() - 2))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(brush(colour))
        y = 6.0
        match mark.kind:
            case "note":
                painter.drawEllipse(QPointF(x, y), 4.5, 4.5)
            case "flag":
                painter.drawPolygon(_shape(x, y, ((-1, -5), (8, -1), (-1, 4))))
            case "prompt":
                painter.drawRect(QRectF(x - 4, y - 4, 8, 8))
            case "alarm":
                painter.drawPolygon(_shape(x, y, ((0, -6), (6, 5), (-6, 5))))
            case _:
                painter.drawRect(QRectF(x - 4, y - 5, 3, 10))
                painter.drawRect(QRectF(x + 1, y - 5, 3, 10))

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta()
        if abs(turned.x()) > abs(turned.y()):
            start, end = self.range()
            self.pan(round(-turned.x() / 1200 * (end - start)))
        elif turned.y():
            self.zoom(1.25 ** (turned.y() / 120), event.position().x())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._drag = (event.position().x(), self.range())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        where = event.position()
        if self._drag is not None and self._range is not None:
            x, (start, end) = self._drag
            moved = (x - where.x()) / max(1, self.width()) * (end - start)
            self._set_range(round(start + moved), end - start)
            return
        QToolTip.showText(
            event.globalPosition().toPoint(), self.describe(where.x(), where.y()), self
        )

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._drag = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.show_all()

    def leaveEvent(self, event: QEvent) -> None:
        QToolTip.hideText()
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        start, end = self.range()
        match event.key():
            case Qt.Key.Key_Plus | Qt.Key.Key_Up:
                self.zoom(1.25, self.width() / 2)
            case Qt.Key.Key_Minus | Qt.Key.Key_Down:
                self.zoom(0.8, self.width() / 2)
            case Qt.Key.Key_Left:
                self.pan((start - end) // 10)
            case Qt.Key.Key_Right:
                self.pan((end - start) // 10)
            case Qt.Key.Key_Home:
                self.show_all()
            case _:
                super().keyPressEvent(event)


def _at(blocks: Sequence[Block], t_ns: int) -> Block | None:
    index = bisect_right(blocks, t_ns, key=lambda block: block.start_ns) - 1
    if index < 0:
        return None
    block = blocks[index]
    return block if block.end_ns is None or t_ns < block.end_ns else None


def _shape(x: float, y: float, corners: Sequence[tuple[float, float]]) -> QPolygonF:
    return QPolygonF([QPointF(x + dx, y + dy) for dx, dy in corners])


class TimelinePanel(QFrame):
    """The timeline in its card, with a button back to the whole session."""

    def __init__(self, palette: Palette, timeline: Timeline) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.view = TimelineView(palette, timeline)
        self.all = QPushButton("Show all")
        self.all.setProperty("role", "chip")
        self.all.clicked.connect(self.view.show_all)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_S, theme.SPACE_L, theme.SPACE_S)
        layout.setSpacing(theme.SPACE_XS)
        head = QHBoxLayout()
        head.addWidget(bits.label("TIMELINE", "section"))
        help_text = "● note   ▶ flag   ■ prompt   ▲ alarm   ‖ pause      wheel zooms, drag moves"
        legend = bits.label(help_text, "secondary")
        head.addStretch(1)
        head.addWidget(legend)
        head.addWidget(self.all)
        layout.addLayout(head)
        layout.addWidget(self.view, 1)
