"""The words of a scale, each under (or over) its place; the same places as a row of choices."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.ui import theme
from labapp.ui.widgets.painting import color, font, metrics

_GAP = 6.0
_WRAP = Qt.TextFlag.TextWordWrap
_SIDES = {
    -1: Qt.AlignmentFlag.AlignLeft,
    0: Qt.AlignmentFlag.AlignHCenter,
    1: Qt.AlignmentFlag.AlignRight,
}


class AnchorRow(QWidget):
    """words: by place, counted from 0. Where every place has words (`even`), each stands centred at
    its place; else the first and last stand at the ends."""

    def __init__(
        self,
        count: int,
        words: Mapping[int, str],
        palette: theme.Palette,
        *,
        over: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._count = count
        self._words = dict(words)
        self._even = len(words) == count > 2
        self._upright = Qt.AlignmentFlag.AlignBottom if over else Qt.AlignmentFlag.AlignTop
        self._colors = palette
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._fit()

    def _boxes(self) -> dict[int, tuple[QRectF, int]]:
        """Where the words of each place may stand, and on which side of it."""
        each = self.width() / (self._count if self._even else len(self._words))
        boxes = {}
        for number, place in enumerate(sorted(self._words)):
            box = QRectF(number * each, 0, each, self.height())
            if self._even:
                boxes[place] = (box.adjusted(_GAP / 2, 0, -_GAP / 2, 0), 0)
            else:
                side = -1 if place == 0 else 1 if place == self._count - 1 else 0
                boxes[place] = (box, side)
        return boxes

    def _fit(self) -> None:
        needed = 0.0
        for place, (box, side) in self._boxes().items():
            room = QRectF(0, 0, max(box.width(), 40), 1000)
            flags = int(_WRAP | _SIDES[side])
            words = metrics(theme.SECONDARY_PX).boundingRect(room, flags, self._words[place])
            needed = max(needed, words.height())
        if ceil(needed) != self.height():
            self.setFixedHeight(ceil(needed))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(font(theme.SECONDARY_PX))
        painter.setPen(color(self._colors.secondary))
        for place, (box, side) in self._boxes().items():
            painter.drawText(box, int(_WRAP | _SIDES[side] | self._upright), self._words[place])
        painter.end()
