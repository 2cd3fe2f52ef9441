"""Work in a thread of its own, whose result is received in the thread of the windows."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from labapp.base.errors import LabappError

Then = Callable[[Any], None]
Failed = Callable[[LabappError], None]


class Background(QObject):
    """Does one thing at a time. name: of its thread."""

    _done = Signal(object, object, object)

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._pool: ThreadPoolExecutor | None = None
        self._done.connect(self._take, Qt.ConnectionType.QueuedConnection)

    @property
    def busy(self) -> bool:
        """Whether something is being done."""
        return self._pool is not None

    def begin(self, work: Callable[[], Any], then: Then, failed: Failed) -> bool:
        """Do something, and give its result to `then`, or the LabappError that it raised to
        `failed`, in the thread of the windows; False where something is being done already."""
        if self._pool is not None:
            return False
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=self._name)
        future = self._pool.submit(work)
        # The signal is emitted in the thread and received in the window's.
        future.add_done_callback(
            lambda done: None if done.cancelled() else self._done.emit(done, then, failed)
        )
        return True

    def close(self) -> None:
        """Wait for what was begun, and end the thread; nobody is told of the result."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def _take(self, done: Future[Any], then: Then, failed: Failed) -> None:
        if self._pool is None:
            return  # the window is closed
        self.close()
        try:
            result = done.result()
        except LabappError as error:
            failed(error)
            return
        then(result)
