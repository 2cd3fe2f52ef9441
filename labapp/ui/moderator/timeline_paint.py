"""How the parts of the timeline are painted."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPolygonF

from labapp.clock import NS
from labapp.ui import theme
from labapp.ui.moderator import wording
from labapp.ui.moderator.state.timeline import Block, Hearing, Mark
from labapp.ui.moderator.state.timescale import Timescale
from labapp.ui.theme import Palette
from labapp.ui.widgets.painting import brush, font, metrics, pen

HEAD_PX, PARTS_PX, TRIALS_PX, AXIS_PX, STRIP_PX, GAP_PX = 14, 20, 8, 18, 3, 3
TICKS_S = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)
TICK_PX = 90
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


class TimelinePaint:
    """Paints into a view `height` high, on a timescale: heads of marks, envelope, a strip for
    silence, parts, questions, axis, from top to bottom."""

    def __init__(self, palette: Palette, scale: Timescale) -> None:
        self._palette = palette
        self._scale = scale
        self.height = 1

    @property
    def parts_top(self) -> float:
        return self.height - AXIS_PX - TRIALS_PX - PARTS_PX - 8.0

    @property
    def parts_bottom(self) -> float:
        return self.parts_top + PARTS_PX

    @property
    def middle(self) -> float:
        """Where the envelope's axis is."""
        return (HEAD_PX + self.parts_top) / 2

    @property
    def half(self) -> float:
        """How far the envelope goes to either side."""
        return (self.parts_top - HEAD_PX) / 2 - STRIP_PX - GAP_PX

    def axis(self, painter: QPainter) -> None:
        """Grid lines with times."""
        start, end = self._scale.range()
        per_px = (end - start) / NS / self._scale.width
        step = next((s for s in TICKS_S if s / per_px >= TICK_PX), TICKS_S[-1]) * NS
        painter.setFont(font(theme.SECONDARY_PX - 2))
        for t_ns in range(start - start % step, end + 1, step):
            x = self._scale.x(t_ns)
            if not 0 <= x <= self._scale.width - 20:
                continue
            painter.setPen(pen(self._palette.hairline))
            painter.drawLine(QPointF(x, HEAD_PX), QPointF(x, self.height - AXIS_PX))
            painter.setPen(self._palette.color("secondary"))
            painter.drawText(QPointF(x + 3, self.height - 4.0), wording.short_time(t_ns))

    def heard(self, painter: QPainter, heard: Hearing, end_ns: int) -> None:
        """A strip below the envelope where the voice was not simply heard."""
        if heard.state in STATE_COLOURS:
            left, right = self._scale.x(heard.at_ns), self._scale.x(end_ns)
            colour = getattr(self._palette, STATE_COLOURS[heard.state])
            y = self.parts_top - STRIP_PX - GAP_PX
            painter.fillRect(QRectF(left, y, max(1.0, right - left), STRIP_PX), brush(colour))

    def part(self, painter: QPainter, block: Block) -> None:
        """A part of the plan, with its title where there is room."""
        box = self._box(block, self.parts_top, PARTS_PX)
        if box is None:
            return
        p = self._palette
        running = block.end_ns is None
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(brush(p.accent_soft if running else p.track))
        painter.drawRoundedRect(box, 3, 3)
        room = box.width() - 10
        text = metrics(theme.SECONDARY_PX - 1).elidedText(
            block.label, Qt.TextElideMode.ElideRight, room
        )
        if len(text) > 2:
            painter.setFont(font(theme.SECONDARY_PX - 1))
            painter.setPen(p.color("ink" if running else "secondary"))
            where = QRectF(box.left() + 5, box.top(), room, box.height())
            painter.drawText(where, Qt.AlignmentFlag.AlignVCenter, text)

    def trial(self, painter: QPainter, block: Block) -> None:
        """A question: full when it was solved, else a thin bar, so that shape tells too."""
        box = self._box(block, self.parts_bottom + GAP_PX, TRIALS_PX)
        if box is None:
            return
        token = "accent" if block.end_ns is None else TRIAL_COLOURS.get(block.outcome or "", "")
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(brush(getattr(self._palette, token or "secondary")))
        thin = block.end_ns is not None and block.outcome != "solved"
        painter.drawRoundedRect(box.adjusted(0, TRIALS_PX / 2 if thin else 0, 0, 0), 2, 2)

    def _box(self, block: Block, top: float, high: float) -> QRectF | None:
        scale = self._scale
        left = scale.x(block.start_ns)
        right = scale.x(scale.now_ns if block.end_ns is None else block.end_ns)
        if right < 0 or left > scale.width:
            return None
        left, right = max(-4.0, left), min(scale.width + 4.0, right)
        return QRectF(left, top, max(1.5, right - left - 1), high)

    def mark(self, painter: QPainter, mark: Mark) -> None:
        """A line over the envelope with a head whose shape tells what it is."""
        x = math.floor(self._scale.x(mark.at_ns)) + 0.5
        if not -NEAR_PX <= x <= self._scale.width + NEAR_PX:
            return
        colour = getattr(self._palette, MARK_COLOURS[mark.kind])
        quiet = mark.kind in ("pause", "gap")
        painter.setPen(pen(colour, 1.2, dashed=quiet))
        painter.drawLine(QPointF(x, HEAD_PX - 4), QPointF(x, self.parts_top - 2))
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


def _shape(x: float, y: float, corners: Sequence[tuple[float, float]]) -> QPolygonF:
    return QPolygonF([QPointF(x + dx, y + dy) for dx, dy in corners])
