"""Answers to choose from: one of them (round marks) or several (square marks)."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from labapp.ui import theme
from labapp.ui.widgets.flow import FlowLayout
from labapp.ui.widgets.painting import brush, color, draw_focus_ring, font, metrics, pen

MARK = 20.0
_LEFT = theme.SPACE_XS + round(MARK) + theme.SPACE_S
_WRAPPED = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_FORWARD = (Qt.Key.Key_Right, Qt.Key.Key_Down)
_BACK = (Qt.Key.Key_Left, Qt.Key.Key_Up)


class OptionButton(QAbstractButton):
    """One answer. It shows what the session says: a click only asks. stepped(+1 or -1): an arrow
    key wants the neighbour; entered: it got the focus; digit(n): a digit was pressed."""

    stepped = Signal(int)
    entered = Signal()
    digit = Signal(int)

    def __init__(self, text: str, palette: theme.Palette, *, several: bool) -> None:
        super().__init__()
        self._colors = palette
        self._several = several
        self.setText(text)
        self.setAccessibleName(text)
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def nextCheckState(self) -> None:
        """Left as it is: the session decides."""

    def heightForWidth(self, width: int) -> int:
        room = QRectF(0, 0, width - _LEFT - theme.SPACE_S, 1000)
        needed = metrics().boundingRect(room, int(_WRAPPED), self.text()).height()
        return max(theme.TARGET_HEIGHT, round(needed) + theme.SPACE_XS)

    def sizeHint(self) -> QSize:
        width = _LEFT + round(metrics().horizontalAdvance(self.text())) + theme.SPACE_S + 2
        return QSize(max(width, self.minimumWidth()), theme.TARGET_HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, theme.TARGET_HEIGHT)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in _FORWARD or key in _BACK:
            self.stepped.emit(1 if key in _FORWARD else -1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            if not event.isAutoRepeat():
                self.click()
        elif event.text().isdigit() and not event.isAutoRepeat():
            self.digit.emit(int(event.text()))
        else:
            event.ignore()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.entered.emit()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self._colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        on = self.isChecked()
        strong = on or self.underMouse()
        box = QRectF(theme.SPACE_XS, (self.height() - MARK) / 2, MARK, MARK)
        painter.setPen(pen(p.accent if strong else p.secondary, 1.6))
        painter.setBrush(brush(p.accent if on else p.card))
        if self._several:
            painter.drawRoundedRect(box, 4, 4)
        else:
            painter.drawEllipse(box.adjusted(1, 1, -1, -1))
        if on:
            self._paint_mark(painter, box.center())
        painter.setFont(font())
        painter.setPen(color(p.ink))
        words = QRect(_LEFT, 0, self.width() - _LEFT - theme.SPACE_XS, self.height())
        painter.drawText(words, int(_WRAPPED), self.text())
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()), theme.RADIUS, p.accent)
        painter.end()

    def _paint_mark(self, painter: QPainter, at: QPointF) -> None:
        x, y = at.x(), at.y()
        if self._several:
            painter.setPen(pen(self._colors.on_accent, 2.4))
            painter.drawPolyline(
                [QPointF(x - 5, y), QPointF(x - 1.5, y + 4), QPointF(x + 5, y - 4)]
            )
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(brush(self._colors.on_accent))
            painter.drawEllipse(at, 4.0, 4.0)


class OptionGroup(QWidget):
    """asked(index): the hand wants an option taken or given back. One Tab stop; arrow keys go from
    option to option, Space or Enter takes one, and so does the digit of its place."""

    asked = Signal(int)

    def __init__(
        self,
        texts: Sequence[str],
        palette: theme.Palette,
        *,
        several: bool = False,
        least_width: int = 0,
    ) -> None:
        super().__init__()
        self.flow = FlowLayout(theme.SPACE_L, theme.SPACE_XS, self)
        self.buttons = [OptionButton(text, palette, several=several) for text in texts]
        for index, button in enumerate(self.buttons):
            button.setMinimumWidth(least_width)
            button.clicked.connect(lambda _=False, i=index: self.asked.emit(i))
            button.stepped.connect(lambda step, i=index: self._step(i + step))
            button.entered.connect(lambda i=index: self._stop_at(i))
            button.digit.connect(self._digit)
            self.flow.addWidget(button)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._stop_at(0)

    def show_chosen(self, indexes: Sequence[int]) -> None:
        """Show what the session says."""
        for index, button in enumerate(self.buttons):
            button.setChecked(index in indexes)
        if indexes and not any(button.hasFocus() for button in self.buttons):
            self._stop_at(indexes[0])

    def entrance(self) -> QWidget:
        """The option that Tab comes to."""
        strong = Qt.FocusPolicy.StrongFocus
        return next(button for button in self.buttons if button.focusPolicy() == strong)

    def _stop_at(self, index: int) -> None:
        for number, button in enumerate(self.buttons):
            here = number == index
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus if here else Qt.FocusPolicy.ClickFocus)

    def _step(self, index: int) -> None:
        if 0 <= index < len(self.buttons):
            self.buttons[index].setFocus(Qt.FocusReason.TabFocusReason)

    def _digit(self, number: int) -> None:
        if 1 <= number <= len(self.buttons):
            self._step(number - 1)
            self.asked.emit(number - 1)
