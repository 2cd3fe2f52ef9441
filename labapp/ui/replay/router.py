"""From a pressed key to what it does, wherever the focus stands in the window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from labapp.ui.replay.keys import REPEATING, KeyMap, stroke_of_event

Command = Callable[[], object]
_KINDS = (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride, QEvent.Type.KeyRelease)


class KeyRouter(QObject):
    """Looks at the keys of one window before its widgets do.

    Attributes
    ----------
    commands : dict of str to callable
        What is done, by the names of actions.
    coding : bool
        Whether keys of coding hold.
    unclaimed : asked of key presses and releases that are no action, while no text is typed; says
        whether it took them.
    """

    def __init__(self, window: QWidget, keys: KeyMap) -> None:
        super().__init__(window)
        self._window = window
        self.keys = keys
        self.commands: dict[str, Command] = {}
        self.coding = False
        self.unclaimed: Callable[[QKeyEvent], bool] | None = None

    def listen(self) -> None:
        """Look at keys from now on: each event of the application comes by here, thousands of them
        while the window is made."""
        application = QApplication.instance()
        assert application is not None
        application.installEventFilter(self)

    def close(self) -> None:
        """Look at no key any more."""
        application = QApplication.instance()
        if application is not None:
            application.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() not in _KINDS or not isinstance(watched, QWidget):
            return False
        # What the focus does not take goes on to the widgets around it: that is no new key.
        if watched is not (self._window.focusWidget() or self._window):
            return False
        if QApplication.activePopupWidget() is not None:
            return False
        assert isinstance(event, QKeyEvent)
        return self._handled(watched, event)

    def _handled(self, watched: QWidget, event: QKeyEvent) -> bool:
        typing = types_text(watched)
        stroke = stroke_of_event(event)
        action = self.keys.action(stroke, coding=self.coding, typing=typing)
        if action not in self.commands or _presses(watched, event) or _chooses(watched, event):
            return self._offered(event, typing)
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()  # no shortcut of Qt's own comes first
        elif event.type() == QEvent.Type.KeyPress and (
            not event.isAutoRepeat() or action in REPEATING
        ):
            self.commands[action]()
        return event.type() != QEvent.Type.KeyRelease

    def _offered(self, event: QKeyEvent, typing: bool) -> bool:
        """What is no action may be a code."""
        if typing or self.unclaimed is None or event.type() == QEvent.Type.ShortcutOverride:
            return False
        return self.unclaimed(event)


def types_text(widget: QWidget) -> bool:
    """Whether keys write into a widget."""
    texts = (QLineEdit, QPlainTextEdit, QTextEdit)
    return isinstance(widget, texts) and not widget.isReadOnly()


def _chooses(widget: QWidget, event: QKeyEvent) -> bool:
    """Whether a key chooses from a list that opens."""
    return isinstance(widget, QComboBox) and event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down)


def _presses(widget: QWidget, event: QKeyEvent) -> bool:
    """Whether Enter presses a button. Space does not: it plays, wherever the focus is."""
    enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
    plain = (event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier).value == 0
    return enter and plain and isinstance(widget, QAbstractButton)
