"""Keeps every hand from a screen that is only read: a mirror, a recorded session."""

from __future__ import annotations

from PySide6.QtCore import QChildEvent, QEvent, QObject, Qt
from PySide6.QtWidgets import QWidget

_KIND = QEvent.Type
INPUT = frozenset(
    {
        *(_KIND.MouseButtonPress, _KIND.MouseButtonRelease, _KIND.MouseButtonDblClick),
        *(_KIND.MouseMove, _KIND.Wheel, _KIND.ContextMenu, _KIND.ToolTip, _KIND.WhatsThis),
        *(_KIND.Enter, _KIND.Leave, _KIND.HoverEnter, _KIND.HoverMove, _KIND.HoverLeave),
        *(_KIND.KeyPress, _KIND.KeyRelease, _KIND.Shortcut, _KIND.ShortcutOverride),
        *(_KIND.InputMethod, _KIND.InputMethodQuery, _KIND.RequestSoftwareInputPanel),
        *(_KIND.TouchBegin, _KIND.TouchUpdate, _KIND.TouchEnd, _KIND.TouchCancel),
        *(_KIND.TabletPress, _KIND.TabletMove, _KIND.TabletRelease),
        *(_KIND.Gesture, _KIND.GestureOverride, _KIND.NativeGesture),
        *(_KIND.DragEnter, _KIND.DragMove, _KIND.DragLeave, _KIND.Drop),
    }
)
"""What a hand does, whichever device it uses, and what is only shown where a hand is."""


class ReadOnly(QObject):
    """Takes all input away from a widget and all in it, also from what comes later, and gives the
    focus back that any of it gets. Nothing looks otherwise, as it would if it were switched off."""

    def __init__(self, root: QWidget) -> None:
        super().__init__(root)
        for widget in (root, *root.findChildren(QWidget)):
            self._take(widget)

    def _take(self, widget: QWidget) -> None:
        widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # Installed twice, it would be asked twice.
        widget.removeEventFilter(self)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind in INPUT:
            return True
        if kind == _KIND.FocusIn and isinstance(watched, QWidget):
            watched.clearFocus()
            return True
        if kind == _KIND.ChildPolished and isinstance(event, QChildEvent):
            # Not when it is added: it may be half made then.
            child = event.child()
            if isinstance(child, QWidget):
                for widget in (child, *child.findChildren(QWidget)):
                    self._take(widget)
        return False
