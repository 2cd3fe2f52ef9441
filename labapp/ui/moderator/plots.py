"""What the console's live plots share: one picture surface over pyqtgraph, and an axis of times."""

from __future__ import annotations

from math import ceil

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from labapp.base.clock import NS
from labapp.ui import theme
from labapp.ui.moderator import wording
from labapp.ui.theme import Palette
from labapp.ui.widgets.painting import font, pen

pg.setConfigOptions(useOpenGL=False, antialias=False)

STEPS_S = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)
TICK_PX = 90
AXIS_PX = 20
BEHIND = -1000
"""Below the plot itself."""


class TimeAxis(pg.AxisItem):  # type: ignore[misc]
    """Seconds as the moderator reads them, at round steps that leave room for their words."""

    def __init__(self, palette: Palette, *, grid: bool) -> None:
        super().__init__("bottom", pen=pen(palette.hairline), textPen=palette.secondary)
        self.setStyle(tickFont=font(theme.SECONDARY_PX - 2), tickTextOffset=2, tickLength=0)
        self.setHeight(AXIS_PX)
        if grid:
            self.setGrid(255)

    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:
        per_tick = (maxVal - minVal) / max(1.0, size / TICK_PX)
        longest = STEPS_S[-1]  # what is longer yet is cut into so many of them
        step = next((s for s in STEPS_S if s >= per_tick), ceil(per_tick / longest) * longest)
        return [(step, 0)]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        return [wording.short_time(round(value) * NS) for value in values]


class Plot(pg.GraphicsView):  # type: ignore[misc]
    """A surface over seconds in `box` whose heights go from 0 to 1, with a `TimeAxis` below.

    Keys that a plot has no use for go on to the window: a letter begins a note, a digit is a flag.
    """

    def __init__(self, palette: Palette, name: str, *, grid: bool = False) -> None:
        super().__init__(background=palette.card)
        self.setAccessibleName(name)
        self.rows = pg.GraphicsLayout(border=None)
        self.rows.setContentsMargins(0, 0, 0, 0)
        self.rows.setSpacing(0)
        self.setCentralItem(self.rows)
        self.box = pg.ViewBox(enableMenu=False, defaultPadding=0.0)
        self.box.setMouseEnabled(x=False, y=False)
        self.box.disableAutoRange()
        self.box.setYRange(0, 1)
        self.axis = TimeAxis(palette, grid=grid)
        self.axis.setZValue(BEHIND)  # for its grid
        self.axis.linkToView(self.box)
        self.rows.addItem(self.box, 0, 1)
        self.rows.addItem(self.axis, 1, 1)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()
