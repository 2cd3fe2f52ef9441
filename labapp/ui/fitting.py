"""Keeps a window within the part of its screen that windows may use.

Every window of labapp is `Fitted`. It is made smaller and moved when it opens, and again when its
screen changes: another resolution, another scale, another screen, or a bar of the desktop that
takes room.

Enlarges the screen of the participant's window where it has more room than the page needs.

One factor applies to type, spacing, targets and sliders alike, by Qt's own scaling of a screen: the
window then has about 1366 x 768 logical pixels, every task looks as it does at that size, and
pictures keep whole device pixels. `WindowShown` records the size in logical pixels, the pixel ratio
and the factor, so that the mirror and a replay show the same.

Qt has no public function for this; the one used here exists for Qt's own tests. Where it is
missing, nothing is enlarged, `labapp doctor` says so, and `WindowShown.grown` stays 1.

How much room the windows need on a screen, in logical pixels.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from functools import cache
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import PySide6
from PySide6.QtCore import QMargins, QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QScreen
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import getCppPointer, isValid

if TYPE_CHECKING:
    _Window = QWidget
else:
    _Window = object

TITLE = QMargins(4, 36, 4, 4)
"""Logical pixels that a frame takes at most, for as long as the window system has not said."""
SETTLED_MS, LOOKS = 200, 15
"""How often to look whether the window system has put a frame around a window, and at most how many
times: on a busy computer it takes its time, and some window systems draw none."""
_AS_IT_IS = Qt.WindowState.WindowMinimized | Qt.WindowState.WindowFullScreen


def clamp_rect(shown: QRect, room: QRect) -> QRect:
    """A window's rectangle, made no larger than the room and moved into it by the shortest way."""
    size = shown.size().boundedTo(room.size())
    x = min(max(shown.x(), room.x()), room.x() + room.width() - size.width())
    y = min(max(shown.y(), room.y()), room.y() + room.height() - size.height())
    return QRect(QPoint(x, y), size)


def room_of(window: QWidget) -> QRect | None:
    """The part of its screen that a window may use, with its frame; None if there is no screen
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
    _looks_left = 0
    _fitted_on: QScreen | None = None

    def setVisible(self, visible: bool) -> None:
        opens = visible and not self.isVisible() and self.isWindow()
        if opens and room_of(self) is not None:  # a preview shows a window inside of its own
            if self._least_size is None:
                self._least_size = self.minimumSize()
            self._framed, self._wanted_size = False, self.size()
            self.fit_screen()
            self._looks_left = LOOKS
            QTimer.singleShot(SETTLED_MS, self, self._settle_frame)
        super().setVisible(visible)

    def _settle_frame(self) -> None:
        """Fit it once more, as soon as it is known how wide its frame is."""
        handle = self.windowHandle()
        self._looks_left -= 1
        if handle is not None:
            if self._looks_left and handle.frameMargins().isNull():
                QTimer.singleShot(SETTLED_MS, self, self._settle_frame)
                return
            handle.screenChanged.connect(self.fit_screen, Qt.ConnectionType.UniqueConnection)
        self._framed = True
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
        inside = clamp_rect(shown, room)
        if self.testAttribute(Qt.WidgetAttribute.WA_Moved) or self._framed:
            if inside != self.geometry():
                self.setGeometry(inside)
        elif inside.size() != self.size():
            self.resize(inside.size())  # where it is put, the window system decides
        too_large = shown.size() != shown.size().boundedTo(available.size())
        if self._wanted_size is not None and too_large:
            maximise(self)


FROM = QSize(1366, 768)
"""From this size on, in logical pixels, a page is made larger."""
MOST = 1.8
GROWN = "grown"
"""The property of a participant's window that has its factor."""
_MANGLED = "_ZN15QHighDpiScaling15setScreenFactorEP7QScreend"
_LIBRARIES = {
    "linux": ("Qt/lib/libQt6Gui.so.6", _MANGLED),
    "darwin": ("Qt/lib/QtGui.framework/Versions/A/QtGui", _MANGLED),
    "win32": ("Qt6Gui.dll", "?setScreenFactor@QHighDpiScaling@@SAXPEAVQScreen@@N@Z"),
}
_grown: dict[str, tuple[float, float]] = {}
"""By name of a screen that has grown, its factor, and what the system scales it by."""
_others: list[tuple[QWidget, QRect]] = []
"""The windows that were on it and where they were, for those that are put away meanwhile, such as
the home: Qt keeps their size in device pixels."""


