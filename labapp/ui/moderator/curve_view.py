"""The alignment over the present question, with the target as a line."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.clock import NS
from labapp.ui import theme
from labapp.ui.moderator import wording
from labapp.ui.theme import Palette
from labapp.ui.widgets.painting import brush, font, pen

SPANS_S = (15, 30, 60, 120, 180, 300, 600, 900, 1800, 3600, 7200)
AXIS_PX = 12
LEFT_PX = 34
DOT = 3.5


class CurveView(QWidget):
    """Time from 0 to the next round span, alignment from 0 to 100 %."""

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self._points: Sequence[tuple[int, float]] = ()
        self._target = 1.0
        self._now_ns = 0
        self.setMinimumHeight(56)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Alignment over this question")

    def show_curve(
        self, points: Sequence[tuple[int, float]], target: float, now_ns: int, *, changed: bool
    ) -> None:
        """points: (ns since the question began, alignment); now_ns: time in the question; changed:
        whether there are other points than last time."""
        step = (now_ns - self._now_ns) // NS
        if changed or target != self._target or abs(step) >= 1:
            self._points, self._target, self._now_ns = points, target, now_ns
            self.update()

    def span_s(self) -> int:
        """Seconds that the axis covers."""
        return next((s for s in SPANS_S if self._now_ns <= s * NS), SPANS_S[-1])

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self._palette
        painter = QPainter(self)
        plot = QRectF(LEFT_PX, 4, self.width() - LEFT_PX - DOT, self.height() - AXIS_PX - 10)
        painter.setFont(font(theme.SECONDARY_PX - 2))
        painter.setPen(pen(p.hairline))
        painter.drawLine(plot.bottomLeft(), plot.bottomRight())
        painter.setPen(p.color("secondary"))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        y = plot.bottom() - self._target * plot.height()
        painter.drawText(QRectF(0, y - 8, LEFT_PX - 6, 16), right, f"{self._target * 100:g} %")
        span = self.span_s()
        line = QRectF(plot.left(), plot.bottom() + 2, plot.width(), AXIS_PX + 4)
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft, "0:00")
        painter.drawText(line, Qt.AlignmentFlag.AlignRight, wording.short_time(span * NS))
        painter.setPen(pen(p.good, 1.2, dashed=True))
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
        if not self._points:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen(p.accent, 1.8))
        painter.drawPolyline(self._polygon(plot, span))
        t_ns, alignment = self._points[-1]
        end = self._at(plot, span, max(t_ns, min(self._now_ns, span * NS)), alignment)
        painter.setBrush(brush(p.accent))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawEllipse(end, DOT, DOT)

    def _polygon(self, plot: QRectF, span_s: int) -> QPolygonF:
        """Steps: the alignment holds until the next picture."""
        corners = []
        before: float | None = None
        for t_ns, alignment in self._points:
            if before is not None:
                corners.append(self._at(plot, span_s, t_ns, before))
            corners.append(self._at(plot, span_s, t_ns, alignment))
            before = alignment
        corners.append(
            self._at(plot, span_s, max(self._now_ns, self._points[-1][0]), before or 0.0)
        )
        return QPolygonF(corners)

    def _at(self, plot: QRectF, span_s: int, t_ns: int, alignment: float) -> QPointF:
        x = plot.left() + min(1.0, t_ns / (span_s * NS)) * plot.width()
        return QPointF(x, plot.bottom() - min(1.0, max(0.0, alignment)) * plot.height())
