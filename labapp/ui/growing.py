"""Enlarges the screen of the participant's window where it has more room than the page needs.

One factor applies to type, spacing, targets and sliders alike, by Qt's own scaling of a screen: the
window then has about 1366 x 768 logical pixels, every task looks as it does at that size, and
pictures keep whole device pixels. `WindowShown` records the size in logical pixels, the pixel ratio
and the factor, so that the mirror and a replay show the same.

Qt has no public function for this; the one used here exists for Qt's own tests. Where it is
missing, nothing is enlarged, `labapp doctor` says so, and `WindowShown.grown` stays 1.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from functools import cache
from math import ceil
from pathlib import Path

import PySide6
from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QGuiApplication, QScreen
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import getCppPointer, isValid

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


def grown_of(widget: QWidget) -> float:
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
