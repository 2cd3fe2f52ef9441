"""Work in a thread of its own, and its result in the thread of the windows."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from PySide6.QtCore import QObject, Qt, Signal

from labapp.base.errors import LabappError

P = ParamSpec("P")
T = TypeVar("T")
Then = Callable[[Any], None]
Failed = Callable[[LabappError], None]


class Worker:
    """One thread, which is there from its first job until it is closed."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._pool: ThreadPoolExecutor | None = None

    @property
    def there(self) -> bool:
        """Whether something was begun since it was closed."""
        return self._pool is not None

    def submit(self, job: Callable[P, T], *given: P.args, **named: P.kwargs) -> Future[T]:
        """Do something after what was asked for before."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=self._name)
        return self._pool.submit(job, *given, **named)

    def close(self, *, finish: bool = False) -> None:
        """Wait for what was begun, forget the rest unless all is to be finished, end the thread."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=not finish)


class Background(QObject):
    """Does one thing at a time. name: of its thread."""

    _done = Signal(object, object, object)

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = Worker(name)
        self._done.connect(self._take, Qt.ConnectionType.QueuedConnection)

    @property
    def busy(self) -> bool:
        """Whether something is being done."""
        return self._worker.there

    def begin(self, work: Callable[[], Any], then: Then, failed: Failed) -> bool:
        """Do something, and give its result to `then`, or the LabappError that it raised to
        `failed`, in the thread of the windows; False if something is being done already."""
        if self._worker.there:
            return False
        future = self._worker.submit(work)
        # The signal is emitted in the thread and received in the window's.
        future.add_done_callback(
            lambda done: None if done.cancelled() else self._done.emit(done, then, failed)
        )
        return True

    def close(self) -> None:
        """Wait for what was begun, and end the thread; its result is dropped."""
        self._worker.close()

    def _take(self, done: Future[Any], then: Then, failed: Failed) -> None:
        if not self._worker.there:
            return  # the window is closed
        self.close()
        try:
            result = done.result()
        except LabappError as error:
            failed(error)
            return
        then(result)
