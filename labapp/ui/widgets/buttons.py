"""Buttons: Space and Enter press them, a double click counts once, holding a key counts once."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QWidget,
)

from labapp.ui import theme
from labapp.ui.widgets.painting import brush, color, draw_focus_ring, font, metrics, pen

_PRESSES = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class Button(QPushButton):
    """role: primary, quiet, link, or empty for the plain one (see theme.stylesheet)."""

    def __init__(self, text: str = "", role: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        if role:
            self.setProperty("role", role)
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Swallowed: the second click of a double click would act on the next screen."""
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in _PRESSES:
            if not event.isAutoRepeat():
                self.click()
            return
        # Not to the base class: there, arrow keys would move the focus.
        event.ignore()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        event.ignore()


class ElidedButton(Button):
    """A button that may be narrower than its text: that ends in an ellipsis then. Its tool tip has
    all of it, which is up to whoever makes it."""

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.SPACE_XL, super().minimumSizeHint().height())

    def shown_text(self) -> str:
        """As much of the text as there is room for."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        inside = self.style().subElementRect(QStyle.SubElement.SE_PushButtonContents, option, self)
        end = Qt.TextElideMode.ElideRight
        return self.fontMetrics().elidedText(self.text(), end, inside.width())

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = self.shown_text()
        QStylePainter(self).drawControl(QStyle.ControlElement.CE_PushButton, option)


class Segmented(QWidget):
    """A choice between views, drawn as joined segments; `changed(index)` when the hand asks."""

    changed = Signal(int)

    def __init__(
        self, texts: Sequence[str], palette: theme.Palette, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._texts = tuple(texts)
        self._colors = palette
        self._index = 0
        widths = [metrics(bold=True).horizontalAdvance(text) for text in texts]
        self._each = round(max(widths)) + 2 * theme.SPACE_L
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(" / ".join(self._texts))

    @property
    def index(self) -> int:
        return self._index

    def show_index(self, index: int) -> None:
        if index != self._index:
            self._index = index
            self.setAccessibleDescription(self._texts[index])
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._each * len(self._texts) + 2, theme.TARGET_HEIGHT + 2)

    def _ask(self, index: int) -> None:
        if index != self._index and 0 <= index < len(self._texts):
            self.show_index(index)
            self.changed.emit(index)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._ask(int((event.position().x() - 1) // self._each))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Right | Qt.Key.Key_Down:
                self._ask(self._index + 1)
            case Qt.Key.Key_Left | Qt.Key.Key_Up:
                self._ask(self._index - 1)
            case Qt.Key.Key_Space | Qt.Key.Key_Return | Qt.Key.Key_Enter:
                if not event.isAutoRepeat():
                    self._ask((self._index + 1) % len(self._texts))
            case _:
                event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.EnabledChange:
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self._colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        whole = QRectF(self.rect())
        painter.setPen(pen(p.hairline))
        painter.setBrush(brush(p.card))
        painter.drawRoundedRect(whole.adjusted(0.5, 0.5, -0.5, -0.5), theme.RADIUS, theme.RADIUS)
        for index, text in enumerate(self._texts):
            box = QRectF(1 + index * self._each, 1, self._each, theme.TARGET_HEIGHT)
            on = index == self._index
            if on:
                painter.setPen(pen(p.accent))
                painter.setBrush(brush(p.accent_soft))
                inner = box.adjusted(1.5, 1.5, -1.5, -1.5)
                painter.drawRoundedRect(inner, theme.RADIUS - 2, theme.RADIUS - 2)
            painter.setFont(font(bold=on))
            painter.setPen(color(p.accent if on else p.ink))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        if self.hasFocus():
            draw_focus_ring(painter, whole, theme.RADIUS, p.accent)
        painter.end()