def factor_for(size: QSize) -> float:
    """The factor for a window of so many logical pixels, 1 to `MOST`.

    It is as near as can be to the one that leaves 1366 x 768, and fills the window to the last
    device pixel.
    """
    across, down = size.width() / FROM.width(), size.height() / FROM.height()
    wished = min(across, down, MOST)
    if wished <= 1.0:
        return 1.0
    for high in range(ceil(size.height() / wished), size.height() + 1):
        made = size.height() / high
        if round(round(size.width() / made) * made) == size.width():
            return made
    return 1.0


@cache
def _set_factor() -> Callable[[int, float], None] | None:
    library, name = _LIBRARIES.get(sys.platform, ("", ""))
    try:
        function = getattr(ctypes.CDLL(str(Path(PySide6.__file__).parent / library)), name)
    except (OSError, AttributeError):
        return None
    function.argtypes, function.restype = [ctypes.c_void_p, ctypes.c_double], None
    return lambda screen, factor: function(screen, factor)


def can_grow() -> bool:
    """Whether screens can grow with this installation of Qt."""
    return _set_factor() is not None


def grow(screen: QScreen) -> float:
    """Make what is on a screen as large as a participant's window there can have it; returns the
    factor."""
    before, system = _grown.get(screen.name(), (1.0, _of_system(screen)))
    size = (screen.size().toSizeF() * before).toSize()
    factor = factor_for(size) if can_grow() else 1.0
    if factor != before:
        if before == 1.0:
            _others.extend(
                (window, window.geometry())
                for window in QApplication.topLevelWidgets()
                # Not by its screen(): PySide takes that to own what it gives, and it goes with it.
                if screen.geometry().contains(window.geometry().center())
            )
        _grown[screen.name()] = (factor, system)
        _apply(screen, factor * system)
    return factor


def shrink(but: QScreen | None = None) -> None:
    """Make what is on all screens but one as large as the system has it."""
    for screen in QGuiApplication.screens():
        if screen is not but and screen.name() in _grown:
            _, system = _grown.pop(screen.name())
            _apply(screen, system)
            for window, where in _others:
                if isValid(window) and window.isHidden():
                    window.setGeometry(where)
            _others.clear()


def get_growth(widget: QWidget) -> float:
    """By how much the participant's window is larger that a widget is in."""
    return float(widget.window().property(GROWN) or 1.0)


def _of_system(screen: QScreen) -> float:
    """What Qt multiplies sizes by on this screen, besides the factor for all screens."""
    if sys.platform == "darwin":  # there the system itself draws larger
        return 1.0
    return screen.devicePixelRatio() / float(os.environ.get("QT_SCALE_FACTOR") or 1)


def _apply(screen: QScreen, factor: float) -> None:
    if (set_factor := _set_factor()) is not None:
        set_factor(getCppPointer(screen)[0], factor)


PARTICIPANT = (900, 500)
CONSOLE = HOME = (900, 460)
"""The least width and height of each window. A display of 1366 × 768 at 150 % has 911 × 512: there
a window that needs more would hide its buttons, and those of the moderator have a title bar."""

AROUND_PICTURE, BESIDE_PICTURE = 256, 24
"""Logical pixels of height that bars, question and buttons take, and of width on either side."""


def fits(width: float, height: float, *windows: tuple[int, int]) -> bool:
    """Whether each of the windows has room on a screen of this size."""
    return all(width >= wide and height >= high for wide, high in windows)


def for_picture(side: int) -> tuple[int, int]:
    """What the participant's window needs to show a picture of this size."""
    return side + 2 * BESIDE_PICTURE, side + AROUND_PICTURE


def format_needed_room(*windows: tuple[int, int]) -> str:
    """The room for all of them, such as `1100 × 700`."""
    return f"{max(w for w, _ in windows)} × {max(h for _, h in windows)}"
