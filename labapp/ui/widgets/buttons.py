"""Buttons: Space and Enter press them, a double click counts once, holding a key counts once."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPaintEvent
from PySide6.QtWidgets import (
    QPushButton,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QWidget,
)

from labapp.ui import theme
from labapp.ui.widgets.hands import KEYBOARD, device_of

_PRESSES = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class Button(QPushButton):
    """role: primary, quiet, link, or empty for the plain one (see theme.stylesheet).

    pressed_by: while it is clicked, what did so: mouse, touch or keyboard.
    """

    def __init__(self, text: str = "", role: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        if role:
            self.setProperty("role", role)
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.pressed_by = KEYBOARD

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.pressed_by = device_of(event)
        super().mouseReleaseEvent(event)
        self.pressed_by = KEYBOARD

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
