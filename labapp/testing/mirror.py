"""Hands on a screen that is only read: a mirror takes no input, whatever is pressed on it."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QShortcut
from PySide6.QtWidgets import QApplication, QWidget

from labapp.events.commands import Command
from labapp.plugins import registry
from labapp.plugins.part import PlannedPart
from labapp.session.runner import Runner
from labapp.ui.participant.screens import screen_class
from labapp.ui.participant.view import SessionView

KEYS = (
    (Qt.Key.Key_1, "1"),
    (Qt.Key.Key_2, "2"),
    (Qt.Key.Key_Space, " "),
    (Qt.Key.Key_Right, ""),
    (Qt.Key.Key_Return, "\r"),
)


def commands_of_mirror(
    runner: Runner, view: SessionView, part: PlannedPart, size: tuple[int, int]
) -> list[Command]:
    """What reaches the session when a hand presses everything on a mirror of a part's screen.

    The mirror is without labapp's own filter of input, so that it is the screen that is checked:
    what it asks for has to go through its view, which takes nothing from who only looks on.
    """
    asked: list[Command] = []

    def hear(command: Command, *source: Any) -> None:
        asked.append(command)

    def ignore(*raised: Any) -> None:
        """A screen need not know what to do with what cannot happen."""

    own, hook = vars(runner), sys.excepthook
    own["send"], sys.excepthook = hear, ignore
    screen = screen_class(registry.task_type_of(part).screen(part))(view.only_read(), part)
    try:
        screen.resize(*size)
        screen.render_state()
        for widget in (screen, *screen.findChildren(QWidget)):
            _press(widget)
        for shortcut in screen.findChildren(QShortcut):
            shortcut.activated.emit()
        with suppress(Exception):
            screen.right()
        QApplication.sendPostedEvents()
    finally:
        del own["send"]
        sys.excepthook = hook
        screen.close()
        screen.deleteLater()
    return asked


def _press(widget: QWidget) -> None:
    """A click in the middle, and some keys."""
    kinds = QEvent.Type
    at = QPointF(widget.rect().center())
    for kind in (kinds.MouseButtonPress, kinds.MouseButtonRelease):
        button = Qt.MouseButton.LeftButton
        held = button if kind == kinds.MouseButtonPress else Qt.MouseButton.NoButton
        there = QPointF(widget.mapToGlobal(at.toPoint()))
        none = Qt.KeyboardModifier.NoModifier
        QApplication.sendEvent(widget, QMouseEvent(kind, at, there, button, held, none))
    for key, text in KEYS:
        for kind in (kinds.KeyPress, kinds.KeyRelease):
            QApplication.sendEvent(
                widget, QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier, text)
            )
