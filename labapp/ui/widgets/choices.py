"""A row of unlabelled or numbered choices, one of which can be taken: discrete dials and scales."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.ui import theme
from labapp.ui.widgets.painting import brush, color, draw_focus_ring, font, pen

CIRCLE_R = 9.0
LEAST_GAP = 5.0
MARGIN = 14.0
MOST_CIRCLES = 11
"""A scale with more points is drawn as a line with ticks."""

_TAB_REASONS = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)


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


class ChoiceRow(QWidget):
    """chosen(index, device): the hand asks for a choice; selected(device): it took hold.

    index counts from 0; None while nothing was chosen, and then nothing is drawn as chosen.
    """

    chosen = Signal(int, str)
    selected = Signal(str)

    def __init__(
        self,
        count: int,
        palette: theme.Palette,
        look: Look | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._count = count
        self._colors = palette
        self._look = look or Look()
        self._line = self._look.ticks or count > MOST_CIRCLES
        self._index: int | None = None
        self._locked = False
        self._announced = False
        self._hover: int | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    @property
    def index(self) -> int | None:
        return self._index

    @property
    def locked(self) -> bool:
        return self._locked

    def show_index(self, index: int | None) -> None:
        """Show what the session says."""
        if index != self._index:
            self._index = index
            self.update()

    def set_locked(self, locked: bool) -> None:
        if locked == self._locked:
            return
        self._locked = locked
        self._hover = None
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus if locked else Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.ArrowCursor if locked else Qt.CursorShape.PointingHandCursor)
        self.update()

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

    def _at(self, x: float) -> int | None:
        """The choice nearest to a place, if it is near at all."""
        margin = self._margin()
        index = round((x - margin) / self._pitch())
        near = abs(x - (margin + index * self._pitch())) <= max(self._pitch(), 2 * MARGIN) / 2
        return index if near and 0 <= index < self._count else None

    def _ask(self, index: int, device: str) -> None:
        index = min(max(index, 0), self._count - 1)
        if index == self._index:
            return
        self._index = index
        self.update()
        self.chosen.emit(index, device)

    def _announce(self, device: str) -> None:
        self._announced = True
        self.selected.emit(device)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self._at(event.position().x())
        if self._locked or index is None or event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        self._announce("mouse")
        self._ask(index, "mouse")

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        hover = None if self._locked else self._at(event.position().x())
        if hover != self._hover:
            self._hover = hover
            self.update()

    def leaveEvent(self, event: object) -> None:
        if self._hover is not None:
            self._hover = None
            self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        wanted = None if self._locked else self._wanted(event)
        if wanted is None:
            event.ignore()
            return
        if not self._announced:
            self._announce("keyboard")
        self._ask(wanted, "keyboard")

    def _wanted(self, event: QKeyEvent) -> int | None:
        """The choice a key asks for. With nothing chosen yet, an arrow takes the nearer end."""
        last = self._count - 1
        match event.key():
            case Qt.Key.Key_Right | Qt.Key.Key_Up:
                return 0 if self._index is None else self._index + 1
            case Qt.Key.Key_Left | Qt.Key.Key_Down:
                return last if self._index is None else self._index - 1
            case Qt.Key.Key_Home:
                return 0
            case Qt.Key.Key_End:
                return last
            case Qt.Key.Key_Space if self._index is None:
                return 0
        if (self._look.numbered or self._look.digits) and event.text().isdigit():
            index = int(event.text()) - self._look.first
            return index if 0 <= index < self._count else None
        return None

    def focusInEvent(self, event: QFocusEvent) -> None:
        if event.reason() in _TAB_REASONS:
            self._announce("keyboard")
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._announced = False
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), brush(getattr(self._colors, self._look.ground)))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
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
        painter.end()

    def _paint_circle(self, painter: QPainter, index: int) -> None:
        p = self._colors
        on = index == self._index
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
        if self._hover is not None and self._hover != self._index:
            painter.setPen(pen(p.accent, 2.0))
            painter.setBrush(brush(p.card))
            painter.drawEllipse(self.centre(self._hover), CIRCLE_R, CIRCLE_R)
        if self._index is not None:
            painter.setPen(pen(p.card, 2.0))
            painter.setBrush(brush(p.accent))
            painter.drawEllipse(self.centre(self._index), CIRCLE_R + 1, CIRCLE_R + 1)

    def _paint_numbers(self, painter: QPainter) -> None:
        painter.setFont(font(theme.SECONDARY_PX))
        for index in range(self._count):
            if self._line and index not in (0, self._count - 1):
                continue
            painter.setPen(
                color(self._colors.ink if index == self._index else self._colors.secondary)
            )
            box = QRectF(self.centre(index).x() - 20, theme.TARGET_HEIGHT - 1, 40, theme.SPACE_L)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(index + self._look.first))
