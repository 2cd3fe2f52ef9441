"""A check box in the tokens' look, with its words beside it, wrapped where they are long."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from labapp.ui import theme
from labapp.ui.widgets.painting import brush, color, draw_focus_ring, font, metrics, pen

BOX = 20.0
_WRAPPED = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class CheckBox(QAbstractButton):
    """Space or Enter ticks it."""

    def __init__(self, text: str, palette: theme.Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colors = palette
        self.setText(text)
        self.setCheckable(True)
        self.setAccessibleName(text)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def heightForWidth(self, width: int) -> int:
        room = QRectF(0, 0, width - BOX - 3 * theme.SPACE_S, 1000)
        needed = metrics().boundingRect(room, _WRAPPED, self.text()).height()
        return max(theme.TARGET_HEIGHT, round(needed) + theme.SPACE_S)

    def sizeHint(self) -> QSize:
        return QSize(300, self.heightForWidth(300))

    def hitButton(self, place: object) -> bool:
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat():
            self.click()
            return
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self._colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        on = self.isChecked()
        middle = self.height() / 2
        box = QRectF(theme.SPACE_XS, middle - BOX / 2, BOX, BOX)
        painter.setPen(pen(p.accent if on else p.secondary, 1.6))
        painter.setBrush(brush(p.accent if on else p.card))
        painter.drawRoundedRect(box, 4, 4)
        if on:
            x, y = box.center().x(), box.center().y()
            painter.setPen(pen(p.on_accent, 2.4))
            painter.drawPolyline(
                [QPointF(x - 5, y), QPointF(x - 1.5, y + 4), QPointF(x + 5, y - 4)]
            )
        painter.setFont(font())
        painter.setPen(color(p.ink))
        left = round(BOX) + theme.SPACE_XS + theme.SPACE_S
        words = QRect(left, 0, self.width() - left - theme.SPACE_S, self.height())
        painter.drawText(words, int(_WRAPPED), self.text())
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()), theme.RADIUS, p.accent)
        painter.end()
