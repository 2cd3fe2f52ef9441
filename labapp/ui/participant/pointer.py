"""The path of the participant's pointer, recorded where the study asks for it."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, QTimer
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QWidget

from labapp.events.commands import MovePointer
from labapp.events.pointer import PointerMoved
from labapp.session.machine import TrialKey
from labapp.session.runner import Runner

INTERVAL_MS = 33
LONGEST_NS = 1_000_000_000
"""A stretch is handed over after this time at the latest: a crash costs no more of it."""
NS_IN_MS = 1_000_000


class PointerPath(QObject):
    """Asks 30 times a second where the pointer is, and sends what it did since, stretch by stretch.

    It asks rather than listens: many widgets are told of a moving pointer only while a button is
    down. A stretch ends when the question changes, the pointer rests or leaves the window, or
    nobody can see what it points at (a pause, a wait).
    """

    def __init__(self, window: QWidget, runner: Runner) -> None:
        super().__init__(window)
        self._window = window
        self._runner = runner
        self._last: QPoint | None = None
        self._key: TrialKey = (None, None, None)
        self._began_ns = 0
        self._points: list[tuple[int, int, int]] = []
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._look)
        self._timer.start(INTERVAL_MS)

    def stop(self) -> None:
        """Hand over what is left, and look no more."""
        self._timer.stop()
        self.flush()

    def flush(self) -> None:
        """Hand over the stretch so far."""
        points, self._points = self._points, []
        if not points:
            return
        t_ms, x, y = zip(*points, strict=True)
        size = self._window.size()
        path = PointerMoved(self._began_ns, size.width(), size.height(), t_ms, x, y)
        self._runner.send(MovePointer(self._key, path))

    def _look(self) -> None:
        runner = self._runner
        key = runner.machine.trial_key(runner.state)
        place = self._window.mapFromGlobal(QCursor.pos())
        if key != self._key:
            self.flush()
            self._key = key
        away = not self._window.isVisible() or not self._window.rect().contains(place)
        # Before consent nothing is recorded of the hand, its drawn signature least of all.
        idle = runner.part is None or runner.part.consents
        if away or idle or runner.state.pauses.held or place == self._last:
            self._last = place
            self.flush()
            return
        self._last = place
        now_ns = runner.clock.now_ns()
        if not self._points:
            self._began_ns = now_ns
        self._points.append(((now_ns - self._began_ns) // NS_IN_MS, place.x(), place.y()))
        if now_ns - self._began_ns >= LONGEST_NS:
            self.flush()
