"""The session's timeline: voice envelope, blocks and marks.

Axis, closed blocks and envelope are drawn into a pixmap once; a tick adds the newest columns of the
envelope to it and moves the cursor. A closed block draws the pixmap anew, a few times a minute.
"""

from __future__ import annotations

import math
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
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QSizePolicy,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from labapp.ui import theme
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.state.timeline import Block, Timeline
from labapp.ui.moderator.state.timescale import Timescale
from labapp.ui.moderator.timeline_paint import HEAD_PX, NEAR_PX, TimelinePaint
from labapp.ui.theme import Palette
from labapp.ui.widgets.buttons import Button
from labapp.ui.widgets.painting import pen

BIN_NS = 100_000_000
WHEEL_NOTCH = 120
ZOOM_STEP = 1.25


class TimelineView(QWidget):
    """Wheel zooms at the pointer, dragging moves, a double click (or Home) shows everything."""

    def __init__(self, palette: Palette, timeline: Timeline) -> None:
        super().__init__()
        self._palette = palette
        self._timeline = timeline
        self.scale = Timescale()
        self._paint = TimelinePaint(palette, self.scale)
        self._voice = _mixed(palette.color("good"), palette.color("card"), 0.75)
        self._peaks = array("f")
        self._pixmap: QPixmap | None = None
        self._drawn: tuple[object, ...] = ()
        self._drawn_bins = 0
        self._cursor_x = -1
        self._drag: tuple[float, int, int] | None = None
        self.setMinimumHeight(110)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Timeline")

    def show_now(self, now_ns: int, peak: float | None) -> None:
        """Go on to working time now_ns; peak: the voice's since the last call, None without sound
        (or in a pause)."""
        self.scale.now_ns = max(now_ns, 0)
        if peak is not None:
            self._add_peak(self.scale.now_ns, peak)
        x = round(self.scale.x(self.scale.now_ns) * self.devicePixelRatioF())
        if x != self._cursor_x or self._key() != self._drawn:
            self._cursor_x = x
            self.update()

    def show_past(self, peaks: Sequence[tuple[int, float]]) -> None:
        """The voice of earlier runs: (working time in ns, peak 0 to 1)."""
        for t_ns, peak in peaks:
            self._add_peak(t_ns, peak)
        self._pixmap = None
        self.update()

    def show_all(self) -> None:
        """Back to the whole session."""
        self.scale.show_all()
        self.update()

    def describe(self, x: float, y: float) -> str:
        """What is at a point: a mark near it, else the part and question below it."""
        scale, line = self.scale, self._timeline
        marks = [m for m in line.marks if abs(scale.x(m.at_ns) - x) <= NEAR_PX]
        if marks and y < self._paint.parts_bottom:
            nearest = min(marks, key=lambda m: abs(scale.x(m.at_ns) - x))
            return f"{wording.short_time(nearest.at_ns)}  {nearest.text}"
        t_ns = scale.t(x)
        if t_ns > scale.now_ns:
            return ""
        found = (_at(line.parts, t_ns), _at(line.trials, t_ns))
        lines = [self._block_text(block) for block in found if block is not None]
        return "\n".join((wording.short_time(t_ns), *lines))

    def _block_text(self, block: Block) -> str:
        end = self.scale.now_ns if block.end_ns is None else block.end_ns
        how = "" if block.outcome is None else f", {wording.OUTCOMES.get(block.outcome, '')}"
        return f"{block.label}: {wording.short_time(end - block.start_ns)}{how}"

    def _add_peak(self, t_ns: int, peak: float) -> None:
        index = t_ns // BIN_NS
        if index >= len(self._peaks):
            self._peaks.extend([0.0] * (index + 1 - len(self._peaks)))
        self._peaks[index] = max(self._peaks[index], peak)

    def _key(self) -> tuple[object, ...]:
        """What the pixmap depends on, but for the envelope."""
        self.scale.width = max(1, self.width())
        self._paint.height = self.height()
        ratio = self.devicePixelRatioF()
        return self.scale.range(), self.size().toTuple(), ratio, self._timeline.version

    def paintEvent(self, event: QPaintEvent) -> None:
        key = self._key()
        if self._pixmap is None or key != self._drawn:
            self._pixmap = self._draw()
            self._drawn, self._drawn_bins = key, 0
        self._draw_new_bins(self._pixmap)
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line, paint, now_ns = self._timeline, self._paint, self.scale.now_ns
        for heard in line.hearing[-1:]:
            paint.heard(painter, heard, now_ns)
        for block in line.parts[-1:]:
            if block.end_ns is None:
                paint.part(painter, block)
        for block in line.trials[-1:]:
            if block.end_ns is None:
                paint.trial(painter, block)
        # Above the envelope, which grows below them.
        for mark in line.marks:
            paint.mark(painter, mark)
        x = math.floor(self.scale.x(now_ns)) + 0.5
        painter.setPen(pen(self._palette.secondary))
        painter.drawLine(QPointF(x, HEAD_PX), QPointF(x, paint.parts_top - 2))
        if self.hasFocus():
            painter.setPen(pen(self._palette.accent, dashed=True))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(0.5, 0.5, self.width() - 1, self.height() - 1))

    def _draw(self) -> QPixmap:
        ratio = self.devicePixelRatioF()
        pixmap = QPixmap(self.size() * ratio)
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line, paint = self._timeline, self._paint
        paint.axis(painter)
        for heard, after in pairwise(line.hearing):
            paint.heard(painter, heard, after.at_ns)
        for block in line.parts:
            if block.end_ns is not None:
                paint.part(painter, block)
        for block in line.trials:
            if block.end_ns is not None:
                paint.trial(painter, block)
        painter.end()
        return pixmap

    def _draw_new_bins(self, pixmap: QPixmap) -> None:
        """Add the envelope's new columns to the pixmap."""
        if self._drawn_bins >= len(self._peaks):
            return
        start, end = self.scale.range()
        # The last bin may have grown since it was drawn.
        first = max(self._drawn_bins - 1, start // BIN_NS, 0)
        last = min(len(self._peaks), end // BIN_NS + 1)
        self._drawn_bins = len(self._peaks)
        if last <= first:
            return
        bins = np.array(self._peaks[first:last], dtype=np.float32)
        per_ns = self.scale.width / (end - start)
        x = ((np.arange(first, last) * BIN_NS - start) * per_ns).astype(int)
        columns, at = np.unique(x, return_index=True)
        # Softer than decibel, so that loud and quiet words differ to the eye.
        tall = np.clip(np.maximum.reduceat(bins, at) ** 0.6, 0.0, 1.0) * self._paint.half
        middle = self._paint.middle
        lines = [
            QLineF(column + 0.5, middle - high, column + 0.5, middle + high)
            for column, high in zip(columns.tolist(), np.maximum(0.5, tall).tolist(), strict=True)
        ]
        painter = QPainter(pixmap)
        # Bins wider than a pixel stand apart as bars.
        painter.setPen(pen(self._voice, max(1.0, BIN_NS * per_ns * 0.7)))
        painter.drawLines(lines)
        painter.end()

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta()
        if abs(turned.x()) > abs(turned.y()):
            start, end = self.scale.range()
            self.scale.pan(round(-turned.x() / WHEEL_NOTCH / 10 * (end - start)))
        else:
            self.scale.zoom(ZOOM_STEP ** (turned.y() / WHEEL_NOTCH), event.position().x())
        self.update()
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and not self.scale.follows:
            self._drag = (event.position().x(), *self.scale.range())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        where = event.position()
        if self._drag is None:
            text = self.describe(where.x(), where.y())
            QToolTip.showText(event.globalPosition().toPoint(), text, self)
            return
        x, start, end = self._drag
        moved = (x - where.x()) / self.scale.width * (end - start)
        self.scale.show_from(round(start + moved), end - start)
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._drag = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.show_all()

    def leaveEvent(self, event: QEvent) -> None:
        QToolTip.hideText()
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        start, end = self.scale.range()
        match event.key():
            case Qt.Key.Key_Plus | Qt.Key.Key_Up:
                self.scale.zoom(ZOOM_STEP, self.width() / 2)
            case Qt.Key.Key_Minus | Qt.Key.Key_Down:
                self.scale.zoom(1 / ZOOM_STEP, self.width() / 2)
            case Qt.Key.Key_Left:
                self.scale.pan((start - end) // 10)
            case Qt.Key.Key_Right:
                self.scale.pan((end - start) // 10)
            case Qt.Key.Key_Home:
                self.scale.show_all()
            case _:
                super().keyPressEvent(event)
                return
        self.update()


def _mixed(ink: QColor, ground: QColor, share: float) -> str:
    """An opaque colour, so that a column drawn twice looks the same."""
    pairs = (
        (ink.red(), ground.red()),
        (ink.green(), ground.green()),
        (ink.blue(), ground.blue()),
    )
    return QColor(*(round(share * a + (1 - share) * b) for a, b in pairs)).name()


def _at(blocks: Sequence[Block], t_ns: int) -> Block | None:
    """The block that covers a time."""
    index = bisect_right(blocks, t_ns, key=lambda block: block.start_ns) - 1
    if index < 0:
        return None
    block = blocks[index]
    return block if block.end_ns is None or t_ns < block.end_ns else None


class TimelinePanel(QFrame):
    """The timeline in its card, with a button back to the whole session."""

    def __init__(self, palette: Palette, timeline: Timeline) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.view = TimelineView(palette, timeline)
        self.all = Button("Show all")
        self.all.setProperty("role", "chip")
        self.all.clicked.connect(self.view.show_all)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_S, theme.SPACE_L, theme.SPACE_S)
        layout.setSpacing(theme.SPACE_XS)
        head = QHBoxLayout()
        head.addWidget(bits.label("TIMELINE", "section"))
        head.addStretch(1)
        signs = "● note   ▶ flag   ■ prompt   ▲ alarm   ‖ pause      wheel zooms, drag moves"
        head.addWidget(bits.label(signs, "secondary"))
        head.addWidget(self.all)
        layout.addLayout(head)
        layout.addWidget(self.view, 1)
