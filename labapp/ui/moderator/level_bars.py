"""The voice meter: the last seconds of sound as bars."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.ui.theme import Palette
from labapp.ui.widgets.painting import brush

FLOOR_DB = -54.0
CLIP = 0.998
QUIET = 0.15
"""Bars below this (some -46 dBFS) are the room, not a voice."""


def height_of(peak: float) -> float:
    """Height of a bar, 0 to 1, for a peak of 0 to 1: linear in decibel above -54 dBFS."""
    if peak <= 0.0:
        return 0.0
    return min(1.0, max(0.0, 1.0 - 20.0 * math.log10(peak) / FLOOR_DB))


class LevelBars(QWidget):
    """Peaks, newest at the right; bars at full scale stand out in the alarm colour with a cap."""

    def __init__(self, palette: Palette, bars: int, size: QSize) -> None:
        super().__init__()
        self._bars = bars
        self._peaks: tuple[float, ...] = ()
        self._good = palette.good
        self._alarm = palette.alarm
        self._idle = palette.track
        self.setMinimumSize(size)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._hint = size

    def sizeHint(self) -> QSize:
        return self._hint

    @property
    def peaks(self) -> tuple[float, ...]:
        return self._peaks

    def set_peaks(self, peaks: Sequence[float]) -> None:
        """Peaks of 0 to 1, oldest first; the last ones that fit are shown."""
        shown = tuple(peaks[-self._bars :])
        if shown != self._peaks:
            self._peaks = shown
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(Qt.PenStyle.NoPen)
        pitch = self.width() / self._bars
        thick = max(2.0, pitch * 0.66)
        full, low = float(self.height()), 3.0
        first = self._bars - len(self._peaks)
        rects: dict[str, list[QRectF]] = {self._idle: [], self._good: [], self._alarm: []}
        for index in range(self._bars):
            peak = self._peaks[index - first] if index >= first else 0.0
            high = height_of(peak)
            colour = self._idle if high < QUIET else self._alarm if peak >= CLIP else self._good
            tall = max(low, high * full)
            rects[colour].append(QRectF(index * pitch, full - tall, thick, tall))
        for colour, rect in rects.items():
            if rect:
                painter.setBrush(brush(colour))
                painter.drawRects(rect)
