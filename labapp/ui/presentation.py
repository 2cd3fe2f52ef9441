"""When a change is on the screen: from the moment it is due to the frame that shows it.

What a paintEvent draws goes into Qt's backing store, and only after the last paintEvent of an
update is the store handed to the window system ("flushed"). `QWidget.repaint` does both before it
returns, so the time after it is the earliest at which the picture can be seen: on X11 and Windows
it is the next thing the screen or the compositor shows, within a refresh interval or two. That is
`shown_by: flush`.

On Wayland and macOS the requests of a window for an update are answered in step with its frames: by
the compositor's frame callback of what was committed last, and by the display link. There the
picture is painted as such a request is answered, when no older frame is under way, and is shown
when the next one is: `shown_by: frame`. A compositor sends no callback for a window that cannot be
seen.

When an input event happened, by the time stamp that the window system gave it.

A program gets a key press late: other events are worked off before it. The window system stamps
the event in whole milliseconds of a clock that begins anywhere and, on X11, is 32 bits long, so
that it starts again from 0 every 49.7 days. Here a stamp becomes a reading of
`time.perf_counter_ns`, or is not trusted and the time of arrival stands for it.

On Linux the stamps of X11 and Wayland and Python's `perf_counter` are the same clock,
CLOCK_MONOTONIC: nothing has to be added, and each event shows whether that holds, for it must have
come before it arrived and not long before. Elsewhere, and with a display on another machine, what
has to be added is unknown; events arrive late and never early, so the smallest difference between
arrival and stamp among the latest events is the best there is.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from enum import Enum, auto
from typing import Literal, NamedTuple

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication, QWindow
from PySide6.QtWidgets import QWidget

from labapp.ui import timers

FRAMED = ("wayland", "cocoa")
"""Platforms, by the beginning of Qt's name, whose update requests are in step with frames. Those of
Windows follow its vertical blank since Qt 6.10, which says nothing of what is in the frame."""
EARLY_MS = 3
"""How long before it is due a change is waited for in turns of the event loop: a timer may be late
by a millisecond or two, a turn is not."""

Shown = Callable[[int, str], None]
"""Is told when a picture was shown, by `time.perf_counter_ns`, and what says so."""


class DueTimer(QObject):
    """Calls at a reading of `time.perf_counter_ns`, never before it, and blocks nothing."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._at = 0
        self._call: Callable[[], None] | None = None
        self._timer = timers.once(self, self._look)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)

    @property
    def waits(self) -> bool:
        """Whether something is still to be called."""
        return self._call is not None

    def call(self, at_ns: int, function: Callable[[], None]) -> None:
        """Call this then, or at once where that is past, and nothing that was wanted before."""
        self._at, self._call = at_ns, function
        self._timer.stop()
        self._look()

    def stop(self) -> None:
        """Call nothing."""
        self._call = None
        self._timer.stop()

    def _look(self) -> None:
        left_ms = (self._at - time.perf_counter_ns()) / 1e6
        if left_ms > 0:
            self._timer.start(max(0, int(left_ms) - EARLY_MS))
            return
        function, self._call = self._call, None
        if function is not None:
            function()


class _Stage(Enum):
    IDLE = auto()
    TURN = auto()
    """Waits until no older frame is under way."""
    PAINT = auto()
    """Waits for a paintEvent: at once, or when the window can be seen again."""
    FRAME = auto()
    """Waits until the window system confirms the frame."""


