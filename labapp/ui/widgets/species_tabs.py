"""Tabs of the classes whose rows can be looked at, each with how many rows are rated."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.ui import theme
from labapp.ui.widgets.painting import brush, color, draw_focus_ring, font, metrics

HEIGHT = 48
LINE = 3
DONE, MISSING = "✓", "▸"


class SpeciesTabs(QWidget):
    """opened(option): the hand wants to look at this class, from 1.

    One Tab stop; arrow keys, Home and End and the digits open one. said: a tab in words, of its
    name, how many rows are rated and of how many.
    """

    opened = Signal(int)

    def __init__(
        self,
        names: Sequence[str],
        palette: theme.Palette,
        said: Callable[[str, int, int], str],
    ) -> None:
        super().__init__()
        self._colors, self._names, self._said = palette, tuple(names), said
        self._option = 1
        self._counts: tuple[tuple[int, int], ...] = ((0, 0),) * len(names)
        self._marked: tuple[bool, ...] = (False,) * len(names)
        self._hover: int | None = None
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setMouseTracking(True)

    def show_state(
        self, option: int, counts: Sequence[tuple[int, int]], marked: Sequence[bool]
    ) -> None:
        """The class that is looked at; of each how many rows are rated, of how many, and whether to
        mark it as one that lacks some."""
        self._option = option
        self._counts, self._marked = tuple(counts), tuple(marked)
        each = [self._said(name, *count) for name, count in zip(self._names, counts, strict=False)]
        self.setAccessibleName(" / ".join(each))
        self.setAccessibleDescription(each[option - 1])
        self.update()

    def sizeHint(self) -> QSize:
        widest = max(metrics(bold=True).horizontalAdvance(name) for name in self._names)
        return QSize(round(widest + 2 * theme.SPACE_M) * len(self._names), HEIGHT)

    def box(self, option: int) -> QRectF:
        """Where a tab is drawn."""
        wide = self.width() / len(self._names)
        return QRectF((option - 1) * wide, 0, wide, HEIGHT)

    def _under(self, x: float) -> int | None:
        option = int(x * len(self._names) / max(self.width(), 1)) + 1
        return option if 1 <= option <= len(self._counts) else None

    def _ask(self, option: int) -> None:
        option = min(max(option, 1), len(self._counts))
        if option != self._option:
            self.opened.emit(option)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        option = self._under(event.position().x())
        if option is not None and event.button() == Qt.MouseButton.LeftButton:
            self._ask(option)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        hover = self._under(event.position().x())
        if hover != self._hover:
            self._hover = hover
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._hover = None
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Right | Qt.Key.Key_Down:
                self._ask(self._option + 1)
            case Qt.Key.Key_Left | Qt.Key.Key_Up:
                self._ask(self._option - 1)
            case Qt.Key.Key_Home:
                self._ask(1)
            case Qt.Key.Key_End:
                self._ask(len(self._counts))
            case _ if event.text().isdigit() and 1 <= int(event.text()) <= len(self._counts):
                self._ask(int(event.text()))
            case _:
                event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self._colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(QRectF(0, HEIGHT - 1, self.width(), 1), brush(p.hairline))
        for option in range(1, len(self._counts) + 1):
            self._paint_tab(painter, option)
        if self.hasFocus():
            ring = self.box(self._option).adjusted(1, 1, -1, -1)
            draw_focus_ring(painter, ring, theme.RADIUS, p.accent)
        painter.end()

    def _paint_tab(self, painter: QPainter, option: int) -> None:
        p, box, on = self._colors, self.box(option), option == self._option
        done, of = self._counts[option - 1]
        if on or option == self._hover:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(brush(p.accent_soft if on else p.track))
            painter.drawRoundedRect(box.adjusted(2, 2, -2, -LINE), theme.RADIUS, theme.RADIUS)
        if on:
            painter.fillRect(QRectF(box.left(), HEIGHT - LINE, box.width(), LINE), brush(p.accent))
        painter.setFont(font(bold=on))
        painter.setPen(color(p.accent if on else p.ink))
        upper = QRectF(box.left(), 5, box.width(), 20)
        painter.drawText(upper, Qt.AlignmentFlag.AlignCenter, self._names[option - 1])
        whole, lacks = done == of, self._marked[option - 1]
        painter.setFont(font(theme.SECONDARY_PX))
        painter.setPen(color(p.good if whole else p.warn if lacks else p.secondary))
        mark = f"{DONE} " if whole else f"{MISSING} " if lacks else ""
        lower = QRectF(box.left(), 24, box.width(), 18)
        painter.drawText(lower, Qt.AlignmentFlag.AlignCenter, f"{mark}{done} / {of}")
