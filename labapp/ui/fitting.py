"""Keeps a window within the part of its screen that windows may use.

Every window of labapp that has a title bar calls `keep_inside` once. It is made smaller and moved
when it opens, and again when its screen changes: another resolution, another scale, another
screen, or a bar of the desktop that takes room.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMargins, QObject, QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QScreen
from PySide6.QtWidgets import QWidget

TITLE = QMargins(4, 36, 4, 4)
"""Logical pixels that a frame takes at most, for as long as the window system has not said."""
_AS_IT_IS = Qt.WindowState.WindowMinimized | Qt.WindowState.WindowFullScreen


def keep_inside(window: QWidget) -> None:
    """Keep a top-level window inside its screen from now on."""
    window.installEventFilter(_Keeper(window))


def clamped(shown: QRect, room: QRect) -> QRect:
    """A window's rectangle, made no larger than the room and moved into it by the shortest way."""
    size = shown.size().boundedTo(room.size())
    x = min(max(shown.x(), room.x()), room.x() + room.width() - size.width())
    y = min(max(shown.y(), room.y()), room.y() + room.height() - size.height())
    return QRect(QPoint(x, y), size)


class _Keeper(QObject):
    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._least: QSize | None = None
        self._screen: QScreen | None = None
        self._wanted: QSize | None = None
        self._framed = False

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.Show and not event.spontaneous():
            self._framed = False
            self._wanted = self._window.size()
            self._fit()
        elif kind == QEvent.Type.Paint and not self._framed:
            self._framed = True  # it is mapped: from now on the frame is known
            QTimer.singleShot(0, self, self._settle)
        elif kind in (QEvent.Type.ScreenChangeInternal, QEvent.Type.WindowStateChange):
            self._fit()
        return False

    def _settle(self) -> None:
        """Fit it once more, now that it is known how wide its frame is."""
        self._fit()
        self._wanted = None

    def _follow(self, screen: QScreen) -> None:
        if screen is self._screen:
            return
        if self._screen is not None and self._screen in QGuiApplication.screens():
            self._screen.availableGeometryChanged.disconnect(self._fit)
        self._screen = screen
        screen.availableGeometryChanged.connect(self._fit)

    def _frame(self) -> QMargins:
        handle = self._window.windowHandle()
        known = QMargins() if handle is None else handle.frameMargins()
        frameless = self._window.windowFlags() & Qt.WindowType.FramelessWindowHint
        return known if self._framed or frameless or not known.isNull() else TITLE

    def _fit(self) -> None:
        window, screen = self._window, self._window.screen()
        # Offscreen there is no screen that a window could leave.
        if screen is None or QGuiApplication.platformName() == "offscreen":
            return
        self._follow(screen)
        if self._least is None:
            self._least = window.minimumSize()
        if not window.isVisible() or window.windowState() & _AS_IT_IS:
            return
        room = screen.availableGeometry().marginsRemoved(self._frame())
        window.setMinimumSize(self._least.boundedTo(room.size()))
        if window.isMaximized():
            return  # the window system sizes it; only the least size could be in its way
        shown = window.geometry()
        if self._wanted is not None:
            shown.setSize(self._wanted)
        inside = clamped(shown, room)
        if window.testAttribute(Qt.WidgetAttribute.WA_Moved) or self._framed:
            if inside != window.geometry():
                window.setGeometry(inside)
        elif inside.size() != window.size():
            window.resize(inside.size())  # where it is put, the window system decides
        too_large = shown.size() != shown.size().boundedTo(screen.availableSize())
        if self._wanted is not None and too_large:
            window.setWindowState(window.windowState() | Qt.WindowState.WindowMaximized)
