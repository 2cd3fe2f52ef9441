"""Movement of the dials on its way to the session: at most one command a dial and painted frame.

The first movement goes at once. What follows before its frame is painted is merged per dial, and
goes when it is; the last value of every dial always arrives.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer, Signal

LONGEST_MS = 100
"""A frame that never comes (a hidden window) holds movement back no longer than this."""


class MoveGate(QObject):
    """send(dial, value, device): the way to the session; request_frame: asks the view for a frame,
    at whose end it calls `frame_painted`."""

    _later = Signal()

    def __init__(
        self,
        send: Callable[[int, float, str], None],
        request_frame: Callable[[], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._send = send
        self._request_frame = request_frame
        self._open = True
        self._pending: dict[int, tuple[float, str]] = {}
        self._limit = QTimer(self)
        self._limit.setSingleShot(True)
        self._limit.setInterval(LONGEST_MS)
        self._limit.timeout.connect(self.flush)
        # Never from inside a paintEvent: a command repaints.
        self._later.connect(self.flush, Qt.ConnectionType.QueuedConnection)

    def ask(self, dial: int, value: float, device: str) -> None:
        """The hand moved a dial."""
        if self._open:
            self._pass(dial, value, device)
            return
        self._pending[dial] = (value, device)
        if not self._limit.isActive():
            self._limit.start()

    def waits(self, dial: int) -> bool:
        """Whether a movement of this dial has not been sent yet."""
        return dial in self._pending

    def waiting(self) -> list[tuple[int, float, str]]:
        """The movements that have not been sent yet: dial, value, device."""
        return [(dial, value, device) for dial, (value, device) in self._pending.items()]

    def frame_painted(self) -> None:
        """The frame of the last command is on the screen."""
        if self._pending:
            self._later.emit()
        else:
            self._open = True

    def flush(self) -> None:
        """Send what waits now."""
        self._limit.stop()
        pending, self._pending = self._pending, {}
        for dial, (value, device) in pending.items():
            self._pass(dial, value, device)
        if not pending:
            self._open = True

    def clear(self) -> None:
        """Forget what waits: its question is over."""
        self._limit.stop()
        self._pending = {}
        self._open = True

    def _pass(self, dial: int, value: float, device: str) -> None:
        self._open = False
        self._send(dial, value, device)
        self._request_frame()
