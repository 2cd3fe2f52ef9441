"""The runner and Qt: its signals, to which windows connect, and its timers in the event loop."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from labapp.base.clock import NS, Clock
from labapp.session.runner import Runner
from labapp.ui import timers
from labapp.ui.images import Images


class _QtTimer:
    """A cancellable single shot."""

    def __init__(self, timer: QTimer) -> None:
        self._timer: QTimer | None = timer

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer.deleteLater()
            self._timer = None


class QtScheduler(QObject):
    """Timers in session time, and calls from other threads, in the thread that made it."""

    _posted = Signal(object)

    def __init__(self, clock: Clock, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clock = clock
        self._posted.connect(self._run, Qt.ConnectionType.QueuedConnection)

    def call_later(self, session_s: float, function: Callable[[], None]) -> _QtTimer:
        def due() -> None:
            handle.cancel()
            function()

        timer = timers.once(self, due)
        timer.setTimerType(Qt.TimerType.PreciseTimer)
        handle = _QtTimer(timer)
        real_ms = self._clock.real_seconds(round(session_s * NS)) * 1000
        timer.start(max(0, round(real_ms)))
        return handle

    def post(self, function: Callable[[], None]) -> None:
        self._posted.emit(function)

    @Slot(object)
    def _run(self, function: Callable[[], None]) -> None:
        function()


class Bridge(QObject):
    """changed: the runner's state, pictures or `stalled` changed (GUI thread). happened: an event
    was appended, from any thread; Qt queues it into the GUI thread. images: the kept pictures of
    the session, where it shows any; windows share them."""

    changed = Signal()
    happened = Signal(object)

    def __init__(self, runner: Runner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.runner = runner
        self.images = None if runner.gallery is None else Images(runner.gallery)
        runner.listen(self.changed.emit)
        runner.journal.subscribe(self.happened.emit)
