"""The alignment over the present question, with the target as a line.

The curve so far is kept in a pixmap; a refresh draws only the steps that are new. Drawing all of a
long and busy question would take longer than decoding its picture.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPixmap, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.clock import NS
from labapp.ui import theme
from labapp.ui.moderator import wording
from labapp.ui.moderator.state.curve import Curve
from labapp.ui.theme import Palette
from labapp.ui.widgets.painting import brush, font, pen

SPANS_S = (15, 30, 60, 120, 180, 300, 600, 900, 1800, 3600, 7200)
AXIS_PX = 12
LEFT_PX = 34
DOT = 3.5
LINE_PX = 1.8


class CurveView(QWidget):
    """Time from 0 to the next round span, alignment from 0 to 100 %."""

    def __init__(self, palette: Palette, curve: Curve) -> None:
        super().__init__()
        self._palette = palette
        self._curve = curve
        self._target = 1.0
        self._now_ns = 0
        self._pixmap: QPixmap | None = None
        self._drawn: tuple[object, ...] = ()
        self._drawn_points = 0
        self.setMinimumHeight(56)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Alignment over this question")

    def show_curve(self, target: float, now_ns: int, *, changed: bool) -> None:
        """now_ns: time in the question; changed: whether the curve did since the last call."""
        if changed or target != self._target or abs(now_ns - self._now_ns) >= NS:
            self._target, self._now_ns = target, now_ns
            self.update()

    def span_s(self) -> int:
        """Seconds that the axis covers."""
        return next((s for s in SPANS_S if self._now_ns <= s * NS), SPANS_S[-1])

    def _plot(self) -> QRectF:
        return QRectF(LEFT_PX, 4, self.width() - LEFT_PX - DOT, self.height() - AXIS_PX - 10)

    def paintEvent(self, event: QPaintEvent) -> None:
        ratio = self.devicePixelRatioF()
        span = self.span_s()
        key = (self._curve.version, span, self._target, self.size().toTuple(), ratio)
        if self._pixmap is None or key != self._drawn:
            self._pixmap = self._ground(span, ratio)
            self._drawn, self._drawn_points = key, 0
        points = self._curve.points
        self._draw_new(self._pixmap, span)
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._pixmap)
        if not points:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        t_ns, alignment = points[-1]
        end = self._at(span, max(t_ns, self._now_ns), alignment)
        painter.setPen(pen(self._palette.accent, LINE_PX))
        painter.drawPolyline(self._steps(span, max(0, len(points) - 2), end))
        painter.setBrush(brush(self._palette.accent))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawEllipse(end, DOT, DOT)

    def _ground(self, span_s: int, ratio: float) -> QPixmap:
        """Axis and target."""
        p = self._palette
        pixmap = QPixmap(self.size() * ratio)
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        plot = self._plot()
        painter.setFont(font(theme.SECONDARY_PX - 2))
        painter.setPen(pen(p.hairline))
        painter.drawLine(plot.bottomLeft(), plot.bottomRight())
        painter.setPen(p.color("secondary"))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        y = plot.bottom() - self._target * plot.height()
        painter.drawText(QRectF(0, y - 8, LEFT_PX - 6, 16), right, f"{self._target * 100:g} %")
        line = QRectF(plot.left(), plot.bottom() + 2, plot.width(), AXIS_PX + 4)
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft, "0:00")
        painter.drawText(line, Qt.AlignmentFlag.AlignRight, wording.short_time(span_s * NS))
        painter.setPen(pen(p.good, 1.2, dashed=True))
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
        painter.end()
        return pixmap

    def _draw_new(self, pixmap: QPixmap, span_s: int) -> None:
        """Add the steps up to the last point but one, which do not change any more."""
        settled = len(self._curve.points) - 1
        if settled - self._drawn_points < 1:
            return
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen(self._palette.accent, LINE_PX))
        first = max(0, self._drawn_points - 1)
        painter.drawPolyline(self._steps(span_s, first, None, settled))
        painter.end()
        self._drawn_points = settled

    def _steps(
        self, span_s: int, first: int, end: QPointF | None, stop: int | None = None
    ) -> QPolygonF:
        """Points first to stop as steps: the alignment holds until the next picture."""
        corners: list[QPointF] = []
        before: float | None = None
        for t_ns, alignment in self._curve.points[first:stop]:
            if before is not None:
                corners.append(self._at(span_s, t_ns, before))
            corners.append(self._at(span_s, t_ns, alignment))
            before = alignment
        return QPolygonF([*corners, end] if end is not None else corners)

    def _at(self, span_s: int, t_ns: int, alignment: float) -> QPointF:
        plot = self._plot()
        x = plot.left() + min(1.0, t_ns / (span_s * NS)) * plot.width()
        return QPointF(x, plot.bottom() - min(1.0, max(0.0, alignment)) * plot.height())