class Presenter(QObject):
    """Puts pictures of a view on the screen and says when they were there.

    The view calls `painted` at the end of its paintEvents. Nothing is said to be shown while the
    window is not exposed (minimised, on no screen).

    framed : whether update requests are in step with frames; None: as the platform does it.
    """

    _FLUSHED = QEvent.Type(QEvent.registerEventType())
    _FRAMED = QEvent.Type(QEvent.registerEventType())

    def __init__(self, view: QWidget, *, framed: bool | None = None) -> None:
        super().__init__(view)
        platform = QGuiApplication.platformName()
        self._framed = platform.startswith(FRAMED) if framed is None else framed
        self._view = view
        self._stage = _Stage.IDLE
        self._direct = False
        self._drawn = False
        self._framed_ns: int | None = None
        self._show: Callable[[], None] = lambda: None
        self._shown: Shown | None = None
        self._handle: QWindow | None = None

    @property
    def busy(self) -> bool:
        """Whether a picture is currently being presented."""
        return self._stage is not _Stage.IDLE

    def present(self, show: Callable[[], None], shown: Shown) -> None:
        """Put a picture on the screen.

        show : gives the view the picture; called when it is painted, perhaps a frame later. shown :
        is told once when it is there, and never after `cancel` or the next `present`.
        """
        self.cancel()
        self._show, self._shown = show, shown
        handle = self._view.window().windowHandle()
        if handle is None:
            raise RuntimeError("a picture is presented in a window that was never shown")
        self._handle = handle
        handle.installEventFilter(self)
        if self._framed:
            self._stage = _Stage.TURN
            handle.requestUpdate()
        else:
            self._paint()

    def cancel(self) -> None:
        """Forget the picture that is on its way."""
        self._stage, self._shown, self._show = _Stage.IDLE, None, lambda: None
        self._framed_ns = None
        if self._handle is not None:
            self._handle.removeEventFilter(self)
            self._handle = None

    def painted(self) -> None:
        """The view painted what it was given; it is not flushed yet."""
        if self._stage is not _Stage.PAINT:
            return
        self._drawn = True
        if not self._direct:
            # Painted with other things; the flush follows before the event loop goes on.
            self._soon(self._FLUSHED)

    def _paint(self) -> None:
        self._stage, self._drawn = _Stage.PAINT, False
        self._show()
        self._direct = True
        self._view.repaint()
        self._direct = False
        self._note_flushed()

    def _note_flushed(self) -> None:
        """The backing store was handed on, if there was anything to paint."""
        at = time.perf_counter_ns()
        handle = self._handle
        if self._stage is not _Stage.PAINT or not self._drawn or handle is None:
            return
        if not handle.isExposed():
            self._drawn = False
            return
        if self._framed:
            self._stage = _Stage.FRAME
            handle.requestUpdate()
        else:
            self._tell(at, "flush")

    def _tell(self, at: int, shown_by: str) -> None:
        shown = self._shown
        self.cancel()
        if shown is not None:
            shown(at, shown_by)

    def _soon(self, kind: QEvent.Type) -> None:
        QCoreApplication.postEvent(self, QEvent(kind), Qt.EventPriority.HighEventPriority.value)

    def customEvent(self, event: QEvent) -> None:
        if event.type() == self._FLUSHED:
            self._note_flushed()
        elif event.type() == self._FRAMED and self._framed_ns is not None:
            self._tell(self._framed_ns, "frame")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Of the native window, while a picture is on its way."""
        handle = self._handle
        if handle is None or watched is not handle:
            return False
        if event.type() == QEvent.Type.Expose and handle.isExposed():
            # The window can be seen again. What is clean is flushed without a paintEvent, and the
            # answer to a request may be lost while it could not: both follow a new paint.
            if self._stage is _Stage.FRAME:
                self._stage, self._drawn = _Stage.PAINT, False
            self._view.update()
            return False
        if event.type() != QEvent.Type.UpdateRequest:
            return False
        if self._stage is _Stage.TURN:
            self._paint()
        elif self._stage is _Stage.FRAME and self._framed_ns is None:
            # A listener may close the window, which must not happen inside its own event.
            self._framed_ns = time.perf_counter_ns()
            self._soon(self._FRAMED)
        else:
            return False
        return True  # It was asked for here: Qt would paint the whole window for it.


def refresh_ms(view: QWidget) -> float | None:
    """The refresh interval of the screen that a widget is on; None if the screen says none."""
    rate = view.screen().refreshRate()
    return 1000 / rate if rate > 0 else None


MS = 1_000_000
WRAP_NS = 2**32 * MS
LONGEST_NS = 1_000 * MS
"""An event older than this when it arrives has a stamp of another clock."""
RECENT = 64
"""Events that the difference of two clocks is taken from: enough to meet a prompt one among them,
and few enough for clocks that drift apart."""
WINDOWS_STEP_NS = 16 * MS
"""Of the clock that Windows stamps messages with: 10 to 16 ms (GetTickCount)."""


class InputTime(NamedTuple):
    """perf_ns: on the clock of `time.perf_counter_ns`; timed_by: see
    `labapp.tasks.unmasking.events.ResponseGiven`."""

    perf_ns: int
    timed_by: Literal["event", "arrival"]


class InputClock:
    """Stamps of input events on the clock of `time.perf_counter_ns`.

    Parameters
    ----------
    same : the stamps are of the same clock, whole milliseconds of it.
    step_ns : of the clock that stamps. An event that arrives within a step of its stamp is timed by
        its arrival, which then says more.
    """

    def __init__(self, *, same: bool, step_ns: int = 0) -> None:
        self._same = same
        self._step = step_ns
        self._differences: deque[int] = deque(maxlen=RECENT)

    def of(self, stamp_ms: int, arrival_ns: int) -> InputTime:
        """When an event happened.

        stamp_ms : its time stamp; 0 of an event that no hand made. arrival_ns : when the program
        got it, by `time.perf_counter_ns`, which the result never exceeds.
        """
        arrival = InputTime(arrival_ns, "arrival")
        if stamp_ms <= 0:
            return arrival
        difference = arrival_ns - stamp_ms * MS
        late = _turn(difference) if self._same else self._late(difference)
        if late is None or not 0 <= late <= LONGEST_NS or late < self._step:
            return arrival
        return InputTime(arrival_ns - late, "event")

    def _late(self, difference: int) -> int | None:
        """How late an event arrived, by the promptest of the latest ones; None for the first."""
        known = self._differences
        least = difference + min((_turn(turn - difference) for turn in known), default=0)
        if known and abs(difference - least) > LONGEST_NS:
            known.clear()  # One of the clocks was set, or stood still: the old events say nothing.
        first = not known
        known.append(difference)
        return None if first else max(0, difference - least)


def _turn(difference: int) -> int:
    """A difference of times on a clock that starts again, as the nearest one to 0."""
    return (difference + WRAP_NS // 2) % WRAP_NS - WRAP_NS // 2


def of_this_machine() -> InputClock:
    """The clock that fits the platform."""
    if sys.platform == "win32":
        return InputClock(same=False, step_ns=WINDOWS_STEP_NS)
    monotonic = "CLOCK_MONOTONIC" in time.get_clock_info("perf_counter").implementation
    return InputClock(same=sys.platform.startswith("linux") and monotonic)
