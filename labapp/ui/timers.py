"""Timers in the event loop, and a thread for what would hold it up."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from PySide6.QtCore import QObject, QTimer

P = ParamSpec("P")
T = TypeVar("T")


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


def once(parent: QObject, function: Callable[[], object], after_ms: int = 0) -> QTimer:
    """A timer that calls once, some time after each start."""
    timer = make_repeating_timer(parent, function, after_ms)
    timer.setSingleShot(True)
    return timer


def make_repeating_timer(parent: QObject, function: Callable[[], object], every_ms: int) -> QTimer:
    """A timer that calls again and again once it is started."""
    timer = QTimer(parent)
    timer.setInterval(every_ms)
    timer.timeout.connect(function)
    return timer
