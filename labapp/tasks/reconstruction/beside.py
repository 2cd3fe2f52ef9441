"""The alignment over the present question, beside the participant's screen in the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QPen

from labapp.base.clock import NS
from labapp.record.events import Event
from labapp.study.plugins.part import PlannedPart
from labapp.tasks.reconstruction.machine import StageState
from labapp.tasks.reconstruction.plan import ReconstructionPart
from labapp.ui import theme
from labapp.ui.language import number, tr
from labapp.ui.moderator.mirror import Beside
from labapp.ui.moderator.state.console import Fold, WorkTime
from labapp.ui.moderator.timeline_view import Plot
from labapp.ui.theme import Palette
from labapp.ui.widgets.painting import brush, font

if TYPE_CHECKING:
    from labapp.ui.moderator.state.console import ConsoleState
    from labapp.ui.participant.view import SessionView


HIGH_PX = 110
SPANS_S = (15, 30, 60, 120, 180, 300, 600, 900, 1800, 3600, 7200)
LEFT_PX = 38
TOP_PX = 6
DOT_PX = 7
LINE_PX = 1.8


class CurveView(Plot):
    """Time from 0 to the next round span, alignment from 0 to 100 %."""

    def __init__(self, palette: Palette, curve: Curve) -> None:
        super().__init__(palette, tr("reconstruction.alignment_tip"))
        self._curve = curve
        self._colour = palette.accent
        self._target: float | None = None
        self._now_ns = 0
        self.setMinimumHeight(56 + TOP_PX)
        self.box.setYRange(-0.02, 1.04)
        self._scale = pg.AxisItem("left", pen=palette.hairline, textPen=palette.secondary)
        self._scale.setStyle(tickFont=font(theme.SECONDARY_PX - 2), tickLength=0)
        self._scale.setWidth(LEFT_PX)
        self._scale.linkToView(self.box)
        self.rows.addItem(self._scale, 0, 0)
        self.rows.setContentsMargins(0, TOP_PX, 0, 0)  # half of a target's words above its line
        self._goal = pg.InfiniteLine(
            angle=0, pen=pg.mkPen(palette.good, style=Qt.PenStyle.DashLine)
        )
        # Steps: the alignment holds until the next picture.
        self._line = pg.PlotCurveItem(
            pen=self._pen(), stepMode="right", antialias=True, skipFiniteCheck=True
        )
        self._dot = pg.ScatterPlotItem(
            size=DOT_PX, brush=brush(palette.accent), pen=None, antialias=True
        )
        self._goal.hide()
        self._scale.setTicks([[]])
        for item in (self._goal, self._line, self._dot):
            self.box.addItem(item)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._line.setPen(self._pen())

    def _pen(self) -> QPen:
        """Cosmetic pens are so many pixels of the screen wide, whatever its scale."""
        made: QPen = pg.mkPen(self._colour, width=LINE_PX * self.devicePixelRatioF())
        return made

    def show_curve(self, target: float | None, now_ns: int, *, changed: bool) -> None:
        """target: None if there is none; now_ns: time in the question; changed: whether the
        curve did since the last call."""
        if target != self._target:
            self._target = target
            self._goal.setVisible(target is not None)
            self._goal.setValue(target or 0.0)
            self._scale.setTicks(
                [[] if target is None else [(target, number(f"{target * 100:g} %"))]]
            )
        elif not changed and abs(now_ns - self._now_ns) < NS:
            return
        self._now_ns = now_ns
        span_s = next((s for s in SPANS_S if now_ns <= s * NS), SPANS_S[-1])
        self.box.setXRange(0, span_s)
        points = np.array(self._curve.points, dtype=float).reshape(-1, 2)
        x, y = points[:, 0] / NS, points[:, 1]
        if len(x):
            x, y = np.append(x, max(x[-1], now_ns / NS)), np.append(y, y[-1])
            self._line.setData(x, y)
        else:
            self._line.clear()
        self._dot.setData(x[-1:], y[-1:])


class QuestionCurve(CurveView, Beside):
    """Its time stands still in a pause and once the question is solved."""

    def __init__(self, palette: Palette, console: ConsoleState) -> None:
        super().__init__(palette, console.fold(Curve))
        self.setFixedHeight(HIGH_PX)
        self._drawn: tuple[int, float] | None = None

    def show_beside(self, part: PlannedPart, session: SessionView, console: ConsoleState) -> None:
        there = isinstance(part, ReconstructionPart) and isinstance(session.part_state, StageState)
        self.setVisible(there)
        if not isinstance(part, ReconstructionPart):
            return
        curve, since_ns = console.fold(Curve), 0
        if curve.began_ns is not None:
            since_ns = console.work.working_ns(session.clock.now_ns()) - curve.began_ns
        newest = curve.points[-1] if curve.points else None
        changed, self._drawn = newest != self._drawn, newest
        self.show_curve(None if part.marks else part.target_alignment, since_ns, changed=changed)


LIMIT = 512
FIRST_SPACING_NS = 20_000_000


class Curve(Fold):
    """points: (working time since the question began in ns, alignment), thinned so that a long
    question costs no more to draw than a short one; the newest value is always the last point."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.points: list[tuple[int, float]] = []
        self.began_ns: int | None = None
        self._spacing_ns = FIRST_SPACING_NS
        self._kept_ns = 0

    def apply(self, event: Event, work: WorkTime) -> bool:
        if event.kind in ("trial.drawn", "part.started"):
            changed = bool(self.points)
            self.clear()
            return changed
        if event.kind == "trial.started":
            self.began_ns = work.working_ns(event.t_ns)
            self.points = [(0, float(event.payload["alignment"]))]
            self._kept_ns = 0
            return True
        if event.kind in ("picture.decoded", "trial.solved") and self.began_ns is not None:
            t_ns = work.working_ns(event.t_ns) - self.began_ns
            if len(self.points) > 1 and t_ns - self._kept_ns < self._spacing_ns:
                self.points.pop()
            else:
                self._kept_ns = t_ns
            self.points.append((t_ns, float(event.payload["alignment"])))
            if len(self.points) > LIMIT:
                self.points = [*self.points[:-1:2], self.points[-1]]
                self._spacing_ns *= 2
            return True
        return False
