"""How long a picture stays: a thin bar and the seconds that are left."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from PySide6.QtCore import QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy

from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets.heard import Picture
from labapp.ui.widgets.painting import brush, color, font, metrics

BAR_HEIGHT = 4
LOOK_MS = 250


class TimeLeft(Picture):
    """The time is asked for when it is painted, so that a picture of it is right at any moment.

    left_s: gives the seconds that are left, None before the time runs; limit_s: of them all; ticks:
    whether it follows the clock by itself, which where it is only read nobody needs.
    """

    def __init__(
        self,
        left_s: Callable[[], float | None],
        limit_s: float,
        words: Strings,
        palette: theme.Palette,
        *,
        ticks: bool,
    ) -> None:
        super().__init__()
        self._left_s, self._limit_s, self._words = left_s, limit_s, words
        self._colors = palette
        self._ticks = ticks
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self.update)
        self.setAccessibleName(words("concept_time"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(self.sizeHint().height())

    @property
    def text(self) -> str:
        """What stands there now."""
        return self._text_of(ceil(self._share() * self._limit_s))

    @property
    def needed_width(self) -> int:
        """Logical pixels of its words."""
        text = self._text_of(ceil(self._limit_s))
        return ceil(metrics(theme.SECONDARY_PX).horizontalAdvance(text)) + 2

    def _text_of(self, left_s: int) -> str:
        minutes, seconds = divmod(left_s, 60)
        return self._words("concept_time_left", time=f"{minutes}:{seconds:02d}")

    def _share(self) -> float:
        """How much of the time is left, 0 to 1."""
        left_s = self._left_s()
        return 1.0 if left_s is None else min(max(left_s / self._limit_s, 0.0), 1.0)

    def sizeHint(self) -> QSize:
        return QSize(160, BAR_HEIGHT + theme.SPACE_XS + ceil(metrics(theme.SECONDARY_PX).height()))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._ticks:
            self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        p, share, text = self._colors, self._share(), self.text
        if self.accessibleDescription() != text:
            self.setAccessibleDescription(text)
        painter = QPainter(self)
        painter.fillRect(QRectF(0, 0, self.width(), BAR_HEIGHT), brush(p.track))
        painter.fillRect(QRectF(0, 0, share * self.width(), BAR_HEIGHT), brush(p.secondary))
        painter.setFont(font(theme.SECONDARY_PX))
        painter.setPen(color(p.secondary))
        below = QRectF(self.rect()).adjusted(0, BAR_HEIGHT + theme.SPACE_XS, 0, 0)
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        painter.end()
