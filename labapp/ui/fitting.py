"""Keeps a window within the part of its screen that windows may use.

Every window of labapp is `Fitted`. It is made smaller and moved when it opens, and again when its
screen changes: another resolution, another scale, another screen, or a bar of the desktop that
takes room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QMargins, QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QScreen
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    _Window = QWidget
else:
    _Window = object

TITLE = QMargins(4, 36, 4, 4)
"""Logical pixels that a frame takes at most, for as long as the window system has not said."""
SETTLED_MS = 200
"""After so long the window system has put a frame around a window."""
_AS_IT_IS = Qt.WindowState.WindowMinimized | Qt.WindowState.WindowFullScreen


def clamped(shown: QRect, room: QRect) -> QRect:
    """A window's rectangle, made no larger than the room and moved into it by the shortest way."""
    size = shown.size().boundedTo(room.size())
    x = min(max(shown.x(), room.x()), room.x() + room.width() - size.width())
    y = min(max(shown.y(), room.y()), room.y() + room.height() - size.height())
    return QRect(QPoint(x, y), size)


def room_of(window: QWidget) -> QRect | None:
    """The part of its screen that a window may use, with its frame; None where there is no screen
    that it could leave."""
    if QGuiApplication.platformName() == "offscreen":
        return None
    return window.screen().availableGeometry()


def maximise(window: QWidget) -> None:
    """Ask the window system to give a window that is too large all the room there is."""
    window.setWindowState(window.windowState() | Qt.WindowState.WindowMaximized)


class Fitted(_Window):
    """A window that stays inside its screen: name it before the widget that the window is."""

    _least_size: QSize | None = None
    _wanted_size: QSize | None = None
    _framed = False
    _fitted_on: QScreen | None = None

    def setVisible(self, visible: bool) -> None:
        opens = visible and not self.isVisible() and self.isWindow()
        if opens and room_of(self) is not None:  # a preview shows a window inside of its own
            if self._least_size is None:
                self._least_size = self.minimumSize()
            self._framed, self._wanted_size = False, self.size()
            self.fit_screen()
            QTimer.singleShot(SETTLED_MS, self, self._settle_frame)
        super().setVisible(visible)

    def _settle_frame(self) -> None:
        """Fit it once more, now that it is known how wide its frame is."""
        self._framed = True
        handle = self.windowHandle()
        if handle is not None:
            handle.screenChanged.connect(self.fit_screen, Qt.ConnectionType.UniqueConnection)
        self.fit_screen()
        self._wanted_size = None

    def _follow_screen(self, screen: QScreen) -> None:
        if screen is self._fitted_on:
            return
        if self._fitted_on is not None and self._fitted_on in QGuiApplication.screens():
            self._fitted_on.availableGeometryChanged.disconnect(self.fit_screen)
        self._fitted_on = screen
        screen.availableGeometryChanged.connect(self.fit_screen)

    def _frame_of_window(self) -> QMargins:
        if self._framed:
            return self.windowHandle().frameMargins()
        frameless = self.windowFlags() & Qt.WindowType.FramelessWindowHint
        return QMargins() if frameless else TITLE

    def fit_screen(self) -> None:
        """Bring the window inside the screen that it is on."""
        available = room_of(self)
        if available is None or self._least_size is None or not self.isWindow():
            return
        self._follow_screen(self.screen())
        if self.windowState() & _AS_IT_IS:
            return
        room = available.marginsRemoved(self._frame_of_window())
        self.setMinimumSize(self._least_size.boundedTo(room.size()))
        if self.isMaximized():
            return  # the window system sizes it; only the least size could be in its way
        shown = self.geometry()
        if self._wanted_size is not None:
            shown.setSize(self._wanted_size)
        inside = clamped(shown, room)
        if self.testAttribute(Qt.WidgetAttribute.WA_Moved) or self._framed:
            if inside != self.geometry():
                self.setGeometry(inside)
        elif inside.size() != self.size():
            self.resize(inside.size())  # where it is put, the window system decides
        too_large = shown.size() != shown.size().boundedTo(available.size())
        if self._wanted_size is not None and too_large:
            maximise(self)
