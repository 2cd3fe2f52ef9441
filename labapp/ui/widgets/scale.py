"""A row of places on a scale, one of which can be taken, and the words at its places; also the
values of a discrete dial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.ui import theme
from labapp.ui.widgets.choice import Choice
from labapp.ui.widgets.painting import brush, color, draw_focus_ring, font, metrics, pen

CIRCLE_R = 9.0
LEAST_GAP = 5.0
MARGIN = 14.0
MOST_CIRCLES = 11
"""A scale with more points is drawn as a line with ticks."""
_GAP = 6.0
_WRAP = Qt.TextFlag.TextWordWrap
_SIDES = {
    -1: Qt.AlignmentFlag.AlignLeft,
    0: Qt.AlignmentFlag.AlignHCenter,
    1: Qt.AlignmentFlag.AlignRight,
}


UPWARDS = {Qt.Key.Key_Right: 1, Qt.Key.Key_Up: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_Down: -1}


@dataclass(frozen=True, slots=True)
class Look:
    """numbered: numbers from `first` under the choices; digits: keys take them by these numbers;
    pitch: pixels between choices, or None to fill the width; even: as much room round the first
    and last choice as between two, for words under each; ticks: a line with ticks instead of
    circles; ground: the token behind."""

    numbered: bool = False
    digits: bool = False
    first: int = 1
    pitch: float | None = None
    even: bool = False
    ticks: bool = False
    ground: str = "ground"


class Scale(Choice):
    """anchors: the words at some places, counted from 0, for who hears the screen. It shows at once
    what the hand takes."""

    steps = UPWARDS

    def __init__(
        self,
        count: int,
        palette: theme.Palette,
        look: Look | None = None,
        name: str = "",
        anchors: Mapping[int, str] | None = None,
    ) -> None:
        super().__init__(palette, name)
        self._count = count
        self._look = look or Look()
        self._line = self._look.ticks or count > MOST_CIRCLES
        self.first_digit = self._look.first if self._look.numbered or self._look.digits else None
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        words = anchors or {}
        numbers = ((index, str(index + self._look.first)) for index in range(count))
        self.show_options(
            [f"{number}: {words[index]}" if index in words else number for index, number in numbers]
        )

    def ask(self, index: int, device: str) -> None:
        if index != self.index:
            self.show_index(index)
            self.chosen.emit(index, device)

    def sizeHint(self) -> QSize:
        height = theme.TARGET_HEIGHT + (theme.SPACE_L if self._look.numbered else 0)
        pitch = self._look.pitch or 24.0
        return QSize(round(2 * MARGIN + pitch * (self._count - 1)), height)

    def minimumSizeHint(self) -> QSize:
        return QSize(round(2 * MARGIN + 18 * (self._count - 1)), self.sizeHint().height())

    def centre(self, index: int) -> QPointF:
        """Where a choice is drawn, in the widget's pixels."""
        return QPointF(self._margin() + index * self._pitch(), theme.TARGET_HEIGHT / 2)

    def _margin(self) -> float:
        return self.width() / (2 * self._count) if self._look.even else MARGIN

    def _pitch(self) -> float:
        room = (self.width() - 2 * self._margin()) / (self._count - 1)
        return room if self._look.pitch is None else min(room, self._look.pitch)

    def handle_x(self, value: float) -> float:
        """Where the middle of the choice with the number `value` is, in logical pixels."""
        return self.box(round(value)).center().x()

    def box(self, index: int) -> QRectF:
        """What is nearest to a place, if it is near at all."""
        x, half = self.centre(index).x(), self._pitch() / 2
        left = x - (half if index else max(half, MARGIN))
        right = x + (half if index < self._count - 1 else max(half, MARGIN))
        return QRectF(left, 0, right - left, self.height())

    def paint(self, painter: QPainter) -> None:
        # At 150 % its edges lie within pixels, which would be left half black.
        whole = self.rect().adjusted(-1, -1, 1, 1)
        painter.fillRect(whole, brush(getattr(self._colors, self._look.ground)))
        if self._line:
            self._paint_line(painter)
        else:
            for index in range(self._count):
                self._paint_circle(painter, index)
        if self._look.numbered:
            self._paint_numbers(painter)
        if self.hasFocus():
            start = max(self.centre(0).x() - MARGIN, 0)
            end = min(self.centre(self._count - 1).x() + MARGIN, self.width())
            ring = QRectF(start, 0, end - start, theme.TARGET_HEIGHT)
            draw_focus_ring(painter, ring, theme.RADIUS, self._colors.accent)

    def _paint_circle(self, painter: QPainter, index: int) -> None:
        p = self._colors
        on = index == self.index
        strong = p.secondary if self._locked else p.accent
        rim = strong if on or index == self._hover else p.secondary
        painter.setPen(pen(rim, 2.0 if on or index == self._hover else 1.4))
        painter.setBrush(brush(strong if on else p.track if self._locked else p.card))
        radius = min(CIRCLE_R, self._pitch() / 2 - LEAST_GAP / 2)
        painter.drawEllipse(self.centre(index), radius, radius)
        if on:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(brush(p.on_accent))
            painter.drawEllipse(self.centre(index), radius / 2, radius / 2)

    def _paint_line(self, painter: QPainter) -> None:
        p = self._colors
        first, last = self.centre(0), self.centre(self._count - 1)
        painter.setPen(pen(p.secondary, 1.4))
        painter.drawLine(first, last)
        for index in range(self._count):
            at = self.centre(index)
            half = 8.0 if index in (0, self._count - 1, (self._count - 1) / 2) else 5.0
            painter.drawLine(QPointF(at.x(), at.y() - half), QPointF(at.x(), at.y() + half))
        if self._hover is not None and self._hover != self.index:
            painter.setPen(pen(p.accent, 2.0))
            painter.setBrush(brush(p.card))
            painter.drawEllipse(self.centre(self._hover), CIRCLE_R, CIRCLE_R)
        if self.index is not None:
            painter.setPen(pen(p.card, 2.0))
            painter.setBrush(brush(p.accent))
            painter.drawEllipse(self.centre(self.index), CIRCLE_R + 1, CIRCLE_R + 1)

    def _paint_numbers(self, painter: QPainter) -> None:
        painter.setFont(font(theme.SECONDARY_PX))
        for index in range(self._count):
            if self._line and index not in (0, self._count - 1):
                continue
            painter.setPen(
                color(self._colors.ink if index == self.index else self._colors.secondary)
            )
            box = QRectF(self.centre(index).x() - 20, theme.TARGET_HEIGHT - 1, 40, theme.SPACE_L)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(index + self._look.first))


class AnchorRow(QWidget):
    """The words of a scale, each under (or over) its place. words: by place, counted from 0.

    Where every place has words (`even`), each stands centred at its place; else the first and last
    stand at the ends."""

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

    def needed_width(self) -> int:
        """Logical pixels in which no word is cut."""
        texts = [word for text in self._words.values() for word in text.split()]
        widest = max(
            (metrics(theme.SECONDARY_PX).horizontalAdvance(text) for text in texts), default=0
        )
        places = self._count if self._even else len(self._words)
        return ceil(places * (widest + _GAP))

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
