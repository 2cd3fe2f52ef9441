"""The worker that decodes for the runner where a decoder is slow."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from labapp.plugins.pictures import Job

SLOW_MS = 8.0
"""A decoder whose 99th percentile is above this is moved off the GUI thread."""


class DecodeWorker:
    """One thread that decodes the latest request and forgets the ones before it.

    deliver: calls a function in the runner's thread. What a job raises is raised there too, so
    that a decoder that breaks is noticed instead of freezing the picture.
    """

    def __init__(self, deliver: Callable[[Callable[[], None]], None]) -> None:
        self._deliver = deliver
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="decode-worker")
        self._lock = threading.Lock()
        self._next: Job | None = None
        self._closing = False
        self._running: Future[Callable[[], None]] | None = None

    def request(self, job: Job) -> None:
        """Run `job` in the worker; the function it returns is called in the runner's thread."""
        with self._lock:
            if self._closing:
                return
            waiting, self._next = self._next, job
            if waiting is None:
                self._running = self._pool.submit(self._run)
                self._running.add_done_callback(self._done)

    def close(self, timeout_s: float = 2.0) -> None:
        """Forget the job that waits, and join the thread if its job ends in time."""
        with self._lock:
            self._closing = True
            self._next = None
        left = wait([self._running] if self._running else [], timeout_s).not_done
        self._pool.shutdown(wait=not left, cancel_futures=True)

    def _run(self) -> Callable[[], None]:
        with self._lock:
            job, self._next = self._next, None
        return job() if job is not None else _nothing

    def _done(self, future: Future[Callable[[], None]]) -> None:
        if not self._closing and not future.cancelled():
            self._deliver(lambda: future.result()())


def _nothing() -> None:
    """The result of a job that was forgotten: nothing."""
